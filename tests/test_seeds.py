"""The systems against the tables and drawings of their documents, which tools/seeds.py extracts."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.facts.dtypes import CODES, DType, Kind, Node, Weak, weak

SEEDS = Path(__file__).with_name("seeds")
GRAPHS = json.loads((SEEDS / "jep9407_graphs.json").read_text())["graphs"]
SCALARS = {"i*": int, "f*": float, "c*": complex}
LETTERS = {"u": Kind.UNSIGNED, "i": Kind.SIGNED, "f": Kind.FLOAT, "c": Kind.COMPLEX}


def table(name: str) -> dict[tuple[str, str], str]:
    """The cells of a seed table: (row, column) → what it prints."""
    lines = (SEEDS / f"{name}.csv").read_text().splitlines()
    (_, *columns), *rows = csv.reader(line for line in lines if not line.startswith("#"))
    return {(row, column): cell for row, *cells in rows for column, cell in zip(columns, cells, strict=True)}


def in_bytes(code: str) -> DType:
    """The dtype of a code that counts bytes (of a part, if complex), as in the documents of 2019 and 2020."""
    if code in ("b1", "bf"):
        return tl.dtype({"b1": "bool", "bf": "bfloat16"}[code])
    return CODES[f"{code[0]}{int(code[1:]) * (16 if code[0] == 'c' else 8)}"]


def in_bits(code: str) -> object:
    return SCALARS[code] if code in SCALARS else CODES[code]


def answer(p: tl.Promotion) -> str:
    """A cell as JEP 9407 prints it."""
    if p.dtype is None:
        return "-"
    return f"{p.dtype.code[0]}*" if p.weak and p.system.name.startswith("jax") else p.dtype.code


@pytest.mark.parametrize("name", ["numpy", "tensorflow", "torch-2021", "jax", "jax-lax"])
def test_appendix_of_jep_9407(name: str) -> None:
    cells = table(f"jep9407_{name.removesuffix('-2021').replace('-', '_')}")
    assert len(cells) == 18 * 18
    system = tl.system(name)
    found = {}
    for a, b in cells:
        without = name == "numpy" and "bf16" in (a, b)  # NumPy has no bfloat16
        found[a, b] = "-" if without else answer(system.explain(in_bits(a), in_bits(b), op="add"))
    assert found == cells


def test_python_of_jep_9407() -> None:
    cells = table("jep9407_python")
    kinds = {"int": int, "float": float, "complex": complex}
    python = tl.system("python")
    found = {(a, b): python.promote(kinds[a], kinds[b], op="add").dtype for a, b in cells}
    assert found == {pair: python.result_type(kinds[cell]) for pair, cell in cells.items()}


def test_jax_of_2019() -> None:
    cells = table("jax_2019")
    assert len(cells) == 15 * 15
    system = tl.system("jax-2019")
    assert {pair: system.result_type(*map(in_bytes, pair)) for pair in cells} == {
        pair: in_bytes(c) for pair, c in cells.items()
    }


def test_highlighted_cells_of_2019_are_those_that_differ_from_numpy() -> None:
    jax, numpy = tl.system("jax-2019"), tl.system("numpy")
    for (a, b), mark in table("jax_2019_highlighted").items():
        x, y = in_bytes(a), in_bytes(b)
        differs = "bf" in (a, b) or jax.result_type(x, y) is not numpy.result_type(x, y)
        assert differs == (mark == "1"), (a, b)


def test_array_api_proposal_of_2020() -> None:
    cells = {
        pair: c for part in ("f", "u", "i", "mixed") for pair, c in table(f"array_api_2020_{part}").items()
    }
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
    printed = table("max_2024")
    assert len(printed) == 16 * 16
    system = tl.system("max-2024")
    found = {(a, b): str(system.explain(a, b).dtype) for a, b in printed}
    misprints = {pair: (cell, found[pair]) for pair, cell in printed.items() if found[pair] != cell}
    assert misprints == {
        ("bool", "index"): ("int64", "uint64"),
        ("bool", "address"): ("int64", "uint64"),
        ("int8", "index"): ("index", "float16"),
        ("int8", "address"): ("address", "float16"),
    }
    assert all(printed[b, a] == found[a, b] for a, b in misprints)


def drawing(section: str, index: int = -1) -> dict[str, list[str]]:
    """A graph that the JEP draws in a section, by default the last."""
    return [g["covers"] for g in GRAPHS if g["section"] == section][index]


def node(code: str) -> Node:
    return weak(LETTERS[code[0]]) if code in ("u*", "i*", "f*", "c*") else CODES[code]


JEP_DRAWINGS = {
    "jep9407-0": drawing("Mixed Promotion: Signed & Unsigned Integers"),
    "jep9407-1": drawing("Option 1: Avoiding All Precision Loss"),
    "jep9407-2": drawing("Option 2: Avoid most wider-than-necessary promotions"),
    "jep9407-3": drawing("Option 3: Avoid all wider-than-necessary promotions", 0),
    "jep9407-3-bf16": drawing("Option 3: Avoid all wider-than-necessary promotions", 1),
}


@pytest.mark.parametrize("name", JEP_DRAWINGS)
def test_options_of_jep_9407_are_as_drawn(name: str) -> None:
    order = tl.system(name).order
    drawn = tl.Order({node(a): [node(b) for b in bs] for a, bs in JEP_DRAWINGS[name].items()})
    assert set(order.nodes) == set(drawn.nodes)
    assert {n: set(order.covers(n)) for n in order.nodes} == {n: set(drawn.covers(n)) for n in drawn.nodes}


def test_jax_is_as_drawn() -> None:
    """On the nodes of the drawing: it leaves out bool and all below 8 bits."""
    order = tl.system("jax").order
    drawn = tl.Order({node(a): [node(b) for b in bs] for a, bs in drawing("Type Promotion in JAX").items()})
    left_out = [n for n in order.nodes if n not in drawn]
    assert all(not isinstance(n, Weak) and (n.bits is None or n.bits <= 8) for n in left_out)
    assert all(order.le(a, b) == drawn.le(a, b) for a, b in product(drawn.nodes, repeat=2))


def test_python_is_as_drawn() -> None:
    drawn = drawing("Stepping Back: Tables and Lattices", 0)
    words = {weak(Kind.SIGNED): "int", weak(Kind.FLOAT): "float", weak(Kind.COMPLEX): "complex"}
    order = tl.system("python").order
    assert {words[n]: [words[m] for m in order.covers(n)] for n in order.nodes if order.covers(n)} == drawn


def test_no_drawing_has_a_cycle_or_an_implied_cover() -> None:
    for graph in GRAPHS:
        tl.Order(graph["covers"])


def test_graphs_that_the_jep_calls_no_lattices() -> None:
    fork, crossed = (tl.Order(drawing("Stepping Back: Tables and Lattices", i)) for i in (1, 2))
    assert fork.join("B", "C") is None
    assert fork.minimal_bounds("B", "C") == ()
    assert crossed.minimal_bounds("A", "B") == ("C", "D")
    assert crossed.minimal_bounds("C", "D") == ()
    numpy_like = tl.Order(drawing("Mixed Promotion: Integer and Floating"))
    assert set(numpy_like.minimal_bounds("i8", "u8")) == {"i16", "f16"}


def test_jax_is_the_only_complete_lattice_among_the_drawings() -> None:
    def every_pair_has_a_join(covers: dict[str, list[str]]) -> bool:
        order = tl.Order(covers)
        return all(order.join(a, b) is not None for a, b in product(order.nodes, repeat=2))

    complete = [g["section"] for g in GRAPHS if every_pair_has_a_join(g["covers"])]
    assert [s for s in complete if s != "Stepping Back: Tables and Lattices"] == [
        "Enter Python Scalars",
        "Type Promotion in JAX",
    ]
