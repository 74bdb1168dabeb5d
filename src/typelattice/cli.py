"""The command line: each command a parser, a function that yields what to print, and examples."""
from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from os import devnull, environ
from textwrap import fill
from typing import NoReturn

import typelattice as tl
from typelattice.dtypes import DType, Weak, nearest
from typelattice.explanation import answer, asked, data, fit_words, sections
from typelattice.format import FOLDER
from typelattice.promotion import Promotion
from typelattice.render import FORMATS
from typelattice.render.grid import printable
from typelattice.render.text import paint, text
from typelattice.system import System
from typelattice.table import CODES, Diff, Table

BAD_INPUT = (tl.DTypeError, tl.OperandError, tl.OpError, tl.FormatError, tl.UnknownSystem)
Out = Iterator[str]  # paragraphs


class Usage(Exception):
    """A command line that cannot be read: one line that says why."""


class Parser(ArgumentParser):
    """Raises Usage where argparse prints a page; takes -1 and -1e39 as numbers."""

    def __init__(self, **keys: object) -> None:
        super().__init__(allow_abbrev=False, formatter_class=RawDescriptionHelpFormatter, **keys)  # type: ignore[arg-type]
        self._negative_number_matcher = re.compile(r"-\.?\d|-(inf|nan)$")

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{self.prog}: {message} (see {self.prog} --help)")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it is for, its arguments, what it prints, examples."""

    about: str
    arguments: Callable[[Parser], None]
    run: Callable[[Namespace], Out]
    examples: str


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line; 0 is success, 2 bad input, 1 a reader that went away."""
    try:
        for paragraph in _run(list(sys.argv[1:] if argv is None else argv)):
            _print(paragraph)
        sys.stdout.flush()
    except SystemExit as e:  # argparse, after --help
        return int(e.code or 0)
    except Usage as e:
        print(_ascii(printable(str(e))), file=sys.stderr)
        return 2
    except BAD_INPUT as e:
        print(_ascii(f"typelattice: {printable(str(e))}"), file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stdout = open(devnull, "w")  # noqa: SIM115, PTH123  # or Python complains once more on its way out
        return 1
    return 0


def _run(argv: list[str]) -> Out:
    first = argv[0] if argv else "--help"
    if first in ("-h", "--help", "help"):
        yield HELP
    elif first == "--version":
        yield f"typelattice {tl.__version__}"
    elif first in COMMANDS:
        command = COMMANDS[first]
        parser = Parser(prog=f"typelattice {first}", description=command.about, epilog=f"examples:\n{command.examples}")
        command.arguments(parser)
        yield from command.run(parser.parse_intermixed_args(argv[1:]))
    else:
        raise Usage(f"typelattice: no command {first[:40]!r}{nearest(first, COMMANDS)}; commands are {', '.join(COMMANDS)}")


def _print(paragraph: str) -> None:
    sys.stdout.write(_ascii(paragraph, sys.stdout) + "\n")


def _ascii(line: str, stream: object = None) -> str:
    """Text that the stream can encode."""
    encoding = getattr(stream or sys.stderr, "encoding", None) or "utf-8"
    return line.encode(encoding, "backslashreplace").decode(encoding)


def _colour() -> bool:
    return sys.stdout.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def _bold(line: str) -> str:
    return paint(line, "1") if _colour() else line


def _dim(line: str) -> str:
    return paint(line, "2") if _colour() else line


def _width() -> int:
    """The terminal's width; 80 columns elsewhere."""
    try:
        from os import get_terminal_size

        return max(40, int(environ.get("COLUMNS") or get_terminal_size(sys.stdout.fileno()).columns) or 80)
    except (OSError, ValueError, AttributeError):
        return 80


def _under(heading: str, lines: Sequence[str], stub: int = 14) -> str:
    """A heading, and lines beside it."""
    shown = [fill(printable(line), _width() - stub, subsequent_indent="  ", break_on_hyphens=False).split("\n") for line in lines]
    flat = [part for parts in shown for part in parts] or [""]
    head = heading.ljust(stub - 1) if len(heading) < stub else f"{heading}\n{' ' * (stub - 1)}"
    return "\n".join([f"{_bold(head)} {flat[0]}", *(" " * stub + line for line in flat[1:])])


# systems


def _systems_arguments(parser: Parser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="a .toml file of your own, to list too")


def _systems(args: Namespace) -> Out:
    found = [tl.system(s) for s in (*tl.systems(), *args.files)]
    names, libraries = ([printable(x) for x in column] for column in zip(*((s.name, s.library or "-") for s in found)))
    a, b = (min(max(map(len, column)), 22) for column in (names, libraries))
    for name, library, s in zip(names, libraries, found):
        title = fill(printable(s.title), max(20, _width() - a - b - 4), break_on_hyphens=False).split("\n")
        yield "\n".join([f"{_bold(name.ljust(a))}  {library.ljust(b)}  {title[0]}", *(" " * (a + b + 4) + line for line in title[1:])])


# explain


def _explain_arguments(parser: Parser) -> None:
    parser.add_argument("operands", nargs="+", metavar="OPERAND", help="int8 (an array), int8:0d, int8:weak, int, float, complex, 300, True")
    parser.add_argument("--system", action="append", metavar="NAME|FILE", help="one system in full; may be given again (default: all, in brief)")
    parser.add_argument("--op", metavar="OP", help="the operation, such as add, divide, equal (default: promotion alone)")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def _explain(args: Namespace) -> Out:
    found = [tl.system(s) for s in args.system or tl.systems()]
    own = {name: d for s in found for name, d in s.dtypes.items()}
    operands = [tl.operand(x, own) for x in args.operands]
    answers = [s.explain(*operands, op=args.op) for s in found]
    if args.format == "json":
        from json import dumps

        yield dumps({"operands": [str(o) for o in operands], "op": args.op, "answers": [data(p) for p in answers]}, indent=1)
    elif args.system:
        for i, (p, given) in enumerate(zip(answers, args.system)):
            yield from ["", ""] * bool(i)
            yield from _in_full(p, given)
    else:
        yield from _in_brief(answers, asked([str(o) for o in operands], args.op))


def _in_full(p: Promotion, given: str) -> Out:
    """One system's answer, and the whole way to it."""
    operands = asked([str(o) for o in p.operands], p.op)
    yield _bold(fill(printable(f"{operands} under {p.system.name}: {answer(p)}"), _width(), break_on_hyphens=False))
    yield _dim(fill(printable(p.system.title + (f" ({p.system.library})" if p.system.library else "")), _width(), break_on_hyphens=False))
    yield ""
    for heading, lines in sections(p):
        yield _under(heading, lines)
    yield _under("rule", [str(p.rule), *_quoted(p, given)])


def _quoted(p: Promotion, given: str) -> Out:
    """The lines of the file that the rule names."""
    from pathlib import Path

    for folder in (Path(given).parent, FOLDER):
        path = folder / p.rule.file
        if (folder == FOLDER or given.endswith(".toml")) and path.is_file():
            lines = path.read_text(encoding="utf-8").split("\n")
            for n in p.rule.lines[:6]:
                yield f"{n}: {' '.join(lines[n - 1].split())[:200]}" if n <= len(lines) else f"{n}:"
            return


def _in_brief(answers: Sequence[Promotion], operands: str) -> Out:
    """All systems, grouped by answer: the answer that most give first, refusals last."""
    groups: dict[str, dict[str, list[str]]] = {}
    for p in answers:
        why = "; ".join(fit_words(f) for f in p.fits if f.outcome != "fits") or (p.reason or "").removeprefix(f"{p.system.name} has ")
        groups.setdefault(answer(p), {}).setdefault(why, []).append(p.system.name)
    ranked = sorted(groups.items(), key=lambda g: (g[0] == "refused", -sum(map(len, g[1].values()))))
    yield _bold(fill(printable(operands), _width()))
    yield ""
    stub = max(len(given) for given in groups) + 8
    for given, whys in ranked:
        count = sum(map(len, whys.values()))
        lines = []
        for why, names in sorted(whys.items(), key=lambda w: (bool(w[0]), -len(w[1]))):
            lines += [f"{why}:"] if why else []
            lines += ["  " * bool(why) + line for line in fill("  ".join(names), _width() - stub - 2, break_on_hyphens=False).split("\n")]
        yield "\n".join([f"{_bold(given.ljust(stub - 6))} {count:3}  {lines[0]}", *(" " * stub + line for line in lines[1:])])
    example = next(iter(ranked[0][1].values()))[0]
    yield ""
    yield _dim(f"Why? Add --system {example}")


# table and diff


def _table_arguments(parser: Parser) -> None:
    parser.add_argument("--system", default="numpy", metavar="NAME|FILE", help="(default: numpy)")
    _grid_arguments(parser)


def _diff_arguments(parser: Parser) -> None:
    parser.add_argument("a", metavar="A", help="a system's name, or a .toml file")
    parser.add_argument("b", metavar="B", help="another")
    _grid_arguments(parser)


def _grid_arguments(parser: Parser) -> None:
    parser.add_argument("--op", metavar="OP", help="an operation, such as add (default: promotion alone)")
    parser.add_argument("--tier", choices=("array", "0d", "scalar"), default="array", help="what the rows are; columns are arrays")
    parser.add_argument("--codes", choices=CODES, default="bits", help="i32 counts bits, NumPy's i4 bytes, int32 is a name")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--dtypes", metavar="LIST", help="operands, such as int8,uint8,float (default: all of the system)")
    parser.add_argument("--all", action="store_true", help="with ints of less than 8 bits and floats of 8 or less")


def _table(args: Namespace) -> Out:
    return _grid(args, lambda **keys: tl.table(args.system, **keys))


def _diff(args: Namespace) -> Out:
    return _grid(args, lambda **keys: tl.diff(args.a, args.b, **keys))


def _grid(args: Namespace, make: Callable[..., Table | Diff]) -> Out:
    dtypes = args.dtypes if args.dtypes is None else re.split(r"[,\s]+", args.dtypes.strip(", "))
    try:
        grid = make(op=args.op, tier=args.tier, dtypes=dtypes, all=args.all).grid(args.codes)
    except BAD_INPUT:
        raise
    except ValueError as e:
        raise Usage(f"typelattice {args.command}: {e}") from None
    yield text(grid, _width(), _colour()) if args.format == "text" else tl.render(grid, args.format)


# check


def _check_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE.toml", help="a system file, or the name of a system")


def _check(args: Namespace) -> Out:
    s = tl.system(args.file)
    nodes = s.order.nodes
    dtypes, weak = [n for n in nodes if isinstance(n, DType)], [n for n in nodes if isinstance(n, Weak)]
    pairs = list(combinations(nodes, 2))
    split = [(a, b) for a, b in pairs if s.order.join(a, b) is None]
    ways: dict[str, list[str]] = {}
    for a, b in split:
        ways.setdefault(_instead(s, a, b), []).append(f"{a} + {b}")
    yield _bold(fill(printable(f"{args.file}: a valid system"), _width()))
    yield ""
    yield _under("name", [s.name])
    yield _under("title", [s.title or "none; give one, it heads tables"])
    yield _under("dtypes", [f"{len(dtypes)}: {' '.join(map(str, dtypes))}"])
    yield _under("weak", [f"{len(weak)}: {' '.join(map(str, weak))}" if weak else "none in the order"])
    yield _under("tiers", [", ".join(s.tiers)])
    lines = [f"{len(ps)} {way}: {', '.join(ps[:4])}{', ...' if len(ps) > 4 else ''}" for way, ps in ways.items()]
    yield _under("no join", [f"{len(split)} of {len(pairs)} pairs", *lines] if split else [f"none: all {len(pairs)} pairs have a join"])
    yield _under("ties", [f"{', '.join(map(str, sorted(bounds, key=str)))}: {winner}" for bounds, winner in s.ties.items()] or ["none"])
    if s.overrides or s.refusals:
        yield _under("said outright", [f"{len(s.overrides)} overrides, {len(s.refusals)} refusals (pairs)"])
    have = {"int" if kind.rank == 1 else kind.value: d for kind, d in s.defaults.items()}
    missing = [kind for kind in ("int", "float", "complex") if kind not in have]
    yield _under("defaults", [f"{', '.join(f'{kind}: {d}' for kind, d in have.items()) or 'none'}{f'; none for {_or(missing)}' if missing else ''}"])


def _instead(s: System, a: object, b: object) -> str:
    """What becomes of a pair that has no join."""
    pair = frozenset((a, b))
    if pair in s.overrides:
        return "by an override"
    bounds = frozenset(s.order.minimal_bounds(a, b))  # type: ignore[arg-type]
    return "by a tie" if bounds in s.ties else "refused, with several minimal bounds and no tie" if bounds else "refused, nothing lies above both"


def _or(words: Sequence[str]) -> str:
    return " or ".join(words)


COMMANDS = {
    "explain": Command(
        "What dtype do these operands meet at, in every system; and with --system, why.", _explain_arguments, _explain,
        "  typelattice explain int64 float16\n"
        "  typelattice explain int8 uint8 --system jax\n"
        "  typelattice explain uint8 300 --op add\n"
        "  typelattice explain int32:0d float --system torch --system mine.toml\n"
        "  typelattice explain -- uint8 -1",
    ),
    "table": Command(
        "What a system answers to every pair of dtypes.", _table_arguments, _table,
        "  typelattice table --system jax\n"
        "  typelattice table --system numpy --op divide --codes names --dtypes int8,int32,float16,float\n"
        "  typelattice table --system mine.toml --format markdown",
    ),
    "diff": Command(
        "Where two systems answer otherwise: a|b in the cells that differ.", _diff_arguments, _diff,
        "  typelattice diff numpy jax\n  typelattice diff numpy mine.toml --op add --format html",
    ),
    "systems": Command("The systems that come with typelattice.", _systems_arguments, _systems, "  typelattice systems\n  typelattice systems mine.toml"),
    "check": Command(
        "Validates a system file and says what is in it.", _check_arguments, _check,
        "  typelattice check mine.toml\n  typelattice check numpy",
    ),
}  # fmt: skip
HELP = "\n".join([
    "What dtype does x + y have, in every array library, and why?", "",
    "usage: typelattice COMMAND ...", "", *(f"  {name:9} {command.about}" for name, command in COMMANDS.items()), "",
    "  typelattice COMMAND --help says more; typelattice --version the version.", "",
    "try:", "  typelattice explain int64 float16", "  typelattice explain int8 uint8 --system jax", "  typelattice diff numpy jax",
])  # fmt: skip
