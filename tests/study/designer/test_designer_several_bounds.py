"""The rule that no pair has several lowest bounds: named, dropped, priced, or met by a tie."""
from __future__ import annotations

from itertools import combinations

import pytest

import typelattice as tl
from typelattice.core.system_files.reader import parse
from typelattice.study.designer import ConflictError, design

TEXT = """
name = "fp8"
order = "b -> i* -> f* -> bf16, f16 -> f32; f8_e4m3fn, f8_e5m2 -> bf16, f16"
"""
TIE = 'ties = { "bf16, f16" = "f16" }\n'
RULES = ["component", "subset", "weak"]


def several(order: tl.Order) -> list[tuple[object, ...]]:
    """The pairs of an order that have bounds and no join."""
    return [
        (a, b) for a, b in combinations(order.nodes, 2) if order.minimal_bounds(a, b) and not order.join(a, b)
    ]


def test_the_rule_is_named_where_it_is_in_the_way() -> None:
    with pytest.raises(ConflictError, match="keeps single with subset with weak") as caught:
        design(parse(TEXT), RULES, ["relations"])
    assert caught.value.rules == ("single", "subset", "weak")
    for left_out in caught.value.rules:
        kept = [rule for rule in ("subset", "weak") if rule != left_out]
        assert design(parse(TEXT), kept + ["-single"] * (left_out == "single"), [])


def test_dropped_it_leaves_pairs_with_several_bounds_and_every_join_is_the_least_bound() -> None:
    found = design(parse(TEXT), [*RULES, "-single"], ["relations"])
    assert found.costs == {"relations": 0}
    assert found[0].counts["single"] == len(several(found[0].system.order)) == 7
    assert [d.name for d in found.plan.rules] == RULES


def test_as_a_cost_it_counts_those_pairs() -> None:
    found = design(parse(TEXT), RULES, ["single", "relations"])
    assert found.is_proven
    assert found.costs["single"] == len(several(found[0].system.order)) == 1


def test_a_tie_meets_it_and_stays_in_the_file() -> None:
    found = design(parse(TEXT + TIE), RULES, ["relations"])
    assert found.costs == {"relations": 0}
    assert found[0].counts["single"] == 0
    assert TIE.strip() in found[0].text
    assert str(found[0].system.result_type("float8_e4m3fn", "float8_e5m2")) == "float16"
    with pytest.raises(ConflictError):
        design(parse(TEXT + TIE), ["lattice", *RULES], ["relations"])


def test_without_the_rule_no_join_is_left_out_to_lower_a_cost() -> None:
    """int8 and uint8 join at int16 whatever that costs: the solver may not call the pair unjoined."""
    system = parse('name = "x"\norder = "i8, u8 -> i16 -> f16"')
    found = design(system, ["-single"], ["width"])
    assert found[0].counts["width"] == found.costs["width"]
