"""The command line: each command its arguments, what it prints, and examples."""
from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NoReturn

import typelattice as tl
from typelattice.consensus import common_dtypes, contradicted, undefined
from typelattice.dtypes import DType, Kind, Weak
from typelattice.explanation import answer, asked, data, fate, place, sections
from typelattice.nearest import nearest
from typelattice.promotion import Promotion
from typelattice.render import FORMATS
from typelattice.render.grid import printable
from typelattice.render.terminal import beside, bold, colour, dim, folded, show, width
from typelattice.render.text import text
from typelattice.source import FOLDER
from typelattice.strings import parse
from typelattice.survey import brief, costs, dtypes_of, survey, verdicts
from typelattice.system import System
from typelattice.table import CODES, Diff, Table

BAD_INPUT = (tl.DTypeError, tl.OperandError, tl.OpError, tl.FormatError, tl.UnknownSystem)
FEW = 4  # pairs that stand for all of their sort
Out = Iterator[str]  # paragraphs


class Usage(Exception):
    """A command line that cannot be read: one line that says why."""


class Parser(ArgumentParser):
    """Raises Usage where argparse prints a page; takes -1 and -1e39 for numbers."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(
            prog=f"typelattice {name}",
            description=command.about,
            epilog="\n".join(["examples:", *(f"  typelattice {name} {example}" for example in command.examples)]),
            allow_abbrev=False,
            formatter_class=RawDescriptionHelpFormatter,
        )
        self._negative_number_matcher = re.compile(r"-\.?\d|-(inf|nan)$")
        command.arguments(self)

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{self.prog}: {message} (see {self.prog} --help)")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it is for, its arguments, what it prints, examples."""

    about: str
    arguments: Callable[[ArgumentParser], object]
    run: Callable[[Namespace], Out]
    examples: Sequence[str]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line. 0: done; 2: bad input, with one line on stderr; 1: nobody reads the output any more."""
    width.cache_clear()
    colour.cache_clear()
    try:
        for paragraph in run(list(sys.argv[1:] if argv is None else argv)):
            show(paragraph, sys.stdout)
        sys.stdout.flush()
    except SystemExit as e:  # argparse, after --help
        return int(e.code or 0)
    except Usage as e:
        show(printable(str(e)), sys.stderr)
        return 2
    except BAD_INPUT as e:
        show(f"typelattice: {printable(str(e))}", sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more on its way out
        return 1
    return 0


def run(argv: list[str]) -> Out:
    """What a command line prints."""
    first, *rest = argv or ["help"]
    if first in ("-h", "--help", "help"):
        yield from _help()
    elif first == "--version":
        yield f"typelattice {tl.__version__}"
    elif first in COMMANDS:
        yield from COMMANDS[first].run(Parser(first, COMMANDS[first]).parse_intermixed_args(rest))
    else:
        raise Usage(f"typelattice: no command {first[:40]!r}{nearest(first, COMMANDS)}; there are {', '.join(COMMANDS)}")


def _help() -> Out:
    yield "What dtype does x + y have, in every array library, and why?\n\nusage: typelattice COMMAND ...\n"
    yield from (f"  {name:9} {command.about}" for name, command in COMMANDS.items())
    yield "\n  typelattice COMMAND --help: more, with examples; typelattice --version\n\ntry:"
    yield from (f"  typelattice {name} {COMMANDS[name].examples[0]}" for name in ("explain", "table", "diff"))


# systems


def _systems_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="a .toml file of your own, to list too")


def _systems(args: Namespace) -> Out:
    found = [tl.system(s) for s in (*tl.systems(), *args.files)]
    stub = min(max(len(printable(s.name)) for s in found), 30) + 2
    for s in found:
        yield beside(printable(s.name), [f"{s.title} ({s.library})" if s.library else s.title], stub)


# explain


def _explain_arguments(parser: ArgumentParser) -> None:
    operands = "an array: int8; another: int8:0d, int8:weak; a Python scalar: int, float, complex, 300, True"
    parser.add_argument("operands", nargs="+", metavar="OPERAND", help=operands)
    parser.add_argument("--system", action="append", metavar="NAME|FILE", help="that system in full; may be given again")
    parser.add_argument("--op", metavar="OP", help="an operation, such as add, divide, equal (default: promotion alone)")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def _explain(args: Namespace) -> Out:
    found = [tl.system(s) for s in args.system or tl.systems()]
    own = {name: d for s in found for name, d in s.dtypes.items()}
    operands = [parse(x, own) for x in args.operands]
    answers = [s.explain(*operands, op=args.op) for s in found]
    if args.format == "json":
        from json import dumps

        yield dumps({"operands": [str(o) for o in operands], "op": args.op, "answers": [data(p) for p in answers]}, indent=1)
    elif args.system:
        for i, (p, given) in enumerate(zip(answers, args.system, strict=True)):
            yield from ["", ""] * bool(i)
            yield from _in_full(p, given)
    else:
        yield from _in_brief(answers, asked([str(o) for o in operands], args.op))


def _in_full(p: Promotion, given: str) -> Out:
    """One system's answer, and the whole way to it."""
    operands = asked([str(o) for o in p.operands], p.op)
    library = f" ({p.system.library})" if p.system.library else ""
    yield bold("\n".join(folded(f"{operands} under {p.system.name}: {answer(p)}", width())))
    yield dim("\n".join(folded(f"{p.system.title}{library}", width())))
    yield ""
    for heading, lines in sections(p):
        yield beside(heading, lines)
    yield beside("rule", [str(p.rule), *_quoted(p, given)])


def _quoted(p: Promotion, given: str) -> Out:
    """The lines of the file that the rule names, as far as the file is found."""
    folders = [Path(given).parent, FOLDER] if given.endswith(".toml") else [FOLDER]
    path = next((folder / p.rule.file for folder in folders if (folder / p.rule.file).is_file()), None)
    lines = path.read_text(encoding="utf-8").split("\n") if path else []
    yield from (f"{n}: {lines[n - 1][:200]}" for n in p.rule.lines[:FEW] if n <= len(lines))


def _in_brief(answers: Sequence[Promotion], operands: str) -> Out:
    """All systems, grouped by answer: the one that most give first, refusals last."""
    groups: dict[str, dict[str, list[str]]] = {}
    for p in answers:
        why = "; ".join(f"{f.value} out of range, {fate(f)}" for f in p.fits if f.outcome != "fits")
        why = why or (p.reason or "").removeprefix(f"{p.system.name} ")
        groups.setdefault(answer(p), {}).setdefault(why, []).append(p.system.name)
    ranked = sorted(groups.items(), key=lambda g: (g[0] == "refused", -sum(map(len, g[1].values()))))
    yield bold("\n".join(folded(operands, width())))
    yield ""
    stub = max(map(len, groups)) + 6
    for given, whys in ranked:
        ordered = sorted(whys.items(), key=lambda w: (bool(w[0]), -len(w[1])))
        lines = [f"{why}: {', '.join(names)}" if why else ", ".join(names) for why, names in ordered]
        yield beside(f"{given.ljust(stub - 6)}{sum(map(len, whys.values())):4}", lines, stub)
    yield ""
    yield dim(f"Why? Add --system {next(iter(ranked[0][1].values()))[0]}")


# table and diff


def _table_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--system", default="numpy", metavar="NAME|FILE", help="(default: numpy)")
    _grid_arguments(parser)


def _diff_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="a system's name, or a .toml file")
    parser.add_argument("b", metavar="B", help="another")
    _grid_arguments(parser)


def _grid_arguments(parser: ArgumentParser) -> None:
    tiers = "what the rows are: arrays (default), 0-d arrays, Python scalars; the columns are arrays"
    parser.add_argument("--op", metavar="OP", help="an operation, such as add (default: promotion alone)")
    parser.add_argument("--tier", choices=("array", "0d", "scalar"), default="array", help=tiers)
    parser.add_argument("--codes", choices=CODES, default="bits", help="i32 counts bits (default), i4 bytes, int32 is a name")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--dtypes", metavar="LIST", help="operands, such as int8,uint8,float (default: all of the system)")
    parser.add_argument("--all", action="store_true", help="also integers of less than 8 bits, floats of 8 or less")


def _table(args: Namespace) -> Out:
    return _grid(args, lambda **keys: tl.table(args.system, **keys))


def _diff(args: Namespace) -> Out:
    return _grid(args, lambda **keys: tl.diff(args.a, args.b, **keys))


def _grid(args: Namespace, make: Callable[..., Table | Diff]) -> Out:
    dtypes = None if args.dtypes is None else [x for x in re.split(r"[,\s]+", args.dtypes) if x]
    grid = make(op=args.op, tier=args.tier, dtypes=dtypes, all=args.all).grid(args.codes)
    yield text(grid, width(), colour()) if args.format == "text" else tl.render(grid, args.format)


# check


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


# laws


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


# consensus


def _consensus_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="two systems or more: names or .toml files")
    parser.add_argument("--op", metavar="OP", help="an operation, such as add (default: promotion alone)")
    parser.add_argument("--tier", choices=("array", "0d", "scalar"), default="array", help="what the rows are (default: arrays)")
    parser.add_argument("--codes", choices=CODES, default="bits")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--standard", metavar="NAME|FILE", help="a standard: what it leaves undefined though all agree")


def _consensus(args: Namespace) -> Out:
    found = tl.consensus(*args.systems, op=args.op, tier=args.tier)
    if args.format != "text":
        yield tl.render(found.grid(args.codes), args.format)
        return
    yield text(found.grid(args.codes), width(), colour())
    for sort in ("contested", "refused"):
        lines = [f"{len(pairs):4}  {who}: {_some(pairs)}" for who, pairs in found.groups(sort).items()]
        yield from ["", beside(sort, lines)] if lines else []
    if args.standard:
        standard = tl.system(args.standard)
        pairs = undefined(standard, found)
        yield f"\n{standard.name} leaves {len(pairs)} pairs undefined on which all of these agree: {_some(pairs, 60)}"
        for s in found.systems:
            broken = contradicted(standard, s)
            said = [f"{' + '.join(map(str, p.operands))} is {answer(p)} there, {answer(q)} here" for p, q in broken]
            yield beside(s.name, [f"contradicts {standard.name} in {len(broken)} cells", *said])


def _some(pairs: Sequence[tuple[str, str]], most: int = FEW) -> str:
    return ", ".join(f"{a} + {b}" for a, b in pairs[:most]) + ", ..." * (len(pairs) > most)


# conform and record


def _conformance(name: str) -> tuple[Callable[[ArgumentParser], object], Callable[[Namespace], Out]]:
    """The arguments and the run of a command that stands with the recordings, loaded when it is called."""

    def arguments(parser: ArgumentParser) -> None:
        from typelattice.conformance import commands

        getattr(commands, f"{name}_arguments")(parser)

    def run(args: Namespace) -> Out:
        from typelattice.conformance import commands

        try:
            yield from getattr(commands, name)(args)
        except commands.ERRORS as e:
            raise Usage(f"typelattice: {e}") from None

    return arguments, run


# design


def _design_arguments(parser: ArgumentParser) -> None:
    from typelattice.designer.commands import design_arguments

    design_arguments(parser)


def _design(args: Namespace) -> Out:
    from typelattice.designer import ERRORS
    from typelattice.designer.commands import run_design

    try:
        yield from run_design(args)
    except ERRORS as e:
        raise Usage(f"typelattice design: {e}") from None


COMMANDS = {
    "explain": Command(
        "The dtype at which operands meet: in all systems, or one in full.", _explain_arguments, _explain,
        [
            "int64 float16", "int8 uint8 --system jax", "uint8 300 --op add",
            "int32:0d float --system torch --system mine.toml", "-- uint8 -1",
        ],
    ),
    "table": Command(
        "What a system answers to every pair of dtypes.", _table_arguments, _table,
        ["--system jax", "--op divide --codes names --dtypes int8,int32,float16,float", "--system mine.toml --format markdown"],
    ),
    "diff": Command(
        "Where two systems answer otherwise: a|b in the cells that differ.", _diff_arguments, _diff,
        ["numpy jax", "numpy mine.toml --op add --format html", "numpy torch --tier 0d"],
    ),
    "consensus": Command(
        "Where systems agree: which pairs are contested, and by whom.", _consensus_arguments, _consensus,
        ["numpy jax torch", "numpy jax torch tensorflow-all --standard array-api", "numpy mine.toml --tier scalar"],
    ),
    "laws": Command(
        "Which laws systems keep, where they break, and what their casts lose.", _laws_arguments, _laws,
        ["numpy", "numpy jax torch --common", "--dtypes jep9407-3-bf16", "mine.toml --tier all"],
    ),
    "conform": Command(
        "A system against a library: its recorded answers, or the installed one.", *_conformance("conform"),
        ["numpy", "jax --live 10000 --seed 3", "numpy --system mine.toml"],
    ),
    "record": Command(
        "Asks an installed library everything and writes down its answers.", *_conformance("record"),
        ["numpy", "mine:MyLibrary -o mine.json"],
    ),
    "design": Command(
        "Completes a partial order, or repairs one: the best covers to add, and their cost.", _design_arguments, _design,
        ["jep9407-0", "mine.toml --rules lattice,overflow,magnitude --costs width,precision -o found", "numpy --repair"],
    ),
    "systems": Command("The systems that come with typelattice.", _systems_arguments, _systems, ["", "mine.toml"]),
    "check": Command("Validates a system file and says what is in it.", _check_arguments, _check, ["mine.toml", "numpy"]),
}  # fmt: skip
