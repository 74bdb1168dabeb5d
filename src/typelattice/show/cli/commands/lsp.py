"""The command `lsp`: a language server on standard input and output, which editors start."""

from __future__ import annotations

import os
import stat
from argparse import ArgumentParser, Namespace
from pathlib import Path

import typelattice as tl
from typelattice.base.errors.errors import TypelatticeError
from typelattice.show.cli.command import Command, Paragraphs, UsageError

DEFAULT_RUN_FILE = "run.json"  # the last traced run, in the folder where the editor starts the server


class MissingServerError(TypelatticeError, ImportError):
    """The library that speaks the editors' protocol is not installed."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--run", metavar="FILE", default=DEFAULT_RUN_FILE,
        help="the last traced run, as typelattice trace --json wrote it; read again when it changes "
        f"(default: {DEFAULT_RUN_FILE})",
    )  # fmt: skip


def run(args: Namespace) -> Paragraphs:
    """Serve until the editor ends the process; print nothing, because the output is the editor's."""
    try:
        from typelattice.show.editor.language_server import build_server
    except ModuleNotFoundError as e:
        if e.name not in ("pygls", "lsprotocol"):
            raise
        raise MissingServerError("lsp needs the server pygls: pip install pygls") from None
    mode = os.fstat(0).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        raise UsageError("lsp: an editor starts this command, and speaks with it on standard input")
    build_server(Path(args.run).absolute(), tl.__version__).start_io()
    yield from ()


COMMAND = Command(
    "Serve dtypes to an editor, by the Language Server Protocol.", add_arguments, run,
    ("", "--run build/run.json"),
)  # fmt: skip
