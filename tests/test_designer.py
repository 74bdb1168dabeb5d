"""The designer: its optima are those of brute force, its files are systems, its claims about JEP 9407
hold."""
from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl
from typelattice.cli.main import main
from typelattice.designer import (
    DEMANDS,
    BeyondReachError,
    Completion,
    ConflictError,
    Demand,
    MissingSolverError,
    PlanError,
    design,
    plan,
    repairs,
)  # fmt: skip
from typelattice.designer.demands import Member, members, tally
from typelattice.designer.front import front, place
from typelattice.designer.plan import FIELDS, KEYS
from typelattice.designer.problem import problem
from typelattice.designer.solver import solve
from typelattice.engine.system import System
from typelattice.facts.dtypes import DTYPES, Node
from typelattice.facts.order import Order
from typelattice.files.reader import parse
from typelattice.files.writer import reduced

DESIGNS = Path(__file__).parents[1] / "examples" / "designs"
KEPT = ["component", "overflow", "subset", "weak"]
DEFAULTS = {"int": "i64", "float": "f64", "complex": "c128"}
Relations = frozenset[tuple[Node, Node]]


def partial(order: str) -> System:
    known = {word: code for word, code in DEFAULTS.items() if code in re.findall(r"\w+", order)}
    defaults = ", ".join(f'{word} = "{code}"' for word, code in known.items())
    return parse(f'name = "small"\ndefaults = {{ {defaults} }}\norder = "{order}"', "small.toml")


# brute force: every order that holds the given one


def completions(given: Order[Node]) -> Iterator[Order[Node]]:
    """Every order on the same nodes that holds the given one, each once."""
    nodes = given.nodes
    start = relations(given)
    seen, waiting = {start}, [start]
    while waiting:
        now = waiting.pop()
        yield reduced(nodes, now)
        for a, b in permutations(nodes, 2):
            if (a, b) not in now and (b, a) not in now:
                above, below = [y for x, y in now if x is b], [x for x, y in now if y is a]
                more = now | {(x, y) for x in below for y in above}
                if more not in seen:
                    seen.add(more)
                    waiting.append(more)


def relations(order: Order[Node]) -> Relations:
    return frozenset((a, b) for a in order.nodes for b in order.bounds(a))


def keeps(order: Order[Node], given: Order[Node], rules: list[Demand], of: dict[Node, Member]) -> bool:
    """Whether what an order adds keeps the rules, and no pair has several lowest bounds."""
    for a, b in combinations(order.nodes, 2):
        bounds = order.minimal_bounds(a, b)
        if len(bounds) > 1 or (not bounds and any(d.unjoined for d in rules)):
            return False
        before = (
            given.le(a, b) or given.le(b, a) or (bounds and given.le(a, bounds[0]) and given.le(b, bounds[0]))
        )
        if bounds and not before and any(d.result and d.result(of[a], of[b], of[bounds[0]]) for d in rules):
            return False
    return True


SMALL = [
    "u8; i8; u16; i16; f16",
    "i8 -> i16; u8 -> i16; f16 -> f32",
    "i* -> u8, i8, f*; f* -> f16; u8, i8 -> i16",
    "u64; i64; f*; f16; f* -> f64",
    "f16; bf16; f32; f64; c64",
    "u8 -> i16, f16; i8 -> i16, f16; i16, f16 -> f32",
]
AIMS = [
    (["lattice", *KEPT], ["width", "precision", "relations"]),
    (["lattice", *KEPT], ["deference", "kind", "covers"]),
    (KEPT, ["lattice", "precision", "inexact"]),
    (["overflow"], ["lattice", "magnitude", "narrow", "width64", "covers"]),
    (["lattice", "kind", *KEPT], ["width", "relations"]),
]


@pytest.mark.parametrize("order", SMALL)
@pytest.mark.parametrize(("rules", "costs"), AIMS, ids=[costs[0] for _, costs in AIMS])
def test_optima_are_those_of_brute_force(order: str, rules: list[str], costs: list[str]) -> None:
    system = partial(order)
    of = {m.node: m for m in members(system)}
    kept = [o for o in completions(system.order) if keeps(o, system.order, [DEMANDS[r] for r in rules], of)]
    counted = [
        (tuple(tally([DEMANDS[c] for c in costs], o, system.order, of).values()), relations(o)) for o in kept
    ]
    if not counted:
        with pytest.raises(ConflictError):
            design(system, rules, costs)
        return
    least = min(cost for cost, _ in counted)
    best = {order for cost, order in counted if cost == least}
    found = design(system, rules, costs, limit=10_000)
    assert found.proven
    assert found.complete
    assert tuple(found.costs.values()) == least
    assert len(found) == len(best)
    assert {relations(c.system.order) for c in found} == best


def split(order: Order[Node]) -> bool:
    return any(len(order.minimal_bounds(a, b)) > 1 for a, b in combinations(order.nodes, 2))


BROKEN = [
    SMALL[-1],
    "i8, u8 -> i16, f16; i16 -> f32; f16 -> f32",
    "u8, i8 -> f16, bf16 -> f32",
    "i8, i16 -> f32, f64",
]


def closed(edges: set[tuple[Node, Node]]) -> set[tuple[Node, Node]]:
    """All relations that follow from some."""
    found = {*edges}
    while more := {(a, d) for a, b in found for c, d in found if b is c} - found:
        found |= more
    return found


def smallest_repairs(system: System, every: bool, rules: list[Demand]) -> set[frozenset[tuple[Node, Node]]]:
    """By trying every set of covers to drop and relations to add, reversals too, the smallest sets first."""
    given, of = system.order, {m.node: m for m in members(system)}
    covers = {(a, b) for a in given.nodes for b in given.covers(a)}

    def works(changed: tuple[tuple[Node, Node], ...]) -> bool:
        found = closed({(a, a) for a in given.nodes} | (covers ^ {*changed}))
        if any(a is not b and (b, a) in found for a, b in found):
            return False
        repaired = reduced(given.nodes, found)
        if any(
            d.relation and d.relation(of[a], of[b]) for d in rules for a, b in found if not given.le(a, b)
        ):
            return False
        for a, b in combinations(repaired.nodes, 2):
            bounds = repaired.minimal_bounds(a, b)
            if len(bounds) > 1 or (not bounds and (every or given.bounds(a, b))):
                return False
            before = bounds and given.le(a, bounds[0]) and given.le(b, bounds[0])
            if (
                bounds
                and not before
                and any(d.result and d.result(of[a], of[b], of[bounds[0]]) for d in rules)
            ):
                return False
        return True

    for size in range(5):
        works_now = {frozenset(s) for s in combinations(permutations(given.nodes, 2), size) if works(s)}
        if works_now:
            return works_now
    raise AssertionError("more than four edits")


TURNED = ["u64 -> u8, f16; u8 -> i16; f32 -> i16", "i8 -> f64, bf16; f64 -> u16; i16 -> u16, bf16"]


@pytest.mark.parametrize(
    ("order", "every", "rules"),
    [
        *((order, False, ()) for order in BROKEN),
        (BROKEN[0], True, ["kind"]),
        ("i64 -> f64; bf16", True, ["overflow", "kind"]),
        ("u16 -> u8, i16; i8 -> i16; f16", True, ["overflow", "kind"]),
        *((order, True, KEPT) for order in TURNED),
        (TURNED[1], True, ["precision"]),
    ],
)
def test_repairs_are_the_smallest_of_brute_force(order: str, every: bool, rules: list[str]) -> None:
    """Covers turned round and repairs of three and four edits included; the rules hold in results as in
    relations."""
    system = partial(order)
    found = repairs(system, limit=1000, every=every, rules=rules)
    assert {frozenset((*r.add, *r.drop)) for r in found} == smallest_repairs(
        system, every, [DEMANDS[r] for r in rules]
    )
    assert found.proven
    assert found.complete


def test_a_repair_adds_no_result_that_a_rule_forbids() -> None:
    """`bf16 -> f64` would join int64 with bfloat16 at float64, which loses precision."""
    lone = partial("i64 -> f64; bf16")
    with pytest.raises(
        ConflictError, match=r"no order that repairs small keeps lattice with precision; .*: drop one$"
    ):
        repairs(lone, every=True, rules=["precision"])
    for order in (*BROKEN, *TURNED):
        for repair in repairs(partial(order), every=True, rules=KEPT):
            before = partial(order).order
            for a, b, _, now in repair.changed:
                if now and not (before.le(a, now) and before.le(b, now)):
                    of = {m.node: m for m in members(repair.system)}
                    assert not any(
                        d.result and d.result(of[a], of[b], of[now]) for d in map(DEMANDS.get, KEPT) if d
                    )


def test_repairs_drop_only_where_no_cover_may_be_added() -> None:
    assert all(not r.add for r in repairs(partial(BROKEN[2]), rules=["covers"]))


# what comes out


@pytest.mark.parametrize("name", ["jep9407-0", "numpy", "jax", "array-api", DESIGNS / "jax-nodes.toml"])
def test_completions_are_files_that_check_accepts(
    name: str | Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = design(name, limit=2)
    for c in found:
        assert not split(c.system.order)
        assert c.counts["lattice"] == 0
        path = tmp_path / f"{c.system.name}.toml"
        path.write_text(c.text, encoding="utf-8")
        assert main(["check", str(path)]) == 0
        again = tl.system(path)
        assert all({*again.order.bounds(n)} == {*c.system.order.bounds(n)} for n in again.order.nodes)
        assert "0 of" in capsys.readouterr().out


def test_counts_are_the_criteria_of_the_system() -> None:
    """Of arrays; the criteria count pairs of a system, the designer those of an order."""
    from typelattice.study.criteria import criteria

    same = {"lattice": "refused", "overflow": "overflow", "magnitude": "magnitude", "precision": "precision"}
    same |= {"width": "wider", "width64": "64 bits"}
    arrays = partial(
        "u8 -> u16 -> u32 -> u64; i8 -> i16 -> i32 -> i64; u8 -> i16; u16 -> i32; u32 -> i64; "
        "f16 -> f32 -> f64"
    )
    for costs in (["width", "precision"], ["precision", "width"]):
        c = design(arrays, costs=costs)[0]
        counts = criteria(c.system).counts
        assert {word: c.counts[word] for word in same} == {word: counts[name] for word, name in same.items()}


def test_order_and_system_count_alike() -> None:
    """A completion, asked for its answers as any system is, counts what the designer says."""
    for c in design("jep9407-0", costs=["width", "covers"], limit=3):
        counts = place(c.system, "jep9407-0").counts
        assert counts == {word: c.counts[word] for word in counts}


# the argument of JEP 9407


def the_one(found: object) -> str:
    assert isinstance(found, tl.designer.Design)
    assert found.proven
    assert found.complete
    assert len(found) == 1
    first: Completion = found[0]
    return first.arrows


def test_jax_is_singled_out_by_deference() -> None:
    assert the_one(design("jep9407-0")) == "u64 -> f*; i64 -> f*"
    assert the_one(design(DESIGNS / "jep9407-bf16.toml")) == "u64 -> f*; i64 -> f*"
    rival = design("jep9407-0", costs=["kind", "width64", "width", "precision", "relations"])
    assert the_one(rival) == "u64 -> f64; i64 -> f*"
    jax = design("jep9407-0")[0].counts
    assert all(rival[0].counts[word] == jax[word] for word in ("kind", "width64", "width", "precision"))
    assert rival[0].counts["magnitude"] < jax["magnitude"]


def test_the_trial_with_free_scalars() -> None:
    free = tl.system("jep9407-0").replace(defaults={})
    assert the_one(design(free, costs=["kind", "width", "relations"])) == "u64 -> f64; i32 -> f16; i64 -> f32"


def test_options_are_optima_of_their_criteria() -> None:
    costed = tl.system("jep9407-0")
    free = costed.replace(defaults={})
    precise, unnarrow = [*KEPT, "kind", "precision"], [*KEPT, "kind", "narrow"]
    costs = ["lattice", "width", "relations"]
    steps = "i8 -> f16; i16 -> f32; i32 -> f64"
    assert [c.arrows for c in design(free, precise, costs)] == [steps, steps.replace("i8", "u8")]
    assert the_one(design(free, unnarrow, costs)) == "i16 -> f16; i32 -> f32; i64 -> f64"
    for system in (costed, free):
        assert (
            the_one(design(system, [*KEPT, "kind"], ["lattice", "width", "precision", "relations"]))
            == "i64 -> f*"
        )
    assert all("i8 -> f16" not in c.arrows for c in design(costed, precise, costs))
    assert the_one(design(costed, unnarrow, costs)) == "i16 -> f*; i64 -> f64"


def test_bfloat16_splits_no_option() -> None:
    for n in "0123":
        assert not split(tl.system(f"jep9407-{n}").replace(order="...\nf* -> bf16 -> f32").order)


def test_front_has_no_point_better_than_another() -> None:
    points = [(c.counts["precision"], c.counts["width"]) for c in front("jep9407-0")]
    assert points == sorted(points, reverse=True)
    assert [w for _, w in points] == sorted({w for _, w in points})
    assert place("jax", "jep9407-0").on
    assert (better := place("keras", "jep9407-0").better)
    assert better.counts["precision"] < place("keras", "jep9407-0").counts["precision"]
    numpy = place("numpy", "jep9407-0")
    assert not numpy.on
    assert numpy.better is None


# rules, costs and demands of one's own


def test_conflicts_are_minimal_cores() -> None:
    for rules, core in [
        (["lattice", *KEPT, "kind"], ("lattice", "overflow", "kind")),
        (["lattice", *KEPT, "precision"], ("lattice", "precision")),
    ]:
        with pytest.raises(ConflictError, match="drop one") as caught:
            design("jep9407-0", rules)
        assert caught.value.rules == core
        for left_out in core:
            assert design("jep9407-0", [r for r in core if r != left_out], [])
    with pytest.raises(ConflictError) as caught:
        design("jep9407-0", at_most={"width": 6, "precision": 27, "lattice": 50})
    assert caught.value.rules[-2:] == ("width <= 6", "precision <= 27")


def test_demands_of_a_plan() -> None:
    found = design("jep9407-0", plan_file=DESIGNS / "no-halves.toml")
    assert found.proven
    order = found[0].system.order
    i32, f16, u8 = (tl.dtype(name) for name in ("int32", "float16", "uint8"))
    assert not order.le(i32, f16)
    wants: dict[str, object] = {
        "rules": ["lattice", "overflow", "mine"],
        "demands": {"mine": {"want": "u8, i32 -> f16"}},
    }
    order = design("jep9407-0", plan_file=wants)[0].system.order
    assert order.le(i32, f16)
    assert order.le(u8, f16)
    results: dict[str, object] = {
        "costs": ["mine", "deference", "covers"],
        "demands": {"mine": {"results": {"i32 + f16": "f32", "u8, i8 + f16": "f16"}, "weight": 3}},
    }
    best = design("jep9407-0", plan_file=results)
    assert best.costs["mine"] == 0
    assert best[0].system.order.join(i32, f16) is tl.dtype("float32")


def test_a_plan_demands_refusals() -> None:
    """As a rule, which conflicts with a lattice; and as a cost."""
    given: dict[str, object] = {
        "rules": ["overflow", "mine"],
        "costs": ["lattice", "covers"],
        "demands": {"mine": {"results": {"u64, i64 + f16, f32": "refused", "i32 + f16": "f32"}}},
    }
    order = design("jep9407-0", plan_file=given)[0].system.order
    pairs = [(tl.dtype(a), tl.dtype(b)) for a in ("uint64", "int64") for b in ("float16", "float32")]
    assert not any(order.bounds(a, b) for a, b in pairs)
    assert order.join(tl.dtype("int32"), tl.dtype("float16")) in (None, tl.dtype("float32"))
    free = design("jep9407-0", plan_file={**given, "rules": ["overflow"]})[0].system.order
    assert any(free.bounds(a, b) for a, b in pairs)
    with pytest.raises(ConflictError, match="keeps lattice with mine"):
        design("jep9407-0", plan_file={**given, "rules": ["lattice", "mine"]})


@pytest.mark.parametrize(("heading", "keys"), [("Keys of a plan", KEYS), ("Keys of a demand", FIELDS)])
def test_the_page_on_plans_lists_exactly_what_is_read(heading: str, keys: Collection[str]) -> None:
    page = (Path(__file__).parents[1] / "docs" / "plans.md").read_text(encoding="utf-8")
    rows = page.partition(f"## {heading}\n")[2].partition("\n#")[0]
    assert re.findall(r"(?m)^\| `(\w+)` \|", rows) == [*keys]


def test_values_give_plain_data() -> None:
    found, fixed = design("jep9407-0"), repairs("numpy")
    assert json.loads(tl.render(found, "json")) == found.data()
    assert found.data()["completions"][0]["covers"] == [["u64", "f*"], ["i64", "f*"]]  # type: ignore[index]
    assert json.loads(tl.render(fixed, "json")) == fixed.data()
    added: Any = fixed.data()["repairs"]
    assert [r["add"] for r in added] == [[["i32", "f16"]], [["i64", "f16"]]]


@pytest.mark.parametrize("most", [-1, 10**5_000, 2.5, True], ids=["negative", "huge", "fraction", "truth"])
def test_caps_are_whole_numbers_of_cases(most: int) -> None:
    with pytest.raises(
        PlanError, match="at most, for width, should be a whole number from 0 to 1,000,000,000"
    ):
        design("jep9407-0", at_most={"width": most})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rule": []}, "unknown key 'rule'; did you mean rules"),
        ({"rules": "lattice"}, "rules should be a list, is a string"),
        ({"rules": ["latice"]}, "unknown word 'latice' among the rules; did you mean lattice"),
        ({"costs": ["width", "width"]}, "stands twice"),
        ({"demands": {"lattice": {"avoid": "u8 -> f16"}}}, "a word of ours"),
        ({"demands": {"mine": {}}}, "says nothing"),
        ({"demands": {"mine": {"avoid": "u8"}}}, "stands alone"),
        ({"demands": {"mine": {"avoid": "u8 -> float15"}}}, "unknown dtype 'float15'; did you mean float16"),
        ({"demands": {"mine": {"avoid": "u8 -> f16", "weight": 0}}}, "whole number from 1"),
        ({"demands": {"mine": {"avoids": "u8 -> f16"}}}, "unknown key 'avoids'; did you mean avoid"),
        ({"demands": {"mine": 3}}, "should be a table"),
        ({"demands": {"mine": {"results": {"u8": "f16"}}}}, "names no pairs"),
        ({"demands": {"mine": {"results": {"u8 + f16": "f16", "f16 + u8": "refused"}}}}, "has two results"),
    ],
)
def test_bad_plans_say_what_is_wrong(given: dict[str, object], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        plan(file=given)


# reach


def test_an_order_beyond_reach_is_refused_with_an_estimate() -> None:
    names = [f"d{i}" for i in range(300)]
    order, facts = "; ".join(names), 'kind = "float", max = 1.0, precision = 1, min_exponent = -1'
    wide = parse(
        "\n".join(
            [
                'name = "wide"',
                f'order = "{order}"',
                "[dtypes]",
                *(f"{name} = {{ {facts} }}" for name in names),
            ]
        )
    )
    with pytest.raises(BeyondReachError, match="300 nodes with about 1,012,500,000 constraints"):
        design(wide)
    loose = partial("; ".join(d.code for d in DTYPES.values() if d.bits))
    assert problem(loose, plan(["lattice"])).bounds, "every dtype that we know is within reach"


def test_the_nodes_of_jax_take_seconds() -> None:
    found = design(DESIGNS / "jax-nodes.toml", limit=3)
    assert len(found[0].system.order.nodes) == 35
    assert found.proven
    assert found.costs["deference"] == 0
    assert all(arrow in found[0].arrows for arrow in ("u64 -> f*", "i64 -> f*"))


def test_an_interrupt_leaves_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at the keyboard after every moment, however fast the solver is."""
    monkeypatch.setattr("typelattice.designer.solver.TICK", 0.0)
    calls = []

    def stop(seconds: float, least: tuple[int, ...], best: tuple[int, ...] | None) -> None:
        calls.append(best)
        if best:
            raise KeyboardInterrupt

    loose = partial("; ".join(d.code for d in DTYPES.values() if d.bits and d.bits >= 8 and d.bits <= 64))
    found = design(loose, ["lattice"], ["width", "precision", "relations"], progress=stop)
    assert calls[-1]
    assert not found.proven
    assert len(found) == 1
    assert not split(found[0].system.order)


def test_time_that_is_up_leaves_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typelattice.designer.solver.TICK", 0.0)
    loose = partial("; ".join(d.code for d in DTYPES.values() if d.bits and d.bits >= 8 and d.bits <= 64))
    try:
        found = design(loose, ["lattice"], ["width", "precision", "relations"], seconds=0.0)
    except TimeoutError as e:
        assert "give it more" in str(e)
    else:
        assert not found.proven


def test_a_missing_solver_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "clingo", None)
    with pytest.raises(MissingSolverError, match="pip install"):
        solve((), (), 1)
    assert main(["design", "jep9407-0"]) == 2
    said = "typelattice: the designer needs the solver clingo: pip install clingo\n"
    assert capsys.readouterr().err == said


# the command


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "jep9407-0", "-o", str(tmp_path)]) == 0
    assert "u64 -> f*; i64 -> f*" in capsys.readouterr().out
    assert tl.system(tmp_path / "jep9407-0-complete.toml").result_type("int64", "float16") is tl.dtype(
        "float16"
    )
    assert main(["design", "numpy", "--repair"]) == 0
    assert "add i32 -> f16" in capsys.readouterr().out
    assert main(["design", "jax", "--repair"]) == 0
    assert "nothing to repair" in capsys.readouterr().out
    for wrong in (
        "--rules lattice,kind,overflow",
        "--at-most width",
        "--costs wide",
        "--repair --costs width",
    ):
        assert main(["design", "jep9407-0", *wrong.split()]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_repairs_of_numpy_and_tinygrad() -> None:
    for name in ("numpy", "tinygrad"):
        found = repairs(name, limit=100)
        assert found.proven
        assert split(found.broken.order)
        sizes = {len(r.add) + len(r.drop) for r in found}
        assert len(sizes) == 1
        for r in found:
            assert not split(r.system.order)
            assert r.changed
    conflict = ["precision", "relations"]
    with pytest.raises(ConflictError) as caught:
        repairs("jep9407-0", every=True, rules=conflict)
    assert "lattice" in caught.value.rules


def test_the_page_is_what_the_solver_says() -> None:
    tool = Path(__file__).parents[1] / "tools" / "design_page.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("text", "why"), [
    (b"a." * 90_000 + b"b = 1", "line 1: nested too deep: more than 8 parts of a key"),
    (b"a = " + b"[" * 10_000, "line 1: nested too deep"), (b"\xff", r"not UTF-8 text \(byte 0\)"),
    (b"# " * 100_001, "larger than 200,000 bytes"), (b"rules = ", "line 1: not TOML: "),
])  # fmt: skip
def test_a_hostile_plan_is_refused_at_once(tmp_path: Path, text: bytes, why: str) -> None:
    (tmp_path / "plan.toml").write_bytes(text)
    with pytest.raises(PlanError, match=f"^plan.toml(: |, ){why}"):
        plan(file=tmp_path / "plan.toml")
