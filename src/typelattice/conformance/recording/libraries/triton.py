"""Triton: the language's semantics, building the intermediate code of a kernel on the CPU."""

from __future__ import annotations

import functools
from numbers import Number
from typing import Any

import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.language.semantic import TritonSemantic

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation
from typelattice.conformance.recording.library import PythonNumber, versions_of

TRITON_TYPE_BY_DTYPE = {
    "bool": "int1",
    **{name: name for name in ("uint8", "uint16", "uint32", "uint64")},
    **{name: name for name in ("int8", "int16", "int32", "int64")},
    "float8_e4m3fn": "float8e4nv",
    "float8_e5m2": "float8e5",
    **{name: name for name in ("bfloat16", "float16", "float32", "float64")},
}


class Triton(Framework):
    """Blocks and scalars of a kernel; a Python scalar is a constant."""

    name = "triton"
    how = "TritonSemantic for CUDA sm_90, nothing is run; computation_type_impl as result_type"
    binary_only_operations = ("result_type",)
    namespaces = (tl, tl.math)

    def __init__(self) -> None:
        self.versions = versions_of("triton")
        self.native_dtypes = {name: getattr(tl, own) for name, own in TRITON_TYPE_BY_DTYPE.items()}
        self.context = ir.context()
        ir.load_dialects(self.context)
        builder = ir.builder(self.context)
        builder.options = CUDABackend(GPUTarget("cuda", 90, 32)).parse_options({})
        self.module = builder.create_module()
        nothing = builder.get_function_ty([], [])
        kernel = builder.get_or_insert_function(self.module, "kernel", nothing, "public", False)
        self.module.push_back(kernel)
        builder.set_insertion_point_to_start(kernel.add_entry_block())
        self.semantic = TritonSemantic(builder)

    def make_array(self, dtype: Any, value: PythonNumber) -> Any:
        return self.semantic.full([2], value, dtype)

    def make_0d_array(self, dtype: Any, value: PythonNumber) -> Any:
        return self.semantic.scalar_constant(value, dtype)

    def result_type(self, x: Any, y: Any) -> Any:
        """Call it as the binary operators do."""
        (x, x_is_scalar), (y, y_is_scalar) = map(self._operand_type, (x, y))
        return self.semantic.computation_type_impl(x, x_is_scalar, y, y_is_scalar, False)

    def _operand_type(self, operand: Any) -> tuple[Any, bool]:
        if isinstance(operand, Number):
            return self.semantic.to_tensor_type(operand), True
        return operand.dtype, False

    def operations(self) -> FunctionByOperation:
        semantic = self.semantic
        condition = self.make_array(tl.int1, True)
        unary = {"abs": tl.abs, "sqrt": tl.sqrt, "exp": tl.exp, "sin": tl.sin, "floor": tl.floor}
        return {
            "result_type": self.result_type,
            "add": functools.partial(semantic.add, sanitize_overflow=False),
            "subtract": functools.partial(semantic.sub, sanitize_overflow=False),
            "multiply": functools.partial(semantic.mul, sanitize_overflow=False),
            "divide": semantic.truediv,
            "floor_divide": semantic.floordiv,
            "remainder": semantic.mod,
            "equal": semantic.equal,
            "less": semantic.less_than,
            "bitwise_and": semantic.and_,
            "bitwise_left_shift": semantic.shl,
            "logical_and": semantic.logical_and,
            "maximum": functools.partial(semantic.maximum, propagate_nan=tl.PropagateNan.NONE),
            "where": functools.partial(semantic.where, condition),
            "positive": semantic.plus,
            "negative": semantic.minus,
            "bitwise_invert": semantic.invert,
            "logical_not": semantic.not_,
            **{op: functools.partial(call, _semantic=semantic) for op, call in unary.items()},
        }


LIBRARIES = {Triton.name: Triton}
