"""JEP 9407: its four options."""

from __future__ import annotations

from itertools import product

import printed

import typelattice as tl
from claims import COUNTED, Found, alike, answer, listed, pairs, some, verdict
from typelattice.core.dtypes.dtypes import DType, Kind

INTEGERS = (Kind.UNSIGNED, Kind.SIGNED)
BF16 = {"bfloat16": ["float32"], "f*": ["bfloat16"]}


def option_0_leaves_mixed_kinds_undefined() -> Found:
    """Option 0 refuses every integer beside a float, and keeps commutativity and associativity."""
    laws = tl.laws("jep9407-0")
    answered = [
        f"{a} + {b}" for a, b in pairs("jep9407-0")
        if {a.kind, b.kind} & {*INTEGERS} and Kind.FLOAT in (a.kind, b.kind)
        and answer("jep9407-0", a, b) != "refused"
    ]  # fmt: skip
    return verdict(
        not answered and bool(laws["associative"] and laws["commutative"])
    ), f"answered: {some(answered)}"


def option_1_loses_no_precision() -> Found:
    """Option 1 loses no precision."""
    counts = tl.criteria("jep9407-1").counts
    return verdict(
        counts["precision"] == 0
    ), f"pairs that do, of {tl.criteria('jep9407-1').pair_count}: {counts['precision']}"


def no_float_holds_int64() -> Found:
    """Option 1 leaves int64 and uint64 without a float, since none of those drawn holds all their values."""
    floats = ("float16", "float32", "float64")
    exact = [f"{i} in {f}" for i in ("int64", "uint64") for f in floats
             if not tl.loss(tl.dtype(i), tl.dtype(f)).precision]  # fmt: skip
    given = {answer("jep9407-1", i, f) for i in ("int64", "uint64") for f in floats}
    return verdict(
        not exact and given == {"refused"}
    ), f"held: {some(exact)}; answers: {', '.join(sorted(given))}"


def option_1_can_be_completed() -> Found:
    """Arrows from int64 and from uint64 to float64 would make Option 1 a lattice."""
    return _completed("jep9407-1", {"int64": ["float64"], "uint64": ["float64"]})


def bfloat16_breaks_option_1() -> Found:
    """It is hard to place bfloat16 in Option 1 so that lowest bounds stay unique."""
    return _breaks("jep9407-1")


def option_1_is_wide() -> Found:
    """In Option 1, uint16 with float16 is a float64."""
    found = answer("jep9407-1", "uint16", "float16")
    return verdict(found == "float64"), found


def option_2_keeps_magnitude() -> Found:
    """Option 2 loses precision between integers and floats, and no magnitude."""
    counts = tl.criteria("jep9407-2").counts
    return verdict(counts["precision"] > 0 == counts["magnitude"]), (
        f"pairs that lose precision: {counts['precision']}; magnitude: {counts['magnitude']}"
    )


def option_2_leaves_uint64() -> Found:
    """Option 2 gives int64 with a float an answer, and uint64 with one none."""
    found = {d: answer("jep9407-2", d, "float32") for d in ("int64", "uint64")}
    return verdict(found == {"int64": "float64", "uint64": "refused"}), listed(found)


def option_2_is_wide() -> Found:
    """In Option 2, uint32 with float32 is a float64."""
    found = answer("jep9407-2", "uint32", "float32")
    return verdict(found == "float64"), found


def bfloat16_breaks_option_2() -> Found:
    """It is hard to place bfloat16 in Option 2 so that lowest bounds stay unique."""
    return _breaks("jep9407-2")


def option_3_never_makes_float64() -> Found:
    """In Option 3, unsigned integers apart, no 64-bit result comes without a 64-bit operand."""
    return _never_wider("jep9407-3", 64)


def option_3_never_makes_float32() -> Found:
    """In Option 3, unsigned integers apart, no 32-bit float comes without a 32-bit operand."""
    return _never_wider("jep9407-3", 32)


def option_3_with_bfloat16_never_makes_float32() -> Found:
    """The same once bfloat16 has its place."""
    return _never_wider("jep9407-3-bf16", 32)


def halves_are_not_comparable() -> Found:
    """Option 3 takes bfloat16 without an order between it and float16: the one reaches further, the other is
    more precise."""
    order = tl.system("jep9407-3-bf16").order
    b, f = tl.dtype("bfloat16"), tl.dtype("float16")
    apart = not order.le(b, f) and not order.le(f, b)
    facts = (b.max or 0) > (f.max or 0) and (b.precision or 0) < (f.precision or 0)
    return verdict(apart and facts), f"largest: {b.max:.3g}, {f.max}; bits: {b.precision}, {f.precision}"


def int64_becomes_infinite() -> Found:
    """Option 3 turns int64, which reaches 9.2e18, into float16, which reaches 6.5e4: most become inf."""
    found, lost = answer("jep9407-3", "int64", "float16"), tl.loss(tl.dtype("int64"), tl.dtype("float16"))
    return verdict(
        found == "float16" and lost.magnitude
    ), f"{found}; the largest: {tl.dtype('int64').max:.1e}, {tl.dtype('float16').max:.1e}"


def option_3_resembles_torch() -> Found:
    """Option 3 comes close to PyTorch's promotion."""
    same, asked, differing = alike("jep9407-3-bf16", "torch-2021")
    return COUNTED, f"{same} of {asked} cells alike; other ones: {some(differing)}"


def option_3_resembles_old_jax() -> Found:
    """Option 3 comes very close to the promotion that JAX had before, which was no lattice's."""
    same, asked, differing = alike("jep9407-3-bf16", "jax-2019")
    return COUNTED, f"{same} of {asked} cells alike; other ones: {some(differing)}"


def one_arrow_closes_option_3() -> Found:
    """An arrow from uint64 to the weak float makes a lattice of Option 3."""
    covers = dict(printed.drawing("Option 3: Avoid all wider-than-necessary promotions"))
    before = printed.joins_every_pair(covers)
    after = printed.joins_every_pair(covers | {"u64": ["f*"]})
    return verdict(after and not before), f"every pair joins: without it {before}, with it {after}"


def _wide(x: DType | str) -> bool:
    """Whether a dtype has parts of 64 bits."""
    d = x if isinstance(x, DType) else tl.dtype(x)
    return (d.bits or 0) >= (128 if d.kind is Kind.COMPLEX else 64)


def _with(system: str, more: dict[str, list[str]]) -> tl.Order[str]:
    """The order of a system with further covers, by the names of its nodes, and without those implied."""
    order = tl.system(system).order
    covers = {str(n): {str(m) for m in order.covers(n)} for n in order.nodes}
    for a, bs in more.items():
        covers[a] = covers.get(a, set()) | {*bs}

    def beyond(a: str) -> set[str]:
        return {c for b in covers.get(a, ()) for c in (b, *beyond(b))}

    return tl.Order({a: [b for b in bs if not any(b in beyond(c) for c in bs)] for a, bs in covers.items()})


def _completed(system: str, more: dict[str, list[str]]) -> Found:
    order = _with(system, more)
    without = [f"{a} + {b}" for a, b in product(order.nodes, repeat=2) if order.join(a, b) is None]
    return verdict(not without), f"pairs without a join: {some(without)}"


def _breaks(system: str) -> Found:
    """Whether bfloat16, put between the weak float and float32, leaves a pair with several lowest bounds."""
    order = _with(system, BF16)
    several = [
        f"{a} + {b}" for a, b in product(order.nodes, repeat=2) if len(order.minimal_bounds(a, b)) > 1
    ]
    return verdict(
        bool(several)
    ), f"between the weak float and float32 it leaves pairs with several lowest bounds: {some(several)}"


def _never_wider(system: str, bits: int) -> Found:
    """Whether no pair without unsigned integers gives a float of so many bits, of operands with less."""
    made = []
    for a, b in pairs(system):
        found = tl.system(system).explain(a, b).dtype
        parts = [(d.bits or 0) // (2 if d.kind is Kind.COMPLEX else 1) for d in (a, b)]
        if found and Kind.UNSIGNED not in (a.kind, b.kind) and found.kind is Kind.FLOAT:
            made += [f"{a} + {b}: {found}"] if found.bits == bits and max(parts) < bits else []
    return verdict(not made), f"pairs that do: {some(made)}"
