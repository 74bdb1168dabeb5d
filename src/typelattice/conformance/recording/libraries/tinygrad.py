"""tinygrad."""

from __future__ import annotations

from typing import Any

from tinygrad import Device, Tensor, dtypes, helpers
from tinygrad.dtype import least_upper_dtype

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation, Shape
from typelattice.conformance.recording.library import (
    NoSuchOperandError,
    NotAskedError,
    PythonNumber,
    versions_of,
)
from typelattice.conformance.recording.operation_functions import (
    find_functions,
    list_operator_functions,
    skip_unless_numbers,
)

TINYGRAD_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    *("bfloat16", "float16", "float32", "float64"),
)
TINYGRAD_NAME_BY_DTYPE = {
    "float8_e4m3fn": "fp8e4m3",
    "float8_e4m3fnuz": "fp8e4m3fnuz",
    "float8_e5m2": "fp8e5m2",
    "float8_e5m2fnuz": "fp8e5m2fnuz",
}

DEVICE_NAME = "PYTHON"  # the device that needs neither driver nor compiler
HAS_WEAK_DTYPES = hasattr(dtypes, "weakfloat")  # until tinygrad 0.13 no tensor was weak

OPERATIONS_WITH_OPERATOR = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "matmul", "negative"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
)
"""What is asked by Python's operators."""


class Tinygrad(Framework):
    """Lazy tensors, which know their dtype without being computed."""

    name = "tinygrad"
    how = "least_upper_dtype as result_type; operators and methods of Tensor"
    namespaces = (Tensor,)

    def __init__(self) -> None:
        if hasattr(helpers, "DEV"):
            helpers.DEV.value = DEVICE_NAME
        else:  # until tinygrad 0.12
            Device.DEFAULT = DEVICE_NAME
        self.versions = versions_of("tinygrad")
        own = {name: TINYGRAD_NAME_BY_DTYPE.get(name, name) for name in TINYGRAD_DTYPES}
        self.native_dtypes = {
            name: getattr(dtypes, known) for name, known in own.items() if hasattr(dtypes, known)
        }

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> Any:
        made = Tensor(value) if isinstance(value, list) else Tensor.full(shape, value, dtype=dtype)
        return made.cast(dtype) if isinstance(value, list) else made

    def make_weak_array(self, dtype: Any, value: PythonNumber) -> Any:
        weak = {dtypes.default_int: int, dtypes.default_float: float}
        if dtype not in weak or not HAS_WEAK_DTYPES:
            raise NoSuchOperandError(f"tinygrad has no weak {dtype}")
        return Tensor(weak[dtype](value)).expand(2)

    def dtype_name(self, dtype: Any) -> str:
        if not HAS_WEAK_DTYPES:
            return super().dtype_name(dtype)
        if dtype is dtypes.weakint:
            return super().dtype_name(dtypes.default_int) + "*"
        if dtype is dtypes.weakfloat:
            return super().dtype_name(dtypes.default_float) + "*"
        return super().dtype_name(dtype)

    def operations(self) -> FunctionByOperation:
        condition = Tensor([True, True])
        further = find_functions((Tensor,), condition, {"repeat": "repeat_interleave"}, _make_matrix)
        further.pop("nonzero", None)  # nonzero computes, and this device can compute in only one way
        further.pop("gradient", None)  # gradient needs computed values and their inputs
        return further | list_operator_functions(*OPERATIONS_WITH_OPERATOR) | {
            "result_type": lambda *operands: least_upper_dtype(*map(_dtype_of_operand, operands)),
            "maximum": Tensor.maximum,
            "where": condition.where,
            "concat": lambda first, *others: first.cat(*others),
            "abs": Tensor.abs,
            "sign": Tensor.sign,
            "sqrt": Tensor.sqrt,
            "exp": Tensor.exp,
            "sin": Tensor.sin,
            "floor": Tensor.floor,
            "bitwise_invert": Tensor.bitwise_not,
            "logical_not": Tensor.logical_not,
            "sum": Tensor.sum,
            "prod": Tensor.prod,
            "mean": Tensor.mean,
            "cumulative_sum": Tensor.cumsum,
            "max": Tensor.max,
            "argmax": Tensor.argmax,
            "cumulative_prod": lambda x: x.cumprod(0),
            "stack": lambda first, *others: first.stack(*others),
            "expand_dims": lambda x: x.unsqueeze(0),
            "permute_dims": lambda x: x.permute(0),
            "broadcast_to": lambda x: x.expand(2, 2),
            "flip": lambda x: x.flip(0),
            "tile": lambda x: x.repeat(2),
            "pad": lambda x: x.pad(((1, 1),)),
            "full": skip_unless_numbers(lambda x: Tensor.full((2,), x)),
            "arange": skip_unless_numbers(Tensor.arange),
            "linspace": skip_unless_numbers(lambda x, y: Tensor.linspace(x, y, 3)),
            "sort": lambda x: x.sort()[0],
        }


def _make_matrix(array: Tensor) -> Tensor:
    return array.expand(2, 2)


def _dtype_of_operand(operand: Any) -> Any:
    if isinstance(operand, Tensor):
        return operand.dtype
    if not HAS_WEAK_DTYPES:
        raise NotAskedError("it joins dtypes, and a Python scalar has none that is weak")
    return dtypes.from_py(operand)


LIBRARIES = {Tinygrad.name: Tinygrad}
