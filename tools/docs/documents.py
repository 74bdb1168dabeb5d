"""The page of the documents: five documents on promotion, their drawings and tables made again from systems.

Every claim in them that can be computed is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from claims import COUNTED, HOLDS, JEP, NO_LONGER, NOT, Claim, alike, claims, some, words
from figures import section
from gallery import plain, table
from printed import (
    ARRAY_API_2020,
    JAX_2019,
    JEP_PYTHON,
    JEP_TABLES,
    MAX_2024,
    Printed,
    highlighted,
)

import typelattice as tl
from typelattice.base.rendering.grid import Cell, Grid
from typelattice.core.dtypes.dtypes import DType

HEAD = """# Five documents, computed

Five documents tell how promotion came to be what it is: what libraries did, what was proposed, and why.
Their drawings and tables are made again here, from the systems that typelattice has for them, and compared
cell by cell with what is printed. What they claim in words is named in words of our own, and computed where
it can be. A claim *holds*, *does not hold*, or held and does *no longer*; a matter of degree is *counted*.
"""
MARKS = {HOLDS: "✓ holds", NOT: "✗ does not hold", NO_LONGER: "◷ no longer", COUNTED: "∑ counted"}


@dataclass(frozen=True, slots=True)
class Document:
    """A document: what it is called, where it stands, the modules of its claims, its tables, its drawings."""

    title: str
    source: str
    about: str
    modules: tuple[str, ...]
    tables: tuple[Printed, ...] = ()
    since: tuple[str, str] | None = None  # the system of then, and that of today
    figures: Callable[[], Iterator[str]] = lambda: iter(())


def pages() -> Iterator[tuple[str, str]]:
    """The one page."""
    yield (
        "documents.md",
        "\n\n".join((HEAD, _summary(), *(part for d in DOCUMENTS for part in _parts(d)))) + "\n",
    )


def _summary() -> str:
    """How many claims of each document came out how."""
    rows = []
    for d in DOCUMENTS:
        found = [claim()[0] for module in d.modules for claim in claims(module)]
        cells = sum(len(t.cells) for t in d.tables)
        other = sum(len(t.differing()) for t in d.tables)
        counts = " | ".join(str(found.count(verdict)) for verdict in MARKS)
        rows.append(f"| [{d.title}](#{_slug(d.title)}) | {cells} | {other} | {counts} |")
    head = f"| document | cells printed | of these differ | {' | '.join(MARKS.values())} |"
    return "\n".join([head, "|---|---|---|" + "---|" * len(MARKS), *rows])


def _slug(title: str) -> str:
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-")


def _parts(d: Document) -> Iterator[str]:
    """The sections of a document: its drawings, its tables, its claims."""
    yield f"## {d.title}"
    yield f"{d.about} Source: <{d.source}>"
    yield from d.figures()
    for printed in d.tables:
        yield from _table(printed)
    yield from _since(*d.since) if d.since else ()
    yield f"### What {d.title} claims"
    rows = [_row(claim) for module in d.modules for claim in claims(module)]
    yield "\n".join(["| claim | | computed |", "|---|---|---|", *rows])


def _since(then: str, today: str) -> Iterator[str]:
    """How much of a table has changed."""
    same, asked, differing = alike(then, today)
    yield (
        f"**Since then**: of {asked} pairs of arrays that [{then}](gallery/{then}.md) and "
        f"[{today}](gallery/{today}.md) both have, {same} come out alike; others: {plain(some(differing))}."
    )


def _row(claim: Claim) -> str:
    verdict, found = claim()
    return f"| {plain(words(claim))} | {MARKS[verdict]} | {plain(found)} |"


def _table(t: Printed) -> Iterator[str]:
    """A table as our system has it, the cells that differ from what is printed marked, and told below."""
    differing = t.differing()
    yield f"### {t.title}: the table"
    rows, columns = (list(dict.fromkeys(pair[i] for pair in t.cells)) for i in (0, 1))
    answers = t.answers()
    cells = tuple(tuple(_cell(t, row, column, answers[row, column]) for column in columns) for row in rows)
    of = f"{len(t.cells)} cells of [{t.system}](gallery/{t.system}.md)"
    yield table(Grid("", tuple(map(Cell, columns)), tuple(map(Cell, rows)), cells), t.title)
    if not differing:
        yield f"All {of} are as printed."
        return
    told = (f"{a} + {b} is printed as {was}, and is {now}" for (a, b), (was, now) in differing.items())
    yield f"Of {of}, {len(differing)} are not as printed: {plain('; '.join(told))}."


def _cell(t: Printed, row: str, column: str, text: str) -> Cell:
    """A cell with the kind of its dtype, and with what is printed if that is something else."""
    if t.cells[row, column] != text:
        return Cell(text, ("differs",), f"printed: {t.cells[row, column]}")
    if text == "-":
        return Cell(text, ("refused",))
    x = t.read(text)
    kind = x.kind if isinstance(x, DType) else tl.operand(x).kind
    return Cell(text, (kind.value, *(["weak"] if text.endswith("*") else [])))


def _highlighted() -> Iterator[str]:
    """The highlighted cells of JAX's document of 2019."""
    cells = list(highlighted())
    wrong = [f"{a} + {b}" for (a, b), marked, differs in cells if marked != differs]
    yield (
        f"Of its {len(cells)} cells {sum(marked for _, marked, _ in cells)} are highlighted, where JAX "
        f"differs from NumPy; cells for which that is wrong: {some(wrong)}."
    )


JEP_9407 = "https://docs.jax.dev/en/latest/jep/9407-type-promotion.html"
DOCUMENTS = (
    Document(
        "JEP 9407",
        JEP_9407,
        "Design of Type Promotion Semantics for JAX, 2021: from tables to a lattice, by way of four options.",
        JEP,
        (JEP_PYTHON, *JEP_TABLES),
        ("torch-2021", "torch"),
        section,
    ),
    Document(
        "JAX, 2019",
        "https://github.com/jax-ml/jax/pull/1815",
        "The first page on promotion in JAX's documentation: a table, and where it differs from NumPy's.",
        ("jax_2019",),
        (JAX_2019,),
        ("jax-2019", "jax"),
        _highlighted,
    ),
    Document(
        "JAX, with the lattice",
        "https://docs.jax.dev/en/latest/type_promotion.html",
        "The page that took its place: the lattice of the JEP, and Python scalars.",
        ("jax_docs",),
    ),
    Document(
        "Array API, 2020",
        "https://github.com/data-apis/array-api/issues/14",
        "The proposal of the promotions that every library should support, and of those that stay undefined.",
        ("array_api_2020",),
        ARRAY_API_2020,
        ("array-api-2020", "array-api"),
    ),
    Document(
        "MAX, 2024",
        "https://docs.modular.com/max/api/mojo/graph/type_promotion",
        "Promotion in graphs of Modular MAX: a table, and a few types of its own.",
        ("max_2024",),
        (MAX_2024,),
        ("max-2024", "max"),
    ),
)
