"""Which laws hold: counts are those of the definitions, and what a lattice is follows."""
from __future__ import annotations

import random
from itertools import combinations, product

import pytest
from jep9407 import DOCUMENT
from samples import one_in

import typelattice as tl
from typelattice.core.dtypes.order import Order
from typelattice.core.explanations.expression_terms import Term, result_of_term
from typelattice.core.system_files.reader import parse
from typelattice.study.laws.laws import STATEMENT_BY_LAW, LawVerdict

np = pytest.importorskip("numpy")


def test_failures_of_numpy_are_those_of_numpy() -> None:
    """Counted with NumPy's own promote_types."""
    names = [str(o) for o in tl.laws("numpy").operands]
    meet = {(a, b): np.promote_types(a, b).name for a, b in product(names, repeat=2)}
    broken = [(a, b, c) for a, b, c in product(names, repeat=3) if meet[meet[a, b], c] != meet[a, meet[b, c]]]
    found = tl.laws("numpy")["associative"]
    assert (found.failing_count, found.case_count) == (len(broken), len(names) ** 3)
    above = [(a, b) for a, b in meet if meet[a, b] == b]
    falling = [(a, b, c) for (a, b), c in product(above, names) if meet[meet[a, c], meet[b, c]] != meet[b, c]]
    assert (tl.laws("numpy")["monotone"].failing_count, tl.laws("numpy")["monotone"].case_count) == (
        len(falling),
        len(above) * len(names),
    )


def equation(law: str, system: tl.System, x: tuple[tl.Operand, ...]) -> tuple[object, object] | None:
    """The two sides of a law for some operands, straight from the definition."""

    def come(term: Term) -> object:
        found = result_of_term(system, term)
        return (found.dtype, found.weak) if found else None

    match law, x:
        case "idempotent", (a,):
            return come((a, a)), come(a)
        case "commutative" | "order-free", (a, b):
            return come((a, b)), come((b, a))
        case "associative", (a, b, c):
            return come(((a, b), c)), come((a, (b, c)))
        case "monotone", (a, b, c):
            if come((a, b)) != come(b):
                return None
            return come(((a, c), (b, c))), come((b, c))
    return None


@pytest.mark.parametrize("combine", ["join", "fold", "comparable"])
@pytest.mark.parametrize("seed", range(6))
def test_counts_of_random_systems_are_those_of_the_definitions(seed: int, combine: str) -> None:
    """Orders with ties and without; how many cases were asked, how many fail, and that the smallest is
    shown."""
    drawn = random.Random(seed)
    names = drawn.sample(["b", "u8", "i8", "u16", "i16", "u32", "f16", "bf16", "f32"], 7)
    above: dict[str, list[str]] = {name: [] for name in names}
    for a, b in combinations(names, 2):
        if drawn.random() < 0.45 and not any(b in above[c] for c in above[a]):
            above[a].append(b)
    covers = {a: [b for b in bs if not reached(above, a, b)] for a, bs in above.items()}
    order = Order(covers)
    lines = "; ".join(f"{a} -> {', '.join(bs)}" if bs else "" for a, bs in covers.items())
    lone = "; ".join(a for a in names if not covers[a] and not any(a in bs for bs in covers.values()))
    bounds = {
        frozenset(order.minimal_bounds(a, b)): order.minimal_bounds(a, b) for a, b in combinations(names, 2)
    }
    ties = [
        f'"{", ".join(found)}" = "{found[0]}"'
        for found in bounds.values()
        if len(found) > 1 and drawn.random() < 0.7
    ]
    written = [
        f'name = "drawn"\ncombine = "{combine}"\norder = "{lines}; {lone}"',
        "[ties]" if ties else "",
        *ties,
    ]
    system = parse("\n".join(written))
    found = tl.laws(system)
    size = {o: (o.dtype.bits or 64, i) for i, o in enumerate(found.operands) if o.dtype}
    for law, arity in (("idempotent", 1), ("commutative", 2), ("associative", 3), ("monotone", 3)):
        sides = {x: equation(law, system, x) for x in product(found.operands, repeat=arity)}
        asked = {x: two for x, two in sides.items() if two}
        broken = [x for x, two in asked.items() if two[0] != two[1]]
        assert (found[law].case_count, found[law].failing_count) == (len(asked), len(broken)), law
        shown = found[law].counterexample
        if shown:
            least = min(broken, key=lambda x: (sum(size[o][0] for o in x), [size[o][1] for o in x]))
            assert {*shown.operands} == {*least}, law


def reached(above: dict[str, list[str]], a: str, b: str) -> bool:
    """Whether b can be reached from a by more than one step."""
    waiting = [c for c in above[a] if c != b]
    while waiting:
        c = waiting.pop()
        if b in above[c]:
            return True
        waiting += above[c]
    return False


@pytest.mark.parametrize("name", one_in(3, tl.systems(), 2))
def test_a_lattice_keeps_the_laws_of_one(name: str) -> None:
    """Where any two that have a bound have a least, and promotion is nothing but that, all else follows."""
    system, found = tl.system(name), tl.laws(name)
    if system.combine == "join" and not (
        system.after or system.before or system.overrides or system.refusals
    ):
        assert found["commutative"]
        assert found["order-free"]
        assert found["unique bounds"].holds == found["associative"].holds == found["monotone"].holds


def test_jax_on_the_dtypes_of_the_jep_is_a_lattice() -> None:
    assert all(tl.laws("jax", "all", DOCUMENT).values())


def test_witnesses_are_identity_and_top() -> None:
    found = tl.laws("numpy")
    assert (str(found["identity"].special_operand), str(found["top"].special_operand)) == (
        "bool",
        "complex128",
    )
    numpy = tl.system("numpy")
    assert all(numpy.result_type("bool", x) is x.dtype
               and str(numpy.result_type(x, "complex128")) == "complex128"
               for x in found.operands)  # fmt: skip


@pytest.mark.parametrize("tier", ["0d", "scalar", "all"])
def test_operands_of_any_standing_are_judged(tier: str) -> None:
    found = tl.laws("numpy1", tier, ["bool", "int8", "uint8", "int64", "float32"])
    assert list(found) == list(STATEMENT_BY_LAW)
    assert all(isinstance(v, LawVerdict) for v in found.values())
    assert {o.tier for o in found.operands} == ({"array", "0d", "scalar"} if tier == "all" else {tier})


def test_nothing_to_ask_is_an_error() -> None:
    with pytest.raises(tl.DTypeError, match="numpy has none of these dtypes"):
        tl.laws("numpy", dtypes=["bfloat16"])
    with pytest.raises(tl.DTypeError, match="takes no Python scalars"):
        tl.laws("array-api-2020", "scalar")
