"""The command `emit`: the promotion tables of a system as source code."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from shlex import quote

import typelattice as tl
from typelattice.base.disk.write import check_folder, write_text
from typelattice.base.errors.error_texts import quote_short
from typelattice.base.rendering.grid import printable
from typelattice.core.operands.operand import Tier
from typelattice.show.cli.command import Command, DifferencesFound, Paragraphs, UsageError
from typelattice.show.cli.output_checks import check_not_read
from typelattice.study.codegen.emit import (
    PRINTERS_BY_LANGUAGE,
    emit_files,
    read_earlier_indices,
    read_names,
    stale_files,
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help="a system's name, or a .toml file")
    parser.add_argument("--lang", required=True, choices=[*PRINTERS_BY_LANGUAGE], help="the language")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder of the files")
    names = 'a table [names] with lines such as int8 = "S8", and [indices] with lines such as int8 = 3'
    parser.add_argument("--names", metavar="FILE.toml", help=names)
    parser.add_argument("--ops", metavar="LIST", help="operations of one or two operands, such as add,sum")
    parser.add_argument(
        "--tiers", metavar="LIST", help="array, 0d, scalar (default: all tiers of the system)"
    )
    parser.add_argument("--casts", action="store_true", help="also write a table of foldable casts")
    probe = "also write a program that prints the answers of your implementation as CSV for `lint`"
    parser.add_argument("--probe", action="store_true", help=probe)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a file is not up to date"
    )


def run(args: Namespace) -> Paragraphs:
    """Write the files, or name those that are not up to date."""
    system, folder = tl.system(args.system), Path(args.output)
    if folder.suffix in {Path(name).suffix for name in PRINTERS_BY_LANGUAGE[args.lang]} - {""}:
        named = f"{quote_short(args.output)} names a file, and several are written into a folder"
        raise UsageError(f"emit: {named}; type -o {quote(folder.stem)}")
    check_folder(folder)
    tiers = _operation_words(args.tiers)
    if unknown := [t for t in tiers if t not in ("array", "0d", "scalar")]:
        raise UsageError(f"emit: no tier {unknown[0][:40]!r}; there are array, 0d and scalar")
    names, indices = read_names(args.names) if args.names else ({}, {})
    earlier = read_earlier_indices(folder, system, indices)
    chosen: list[Tier] | None = tiers or None  # type: ignore[assignment]  # as checked above
    files = emit_files(
        system, args.lang, names, _operation_words(args.ops), chosen, earlier, args.casts, args.probe
    )
    for name in files:
        check_not_read(str(folder / name), args.system, args.names)
    if args.check:
        stale = stale_files(folder, files)
        yield from (f"{name} is not up to date; run emit without --check" for name in stale)
        if stale:
            raise DifferencesFound
        yield f"{len(files)} files are up to date"
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_text(folder / name, text)
        yield printable(str(folder / name))


def _operation_words(text: str | None) -> list[str]:
    return [word for word in (text or "").replace(",", " ").split() if word]


COMMAND = Command(
    "Write a system's tables as source code, as MLIR or as JSON.", add_arguments, run,
    ("jax --lang cpp17 -o generated", "torch --lang rust -o generated --ops add,divide,sum",
     "mine.toml --lang c11 -o generated", "numpy --lang cpp17 -o generated --casts"),
    exit_status=(
        "0 if the files are written, 1 if --check finds an old one,\n"
        "  2 if there is none"
    ),
)  # fmt: skip
