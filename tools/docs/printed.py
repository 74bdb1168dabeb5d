"""The tables and drawings of five documents, as tools/seeds.py took them out, beside what systems answer."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPE_BY_CODE, DType, Kind, Node, weak_node

SEEDS = Path(__file__).parents[2] / "tests" / "seeds"
GRAPHS = json.loads((SEEDS / "jep9407_graphs.json").read_text())["graphs"]
SCALARS = {"i*": int, "f*": float, "c*": complex}
PYTHON = {"int": int, "float": float, "complex": complex}
LETTERS = {"u": Kind.UNSIGNED, "i": Kind.SIGNED, "f": Kind.FLOAT, "c": Kind.COMPLEX}

Cells = Mapping[tuple[str, str], str]  # (row, column) → what is printed
Covers = Mapping[str, list[str]]


@cache
def table(name: str) -> Cells:
    """The cells of a printed table."""
    lines = (SEEDS / f"{name}.csv").read_text().splitlines()
    (_, *columns), *rows = csv.reader(line for line in lines if not line.startswith("#"))
    return {
        (row, column): cell for row, *cells in rows for column, cell in zip(columns, cells, strict=True)
    }


def in_bytes(code: str) -> DType:
    """The dtype of a code that counts bytes (of a part, if complex), as in the documents of 2019 and 2020."""
    if code in ("b1", "bf"):
        return tl.dtype({"b1": "bool", "bf": "bfloat16"}[code])
    return DTYPE_BY_CODE[f"{code[0]}{int(code[1:]) * (16 if code[0] == 'c' else 8)}"]


def in_bits(code: str) -> object:
    """The operand of a code of JEP 9407, which counts bits."""
    return SCALARS[code] if code in SCALARS else DTYPE_BY_CODE[code]


def cell_in_bytes(p: tl.Promotion) -> str:
    """An answer as the documents of 2019 and 2020 print it."""
    d = p.dtype
    if d is None:
        return "-"
    special = {"bool": "b1", "bfloat16": "bf"}
    return special.get(d.name) or f"{d.code[0]}{(d.bits or 0) // (16 if d.kind is Kind.COMPLEX else 8)}"


def cell_in_bits(p: tl.Promotion) -> str:
    """An answer as JEP 9407 prints it."""
    if p.dtype is None:
        return "-"
    return f"{p.dtype.code[0]}*" if p.weak and p.system.name.startswith("jax") else p.dtype.code


def cell_of_python(p: tl.Promotion) -> str:
    """An answer as one of Python's own types."""
    kinds = {d: kind for kind, d in p.system.defaults.items()}
    return kinds[p.result].python_name


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed table, the system that answers the same questions, and how the document writes both."""

    file: str
    title: str
    system: str
    op: str | None
    read: Callable[[str], object]
    write: Callable[[tl.Promotion], str]
    lacks: str = ""  # a code of which the table says that the library has no such dtype

    @property
    def cells(self) -> Cells:
        """What is printed."""
        return table(self.file)

    def answers(self) -> dict[tuple[str, str], str]:
        """What the system answers, as the document would print it."""
        system = tl.system(self.system)
        return {
            (a, b): "-"
            if self.lacks in (a, b)
            else self.write(system.explain(self.read(a), self.read(b), op=self.op))
            for a, b in self.cells
        }

    def differing(self) -> dict[tuple[str, str], tuple[str, str]]:
        """The cells that differ: (what is printed, what the system answers)."""
        found = self.answers()
        return {pair: (cell, found[pair]) for pair, cell in self.cells.items() if found[pair] != cell}


def _jep(name: str, title: str, system: str, lacks: str = "") -> Printed:
    return Printed(f"jep9407_{name}", title, system, "add", in_bits, cell_in_bits, lacks)


def _of_2020(name: str, title: str) -> Printed:
    return Printed(f"array_api_2020_{name}", title, "array-api-2020", None, in_bytes, cell_in_bytes)


JEP_PYTHON = Printed(
    "jep9407_python", "Python's numbers", "python", "add", PYTHON.__getitem__, cell_of_python
)
JEP_TABLES = (
    _jep("numpy", "NumPy", "numpy", "bf16"),
    _jep("tensorflow", "TensorFlow", "tensorflow"),
    _jep("torch", "PyTorch of 2021", "torch-2021"),
    _jep("jax", "JAX, jax.numpy", "jax"),
    _jep("jax_lax", "JAX, jax.lax", "jax-lax"),
)
JAX_2019 = Printed("jax_2019", "JAX of 2019", "jax-2019", None, in_bytes, cell_in_bytes)
ARRAY_API_2020 = (
    _of_2020("f", "Floats"),
    _of_2020("u", "Unsigned integers"),
    _of_2020("i", "Signed integers"),
    _of_2020("mixed", "Signed with unsigned integers"),
)
MAX_2024 = Printed("max_2024", "MAX of 2024", "max-2024", None, str, lambda p: str(p.dtype))


def highlighted() -> Iterator[tuple[tuple[str, str], bool, bool]]:
    """Each cell that JAX's document of 2019 may highlight: whether it does, and whether NumPy differs."""
    jax, numpy = tl.system("jax-2019"), tl.system("numpy")
    for (a, b), mark in table("jax_2019_highlighted").items():
        x, y = in_bytes(a), in_bytes(b)
        differs = "bf" in (a, b) or jax.result_type(x, y) is not numpy.result_type(x, y)
        yield (a, b), mark == "1", differs


def drawing(section: str, index: int = -1) -> Covers:
    """A graph that the JEP draws in a section, by default the last."""
    drawn: list[Covers] = [g["covers"] for g in GRAPHS if g["section"] == section]
    return drawn[index]


def node(code: str) -> Node:
    """The node of a code in a drawing of the JEP."""
    return weak_node(LETTERS[code[0]]) if code in ("u*", "i*", "f*", "c*") else DTYPE_BY_CODE[code]


def order(covers: Covers) -> tl.Order[Node]:
    """A drawing of the JEP as an order of dtypes."""
    return tl.Order({node(a): [node(b) for b in bs] for a, bs in covers.items()})


def joins_every_pair(covers: Covers) -> bool:
    """Whether every two nodes of a drawing have a join."""
    drawn = tl.Order(covers)
    return all(drawn.join(a, b) is not None for a, b in product(drawn.nodes, repeat=2))
