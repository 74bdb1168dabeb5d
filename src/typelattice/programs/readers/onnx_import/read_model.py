"""Reading of ONNX models as programs, without running them. Unknown nodes are opaque, of the dtype stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from typelattice.base.errors.error_texts import clip_text, quote_short
from typelattice.programs.calls.call_tables import (
    CAST_OPERATION,
    OPERATION_BY_FUNCTION,
    graph_names,
    graph_operation,
)
from typelattice.programs.calls.program_builder import MAX_STEPS
from typelattice.programs.calls.program_inputs import read_input
from typelattice.programs.calls.steps import (
    MAX_STEP_CHARS,
    Call,
    Cast,
    NamedDType,
    Opaque,
    ProgramError,
    Ref,
    Step,
)
from typelattice.programs.readers.onnx_import.graph import OnnxGraph, OnnxNode
from typelattice.programs.readers.onnx_import.operator_readers import READER_BY_ONNX_OPERATOR

# Errors of the parser and of ONNX's own inference for bytes that are not a model.
DAMAGED_MODEL_ERRORS = (DecodeError, onnx.shape_inference.InferenceError, RuntimeError, TypeError, ValueError)
ONNX_DOMAINS = ("", "ai.onnx")  # the domains of ONNX's own operators


def read_model(data: bytes | Any, name: str) -> tuple[tuple[Step, ...], tuple[int, ...]]:
    """Return the steps of a model and its result steps. Raises ProgramError if a node cannot be read."""
    try:
        model = onnx.load_model_from_string(data) if isinstance(data, bytes) else data
        graph = onnx.shape_inference.infer_shapes(model).graph
    except DAMAGED_MODEL_ERRORS as e:
        raise ProgramError(f"{name} is no ONNX model: {clip_text(' '.join(str(e).split()), 200)}") from None
    if not graph.output:
        raise ProgramError(f"{name} is no ONNX model: its graph gives nothing")
    if len(graph.node) + len(graph.initializer) + len(graph.input) > MAX_STEPS:
        raise ProgramError(f"{name} has more than {MAX_STEPS:,} nodes; take it apart")
    return _ModelReader(graph, {each.domain: each.version for each in model.opset_import}).read_steps()


class _ModelReader:
    """The nodes of a graph, read in their order."""

    def __init__(self, graph: Any, versions: Mapping[str, int]) -> None:
        self.graph, self.versions, self.new_steps = graph, versions, OnnxGraph(graph)

    def read_steps(self) -> tuple[tuple[Step, ...], tuple[int, ...]]:
        """Return the steps, and the numbers of the result steps."""
        onnx_graph = self.new_steps
        constants = {each.name for each in self.graph.initializer}
        for i, each in enumerate(self.graph.input):
            check_text(f"input {i}", each.name)
            if each.name not in constants:
                onnx_graph.add_input(f"input {i}", each.name, *onnx_graph.type_of(f"input {i}", each.name))
        for i, tensor in enumerate(self.graph.initializer):
            check_text(f"initializer {i}", tensor.name)
            onnx_graph.add_constant(f"initializer {i}", tensor.name, tensor)
        for i, node in enumerate(self.graph.node):
            check_text(f"node {i}", node.op_type, node.domain, *node.input, *node.output)
            first = quote_short(next(iter(node.output), ""))
            self.add_node(f"node {i} ({clip_text(node.op_type, 40)} {first})", node)
        results = [onnx_graph.step_of(f"output {i}", each.name) for i, each in enumerate(self.graph.output)]
        return tuple(onnx_graph.steps), tuple(results)

    def add_node(self, node_name: str, node: Any) -> None:
        """Add the steps of a node: operations, a cast or a constant. Any other node is opaque."""
        onnx_graph, own = self.new_steps, node.domain in ONNX_DOMAINS
        if own and node.op_type == "Constant" and [each.name for each in node.attribute] == ["value"]:
            onnx_graph.add_constant(node_name, node.output[0], node.attribute[0].t)
            return
        dtypes = [onnx_graph.dtype_of(node_name, name) if name else None for name in node.input]
        self.check_operand_dtypes(node_name, node, dtypes)
        outputs = [name for name in node.output if name]
        if own and node.op_type == "Identity":
            for output in outputs:
                onnx_graph.record_value(
                    node_name, output, dtypes[0] or "", onnx_graph.step_of(node_name, node.input[0])
                )
            return
        step = self.add_operation(node_name, node) if own and len(outputs) == 1 else None
        if step is not None:
            onnx_graph.record_value(node_name, outputs[0], onnx_graph.type_of(node_name, outputs[0])[0], step)
            return
        parts = tuple(onnx_graph.step_of(node_name, name) for name in node.input if name)
        for output in outputs:
            dtype, shape = onnx_graph.type_of(node_name, output)
            given, _ = read_input(f"{dtype}:0d" if shape == () else dtype)
            name = clip_text(node.op_type, MAX_STEP_CHARS)
            opaque = Opaque(name, given, parts, text=self.node_text(node_name, node), shape=shape)
            onnx_graph.record_value(node_name, output, dtype, onnx_graph.add_step(opaque))

    def add_operation(self, node_name: str, node: Any) -> int | None:
        """Return the step of an operator that equals an operation, or None for any other."""
        made, kind = self.new_steps, node.op_type
        if kind in READER_BY_ONNX_OPERATOR:
            version = self.operator_version(node)
            return READER_BY_ONNX_OPERATOR[kind](
                OnnxNode(made, node_name, node, version, self.node_text(node_name, node))
            )
        ours = graph_operation("onnx", kind)
        if not ours or not (("onnx", kind) in graph_names() or _is_plain(kind, ours)):
            return None
        parts = tuple(made.step_of(node_name, name) for name in node.input if name)
        dtype, shape = made.type_of(node_name, node.output[0])
        text = self.node_text(node_name, node)
        if ours == CAST_OPERATION:
            return made.add_step(Cast(parts[0], NamedDType(dtype), text=text, shape=shape))
        refs = tuple(map(Ref, parts))
        return made.add_step(Call(ours, refs, (), parts, False, NamedDType(dtype), text=text, shape=shape))

    def node_text(self, node_name: str, node: Any) -> str:
        """Return a node as a call of its operator."""
        parts = (self.new_steps.text_of(node_name, name) for name in node.input if name)
        return clip_text(f"{node.op_type}({', '.join(parts)})", MAX_STEP_CHARS)

    def operator_version(self, node: Any) -> int:
        """Return the version of the operators of a node's domain."""
        domains = ONNX_DOMAINS if node.domain in ONNX_DOMAINS else (node.domain,)
        return next((self.versions[each] for each in domains if each in self.versions), 1)

    def check_operand_dtypes(self, node_name: str, node: Any, operand_dtypes: Sequence[str | None]) -> None:
        """Raise ProgramError if an operator needs operands of one dtype, and they have several."""
        own = node.domain in ONNX_DOMAINS
        try:
            schema = onnx.defs.get_schema(
                node.op_type, self.operator_version(node), "" if own else node.domain
            )
        except onnx.defs.SchemaError:
            if own:
                why = "ONNX has no such operator; see its version, or its name"
                raise ProgramError(f"{node_name}: {why}") from None
            return  # other domains: their dtypes are taken as stated
        if not schema.min_input <= len(node.input) <= schema.max_input:
            takes = f"{node.op_type} takes {schema.min_input}"
            raise ProgramError(f"{node_name}: {len(node.input)} operands; {takes}")
        dtypes: dict[str, str] = {}
        for i, found in enumerate(operand_dtypes):
            formal = schema.inputs[min(i, len(schema.inputs) - 1)] if schema.inputs else None
            if formal is None or found is None:
                continue
            alike = formal.is_homogeneous and not formal.type_str.startswith(("tensor(", "seq("))
            if alike and dtypes.setdefault(formal.type_str, found) != found:
                what = f"casts implicitly, of {dtypes[formal.type_str]} and {found}"
                raise ProgramError(f"{node_name} {what}, which ONNX does not; put a Cast before it")


def _is_plain(kind: str, ours: str) -> bool:
    """Return True if an operator named like our operation takes only its operands."""
    plain = OPERATION_BY_FUNCTION[ours].call_form in ("elementwise", "choice")
    return plain and not onnx.defs.get_schema(kind).attributes


def check_text(node_name: str, *names: object) -> None:
    """Raise ProgramError if a name is not a text: a damaged one comes as bytes."""
    if not all(isinstance(name, str) for name in names):
        raise ProgramError(f"{node_name}: a name is no UTF-8 text; the model is damaged")
