"""The memory of a model as HTML: a row for each module and sort of tensor, and a bar for each module."""

from __future__ import annotations

from collections.abc import Iterator

from typelattice.tracing.models.memory_table import MemoryTable
from typelattice.tracing.report.departure_sentences import group_by_module
from typelattice.tracing.report.html_elements import text_element, write_element

HEADS = ("module", "tensors", "dtype", "number", "bytes", "share")
BAR_PIXELS = 200


def write_memory_table(table: MemoryTable) -> str:
    """Write the table of memory, the largest modules first, each with a bar of its share of the largest."""
    number = {"class": "number"}
    numeric = HEADS[3:5]
    head = "".join(text_element("th", h, scope="col", **(number if h in numeric else {})) for h in HEADS)
    body = write_element("tbody", "\n".join(_write_rows(table)))
    inner = write_element("thead", write_element("tr", head)) + body
    return write_element("div", write_element("table", inner), **{"class": "wide-table"})


def _write_rows(table: MemoryTable) -> Iterator[str]:
    groups = group_by_module(table)
    sizes = [sum(row.bytes for row in rows) for _, rows in groups]
    for (module, rows), size in zip(groups, sizes, strict=True):
        for i, row in enumerate(rows):
            name = text_element("th", "" if i else module, scope="row")
            texts = text_element("td", row.category) + text_element("td", row.dtype)
            numbers = "".join(
                text_element("td", f"{n:,}", **{"class": "number"}) for n in (row.count, row.bytes)
            )
            bar = "" if i else _write_bar(size, max(sizes))
            yield write_element("tr", name + texts + numbers + write_element("td", bar))


def _write_bar(size: int, largest: int) -> str:
    width = round(BAR_PIXELS * size / max(1, largest))
    title = f"{size:,} bytes"
    return text_element("div", "", **{"class": "bar", "style": f"width: {width}px", "title": title})
