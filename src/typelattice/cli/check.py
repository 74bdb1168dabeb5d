"""The command `check`: judges a system file, what is in it and what it costs."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace
from itertools import combinations

import typelattice as tl
from typelattice.cli.command import FEW, Command, Paragraphs, some
from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, Kind, Node, Weak, place
from typelattice.rendering.terminal import beside, bold, folded, width
from typelattice.study.survey import brief

SECONDS = 10  # that the search for repairs may take


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.toml", help="a system file, or the name of a system")


def run(args: Namespace) -> Paragraphs:
    """The parts of a system one by one, the laws it breaks, and the nearest orders that break fewer."""
    s = tl.system(args.file)
    nodes = sorted(s.order.nodes, key=place)
    dtypes = [str(n) for n in nodes if isinstance(n, DType)]
    weak = [str(n) for n in nodes if isinstance(n, Weak)]
    pairs = list(combinations(nodes, 2))
    yield bold("\n".join(folded(f"{args.file}: a valid system", width())))
    yield ""
    yield beside("name", [s.name])
    yield beside("title", [s.title or "none; give one, it heads tables"])
    yield beside("dtypes", [f"{len(dtypes)}: {' '.join(dtypes)}"])
    yield beside("weak", [f"{len(weak)}: {' '.join(weak)}" if weak else "none in the order"])
    yield beside("tiers", [", ".join(s.tiers)])
    yield beside("no join", _without_join(s, pairs))
    ties = [f"{', '.join(map(str, sorted(of, key=place)))}: {winner}" for of, winner in s.ties.items()]
    yield beside("ties", ties or ["none"])
    if s.overrides or s.refusals:
        outright = f"{len(s.overrides)} pairs in overrides, {len(s.refusals)} in refusals"
        yield beside("said outright", [outright])
    yield beside("defaults", _defaults(s))
    yield from (beside(*section) for section in brief(tl.laws(s), tl.criteria(s)))
    if any(len(s.order.minimal_bounds(a, b)) > 1 for a, b in pairs):
        yield beside("repairs", _repairs(s))


def _without_join(s: System, pairs: list[tuple[Node, Node]]) -> list[str]:
    """How many pairs have no join, and what becomes of them instead."""
    fates: dict[str, list[str]] = {}
    for a, b in pairs:
        if s.order.join(a, b) is None:
            fates.setdefault(_instead(s, a, b), []).append(f"{a} + {b}")
    split = [f"{len(of)} {fate}: {some(of)}" for fate, of in fates.items()]
    return [f"{sum(map(len, fates.values()))} of {len(pairs)} pairs", *split]


def _instead(s: System, a: Node, b: Node) -> str:
    """What becomes of a pair that has no join."""
    bounds = frozenset(s.order.minimal_bounds(a, b))
    if frozenset((a, b)) in s.overrides:
        return "by an override"
    if bounds in s.ties:
        return "by a tie"
    return "refused, with several minimal bounds and no tie" if bounds else "refused, nothing lies above both"


def _defaults(s: System) -> list[str]:
    """The dtype of each kind of Python scalar, and the kinds that have none."""
    words = {Kind.UNSIGNED: "uint", Kind.SIGNED: "int"}
    defaults = {words.get(kind, kind.value): d for kind, d in s.defaults.items()}
    missing = [kind for kind in ("int", "float", "complex") if kind not in defaults]
    none = [f"none for {', '.join(missing)}: alone it is refused"] if missing else []
    return [*(f"{kind}: {d}" for kind, d in defaults.items()), *none]


def _repairs(s: System) -> list[str]:
    """The nearest orders in which every pair that has a bound has a least, or why there is none to show."""
    from typelattice.designer import ERRORS, repairs

    try:
        found = repairs(s, limit=FEW, seconds=SECONDS)
    except (*ERRORS, TimeoutError) as e:
        return [str(e).split("\n", 1)[0]]
    return [f"{r}: {len(r.changed)} answers change" for r in found]


COMMAND = Command(
    "Judges a system file: what is in it, and what it costs.", arguments, run, ("mine.toml", "numpy"),
)  # fmt: skip
