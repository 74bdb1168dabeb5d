"""Which laws hold, that counterexamples are true and the smallest, and that their code runs in the real
libraries."""
from __future__ import annotations

import random
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, permutations, product
from typing import Any

import pytest
from kept import kept

import typelattice as tl
from typelattice.explain.library_code import Term, as_code, leaves, plain, value
from typelattice.explain.library_forms import form
from typelattice.facts.dtypes import DType
from typelattice.facts.order import Order
from typelattice.files.reader import parse
from typelattice.recorded.recording import recorded
from typelattice.study import laws
from typelattice.study.closure import closure, key
from typelattice.study.equations import Judge, first_swapped
from typelattice.study.laws import LAWS, Counterexample, Verdict
from typelattice.study.recorded_calls import Evidence, evidence
from typelattice.study.scope import domain

np = pytest.importorskip("numpy")
SYSTEMS = tl.systems()
DOCUMENT = [n for n in tl.system("jep9407-3-bf16").order.nodes if isinstance(n, DType)]  # the JEP's dtypes
CODED = [n for n in SYSTEMS if n in recorded() and n != "numpy1" and form(n, tl.system(n).library).setup]
FOLDS = ("mlx", "polars", "torch-2021", "triton")


def counterexample(system: str, law: str, tier: str = "array") -> Counterexample:
    found = tl.laws(system, tier)[law].counterexample
    assert found
    return found


def test_numpy_is_not_associative_as_jep_9407_shows() -> None:
    """int8, uint8, float16: float32 or float16. The smallest counterexample is of the same three."""
    shown = counterexample("numpy", "associative")
    assert {str(o) for o in shown.operands} == {"int8", "uint8", "float16"}
    assert str(shown) == "(uint8 + int8) + float16 is float32, uint8 + (int8 + float16) is float16"
    a, b, c = np.int8(1), np.uint8(1), np.float16(1)
    numpy = tl.system("numpy")
    x, y, z = map(tl.operand, (a, b, c))
    found = [o and str(o.dtype) for o in (value(numpy, ((x, y), z)), value(numpy, (x, (y, z))))]
    assert found == [str(((a + b) + c).dtype), str((a + (b + c)).dtype)] == ["float32", "float16"]


def test_counterexample_is_code_of_the_library() -> None:
    found = counterexample("numpy", "associative")
    assert found.setup == "import numpy as np"
    scope: dict[str, object] = {}
    exec(found.setup, scope)
    assert [str(eval(code, scope).dtype) for code in found.expressions] == [str(d) for d, _ in found.answers]


def test_failures_of_numpy_are_those_of_numpy() -> None:
    """Counted with NumPy's own promote_types."""
    names = [str(o) for o in tl.laws("numpy").operands]
    meet = {(a, b): np.promote_types(a, b).name for a, b in product(names, repeat=2)}
    broken = [(a, b, c) for a, b, c in product(names, repeat=3) if meet[meet[a, b], c] != meet[a, meet[b, c]]]
    found = tl.laws("numpy")["associative"]
    assert (found.failing, found.asked) == (len(broken), len(names) ** 3)
    above = [(a, b) for a, b in meet if meet[a, b] == b]
    falling = [(a, b, c) for (a, b), c in product(above, names) if meet[meet[a, c], meet[b, c]] != meet[b, c]]
    assert (tl.laws("numpy")["monotone"].failing, tl.laws("numpy")["monotone"].asked) == (
        len(falling),
        len(above) * len(names),
    )


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_counterexample_is_what_the_system_answers(name: str) -> None:
    system = tl.system(name)
    for law, v in tl.laws(name).items():
        assert (v.holds is not False) == (v.failing == 0) == (v.counterexample is None), law
        if v.counterexample and law != "unique bounds":
            if v.counterexample.note.startswith("as recorded"):
                recording = kept(name)
                told = [recording.answer("result_type", *map(str, term)) for term in v.counterexample.terms]
                said = [str(d) if d else "refused" for d, _ in v.counterexample.answers]
                assert said == ["refused" if answer.startswith("!") else answer for answer in told]
                continue
            found = [value(system, t) for t in v.counterexample.terms]
            assert [(o.dtype, o.weak) if o else (None, False) for o in found] == [
                *v.counterexample.answers
            ], law
            assert v.counterexample.answers[0] != v.counterexample.answers[1], law


@pytest.mark.parametrize("name", ["numpy", "tinygrad", "mlx", "keras-jax"])
def test_no_counterexample_of_associativity_is_smaller(name: str) -> None:
    system, found = tl.system(name), tl.laws(name)
    size = {o: (o.dtype.bits or 64, i) for i, o in enumerate(found.operands) if o.dtype}

    def fails(*x: tl.Operand) -> bool:
        return value(system, ((x[0], x[1]), x[2])) != value(system, (x[0], (x[1], x[2])))

    shown = found["associative"].counterexample
    assert shown
    three = [*leaves(shown.terms[0])]
    bits = sum(size[o][0] for o in three)
    smaller = (x for x in product(found.operands, repeat=3) if sum(size[o][0] for o in x) < bits)
    assert fails(*three)
    assert not any(fails(*x) for x in smaller)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_lattice_keeps_the_laws_of_one(name: str) -> None:
    """Where any two that have a bound have a least, and promotion is nothing but that, all else follows."""
    system, found = tl.system(name), tl.laws(name)
    if system.combine == "join" and not (
        system.after or system.before or system.overrides or system.refusals
    ):
        assert found["commutative"]
        assert found["order-free"]
        assert found["unique bounds"].holds == found["associative"].holds == found["monotone"].holds


def equation(law: str, system: tl.System, x: tuple[tl.Operand, ...]) -> tuple[object, object] | None:
    """The two sides of a law for some operands, straight from the definition."""

    def come(term: Term) -> object:
        found = value(system, term)
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
        assert (found[law].asked, found[law].failing) == (len(asked), len(broken)), law
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


def test_witnesses_are_identity_and_top() -> None:
    found = tl.laws("numpy")
    assert (str(found["identity"].witness), str(found["top"].witness)) == ("bool", "complex128")
    numpy = tl.system("numpy")
    assert all(numpy.result_type("bool", x) is x.dtype
               and str(numpy.result_type(x, "complex128")) == "complex128"
               for x in found.operands)  # fmt: skip


def test_jax_on_the_dtypes_of_the_jep_is_a_lattice() -> None:
    assert all(tl.laws("jax", "all", DOCUMENT).values())


def test_refusal_equals_refusal_but_no_answer() -> None:
    """Nothing mixes in Option 0, on both sides alike; torch refuses one side only."""
    assert tl.laws("jep9407-0")["associative"]
    left, right = counterexample("torch", "associative").answers
    assert left[0] is None
    assert right[0] is not None


def test_order_free_is_not_known_where_the_library_departs_from_the_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And was asked of each set in one order alone."""
    recorded = laws.evidence

    def in_one_order(*given: Any) -> Evidence:
        found = recorded(*given)
        twice = [call for pair in found.contradictions for call in pair if call not in found.departing]
        return replace(found, calls=tuple(call for call in found.calls if call not in twice))

    monkeypatch.setattr(laws, "evidence", in_one_order)
    most = [n for n in tl.system("numpy-ml-dtypes").order.nodes if str(n) != "complex128"]  # not remembered
    found = tl.laws("numpy-ml-dtypes", dtypes=most)["order-free"]
    assert found.holds is None
    assert not found
    assert found.mark == "?"
    counted = r"not known: \d+ of \d+ recorded calls of several operands depart from the file; "
    assert re.match(counted, str(found))


def test_order_free_fails_where_a_library_was_asked_in_two_orders_and_answered_differently() -> None:
    """NumPy reduces dtypes of ml_dtypes in an order of its own: 24 of 680 triples depend on theirs."""
    found = tl.laws("numpy-ml-dtypes")["order-free"]
    assert found.holds is False
    assert found.counterexample is not None
    left, right = found.counterexample.terms
    assert sorted(map(str, left)) == sorted(map(str, right)) and left != right
    assert "as recorded of numpy" in str(found)
    operands = [tl.operand(d) for d in ("uint8", "int16", "int4")]
    ml_dtypes = pytest.importorskip("ml_dtypes")
    own = {"int4": ml_dtypes.int4}
    answers = set()
    for three in permutations(str(o) for o in operands):
        try:
            answers.add(str(np.result_type(*(np.dtype(own.get(d, d)) for d in three))))
        except TypeError:
            answers.add("refused")
    assert len(answers) > 1
    assert tl.laws("numpy-ml-dtypes", dtypes=["uint8", "int16", "float16"])["order-free"].holds
    mine = tl.system("numpy-ml-dtypes").replace(name="mine")
    assert tl.laws(mine)["order-free"].holds, "a variant was never recorded"


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_recorded_calls_differ_by_their_order_alone_if_the_law_holds(name: str) -> None:
    found = tl.laws(name)
    recorded_calls = evidence(tl.system(name), found.operands)
    if found["order-free"]:
        assert not recorded_calls.contradictions
        assert not recorded_calls.departing


def test_joins_of_sets_are_order_free_though_pairs_are_not_associative() -> None:
    numpy, mlx = tl.laws("numpy"), tl.laws("mlx")
    assert (numpy["associative"].holds, numpy["order-free"].holds) == (False, True)
    assert not mlx["order-free"]
    shown = counterexample("mlx", "order-free")
    assert re.fullmatch(r"(.+) \+ (.+) \+ (.+)", shown.expressions[0])


@pytest.mark.parametrize("name", ["numpy", "dask", "jep9407-2", *FOLDS])
def test_three_at_once_are_asked_as_explain_answers(name: str) -> None:
    """What is taken from the mode, or from pairs, is what the whole gives."""
    system = tl.system(name)
    over = closure(system, domain(system, dtypes=DOCUMENT))
    judge = Judge(over)
    free = True
    for x in product(over.asked, repeat=3):
        found = value(system, over.operands(*x))
        assert judge.answers(first_swapped, x)[0] == key(system, found)
        free &= all(value(system, over.operands(*y)) == found for y in permutations(x))
    assert free == tl.laws(name, dtypes=DOCUMENT)["order-free"].holds


@pytest.mark.parametrize("tier", ["0d", "scalar", "all"])
def test_other_standings(tier: str) -> None:
    found = tl.laws("numpy1", tier, ["bool", "int8", "uint8", "int64", "float32"])
    assert list(found) == list(LAWS)
    assert all(isinstance(v, Verdict) for v in found.values())
    assert {o.tier for o in found.operands} == ({"array", "0d", "scalar"} if tier == "all" else {tier})


def test_weak_scalars_make_numpy_depend_on_brackets() -> None:
    """bool + 1 becomes int64, and stays; 1 + uint8 is uint8."""
    shown = counterexample("numpy", "associative", "all")
    assert str(shown) == "(bool + int) + uint8 is int64, bool + (int + uint8) is uint8"
    assert [str(eval(code, {"np": np}).dtype) for code in shown.expressions] == ["int64", "uint8"]


def test_python_adds_its_own_scalars_beside_arrays() -> None:
    a, i, f = (tl.operand(x) for x in ("int8", "int", "float"))
    numpy = tl.system("numpy")
    assert str(value(numpy, (a, (i, i)), python=True)) == "int8"
    assert as_code(numpy, ((a, (i, f)),), python=True)[1] == ("np.ones(1, 'int8') + (1 + 1.0)",)
    assert plain((a, (i, f))) == "int8 + (int + float)"


def test_a_file_of_ones_own_is_written_in_names(tmp_path: object) -> None:
    mine = tl.system("jep9407-0")
    assert as_code(mine, ((tl.operand("int8"), tl.operand("uint8")),)) == ("", ("int8 + uint8",))


def test_nothing_to_ask_is_an_error() -> None:
    with pytest.raises(tl.DTypeError, match="numpy has none of these dtypes"):
        tl.laws("numpy", dtypes=["bfloat16"])
    with pytest.raises(tl.DTypeError, match="takes no Python scalars"):
        tl.laws("array-api-2020", "scalar")


RUN = """
import os, sys, warnings
warnings.filterwarnings("ignore"); os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import typelattice as tl
def answer(x):
    own = x if hasattr(x, "name") else getattr(x, "type", x)
    d = x.types[0] if hasattr(x, "types") else getattr(x, "dtype", own)
    name = getattr(d, "name", None) or str(d)
    ours = {"double": "float64", "float": "float32", "halffloat": "float16", "bool_": "bool"}
    return ours.get(name, name.split(".")[-1])
for law, v in tl.laws(sys.argv[1], sys.argv[2]).items():
    if v.counterexample and v.counterexample.setup:
        c, scope = v.counterexample, {}
        exec(c.setup, scope)
        for code, term, (dtype, weak) in zip(c.expressions, c.terms, c.answers):
            if isinstance(term, tuple) and any(o.tier != "scalar" for o in term if not isinstance(o, tuple)):
                try:
                    said = answer(eval(code, scope))
                except Exception:
                    said = "refused"
                assert said == str(dtype or "refused"), (law, code, said, dtype)
"""


@pytest.mark.live
@pytest.mark.parametrize("tier", ["array", "all"])
@pytest.mark.parametrize("name", CODED)
def test_code_runs_in_the_library(name: str, tier: str) -> None:
    env = {"PYTHONPATH": "src", "KERAS_BACKEND": "tensorflow" if name == "keras-tensorflow" else "jax"}
    run = subprocess.run([sys.executable, "-c", RUN, name, tier], env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-600:]
