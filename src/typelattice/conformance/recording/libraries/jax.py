"""JAX: jax.numpy with 64-bit types, without them, with them on request, and in strict mode; jax.lax."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import dtypes as rules
from jax._src.lax.lax import _convert_element_type

from typelattice.conformance.recording.libraries.framework_base import ONE_AXIS, FunctionByOperation, Shape
from typelattice.conformance.recording.libraries.numpy import NumPyDtypes
from typelattice.conformance.recording.library import (
    Library,
    PythonNumber,
    python_answer,
    sort_dtype_names,
    versions_of,
)
from typelattice.conformance.recording.operation_functions import (
    bind_constants,
    find_functions,
    return_array_itself,
)
from typelattice.core.operations.operations import OPERATIONS

HOW_CALLS_ARE_TRACED = (
    "traced by eval_shape, but linear algebra of float16 and bfloat16 computed; 300 random eager calls agree "
    "(dtypes under 8 bits left out: the CPU cannot compute them all)"
)
CLASSES_COMPUTED_FOR_HALVES = ("linear", "matrix-power", "spectrum", "eigen", "norms", "rank")
"""Classes of operations that some releases trace with half floats, though they have no kernel for these."""
HALF_PRECISION_DTYPES = ("float16", "bfloat16")


class JAX(NumPyDtypes):
    """jax.numpy in its standard mode with 64-bit types, on the CPU."""

    name = "jax"
    how = f"jax.numpy's functions, {HOW_CALLS_ARE_TRACED}; result_type with jax's own weak flag"
    x64 = True
    explicit_x64 = "warn"
    promotion = "standard"
    namespaces: tuple[object, ...] | None = (
        *(jax, jnp, jnp.linalg, jnp.fft, jax.nn, jax.lax, jax.lax.linalg),
        *(jax.scipy.special, jax.scipy.linalg, jax.scipy.stats.norm),
    )

    def __init__(self) -> None:
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", self.x64)
        if self.explicit_x64 == "allow":  # JAX 0.4 has no such setting
            jax.config.update("jax_explicit_x64_dtypes", self.explicit_x64)
        jax.config.update("jax_numpy_dtype_promotion", self.promotion)
        jax.config.update("jax_traceback_filtering", "off")  # calls that raise take a third of the time
        self.versions = versions_of("jax", "jaxlib", "numpy", "ml_dtypes")
        found = [getattr(scalar, "dtype", None) for scalar in vars(jnp).values()]
        known = {dtype.name: dtype for dtype in found if isinstance(dtype, np.dtype)}
        wide = self.x64 or self.explicit_x64 == "allow"
        kept = [name for name in sort_dtype_names(known) if wide or _is_below_64_bits(known[name])]
        self.native_dtypes = {name: known[name] for name in kept}

    def make_weak_array(self, dtype: Any, value: PythonNumber) -> object:
        return self.make_of_shape(ONE_AXIS, dtype, value, weak=True)

    def make_of_shape(
        self, shape: Shape, dtype: Any, value: PythonNumber, weak: bool = False
    ) -> object:
        """Return an array, or its shape and dtype alone if the CPU has no such arrays."""
        try:
            array = self.array(np.full(shape, value).astype(dtype))
            return _convert_element_type(array, dtype, weak_type=True) if weak else array
        except (jax.errors.JaxRuntimeError, ValueError):
            return jax.ShapeDtypeStruct(shape, dtype, weak_type=weak)

    def array(self, values: np.ndarray[Any, Any]) -> jax.Array:
        return jax.device_put(values)

    def read(self, result: object) -> str:
        dtype, weak = result if isinstance(result, tuple) else (result, getattr(result, "weak_type", False))
        return f"{super().read(dtype)}{'*' if weak else ''}"

    def evaluate_call(
        self, function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """Return the shapes and dtypes that a call gives, or its results if values decide these."""
        places = [i for i, x in enumerate(args) if isinstance(x, (jax.Array, jax.ShapeDtypeStruct))]

        def call(*arrays: Any) -> Any:
            given = dict(zip(places, arrays, strict=True))
            return function(*(given.get(i, x) for i, x in enumerate(args)), **keywords)

        try:
            return jax.eval_shape(call, *(args[i] for i in places))
        except jax.errors.ConcretizationTypeError:
            return function(*args, **keywords)

    def operations(self) -> FunctionByOperation:
        return {name: trace_or_compute(name, function) for name, function in self.eager().items()} | {
            "arange": jnp.arange,  # only concrete numbers give its length
            "result_type": _result_type,
            "promote_types": lambda x, y: jnp.promote_types(x.dtype, y.dtype),
        }

    def eager(self) -> FunctionByOperation:
        """Return the functions before tracing."""
        condition = jnp.ones(2, bool)
        spaces = (jnp, jnp.linalg, jnp.fft, jax.nn, jax.scipy.special)
        found = find_functions(
            spaces, condition, matrix=lambda x: jnp.broadcast_to(x, (2, 2)), copy_array=return_array_itself
        )
        found |= {"expand_dims": lambda x: jnp.expand_dims(x, 0)}
        found |= {
            "unique_values": lambda x: jnp.unique(x, size=1),
            "unique_all": lambda x: jnp.unique_all(x, size=1)[0],
            "unique_counts": lambda x: jnp.unique_counts(x, size=1)[0],
            "unique_inverse": lambda x: jnp.unique_inverse(x, size=1)[0],
            "nonzero": lambda x: jnp.nonzero(x, size=1)[0],
            "take": lambda x: jnp.take(x, np.zeros(1, int)),
            "bincount": lambda x: jnp.bincount(x, length=2),
        }
        return found


class JAX32(JAX):
    """jax.numpy by default, without 64-bit types."""

    name = "jax-x32"
    x64 = False


class JAXExplicit(JAX):
    """jax.numpy with default dtypes of 32 bits, and 64 bits on request."""

    name = "jax-explicit-x64"
    x64 = False
    explicit_x64 = "allow"

    def array(self, values: np.ndarray[Any, Any]) -> jax.Array:
        return jnp.asarray(values, values.dtype)  # device_put makes 32 bits of 64 in this mode


class JAXStrict(JAX):
    """jax.numpy that promotes Python scalars only, with 64-bit types."""

    name = "jax-strict"
    promotion = "strict"


class JAXLax(JAX):
    """jax.lax, which needs operands of one dtype, with 64-bit types."""

    name = "jax-lax"
    namespaces = None  # lax has its own names
    how = f"jax.lax's functions (divide is lax.div), {HOW_CALLS_ARE_TRACED}"

    def operations(self) -> FunctionByOperation:
        return {name: _trace_call(function) for name, function in LAX_FUNCTION_BY_OPERATION.items()}


def _all_axes(x: Any) -> Sequence[int]:
    return range(len(np.shape(x)))


def _is_below_64_bits(dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize < (16 if dtype.kind == "c" else 8)


def _trace_call(function: Callable[..., object]) -> Callable[..., object]:
    # An eager call compiles each new pair, some 50 ms; tracing decides the same types. Arrays are closed over
    # to stay concrete, which power's rule for integer exponents needs.
    def call(*operands: object) -> object:
        call_with_tracers, abstract = bind_constants(function, operands, jax.ShapeDtypeStruct)
        # tracing is quicker without the inner jit, but jit checks a Python int's size
        with jax.disable_jit(not any(python_answer(x) for x in operands)):
            return jax.eval_shape(call_with_tracers, *abstract)

    return call


def trace_or_compute(name: str, function: Callable[..., object]) -> Callable[..., object]:
    """Return a function that traces its call, but computes linear algebra of half floats."""
    traced = _trace_call(function)
    if name not in OPERATIONS or OPERATIONS[name].operation_class not in CLASSES_COMPUTED_FOR_HALVES:
        return traced

    def call(*operands: object) -> object:
        dtypes = {str(getattr(x, "dtype", "")) for x in operands}
        if dtypes.isdisjoint(HALF_PRECISION_DTYPES) or any(map(_is_abstract, operands)):
            return traced(*operands)
        return jax.block_until_ready(function(*operands))

    return call


def _is_abstract(operand: object) -> bool:
    return isinstance(operand, jax.ShapeDtypeStruct)


def _result_type(*operands: object) -> object:
    # result_type ignores the weak_type of a ShapeDtypeStruct, but reads that of its tracer
    results: list[object] = []

    def trace_operands(*operands: object) -> None:
        _, weak = rules.result_type(*operands, return_weak_type_flag=True)
        results.append((jnp.result_type(*operands), weak))

    _trace_call(trace_operands)(*operands)
    return results[-1]


LAX_FUNCTION_BY_OPERATION: dict[str, Callable[..., object]] = {
    "add": lax.add,
    "subtract": lax.sub,
    "multiply": lax.mul,
    "divide": lax.div,
    "remainder": lax.rem,
    "pow": lax.pow,
    "equal": lax.eq,
    "less": lax.lt,
    "bitwise_and": lax.bitwise_and,
    "bitwise_left_shift": lax.shift_left,
    "maximum": lax.max,
    "atan2": lax.atan2,
    "where": lambda x, y: lax.select(jnp.ones(2, bool), x, y),
    "concat": lambda *arrays: lax.concatenate(arrays, 0),
    "matmul": lax.dot,
    "negative": lax.neg,
    "abs": lax.abs,
    "sign": lax.sign,
    "sqrt": lax.sqrt,
    "exp": lax.exp,
    "sin": lax.sin,
    "cos": lax.cos,
    "tanh": lax.tanh,
    "log": lax.log,
    "rsqrt": lax.rsqrt,
    "reciprocal": lax.reciprocal,
    "cbrt": lax.cbrt,
    "erf": lax.erf,
    "sigmoid": lax.logistic,
    "square": lax.square,
    "floor": lax.floor,
    "ceil": lax.ceil,
    "round": lax.round,
    "isfinite": lax.is_finite,
    "conj": lax.conj,
    "real": lax.real,
    "imag": lax.imag,
    "bitwise_invert": lax.bitwise_not,
    "cumulative_sum": lax.cumsum,
    "cumulative_prod": lax.cumprod,
    "sort": lax.sort,
}
if hasattr(lax, "reduce_sum"):  # JAX has it since 0.5
    LAX_FUNCTION_BY_OPERATION |= {
        "sum": lambda x: lax.reduce_sum(x, axes=_all_axes(x)),
        "prod": lambda x: lax.reduce_prod(x, axes=_all_axes(x)),
        "max": lambda x: lax.reduce_max(x, axes=_all_axes(x)),
        "min": lambda x: lax.reduce_min(x, axes=_all_axes(x)),
    }

LIBRARIES: Mapping[str, Callable[[], Library]] = {
    library.name: library for library in (JAX, JAX32, JAXExplicit, JAXStrict, JAXLax)
}
