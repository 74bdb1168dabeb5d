"""The command `compare`: an implementation and the library that it imitates, by root causes."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from typelattice.base.disk.write import check_writable, write_text
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.json import json_document
from typelattice.conformance.imitations.compare_implementation import (
    Comparison,
    compare_implementation,
    comparison_data,
    describe_causes,
)
from typelattice.conformance.imitations.implementation import implementations
from typelattice.conformance.imitations.implementation_differences import DifferenceCause
from typelattice.conformance.imitations.known_differences import (
    known_differences_json,
    read_known_differences,
    select_unknown,
)
from typelattice.show.cli import interrupts
from typelattice.show.cli.command import (
    Command,
    DifferencesFound,
    Paragraphs,
    UsageError,
    add_format_argument,
    add_workers_arguments,
    parse_count,
    parse_duration,
    parse_seed,
)


def add_arguments(parser: ArgumentParser) -> None:
    names = f"what to compare: {', '.join(implementations())}; or module:attribute for your own"
    other = "a system, a system file, or another implementation (default: what it imitates)"
    known = "a JSON file of known differences, which do not count; it may only shrink"
    update = "remove fixed differences from the known file; create it if it does not exist"
    parser.add_argument("implementation", metavar="IMPLEMENTATION", help=names)
    parser.add_argument("--with", dest="other", metavar="SYSTEM|IMPLEMENTATION", help=other)
    parser.add_argument(
        "--calls", type=parse_count, metavar="N", help="compare N random calls (default: all)"
    )
    parser.add_argument("--seed", type=parse_seed, default=0, help="random seed for the calls (default: 0)")
    parser.add_argument("--known", metavar="FILE", help=known)
    parser.add_argument("--update", action="store_true", help=update)
    parser.add_argument(
        "--limit",
        type=parse_duration,
        default=10.0,
        metavar="SECONDS",
        help="time limit for a call (default: 10)",
    )
    values = "also compare values: arrays hold several numbers, and the other side runs now"
    parser.add_argument("--values", action="store_true", help=values)
    programs = "also compare N random programs of two to four operations"
    parser.add_argument("--programs", type=parse_count, default=0, metavar="N", help=programs)
    folder = "keep each answer in this folder, and go on from it where a comparison was stopped"
    parser.add_argument("--answers", metavar="FOLDER", help=folder)
    add_workers_arguments(parser)
    add_format_argument(parser)


def run(args: Namespace) -> Paragraphs:
    """Report the differences by root cause. Raises DifferencesFound if any is not known."""
    if args.update and not args.known:
        raise UsageError("compare: --update writes the file of known differences; name it with --known")
    exists = args.known and Path(args.known).exists()
    if args.known and not (exists or args.update):
        raise UsageError(f"compare: there is no file {args.known}; create it with --update")
    known = read_known_differences(args.known) if exists else None
    if args.answers:
        check_writable(Path(args.answers) / "any.answers")
    with interrupts.raise_on_interrupt():
        found = compare_implementation(
            args.implementation, args.other, args.calls, args.seed, args.limit,
            by_value=args.values, programs=args.programs, jobs=args.jobs, scheduler=args.scheduler,
            answers_folder=Path(args.answers) if args.answers else None,
        )  # fmt: skip
    new = select_unknown(found.causes, known or {})
    if args.format == "json":
        yield json_document("comparison", comparison_data(found, new))
    else:
        yield printable(f"{found.subject_line}: {found.compared_count:,} calls compared")
        if found.resumed_count:
            yield printable(f"{found.resumed_count:,} answers were in {args.answers} already")
        yield from (printable(str(each)) for each in found.omitted_dtypes)
        yield from map(printable, describe_causes(found, new))
        yield from _summarise_counts(found, new)
    if args.update:
        write_text(Path(args.known), known_differences_json(found.causes, known))
        new = [] if known is None else new
    if new:
        raise DifferencesFound


def _summarise_counts(comparison: Comparison, new_causes: Sequence[DifferenceCause]) -> Paragraphs:
    calls = sum(len(cause.differences) for cause in comparison.causes)
    yield f"{calls:,} calls differ, for {len(comparison.causes)} causes"
    if len(new_causes) < len(comparison.causes):
        yield f"{len(comparison.causes) - len(new_causes)} of the causes are known"
    if comparison.vague_answers:
        vague_text = ", ".join(
            f"{number:,} {what}" for what, number in Counter(comparison.vague_answers).most_common()
        )
        yield printable(f"{sum(comparison.vague_answers.values()):,} answers are vague: {vague_text}")


COMMAND = Command(
    "Compare an implementation with the library that it imitates.", add_arguments, run,
    ("torch-meta", "jax-jit --with jax-eager --calls 500", "mine:Mine --with numpy --known known.json",
     "jax-jit --with jax-eager --values --calls 500"),
    exit_status="0 if no new call differs, 1 if one does, 2 if there is no answer",
)  # fmt: skip
