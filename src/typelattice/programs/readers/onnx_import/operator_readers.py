"""ONNX's operators as operations, also those with attributes or constants as settings: `Gemm`, `Slice`.

A reader returns the number of the step that a node becomes. It returns None if no operation does what the
node does, because of its attributes or because a setting is not a constant. Such a node is opaque. The
attributes are described at https://onnx.ai/onnx/operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.programs.calls.steps import Argument, Slice
from typelattice.programs.readers.onnx_import.graph import OnnxNode

SLICE_TO_THE_END = 2**31 - 1  # Slice goes to the end if its bound is at least this

OperatorReader = Callable[[OnnxNode], int | None]


def _reduction_reader(name: str) -> OperatorReader:
    """Read a reduction, by default of all axes. An attribute or, in newer models, a constant has the axes."""

    def read(node: OnnxNode) -> int | None:
        given = node.has_attribute("axes") or node.has_operand(1)
        axes = node.read_integers(1, "axes")
        if given and axes is None:
            return None
        if not axes and node.read_integer("noop_with_empty_axes", 0):
            return None
        named: dict[str, Argument] = {"axis": axes} if axes else {}
        named["keepdims"] = bool(node.read_integer("keepdims", 1))
        return node.add_call(name, [node.operand_step(0)], (), named)

    return read


def _operation_reader(
    name: str,
    operand_count: int | None = 1,
    since: int = 1,
    ignored_attribute: str = "",
    **fixed_arguments: int | bool,
) -> OperatorReader:
    """Return the reader of an operator with attributes that are our arguments by name, with these defaults.

    It takes `operand_count` operands, or all if that is None. `since` is the first version of the operators
    that means what ours does. `ignored_attribute` is an attribute that ours does not have.
    """

    def read(node: OnnxNode) -> int | None:
        if node.version < since or (ignored_attribute and node.read_integer(ignored_attribute, 0)):
            return None
        taken = (
            node.operand_steps()
            if operand_count is None
            else [node.operand_step(i) for i in range(operand_count)]
        )
        given = {
            key: type(default)(node.read_integer(key, default)) for key, default in fixed_arguments.items()
        }
        return node.add_call(name, taken, (), given)

    return read


def _folded_reader(name: str) -> OperatorReader:
    """Return the steps of an operator of any number of operands, applied from left to right."""

    def read(node: OnnxNode) -> int | None:
        first, *others = node.operand_steps()
        for i, each in enumerate(others, 1):
            first = node.add_call(name, [first, each], is_last=i == len(others))
        return first if others else None

    return read


def _read_gemm(node: OnnxNode) -> int | None:
    """Read `Gemm`: alpha times the product of two matrices, maybe transposed, plus beta times a third."""
    a, b, c = (
        node.operand_step(0),
        node.operand_step(1),
        node.operand_step(2) if node.has_operand(2) else None,
    )
    if node.read_integer("transA", 0):
        a = node.add_call("matrix_transpose", [a], is_last=False)
    if node.read_integer("transB", 0):
        b = node.add_call("matrix_transpose", [b], is_last=False)
    alpha, beta = node.read_number("alpha", 1.0), node.read_number("beta", 1.0)
    found = node.add_call("matmul", [a, b], is_last=alpha == 1 and c is None)
    if alpha != 1:
        found = node.add_call("multiply", [found, node.add_constant(alpha)], is_last=c is None)
    if c is None:
        return found
    if beta != 1:
        c = node.add_call("multiply", [c, node.add_constant(beta)], is_last=False)
    return node.add_call("add", [found, c])


def _read_transpose(node: OnnxNode) -> int | None:
    shape = node.shape_of(0)
    axes = node.read_integers(None, "perm")
    if axes is None:
        if shape is None:
            return None
        axes = tuple(reversed(range(len(shape))))
    return node.add_call("permute_dims", [node.operand_step(0)], (axes,))


def _reshape_reader(name: str) -> OperatorReader:
    """Return the reader of an operator that changes the shape to the shape that ONNX states.

    One length may be unknown for `reshape`.
    """

    def read(node: OnnxNode) -> int | None:
        if node.shape is None or node.shape.count(None) > (name == "reshape"):
            return None
        lengths = tuple(-1 if n is None else n for n in node.shape)
        return node.add_call(name, [node.operand_step(0)], (lengths,))

    return read


def _read_gather(node: OnnxNode) -> int | None:
    shape = node.shape_of(1)
    if shape is None or len(shape) != 1:
        return None
    return node.add_call(
        "take", [node.operand_step(0), node.operand_step(1)], (), {"axis": node.read_integer("axis", 0)}
    )


def _read_clip(node: OnnxNode) -> int | None:
    """Read `Clip`. Its bounds are optional operands, or attributes before version 11."""
    bounds = {}
    for i, (attribute, alone) in enumerate((("min", "maximum"), ("max", "minimum")), 1):
        if node.has_attribute(attribute):
            bounds[alone] = node.add_constant(node.read_number(attribute, 0.0))
        elif node.has_operand(i):
            bounds[alone] = node.operand_step(i)
    if not bounds:
        return None
    name = "clip" if len(bounds) == 2 else next(iter(bounds))
    return node.add_call(name, [node.operand_step(0), *bounds.values()])


def _read_div(node: OnnxNode) -> int | None:
    """Read `Div` of floats as `divide`. Return None for integers: no operation truncates as it does."""
    real = DTYPES[node.dtype].kind is Kind.FLOAT
    return node.add_call("divide", node.operand_steps()) if real else None


def _read_remainder(node: OnnxNode) -> int | None:
    return node.add_call("fmod" if node.read_integer("fmod", 0) else "remainder", node.operand_steps())


def _read_running_sum(node: OnnxNode) -> int | None:
    axis = node.read_integers(1, "axis")
    if not axis or node.read_integer("exclusive", 0) or node.read_integer("reverse", 0):
        return None
    return node.add_call("cumulative_sum", [node.operand_step(0)], (), {"axis": axis[0]})


def _read_tile(node: OnnxNode) -> int | None:
    times = node.read_integers(1, "repeats")
    return None if times is None else node.add_call("tile", [node.operand_step(0)], (times,))


def _read_slice(node: OnnxNode) -> int | None:
    shape, starts, ends = node.shape_of(0), node.read_integers(1, "starts"), node.read_integers(2, "ends")
    if shape is None or starts is None or ends is None or len(starts) != len(ends):
        return None
    axes, steps = node.read_integers(3, "axes"), node.read_integers(4, "steps")
    if (node.has_operand(3) and axes is None) or (node.has_operand(4) and steps is None):
        return None
    axes, steps = axes or tuple(range(len(starts))), steps or (1,) * len(starts)
    if len({len(axes), len(steps), len(starts)}) > 1 or not all(-len(shape) <= a < len(shape) for a in axes):
        return None
    key: list[Argument] = [Slice(None, None, None)] * len(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if step < 1:
            return None
        stop, by = None if end >= SLICE_TO_THE_END else end, None if step == 1 else step
        key[axis % len(shape)] = Slice(start, stop, by)
    return node.add_index(tuple(key))


def _read_triangle(node: OnnxNode) -> int | None:
    diagonal = node.read_integers(1, "k") if node.has_operand(1) else (0,)
    if diagonal is None:
        return None
    name = "triu" if node.read_integer("upper", 1) else "tril"
    return node.add_call(name, [node.operand_step(0)], (), {"k": diagonal[0]} if diagonal[0] else {})


def _read_einsum(node: OnnxNode) -> int | None:
    equation = node.read_text("equation")
    return node.add_call("einsum", node.operand_steps(), (equation,)) if equation else None


def _read_bit_shift(node: OnnxNode) -> int | None:
    side = node.read_text("direction").lower()
    return node.add_call(f"bitwise_{side}_shift", node.operand_steps()) if side in ("left", "right") else None


def _read_infinite(node: OnnxNode) -> int | None:
    both = node.read_integer("detect_negative", 1) and node.read_integer("detect_positive", 1)
    return node.add_call("isinf", [node.operand_step(0)]) if both else None


READER_BY_ONNX_OPERATOR: Mapping[str, OperatorReader] = {
    "ArgMax": _operation_reader("argmax", axis=0, keepdims=True, ignored_attribute="select_last_index"),
    "ArgMin": _operation_reader("argmin", axis=0, keepdims=True, ignored_attribute="select_last_index"),
    "BitShift": _read_bit_shift,
    "Clip": _read_clip,
    "Concat": _operation_reader("concat", None, axis=0),
    "CumSum": _read_running_sum,
    "Div": _read_div,
    "Einsum": _read_einsum,
    "Expand": _reshape_reader("broadcast_to"),
    "Flatten": _reshape_reader("reshape"),
    "Gather": _read_gather,
    "GatherElements": _operation_reader("take_along_axis", 2, axis=0),
    "Gelu": _operation_reader("gelu"),
    "Gemm": _read_gemm,
    "IsInf": _read_infinite,
    "LogSoftmax": _operation_reader("log_softmax", since=13, axis=-1),
    "Max": _folded_reader("maximum"),
    "Min": _folded_reader("minimum"),
    "Mod": _read_remainder,
    "ReduceLogSumExp": _reduction_reader("logsumexp"),
    "ReduceMax": _reduction_reader("max"),
    "ReduceMean": _reduction_reader("mean"),
    "ReduceMin": _reduction_reader("min"),
    "ReduceProd": _reduction_reader("prod"),
    "ReduceSum": _reduction_reader("sum"),
    "Reshape": _reshape_reader("reshape"),
    "Slice": _read_slice,
    "Softmax": _operation_reader("softmax", since=13, axis=-1),
    "Squeeze": _reshape_reader("reshape"),
    "Sum": _folded_reader("add"),
    "Tile": _read_tile,
    "Transpose": _read_transpose,
    "Trilu": _read_triangle,
    "Unsqueeze": _reshape_reader("reshape"),
}
