"""PyTorch's dispatcher: each operation that runs, also inside of modules, optimizers and the backward pass.

A mode of the dispatcher sees the operations after autocast and autograd, and runs each as PyTorch would. It
loads no compiler, adds no hook and no attribute, and keeps no tensor. Modules are read from the stack of
calls. An operation of the backward pass has the module and the line of the operation that it belongs to.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from threading import get_ident
from types import CodeType, FrameType
from typing import Any

from typelattice.base.errors.outside_errors import OWN_FOLDER, came_from_outside
from typelattice.tracing.models.call_stack import (
    ENGINE,
    INSIDE,
    MODULE_CALL,
    OPTIMIZER_STEP,
    PACKAGE,
    USER,
    Stack,
    StackReader,
)
from typelattice.tracing.models.torch_mode import MODULE, enter_mode, leave_mode
from typelattice.tracing.models.torch_values import TorchValues
from typelattice.tracing.run_data.operation_log import (
    BACKWARD,
    BUFFER,
    FORWARD,
    GRADIENT,
    MAX_REFUSALS,
    OFF,
    OPTIMIZER,
    PARAMETER,
    STATE,
    Memory,
    OperationLog,
    Place,
    StoredTensor,
    Tally,
    Tensor,
)

LIBRARY = "torch"
CAST = "aten::_to_copy"
CONTRACTIONS = (  # beginnings of the names of operations that multiply matrices
    "mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "linear", "convolution", "mkldnn_", "lstm", "gru",
    "_scaled_dot_product", "_thnn_fused", "_scaled_mm", "_trilinear",
)  # fmt: skip
VIEWS_BY_NAME = ("aten::_unsafe_view",)  # the schema of which does not say so
DECLARED_DTYPE = "compute_dtype"  # of a layer of Keras: the dtype that its own policy names
META_NOTE = "not compared: operations on meta tensors, which have no numbers"
MAX_SEQUENCE_NUMBERS = 1_000_000
PYTHON_FOLDER = os.path.dirname(os.__file__) + os.sep
INSTALLED_FOLDERS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@dataclass(frozen=True, slots=True)
class _Operation:
    """The facts of an operation of the dispatcher: its name, and the arguments that it writes into.

    `repeat` runs it again. It is None if that would draw numbers, and so change those of the program.
    """

    name: str
    is_view: bool
    is_cast: bool
    is_contraction: bool
    written: tuple[int, ...]
    written_names: tuple[str, ...]
    repeat: Callable[..., Any] | None


@dataclass(slots=True)
class _Root:
    """An outermost module: its weak reference, the prefix of its names, and the names of its modules."""

    module: Any
    prefix: str
    names: dict[int, str] = field(default_factory=dict)


class DispatchWatch:
    """Watches PyTorch's dispatcher in the thread that starts it, and reports to a log."""

    def __init__(
        self, log: OperationLog, is_user_file: Callable[[str], bool], checks_values: bool = False
    ) -> None:
        self.log, self.is_user_file = log, is_user_file
        self.torch: Any = sys.modules[MODULE]
        self.values = TorchValues(self.torch, log, self._storage_key) if checks_values else None
        self.is_recording = False
        self.pid = os.getpid()
        self.thread = get_ident()
        self.folder = os.path.join(os.path.dirname(str(self.torch.__file__)), "")
        self.stacks = StackReader(self.sort_of_code)
        self.operations: dict[Any, _Operation] = {}
        self.places: dict[object, Place] = {}
        self.watched: dict[int, weakref.ref[Any]] = {}
        self.names: dict[int, str] = {}  # of modules, by their ids
        self.declared: dict[int, str] = {}  # dtypes that modules say they compute in, by their ids
        self.roots: dict[int, _Root] = {}
        self.optimizers: dict[int, Any] = {}
        self.by_sequence: dict[int, Place] = {}
        self.last_sequence = 0
        self.phase = FORWARD
        self.phase_ends: dict[str, int] = {}
        self.input_tallies: dict[object, Tally] = {}
        self.dtype_names: dict[Any, str] = {}
        self.mode: Any = None
        parameter = self.torch.nn.Parameter
        self.other_classes: set[type] = set()  # that are no tensors
        self.plain_classes = {self.torch.Tensor, parameter}

    # -- the mode

    def start(self) -> None:
        """Begin to report the operations of this thread."""
        self.last_sequence = self.torch.autograd._get_sequence_nr()
        self.is_recording = True
        self.mode = enter_mode(self)

    def stop(self) -> None:
        """Report what is alive now, and end."""
        if self.is_recording and os.getpid() == self.pid:
            self._guard(self._finish)
        self.is_recording = False
        if self.mode is not None:
            leave_mode(self.mode, self.thread)
        self.watched.clear()

    def _finish(self) -> None:
        self._end_phase(True)
        self._scan()
        self.log.finish()

    def _guard(self, work: Callable[..., Any], *arguments: Any) -> None:
        """Do our own work. If it fails, nothing more is recorded, and the program goes on."""
        try:
            with self.torch._C.DisableTorchFunctionSubclass():
                work(*arguments)
        except Exception as e:
            if came_from_outside(e) and not _passed_last(e, self.folder):
                raise
            self.is_recording = False
            self.log.failure = f"{type(e).__name__}: {e}"[:200]

    def add_model(self, model: Any) -> None:
        """Read a model before it has run."""
        self._guard(self._add_root, model)

    # -- operations

    def prepare(self, function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Sequence[Any]:
        """Copy the numbers that an operation is about to overwrite, if values are checked."""
        copied: list[Any] = []
        if self.values is not None and os.getpid() == self.pid:
            self._guard(self._prepare, function, args, keywords, copied)
        return copied

    def _prepare(self, function: Any, args: Any, keywords: Any, copied: list[Any]) -> None:
        operation = self.operations.get(function) or self._operation_of(function)
        if self.values is not None and (operation.written or operation.written_names):
            with self._below_program():
                copied += self.values.copy_written(operation.name, self._written(operation, args, keywords))

    def _below_program(self) -> ExitStack:
        """Return a context whose operations no mode and no autograd of the program sees."""
        stack = ExitStack()
        for guard in self.values.guards() if self.values is not None else ():
            stack.enter_context(guard)
        return stack

    def note(
        self, function: Any, args: Sequence[Any], keywords: Mapping[str, Any], result: Any,
        before: Sequence[Any] = (),
    ) -> None:  # fmt: skip
        """Report an operation that has run."""
        operation = self.operations.get(function)
        if operation is not None and operation.is_view:
            self.log.operation_count += 1
        elif os.getpid() == self.pid:
            self._guard(self._note, function, args, keywords, result, sys._getframe(1), before)

    def note_error(self, function: Any, args: Any, keywords: Any, error: BaseException) -> None:
        """Report an operation that PyTorch refused, if its floats differ in dtype."""
        if os.getpid() == self.pid and isinstance(error, (RuntimeError, TypeError)):
            self._guard(self._note_error, function, args, keywords, error, sys._getframe(1))

    def _note_error(self, function: Any, args: Any, keywords: Any, error: Exception, frame: Any) -> None:
        takes = self._tensors((*args, *keywords.values()))
        if any(x.is_meta for x in takes):
            return
        if len({x.dtype for x in takes if x.is_floating_point()}) < 2:
            return
        if len(self.log.refusals) < MAX_REFUSALS:
            stack = self.stacks.read(frame)
            place = self._place_of(stack, self._phase_of(stack)[0])
            made = Tally(-1, self._operation_of(function).name, place, self._described(takes), ())
            made.error = str(error).partition("\n")[0][:200]
            self._note_operands(made, takes)
            self.log.refusals.append(made)

    def _note(
        self, function: Any, args: Any, keywords: Any, result: Any, frame: FrameType, before: Sequence[Any]
    ) -> None:
        operation = self.operations.get(function) or self._operation_of(function)
        self.log.operation_count += 1
        if operation.is_view:
            return
        takes = self._tensors((*args, *keywords.values()) if keywords else args)
        gives = self._tensors(result if isinstance(result, (list, tuple)) else (result,))
        if not takes and not gives:
            self.log.operation_count -= 1
            return
        if any(x.is_meta for x in gives):
            self.log.notes[META_NOTE] = None
            self.log.operation_count -= 1
            return
        stack = self.stacks.read(frame)
        phase, earlier = self._phase_of(stack)
        if phase != self.phase:
            self._end_phase()
            self.phase = phase
        place = earlier or self._place_of(stack, phase)
        self._note_sequence(place)
        autocast = self._is_in_autocast()
        requested = keywords.get("dtype") is not None
        signature = tuple([(x.dtype, x.dim() > 0) for x in takes]), tuple([x.dtype for x in gives])
        key = function, place, signature, autocast, requested
        tally = self.log.by_key.get(key)
        if tally is None:
            described = self._described(takes), self._described(gives)
            tally = self.log.add_tally(key, operation.name, place, *described)
            tally.requested = requested
            tally.is_cast, tally.is_contraction = operation.is_cast, operation.is_contraction
            tally.uses_autocast = self._autocast_dtype(tally, (takes or gives)[0]) if autocast else ""
        tally.count += 1
        self._note_operands(tally, takes)
        self._note_results(tally, operation, args, keywords, gives)
        if self.values is not None:
            written = self._written(operation, args, keywords)
            made = [x for x in gives if not any(x is y for y in written)]
            try:
                with self._below_program():
                    self.values.check(
                        tally, operation.name, operation.repeat, args, keywords, takes, made, written, before
                    )
            except (RuntimeError, TypeError, ValueError) as e:  # an unusual tensor ends no log
                if came_from_outside(e) and not _passed_last(e, self.folder):
                    raise
                self.log.note_unchecked(f"results of {operation.name}, whose values cannot be read")

    def _note_results(
        self, tally: Tally, operation: _Operation, args: Any, keywords: Any, gives: Sequence[Any]
    ) -> None:
        """Note the memory that an operation made and wrote."""
        if operation.written or operation.written_names:
            for x in self._written(operation, args, keywords):
                memory = self._memory_of(x, tally.place)
                if memory is not None:
                    memory.last, memory.is_read = tally, False
                    tally.target = memory
        for i, x in enumerate(gives):
            key = self._storage_key(x)
            if key is not None and key not in self.log.memories:
                memory = self._watch_memory(x, key, tally)
                memory.is_read = i > 0  # only the backward pass reads the others, if nothing else does
                tally.bytes += self.log.memories[key].bytes

    def _written(self, operation: _Operation, args: Any, keywords: Any) -> list[Any]:
        """List the tensors that an operation writes into."""
        targets = [args[i] for i in operation.written if i < len(args)]
        targets += [keywords[name] for name in operation.written_names if name in keywords]
        return self._tensors(targets) if targets else []

    def _operation_of(self, function: Any) -> _Operation:
        schema = getattr(function, "_schema", None)
        arguments = [*schema.arguments] if schema is not None else []
        writes = [(i, a) for i, a in enumerate(arguments) if a.alias_info and a.alias_info.is_write]
        name = getattr(schema, "name", "") or str(function)
        is_random = self.torch.Tag.nondeterministic_seeded in getattr(function, "tags", ())
        made = self.operations[function] = _Operation(
            name.removeprefix("aten::"),
            bool(getattr(function, "is_view", False)) or name in VIEWS_BY_NAME,
            name == CAST,
            name.removeprefix("aten::").startswith(CONTRACTIONS),
            tuple(i for i, a in writes if not a.kwarg_only),
            tuple(a.name for _, a in writes),
            None if is_random else getattr(function, "_op", function),
        )
        return made

    def _tensors(self, nested: Iterable[Any]) -> list[Any]:
        """List the tensors in the arguments or results of an operation that have memory of their own."""
        found: list[Any] = []
        for x in nested:
            cls = type(x)
            if cls in self.plain_classes:
                found.append(x)
            elif cls is list or cls is tuple:
                found += self._tensors(x)
            elif cls not in self.other_classes:
                if not isinstance(x, self.torch.Tensor):
                    if not issubclass(cls, tuple):
                        self.other_classes.add(cls)
                elif _has_own_dispatch(cls):
                    self.log.note_not_seen(cls.__name__)
                else:
                    found.append(x)
        return found

    def _described(self, tensors: Sequence[Any]) -> tuple[Tensor, ...]:
        return tuple(Tensor(self._dtype_name(x.dtype), x.dim() > 0) for x in tensors)

    def _dtype_name(self, dtype: Any) -> str:
        name = self.dtype_names.get(dtype)
        if name is None:
            name = self.dtype_names[dtype] = str(dtype).removeprefix("torch.")
        return name

    def _note_operands(self, tally: Tally, takes: Sequence[Any]) -> None:
        """Note the tallies that made the operands, and the parameters and buffers among them."""
        is_forward = tally.place.phase == FORWARD
        for i, x in enumerate(takes):
            memory = self._memory_of(x, tally.place)
            if memory is not None:
                tally.producers[i, memory.last] = None
                memory.is_read = memory.is_read or is_forward
                if memory.category in (PARAMETER, BUFFER):
                    tally.stored[i, memory.category, memory.name] = None

    # -- memory

    def _storage_key(self, x: Any) -> int | None:
        if x.layout is not self.torch.strided or x.is_meta:
            return None
        key: int = x.untyped_storage()._cdata
        return key

    def _memory_of(self, x: Any, place: Place) -> Memory | None:
        """Return the memory of a tensor. If it is new, the program brought it in here."""
        key = self._storage_key(x)
        if key is None:
            return None
        found = self.log.memories.get(key)
        if found is None:
            dtype = self._dtype_name(x.dtype)
            made = self.input_tallies.get((place, dtype))
            if made is None:
                made = Tally(-1, "", place, (), (Tensor(dtype, x.dim() > 0),), is_input=True)
                self.input_tallies[place, dtype] = made
            found = self._watch_memory(x, key, made)
        return found

    def _watch_memory(self, x: Any, key: int, made: Tally) -> Memory:
        storage = x.untyped_storage()
        self.watched[key] = weakref.ref(storage, partial(self._free, key))
        return self.log.add_memory(key, storage.nbytes(), self._dtype_name(x.dtype), made)

    def _free(self, key: int, reference: Any) -> None:
        if self.watched.get(key) is reference:
            del self.watched[key]
            if self.values is not None:
                self.values.forget(key)
            self.log.free_memory(key)

    # -- places

    def sort_of_code(self, code: CodeType) -> int:
        """Sort code by its file: PyTorch's own, that of a package, or the user's."""
        file, name = code.co_filename, code.co_name
        if file.startswith(self.folder):
            inner = file[len(self.folder) :].replace(os.sep, "/")
            if name == "_call_impl" and inner == "nn/modules/module.py":
                return MODULE_CALL
            if name == "wrapper" and inner == "optim/optimizer.py":
                return OPTIMIZER_STEP
            return ENGINE if name == "_engine_run_backward" else INSIDE
        if file.startswith(OWN_FOLDER):
            return INSIDE
        if self.is_user_file(file):
            return USER
        if file.startswith("<") or any(folder in file for folder in INSTALLED_FOLDERS):
            return INSIDE if file.startswith("<") else PACKAGE
        return INSIDE if file.startswith(PYTHON_FOLDER) else PACKAGE

    def _phase_of(self, stack: Stack) -> tuple[str, Place | None]:
        """Return the phase of an operation. In the backward pass, also return the place of its operation."""
        node = self.torch._C._current_autograd_node()
        if node is not None and (stack.in_engine or stack.place is None):
            number = node._sequence_nr() if hasattr(node, "_sequence_nr") else -1
            forward = self.by_sequence.get(number)
            if forward is not None:
                key = BACKWARD, forward
                if key not in self.places:
                    self.places[key] = Place(forward.location, forward.caller, forward.module, BACKWARD)
                return BACKWARD, self.places[key]
            return BACKWARD, None
        if stack.optimizer is not None:
            self._note_optimizer(stack.optimizer)
            return OPTIMIZER, None
        return FORWARD, None

    def _place_of(self, stack: Stack, phase: str) -> Place:
        module, declared = self._module_of(stack.modules)
        caller = stack.caller if stack.caller is not stack.place else None
        keys = self.stacks
        key = keys.key_of(stack.place), keys.key_of(caller), module, phase, declared
        found = self.places.get(key)
        if found is None:
            at, by = keys.location_of(stack.place), keys.location_of(caller)
            found = self.places[key] = Place(at, by, module, phase, declared)
        return found

    def _note_sequence(self, place: Place) -> None:
        """Note the place of the operations that autograd has numbered since the last one."""
        now = self.torch.autograd._get_sequence_nr()
        if now != self.last_sequence:
            if len(self.by_sequence) > MAX_SEQUENCE_NUMBERS:
                for old in [*self.by_sequence][: MAX_SEQUENCE_NUMBERS // 2]:
                    del self.by_sequence[old]
            for number in range(self.last_sequence, now):
                self.by_sequence[number] = place
            self.last_sequence = now

    def _is_in_autocast(self) -> bool:
        """Return True within a block of autocast, also of one that turns it off."""
        self.torch.autocast_increment_nesting()
        return bool(self.torch.autocast_decrement_nesting())

    def _autocast_dtype(self, tally: Tally, tensor: Any) -> str:
        """Return the dtype to which autocast casts, or "off" if it is turned off.

        Within an operation that autocast handles, it is off for PyTorch. Then the operands of a product show
        whether autocast has cast them.
        """
        dtype = self._dtype_name(self.torch.get_autocast_dtype(tensor.device.type))
        if tally.is_contraction and all(x.dtype != dtype for x in tally.takes):
            return OFF
        return dtype

    # -- modules and optimizers

    def _module_of(self, frames: Sequence[FrameType]) -> tuple[str, str]:
        """Return the name of the innermost module, and the dtype that it declares, or ""."""
        if not frames:
            return "", ""
        module = frames[0].f_locals.get("self")
        name = self.names.get(id(module))
        if name is None:
            self._add_root(frames[-1].f_locals.get("self"))
            name = self.names.setdefault(id(module), type(module).__name__)
            self._note_declared([module])
        return name, self.declared.get(id(module), "")

    def _add_root(self, module: Any) -> None:
        """Name the modules within an outermost one. It takes the place of those that it contains."""
        if not isinstance(module, self.torch.nn.Module):
            return
        inner = {id(each): name for name, each in module.named_modules()}
        prefix = next((root.prefix for key, root in self.roots.items() if key in inner), None)
        for key in [key for key in self.roots if key in inner]:
            self.log.stored.pop(self.roots.pop(key).prefix or "model", None)
        if prefix is None:
            label = type(module).__name__
            taken = sum(root.prefix.startswith(label) for root in self.roots.values())
            prefix = "" if not self.roots else f"{label}{f' {taken + 1}' if taken else ''}."
        root = _Root(weakref.ref(module, partial(self._drop_root, id(module))), prefix)
        own = type(module).__name__
        self.log.roots.add(own)
        root.names = {key: f"{prefix}{name}" if name else own for key, name in inner.items()}
        self.roots[id(module)] = root
        self.names |= root.names
        self._note_declared(module.modules())
        self._scan()

    def _note_declared(self, modules: Iterable[Any]) -> None:
        """Note the dtypes that modules say they compute in."""
        for each in modules:
            dtype = getattr(each, DECLARED_DTYPE, None)
            if isinstance(dtype, str):
                self.declared[id(each)] = dtype

    def _drop_root(self, key: int, reference: Any) -> None:
        root = self.roots.pop(key, None)
        for each in root.names if root else ():
            self.names.pop(each, None)
            self.declared.pop(each, None)

    def _note_optimizer(self, frame: FrameType) -> None:
        optimizer = frame.f_locals.get("self")
        if optimizer is not None and id(optimizer) not in self.optimizers:
            gone = partial(self._drop_optimizer, id(optimizer))
            self.optimizers[id(optimizer)] = weakref.ref(optimizer, gone)

    def _drop_optimizer(self, key: int, reference: Any) -> None:
        self.optimizers.pop(key, None)

    def _end_phase(self, is_last: bool = False) -> None:
        """Sort what outlives the backward pass or a step of an optimizer."""
        category = {BACKWARD: GRADIENT, OPTIMIZER: STATE}.get(self.phase)
        if category is None:
            return
        count = self.phase_ends[self.phase] = self.phase_ends.get(self.phase, 0) + 1
        if is_last or count & (count - 1) == 0:
            self._scan()
            self.log.end_phase(self.phase, category)

    def _scan(self) -> None:
        """Read the parameters, buffers and gradients of the modules, and the state of the optimizers."""
        by_id: dict[int, str] = {}
        for root in [*self.roots.values()]:
            module = root.module()
            if module is not None:
                found = [*self._scan_module(module, root.prefix, by_id)]
                self.log.store(root.prefix or "model", found)
        for number, reference in enumerate([*self.optimizers.values()]):
            optimizer = reference()
            if optimizer is not None:
                self.log.store(f"optimizer {number}", [*self._scan_optimizer(optimizer, by_id)])

    def _scan_module(self, module: Any, prefix: str, by_id: dict[int, str]) -> Iterator[StoredTensor]:
        for name, x in module.named_parameters():
            by_id[id(x)] = f"{prefix}{name}"
            yield from self._store(PARAMETER, f"{prefix}{name}", x)
            yield from self._store(GRADIENT, f"{prefix}{name}", x.grad)
        for name, x in module.named_buffers():
            yield from self._store(BUFFER, f"{prefix}{name}", x)

    def _scan_optimizer(self, optimizer: Any, by_id: Mapping[int, str]) -> Iterator[StoredTensor]:
        for x, state in [*optimizer.state.items()]:
            owner = by_id.get(id(x), "")
            entries = state.items() if isinstance(state, dict) else ()
            for key, value in entries:
                yield from self._store(STATE, f"{owner}.{key}", value, owner)

    def _store(self, category: str, name: str, x: Any, owner: str = "") -> Iterator[StoredTensor]:
        if not isinstance(x, self.torch.Tensor) or _has_own_dispatch(type(x)):
            return
        key = self._storage_key(x) if type(x).__name__ != "UninitializedParameter" else None
        if key is None:
            return
        module = (owner or name).rpartition(".")[0]
        memory = self._memory_of(x, Place(None, None, module, FORWARD))
        if memory is not None:
            memory.category, memory.name, memory.module = category, name, module
        size = x.numel() * x.element_size()
        made = memory.made.place if memory is not None else None
        yield StoredTensor(category, module, name, self._dtype_name(x.dtype), size, made)


def is_model(model: object) -> bool:
    """Return True if an object is a module of PyTorch."""
    torch: Any = sys.modules[MODULE]
    return isinstance(model, torch.nn.Module)


def _passed_last(error: Exception, folder: str) -> bool:
    """Return True if the innermost frame of an error runs code of a folder."""
    trace, file = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
    return file.startswith(folder)


def _has_own_dispatch(cls: type) -> bool:
    """Return True if a class of tensors computes by itself."""
    torch: Any = sys.modules[MODULE]
    return getattr(cls, "__torch_dispatch__", None) is not torch.Tensor.__torch_dispatch__
