"""Plans: rules, costs and demands of one's own, those that conflict, and those that cannot be read."""
from __future__ import annotations

import re
from collections.abc import Collection
from itertools import permutations
from pathlib import Path

import pytest
from small_orders import DESIGNS, KEPT, partial

import typelattice as tl
from typelattice.core.system_files.reader import parse
from typelattice.study.designer import BeyondReachError, ConflictError, PlanError, design, read_plan
from typelattice.study.designer.plan_file import DEMAND_KEYS, PLAN_KEYS
from typelattice.study.designer.solver_facts import build_problem


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
    assert found.is_proven
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


def test_nothing_is_added_within_a_region() -> None:
    """As if a rule forbade each relation between two of its nodes."""
    rules, costs = ["lattice", "component"], ["width", "relations"]
    region = "u8, i8, i16, f16"
    order = partial("i* -> u8, i8 -> i16 -> f32; i* -> f* -> f16 -> f32")
    avoid = "; ".join(f"{a} -> {b}" for a, b in permutations(region.split(", "), 2))
    forbidden = {"rules": [*rules, "apart"], "costs": costs, "demands": {"apart": {"avoid": avoid}}}
    fixed = design(order, plan_file={"rules": rules, "costs": costs, "regions": [region]})
    assert [c.arrows for c in fixed] == [c.arrows for c in design(order, plan_file=forbidden)]
    assert [c.arrows for c in fixed] != [c.arrows for c in design(order, rules, costs)]


def test_a_hundred_nodes_are_within_reach_if_most_are_fixed() -> None:
    names = [f"d{i}" for i in range(100)]
    order = "; ".join(" -> ".join(names[i : i + 10]) for i in range(0, 100, 10))
    facts = "\n".join(f'{name} = {{ kind = "float", bits = 8, values = "unknown" }}' for name in names)
    wide = parse(f'name = "wide"\norder = "{order}"\n[dtypes]\n{facts}\n')
    rules = {"rules": ["single"]}
    with pytest.raises(BeyondReachError, match=r"100 nodes .* fix regions of the order by a plan"):
        build_problem(wide, read_plan(file=rules, dtypes=wide.custom_dtypes))
    few = {**rules, "regions": [", ".join(names[:90])]}
    assert (
        0
        < build_problem(wide, read_plan(file=few, dtypes=wide.custom_dtypes)).addable_count
        <= 2 * 10 * 90 + 90
    )


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


@pytest.mark.parametrize(
    ("heading", "keys"), [("Keys of a plan", PLAN_KEYS), ("Keys of a demand", DEMAND_KEYS)]
)
def test_the_page_on_plans_lists_exactly_what_is_read(heading: str, keys: Collection[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "plans.md").read_text(encoding="utf-8")
    rows = page.partition(f"## {heading}\n")[2].partition("\n#")[0]
    assert re.findall(r"(?m)^\| `(\w+)` \|", rows) == [*keys]


@pytest.mark.parametrize("most", [-1, 10**5_000, 2.5, True], ids=["negative", "huge", "fraction", "truth"])
def test_caps_are_whole_numbers_of_cases(most: int) -> None:
    with pytest.raises(
        PlanError, match="at most, for width, should be a whole number from 0 to 1,000,000,000"
    ):
        design("jep9407-0", at_most={"width": most})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rule": []}, "unknown key 'rule' [(]did you mean rules"),
        ({"regions": ["u8, x9"]}, "region 1: unknown dtype 'x9'"),
        ({"regions": [3]}, "region 1: "),
        ({"rules": "lattice"}, "rules should be a list, is a string"),
        ({"rules": ["latice"]}, "unknown word 'latice' among the rules [(]did you mean lattice"),
        ({"costs": ["width", "width"]}, "stands twice"),
        ({"demands": {"lattice": {"avoid": "u8 -> f16"}}}, "a word of ours"),
        ({"demands": {"mine": {}}}, "says nothing"),
        ({"demands": {"mine": {"avoid": "u8"}}}, "stands alone"),
        ({"demands": {"mine": {"avoid": "u8 -> float15"}}}, "unknown dtype 'float15' [(]did you mean float"),
        ({"demands": {"mine": {"avoid": "u8 -> f16", "weight": 0}}}, "whole number from 1"),
        ({"demands": {"mine": {"avoids": "u8 -> f16"}}}, "unknown key 'avoids' [(]did you mean avoid"),
        ({"demands": {"mine": 3}}, "should be a table"),
        ({"demands": {"mine": {"results": {"u8": "f16"}}}}, "names no pairs"),
        ({"demands": {"mine": {"results": {"u8 + f16": "f16", "f16 + u8": "refused"}}}}, "has two results"),
    ],
)
def test_bad_plans_say_what_is_wrong(given: dict[str, object], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        read_plan(file=given)


@pytest.mark.parametrize(("text", "why"), [
    (b"a." * 90_000 + b"b = 1", "line 1: nested too deep: more than 8 parts of a key"),
    (b"a = " + b"[" * 10_000, "line 1: nested too deep"), (b"\xff", r"not UTF-8 text \(byte 0\)"),
    (b"# " * 100_001, "larger than 200,000 bytes"), (b"rules = ", "line 1: not TOML: "),
])  # fmt: skip
def test_a_hostile_plan_is_refused_at_once(tmp_path: Path, text: bytes, why: str) -> None:
    (tmp_path / "plan.toml").write_bytes(text)
    with pytest.raises(PlanError, match=f"^plan.toml(: |, ){why}"):
        read_plan(file=tmp_path / "plan.toml")
