"""The command `lint`: promotion tables that others keep by hand, compared with a system."""

from __future__ import annotations

import tomllib
from argparse import ArgumentParser, Namespace
from json import dumps

import typelattice as tl
from typelattice.base.disk.read import read_bytes
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.json import json_document
from typelattice.conformance.lint.hand_written_tables import (
    MAX_FILE_BYTES,
    LintResult,
    lint_table,
    make_sarif,
    read_form,
)
from typelattice.core.system_files.system_text import SystemText
from typelattice.show.cli.command import Command, DifferencesFound, Paragraphs, UsageError

MAX_SHOWN_UNREAD_CELLS = 5


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the source file that has the table; it is never run")
    form = "the place of the table, and the meaning of its words"
    parser.add_argument("--form", metavar="FORM.toml", required=True, help=form)
    parser.add_argument("--against", metavar="SYSTEM", required=True, help="a system's name, or a .toml file")
    allow = 'known differences: a table [allow] with lines such as "int8 + uint8" = "int8"'
    parser.add_argument("--allow", metavar="KNOWN.toml", help=allow)
    parser.add_argument("--strict", action="store_true", help="also exit with 1 if a cell cannot be read")
    parser.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="default: text")


def run(args: Namespace) -> Paragraphs:
    """Print the cells that differ, each with its line, and count the compared and the unread cells."""
    form, system = read_form(args.form), tl.system(args.against)
    found = lint_table(args.file, form, system, *_read_allowed(args.allow))
    if args.format == "json":
        yield json_document("lint", _lint_data(args.file, system.name, found))
    elif args.format == "sarif":
        yield dumps(make_sarif(args.file, found), indent=1)
    else:
        yield from (printable(f"{args.file}:{each.cell.line}: {each}") for each in found.differences)
        for line, text in found.unread_cells[:MAX_SHOWN_UNREAD_CELLS]:
            yield printable(f"{args.file}:{line}: not read: {text}")
        if len(found.unread_cells) > MAX_SHOWN_UNREAD_CELLS:
            yield f"... and {len(found.unread_cells) - MAX_SHOWN_UNREAD_CELLS} more that were not read"
        counts = f"{len(found.differences)} differ from {system.name}, {len(found.unread_cells)} not read"
        yield f"{found.compared_count} cells compared, {counts}"
    if found.differences or (args.strict and found.unread_cells):
        raise DifferencesFound


def _lint_data(path: str, system: str, linted: LintResult) -> dict[str, object]:
    differences = [
        {
            "line": d.cell.line,
            "operands": [d.cell.left, d.cell.right],
            "stated": d.cell.result,
            "expected": d.expected,
            "observed": d.observed,
            "rule": d.rule,
        }
        for d in linted.differences
    ]
    unread = [{"line": line, "text": text} for line, text in linted.unread_cells]
    counted = {"file": path, "system": system, "compared": linted.compared_count}
    return {**counted, "differences": differences, "unread": unread}


def _read_allowed(path: str | None) -> tuple[dict[str, str], SystemText | None]:
    """Return the known differences of a file, and the file itself."""
    if path is None:
        return {}, None
    try:
        text = read_bytes(path, MAX_FILE_BYTES).decode("utf-8")
        found = tomllib.loads(text).get("allow", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise UsageError(f"{path}: {e}") from None
    if not isinstance(found, dict) or not all(isinstance(x, str) for x in found.values()):
        raise UsageError(f'{path}: [allow] has lines such as "int8 + uint8" = "int8"')
    return found, SystemText(path, text)


COMMAND = Command(
    "Compare a hand-written table with a system.", add_arguments, run,
    ("ScalarType.cpp --form form.toml --against torch", "table.csv --form form.toml --against mine.toml"),
    exit_status=(
        "0 if the tables agree, 1 if a cell differs, or with --strict is not read,\n"
        "  2 if there is no answer"
    ),
)  # fmt: skip
