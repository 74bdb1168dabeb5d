"""Sentences on departures from a policy, on islands, and on the memory of a model."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping, Sequence

from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.models.departures import (
    ASKED,
    BROUGHT_IN,
    COMPUTED,
    DEFAULT,
    DEFAULT_DTYPE,
    ESCAPED,
    OTHER_HALF,
    OUTPUT,
    REFUSED,
    REFUSED_LATER,
    STORED,
    WIDE_BUFFER,
    WIDE_LAYER,
    BufferWrite,
    Departure,
    Departures,
    Island,
    Source,
)
from typelattice.tracing.models.memory_table import MemoryRow, MemoryTable, add_up_modules
from typelattice.tracing.remedies.narrowing_changes import FILLING_OPERATIONS
from typelattice.tracing.report.formatting import count_text, location_text, size_text
from typelattice.tracing.run_data.operation_log import BACKWARD, FORWARD, OPTIMIZER, OperationLog, Place
from typelattice.tracing.run_data.source_text import SourceText

MAX_NAMED = 3
MAX_ISLANDS = 10
MAX_MEMORY_MODULES = 20
MAX_SOURCES = 5
MAX_CODE_CHARS = 100
COMPUTED_REMEDY = "cast it to {narrow} where the two meet; keep positions, schedules and state wide"
REMEDY_BY_KIND = {
    REFUSED_LATER: "see what escaped before",
    REFUSED: "cast one of the two where they meet; keep positions, schedules and state wide",
    ESCAPED: "cast to {narrow} where the two meet, or cast the result back here",
    DEFAULT_DTYPE: "make it {narrow}, or cast it to {narrow} where they meet",
    WIDE_LAYER: "compute it in {narrow}, or mark the line as `# typelattice: meant`",
    OTHER_HALF: "cast to {narrow}",
    WIDE_BUFFER: "give it dtype={narrow} where it is made, or the dtype of what is written",
    STORED: "",
    OUTPUT: "cast the output to {narrow}",
}


class CodeReader:
    """Reads the code at source locations: from the texts of a run, or from the file of a package."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.texts = {file: SourceText(lambda text=text: text) for file, text in sources.items()}  # type: ignore[misc]

    def code_at(self, location: SourceLocation | None) -> str:
        """Return the code at a location on one line, or ""."""
        if location is None:
            return ""
        if location.file not in self.texts:
            text = "".join(linecache.getlines(location.file))
            self.texts[location.file] = SourceText(lambda: text)
        code = self.texts[location.file].text_at(location)
        return code if len(code) <= MAX_CODE_CHARS else f"{code[: MAX_CODE_CHARS - 1]}…"

    def place_text(self, place: Place | None) -> str:
        """Name a place with its code."""
        if place is None or place.location is None:
            return "somewhere"
        return f"{location_text(place.location)}: {self.code_at(place.location)}".removesuffix(": ")


def describe_goal(found: Departures) -> str:
    """Name the policy, and the autocast that was read from the program."""
    policy = str(found.policy) or "no dtype"
    return f"{policy} (autocast is {found.autocast})" if found.autocast else policy


def departures_heading(found: Departures) -> str:
    """Write the heading of the departures."""
    goal = describe_goal(found)
    if not found.departures:
        return f"nothing departs from {goal}"
    count = len(found.departures)
    return f"{count_text(count, 'place')} {'departs' if count == 1 else 'depart'} from {goal}"


def departure_message(departure: Departure) -> str:
    """Say in one sentence how a place departs."""
    d = departure
    if d.kind in (REFUSED, REFUSED_LATER):
        return f"{d.operation} refused {d.narrow} with {d.wide}: {d.detail}"
    if d.kind == STORED:
        shown = list_names(d.names)
        which = f"{count_text(d.count, 'tensor')} of the {d.operation} {_be(d.count)}"
        return f"{which} {d.wide}, not {d.narrow}: {shown}"
    if d.kind == OUTPUT:
        return f"the output is {d.wide}, not {d.narrow}"
    if d.kind == WIDE_LAYER:
        where = f", {d.detail}" if d.detail else ""
        return f"{d.operation} computes in {d.wide}, not in {d.narrow}{where}"
    if d.kind == OTHER_HALF:
        return f"makes {d.wide}, where {d.narrow} is meant"
    if d.kind == WIDE_BUFFER:
        return f"{d.narrow} is written into memory of {d.wide}"
    what = f"{d.operation} of {d.narrow} and {d.wide} gives {d.wide}"
    return f"{what}, which is cast back later" if d.kind == DEFAULT_DTYPE else what


def departure_sections(departure: Departure, code: CodeReader) -> Iterator[tuple[str, Sequence[str]]]:
    """Describe a departure under headings."""
    yield "what", [departure_message(departure)]
    if departure.sources:
        told = [*dict.fromkeys(describe_source(each, code) for each in departure.sources)]
        lines, more = told[:MAX_SOURCES], len(told) - MAX_SOURCES
        yield "wide", [*lines, *([f"and {more} more"] if more > 0 else [])]
    if departure.place is not None and departure.place.caller is not None:
        caller = departure.place.caller
        yield "caller", [f"{location_text(caller)}: {code.code_at(caller)}"]
    if departure.modules:
        yield "modules", [list_names(departure.modules)]
    if departure.bytes:
        yield "costs", [f"{size_text(departure.bytes)} in {count_text(departure.count, 'result')}"]
    remedy = _describe_remedy(departure)
    if remedy:
        yield "remedy", [remedy]


def _describe_remedy(departure: Departure) -> str:
    """Say what to do. Only an array that is filled with one number may be narrow where it is made."""
    text = REMEDY_BY_KIND[departure.kind]
    made = [each.name.removeprefix("new_") for each in departure.sources if each.kind == DEFAULT]
    is_filled = all(name.startswith(tuple(FILLING_OPERATIONS)) for name in made)
    if departure.kind == DEFAULT_DTYPE and not is_filled:
        text = COMPUTED_REMEDY
    return text.format(narrow=departure.narrow)


def describe_source(source: Source, code: CodeReader) -> str:
    """Say where a wide array comes from."""
    at = code.place_text(source.place)
    if source.kind == ASKED:
        return f"{at} asks for {source.dtype}"
    if source.kind == DEFAULT:
        return f"{at} makes {source.dtype} by default"
    if source.kind == BROUGHT_IN and source.name:
        return f"{source.name} is {source.dtype}, and comes in at {at}"
    if source.kind == BROUGHT_IN:
        return f"{source.dtype} data, which no operation made, comes in at {at}"
    if source.kind == COMPUTED:
        return f"{at} makes {source.dtype} of integers"
    return f"{source.kind.removesuffix('s')} {source.name} is {source.dtype}, made at {at}"


def describe_model_scope(found: Departures | None, log: OperationLog, code: CodeReader) -> Iterator[str]:
    """Say what was looked at, which islands and writes there are, and what was not seen."""
    phases = {
        name: sum(t.count for t in log.tallies if t.place.phase == name)
        for name in (FORWARD, BACKWARD, OPTIMIZER)
    }
    by_phase = ", ".join(f"{n:,} {name}" for name, n in phases.items() if n)
    modules = {t.place.module for t in log.tallies if t.place.module}
    views = log.operation_count - sum(phases.values())
    yield (
        f"looked at {count_text(log.operation_count, 'operation')} in {count_text(len(modules), 'module')}"
        f": {by_phase or 'none'}, and {count_text(views, 'view')}"
    )
    if log.failure:
        yield f"not seen: all that ran after our log failed ({log.failure}); please report it"
    yield from log.notes
    for name, count in log.not_seen.items():
        yield f"not seen: operations inside of {name}, with {count_text(count, 'tensor')} of it"
    if found is None:
        return
    yield from (_describe_island(each, code) for each in found.islands[:MAX_ISLANDS])
    if len(found.islands) > MAX_ISLANDS:
        yield f"and {count_text(len(found.islands) - MAX_ISLANDS, 'more island')}"
    yield from (_describe_write(each, code) for each in found.writes[:MAX_ISLANDS])
    if len(found.writes) > MAX_ISLANDS:
        yield f"and {count_text(len(found.writes) - MAX_ISLANDS, 'more write')}"


def _describe_island(island: Island, code: CodeReader) -> str:
    where = f" in {list_names(island.modules)}" if island.modules else ""
    what = f"{count_text(island.operations, 'operation')}, {size_text(island.bytes)}"
    how = f"computes in {island.dtype}{where}, and is cast back ({what})"
    return f"meant: {code.place_text(island.place)} {how}"


def _describe_write(write: BufferWrite, code: CodeReader) -> str:
    made = f", made at {code.place_text(write.made_at)}" if write.made_at is not None else ""
    name = f" {write.name}" if write.name else ""
    return f"write: {code.place_text(write.place)} writes {write.written} into {write.kept}{name}{made}"


def memory_heading(table: MemoryTable) -> str:
    """Write the heading of the table of memory."""
    return f"{table.peak_bytes:,} bytes were alive at the peak"


def memory_sections(table: MemoryTable, everything: bool = False) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Write the table of memory under headings: what is kept, what was alive at the peak, and each module."""
    yield "kept", tuple(_write_row(row) for row in add_up_modules(table.kept))
    yield "peak", tuple(_write_row(row) for row in add_up_modules(table.peak))
    groups = group_by_module(table)
    limit = len(groups) if everything else MAX_MEMORY_MODULES
    lines = [_write_module(module, rows) for module, rows in groups[:limit]]
    if len(groups) > limit:
        lines.append(f"and {count_text(len(groups) - limit, 'more module')}; --all shows them")
    yield "modules", tuple(lines)


def group_by_module(table: MemoryTable) -> list[tuple[str, list[MemoryRow]]]:
    """List the modules with what they keep, and what else they had at the peak. The largest come first."""
    names = {row.category for row in table.kept}
    by_module: dict[str, list[MemoryRow]] = {}
    for row in (*table.kept, *(row for row in table.peak if row.category not in names)):
        by_module.setdefault(row.module or "(no module)", []).append(row)
    return sorted(by_module.items(), key=lambda group: -sum(row.bytes for row in group[1]))


def _write_module(module: str, rows: Sequence[MemoryRow]) -> str:
    """Write the memory of a module, such as "norm: 64 bytes: 32 parameters in bfloat16 (1)"."""
    parts = [f"{row.category} in {row.dtype} {row.bytes:,} ({row.count:,})" for row in rows]
    return f"{module}: {count_text(sum(row.bytes for row in rows), 'byte')}: {', '.join(parts)}"


def _write_row(row: MemoryRow) -> str:
    size = count_text(row.bytes, "byte")
    return f"{row.category} in {row.dtype}: {size} in {count_text(row.count, 'tensor')}"


def list_names(names: Sequence[str]) -> str:
    """List some names, and count the others."""
    more = len(names) - MAX_NAMED
    shown = ", ".join(names[:MAX_NAMED])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _be(count: int) -> str:
    return "is" if count == 1 else "are"
