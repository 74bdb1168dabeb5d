"""PyTorch's own modules and functions that are not operations, such as `torch.nn.Linear`.

They run in PyTorch's own code, and a witness sees only their result. So the call is repeated on tensors
without data, of the same dtypes and shapes. PyTorch's dispatcher then reports the operations, including the
casts of autocast. This runs no code of the program. It does not change the program's tensors, modules or
random numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any

from typelattice.core.operands.adapters.torch import read
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, scalar_operand
from typelattice.core.registry.libraries import library_of
from typelattice.tracing.library_traits.torch import AUTOCAST_DEVICES, autocast_is_on
from typelattice.tracing.run_data.graph import MAX_GRAPH_OPERATIONS, Graph, GraphNode, GraphReader, Variable

LIBRARY = "torch"
COMPILER_MODULE = "torch._dynamo"
FUNCTIONAL_MODULES = ("torch.nn.functional", "torch._C._nn")  # modules with functions that are read as graphs
# a program can add code of its own to a module with these
HOOK_ATTRIBUTES = ("_forward_hooks", "_forward_pre_hooks")
OPERATOR_NAMESPACE = "aten"  # the namespace of PyTorch's operators on tensors
NUMBER_TYPE = "number"  # the schema's type for a Python number as an operand


def is_compiled(cls: type) -> bool:
    """Return True if the objects of a class are modules."""
    return any(c.__name__ == "Module" and c.__module__ == "torch.nn.modules.module" for c in cls.__mro__)


def is_own(function: Any) -> bool:
    """Return True if a function is PyTorch's own."""
    return _is_of_torch(type(function) if is_compiled(type(function)) else function)


def reads_plain_function(function: Any) -> bool:
    """Return True if a function can be read as a graph. Operations cannot."""
    return getattr(function, "__module__", None) in FUNCTIONAL_MODULES


def leaves(nested: Any) -> list[Any]:
    """Return the leaves of nested tuples, lists and dictionaries."""
    if type(nested) is dict:
        return [leaf for each in nested.values() for leaf in leaves(each)]
    if type(nested) is list or issubclass(type(nested), tuple):
        return [leaf for each in iter(nested) for leaf in leaves(each)]
    return [nested]


def state(function: Any) -> Hashable:
    """Return the state that a call depends on besides its arguments: autocast and a module's training."""
    torch = sys.modules["torch"]
    casts: Hashable = autocast_is_on()
    if casts and hasattr(torch, "get_autocast_dtype"):
        casts = tuple(
            torch.get_autocast_dtype(each) for each in AUTOCAST_DEVICES if torch.is_autocast_enabled(each)
        )
    return casts, getattr(function, "training", None)


def graph(function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Graph | None:
    """Return the graph of a call, or None if code from outside PyTorch would run.

    A graph that is too long or depends on data cannot be read either.
    """
    torch = sys.modules["torch"]
    _check_safe()
    function = getattr(function, "_orig_mod", function)  # the function under torch.compile, not compiled
    modules = [*function.modules()] if is_compiled(type(function)) else []
    if not _runs_no_other_code(function):
        return None
    taken = [x for x in leaves((args, keywords)) if isinstance(x, torch.Tensor)]
    parts = [(name, x) for each in modules[:1] for name, x in _yield_named_tensors(each)]
    if not all(type(x) in (torch.Tensor, torch.nn.Parameter) for x in (*taken, *(x for _, x in parts))):
        return None
    with torch.no_grad():
        plain = {id(x): x.detach() for x in (*taken, *(x for _, x in parts))}
    with torch._subclasses.fake_tensor.FakeTensorMode() as fakes, torch.no_grad():
        reader = _DispatchReader(read)
        empty = {each: fakes.from_tensor(x) for each, x in plain.items()}
        inputs = tuple(
            reader.variable_of(empty[id(x)]) if isinstance(x, torch.Tensor) else None
            for x in leaves((args, keywords))
        )
        for name, x in parts:
            part = reader.variable_of(empty[id(x)])
            reader.names[part], reader.constants[part] = name, x
        call = _copy_without_data(function, empty) if modules else function
        with _logging_context(reader):
            made = call(*_replace_tensors([*args], empty), **_replace_tensors({**keywords}, empty))
        outputs = tuple(reader.variable_of(x) for x in leaves(made) if isinstance(x, torch.Tensor))
    reader.leave_out_unused(outputs)
    return reader.build_graph(inputs, outputs)


def graph_of_history(history: Any, function: Any, arguments_and_results: Any) -> Graph | None:
    """Return the graph of a call that has just returned, from the history of the dispatcher.

    It is None if the call may not have run here, or if it also did something that the history lacks.
    """
    torch = sys.modules["torch"]
    function = getattr(function, "_orig_mod", function)
    arguments, results = arguments_and_results
    if not _runs_no_other_code(function):
        return None
    parts = [*_yield_named_tensors(function)] if is_compiled(type(function)) else []
    given = [x for x in (*arguments, *results, *(x for _, x in parts)) if isinstance(x, torch.Tensor)]
    if not all(type(x) in (torch.Tensor, torch.nn.Parameter) for x in given):
        return None
    found: Graph | None = history.graph_of_call(arguments, results, parts)
    return found


def _runs_no_other_code(function: Any) -> bool:
    """Return True if a function or a module, with all modules in it, runs PyTorch's own code alone."""
    modules = [*function.modules()] if is_compiled(type(function)) else []
    return all(is_own(each) and not any(getattr(each, name) for name in HOOK_ATTRIBUTES) for each in modules)


def _check_safe() -> None:
    """Raise RuntimeError if tensors without data would harm the program.

    They load PyTorch's compiler, and with it Triton if that is installed. Triton and TensorFlow each have an
    LLVM of their own, and the second one that is loaded ends the process.
    """
    loaded = COMPILER_MODULE in sys.modules or "triton" in sys.modules
    if not loaded and "tensorflow" in sys.modules and find_spec("triton") is not None:
        raise RuntimeError("it would load Triton, which ends a process that has TensorFlow")


def _is_of_torch(x: Any) -> bool:
    module: object = getattr(x, "__module__", None)
    return isinstance(module, str) and library_of(module.partition(".")[0]) == LIBRARY


def _yield_named_tensors(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters and the buffers of a module, with their names."""
    yield from module.named_parameters()
    yield from module.named_buffers()


def _copy_without_data(module: Any, empty: Mapping[int, Any]) -> Any:
    """Return a copy of a module, with tensors without data in place of its own tensors."""
    made = object.__new__(type(module))
    held = {name: _replace_tensors(x, empty) for name, x in vars(module).items()}
    held["_modules"] = {name: x and _copy_without_data(x, empty) for name, x in module._modules.items()}
    made.__dict__.update(held)
    return made


def _replace_tensors(nested: Any, empty: Mapping[int, Any]) -> Any:
    """Return nested lists, tuples and dictionaries with tensors without data in place of their own."""
    if type(nested) is dict:
        return {key: _replace_tensors(each, empty) for key, each in nested.items()}
    if type(nested) is list or type(nested) is tuple:
        return type(nested)(_replace_tensors(each, empty) for each in nested)
    return empty.get(id(nested), nested)


class _DispatchReader(GraphReader):
    """A reader of the dispatcher's operations. A variable is a tensor between two writes into it.

    A view has the variable of its base tensor, unless their dtypes differ or only one has dimensions.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        super().__init__(read)
        self.variables: dict[int, tuple[Any, Variable]] = {}  # keeps tensors, so that their ids stay valid

    def variable_of(self, x: Any) -> Variable:
        found = self.variables.get(id(x))
        return found[1] if found is not None else self.add_variable(x)

    def add_variable(self, tensor: Any) -> Variable:
        """Return a new variable for a tensor, valid until the next write into it."""
        made: Variable = object()
        self.variables[id(tensor)] = tensor, made
        operand = self.operand_of(tensor)
        if operand is not None:
            self.operands[made] = operand
            self.sizes[made] = tensor.numel() * tensor.element_size()
        return made

    def add_number(self, number: Any) -> Variable:
        made: Variable = object()
        self.numbers[made], self.operands[made] = (
            number,
            scalar_operand(KIND_BY_PYTHON_TYPE[type(number)], number),
        )
        return made

    def add_node(self, function: Any, args: Sequence[Any], results: Any) -> None:
        tensor = sys.modules["torch"].Tensor
        gives = [x for x in leaves(results) if isinstance(x, tensor)]
        if not gives or len(self.nodes) > MAX_GRAPH_OPERATIONS:
            return
        if _is_view(function, args, gives):
            self.variables |= {id(x): (x, self.variable_of(args[0])) for x in gives}
            return
        takes = []
        for parameter, x in zip(function._schema.arguments, args, strict=False):
            if type(x) in KIND_BY_PYTHON_TYPE and str(parameter.type) in (NUMBER_TYPE, "Tensor"):
                takes.append(self.add_number(x))
            else:
                takes += [self.variable_of(each) for each in leaves(x) if isinstance(each, tensor)]
        name = function._schema.name.partition("::")[2].removesuffix("_")
        self.nodes.append(GraphNode(name, tuple(takes), tuple(self.add_variable(x) for x in gives)))

    def leave_out_unused(self, outputs: Sequence[Variable]) -> None:
        """Remove results that no operation uses, such as the mean that a LayerNorm keeps."""
        used = {*outputs, *(v for node in self.nodes for v in node.inputs)}
        self.nodes = [replace(n, outputs=tuple(v for v in n.outputs if v in used)) for n in self.nodes]


def _is_view(function: Any, args: Sequence[Any], results: Sequence[Any]) -> bool:
    """Return True if an operation gives views of its first argument that are equal to it as operands."""
    if not getattr(function, "is_view", False) or not isinstance(args[0], sys.modules["torch"].Tensor):
        return False
    return all(x.dtype is args[0].dtype and bool(x.ndim) == bool(args[0].ndim) for x in results)


def _logging_context(reader: _DispatchReader) -> Any:
    """Return a context that makes the dispatcher report each operation to a reader."""
    return _logging_mode_class()(reader)


@cache
def _logging_mode_class() -> Any:
    """Return the class of that context. PyTorch has to be loaded."""
    torch = sys.modules["torch"]
    base: Any = torch.utils._python_dispatch.TorchDispatchMode
    composite = torch._C.DispatchKey.CompositeImplicitAutograd  # the kernel of composite operations

    class Log(base):  # type: ignore[misc]  # its base is known at run time alone
        def __init__(self, reader: _DispatchReader) -> None:
            super().__init__()
            self.reader = reader

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function.namespace == OPERATOR_NAMESPACE and function.has_kernel_for_dispatch_key(composite):
                with self:  # the operation was not decomposed before, for example in inference mode
                    return function.decompose(*args, **(kwargs or {}))
            made = function(*args, **(kwargs or {}))
            self.reader.add_node(function, args, made)
            return made

    return Log
