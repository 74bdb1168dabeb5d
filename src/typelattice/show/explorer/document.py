"""The document: the engine's data for the page."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

from typelattice.base.objects.gc_pause import pause_gc
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.evaluate_operation import find_operation_rules
from typelattice.core.engine.system import System
from typelattice.core.operations.operations import find_operation
from typelattice.core.registry.releases import VERSION_SIGN, list_releases
from typelattice.core.registry.system_headings import heading_of, list_headings
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_origin import SystemOrigin
from typelattice.core.system_files.system_text import FormatError, read_text, systems
from typelattice.show.drawings.draw import draw
from typelattice.show.explorer.answer_encoding import AnswerEncoder, ColumnNumbers, Pools
from typelattice.show.explorer.merge_documents import merge_entries
from typelattice.show.explorer.table_encoding import encode_table
from typelattice.study.laws.jep9407_criteria import CRITERIA, criteria
from typelattice.study.laws.laws import STATEMENT_BY_LAW, laws

COMMON_OPERATIONS = (
    "add",
    "multiply",
    "divide",
    "pow",
    "equal",
    "bitwise_and",
    "sqrt",
    "sum",
)  # operations on the page
FIRST_SHOWN_SYSTEM = "numpy"  # the system on the page when it opens, if it is one of the systems
PLAIN_PROMOTION_KEY = ""  # the key of plain promotion among the operations
MIN_GROUPS_FOR_PROCESSES = 8
SystemOrPath = str | Path | System
# entries of systems, and the pools that their numbers refer to
EntriesAndPools = tuple[list[dict[str, object]], Pools]
# number of parts done, number of all parts, name of the next
ProgressReporter = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Document:
    """The content of the page as JSON data: systems with their orders, tables, laws and criteria."""

    data: dict[str, object]

    @property
    def errors(self) -> list[FormatError]:
        """The errors of the files that are not valid systems."""
        systems = self.data["systems"]
        assert isinstance(systems, list)
        return [FormatError(**entry["error"]) for entry in systems if "error" in entry]

    def to_json(self) -> str:
        """Return the document as JSON, without spaces."""
        return json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))

    def pack(self) -> str:
        """Pack the document as deflated JSON in base64, which a page can hold and a browser can unpack."""
        return base64.b64encode(zlib.compress(self.to_json().encode(), 9)).decode("ascii")


def build_document(
    chosen_systems: Sequence[str | Path | System] = (),
    ops: Sequence[str] = COMMON_OPERATIONS,
    report: ProgressReporter = lambda done, of, what: None,
    processes: int = 1,
) -> Document:
    """Build the document of some systems, or of all that the package includes, for some operations.

    A file that is not a valid system is shown with its error. With several `processes`, they share the
    systems among themselves. Raises UnknownSystemError, OpError.

    >>> found = build_document(["python", "go"], ops=["add"]).data
    >>> [s["name"] for s in found["systems"]], [op["name"] for op in found["operations"]]
    (['python', 'go'], ['', 'add'])
    """
    named = chosen_systems or systems(versions=True)
    asked = [None, *dict.fromkeys(find_operation(op).name for op in ops)]
    for op in asked[1:]:
        find_operation(str(op)).check_table()
    pools = Pools()
    entries: list[dict[str, object]] = []
    groups = [[*alike] for _, alike in groupby(named, lambda one: str(one).partition(VERSION_SIGN)[0])]
    for group, (found, theirs) in _build_groups(groups, asked, processes):
        report(len(entries), len(named), str(group[0]))
        entries += merge_entries(pools, found, theirs)
    report(len(named), len(named), "")
    return Document({
        "first": next(
                (str(e["name"]) for e in entries if e["name"] == FIRST_SHOWN_SYSTEM), entries[0]["name"]
            ),
        "operations": [_operation_entry(op) for op in asked],
        "headings": list_headings(),
        "kinds": [kind.value for kind in Kind],
        "systems": entries,
        "pools": pools.data(),
    })  # fmt: skip


def _build_groups(
    groups: Sequence[Sequence[SystemOrPath]], ops: Sequence[str | None], processes: int
) -> Iterator[tuple[Sequence[SystemOrPath], EntriesAndPools]]:
    """Yield each group of systems with its entries and their pools; several processes build many groups.

    For a few systems, one process is faster than starting several.
    """
    build, left = partial(_build_group, ops=ops), [*groups]
    if processes > 1 and len(groups) >= MIN_GROUPS_FOR_PROCESSES:
        try:
            # After a fork, the children would outlive a parent that is killed.
            with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
                for found in pool.map(build, groups):
                    yield left.pop(0), found
        except (OSError, BrokenExecutor):  # the machine cannot start more processes, or kills them
            pass
    for group in left:
        yield group, build(group)


def _build_group(group: Sequence[SystemOrPath], ops: Sequence[str | None]) -> EntriesAndPools:
    pools, columns = Pools(), ColumnNumbers()
    with pause_gc():
        return [_system_entry(one, ops, pools, columns) for one in group], pools


def _operation_entry(op_name: str | None) -> dict[str, object]:
    if op_name is None:
        return {"name": PLAIN_PROMOTION_KEY, "names": ["promotion"], "operator": None, "alone": False}
    known = find_operation(op_name)
    return {
        "name": op_name,
        "names": [op_name, *known.other_names],
        "operator": known.operator,
        "alone": known.has_one_promoting_operand,
    }


def _system_entry(
    system_or_path: str | Path | System,
    ops: Sequence[str | None],
    pools: Pools,
    columns: ColumnNumbers,
) -> dict[str, object]:
    """Return the entry of a system, or of a file that is not a valid one."""
    try:
        found = find_system(system_or_path)
    except FormatError as e:
        if isinstance(system_or_path, System):
            raise
        return entry_of_invalid_file(system_or_path, e)
    asked = found.name if isinstance(system_or_path, System) else str(system_or_path)
    cells = AnswerEncoder(found, pools, columns)
    tables = {op or PLAIN_PROMOTION_KEY: encode_table(cells, op) for op in ops}
    return {
        "asked": asked,
        **describe_system(found),
        "tables": tables,
        "operators": _functions_by_operator(found, ops),
    }


def _functions_by_operator(system: System, ops: Sequence[str | None]) -> dict[str, str]:
    """Map each operator to the function with the same meaning and rule. Both share one table."""
    found = {}
    for op in filter(None, ops):
        sign = find_operation(op).operator
        if sign and replace(find_operation_rules(system, sign), name=op) == find_operation_rules(system, op):
            found[sign] = op
    return found


def entry_of_invalid_file(path: str | Path, error: FormatError) -> dict[str, object]:
    """Return a file that is not a valid system: its lines, and the error with its place."""
    try:
        return entry_of_invalid_text(path, read_text(path).text, error)
    except FormatError:  # the file is not text
        return entry_of_invalid_text(path, "", error)


def entry_of_invalid_text(path: str | Path, text: str, error: FormatError) -> dict[str, object]:
    """Return a text that is not a valid system: its lines, and the error with its place."""
    place = {"file": error.file, "line": error.line, "key": error.key, "cause": error.cause}
    return {"name": Path(path).name, "asked": str(path), "error": place, "lines": text.split("\n")}


def describe_system(system: System) -> dict[str, object]:
    """Describe a system: its names, its order, its laws and its costs."""
    plain, _, number = system.name.partition(VERSION_SIGN)
    known = list_releases(plain)
    return {
        "name": system.name,
        "title": system.title,
        "source": system.source,
        "library": system.library,
        "heading": heading_of(plain),
        "of": plain,
        "release": number or (known[-1] if known else ""),
        "tiers": list(system.tiers),
        "covers": list_covers(system),
        "drawings": list_drawings(system),
        "laws": [[name, v.holds, STATEMENT_BY_LAW[name], str(v)] for name, v in laws(system).items()],
        "criteria": criteria_data(system),
    }


def criteria_data(system: System) -> list[list[object]]:
    """Return each criterion: its name, its text, and the pairs that break it with their results."""
    found = criteria(system)
    pairs = {
        name: [[*map(str, p.operands), p.dtype and p.dtype.name] for p in broken]
        for name, broken in found.items()
    }
    return [[name, CRITERIA[name].description, found.pair_count, pairs[name]] for name in found]


def list_covers(system: System) -> list[tuple[str, str, int]]:
    """Return the arrows of the order, each with the line of the file that states it."""
    assert isinstance(system.origin, SystemOrigin)
    stated = {
        (a, b): line for (_, line), pairs in system.origin.covers.items() for a, b in pairs if b is not None
    }
    order = system.order
    return [(str(a), str(b), stated.get((a, b), 0)) for a in order.nodes for b in order.covers(a)]


def list_drawings(system: System) -> list[dict[str, object]]:
    """Return the drawing of the order, and the drawing with small dtypes if it is different."""
    usual, every = (draw(system, small=small).data() for small in (False, True))
    return [usual] if usual["nodes"] == every["nodes"] else [usual, every]
