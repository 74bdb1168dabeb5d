"""Writes the tables of docs/laws.md, each between `<!-- NAME -->` and `<!-- end -->`."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from generated import write_pages

import typelattice as tl
from typelattice.base.rendering import Grid
from typelattice.core.explanations.expression_terms import term_text
from typelattice.study.laws.jep9407_criteria import CRITERIA
from typelattice.study.laws.laws import STATEMENT_BY_LAW
from typelattice.study.laws.laws_overview import HEADING_BY_LAW, laws_overview

PAGE = Path(__file__).parents[1] / "docs" / "laws.md"
DOCUMENT = "jep9407-3-bf16"  # whose dtypes are those of JEP 9407


def legend() -> str:
    """What the heads of the tables stand for."""
    laws = [f"| {HEADING_BY_LAW[law]} | {law}: {about} |" for law, about in STATEMENT_BY_LAW.items()]
    criteria = [f"| {c.column_heading} | {c.number}: {c.description} |" for c in CRITERIA.values()]
    return "\n".join(
        ["| head | law |", "|---|---|", *laws, "", "| head | criterion |", "|---|---|", *criteria]
    )


def compared(dtypes: Iterable[object] | None) -> str:
    """All systems, without the notes, which the legend holds."""
    grid = laws_overview(dtypes=dtypes)
    kept = [i for i, row in enumerate(grid.cells) if row[0].text != "-"]
    bare = Grid(
        "", grid.columns, tuple(grid.rows[i] for i in kept), tuple(grid.cells[i] for i in kept), (), "system"
    )
    return tl.render(bare, "markdown")


def broken() -> str:
    """The smallest counterexamples of all systems that break one of the first seven laws."""
    rows = []
    for name in tl.systems():
        for law, v in [*tl.laws(name).items()][:7]:
            if c := v.counterexample:
                answers = " or ".join(str(d or "refused") for d, _ in c.answers)
                terms = " or ".join(f"`{term_text(t)}`" for t in c.terms)
                gives = f"{answers}{f'; {c.note}' if c.note else ''}"
                rows.append(f"| {name} | {law} | {v.failing_count} of {v.case_count} | {terms} | {gives} |")
    return "\n".join(["| system | breaks | cases | smallest | gives |", "|---|---|---|---|---|", *rows])


TABLES: dict[str, Callable[[], str]] = {
    "legend": legend,
    "all": partial(compared, None),
    "document": lambda: compared(tl.system(DOCUMENT).dtypes),
    "options": lambda: tl.render(options(), "markdown"),
    "broken": broken,
}


def options() -> Grid:
    """The options of JEP 9407, JAX and NumPy, of arrays and Python scalars together."""
    names = [*(s for s in tl.systems() if s.startswith("jep9407")), "jax", "numpy"]
    grid = laws_overview(names, "all", tl.system(DOCUMENT).dtypes)
    return Grid("", grid.columns, grid.rows, grid.cells, (), "system")


def filled_in(text: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """Return the text of a page with new tables between its marks."""
    return re.sub(
        r"(?s)(<!-- (\w+) -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}\n{tables[m[2]]()}\n\n{m[3]}", text
    )


if __name__ == "__main__":
    write_pages({PAGE: filled_in(PAGE.read_text(encoding="utf-8"), TABLES)})
