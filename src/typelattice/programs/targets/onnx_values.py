"""Values of an ONNX graph of dtypes that ndonnx lacks, and ONNX's operators, under the standard's names.

ONNX has bfloat16, floats of 8 and 4 bits and integers of 4 bits, though few operators take them. An operator
that does not is an error that names it.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import onnx

from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.programs.namespaces.computing_libraries.ndonnx import OPSET_VERSION

BUILDERS: Any = import_module(f"spox.opset.ai.onnx.v{OPSET_VERSION}")
ONNX_NAME_BY_LOWER_CASE = {schema.name.lower(): schema.name for schema in onnx.defs.get_all_schemas()}


class NoOperatorError(NotImplementedError):
    """The error of an operator that ONNX does not have for a dtype."""


class _Operators:
    """ONNX's operators as attributes. They refuse dtypes that ONNX has no such operator of."""

    const = staticmethod(BUILDERS.const)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        schema = onnx.defs.get_schema(ONNX_NAME_BY_LOWER_CASE[name.replace("_", "")], OPSET_VERSION)
        build = getattr(BUILDERS, name)

        def call(*variables: Any, **attributes: Any) -> Any:
            for formal, variable in zip(schema.inputs, variables, strict=False):
                for each in variable if isinstance(variable, (list, tuple)) else (variable,):
                    if each is not None and f"tensor({_type_word(each.type.dtype)})" not in formal.types:
                        what = f"ONNX has no {schema.name} of {each.type.dtype}"
                        raise NoOperatorError(f"{what} in opset {OPSET_VERSION}")
            return build(*variables, **attributes)

        setattr(self, name, call)
        return call


op = _Operators()


class OnnxValue:
    """A value of a graph: spox's variable, with the dtype, shape and dimensions of an array."""

    __slots__ = ("variable",)

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    def unwrap_spox(self) -> Any:
        """Return spox's variable, as ndonnx's arrays do."""
        return self.variable

    @property
    def dtype(self) -> Any:
        """NumPy's dtype, or that of ml_dtypes."""
        return self.variable.type.dtype

    @property
    def shape(self) -> tuple[int | str | None, ...]:
        """The shape, as far as it is known."""
        found: tuple[int | str | None, ...] = self.variable.type.shape
        return found

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


def cast(variable: Any, to: Any) -> Any:
    """Cast a variable. Beyond the range of an 8-bit float it becomes infinite or nan.

    A graph that clamps has written a clip before.
    """
    if f"tensor({_type_word(to)})" not in onnx.defs.get_schema("Cast", OPSET_VERSION).outputs[0].types:
        raise NoOperatorError(f"ONNX has no Cast to {to} in opset {OPSET_VERSION}")
    known = DTYPES.get(to.name)
    is_8_bit_float = known is not None and known.kind is Kind.FLOAT and known.bits == 8
    saturates = {"saturate": 0} if is_8_bit_float else {}
    return op.cast(variable, to=to, **saturates)


def _type_word(own: Any) -> str:
    """Return a dtype as ONNX's schemas write it: `float8e4m3fn`."""
    return str(onnx.TensorProto.DataType.Name(onnx.helper.np_dtype_to_tensor_dtype(own))).lower()


def wider_dtype(own: Any) -> Any:
    """Return the dtype in which ONNX computes what it has no operator of in a dtype, or None.

    It holds all values of the narrow dtype, and the result is rounded or wrapped once.
    """
    known = DTYPES.get(own.name)
    if known is None or known.kind is Kind.COMPLEX:
        return None
    wide = "float32" if known.kind is Kind.FLOAT else "uint8" if known.kind is Kind.UNSIGNED else "int8"
    return np.dtype(wide) if (known.bits or 0) < (DTYPES[wide].bits or 0) else None


def choose(condition: Any, x: Any, y: Any) -> Any:
    """Choose between bools or integers of 64 bits by plain nodes, since onnxruntime has no such Where."""
    if x.type.dtype == np.dtype(bool):
        return op.or_(op.and_(condition, x), op.and_(op.not_(condition), y))
    chosen = op.where(condition, op.cast(x, to=np.dtype("int64")), op.cast(y, to=np.dtype("int64")))
    return op.cast(chosen, to=np.dtype("uint64"))


def _integers(values: Sequence[int]) -> Any:
    return op.const(np.asarray([*values], np.int64))


def _axes(x: Any, axis: Any) -> Any:
    """Return the axes of a reduction as a variable, or None for all."""
    if axis is None:
        return None
    return _integers((axis,) if isinstance(axis, int) else axis)


def _reduction(name: str) -> Callable[..., Any]:
    reduce = getattr(op, name)

    def function(x: Any, /, *, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        return reduce(x, *((_axes(x, axis),) if axis is not None else ()), keepdims=int(keepdims))

    return function


def _position(name: str) -> Callable[..., Any]:
    find = getattr(op, name)

    def function(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
        if axis is None:
            return op.squeeze(find(op.reshape(x, _integers([-1])), axis=0, keepdims=0))
        return find(x, axis=axis, keepdims=int(keepdims))

    return function


def _zero(x: Any) -> Any:
    return op.const(np.zeros((), x.type.dtype))


def _negated(compare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: op.not_(compare(x, y))


def _trunc(x: Any) -> Any:
    return op.where(op.less(x, _zero(x)), op.ceil(x), op.floor(x))


def _remainder(x: Any, y: Any) -> Any:
    """Return the remainder with the sign of y, of floats."""
    rest = op.mod(x, y, fmod=1)
    zero = _zero(x)
    other_sign = op.and_(op.not_(op.equal(rest, zero)), op.xor(op.less(rest, zero), op.less(y, zero)))
    return op.where(other_sign, op.add(rest, y), rest)


def _permute(x: Any, axes: Sequence[int]) -> Any:
    return op.transpose(x, perm=[*axes])


def _matrix_transpose(x: Any) -> Any:
    dims = [*range(len(x.type.shape))]
    return op.transpose(x, perm=[*dims[:-2], dims[-1], dims[-2]])


def _concat(xs: Sequence[Any], /, *, axis: int | None = 0) -> Any:
    if axis is None:
        xs, axis = [op.reshape(x, _integers([-1])) for x in xs], 0
    return op.concat([*xs], axis=axis)


def _stack(xs: Sequence[Any], /, *, axis: int = 0) -> Any:
    return _concat([op.unsqueeze(x, _integers([axis])) for x in xs], axis=axis)


def _cumulative(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    if include_initial or (axis is None and len(x.type.shape) != 1):
        raise NoOperatorError("ONNX has no CumSum of several axes")
    return op.cum_sum(x, op.const(np.int64(axis or 0)))


def _clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    x = x if min is None else op.max([x, min])
    return x if max is None else op.min([x, max])


# the standard's functions -> ONNX's operators on variables
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(op, name) for name in ("abs", "exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos",
                                          "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor",
                                          "ceil", "round", "sign", "reciprocal", "erf", "where", "pow",
                                          "equal", "less", "greater", "relu", "sigmoid",
                                          "det")},
    "add": op.add, "subtract": op.sub, "multiply": op.mul,
    "divide": op.div, "negative": op.neg, "matmul": op.matmul,
    "isnan": op.isnan, "isinf": lambda x: op.equal(op.abs(x), op.const(np.asarray(np.inf, x.type.dtype))),
    "isfinite": lambda x: op.less(op.abs(x), op.const(np.asarray(np.inf, x.type.dtype))),
    "less_equal": lambda x, y: op.or_(op.less(x, y), op.equal(x, y)),
    "greater_equal": lambda x, y: op.or_(op.greater(x, y), op.equal(x, y)),
    "not_equal": _negated(op.equal), "trunc": _trunc, "remainder": _remainder,
    "square": lambda x: op.mul(x, x), "positive": lambda x: x,
    "floor_divide": lambda x, y: op.floor(op.div(x, y)),
    "maximum": lambda x, y: op.max([x, y]), "minimum": lambda x, y: op.min([x, y]),
    "clip": _clip, "sum": _reduction("reduce_sum"), "prod": _reduction("reduce_prod"),
    "mean": _reduction("reduce_mean"), "max": _reduction("reduce_max"), "min": _reduction("reduce_min"),
    "argmax": _position("arg_max"), "argmin": _position("arg_min"),
    "reshape": lambda x, shape, **_: op.reshape(x, _integers(shape)),
    "permute_dims": _permute, "matrix_transpose": _matrix_transpose,
    "expand_dims": lambda x, *, axis=0: op.unsqueeze(x, _integers([axis])),
    "squeeze": lambda x, axis: op.squeeze(x, _axes(x, axis)),
    "broadcast_to": lambda x, shape: op.expand(x, _integers(shape)),
    "concat": _concat, "stack": _stack, "cumulative_sum": _cumulative,
    "take": lambda x, indices, *, axis=0: op.gather(x, indices, axis=axis),
    "take_along_axis": lambda x, indices, *, axis=-1: op.gather_elements(x, indices, axis=axis),
    "log1p": lambda x: op.log(op.add(x, op.const(np.ones((), x.type.dtype)))),
    "expm1": lambda x: op.sub(op.exp(x), op.const(np.ones((), x.type.dtype))),
}  # fmt: skip
