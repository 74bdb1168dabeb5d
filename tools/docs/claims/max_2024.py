"""Modular MAX, graph.type_promotion (2024)."""

from __future__ import annotations

import printed

import typelattice as tl
from claims import COUNTED, Found, alike, answer, listed, ordered, some, verdict

SPECIAL = ("index", "address", "bfloat16", "tensor_float32")


def int16_with_float32() -> Found:
    """int16 plus float32 in a graph is a float32."""
    graph = tl.Symbols()
    x, y = graph.asarray(1, dtype="int16"), graph.asarray(1.0, dtype="float32")
    found = str(graph.output(x + y).under("max-2024").dtype)
    return verdict(found == "float32"), found


def promotion_is_the_join() -> Found:
    """What two types promote to is their join on a lattice."""
    cells = printed.MAX_2024.differing()
    return (
        verdict(not cells),
        f"cells that are not: {some(f'{a} + {b}: {was}, not {own}' for (a, b), (was, own) in cells.items())}",
    )


def nothing_promotes_to_index() -> Found:
    """No other type promotes to index or to address: they count as uint64."""
    wrong = [
        f"{a} + {b}: {c}"
        for (a, b), c in printed.table("max_2024").items()
        if c in ("index", "address") and (a, b) != (c, c)
    ]
    return verdict(not wrong), f"printed cells that do: {some(wrong)}"


def index_promotes_to_uint64() -> Found:
    """index and address promote up to uint64."""
    found = {d: answer("max-2024", d, "uint64") for d in ("index", "address")}
    return verdict(set(found.values()) == {"uint64"}), listed(found)


def float16_becomes_bfloat16() -> Found:
    """float16 with bfloat16 is a bfloat16, never the other way round."""
    found = answer("max-2024", "float16", "bfloat16")
    return verdict(found == "bfloat16"), found


def bfloat16_moves_three_bits() -> Found:
    """bfloat16 has three bits less of precision than float16, which its exponent has instead."""
    moved = (tl.dtype("float16").precision or 0) - (tl.dtype("bfloat16").precision or 0)
    same = tl.dtype("float16").bits == tl.dtype("bfloat16").bits
    return verdict(moved == 3 and same), f"{moved} bits, of as many in all: {same}"


def bfloat16_becomes_float32() -> Found:
    """bfloat16 promotes up to float32, tensor_float32 up to float64."""
    found = {
        d: answer("max-2024", d, to) for d, to in (("bfloat16", "float32"), ("tensor_float32", "float64"))
    }
    return verdict([*found.values()] == ["float32", "float64"]), ", ".join(
        f"{d}: {to}" for d, to in found.items()
    )


def tensor_float32_is_less_precise() -> Found:
    """tensor_float32 is less precise than float32, which it lies above."""
    narrow, wide = tl.dtype("tensor_float32"), tl.dtype("float32")
    found = answer("max-2024", "float32", "tensor_float32")
    holds = (narrow.precision or 0) < (wide.precision or 0) and found == "tensor_float32"
    return verdict(holds), f"{narrow.precision} and {wide.precision} bits; the two promote to {found}"


def special_types_come_from_themselves() -> Found:
    """bfloat16 and tensor_float32 come of no operands but themselves."""
    wrong = [
        f"{a} + {b}: {found}" for a, b in ordered("max-2024")
        if (found := answer("max-2024", a, b)) in SPECIAL and found not in (str(a), str(b))
    ]  # fmt: skip
    return verdict(not wrong), f"pairs that give one: {some(wrong)}"


def it_borrows_from_jax() -> Found:
    """Most of it is taken over from JAX."""
    same, asked, differing = alike("max-2024", "jax")
    return COUNTED, f"{same} of {asked} cells alike; other ones: {some(differing)}"


def every_pair_is_answered() -> Found:
    """Every two supported types have an answer."""
    refused = [f"{a} + {b}" for a, b in ordered("max-2024") if answer("max-2024", a, b) == "refused"]
    today = sum(answer("max", a, b) == "refused" for a, b in ordered("max-2024", "max"))
    return verdict(
        not refused
    ), f"refused: {some(refused)}; MAX today refuses {today} of the pairs that it still has"
