"""The stated dtypes and shapes of the values in an ONNX graph, and the steps made from them so far."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import numpy_helper

from typelattice.base.errors.error_texts import clip_text, quote_short
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.operations.operations import find_operation
from typelattice.core.operations.shapes import Shape, ShapeError
from typelattice.programs.calls.program_inputs import read_input
from typelattice.programs.calls.result_shapes import result_shape
from typelattice.programs.calls.steps import (
    MAX_STEP_CHARS,
    Argument,
    Call,
    Created,
    Index,
    Input,
    NamedDType,
    ProgramError,
    Ref,
    Step,
)  # fmt: skip

MAX_WRITTEN_ELEMENTS = 16  # most elements of a constant in the program's text; a larger one is an input
MAX_SETTING_ELEMENTS = 64  # elements of a constant that may be a setting, such as axes or a shape


class OnnxGraph:
    """The steps so far. `cached_values` has the step number and the dtype of each value of the graph.

    A small constant becomes a step when it is first an operand. A setting of nodes, such as axes, never does.
    """

    def __init__(self, graph: Any) -> None:
        self.steps: list[Step] = []
        self.cached_values: dict[str, tuple[int, str]] = {}
        self.constants: dict[str, tuple[Created, str]] = {}
        self.settings: dict[str, tuple[int, ...]] = {}
        self.names: set[str] = set()
        self.types = {each.name: each.type for each in (*graph.value_info, *graph.output, *graph.input)}

    # -- stated dtypes and shapes

    def dtype_of_number(self, node_name: str, number: int) -> str:
        """Return a dtype by ONNX's number."""
        try:
            found = str(onnx.TensorProto.DataType.Name(number)).lower()
        except ValueError:
            raise ProgramError(f"{node_name}: no dtype of ONNX has the number {number}") from None
        name: str = {"float": "float32", "double": "float64"}.get(found, found.replace("float8e", "float8_e"))
        if name not in DTYPES:
            raise ProgramError(f"{node_name}: {found} is no dtype of numbers; leave it out of the graph")
        return name

    def type_of(self, node_name: str, name: str) -> tuple[str, Shape | None]:
        """Return the dtype and the shape that the model states of a value, or that ONNX infers."""
        stated = self.types.get(name)
        if stated is None or not stated.HasField("tensor_type") or not stated.tensor_type.elem_type:
            raise ProgramError(
                f"{node_name}: the dtype of {quote_short(name)} is not stated; run onnx.shape_inference"
            )
        tensor = stated.tensor_type
        lengths = tensor.shape.dim if tensor.HasField("shape") else None
        shape = None
        if lengths is not None:
            known = [n.dim_value if n.HasField("dim_value") else -1 for n in lengths]
            shape = tuple(None if n < 0 else n for n in known)
        return self.dtype_of_number(node_name, tensor.elem_type), shape

    # -- values and their steps

    def dtype_of(self, node_name: str, name: str) -> str:
        """Return the dtype of a value. Raises ProgramError if no earlier node made it."""
        if name in self.constants:
            return self.constants[name][1]
        if name not in self.cached_values:
            raise ProgramError(
                f"{node_name}: {quote_short(str(name))} is made by no node before it; sort the graph"
            )
        return self.cached_values[name][1]

    def step_of(self, node_name: str, name: str) -> int:
        """Return the step that a value is."""
        self.dtype_of(node_name, name)
        if name in self.constants:
            step, dtype = self.constants.pop(name)
            self.cached_values[name] = self.add_step(step), dtype
        return self.cached_values[name][0]

    def text_of(self, node_name: str, name: str) -> str:
        """Return the text of the step that a value is, or would be."""
        if name in self.constants:
            return self.constants[name][0].text
        return self.steps[self.step_of(node_name, name)].text

    def add_step(self, step: Step) -> int:
        """Return the number of a step that is added."""
        self.steps.append(step)
        return len(self.steps) - 1

    def record_value(self, node_name: str, name: str, dtype: str, step: int) -> None:
        """Record the step of a value."""
        if name in self.cached_values or name in self.constants:
            raise ProgramError(
                f"{node_name}: {quote_short(name)} is made twice; give each value a name of its own"
            )
        self.cached_values[name] = step, dtype

    def add_input(self, node_name: str, name: str, dtype: str, shape: Shape | None) -> None:
        """Add an input of the graph. Its name is changed to a valid Python name that is still free."""
        python_name = clip_text(re.sub(r"\W", "_", name), MAX_STEP_CHARS).replace(".", "_") or "x"
        python_name = python_name if python_name.isidentifier() else f"x_{python_name}"
        while python_name in self.names:
            python_name += "_"
        self.names.add(python_name)
        given, _ = read_input(f"{dtype}:0d" if shape == () else dtype)
        self.record_value(node_name, name, dtype, self.add_step(Input(given, text=python_name, shape=shape)))

    def add_constant(self, node_name: str, name: str, tensor: Any) -> None:
        """Add a tensor of the model: written out if small, or as an input if large or stored elsewhere."""
        dtype, shape = self.dtype_of_number(node_name, tensor.data_type), tuple(tensor.dims)
        count = 1
        for n in shape:
            count *= max(n, 0)
        if count > MAX_SETTING_ELEMENTS or tensor.data_location == onnx.TensorProto.EXTERNAL:
            self.add_input(node_name, name, dtype, shape)
            return
        try:
            value = numpy_helper.to_array(tensor)
        except (KeyError, TypeError, ValueError) as e:  # the bytes do not fit the stated dtype and shape
            raise ProgramError(f"{node_name}: {clip_text(' '.join(str(e).split()), 200)}") from None
        if DTYPES[dtype].kind.python_name == "int" and value.ndim < 2:
            self.settings[name] = tuple(value.reshape(-1).tolist())
        if count > MAX_WRITTEN_ELEMENTS:
            self.add_input(node_name, name, dtype, shape)
            return
        made = create_constant(value.tolist(), dtype, clip_text(name, MAX_STEP_CHARS), shape)
        if name in self.cached_values or name in self.constants:
            self.record_value(node_name, name, dtype, -1)  # an error if no input has the name
        self.constants[name] = made, dtype


def create_constant(value: Any, dtype: str, text: str, shape: Shape) -> Created:
    """Return an array of numbers that are written out."""
    like, _ = read_input(DTYPES[dtype].kind.python_name)
    assert not isinstance(like, str)
    return Created("asarray", (_read_tuple(value),), (), like, NamedDType(dtype), text=text, shape=shape)


def _read_tuple(x: Any) -> Argument:
    return tuple(map(_read_tuple, x)) if isinstance(x, list) else x


class OnnxNode:
    """A node that is being read: its operands, its settings, and its steps.

    `dtypes` has the dtype of each operand, or None for one that is left out. `shape` is the shape of its
    first result.
    """

    def __init__(self, graph: OnnxGraph, node_name: str, node: Any, version: int, text: str) -> None:
        self.graph, self.node_name, self.node, self.version, self.text = graph, node_name, node, version, text
        self.dtypes = [graph.dtype_of(node_name, name) if name else None for name in node.input]
        self.dtype, self.shape = graph.type_of(node_name, node.output[0])
        self.attributes = {each.name: each for each in node.attribute}

    # -- operands and settings

    def has_operand(self, position: int) -> bool:
        return position < len(self.dtypes) and self.dtypes[position] is not None

    def operand_step(self, position: int) -> int:
        """Return the step of the operand at a position. It must not be left out."""
        return self.graph.step_of(self.node_name, self.node.input[position])

    def operand_steps(self) -> list[int]:
        return [self.operand_step(i) for i, dtype in enumerate(self.dtypes) if dtype is not None]

    def shape_of(self, position: int) -> Shape | None:
        return self.graph.steps[self.operand_step(position)].shape

    def has_attribute(self, name: str) -> bool:
        return name in self.attributes

    def read_integer(self, name: str, default: int) -> int:
        """Return an attribute that is a whole number."""
        return int(self._find_attribute(name, "INT").i) if self.has_attribute(name) else default

    def read_number(self, name: str, default: float) -> float:
        return float(self._find_attribute(name, "FLOAT").f) if self.has_attribute(name) else default

    def read_text(self, name: str) -> str:
        """Return an attribute that is a text, or "" if it is missing or damaged."""
        return (
            bytes(self._find_attribute(name, "STRING").s).decode("ascii", "replace")
            if self.has_attribute(name)
            else ""
        )

    def read_integers(self, position: int | None, name: str) -> tuple[int, ...] | None:
        """Return whole numbers from an attribute or a constant operand, or None if they are not known."""
        if self.has_attribute(name):
            return tuple(self._find_attribute(name, "INTS").ints)
        if position is None or not self.has_operand(position):
            return None
        return self.graph.settings.get(self.node.input[position])

    def _find_attribute(self, name: str, kind: str) -> Any:
        found = self.attributes[name]
        if found.type != onnx.AttributeProto.AttributeType.Value(kind):
            raise ProgramError(f"{self.node_name}: the attribute {name} is no {kind}; see ONNX's operators")
        return found

    # -- steps

    def add_call(
        self,
        name: str,
        operands: Sequence[int],
        args: Sequence[Argument] = (),
        keywords: Mapping[str, Argument] = {},
        is_last: bool = True,
    ) -> int:
        """Add the step of an operation. If it `is_last`, it has the node's dtype and shape."""
        op, refs = find_operation(name), tuple(Ref(i) for i in operands)
        whole: tuple[Argument, ...] = (refs, *args) if op.call_form == "list" else (*refs, *args)
        named = {key: value for key, value in keywords.items() if value is not False}
        shape = self.shape
        if not is_last:
            try:
                shape = result_shape(op, [self.graph.steps[i].shape for i in operands], args, named)
            except ShapeError as e:
                raise ProgramError(f"{self.node_name}: {e}") from None
        # A node has the dtype of its first operand. Only the dtype of its result is stated separately.
        dtype = self.dtype if is_last else self.dtypes[0] or self.dtype
        step = Call(
            op.name, whole, tuple(named.items()), tuple(operands), False, NamedDType(dtype),
            text=self.text, shape=shape,
        )  # fmt: skip
        return self.graph.add_step(step)

    def add_index(self, key: tuple[Argument, ...]) -> int:
        """Return the step of elements of the first operand."""
        return self.graph.add_step(Index(self.operand_step(0), key, text=self.text, shape=self.shape))

    def add_constant(self, value: float) -> int:
        """Return the step of a number of the dtype of the first operand."""
        dtype = self.dtypes[0] or self.dtype
        number = int(value) if DTYPES[dtype].kind.python_name == "int" else value
        return self.graph.add_step(create_constant(number, dtype, str(value), ()))
