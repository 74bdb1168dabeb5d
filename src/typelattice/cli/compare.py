"""The command `compare`: an implementation against what it imitates, each difference by its root cause."""
from __future__ import annotations

import json
import random
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import typelattice as tl
from typelattice.cli import interrupts
from typelattice.cli.command import (
    Command,
    DifferencesFound,
    Paragraphs,
    UsageError,
    count,
    duration,
    format_argument,
    seed,
)
from typelattice.cli.record import versions
from typelattice.conformance.implementation import check_name, implementation, implementations, snippet
from typelattice.conformance.implementation_differences import (
    Cause,
    askable,
    calls_of_implementation,
    calls_of_system,
    causes,
    differences,
    not_known,
    shrink_known,
)
from typelattice.conformance.process import LibraryProcess
from typelattice.disk.read import FileError, read_bytes
from typelattice.disk.write import write_text
from typelattice.engine.system import System
from typelattice.facts.suggestions import nearest, short
from typelattice.rendering.grid import printable
from typelattice.rendering.json import document

LIMIT_BYTES = 1_000_000  # of a file of known differences


def arguments(parser: ArgumentParser) -> None:
    names = f"what to compare: {', '.join(implementations())}; or module:attribute for your own"
    other = "a system, a file of one, or another implementation (default: what it imitates)"
    known = "a JSON file of known differences, which do not count; it may only shrink"
    update = "write what is left of the known differences; all of them if the file is new"
    parser.add_argument("implementation", metavar="IMPLEMENTATION", help=names)
    parser.add_argument("--with", dest="other", metavar="SYSTEM|IMPLEMENTATION", help=other)
    parser.add_argument("--calls", type=count, metavar="N", help="ask so many at random (default: all)")
    parser.add_argument("--seed", type=seed, default=0, help="of the random calls (default: 0)")
    parser.add_argument("--known", metavar="FILE", help=known)
    parser.add_argument("--update", action="store_true", help=update)
    parser.add_argument(
        "--limit", type=duration, default=10.0, metavar="SECONDS", help="time a call may take (default: 10)"
    )
    format_argument(parser)


def run(args: Namespace) -> Paragraphs:
    """Report the differences by root cause. Raises DifferencesFound if any is not known."""
    if args.update and not args.known:
        raise UsageError("compare: --update writes the file of known differences; name it with --known")
    check_name(args.implementation)
    other = args.other or implementations().get(args.implementation, {}).get("with")
    if other is None:
        what = f"compare: {args.implementation} imitates nothing that is known here"
        raise UsageError(f"{what}; name a system or an implementation with --with")
    system = _system(other)
    known = _known(args.known)
    with interrupts.raise_on_interrupt(), ExitStack() as stack:
        asked = stack.enter_context(_process(args.implementation, args.limit))
        has = asked.catalogue
        if system is None:
            reference = stack.enter_context(_process(other, args.limit))
            expected = list(calls_of_implementation(reference, has))
            against = f"{other} ({versions(reference.catalogue.versions)})"
        else:
            expected, against = list(calls_of_system(system, has)), f"{system.name} ({system.library})"
        expected = askable(expected, has)
        if args.calls and args.calls < len(expected):
            expected = random.Random(args.seed).sample(expected, args.calls)
        answered = list(differences(asked, expected))
    if not answered:
        what = f"compare: {args.implementation} and {other} have no call in common"
        raise UsageError(f"{what}; name another with --with")
    found = causes(each for each in answered if each)
    new = not_known(found, known or {})
    about = f"{args.implementation} ({versions(has.versions)}) with {against}"
    if args.format == "json":
        yield document("comparison", _data(args.implementation, about, len(answered), found, new))
    else:
        yield printable(f"{about}: {len(answered):,} calls compared")
        for cause in new:
            yield from _told(args.implementation, cause)
        yield from _sums(found, new)
    if args.update:
        left = {c.name: len(c.differences) for c in found} if known is None else shrink_known(found, known)
        write_text(Path(args.known), json.dumps(left, indent=1, sort_keys=True) + "\n")
        new = [] if known is None else new
    if new:
        raise DifferencesFound


def _process(name: str, limit: float) -> LibraryProcess:
    return LibraryProcess(partial(implementation, name), limit)


def _system(other: str) -> System | None:
    """Find the system to compare with; None for an implementation. Raise UnknownSystemError."""
    if other in implementations() or ":" in other:
        return None
    try:
        return tl.system(other)
    except tl.UnknownSystemError:
        if near := nearest(other, implementations()):
            raise UsageError(f"compare: no system or implementation {short(other)}{near}") from None
        raise


def _known(path: str | None) -> Mapping[str, int] | None:
    """The known differences: cause → calls; None where there is no file yet. Raises UsageError."""
    if path is None or not Path(path).exists():
        return None
    try:
        known = json.loads(read_bytes(Path(path), LIMIT_BYTES))
    except (ValueError, FileError) as e:
        raise UsageError(f"compare: {path} cannot be read: {e}; write it with --update") from None
    counts = known.values() if isinstance(known, dict) else [None]
    if not all(type(number) is int and number >= 0 for number in counts):
        raise UsageError(f"compare: {path} must be an object of causes and counts; write it with --update")
    return known  # type: ignore[no-any-return]


def _told(name: str, cause: Cause) -> Paragraphs:
    simplest = cause.differences[0]
    yield f"  {len(cause.differences):6}  {printable(cause.name)}"
    yield f"          {printable(str(simplest))}"
    lines = snippet(name, simplest.found, simplest.expected.answer).splitlines()
    yield from (f"          | {line}" for line in lines)


def _sums(found: Sequence[Cause], new: Sequence[Cause]) -> Paragraphs:
    calls = sum(len(cause.differences) for cause in found)
    yield f"{calls:,} calls differ, for {len(found)} causes"
    if len(new) < len(found):
        yield f"{len(found) - len(new)} of the causes are known"


def _data(
    name: str, about: str, compared: int, found: Sequence[Cause], new: Sequence[Cause]
) -> dict[str, object]:
    told = [
        {
            "sort": cause.sort,
            "cause": cause.cause,
            "calls": len(cause.differences),
            "known": cause not in new,
            "example": {
                "op": simplest.found.op,
                "operands": list(simplest.found.operands),
                "expected": simplest.expected.answer,
                "found": simplest.found.answer,
                "message": simplest.found.message or simplest.expected.message,
            },
            "snippet": snippet(name, simplest.found, simplest.expected.answer),
        }
        for cause in found
        for simplest in cause.differences[:1]
    ]
    return {"about": about, "compared": compared, "causes": told}


COMMAND = Command(
    "Compare an implementation with the library that it imitates.", arguments, run,
    ("torch-meta", "jax-jit --with jax-eager --calls 500", "mine:Mine --with numpy --known known.json"),
)  # fmt: skip
