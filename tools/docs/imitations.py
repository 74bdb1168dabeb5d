"""Pages and data of implementations that imitate a library: docs/imitations, class by class.

The index has the newest release of each. The page of an implementation has all its releases, and the program
that shows each cause of differences.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from answers import html_page
from matrix import chip, chips, heading, matrix, share

from typelattice.conformance.imitations.implementation_differences import (
    ACCEPTS_REFUSED,
    AGREES_WORD,
    ARRAY_OR_SCALAR,
    BREAKS_DOWN,
    OTHER_DTYPE,
    OTHER_VALUE,
    REFUSES_ACCEPTED,
    VAGUE_ANSWER,
)
from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS
from typelattice.core.operations.operations import OPERATIONS

FOLDER = "imitations"
FILES = Path(__file__).parents[2] / "docs" / "imitations"
SORTS = {
    AGREES_WORD: ("right", "agree"),
    OTHER_DTYPE: ("departs", "differ"),
    REFUSES_ACCEPTED: ("refused", "refuse"),
    ACCEPTS_REFUSED: ("departs", "accept"),
    ARRAY_OR_SCALAR: ("departs", "are no array, or no scalar"),
    OTHER_VALUE: ("departs", "have another value"),
    BREAKS_DOWN: ("unasked", "crash"),
    VAGUE_ANSWER: ("unasked", "are vague"),
}
"""The colour of each sort of answer, and its words after a number of calls."""
Data = Mapping[str, Any]


def comparisons(folder: Path = FILES) -> list[Data]:
    """Read all comparisons, each with its date; an implementation's stand together, the newest first."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    newest_first = sorted(files, key=itemgetter("date"), reverse=True)
    found = [{**row, "date": file["date"]} for file in newest_first for row in reversed(file["comparisons"])]
    return sorted(found, key=itemgetter("implementation"))


def write(html: Path, folder: Path = FILES) -> int:
    """Write the pages and the data into the folder of a site; the number of pages."""
    into = html / FOLDER
    into.mkdir(parents=True, exist_ok=True)
    newest = []
    for name, rows in groupby(comparisons(folder), key=itemgetter("implementation")):
        releases = [*rows]
        newest.append(releases[0])
        (into / f"{name}.html").write_text(implementation_page(name, releases), encoding="utf-8")
    files = sorted((path.name for path in folder.glob("*.json")), reverse=True)
    for file in files:
        shutil.copyfile(folder / file, into / file)
    (into / "index.html").write_text(index(newest, files), encoding="utf-8")
    return len(newest) + 1


def index(newest: Sequence[Data], files: Sequence[str]) -> str:
    """The page of all implementations: how many calls of each class agree, in the newest release."""
    columns = [
        (
            heading(f'<a href="{row["implementation"]}.html">{row["implementation"]}</a>', row["versions"],
                    f"with {row['with']}", row["date"]),
            {of_class: _cell(row, of_class) for of_class in _classes(newest)},
        )
        for row in newest
    ]  # fmt: skip
    compared = sum(row["compared"] for row in newest)
    causes = sum(len(row["causes"]) for row in newest)
    summary = (
        f"{compared:,} calls of {len(newest)} implementations were compared with the library that each "
        f"imitates. They differ for {causes:,} causes."
    )
    data = ", ".join(f'<a href="{file}">{file}</a>' for file in files)
    text = (
        f"<p class=sum>{summary}</p>{matrix('classes of operations', columns)}"
        "<p>A cell has the share of calls that agree, refusals among them. It leads to the programs that "
        'show the differences. <a href="../howto/imitation.html">How it is done</a>. '
        f"The same as data: {data}.</p>"
    )
    return html_page("Imitations", summary, text, "", "", "")


def implementation_page(name: str, releases: Sequence[Data]) -> str:
    """The page of an implementation: each class, release by release, and the programs."""
    columns = [
        (
            heading(escape(name), row["versions"], f"with {row['with']}", row["date"]),
            {of_class: "<br>".join(_counts(row, of_class, f"r{n}")) for of_class in _classes(releases)},
        )
        for n, row in enumerate(releases)
    ]
    row = releases[0]
    summary = f"{row['about']}: {row['compared']:,} calls compared, {len(row['causes'])} causes."
    text = f"<p class=sum>{escape(summary)}</p>{matrix(name, columns)}"
    for n, row in enumerate(releases):
        text += f"<h2>{escape(row['about'])}</h2>" + "".join(_causes(row, f"r{n}"))
    return html_page(name, summary, f'{text}<p><a href="index.html">All implementations</a></p>', "", "", "")


def _classes(rows: Sequence[Data]) -> list[str]:
    """Return the standard classes, and those of a library's own operations, such as `special`."""
    return [
        *STANDARD_RULES_BY_CLASS,
        *sorted({of_class for row in rows for of_class in row["classes"]} - {*STANDARD_RULES_BY_CLASS}),
    ]


def _cell(row: Data, of_class: str) -> str:
    counts = row["classes"].get(of_class, {})
    if asked := sum(counts.values()) - counts.get(VAGUE_ANSWER, 0):
        shown = share(counts.get(AGREES_WORD, 0), asked)
        return f'<a href="{row["implementation"]}.html#{of_class}">{shown}</a>'
    return chip("unasked", "vague" if counts else "never asked")


def _counts(row: Data, of_class: str, anchor: str) -> Iterator[str]:
    """The counts of a class, the operations that were never asked, and links to the causes."""
    counts = row["classes"].get(of_class, {})
    yield from chips((kind, counts.get(sort, 0), words) for sort, (kind, words) in SORTS.items())
    if not counts:
        names = ", ".join(op.name for op in OPERATIONS.values() if op.operation_class == of_class)
        yield f"<small>never asked{names and f': {names}'}</small>"
    causes = [n for n, cause in enumerate(row["causes"], 1) if of_class in cause["classes"]]
    if causes:
        yield "<small>causes: " + " ".join(f'<a href="#{anchor}-{n}">{n}</a>' for n in causes) + "</small>"


def _causes(row: Data, anchor: str) -> Iterator[str]:
    for n, cause in enumerate(row["causes"], 1):
        kind, _ = SORTS[cause["sort"]]
        example = cause["example"]
        call = f"{example['op']}({', '.join(example['operands'])})"
        yield (
            f"<h3 id={anchor}-{n}>{n}. {escape(cause['cause'])}</h3>"
            f"<p>{chip(kind, cause['sort'])} {cause['calls']:,} calls. "
            f"<code>{escape(call)}</code> is {escape(example['found'])}, "
            f"expected {escape(example['expected'])}.</p>"
        )
        if cause["snippet"]:
            yield f"<pre class=scroll>{escape(cause['snippet'])}</pre>"
