"""The last operations that PyTorch's dispatcher ran, from which calls are read as graphs.

A witness sees only the result of a call such as `layer(x)`. The history has the operations that ran in it,
with the casts of autocast, so that nothing has to be repeated. It keeps no tensor.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import get_ident
from typing import Any

from typelattice.base.errors.outside_errors import came_from_outside
from typelattice.core.operands.adapters.torch import read
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, scalar_operand
from typelattice.tracing.models.torch_mode import MODULE, enter_mode, leave_mode
from typelattice.tracing.run_data.graph import MAX_GRAPH_OPERATIONS, Graph, GraphNode, GraphReader, Variable

NUMBER_TYPES = ("number", "Tensor")  # types of the schema that take a Python number as an operand
LIBRARY = "torch"
PLAIN_VIEWS = ("t", "transpose", "permute", "detach", "alias", "slice", "split")
"""Views that have a dimension if their base has one."""
OPERATOR_NAMESPACE = "aten"


@dataclass(eq=False, slots=True)
class _Value:
    """A value of a memory between two writes, with one dtype: its class, dtype, dimensions and bytes."""

    dtype: Any
    has_dimensions: bool
    bytes: int
    number: Any = None


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    inputs: tuple[_Value, ...]
    outputs: tuple[_Value, ...]
    is_composite: bool = False


@dataclass(frozen=True, slots=True)
class _Schema:
    """The facts of an operation: its name, the positions of operands that are numbers, and of those written.

    A composite one was not taken apart before, as in inference mode.
    """

    name: str
    is_view: bool
    is_plain_view: bool
    numbers: frozenset[int]
    written: tuple[int, ...]
    written_names: tuple[str, ...]
    is_composite: bool


class DispatchHistory:
    """The last operations of one thread of one process."""

    def __init__(self) -> None:
        self.torch: Any = sys.modules[MODULE]
        self.nodes: deque[_Node] = deque(maxlen=MAX_GRAPH_OPERATIONS)
        self.values: dict[int, dict[tuple[Any, bool], _Value]] = {}
        self.storages: dict[int, weakref.ref[Any]] = {}
        self.schemas: dict[Any, _Schema] = {}
        self.thread, self.pid = get_ident(), os.getpid()
        self.is_recording = False
        self.mode: Any = None

    @property
    def is_here(self) -> bool:
        """True in the thread and the process of the history, as long as it is kept."""
        return self.is_recording and get_ident() == self.thread and os.getpid() == self.pid

    def start(self) -> None:
        """Begin the history."""
        self.is_recording = True
        self.mode = enter_mode(self)

    def stop(self) -> None:
        """End the history."""
        self.is_recording = False
        leave_mode(self.mode, self.thread)
        for known in (self.nodes, self.values, self.storages):
            known.clear()

    def prepare(self, function: Any, args: Any, keywords: Any) -> None:
        """Look at nothing before an operation runs."""

    def note(
        self, function: Any, args: Sequence[Any], keywords: Mapping[str, Any], result: Any, before: Any
    ) -> None:
        """Note an operation that has run. If our own work fails, the history ends, not the program."""
        schema = self.schemas.get(function)
        if os.getpid() != self.pid or (schema is not None and schema.is_plain_view):
            return
        try:
            with self.torch._C.DisableTorchFunctionSubclass():
                self._note(function, args, keywords, result)
        except Exception as e:
            if came_from_outside(e):
                raise
            self.is_recording = False

    def note_error(self, function: Any, args: Any, keywords: Any, error: BaseException) -> None:
        """Ignore an operation that raised an error: it gave no result."""

    def _note(self, function: Any, args: Sequence[Any], keywords: Mapping[str, Any], result: Any) -> None:
        schema = self.schemas.get(function) or self._read_schema(function)
        gives = [*self._tensors(result)]
        if not gives:
            return
        takes: list[_Value] = []
        for i, x in enumerate((*args, *keywords.values())):
            if type(x) in KIND_BY_PYTHON_TYPE:
                if i in schema.numbers:
                    takes.append(_Value(None, False, 0, x))
            elif x is not None:
                takes += [value for y in self._tensors(x) if (value := self.value_of(y)) is not None]
        if schema.is_view:
            form = gives[0].dtype, gives[0].dim() > 0
            if not takes or form == (takes[0].dtype, takes[0].has_dimensions):
                return  # it is equal to its base as an operand
        for x in self._written(schema, args, keywords):
            key = self._key_of(x)
            if key is not None:
                self.values[key] = {}
        made = [value for x in gives if (value := self.value_of(x)) is not None]
        self.nodes.append(_Node(schema.name, tuple(takes), tuple(made), schema.is_composite))

    def _read_schema(self, function: Any) -> _Schema:
        found = getattr(function, "_schema", None)
        arguments = [*found.arguments] if found is not None else []
        writes = [(i, a) for i, a in enumerate(arguments) if a.alias_info and a.alias_info.is_write]
        name = getattr(found, "name", str(function)).partition("::")[2].removesuffix("_")
        made = self.schemas[function] = _Schema(
            name,
            bool(getattr(function, "is_view", False)),
            name in PLAIN_VIEWS,
            frozenset(i for i, a in enumerate(arguments) if str(a.type) in NUMBER_TYPES),
            tuple(i for i, a in writes if not a.kwarg_only),
            tuple(a.name for _, a in writes),
            found is not None
            and function.namespace == OPERATOR_NAMESPACE
            and function.has_kernel_for_dispatch_key(self.torch._C.DispatchKey.CompositeImplicitAutograd),
        )
        return made

    def _written(self, schema: _Schema, args: Sequence[Any], keywords: Mapping[str, Any]) -> Iterator[Any]:
        for i in schema.written:
            yield from self._tensors(args[i]) if i < len(args) else ()
        for name in schema.written_names:
            yield from self._tensors(keywords[name]) if name in keywords else ()

    def _tensors(self, nested: Any) -> list[Any]:
        if isinstance(nested, (list, tuple)):
            return [x for each in nested for x in self._tensors(each)]
        return [nested] if isinstance(nested, self.torch.Tensor) else []

    def _key_of(self, x: Any) -> int | None:
        if type(x) not in (self.torch.Tensor, self.torch.nn.Parameter):
            return None
        if x.layout is not self.torch.strided or x.is_meta:
            return None
        key: int = x.untyped_storage()._cdata
        return key

    def value_of(self, x: Any) -> _Value | None:
        """Return the value of a tensor until the next write into its memory, or None if it has no memory."""
        key = self._key_of(x)
        if key is None:
            return None
        forms = self.values.get(key)
        if forms is None:
            forms = self.values[key] = {}
        if key not in self.storages:
            self.storages[key] = weakref.ref(x.untyped_storage(), partial(self._free, key))
        form = x.dtype, x.dim() > 0
        found = forms.get(form)
        if found is None:
            found = forms[form] = _Value(*form, x.numel() * x.element_size())
        return found

    def _free(self, key: int, reference: Any) -> None:
        if self.storages.get(key) is reference:
            self.storages.pop(key)
            self.values.pop(key, None)

    def graph_of_call(
        self, arguments: Sequence[Any], results: Sequence[Any], parts: Sequence[tuple[str, Any]]
    ) -> Graph | None:
        """Return the graph of the last call with these tensors, results and named parts, or None.

        It is None if a result does not come from the arguments and the parts alone, as far as is known.
        """
        tensor = self.torch.Tensor
        with self.torch._C.DisableTorchFunctionSubclass():
            inputs = [self.value_of(x) if isinstance(x, tensor) else None for x in arguments]
            outputs = [self.value_of(x) for x in results if isinstance(x, tensor)]
            named = {value: (name, x) for name, x in parts if (value := self.value_of(x)) is not None}
        if None in outputs or (not any(inputs) and any(isinstance(x, tensor) for x in arguments)):
            return None
        nodes = self._find_nodes(
            [each for each in outputs if each is not None], {*filter(None, inputs), *named}
        )
        if any(node.is_composite for node in nodes):
            return None
        if not nodes and not {*outputs} <= {*inputs, *named}:
            return None
        return self._build_graph(inputs, nodes, outputs, named)

    def _find_nodes(self, outputs: Sequence[_Value], known: set[_Value]) -> list[_Node]:
        """Find the operations that made some values of known ones, in their order."""
        wanted = {value for value in outputs if value not in known}
        found: list[_Node] = []
        for node in reversed(self.nodes):
            if not wanted:
                break
            if not wanted.isdisjoint(node.outputs):
                found.append(node)
                wanted.difference_update(node.outputs)
                wanted.update(value for value in node.inputs if value not in known and value.number is None)
        return found[::-1]

    def _build_graph(
        self,
        inputs: Sequence[_Value | None],
        nodes: Sequence[_Node],
        outputs: Sequence[_Value | None],
        named: Mapping[_Value, tuple[str, Any]],
    ) -> Graph | None:
        reader = GraphReader(read)
        used = {*outputs, *(value for node in nodes for value in node.inputs)}
        values = {*used, *filter(None, inputs), *(value for node in nodes for value in node.outputs)}
        for value in values:
            if value is None:
                continue
            if value.number is not None:
                kind = KIND_BY_PYTHON_TYPE[type(value.number)]
                reader.operands[value] = scalar_operand(kind, value.number)
                reader.numbers[value] = value.number
                continue
            shape = (1,) * value.has_dimensions
            operand = reader.operand_of(self.torch.empty(shape, dtype=value.dtype, device="meta"))
            if operand is not None:
                reader.operands[value] = operand
                reader.sizes[value] = value.bytes
        for value, (name, x) in named.items():
            if value in values:
                reader.names[value], reader.constants[value] = name, x
        for node in nodes:
            kept: tuple[Variable, ...] = tuple(value for value in node.outputs if value in used)
            reader.nodes.append(GraphNode(node.name, node.inputs, kept))
        return reader.build_graph(tuple(inputs), tuple(v for v in outputs if v is not None))
