"""The command `tune`: the narrowest dtypes with which a script's results stay within a tolerance."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from signal import SIGINT, Signals

from typelattice.base.rendering.terminal_output import print_error
from typelattice.show.cli.command import (
    Command,
    Paragraphs,
    UsageError,
    add_format_argument,
    add_workers_arguments,
    error_line,
    parse_count,
    parse_duration,
)
from typelattice.show.cli.interrupts import EndedBySignal, end_by_signal, raise_on_end_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.repair.tune.tune_program import Tuner
    from typelattice.repair.tune.tuning_result import Tuning


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--tolerance", type=float, required=True, metavar="X",
        help="the largest error of a result against the program in float64",
    )  # fmt: skip
    parser.add_argument(
        "--dtypes", default="float32,float16", metavar="LIST",
        help="the dtypes to try, of float32,bfloat16,float16 (default: float32,float16)",
    )  # fmt: skip
    parser.add_argument(
        "--measure", default="norm", metavar="M",
        help="how the error is measured: norm (default), element, or ulp",
    )  # fmt: skip
    parser.add_argument(
        "--metric", default="", metavar="FUNCTION",
        help="a function of the script, whose value counts instead of the results",
    )  # fmt: skip
    parser.add_argument(
        "--results", default="", metavar="NAMES",
        help="the names of the script that hold its results (default: what it prints or saves)",
    )  # fmt: skip
    parser.add_argument(
        "--inputs", default="", metavar="FUNCTION",
        help="a generator function that yields the arguments of each run: NAME or file.py:NAME",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", type=parse_count, default=1, metavar="N",
        help="also run with N - 1 other seeds: each constant seed is moved (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=parse_duration, default=120.0, metavar="N",
        help="end the search after N seconds with the best so far (default: 120)",
    )  # fmt: skip
    add_workers_arguments(parser)
    parser.add_argument(
        "--resume", default="", metavar="FILE",
        help="append each trial to this journal, and take those that it has already",
    )  # fmt: skip
    parser.add_argument(
        "--allow-writes", action="append", default=[], metavar="FOLDER",
        help="a folder outside the copy that the program may write into; can be repeated",
    )  # fmt: skip
    add_format_argument(parser)
    parser.add_argument("--svg", metavar="FILE", help="draw the front into this file")
    parser.add_argument(
        "--write", type=parse_count, metavar="POINT", help="write the patch of this point into the sources"
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument(
        "command",
        nargs="*",
        metavar="SCRIPT ARG",
        help="a script and its arguments; our options stand before it; after -- all are its own",
    )


def run(args: Namespace) -> Paragraphs:
    """Print the front and the patch; exit with 1 if nothing narrower keeps the tolerance."""
    tuner = _make_tuner(args)
    ended: EndedBySignal | None = None
    try:
        with raise_on_end_signals():
            tuning = tuner.run()
    except EndedBySignal as e:
        ended = e
        name = "interrupted" if e.number == SIGINT else f"ended by {Signals(e.number).name}"
        tuner.ended = f"{name}: this is the best so far"
        if tuner.tuned is None:
            print_error(error_line(f"{name} before the first runs had ended; nothing was written"))
            end_by_signal(e.number)
            return
        tuning = tuner.best_so_far()
    yield from _show(args, tuning)
    if ended is not None:
        print_error(error_line("interrupted; nothing was written"))
        end_by_signal(ended.number)
        return
    if args.write is not None:
        written = tuning.write(args.write)
        if args.format == "text":
            yield f"wrote {', '.join(map(str, written)) or 'nothing: the point changes no file'}"
    if not tuning.saves:
        raise SystemExit(1)


def _show(args: Namespace, tuning: Tuning) -> Paragraphs:
    """Print the result, and draw it if that is asked for."""
    if args.format == "json":
        from typelattice.base.rendering.json import json_document

        yield json_document("tuning", tuning.data())
    else:
        yield from str(tuning).split("\n")
    if args.svg:
        from typelattice.base.disk.write import write_text
        from typelattice.repair.tune.front_drawing import draw_front

        write_text(Path(args.svg), draw_front(tuning))


def _make_tuner(args: Namespace) -> Tuner:
    """Make the tuner, and check all options before anything runs."""
    from typelattice.base.disk.write import check_writable
    from typelattice.repair.copies.progress import TUNE_PREFIX, Progress
    from typelattice.repair.patch.patch_search import make_limits
    from typelattice.repair.tune.listed_inputs import split_inputs_function
    from typelattice.repair.tune.tune_options import TuneOptions, check_options
    from typelattice.repair.tune.tune_program import make_script_tuner

    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.module is None and not command:
        raise UsageError("tune: give a script, or -m and a module; see typelattice tune --help")
    target, argv = (args.module, command) if args.module is not None else (command[0], command[1:])
    options = check_options(
        TuneOptions(
            args.tolerance, tuple(filter(None, args.dtypes.split(","))), args.measure, args.metric,
            tuple(filter(None, args.results.split(","))), args.seeds, args.seconds, args.jobs, args.scheduler,
            args.resume,
        )
    )  # fmt: skip
    if args.inputs:
        split_inputs_function(args.inputs)
    for path in filter(None, (args.svg, args.resume)):
        check_writable(path)
    limits = make_limits(args.seconds, args.allow_writes)
    progress = Progress(sys.stderr, prefix=TUNE_PREFIX)
    return make_script_tuner(target, argv, options, args.inputs, args.module is not None, limits, progress)


COMMAND = Command(
    "Find the narrowest dtypes within a tolerance of the results.", add_arguments, run,
    ("--tolerance 1e-4 script.py", "--tolerance 1e-3 --dtypes float32,bfloat16 --seeds 3 train.py",
     "--tolerance 2 --measure ulp --svg front.svg script.py", "--tolerance 1e-4 --write 3 script.py"),
    runs_program=True,
    exit_status="0 if a narrower configuration keeps the tolerance, 1 if none does, 2 if there\n"
    "  is no answer",
)  # fmt: skip
