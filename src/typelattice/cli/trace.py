"""The command `trace`: a script is run and followed, and its run replayed under other systems."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import suppress
from json import dumps
from os.path import abspath
from pathlib import Path

import typelattice as tl
from typelattice.cli.command import Command, Paragraphs, ScriptInterrupted, UsageError
from typelattice.cli.interrupts import raised
from typelattice.cli.outputs import check_not_read
from typelattice.disk.write import check_folder, check_writable, write_text
from typelattice.facts.collector import held_off
from typelattice.rendering.terminal import OutputError, layout, show


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--package", action="append", default=[], metavar="PKG",
        help="a package whose modules are followed; may be given again (default: the script alone, or the "
        "package of MODULE)",
    )  # fmt: skip
    parser.add_argument(
        "--system", action="append", default=[], metavar="NAME|FILE",
        help="where would this system part from what ran? May be given again",
    )  # fmt: skip
    parser.add_argument("--html", metavar="DIR", help="write annotated source pages into this folder")
    parser.add_argument("--json", metavar="FILE", help="write the run into this file")
    parser.add_argument(
        "--cache", metavar="DIR", help="keep compiled code in this folder, so that the next run starts sooner"
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument(
        "command", nargs="*", metavar="SCRIPT ARG",
        help="a script, or what follows MODULE: its arguments, of which none is ours",
    )  # fmt: skip


def own_words(words: Sequence[str]) -> int:
    """How many words of a command line are ours: those before the script, or up to the module of `-m`."""
    i = 0
    while i < len(words) and words[i].startswith("-"):
        if words[i] == "--":
            return i
        if words[i].startswith("-m"):
            return min(len(words), i + (2 if words[i] == "-m" else 1))
        i += 2 if words[i] in VALUED else 1
    return min(i, len(words))


VALUED = ("--package", "--system", "--html", "--json", "--cache")


def run(args: Namespace) -> Paragraphs:
    """Runs the script, then tells what ran on standard error, and ends as the script ended.

    Where standard error takes no text any more, standard output does.
    """
    from typelattice.tracing.report import report
    from typelattice.tracing.script import Ended, run_script

    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.module is None and not command:
        raise UsageError("trace: give a script, or -m and a module (see typelattice trace --help)")
    if args.json and args.html and abspath(args.json) == abspath(args.html):
        raise UsageError("trace: --html is a folder and --json a file; give each a path of its own")
    systems = [tl.system(which) for which in args.system]
    if args.json is not None:
        check_not_read(args.json, *args.system, *([] if args.module else command[:1]))
        check_writable(args.json)
    for folder in (args.html, args.cache):
        if folder is not None:
            check_folder(folder)
    # The script may go into another folder, and put other streams in the place of ours.
    json, html, cache = (given and abspath(given) for given in (args.json, args.html, args.cache))
    width, errors, output = layout().width, sys.stderr, sys.stdout
    target, argv = (args.module, command) if args.module is not None else (command[0], command[1:])

    def tell(ended: Ended) -> None:
        if json:
            from typelattice.tracing.plain_data import run_data

            write_text(json, dumps(run_data(ended.run, systems), indent=1) + "\n")
        if html:
            from typelattice.tracing.html import write

            write(ended.run, systems, html)
        with held_off():
            lines = [*report(ended.run, systems, width)]
        try:
            show(lines, errors)
        except OutputError as e:  # the script may have closed it
            if not e.unread:
                with suppress(OutputError):
                    show(lines, output)

    with raised():
        ended = run_script(
            target, argv, args.package, args.module is not None, cache and Path(cache), tell
        )
    if not ended.forked:
        tell(ended)
    if ended.status is None:
        raise ScriptInterrupted
    if ended.status:
        raise SystemExit(ended.status)
    yield from ()


COMMAND = Command(
    "Runs a script, and says what its arrays become under other systems.", arguments, run,
    (
        "script.py", "--system torch --system jax script.py --epochs 3", "--package mypkg -m mypkg.train",
        "--json run.json script.py",
    ),
    own_words,
)  # fmt: skip
