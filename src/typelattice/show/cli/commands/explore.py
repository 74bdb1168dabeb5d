"""The command `explore`: a page that shows systems."""

from __future__ import annotations

import os
import re
import webbrowser
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from typelattice.base.disk.write import check_writable, write_text
from typelattice.base.errors.error_texts import quote_short
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.terminal_output import print_error, progress_bar
from typelattice.show.cli import interrupts
from typelattice.show.cli.command import STANDARD_OUTPUT, Command, Paragraphs, UsageError
from typelattice.show.cli.output_checks import check_not_read
from typelattice.show.explorer.cached_document import load_or_build_document
from typelattice.show.explorer.document import COMMON_OPERATIONS, build_document
from typelattice.show.explorer.edited_file import BLANK_START, open_edited_file
from typelattice.show.explorer.page import page_html
from typelattice.show.explorer.server import serve

DEFAULT_PAGE_FILE = "typelattice.html"
MAX_PORT = 65_535
DEFAULT_SYSTEM_FILE = "mine.toml"  # the file to edit by default


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--system", action="append", default=[], metavar="NAME|FILE",
        help="a system; can be repeated (default: all, with their older releases); "
        f"with --edit the one that a new file begins as, or {BLANK_START}",
    )  # fmt: skip
    parser.add_argument(
        "--op", action="append", default=[], metavar="OP",
        help=f"an operation; can be repeated (default: {', '.join(COMMON_OPERATIONS)})",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"the page (default: {DEFAULT_PAGE_FILE}); - prints it"
    )
    parser.add_argument(
        "--edit", nargs="?", const=DEFAULT_SYSTEM_FILE, metavar="FILE.toml",
        help="edit a system file, on a page that only this machine can open "
        f"(default: {DEFAULT_SYSTEM_FILE})",
    )  # fmt: skip
    parser.add_argument("--port", type=parse_port, default=0, help="the port of --edit (default: a free one)")
    parser.add_argument("--no-browser", action="store_true", help="with --edit: only print the address")


def parse_port(text: str) -> int:
    """Read a port from an argument: a whole number up to 65535; 0 for any."""
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > MAX_PORT:
        raise ArgumentTypeError(f"{quote_short(text)} is not a whole number from 0 to {MAX_PORT}")
    return int(text)


def run(args: Namespace) -> Paragraphs:
    """Write the page, and report its place; or serve the workbench until it is interrupted."""
    if args.edit is not None:
        yield from _serve_editor(args)
        return
    if args.port or args.no_browser:
        raise UsageError("explore: --port and --no-browser go with --edit")
    output = args.output or DEFAULT_PAGE_FILE
    if output != STANDARD_OUTPUT:
        check_not_read(output, *args.system)
        check_writable(output)
    report, processes = progress_bar(), os.cpu_count() or 1
    if args.system or args.op:
        shown = build_document(args.system, args.op or COMMON_OPERATIONS, report, processes)
    else:
        shown = load_or_build_document(report, processes)
    text = page_html(shown)
    if output == STANDARD_OUTPUT:
        yield text
        return
    write_text(output, text)
    for error in shown.errors:
        print_error(f"typelattice: left out: {error}; the page shows it in its place")
    yield f"{printable(output)}: {len(text.encode()):,} bytes; open it in a browser"


def _serve_editor(args: Namespace) -> Paragraphs:
    if args.output or args.op or len(args.system) > 1:
        raise UsageError("explore: with --edit go --port, --no-browser and one --system to begin as")
    at = open_edited_file(args.edit, *args.system)

    def ready(address: str) -> None:
        found = not args.no_browser and webbrowser.open(address)
        unopened = "" if found or args.no_browser else "no browser was found; open it yourself: "
        print_error(f"{unopened}{address}\nediting {printable(str(at.path))}; Ctrl-C ends it")

    with interrupts.raise_on_interrupt():
        serve(at, args.port, ready)
    yield f"{printable(str(at.path))} is no longer served"


COMMAND = Command(
    "Write an HTML page that shows systems; --edit serves an editor.", add_arguments, run,
    (
        "--system numpy1 --system numpy --op add", "--system mine.toml --op add -o page.html",
        "--edit mine.toml",
    ),
)  # fmt: skip
