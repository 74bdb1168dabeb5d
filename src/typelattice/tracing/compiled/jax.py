"""Functions that `jax.jit` made, read from the jaxpr that JAX kept. Nothing is traced again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from os import sep
from types import FunctionType
from typing import Any
from weakref import ref

from typelattice.core.operands.adapters.jax import read
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE
from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.call_tables import graph_operands
from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.compiled.jax_log import JaxprLog
from typelattice.tracing.run_data.graph import MAX_GRAPH_OPERATIONS, Graph, GraphNode, GraphReader, Variable
from typelattice.tracing.run_data.operation_log import OperationLog
from typelattice.tracing.steps.arguments import list_parameters

LIBRARY = "jax"
COMPILED_CLASS_NAME = "PjitFunction"
TRACER_CLASS_NAME = "Tracer"
OWN_FILES = f"{sep}jax{sep}_src{sep}"
LOOP_FUNCTIONS = ("scan", "fori_loop", "while_loop")
NOT_COMPARED_NOTE = (
    "not compared: operations of JAX outside of jax.jit, the dtypes of its parameters and of its state, and "
    "memory"
)
JAXPR_PARAMETERS = {  # operations that run a jaxpr: the parameter that holds it
    "jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "remat2": "jaxpr",
    "checkpoint": "jaxpr", "scan": "jaxpr", "shard_map": "jaxpr",
}  # fmt: skip


def is_compiled(cls: type) -> bool:
    """Return True if the objects of a class are functions that JAX compiles."""
    return cls.__name__ == COMPILED_CLASS_NAME


def is_own(function: Any) -> bool:
    """Return True if a compiled function is JAX's own, such as `jnp.tanh`."""
    module: object = getattr(function, "__module__", None)
    return isinstance(module, str) and library_of(module.partition(".")[0]) == LIBRARY


def is_tracer(cls: type) -> bool:
    """Return True if the objects of a class are tracers, which replace arrays during compilation."""
    return any(c.__name__ == TRACER_CLASS_NAME and c.__module__.startswith("jax.") for c in cls.__mro__)


def variable(tracer: Any) -> Any:
    """Return the variable of a jaxpr that a tracer stands for, also within transformations.

    The result is an array if nothing is compiled, as under a plain `grad`. It is None if the tracer stands
    for neither.
    """
    for _ in range(16):
        inner = getattr(tracer, "primal", None)
        if inner is None:
            inner = getattr(tracer, "val", None)
        if inner is None or not is_tracer(type(inner)):
            return inner
        tracer = inner
    return None


def leaves(tree: Any) -> list[Any]:
    """Return the leaves of a tree, in JAX's order. An object that JAX does not know as a tree is a leaf."""
    return list(sys.modules["jax"].tree_util.tree_leaves(tree))


def is_loop(function: Any) -> bool:
    """Return True if a function is one of `jax.lax` that compiles its function arguments."""
    return getattr(function, "__name__", "") in LOOP_FUNCTIONS and is_own(function)


def weak_type(argument: Any) -> tuple[Any, bool]:
    """Return the type of an argument, such as `float32[2]`, and whether it is weak."""
    jax = sys.modules["jax"]
    try:
        aval = (getattr(jax, "typeof", None) or jax.core.get_aval)(argument)
    except TypeError:  # no array: a function, or another object that is compiled in
        return (ref(argument) if isinstance(argument, FunctionType) else type(argument)), False
    return str(aval).lstrip("~"), bool(getattr(aval, "weak_type", False))


def leaf_name(function: Any, args: Sequence[Any], keywords: Mapping[str, Any], leaf_number: int) -> str:
    """Return the name of a leaf of the arguments, such as `x` or `state[0]`."""
    util = sys.modules["jax"].tree_util
    paths, _ = util.tree_flatten_with_path((tuple(args), keywords))
    (part, first, *rest), _ = paths[leaf_number]
    names = list_parameters(function)
    by_position = (
        names[first.idx] if part.idx == 0 and first.idx < len(names) else f"argument {leaf_number + 1}"
    )
    return f"{first.key if part.idx else by_position}{util.keystr(tuple(rest))}"


def graph(function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Graph | None:
    """Return the graph of a function for arguments of an earlier call, or None if the graph is too long."""
    closed = function.trace(*args, **keywords).jaxpr
    reader = _JaxprReader(read)
    reader.names |= _parameter_names(closed.jaxpr)
    outputs = reader.read_jaxpr(closed, tuple((v, 0) for v in closed.jaxpr.invars), 0)
    return reader.build_graph(_leaf_variables(leaves((args, keywords)), closed.jaxpr.invars), outputs)


def log_call(
    log: OperationLog, function: Any, args: Sequence[Any], keywords: Mapping[str, Any],
    call: SourceLocation | None,
) -> None:  # fmt: skip
    """Log the operations of a function for arguments of an earlier call."""
    closed = function.trace(*args, **keywords).jaxpr
    reader = _JaxprReader(read)
    log.notes[NOT_COMPARED_NOTE] = None
    JaxprLog(log, _source_location, reader.yield_inner_jaxprs).read_call(closed, call)


def _leaf_variables(arguments: Sequence[Any], variables: Sequence[Any]) -> tuple[Variable | None, ...]:
    """Return the variable of each leaf, None for a static leaf, or an empty tuple if they do not match."""
    dynamic = (
        arguments if len(arguments) == len(variables) else [x for x in arguments if hasattr(type(x), "dtype")]
    )
    if len(dynamic) != len(variables):
        return ()
    names = iter(variables)
    among = {id(x) for x in dynamic}
    return tuple((next(names), 0) if id(x) in among else None for x in arguments)


def _parameter_names(jaxpr: Any) -> dict[Variable, str]:
    """Return the names of the parameters, as far as JAX knows them."""
    names = getattr(getattr(jaxpr, "debug_info", None), "arg_names", None) or ()
    return {(v, 0): str(name) for v, name in zip(jaxpr.invars, names, strict=False)}


def tracer_object(variable: Any) -> Any:
    """Return JAX's own variable, without the number of the reading of its jaxpr."""
    return variable[0]


class _JaxprReader(GraphReader):
    """A reader of a jaxpr and its inner ones. A variable is JAX's own, with the number of its reading."""

    def read_jaxpr(
        self, closed: Any, inputs: Sequence[Variable], number: int, outer: SourceLocation | None = None
    ) -> tuple[Variable, ...]:
        """Add the operations of a jaxpr, closed or open, on some inputs. Return its outputs.

        `outer` is the source location of the equation that runs it.
        """
        jaxpr = getattr(closed, "jaxpr", closed)
        own_file = OWN_FILES in str(getattr(getattr(jaxpr, "debug_info", None), "func_src_info", ""))
        for v, const in zip(jaxpr.constvars, getattr(closed, "consts", ()), strict=False):
            self.constants[self.variable_of(v, number)] = const
        for v, given in zip(jaxpr.invars, inputs, strict=False):
            own = self.variable_of(v, number)
            if own != given:
                self.add_edges([given], [own])
        for eqn in jaxpr.eqns:
            if len(self.nodes) > MAX_GRAPH_OPERATIONS:
                break
            location = (
                None if own_file and outer is not None else _source_location(eqn)
            )  # a cached graph has the source locations of its first caller
            self.add_equation(eqn, number, location or outer)
        return tuple(self.variable_of(v, number) for v in jaxpr.outvars)

    def add_equation(self, eqn: Any, number: int, location: SourceLocation | None) -> None:
        """Add one equation, or the operations of the jaxprs that it runs."""
        name = eqn.primitive.name
        inputs_of_equation = [self.variable_of(v, number) for v in eqn.invars]
        outputs_of_equation = [self.variable_of(v, number) for v in eqn.outvars]
        inner = [*self.yield_inner_jaxprs(name, eqn.params, inputs_of_equation)]
        for closed, inputs in inner:
            self.readings += 1
            made = self.read_jaxpr(closed, inputs, self.readings, location)
            if closed is inner[0][0]:  # the first branch of a cond stands for the outputs
                self.add_edges(made, outputs_of_equation)
        if inner:
            return
        self.nodes.append(
            GraphNode(
                name, graph_operands(LIBRARY, name, inputs_of_equation), tuple(outputs_of_equation), location
            )
        )

    def yield_inner_jaxprs(
        self, name: str, params: Mapping[str, Any], inputs: Sequence[Variable]
    ) -> Iterator[tuple[Any, Sequence[Variable]]]:
        """Yield the jaxprs that an equation runs, each with its inputs."""
        if name == "cond":
            yield from ((branch, inputs[1:]) for branch in params["branches"])
        elif name == "while":
            tests, own = params["cond_nconsts"], params["body_nconsts"]
            yield params["body_jaxpr"], inputs[tests:]
            yield params["cond_jaxpr"], [*inputs[:tests], *inputs[tests + own :]]
        elif name in JAXPR_PARAMETERS and JAXPR_PARAMETERS[name] in params:
            yield params[JAXPR_PARAMETERS[name]], inputs

    def variable_of(self, jax_variable: Any, number: int) -> Variable:
        """Return a variable, or a key for a constant. Record its operand, its size and its number."""
        found = jax_variable, number
        if type(jax_variable).__name__ == "Literal":
            found = id(jax_variable), number
            number = jax_variable.val.item() if hasattr(jax_variable.val, "item") else jax_variable.val
            number_class = next((cls for cls in KIND_BY_PYTHON_TYPE if isinstance(number, cls)), None)
            if number_class is not None and not jax_variable.aval.shape:
                self.numbers[found] = number_class(number)  # JAX has its own classes of numbers
        if found not in self.operands:
            operand = self.operand_of(jax_variable.aval)
            if operand is not None:
                self.operands[found] = operand
                self.sizes[found] = getattr(jax_variable.aval, "size", 0) * jax_variable.aval.dtype.itemsize
        return found


def _source_location(eqn: Any) -> SourceLocation | None:
    """Return an equation's location in the program's source, without the frames of JAX's own files."""
    trace = eqn.source_info.traceback
    find_user_frame = _user_frame_finder()
    frame = find_user_frame(trace) if trace is not None and find_user_frame is not None else None
    if frame is None:
        return None
    return SourceLocation(
        frame.file_name, frame.start_line, frame.start_column, frame.end_line, frame.end_column
    )


@cache
def _user_frame_finder() -> Any:
    """Return JAX's own function that finds the program's frame."""
    source_info = sys.modules.get("jax._src.source_info_util")
    return getattr(source_info, "user_frame", None)
