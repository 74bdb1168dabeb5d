"""Tables of the site: classes of operations by libraries or implementations, and plain ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS

Column = tuple[str, Mapping[str, str]]
"""The heading of a column, and its cell for each class of operations, both as HTML."""


def matrix(label: str, columns: Sequence[Column]) -> str:
    """A table of all classes of operations; each row can be linked to by the name of its class."""
    head = "<th scope=col>class" + "".join(f"<th scope=col>{heading}" for heading, _ in columns)
    rows = "".join(
        f"<tr id={of_class}><th scope=row>{of_class}"
        + "".join(f"<td>{cells.get(of_class, '')}" for _, cells in columns)
        for of_class in STANDARD_RULES_BY_CLASS
    )
    return table(label, head, rows)


def heading(title: str, versions: Mapping[str, str], *more: str) -> str:
    """The heading of a column: a title, and in small letters the versions asked, and the date."""
    asked = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{title}<br><small>{escape(', '.join(filter(None, (asked, *more))))}</small>"


def share(right: int, asked: int) -> str:
    """A share of calls. One that only rounds to the whole is not shown as the whole."""
    said = "100%" if right == asked else f"{min(right / asked, 0.9999):.2%}"
    return chip("right" if right == asked else "departs", said)


def chips(counts: Iterable[tuple[str, int, str]]) -> list[str]:
    """The counts that are not zero: each with a colour and words."""
    return [chip(kind, f"{number:,} {words}") for kind, number, words in counts if number]


def chip(kind: str, text: str) -> str:
    """A text on the ground of its kind, a class of the style sheet."""
    return f"<span class={kind}>{escape(text)}</span>"


def table(label: str, head: str, rows: str, kind: str = "") -> str:
    """A table that scrolls by itself on a narrow screen. Rows of the kind `answers` become blocks there."""
    of_kind = f" class={kind}" if kind else ""
    return (
        f'<div class=scroll tabindex=0 role=region aria-label="{escape(label)}"><table{of_kind}><thead><tr>'
        f"{head}</thead><tbody>{rows}</tbody></table></div>"
    )
