"""JEP 9407, Design of Type Promotion Semantics for JAX (2021): from tables to a partial lattice."""

from __future__ import annotations

from itertools import product

import printed

import typelattice as tl
from claims import Found, answer, listed, pairs, some, verdict
from typelattice.core.dtypes.dtypes import DType, Kind, WeakNode

INTEGERS = (Kind.UNSIGNED, Kind.SIGNED)


def numpy_makes_float64_of_32_bits() -> Found:
    """In NumPy, int32 and float32 promote to float64."""
    found = {name: answer(name, "int32:0d", "float32:0d", op="add") for name in ("numpy1", "numpy")}
    return verdict(set(found.values()) == {"float64"}), listed(found)


def python_is_a_chain() -> Found:
    """The sums of Python's numbers are the joins of int, float, complex, each below the next."""
    differing = printed.JEP_PYTHON.differing()
    return verdict(not differing), f"of 9 sums, other than printed: {some(differing)}"


def a_fork_is_no_lattice() -> Found:
    """Where A lies below B and C and nothing else is said, B and C have no upper bound."""
    fork = tl.Order.parse("A -> B, C")
    return verdict(not fork.bounds("B", "C")), f"upper bounds of B and C: {some(fork.bounds('B', 'C'))}"


def crossed_arrows_are_no_lattice() -> Found:
    """Where A and B both lie below C and D, those two have no upper bound, and A and B have two lowest."""
    crossed = tl.Order.parse("A, B -> C, D")
    low, high = crossed.minimal_bounds("A", "B"), crossed.bounds("C", "D")
    return verdict(
        low == ("C", "D") and not high
    ), f"lowest above A and B: {', '.join(low)}; above C and D: {some(high)}"


def a_lattice_is_associative() -> Found:
    """Promotion by a lattice's join is commutative and associative, and every pair has a join: so JAX's."""
    shown = [printed.in_bits(c) for c in _codes("Type Promotion in JAX") if c not in printed.SCALARS]
    laws = tl.laws("jax", dtypes=shown)
    joins = printed.joins_every_pair(printed.drawing("Type Promotion in JAX"))
    kept = [law for law in ("commutative", "associative", "unique bounds") if laws[law]]
    return verdict(joins and len(kept) == 3), f"every pair joins: {joins}; kept: {', '.join(kept)}"


def numpy_is_not_associative() -> Found:
    """NumPy's sum of int8, uint8 and float16 is float32 or float16, depending on the parentheses."""
    left = answer("numpy", answer("numpy", "int8", "uint8"), "float16")
    right = answer("numpy", "int8", answer("numpy", "uint8", "float16"))
    return verdict((left, right) == ("float32", "float16")), f"(a + b) + c: {left}; a + (b + c): {right}"


def jax_has_eighteen_types() -> Found:
    """JAX has 18 types, so that a table of its promotions has 324 cells."""
    cells = len(printed.table("jep9407_jax"))
    today = len(tl.system("jax").order.nodes)
    return verdict(
        today == 18, once=cells == 18 * 18
    ), f"the printed table has {cells} cells; JAX today has {today} types, weak ones counted"


def one_kind_needs_a_64_bit_operand() -> Found:
    """Within one kind, NumPy gives 64 bits only where an operand has 64 bits."""
    made = [
        f"{a} + {b}"
        for a, b in pairs("numpy")
        if a.kind is b.kind and _wide(answer("numpy", a, b)) and not (_wide(a) or _wide(b))
    ]
    return verdict(not made), f"pairs that widen: {some(made)}"


def two_scalars_promote_as_arrays() -> Found:
    """In NumPy a scalar int8 plus the Python int 1 is an int64."""
    return _numpys("int8:0d", 1, "int64", "NumPy 2 takes the int for a weak one")


def an_array_keeps_its_dtype() -> Found:
    """In NumPy an array of int8 plus the Python int 1 is an int8."""
    found = {name: answer(name, "int8", 1, op="add") for name in ("numpy1", "numpy")}
    return verdict(set(found.values()) == {"int8"}), listed(found)


def a_large_value_widens() -> Found:
    """In NumPy an array of int8 plus the Python int 1000 is an int16."""
    return _numpys("int8", 1000, "int16", "an OverflowError in NumPy 2")


def plus_two_keeps_every_integer() -> Found:
    """An array of any signed integer dtype plus 2 keeps its dtype in NumPy."""
    widths = ("int8", "int16", "int32", "int64")
    found = [f"{name}: {d}" for name in ("numpy1", "numpy") for d in widths if answer(name, d, 2) != d]
    return verdict(not found), f"those that do not: {some(found)}"


def scalars_need_no_casts() -> Found:
    """For an int32 array x, 3 * (x + 1) ** 2 is int32 in each step, without a cast written."""
    program = tl.program("3 * (x + 1) ** 2", x="int32")
    found = {
        name: {
            str(o.operand.dtype)
            for step, o in zip(program.steps, program.under(name), strict=True)
            if step.op
        }
        for name in ("numpy1", "numpy", "jax")
    }
    return verdict(set.union(*found.values()) == {"int32"}), "; ".join(
        f"{n}: {', '.join(d)}" for n, d in found.items()
    )


def the_partial_lattice_is_numpys() -> Found:
    """Where the partial lattice of categories and scalars has a join, NumPy's arrays promote to it."""
    return _as_numpy(_codes("Combining Lattices"), printed.drawing("Combining Lattices"))


def floats_become_complex_as_in_numpy() -> Found:
    """Arrows from each float to the complex dtype with parts as wide give NumPy's floats beside complexes."""
    chosen = [c for c in _codes("Mixed Promotion: Float and Complex") if c[0] in "fc" and c[-1] != "*"]
    return _as_numpy(chosen, printed.drawing("Mixed Promotion: Float and Complex"))


def unsigned_become_signed_as_in_numpy() -> Found:
    """Arrows from each unsigned integer to the signed one twice as wide give NumPy's mixed integers."""
    section = "Mixed Promotion: Signed & Unsigned Integers"
    chosen = [c for c in _codes(section) if c[0] in "ui" and c[-1] != "*" and c != "u64"]
    return _as_numpy(chosen, printed.drawing(section))


def uint64_with_signed_is_the_only_float() -> Found:
    """uint64 with int64 is float64 in NumPy, and no integers but uint64 with a signed one give a float."""
    left = [
        (a, b) for a, b in pairs("numpy")
        if a.kind in INTEGERS and b.kind in INTEGERS and answer("numpy", a, b).startswith("float")
    ]  # fmt: skip
    only = all({a.kind, b.kind} == set(INTEGERS) and "uint64" in map(str, (a, b)) for a, b in left)
    of = answer("numpy", "uint64:0d", "int64:0d")
    return verdict(
        only and of == "float64"
    ), f"uint64 + int64 is {of}; pairs: {some(f'{a} + {b}' for a, b in left)}"


def sixteen_bits_do_not_fit_in_float16() -> Found:
    """float16 does not hold every 16-bit integer: its significand has 10 bits beside the leading one."""
    first = [tl.loss(tl.dtype(d), tl.dtype("float16")).first_inexact for d in ("int16", "uint16")]
    bits = (tl.dtype("float16").precision or 0) - 1
    return verdict(
        all(first) and bits == 10
    ), f"{bits} bits; the first integer that is not exact: {first[0]}"


def int64_loses_precision_and_no_magnitude() -> Found:
    """From int64 to float64 precision is lost, and no value is out of range."""
    lost = tl.loss(tl.dtype("int64"), tl.dtype("float64"))
    return verdict(
        lost.precision and not lost.magnitude
    ), f"the first integer that is not exact: 2**53 + 1 = {lost.first_inexact}"


def uint32_reaches_twice_as_far() -> Found:
    """The largest uint32 is twice the largest int32, so that the one is not to become the other."""
    unsigned, signed = tl.dtype("uint32").max, tl.dtype("int32").max
    assert unsigned and signed
    wraps = tl.loss(tl.dtype("uint32"), tl.dtype("int32")).magnitude
    return verdict(unsigned == 2 * signed + 1 and wraps), f"{unsigned} = 2 × {signed} + 1"


def numpys_arrows_have_two_lowest_bounds() -> Found:
    """With NumPy's arrows from integers to floats, int8 and uint8 have two lowest bounds, int16 and float16,
    and that makes its promotion depend on parentheses."""
    order = printed.order(printed.drawing("Mixed Promotion: Integer and Floating"))
    bounds = order.minimal_bounds(tl.dtype("int8"), tl.dtype("uint8"))
    several = [
        f"{a} + {b}" for a, b in pairs("numpy") if len(tl.system("numpy").order.minimal_bounds(a, b)) > 1
    ]
    return verdict({str(b) for b in bounds} == {"int16", "float16"}), (
        f"lowest: {', '.join(map(str, bounds))}; all such pairs of NumPy: {some(several)}"
    )


def _numpys(a: object, b: object, said: str, since: str) -> Found:
    """Whether a sum has the dtype that is said in NumPy, or had it in NumPy 1; what has become of it."""
    found = {name: answer(name, a, b, op="add") for name in ("numpy1", "numpy")}
    return verdict(found["numpy"] == said, once=found["numpy1"] == said), f"{listed(found)}: {since}"


def _codes(section: str) -> list[str]:
    """The nodes of a drawing, as it writes them."""
    covers = printed.drawing(section)
    return list(dict.fromkeys((*covers, *(b for bs in covers.values() for b in bs))))


def _wide(x: DType | str) -> bool:
    """Whether a dtype has parts of 64 bits."""
    d = x if isinstance(x, DType) else tl.dtype(x)
    return (d.bits or 0) >= (128 if d.kind is Kind.COMPLEX else 64)


def _as_numpy(codes: list[str], covers: printed.Covers) -> Found:
    """Whether the joins of a drawing are NumPy's answers, where there are joins."""
    order, differing, asked = printed.order(covers), [], 0
    for a, b in product(codes, repeat=2):
        join = order.join(printed.node(a), printed.node(b))
        if join is None or isinstance(join, WeakNode):
            continue
        asked += 1
        found = answer("numpy", printed.in_bits(a), printed.in_bits(b))
        if found != str(join):
            differing.append(f"{a} + {b}: {join}, NumPy {found}")
    return verdict(not differing), f"{asked} joins; other than NumPy's: {some(differing)}"
