"""`table`, `diff` and `consensus`."""
from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

import typelattice as tl
from typelattice.cli.command import FEW, Command, Out
from typelattice.engine.operate import alone
from typelattice.explain.english import answer
from typelattice.rendering import FORMATS
from typelattice.rendering.terminal import beside, colour, width
from typelattice.rendering.text import text
from typelattice.study.consensus import contradicted, undefined
from typelattice.study.tables import CODES, Diff, Table
from typelattice.study.value_audit import audit


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
    yield from _grid(args, lambda **keys: tl.diff(args.a, args.b, **keys))
    a, b = tl.system(args.a), tl.system(args.b)
    by_value = "value" in (a.combine, b.combine) and not alone(args.op)
    if by_value and args.format == "text":
        lines = [str(part) for part in audit(a, b, args.op or "add")]
        yield f"\nAn array and a Python int, by the int's value, in {args.op or 'add'}: {a.name}, then {b.name}"
        yield from (f"  {line}" for line in lines or ["the same for every value"])


def _grid(args: Namespace, make: Callable[..., Table | Diff]) -> Out:
    dtypes = None if args.dtypes is None else [x for x in re.split(r"[,\s]+", args.dtypes) if x]
    grid = make(op=args.op, tier=args.tier, dtypes=dtypes, all=args.all).grid(args.codes)
    yield text(grid, width(), colour()) if args.format == "text" else tl.render(grid, args.format)


def _consensus_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="two systems or more: names or .toml files")
    parser.add_argument("--op", metavar="OP", help="an operation, such as add (default: promotion alone)")
    parser.add_argument("--tier", choices=("array", "0d", "scalar"), default="array", help="of the rows (default: arrays)")
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


table = Command(
    "What a system answers to every pair of dtypes.", _table_arguments, _table,
    ["--system jax", "--op divide --codes names --dtypes int8,int32,float16,float", "--system mine.toml --format markdown"],
)  # fmt: skip

diff = Command(
    "Where two systems answer otherwise: a|b in the cells that differ.", _diff_arguments, _diff,
    ["numpy jax", "numpy mine.toml --op add --format html", "numpy torch --tier 0d"],
)  # fmt: skip

consensus = Command(
    "Where systems agree: which pairs are contested, and by whom.", _consensus_arguments, _consensus,
    ["numpy jax torch", "numpy jax torch tensorflow-all --standard array-api", "numpy mine.toml --tier scalar"],
)  # fmt: skip
