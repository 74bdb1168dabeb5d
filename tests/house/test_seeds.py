"""The systems against the tables and drawings of their documents, which tools/seeds.py extracts."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.core.dtypes.dtypes import Kind, WeakNode, weak_node

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs"))
from claims import COUNTED, DOCUMENTS, HOLDS, NO_LONGER, NOT, claims, words
from figures import compared, figures
from printed import (
    ARRAY_API_2020,
    GRAPHS,
    JAX_2019,
    JEP_PYTHON,
    JEP_TABLES,
    MAX_2024,
    Printed,
    drawing,
    highlighted,
    in_bytes,
    joins_every_pair,
    order,
)

AS_PRINTED = (JEP_PYTHON, *JEP_TABLES, JAX_2019, *ARRAY_API_2020)


@pytest.mark.parametrize("printed", AS_PRINTED, ids=lambda t: t.file)
def test_printed_table_is_the_systems(printed: Printed) -> None:
    assert printed.differing() == {}


def test_printed_tables_are_whole() -> None:
    assert [len(t.cells) for t in (*JEP_TABLES, JAX_2019, MAX_2024)] == [*[18 * 18] * 5, 15 * 15, 16 * 16]


def test_highlighted_cells_of_2019_are_those_that_differ_from_numpy() -> None:
    assert [pair for pair, marked, differs in highlighted() if marked != differs] == []


def test_array_api_proposal_of_2020() -> None:
    cells = {pair: c for part in ARRAY_API_2020 for pair, c in part.cells.items()}
    cells |= {(b, a): c for (a, b), c in cells.items()}
    # int64 with an unsigned type stands in no table, and follows from those that do
    assert not {("i8", u) for u in ("u1", "u2", "u4")} & set(cells)
    cells |= {pair: "i8" for u in ("u1", "u2", "u4") for pair in ((u, "i8"), ("i8", u))}
    system = tl.system("array-api-2020")
    names = {a for a, _ in cells}
    found = {pair: system.explain(*map(in_bytes, pair)).dtype for pair in product(names, repeat=2)}
    assert found == {pair: in_bytes(cells[pair]) if pair in cells else None for pair in found}


def test_max_of_2024_but_for_four_cells() -> None:
    """The table contradicts its transposed cell and its text: "we never promote other types to them"."""
    misprints = MAX_2024.differing()
    assert misprints == {
        ("bool", "index"): ("int64", "uint64"),
        ("bool", "address"): ("int64", "uint64"),
        ("int8", "index"): ("index", "float16"),
        ("int8", "address"): ("address", "float16"),
    }
    found = MAX_2024.answers()
    assert all(MAX_2024.cells[b, a] == found[a, b] for a, b in misprints)


JEP_DRAWINGS = {
    "jep9407-0": drawing("Mixed Promotion: Signed & Unsigned Integers"),
    "jep9407-1": drawing("Option 1: Avoiding All Precision Loss"),
    "jep9407-2": drawing("Option 2: Avoid most wider-than-necessary promotions"),
    "jep9407-3": drawing("Option 3: Avoid all wider-than-necessary promotions", 0),
    "jep9407-3-bf16": drawing("Option 3: Avoid all wider-than-necessary promotions", 1),
}


@pytest.mark.parametrize("name", JEP_DRAWINGS)
def test_options_of_jep_9407_are_as_drawn(name: str) -> None:
    ours = tl.system(name).order
    drawn = order(JEP_DRAWINGS[name])
    assert set(ours.nodes) == set(drawn.nodes)
    assert {n: set(ours.covers(n)) for n in ours.nodes} == {n: set(drawn.covers(n)) for n in drawn.nodes}


def test_jax_is_as_drawn() -> None:
    """On the nodes of the drawing: it leaves out bool and all below 8 bits."""
    ours, drawn = tl.system("jax").order, order(drawing("Type Promotion in JAX"))
    left_out = [n for n in ours.nodes if n not in drawn]
    assert all(not isinstance(n, WeakNode) and (n.bits is None or n.bits <= 8) for n in left_out)
    assert all(ours.le(a, b) == drawn.le(a, b) for a, b in product(drawn.nodes, repeat=2))


def test_python_is_as_drawn() -> None:
    drawn = drawing("Stepping Back: Tables and Lattices", 0)
    names = {
        weak_node(Kind.SIGNED): "int",
        weak_node(Kind.FLOAT): "float",
        weak_node(Kind.COMPLEX): "complex",
    }
    ours = tl.system("python").order
    assert {names[n]: [names[m] for m in ours.covers(n)] for n in ours.nodes if ours.covers(n)} == drawn


def test_no_drawing_has_a_cycle_or_an_implied_cover() -> None:
    orders = [tl.Order(graph["covers"]) for graph in GRAPHS]  # which refuses both
    assert len(orders) > 5 and all(order.nodes for order in orders)


def test_graphs_that_the_jep_calls_no_lattices() -> None:
    fork, crossed = (tl.Order(drawing("Stepping Back: Tables and Lattices", i)) for i in (1, 2))
    assert fork.join("B", "C") is None
    assert fork.minimal_bounds("B", "C") == ()
    assert crossed.minimal_bounds("A", "B") == ("C", "D")
    assert crossed.minimal_bounds("C", "D") == ()
    numpy_like = tl.Order(drawing("Mixed Promotion: Integer and Floating"))
    assert set(numpy_like.minimal_bounds("i8", "u8")) == {"i16", "f16"}


def test_jax_is_the_only_complete_lattice_among_the_drawings() -> None:
    complete = [g["section"] for g in GRAPHS if joins_every_pair(g["covers"])]
    assert [s for s in complete if s != "Stepping Back: Tables and Lattices"] == [
        "Enter Python Scalars",
        "Type Promotion in JAX",
    ]


def test_every_drawing_is_made_again_but_for_numpys_arrows_to_float64() -> None:
    """NumPy's int64 and uint64 become float64, which the drawing leaves out; so int32 and uint32 do."""
    made = [compared(g["covers"], ours) for g, (_, ours) in zip(GRAPHS, figures(), strict=True)]
    other = [told for told in made if not told.endswith("arrows are as drawn.")]
    assert other == [
        "Of 26 arrows drawn, 24 are the same; it has besides `i64 -> f64`, `u64 -> f64`; "
        "it has not `i32 -> f64`, `u32 -> f64`."
    ]


CLAIMS = {f"{document}: {claim.__name__}": claim for document in DOCUMENTS for claim in claims(document)}
OTHERWISE = {  # the claims that do not hold
    "jep9407: jax_has_eighteen_types": NO_LONGER,
    "jep9407: two_scalars_promote_as_arrays": NO_LONGER,
    "jep9407: a_large_value_widens": NO_LONGER,
    "jep9407_options: bfloat16_breaks_option_1": NOT,
    "jep9407_options: bfloat16_breaks_option_2": NOT,
    "jep9407_options: option_3_with_bfloat16_never_makes_float32": NOT,
    "jep9407_options: option_3_resembles_torch": COUNTED,
    "jep9407_options: option_3_resembles_old_jax": COUNTED,
    "jep9407_libraries: jax_loses_no_magnitude": NOT,
    "jep9407_libraries: torch_has_one_unsigned": NO_LONGER,
    "jax_2019: floats_are_torchs": COUNTED,
    "jax_2019: the_codes_are_explained": NOT,
    "jax_docs: a_python_int_keeps_int16": NO_LONGER,
    "jax_docs: mixed_sums_depend_on_parentheses": NO_LONGER,
    "array_api_2020: numpy_follows_kinds": NOT,
    "array_api_2020: cupy_follows_numpy": NO_LONGER,
    "array_api_2020: int64_with_uint64": NO_LONGER,
    "array_api_2020: every_library_supports_it": NOT,
    "max_2024: promotion_is_the_join": NOT,
    "max_2024: nothing_promotes_to_index": NOT,
    "max_2024: it_borrows_from_jax": COUNTED,
}


@pytest.mark.parametrize("name", CLAIMS)
def test_verdict_on_a_claim_of_a_document(name: str) -> None:
    verdict, found = CLAIMS[name]()
    assert verdict == OTHERWISE.get(name, HOLDS), found
    assert found
    assert words(CLAIMS[name]).endswith(".")


def test_every_exception_is_a_claim() -> None:
    assert set(OTHERWISE) <= set(CLAIMS)
