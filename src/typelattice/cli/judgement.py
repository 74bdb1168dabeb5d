"""`check` and `laws`."""
from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from functools import cache
from itertools import combinations

import typelattice as tl
from typelattice.cli.command import FEW, Command, Out
from typelattice.engine.system import System
from typelattice.explain.english import place
from typelattice.facts.dtypes import DType, Kind, Weak
from typelattice.rendering import FORMATS
from typelattice.rendering.terminal import beside, bold, colour, dim, folded, width
from typelattice.rendering.text import text
from typelattice.study.consensus import common_dtypes
from typelattice.study.survey import brief, costs, dtypes_of, survey, verdicts


def _check_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.toml", help="a system file, or the name of a system")


def _check(args: Namespace) -> Out:
    s = tl.system(args.file)
    nodes = sorted(s.order.nodes, key=place)
    dtypes = [str(n) for n in nodes if isinstance(n, DType)]
    weak = [str(n) for n in nodes if isinstance(n, Weak)]
    pairs = list(combinations(nodes, 2))
    ways: dict[str, list[str]] = {}
    for a, b in pairs:
        if s.order.join(a, b) is None:
            ways.setdefault(_instead(s, a, b), []).append(f"{a} + {b}")
    split = [f"{len(ps)} {way}: {', '.join(ps[:FEW])}{', ...' * (len(ps) > FEW)}" for way, ps in ways.items()]
    words = {Kind.UNSIGNED: "uint", Kind.SIGNED: "int"}
    defaults = {words.get(kind, kind.value): d for kind, d in s.defaults.items()}
    missing = [kind for kind in ("int", "float", "complex") if kind not in defaults]
    yield bold("\n".join(folded(f"{args.file}: a valid system", width())))
    yield ""
    yield beside("name", [s.name])
    yield beside("title", [s.title or "none; give one, it heads tables"])
    yield beside("dtypes", [f"{len(dtypes)}: {' '.join(dtypes)}"])
    yield beside("weak", [f"{len(weak)}: {' '.join(weak)}" if weak else "none in the order"])
    yield beside("tiers", [", ".join(s.tiers)])
    yield beside("no join", [f"{sum(map(len, ways.values()))} of {len(pairs)} pairs", *split])
    ties = [(", ".join(str(n) for n in sorted(bounds, key=place)), winner) for bounds, winner in s.ties.items()]
    yield beside("ties", [f"{bounds}: {winner}" for bounds, winner in ties] or ["none"])
    if s.overrides or s.refusals:
        yield beside("said outright", [f"{len(s.overrides)} pairs in overrides, {len(s.refusals)} in refusals"])
    none = [f"none for {', '.join(missing)}: alone it is refused"] if missing else []
    yield beside("defaults", [*(f"{kind}: {d}" for kind, d in defaults.items()), *none])
    yield from (beside(*section) for section in brief(tl.laws(s), tl.criteria(s)))
    if any(len(s.order.minimal_bounds(a, b)) > 1 for a, b in pairs):
        yield beside("repairs", _repairs(s))


@cache
def _repairs(s: System) -> list[str]:
    """The nearest orders in which every pair that has a bound has a least, or why there is none to show."""
    from typelattice.designer import ERRORS, repairs

    try:
        found = repairs(s, limit=FEW, seconds=10)
    except (*ERRORS, TimeoutError) as e:
        return [str(e).split("\n", 1)[0]]
    return [f"{r}: {len(r.changed)} answers change" for r in found]


def _instead(s: System, a: DType | Weak, b: DType | Weak) -> str:
    """What becomes of a pair that has no join."""
    bounds = frozenset(s.order.minimal_bounds(a, b))
    if frozenset((a, b)) in s.overrides:
        return "by an override"
    if bounds in s.ties:
        return "by a tie"
    return "refused, with several minimal bounds and no tie" if bounds else "refused, nothing lies above both"


def _laws_arguments(parser: ArgumentParser) -> None:
    own = "such as int8,uint8, or those of a system: jep9407-3"
    tiers = "the operands: arrays (default), 0-d arrays, Python scalars, or all together"
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="one in full, several as a table (default: all)")
    parser.add_argument("--tier", choices=("array", "0d", "scalar", "all"), default="array", help=tiers)
    parser.add_argument("--dtypes", metavar="LIST|SYSTEM", help=f"{own} (default: all of each system)")
    parser.add_argument("--common", action="store_true", help="only dtypes that all of them have")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--all", action="store_true", help="all pairs that break a criterion, not only the first")


def _laws(args: Namespace) -> Out:
    found = [tl.system(s) for s in args.systems or tl.systems()]
    dtypes: list[object] | None = None
    if args.dtypes is not None:
        known = args.dtypes in tl.systems() or args.dtypes.endswith(".toml")
        dtypes = [*(dtypes_of(args.dtypes) if known else (x for x in re.split(r"[,\s]+", args.dtypes) if x))]
    if args.common:
        dtypes = [*common_dtypes([s for s in found if dtypes_of(s)])]
    if len(args.systems) != 1 or args.format != "text":
        grid = survey(found, args.tier, dtypes)
        yield text(grid, width(), colour()) if args.format == "text" else tl.render(grid, args.format)
        return
    judged, cost = tl.laws(found[0], args.tier, dtypes), tl.criteria(found[0], dtypes, scalars=args.tier == "all")
    yield bold("\n".join(folded(f"Laws and criteria of {found[0].name}, {len(judged.operands)} operands", width())))
    yield dim("\n".join(folded(found[0].title, width())))
    yield from ("", *(beside(*section, 16) for section in verdicts(judged)))
    yield from ("", *(beside(*section, 16) for section in costs(cost, cost.asked if args.all else FEW)))


check = Command("Judges a system file: what is in it, and what it costs.", _check_arguments, _check, ["mine.toml", "numpy"])

laws = Command(
    "Which laws a system keeps, and what its casts lose.", _laws_arguments, _laws,
    ["numpy", "numpy jax torch --common", "--dtypes jep9407-3-bf16", "mine.toml --tier all"],
)  # fmt: skip
