"""The command `fix`: changes of a script that keep its floats narrow, each tested by a run."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from signal import SIGINT, Signals

from typelattice.base.rendering.terminal_output import print_error
from typelattice.show.cli.command import (
    Command,
    Paragraphs,
    UsageError,
    add_format_argument,
    error_line,
    parse_duration,
)
from typelattice.show.cli.interrupts import EndedBySignal, end_by_signal, raise_on_end_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.repair.patch.patch import Patch

REFUSED_STATUS = 3


# Long: a line or two for each option
def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--package", action="append", default=[], metavar="PKG",
        help="a package that may also be changed; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--only-script", action="store_true",
        help="change only the script, or the package of MODULE, and no module of the current folder",
    )  # fmt: skip
    parser.add_argument(
        "--to",
        metavar="DTYPE",
        help="the widest float dtype to allow (default: float32)",
    )
    parser.add_argument(
        "--policy", metavar="KEY=DTYPE,...",
        help="change only lines that depart from this policy, as trace --policy reports them: --to bfloat16 "
        "and a policy, or compute=bfloat16 in it",
    )  # fmt: skip
    parser.add_argument(
        "--like", metavar="NAME|FILE",
        help="instead: add casts so that the program keeps its present dtypes under this system",
    )  # fmt: skip
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="X",
        help="undo a change if a value's relative error is larger (without it, no patch of more than "
        "100 ulp is written)",
    )
    parser.add_argument(
        "--tests", metavar="COMMAND",
        help="also run the tests of the project by this command, without and with the changes",
    )  # fmt: skip
    parser.add_argument(
        "--python", metavar="OTHER",
        help="another interpreter, such as one with another release of NumPy: run the program there, too, "
        "without and with the changes; all results must be the same",
    )  # fmt: skip
    parser.add_argument(
        "--only", metavar="LINE", help="fix only what this line widens, such as 12 or file.py:12"
    )
    parser.add_argument("--steps", action="store_true", help="also compare the values of each step")
    parser.add_argument(
        "--seconds", type=parse_duration, default=120.0, metavar="N",
        help="end the search after N seconds with what is proved by then (default: 120)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-writes", action="append", default=[], metavar="FOLDER",
        help="a folder outside the copy that the program may write into; can be repeated",
    )  # fmt: skip
    add_format_argument(parser)
    parser.add_argument("--write", action="store_true", help="write the changes into the sources")
    parser.add_argument(
        "--check", action="store_true", help="for CI: exit with 1 if there is a patch, and write nothing"
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument(
        "command",
        nargs="*",
        metavar="SCRIPT ARG",
        help="a script, or pytest, and its arguments; our options stand before it; after -- all are its own",
    )


def run(args: Namespace) -> Paragraphs:
    """Print the patch; exit with 1 if a place was not fixed, with 3 if the patch may not be written."""
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.module is None and not command:
        raise UsageError("fix: give a script, or -m and a module; see typelattice fix --help")
    if args.check and args.write:
        raise UsageError("fix: --check writes nothing; leave it out, or --write")
    target, argv = (args.module, command) if args.module is not None else (command[0], command[1:])
    try:
        with raise_on_end_signals():
            patch = _find_patch(args, target, argv)
    except EndedBySignal as e:
        name = "interrupted" if e.number == SIGINT else f"ended by {Signals(e.number).name}"
        print_error(error_line(f"{name}; nothing was written"))
        end_by_signal(e.number)
        return
    if args.format == "json":
        from typelattice.base.rendering.json import json_document

        yield json_document("patch", patch.data())
    else:
        yield from str(patch).removesuffix("\n").split("\n")  # lines of the diff keep their other ends
    writes = args.write and patch.kept_changes and not patch.refusal
    if writes:
        patch.write()
    if writes and args.format == "text":
        yield f"wrote {', '.join(sorted({str(each.file) for each in patch.kept_changes}))}"
    if patch.refusal:
        raise SystemExit(REFUSED_STATUS)
    if patch.unfixed_causes or (args.check and patch.kept_changes):
        raise SystemExit(1)


def _find_patch(args: Namespace, target: str, argv: list[str]) -> Patch:
    """Search for the patch of a script, a module or tests, by the options and pyproject.toml."""
    from typelattice.core.dtypes.dtypes import dtype
    from typelattice.repair.copies.other_python import find_python
    from typelattice.repair.copies.progress import Progress
    from typelattice.repair.patch.goals import NoWiderThan
    from typelattice.repair.patch.patch_search import find_current_folder, fix_script, fix_tests, make_limits
    from typelattice.tracing.entry_points.named_places import check_packages, check_places
    from typelattice.tracing.entry_points.pyproject_settings import read_settings
    from typelattice.tracing.run_data.policy import read_policy

    settings = read_settings(find_current_folder())
    packages = args.package or settings.packages
    like = args.like or (None if args.to else settings.like)
    tolerance = settings.tolerance if args.tolerance is None else args.tolerance
    to: object = NoWiderThan(dtype(args.to), includes_results=True) if args.to else settings.to
    if args.policy is not None and (args.like or target == "pytest"):
        raise UsageError("fix: --policy changes a script or a module; leave out --like, and pytest")
    if args.policy is not None:
        to, like = read_policy(args.policy, args.to), None
    goal = to, like, tolerance
    check_packages(packages, target)
    limits, progress = make_limits(args.seconds, args.allow_writes), Progress(sys.stderr)
    python = find_python(args.python) if args.python is not None else ""
    if target != "pytest":
        check_places(filter(None, [args.only]), target, args.module, packages)
        return fix_script(
            target, argv, packages, args.module is not None, *goal, args.only, args.steps, args.tests,
            limits, progress, args.only_script, python,
        )  # fmt: skip
    if python:
        raise UsageError("fix: --python runs a script; run the tests there by --tests 'OTHER -m pytest'")
    if args.steps:
        raise UsageError("fix: --steps compares runs of a script; of tests the outcomes are compared")
    return fix_tests(argv, packages, *goal, args.only, args.tests, limits, progress)


COMMAND = Command(
    "Print tested changes that keep a script's floats narrow.", add_arguments, run,
    ("script.py", "--to float32 --tolerance 1e-5 script.py --epochs 3", "--write -m mypkg.train",
     "--package mypkg -- pytest tests"),
    runs_program=True,
    exit_status="0 if every place was fixed, 1 if one was not, or if --check finds a patch,\n"
    "  2 if there is none, 3 if it may not be written: too inexact without\n"
    "  --tolerance, or a test fails",
)  # fmt: skip
