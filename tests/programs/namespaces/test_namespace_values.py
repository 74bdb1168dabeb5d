"""The values of namespaces are the library's own, bit for bit, where its dtypes are those of the system."""
from __future__ import annotations

import operator
import random
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.programs.namespaces.standard_signatures import read_standard

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
LIBRARIES = ("numpy", "torch", "jax.numpy", "dask.array")
OWN = {"numpy": "numpy", "torch": "torch", "jax.numpy": "jax", "dask.array": "dask"}
SYSTEMS = (
    "array-api", "numpy", "numpy1", "jax", "jax-x32", "jax-strict", "torch", "tensorflow-all",
    "tensorflow-legacy", "mlx", "dask", "keras-jax", "tinygrad", "ndonnx", "polars", "c", "jep9407-1",
)  # fmt: skip
DTYPES = (
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip
NOT_ASKED = {"setitem"}  # which writes into an array
ELEMENTWISE = [
    op for op in OPERATIONS.values()
    if op.call_form == "elementwise" and op.max_operands in (1, 2) and op.name not in NOT_ASKED
]  # fmt: skip
OF_TWO = [op for op in ELEMENTWISE if op.max_operands == 2]
# No signed dtype holds the magnitude of its least integer. With one among the operands PyTorch may say that
# the gcd is -1, its lcm divides by that, and the processor ends the process; JAX's gcd and lcm never end.
NOT_OF_THE_LEAST = {("torch", "lcm"), ("jax.numpy", "gcd"), ("jax.numpy", "lcm")}
OTHER_NAMES = {("torch", "equal"): "eq"}  # torch.equal asks whether all elements are equal
PAIRS = {"numpy": 225, "torch": 225, "jax.numpy": 12, "dask.array": 12}  # of dtypes, asked of each operation
COSTLY = ("jax.numpy", "dask.array")  # which take milliseconds a call, compile and plan, and are asked less
SCALARS = (
    *(True, 0, 1, -1, 2, 7, 127, 128, 255, 256, 300, -129, 2**15, 2**31, 2**63, 2**64, 2**70, 10**400),
    *(0.0, -0.0, 0.1, 0.5, -1.5, 1e-8, 1e-45, 2.0**-126, 70000.0, 65519.0, 65520.0, 1e39, 1e300, 3.3),
    *(float("inf"), float("-inf"), float("nan"), 1j, 1.5 - 2j),
)


@cache
def values(name: str) -> Any:
    """Edges of a dtype and random values, as a NumPy array."""
    dice = np.random.default_rng(9407)
    d = tl.dtype(name)
    own = tl.native(d, np)
    if d.kind is tl.Kind.BOOL:
        return np.array([True, False])
    if d.precision is None:
        top, least = int(d.max or 0), int(d.min or 0)
        edges = [0, 1, 2, 3, 7, top, top - 1, top // 2, least, least + 1, -1 if least else 5]
        return np.concatenate([np.array(edges, own), dice.integers(least, top, 12, dtype=own, endpoint=True)])
    inf, nan, big = float("inf"), float("nan"), float(d.max or 0)
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, big, -big, float(d.smallest), inf, -inf, nan, 1e-3]
    real = np.concatenate([edges, dice.normal(size=8) * 10, dice.normal(size=4) * big / 100])
    if d.kind is not tl.Kind.COMPLEX:
        return real.astype(own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([complex(a, b) for a, b in zip(real, np.roll(real, 5), strict=True)]).astype(own)


def own_function(library: str, op: Operation) -> Callable[..., Any] | None:
    """What a library calls an operation."""
    module = import_module(library)
    # Beyond the standard a namespace has what the library has by that name: PyTorch's rad2deg is no degrees.
    known = op.function_names if op.name in {*read_standard().main, *read_standard().linalg} else (op.name,)
    names = [OTHER_NAMES.get((library, name), name) for name in known]
    return next((getattr(module, name) for name in names if hasattr(module, name)), None)


@cache
def bare(library: str, name: str, place: int, least: bool = True) -> Any:
    """Values as the library's array: on the left each many times, on the right all again and again."""
    own, other = values(name), 26
    if not least and own.dtype.kind == "i":
        own = own[own > np.iinfo(own.dtype).min]
    data = np.repeat(own, other) if place == 0 else np.resize(own, 26 * 26)
    data = np.resize(data, 26 * 26)
    if library == "torch":
        torch = import_module("torch")
        wide = data.astype("float32") if name == "bfloat16" else data
        return torch.from_numpy(wide.copy()).to(tl.native(name, torch))
    module = import_module(library)
    return module.asarray(data) if library != "dask.array" else module.from_array(data, chunks=200)


def as_numpy(x: Any) -> Any:
    """An array of a library as NumPy's; a bfloat16 of PyTorch's as float32, in which it is exact."""
    if type(x).__module__ == "torch":
        exact = {"torch.bfloat16": "float32", "torch.complex32": "complex64"}.get(str(x.dtype))
        return (x.to(tl.native(exact, type(x).__module__)) if exact else x).resolve_conj().numpy()
    return np.asarray(x)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have one dtype, shape and the same bits; all NaN are one, -0 is not 0."""
    a, b = as_numpy(a), as_numpy(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "c":
        return same(a.real, b.real) and same(a.imag, b.imag)
    if a.dtype.kind in "biu":
        return bool(np.array_equal(a, b))
    a, b = a.astype("float64"), b.astype("float64")
    equal = ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
    return bool(equal.all())


def answered(function: Callable[..., Any], *operands: Any) -> Any:
    """What a library gives; None if it refuses."""
    try:
        out = function(*operands)
        return out.compute() if hasattr(out, "compute") else out
    except Exception:
        return None


def space(system: str, library: str) -> Any:
    pytest.importorskip("jax").config.update("jax_enable_x64", True)
    return tl.namespace(system, pytest.importorskip(library))


def dtypes_asked(library: str, op: Operation) -> list[tuple[str, ...]]:
    """Dtypes of operands: each one alone; of two, half of those asked alike, where there are that many."""
    dice, asked = random.Random(op.name), PAIRS[library]
    if op.max_operands == 1:
        return [(d,) for d in dice.sample(DTYPES, min(asked, len(DTYPES)))]
    alike = [(d, d) for d in dice.sample(DTYPES, min(asked // 2, len(DTYPES)))]
    others = [pair for pair in product(DTYPES, DTYPES) if pair not in alike]
    return [*alike, *dice.sample(others, asked - len(alike))]


def computed_alike(p: tl.Promotion, theirs: Any, system: str, library: str) -> bool:
    """Whether the library surely computes in the dtype that the system says."""
    if p.dtype is None or str(theirs.dtype).removeprefix("torch.") != p.dtype.name:
        return False
    if any(p.system.dtype_of_new_array(o.dtype) is not o.dtype for o in p.operands if o.dtype):
        return False  # the system's arrays are of another dtype from the start
    return (
        system == OWN[library]
        or p.compute is p.dtype
        or len({o.dtype for o in p.operands} | {p.compute}) == 1
    )


def differences(op: Operation, library: str, systems: tuple[str, ...]) -> Iterator[tuple[bool, Any]]:
    """(whether the values are the same, the call) of each call that both answer with one dtype."""
    function = own_function(library, op)
    for dtypes in dtypes_asked(library, op) if function else ():
        least = (library, op.name) not in NOT_OF_THE_LEAST
        given = tuple(bare(library, d, i, least) for i, d in enumerate(dtypes))
        theirs = answered(function, *given)
        if theirs is None:
            continue
        for system in systems:
            p = tl.system(system).explain(*dtypes, op=op.name)
            if not computed_alike(p, theirs, system, library):
                continue
            xp = space(system, library)
            try:
                ours = getattr(xp, op.name)(*map(xp.asarray, given))
            except (tl.PromotionError, tl.NamespaceError):
                continue
            expected = theirs
            if (library, op.name) == ("torch", "sign") and not p.system.library.startswith("torch"):
                expected = answered(_sign_of_the_standard, *given)
            yield same(answered(lambda out=ours: out.bare), expected), (system, dtypes)


def _sign_of_the_standard(x: Any) -> Any:
    """The sign of NaN is NaN in the standard; PyTorch's own, under its own rules, is 0."""
    torch = import_module("torch")
    return torch.where(x == x, torch.sign(x), x)


@pytest.mark.parametrize("op", one_in(8, ELEMENTWISE), ids=lambda op: op.name)
@pytest.mark.parametrize("library", LIBRARIES)
def test_values_are_the_librarys_where_the_dtypes_are(library: str, op: Operation) -> None:
    """Over edges and random values, of one operation under many systems."""
    space("numpy", library)
    found = [*differences(op, library, SYSTEMS[::4] if library in COSTLY else SYSTEMS)]
    assert [call for equal, call in found if not equal] == []
    if own_function(library, op):
        assert found or op.name in NEVER_ALIKE.get(library, ()), "nothing was compared"


NEVER_ALIKE: dict[str, tuple[str, ...]] = {}


@pytest.mark.parametrize("op", one_in(6, OF_TWO, 1), ids=lambda op: op.name)
@pytest.mark.parametrize("library", LIBRARIES)
def test_values_beside_a_python_number_are_the_librarys(library: str, op: Operation) -> None:
    """Under its own rules: PyTorch computes with the number itself beside half precision."""
    function, system = own_function(library, op), OWN[library]
    if (
        library == "torch" and op.special_method
    ):  # where torch.sub(2, x) is refused, and torch.add(1j, x) is not 1j + x
        function = getattr(operator, op.special_method)
    xp, different, asked, compared = space(system, library), [], 0, 0
    dtypes = DTYPES[::4] if library in COSTLY else DTYPES
    numbers = SCALARS[::4] if library in COSTLY else SCALARS
    least = (library, op.name) not in NOT_OF_THE_LEAST
    numbers = numbers if least else SCALARS[:6]  # which wrap to no least integer
    for d, number in product(dtypes, numbers) if function else ():
        array = bare(library, d, 0, least)[::26]
        for left in (True, False):
            theirs = answered(function, *((array, number) if left else (number, array)))
            mine = (xp.asarray(array), number) if left else (number, xp.asarray(array))
            try:
                ours = getattr(xp, op.name)(*mine)
            except (tl.PromotionError, tl.NamespaceError):
                continue
            except (ValueError, RuntimeError):  # an integer divided by 0, or to a power below 0
                assert theirs is None
                continue
            asked += theirs is not None
            if theirs is None or ours.dtype is not tl.operand(theirs).dtype:
                continue
            compared += 1
            if not same(answered(lambda out=ours: out.bare), theirs):
                different.append((d, number, left))
    assert different == []
    assert compared or not asked


@pytest.mark.parametrize(("library", "name"), one_in(3, [*product(LIBRARIES, ["clip", "where"])]))
def test_values_of_three_operands_are_the_librarys(library: str, name: str) -> None:
    """Under its own rules: bounds and branches that are arrays of one dtype or of two, and Python numbers."""
    xp, module = space(OWN[library], library), import_module(library)
    function, different, compared = getattr(module, name), [], 0
    dtypes = [d for d in DTYPES[1::2] if name == "where" or not d.startswith("complex")]
    for d, other, number in product(dtypes, dtypes, (0, 3, 300, -1.5, 70000.0, 1e39, float("nan"))):
        x, y = bare(library, d, 0)[:52], bare(library, other, 1)[:52]
        for a, b in ((x, y), (x, number), (number, x)):
            if name == "where":
                theirs = answered(function, x == x, a, b)
                call = [xp.asarray(x == x), a, b]
            else:
                theirs = answered(function, x, a, b)
                call = [x, a, b]
            try:
                ours = getattr(xp, name)(*(v if isinstance(v, (int, float)) else xp.asarray(v) for v in call))
            except (tl.PromotionError, tl.NamespaceError, ValueError, RuntimeError):
                continue
            if theirs is not None and ours.dtype is tl.operand(theirs).dtype:
                compared += 1
                if not same(answered(lambda out=ours: out.bare), theirs):
                    different.append((d, other, number))
    assert different == []
    assert compared > 50


@pytest.mark.parametrize("library", LIBRARIES)
def test_numpy_compares_unsigned_with_signed_integers_exactly(library: str) -> None:
    xp = tl.namespace("numpy", import_module(library))
    u = np.array([2**63 + 1, 2**53 + 1, 2**53, 3, 0], dtype=np.uint64)
    for s in (np.array([2**53, 2**53, 2**53, -1, 0]), np.array([3, 1, -128, -1, 0], np.int8)):
        for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
            for x, y in ((u, s), (s, u)):
                found = compare(xp.asarray(x), xp.asarray(y))
                assert np.asarray(found.bare).tolist() == compare(x, y).tolist(), (compare, x, y)
