"""Whether the order of operands counts: as sets are joined, and as the libraries were recorded."""
from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import pytest
from jep9407 import DOCUMENT
from samples import one_in

import typelattice as tl
from typelattice.core.explanations.expression_terms import result_of_term
from typelattice.study.laws import laws
from typelattice.study.laws.closure import answer_key, compute_closure
from typelattice.study.laws.law_equations import EquationChecker, first_swapped
from typelattice.study.laws.multi_operand_recordings import MultiOperandCalls, find_evidence
from typelattice.study.tables.study_scope import list_operands

np = pytest.importorskip("numpy")
FOLDS = ("mlx", "polars", "torch-2021", "triton")


def test_joins_of_sets_are_order_free_though_pairs_are_not_associative() -> None:
    numpy, mlx = tl.laws("numpy"), tl.laws("mlx")
    assert (numpy["associative"].holds, numpy["order-free"].holds) == (False, True)
    assert not mlx["order-free"]
    shown = mlx["order-free"].counterexample
    assert shown is not None
    assert re.fullmatch(r"(.+) \+ (.+) \+ (.+)", shown.expressions[0])


@pytest.mark.parametrize("name", ["numpy", "dask", "jep9407-2", *FOLDS])
def test_three_at_once_are_asked_as_explain_answers(name: str) -> None:
    """What is taken from the mode, or from pairs, is what the whole gives."""
    system = tl.system(name)
    over = compute_closure(system, list_operands(system, dtypes=DOCUMENT))
    judge = EquationChecker(over)
    free = True
    for x in product(over.start_numbers, repeat=3):
        found = result_of_term(system, over.operands(*x))
        assert judge.answers_of_sides(first_swapped, x)[0] == answer_key(system, found)
        free &= all(result_of_term(system, over.operands(*y)) == found for y in permutations(x))
    assert free == tl.laws(name, dtypes=DOCUMENT)["order-free"].holds


def test_order_free_is_not_known_where_the_library_departs_from_the_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And was asked of each set in one order alone."""
    recorded = laws.find_evidence

    def in_one_order(*given: Any) -> MultiOperandCalls:
        found = recorded(*given)
        twice = [call for pair in found.contradictions for call in pair if call not in found.departing_calls]
        return replace(found, calls=tuple(call for call in found.calls if call not in twice))

    monkeypatch.setattr(laws, "find_evidence", in_one_order)
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


@pytest.mark.parametrize("name", one_in(3, tl.systems(), 1))
def test_no_recorded_calls_differ_by_their_order_alone_if_the_law_holds(name: str) -> None:
    found = tl.laws(name)
    recorded_calls = find_evidence(tl.system(name), found.operands)
    if found["order-free"]:
        assert not recorded_calls.contradictions
        assert not recorded_calls.departing_calls
