"""ONNX models read as programs: nothing is run, and what no operation says is opaque, of the dtype stated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import numpy_helper

from typelattice.facts.dtypes import DTYPES
from typelattice.facts.operations import operation
from typelattice.facts.suggest import clipped, short
from typelattice.programs.inputs import described
from typelattice.programs.known import MOST
from typelattice.programs.step import (
    LONGEST,
    Argument,
    Call,
    Cast,
    Created,
    Input,
    NamedDType,
    Opaque,
    ProgramError,
    Ref,
    Shape,
    Step,
)  # fmt: skip

OWN = ("", "ai.onnx")  # the domains of ONNX's own operators
WRITTEN_OUT = 16  # elements of a constant that stands in the program; a larger one is an input
OPERATIONS = {  # ONNX's operators without attributes that are one operation, and one alone
    **{name: name.lower() for name in (
        "Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Equal",
        "Exp", "Floor", "Greater", "IsNaN", "Less", "Log", "MatMul", "Mul", "Neg", "Pow", "Reciprocal",
        "Round", "Sign", "Sin", "Sinh", "Sqrt", "Sub", "Tan", "Tanh", "Where",
    )},
    **{name: f"logical_{name.lower()}" for name in ("And", "Or", "Xor", "Not")},
    **{f"Bitwise{name}": f"bitwise_{name.lower()}" for name in ("And", "Or", "Xor")},
    "BitwiseNot": "bitwise_invert", "GreaterOrEqual": "greater_equal", "LessOrEqual": "less_equal",
}  # fmt: skip


def read(data: bytes | Any, name: str) -> tuple[tuple[Step, ...], tuple[int, ...]]:
    """The steps of a model and those that are its results. Raises ProgramError, which names the node."""
    try:
        model = onnx.load_model_from_string(data) if isinstance(data, bytes) else data
        graph = onnx.shape_inference.infer_shapes(model).graph
    except Exception as e:  # of whatever class the parser and ONNX's own inference raise
        raise ProgramError(f"{name} is no ONNX model: {clipped(' '.join(str(e).split()), 200)}") from None
    if not graph.output:
        raise ProgramError(f"{name} is no ONNX model: its graph gives nothing")
    if len(graph.node) + len(graph.initializer) + len(graph.input) > MOST:
        raise ProgramError(f"{name} has more than {MOST:,} nodes; take it apart")
    return _Graph(graph, {each.domain: each.version for each in model.opset_import}).read()


class _Graph:
    """The steps so far; `known` has the number of the step that each value of the graph is, and its dtype."""

    def __init__(self, graph: Any, versions: Mapping[str, int]) -> None:
        self.graph, self.versions = graph, versions
        self.steps: list[Step] = []
        self.known: dict[str, tuple[int, str]] = {}
        self.names: set[str] = set()
        self.types = {each.name: each.type for each in (*graph.value_info, *graph.output, *graph.input)}

    def read(self) -> tuple[tuple[Step, ...], tuple[int, ...]]:
        constants = {each.name for each in self.graph.initializer}
        for i, each in enumerate(self.graph.input):
            check_text(f"input {i}", each.name)
            if each.name not in constants:
                self.input(f"input {i}", each.name, *self.type_of(f"input {i}", each.name))
        for i, tensor in enumerate(self.graph.initializer):
            check_text(f"initializer {i}", tensor.name)
            self.constant(f"initializer {i}", tensor.name, tensor)
        for i, node in enumerate(self.graph.node):
            check_text(f"node {i}", node.op_type, node.domain, *node.input, *node.output)
            made = short(next(iter(node.output), ""))
            self.node(f"node {i} ({clipped(node.op_type, 40)} {made})", node)
        results = [self.part(f"output {i}", each.name)[0] for i, each in enumerate(self.graph.output)]
        return tuple(self.steps), tuple(results)

    # -- what is stated

    def dtype(self, where: str, number: int) -> str:
        """A dtype by ONNX's number."""
        try:
            found = str(onnx.TensorProto.DataType.Name(number)).lower()
        except ValueError:
            raise ProgramError(f"{where}: no dtype of ONNX has the number {number}") from None
        name: str = {"float": "float32", "double": "float64"}.get(found, found.replace("float8e", "float8_e"))
        if name not in DTYPES:
            raise ProgramError(f"{where}: {found} is no dtype of numbers; leave it out of the graph")
        return name

    def type_of(self, where: str, name: str) -> tuple[str, Shape | None]:
        """The dtype and the shape that the model states of a value, or that ONNX infers."""
        stated = self.types.get(name)
        if stated is None or not stated.HasField("tensor_type") or not stated.tensor_type.elem_type:
            raise ProgramError(f"{where}: the dtype of {short(name)} is not stated; run onnx.shape_inference")
        tensor = stated.tensor_type
        lengths = tensor.shape.dim if tensor.HasField("shape") else None
        shape = None
        if lengths is not None:
            known = [n.dim_value if n.HasField("dim_value") else -1 for n in lengths]
            shape = tuple(None if n < 0 else n for n in known)
        return self.dtype(where, tensor.elem_type), shape

    def part(self, where: str, name: str) -> tuple[int, str]:
        """The step that a value is, and its dtype."""
        if name not in self.known:
            raise ProgramError(f"{where}: {short(str(name))} is made by no node before it; sort the graph")
        return self.known[name]

    # -- steps

    def add(self, where: str, name: str, dtype: str, step: Step) -> None:
        if name in self.known:
            raise ProgramError(f"{where}: {short(name)} is made twice; give each value a name of its own")
        self.steps.append(step)
        self.known[name] = len(self.steps) - 1, dtype

    def input(self, where: str, name: str, dtype: str, shape: Shape | None) -> None:
        """A value from outside, under its name as far as Python can write it."""
        plain = clipped(re.sub(r"\W", "_", name), LONGEST).replace(".", "_") or "x"
        plain = plain if plain.isidentifier() else f"x_{plain}"
        while plain in self.names:
            plain += "_"
        self.names.add(plain)
        given, _ = described(f"{dtype}:0d" if shape == () else dtype)
        self.add(where, name, dtype, Input(given, text=plain, shape=shape))

    def constant(self, where: str, name: str, tensor: Any) -> None:
        """A tensor of the model: written out if it is small, an input if it is large or kept elsewhere."""
        dtype, shape = self.dtype(where, tensor.data_type), tuple(tensor.dims)
        count = 1
        for n in shape:
            count *= max(n, 0)
        if count > WRITTEN_OUT or tensor.data_location == onnx.TensorProto.EXTERNAL:
            self.input(where, name, dtype, shape)
            return
        try:
            value = numpy_helper.to_array(tensor).tolist()
        except Exception as e:  # of whatever class NumPy and ONNX raise for bytes that are too few
            raise ProgramError(f"{where}: {clipped(' '.join(str(e).split()), 200)}") from None
        like, _ = described(DTYPES[dtype].kind.word)
        assert not isinstance(like, str)
        text = clipped(name, LONGEST)
        self.add(where, name, dtype, Created(
            "asarray", (_tuple(value),), (), like, NamedDType(dtype), text=text, shape=shape,
        ))  # fmt: skip

    def node(self, where: str, node: Any) -> None:
        """The steps of a node: an operation, a cast, a constant; opaque where it is none of these."""
        own = node.domain in OWN
        if own and node.op_type == "Constant" and [each.name for each in node.attribute] == ["value"]:
            self.constant(where, node.output[0], node.attribute[0].t)
            return
        parts = [self.part(where, name) for name in node.input if name]
        self.check(where, node, parts)
        text = clipped(f"{node.op_type}({', '.join(self.steps[i].text for i, _ in parts)})", LONGEST)
        for output in filter(None, node.output):
            if own and node.op_type == "Identity":
                self.known[output] = parts[0]
                continue
            dtype, shape = self.type_of(where, output)
            refs: tuple[Argument, ...] = tuple(Ref(i) for i, _ in parts)
            steps = tuple(i for i, _ in parts)
            step: Step
            if own and node.op_type == "Cast":
                step = Cast(steps[0], NamedDType(dtype), text=text, shape=shape)
            elif own and node.op_type in OPERATIONS:
                name = operation(OPERATIONS[node.op_type]).name
                step = Call(name, refs, (), steps, False, NamedDType(dtype), text=text, shape=shape)
            else:
                given, _ = described(f"{dtype}:0d" if shape == () else dtype)
                step = Opaque(clipped(node.op_type, LONGEST), given, steps, text=text, shape=shape)
            self.add(where, output, dtype, step)

    def check(self, where: str, node: Any, parts: Sequence[tuple[int, str]]) -> None:
        """Raises ProgramError for operands of different dtypes that the operator wants to be of one."""
        own = node.domain in OWN
        domains = OWN if own else (node.domain,)
        version = next((self.versions[each] for each in domains if each in self.versions), 1)
        try:
            schema = onnx.defs.get_schema(node.op_type, version, domains[0])
        except onnx.defs.SchemaError:
            if own:
                why = "ONNX has no such operator; see its version, or its name"
                raise ProgramError(f"{where}: {why}") from None
            return  # of another domain: its dtypes are taken as they are stated
        if not schema.min_input <= len(node.input) <= schema.max_input:
            takes = f"{node.op_type} takes {schema.min_input}"
            raise ProgramError(f"{where}: {len(node.input)} operands; {takes}")
        dtypes: dict[str, str] = {}
        given = iter(parts)
        for i, name in enumerate(node.input):
            formal = schema.inputs[min(i, len(schema.inputs) - 1)] if schema.inputs else None
            found = next(given)[1] if name else None
            if formal is None or found is None:
                continue
            alike = formal.is_homogeneous and not formal.type_str.startswith(("tensor(", "seq("))
            if alike and dtypes.setdefault(formal.type_str, found) != found:
                what = f"casts implicitly, of {dtypes[formal.type_str]} and {found}"
                raise ProgramError(f"{where} {what}, which ONNX does not; put a Cast before it")


def check_text(where: str, *names: object) -> None:
    """Raises ProgramError for a name that is no text: a damaged one comes as bytes."""
    if not all(isinstance(name, str) for name in names):
        raise ProgramError(f"{where}: a name is no UTF-8 text; the model is damaged")


def _tuple(x: Any) -> Argument:
    return tuple(map(_tuple, x)) if isinstance(x, list) else x
