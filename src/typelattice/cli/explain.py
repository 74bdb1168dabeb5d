"""`explain` and `systems`."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

import typelattice as tl
from typelattice.cli.command import FEW, Command, Out
from typelattice.cli.expression import BINDING, expression
from typelattice.engine.answer import Promotion
from typelattice.explain.english import answer, asked, data, fate, sections
from typelattice.files.text import FOLDER
from typelattice.operands.notation import parse
from typelattice.rendering.grid import printable
from typelattice.rendering.terminal import beside, bold, dim, folded, width


def _explain_arguments(parser: ArgumentParser) -> None:
    operands = "an array: int8; another: int8:0d, int8:weak; a Python scalar: int, float, complex, 300, True"
    whole = "; or one expression and its names: 'a*2.0 + b' a=int8:0d b=float16"
    parser.add_argument("operands", nargs="+", metavar="OPERAND", help=operands + whole)
    parser.add_argument("--system", action="append", metavar="NAME|FILE", help="that system in full; may be given again")
    parser.add_argument("--op", metavar="OP", help="an operation, such as add, divide, equal (default: promotion alone)")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def _explain(args: Namespace) -> Out:
    found = [tl.system(s) for s in args.system or tl.systems()]
    if any(map(BINDING.match, args.operands)):
        yield from expression(args, found)
        return
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
    folders = [*([Path(given).parent] if given.endswith(".toml") else []), Path(FOLDER)]
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


def _systems_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="a .toml file of your own, to list too")


def _systems(args: Namespace) -> Out:
    found = [tl.system(s) for s in (*tl.systems(), *args.files)]
    stub = min(max(len(printable(s.name)) for s in found), 30) + 2
    for s in found:
        yield beside(printable(s.name), [f"{s.title} ({s.library})" if s.library else s.title], stub)


explain = Command(
    "The dtype at which operands meet: in all systems, or one in full.", _explain_arguments, _explain,
    [
        "int64 float16", "int8 uint8 --system jax", "uint8 300 --op add",
        "int32:0d float --system torch --system mine.toml", "-- uint8 -1", "a*2.0+b a=int8:0d b=float16",
    ],
)  # fmt: skip

systems = Command("The systems that come with typelattice.", _systems_arguments, _systems, ["", "mine.toml"])  # fmt: skip
