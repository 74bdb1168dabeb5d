"""The command `agree`: random programs, whose dtypes every way to ask a system must agree on."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

import typelattice as tl
from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.rendering.grid import printable
from typelattice.conformance.agreement.agree import WAYS, WayResult, agree
from typelattice.show.cli import interrupts
from typelattice.show.cli.command import Command, DifferencesFound, Paragraphs, parse_count, parse_seed

MAX_SHOWN_REASONS = 5
SHORT_NAMES = {way.name.partition(" ")[0]: way for way in WAYS}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help="a system's name, or a .toml file")
    parser.add_argument(
        "--programs", type=parse_count, default=100, metavar="N", help="how many programs (default: 100)"
    )
    parser.add_argument("--seed", type=parse_seed, default=0, metavar="S", help="other programs (default: 0)")
    ways = f"the ways to ask, of {','.join(SHORT_NAMES)} (default: all)"
    parser.add_argument(
        "--reasons", action="store_true", help="print each reason why a way leaves out steps"
    )
    parser.add_argument("--ways", type=_parse_ways, default=[*SHORT_NAMES], metavar="LIST", help=ways)


def run(args: Namespace) -> Paragraphs:
    """Print for each way how many steps it answered, and each difference as a program of a few lines."""
    system = tl.system(args.system)
    yield f"{args.programs:,} random programs under {printable(system.name)}, seed {args.seed}"
    found: list[WayResult] = []
    with interrupts.raise_on_interrupt():
        for result in agree(system, args.programs, args.seed, [SHORT_NAMES[name] for name in args.ways]):
            found.append(result)
            name, *reasons = map(printable, _describe(result, None if args.reasons else MAX_SHOWN_REASONS))
            yield name
            yield from (f"  {reason}" for reason in reasons)
    for result in found:
        for difference in result.differences:
            yield ""
            yield from map(printable, str(difference).split("\n"))
    if any(result.difference_count for result in found):
        raise DifferencesFound


def _describe(result: WayResult, most_reasons: int | None) -> list[str]:
    name = result.name
    if result.missing:
        return [f"{name}: not installed, not asked: {result.missing}"]
    if result.failure:
        return [f"{name}: could not be asked: {result.failure}"]
    differ = f"{result.difference_count:,} programs differ" if result.difference_count else "none differs"
    left = sum(result.unanswered.values())
    lines = [f"{name}: {result.step_count:,} of {result.step_count + left:,} steps answered, {differ}"]
    most = result.unanswered.most_common(most_reasons)
    lines += [f"{count:,} left out: {reason}" for reason, count in most]
    if rest := left - sum(count for _, count in most):
        others = len(result.unanswered) - len(most)
        lines.append(f"{rest:,} left out for {others:,} further reasons: --reasons prints them")
    return lines


def _parse_ways(text: str) -> list[str]:
    """Read the names of ways, each once."""
    found = [word for word in text.replace(",", " ").split() if word]
    for name in found:
        if name not in SHORT_NAMES:
            near = spelling_hint(name, SHORT_NAMES)
            raise ArgumentTypeError(f"no way {quote_short(name)}{near}; these are {', '.join(SHORT_NAMES)}")
    if not found or len({*found}) < len(found):
        raise ArgumentTypeError(f"{quote_short(text)} should name each way once")
    return found


COMMAND = Command(
    "Ask random programs in every way, and find dtypes that differ.", add_arguments, run,
    ("jax", "mine.toml --programs 1000 --ways table,namespace,cpp17"),
    exit_status="0 if all installed ways agree, 1 if one differs, 2 if there is none",
)  # fmt: skip
