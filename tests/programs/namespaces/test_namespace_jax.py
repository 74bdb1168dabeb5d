"""Under JAX's rules over NumPy, dtype and weakness are those of JAX itself, and so are the values."""
from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.evidence.departure import departure_of
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.registry.releases import system_for_version

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
np = pytest.importorskip("numpy")
SHAPED = ("matmul", "vecdot", "outer", "cross", "tensordot", "solve", "searchsorted")
WRITING = ("in-place", "assignment")  # classes of statements, for which there is no function
BINARY = [
    name for name, op in OPERATIONS.items()
    if (op.call_form, op.max_operands) == ("elementwise", 2)
    and name not in SHAPED and op.operation_class not in WRITING
]  # fmt: skip
UNARY = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log1p", "log2",
    "log10", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh", "ceil", "floor", "trunc", "round", "sign",
    "conj", "imag", "real", "isfinite", "isinf", "isnan", "signbit", "logical_not", "bitwise_invert",
    "negative", "positive", "abs",
    "square",
]  # fmt: skip
REDUCTIONS = [
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "max",
    "min",
    "all",
    "any",
    "argmax",
    "argmin",
    "cumulative_sum",
]
WEAK = ("int32", "int64", "float32", "float64", "complex128")
NUMBERS = {"True": True, "int": 1, "float": 1.0, "complex": 1j}


@pytest.fixture(scope="module")
def jax() -> Any:
    module = pytest.importorskip("jax")
    module.config.update("jax_enable_x64", True)
    return module


@pytest.fixture(scope="module")
def xp(jax: Any) -> Any:
    return tl.namespace(system_for_version("jax", jax.__version__), np)


def answer(function: Any, *operands: Any) -> str:
    """The dtype of a result, with a star if it is weak; or that there is none."""
    try:
        result = function(*operands)
    except (
        tl.NamespaceError
    ) as e:  # NumPy has no kernel; the dtype that the system says is of interest all the same
        return f"lacks: {e}"
    except Exception:
        return "refused"
    return f"{result.dtype}{'*' * bool(getattr(result, 'weak_type', getattr(result, 'weak', False)))}"


@pytest.mark.parametrize("op", one_in(8, BINARY))
def test_every_pair_has_the_dtype_and_weakness_of_jax(op: str, jax: Any, xp: Any) -> None:
    usual = [d.name for d in tl.system("array-api").order.nodes if isinstance(d, tl.DType)] + [
        "bfloat16",
        "float16",
    ]
    names = usual + [f"{d}:weak" for d in WEAK] + [*NUMBERS]
    listed, compared, different = list_departures(xp.system.name), 0, []

    def ours(name: str) -> Any:
        d, _, weak = name.partition(":")
        return (
            NUMBERS[name]
            if name in NUMBERS
            else xp._context.wrap(np.ones(2, tl.native(d, np)), tl.dtype(d), bool(weak))
        )

    def theirs(name: str) -> Any:
        d, _, weak = name.partition(":")
        own = tl.native(d, jax.numpy) if name not in NUMBERS else None
        return NUMBERS[name] if name in NUMBERS else jax.ShapeDtypeStruct((2,), own, weak_type=bool(weak))

    def shaped(x: Any, y: Any) -> Any:
        arrays = [v for v in (x, y) if hasattr(v, "shape")]

        def call(*given: Any) -> Any:
            left = iter(given)
            return getattr(jax.numpy, op)(*(next(left) if hasattr(v, "shape") else v for v in (x, y)))

        return jax.eval_shape(call, *arrays)

    for a, b in product(names, names):
        if a in NUMBERS and b in NUMBERS:
            continue
        said, found = answer(getattr(xp, op), ours(a), ours(b)), answer(shaped, theirs(a), theirs(b))
        compared += 1
        if said.startswith("lacks"):
            p = xp.system.explain(a, b, op=op)
            said = f"{p.dtype}{'*' * p.weak}"
        if said != found and not departure_of(
            RecordedCall(op, (a, b), found), [parse_operand(a), parse_operand(b)], listed
        ):
            different.append((a, b, said, found))
    assert compared > 400
    assert different == []


KINDS = {
    "int8": [-3, 0, 5], "uint16": [1, 2, 3], "int32": [-7, 1, 40], "float16": [-1.5, 0.25, 3],
    "float32": [0.5, 1.5, -2.25],
    "float64": [0.1, 2.5, -1.75], "bfloat16": [0.5, -1.5, 2.0], "complex64": [1 + 2j, 0.5 - 1j, 2.0],
    "bool": [True, False, True],
}  # fmt: skip


@pytest.mark.parametrize("op", one_in(4, [*UNARY, *REDUCTIONS]))
def test_values_of_one_array_are_those_of_jax(op: str, jax: Any, xp: Any) -> None:
    compared = 0
    for name, values in KINDS.items():
        x = np.asarray(values).astype(tl.native(name, np))
        compared += same(op, xp, jax, (xp.asarray(x),), (jax.numpy.asarray(x),))
    assert compared


@pytest.mark.parametrize("op", one_in(3, BINARY, 1))
def test_values_of_two_arrays_are_those_of_jax(op: str, jax: Any, xp: Any) -> None:
    compared = 0
    for a, b in zip(KINDS, [*list(KINDS)[1:], "int8"], strict=True):
        x, y = (np.asarray(KINDS[name]).astype(tl.native(name, np)) for name in (a, b))
        y = np.abs(y) + y.dtype.type(1) if op in DIVISIONS and b != "bool" else y
        compared += same(
            op, xp, jax, (xp.asarray(x), xp.asarray(y)), (jax.numpy.asarray(x), jax.numpy.asarray(y))
        )
    assert compared


DIVISIONS = (
    "divide",
    "floor_divide",
    "remainder",
    "pow",
    "power",
    "bitwise_left_shift",
    "bitwise_right_shift",
)


def same(op: str, xp: Any, jax: Any, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """Whether both have an answer; then they agree within rounding of the dtype."""
    function = getattr(jax.numpy, op, None) or {"cumulative_sum": jax.numpy.cumsum}[op]
    if (
        answer(getattr(xp, op), *ours).startswith(("refused", "lacks"))
        or answer(function, *theirs) == "refused"
    ):
        return False
    x, y = getattr(xp, op)(*ours), function(*theirs)
    assert str(x.dtype) == str(y.dtype), (op, ours)
    wide = "complex128" if "complex" in str(x.dtype) else "float64"
    eps = float(xp.finfo(x.dtype).eps) if xp.isdtype(x.dtype, ("real floating", "complex floating")) else 0
    a, b = np.asarray(x.bare).astype(wide), np.asarray(y).astype(wide)
    np.testing.assert_allclose(a, b, rtol=16 * eps, atol=16 * eps, equal_nan=True, err_msg=f"{op} {ours}")
    return True
