"""The workbench: a system file that is being edited, and the effects of each change."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from typelattice.base.disk.read import FileError
from typelattice.base.disk.write import check_writable, write_text
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_text import SYSTEMS_FOLDER, FormatError, read_text
from typelattice.show.explorer.document import build_document, entry_of_invalid_text
from typelattice.show.explorer.edit_order_text import NamedCover, edit_covers
from typelattice.study.laws.system_check import Check, check

DEFAULT_START_SYSTEM = "jep9407-0"  # a new file begins with a copy of this system
BLANK_START = "blank"  # a start that is not a system: a text with one node
BLANK_SYSTEM_TEXT = 'name = ""\norder = """\nb\n"""\n'
MAX_REPAIRS = 4
MAX_REPAIR_SECONDS = 5


class FileConflictError(TypelatticeError, OSError):
    """A file that another program has changed since it was read."""


@dataclass(frozen=True, slots=True)
class EditedFile:
    """An edited file: its path, its text when it was read or last written, and that text's digest.

    A file that does not exist yet has no digest; `text` is then its first text.
    """

    path: Path
    text: str
    digest: str | None

    @property
    def name(self) -> str:
        """Return the file's name without its folder, as errors print it."""
        return self.path.name


def open_edited_file(path: str | Path, start: str = DEFAULT_START_SYSTEM) -> EditedFile:
    """Open a file to edit, or a new one that begins as a copy of another system, or nearly empty.

    Raises UnknownSystemError, or FileError if the file cannot be read or written.
    """
    at = Path(path)
    check_writable(at)
    if at.exists():
        text = _read_file_text(at)
        return EditedFile(at, text, _text_digest(text))
    text = BLANK_SYSTEM_TEXT
    if start != BLANK_START:
        text = (Path(SYSTEMS_FOLDER) / f"{find_system(start).name}.toml").read_text(encoding="utf-8")
    name = "".join(c if c.isalnum() or c in "._-" else "-" for c in at.stem)[:60].lstrip("._-") or "mine"
    return EditedFile(at, re.sub(r"^name *=.*$", f'name = "{name}"', text, count=1, flags=re.MULTILINE), None)


def _read_file_text(path: Path) -> str:
    """Read the text of a file; in a file that is not text, replace what cannot be read."""
    try:
        return read_text(path).text
    except FormatError:
        return path.read_bytes().decode("utf-8", "replace")


def _text_digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def save_text(edited_file: EditedFile, text: str) -> EditedFile:
    """Save a text in its file, and return the edited file with it.

    Raises FormatError if the text is not a valid system, FileError if the file cannot be written, and
    FileConflictError if the file has changed since it was read.
    """
    parse(text, edited_file.name)
    now = _text_digest(_read_file_text(edited_file.path)) if os.path.lexists(edited_file.path) else None
    if now != edited_file.digest:
        what = "was made" if edited_file.digest is None else "was changed" if now else "was removed"
        raise FileConflictError(
            f"{edited_file.path} {what} elsewhere; copy your text, and begin again with --edit"
        )
    write_text(edited_file.path, text)
    return replace(edited_file, text=text, digest=_text_digest(text))


def show_text(edited_file: EditedFile, text: str, compared_systems: Sequence[str] = ()) -> dict[str, object]:
    """Return what the page shows of a text: its document, next to other systems, and its changes.

    If a text is not a valid system, its mistake is shown.
    """
    others = [find_system(name) for name in compared_systems]
    try:
        found = parse(text, edited_file.name)
    except FormatError as e:
        data = build_document(others or [DEFAULT_START_SYSTEM], ops=()).data
        first = {**entry_of_invalid_text(edited_file.path, text, e), "of": edited_file.name, "release": ""}
        rest = data["systems"] if others else ()
        assert isinstance(rest, (list, tuple))
        return {"document": {**data, "systems": [first, *rest], "first": first["name"]}, "text": text}
    data = build_document([found, *others], ops=()).data
    systems = data["systems"]
    assert isinstance(systems, list)
    systems[0] |= {"asked": str(edited_file.path), "heading": "edited"}
    headings = data["headings"]
    assert isinstance(headings, tuple)
    shown = {**data, "first": found.name, "headings": ("edited", *headings)}
    return {"document": shown, "text": text, "changes": _list_changes(edited_file, found)}


def _list_changes(edited_file: EditedFile, system: System) -> dict[str, object]:
    """List the pairs without a join now, and the changes of joins, laws and costs since the file."""
    new_check = check(system)
    result: dict[str, object] = {
        "without": _pairs_without_join(new_check),
        "split": new_check.has_several_bounds,
    }
    try:
        old_check = check(parse(edited_file.text, edited_file.name))
    except FormatError:
        return result
    before, after = (
        {*map(tuple, _pairs_without_join(old_check))},
        {*map(tuple, _pairs_without_join(new_check))},
    )
    nodes, nodes_now = ([*map(str, judged.system.order.nodes)] for judged in (old_check, new_check))
    result["removed"] = [n for n in nodes if n not in nodes_now]
    result["added"] = [n for n in nodes_now if n not in nodes]
    common_nodes = {*nodes} & {*nodes_now}
    lost, gained = (
        sorted(pair for pair in pairs if {*pair} <= common_nodes)
        for pairs in (after - before, before - after)
    )  # a pair with an added or removed node neither lost nor gained its join
    laws = [
        [name, old_check.laws[name].mark, verdict.mark, str(verdict)]
        for name, verdict in new_check.laws.items()
        if verdict.mark != old_check.laws[name].mark
    ]
    costs = [
        [name, old_check.criteria.counts[name], count]
        for name, count in new_check.criteria.counts.items()
        if count != old_check.criteria.counts[name]
    ]
    return {**result, "lost": lost, "gained": gained, "laws": laws, "costs": costs}


def _pairs_without_join(judged: Check) -> list[tuple[str, str]]:
    """Return the pairs of nodes that have no join."""
    return [(str(a), str(b)) for pairs in judged.unjoined_pairs.values() for a, b in pairs]


def propose_repairs(edited_file: EditedFile, text: str) -> dict[str, object]:
    """Return the nearest repaired orders, or the reason why none was found.

    In a repaired order, every pair with an upper bound has a least one.
    """
    from typelattice.study.designer import (  # the solver takes long to load, and may not be installed
        DESIGN_ERRORS,
        find_repairs,
    )

    try:
        found = find_repairs(parse(text, edited_file.name), limit=MAX_REPAIRS, seconds=MAX_REPAIR_SECONDS)
    except (*DESIGN_ERRORS, TimeoutError) as e:
        return {"repairs": [], "why": str(e).split("\n", 1)[0]}
    shown = [
        {
            "says": str(r),
            "changed": len(r.changed_pairs),
            "add": [[str(a), str(b)] for a, b in r.added_covers],
            "drop": [[str(a), str(b)] for a, b in r.dropped_covers],
        }
        for r in found
        if r.added_covers or r.dropped_covers
    ]
    none = "nothing to repair: every pair that has a bound has a least"
    return {"repairs": shown, "why": "" if shown else none}


def change_covers(
    edited_file: EditedFile, text: str, add: Sequence[NamedCover], drop: Sequence[NamedCover]
) -> str:
    """Return the text with some arrows added and some removed. Raises EditError, FormatError."""
    return edit_covers(text, edited_file.name, add, drop)


__all__ = [
    "EditedFile",
    "FileConflictError",
    "FileError",
    "change_covers",
    "open_edited_file",
    "propose_repairs",
    "save_text",
    "show_text",
]
