"""The command `explain`: where operands meet, or what each part of an expression comes to, and why."""
from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from json import dumps
from textwrap import wrap
from typing import TYPE_CHECKING

import typelattice as tl
from typelattice.cli.command import Command, Paragraphs, UsageError, format_argument, op_argument
from typelattice.engine.answer import Promotion
from typelattice.explain.english import asked, cast_words, fit_words
from typelattice.explain.explanation import explanation
from typelattice.explain.plain_data import data
from typelattice.explain.summary import example, grouped, notes, summary
from typelattice.facts.operations import OPERATIONS
from typelattice.operands.notation import parse
from typelattice.rendering.terminal import layout

if TYPE_CHECKING:
    from typelattice.programs.formula import Formula, Outcome

MOST = 1_000  # operands
BINDING = re.compile(r"([^\W\d]\w*)=(?!=)(.*)", re.DOTALL)  # a=int8:0d; an operand has a colon before its =


def arguments(parser: ArgumentParser) -> None:
    operands = "an array: int8; another: int8:0d, int8:weak; a Python scalar: int, float, complex, 300, True"
    whole = "; or one expression and its names: 'a*2.0 + b' a=int8:0d b=float16"
    parser.add_argument("operands", nargs="+", metavar="OPERAND", help=operands + whole)
    parser.add_argument(
        "--system", action="append", metavar="NAME|FILE", help="that system in full; may be given again",
    )  # fmt: skip
    op_argument(parser)
    format_argument(parser)
    parser.add_argument_group("operations", "\n".join(wrap(", ".join(OPERATIONS), 76)))


def run(args: Namespace) -> Paragraphs:
    """The systems that were named, compared and in full; or all of them grouped by answer."""
    if len(args.operands) > MOST:
        raise UsageError(f"explain: {len(args.operands):,} operands; at most {MOST:,} are taken together")
    found = [tl.system(which) for which in args.system or tl.systems()]
    own = _own_dtypes(found)
    if any(BINDING.match(x) or _is_expression(x, own[0]) for x in args.operands):
        yield from _expression(args, found)
        return
    answers = [
        s.explain(*(parse(x, known) for x in args.operands), op=args.op)
        for s, known in zip(found, own, strict=True)
    ]
    operands, op = [str(o) for o in answers[0].operands], answers[0].op
    if args.format == "json":
        yield dumps({"operands": operands, "op": op, "answers": [data(p) for p in answers]}, indent=1)
    elif args.system:
        yield from _compared(answers, asked(operands, op))
    else:
        yield from _in_brief(answers, asked(operands, op))


def _own_dtypes(found: Sequence[tl.System]) -> list[dict[str, tl.DType]]:
    """The dtypes of files that operands may name: of each system its own, then those of the others."""
    every = {name: d for s in reversed(found) for name, d in s.own_dtypes.items()}
    return [{**every, **s.own_dtypes} for s in found]


def _is_expression(text: str, own: Mapping[str, tl.DType]) -> bool:
    """Whether an argument is no operand, but an expression whose names are bound to nothing."""
    try:
        parse(text, own)
    except tl.TypelatticeError:
        from typelattice.programs.expression import is_expression

        return is_expression(text)
    return False


def _in_brief(answers: Sequence[Promotion], operands: str) -> Paragraphs:
    """All systems under their headings, grouped by what the libraries do."""
    page = layout()
    yield page.bold(operands)
    yield ""
    yield from summary(answers, page)
    yield ""
    yield from map(page.dim, notes(answers))
    yield page.dim(f"Why? Add --system {example(answers)}")


def _compared(answers: Sequence[Promotion], operands: str) -> Paragraphs:
    """The systems that were named: side by side if there are several, then each in full."""
    page = layout()
    if len(answers) > 1:
        yield page.bold(operands)
        yield ""
        yield from grouped(answers, page)
        yield from map(page.dim, notes(answers))
        yield "\n"
    yield "\n\n\n".join(explanation(p, page) for p in answers)


def _expression(args: Namespace, found: Sequence[tl.System]) -> Paragraphs:
    """A whole expression, its names bound: what every part comes to."""
    from typelattice.programs.expression import FormulaError, formula
    from typelattice.programs.formula import data as formula_data

    texts = [x for x in args.operands if not BINDING.match(x)]
    bindings = [match.groups() for match in map(BINDING.match, args.operands) if match]
    if len(texts) != 1 or args.op:
        what = "--op goes with operands" if args.op else f"{len(texts)} expressions where one is wanted"
        example = "explain 'a*2.0 + b' a=int8 b=float16"
        raise FormulaError(f"{what}; give one expression and its names, as in: {example}")
    bound: dict[str, str] = {}
    for name, said in bindings:
        if name in bound:
            raise FormulaError(f"{name} is bound twice, to {bound[name]} and to {said}; leave one out")
        bound[name] = said
    own = _own_dtypes(found)
    formulas = [formula(texts[0], **{name: parse(x, known) for name, x in bound.items()}) for known in own]
    f = formulas[0]
    outcomes = [each.under(s) for each, s in zip(formulas, found, strict=True)]
    if args.format == "json":
        yield dumps(formula_data(f, found, outcomes), indent=1)
    elif args.system:
        for i, (s, o) in enumerate(zip(found, outcomes, strict=True)):
            yield from ["", ""] if i else []
            yield from _parts_in_full(f, s, o)
    else:
        yield from _parts_in_brief(f, found, outcomes)


def _bound(f: Formula) -> str:
    """An expression and what its names are bound to."""
    if not f.bound:
        return f.text
    return f"{f.text} with {', '.join(f'{name}={o}' for name, o in f.bound.items())}"


def _parts_in_brief(
    f: Formula, found: Sequence[tl.System], outcomes: Sequence[Sequence[Outcome]]
) -> Paragraphs:
    """Every part with its answers, and the first at which the systems part."""
    page = layout()
    yield page.bold(_bound(f))
    parted = False
    for i, part in enumerate(f.parts):
        if part.op is None:
            continue
        groups: dict[str, list[str]] = {}
        for s, o in zip(found, outcomes, strict=True):
            groups.setdefault(str(o[i]), []).append(s.name)
        mark = "" if parted or len(groups) == 1 else "   <- here the systems part"
        parted = parted or len(groups) > 1
        yield ""
        yield page.folded(part.text + mark)
        stub = max(map(len, groups)) + 8
        ranked = sorted(groups.items(), key=lambda g: (g[0] in ("refused", "not reached"), -len(g[1])))
        for given, names in ranked:
            lines = ["every system" if len(names) == len(found) else ", ".join(names)]
            yield page.beside(f"  {given.ljust(stub - 8)}{len(names):4}", lines, stub)
    if any(o.operand and o.operand.dtype and o.operand.weak for made in outcomes for o in made):
        yield ""
        yield page.dim("* is weak: it counts by its kind, and gives way to a dtype beside it")


def _parts_in_full(f: Formula, s: tl.System, outcomes: Sequence[Outcome]) -> Paragraphs:
    """Every part under one system: what it comes to, and the casts that are not written."""
    page = layout()
    yield page.bold(f"{_bound(f)} under {s.name}: {outcomes[-1]}")
    for part, o in zip(f.parts, outcomes, strict=True):
        if part.op is None:
            continue
        yield ""
        yield page.folded(f"{part.text}: {o}")
        p = o.promotion
        if p is not None:
            casts = [f"casts {cast_words(c)}" for c in p.casts if isinstance(c.source, tl.DType)]
            lines = [*([p.reason] if p.reason else casts), *map(fit_words, p.fits), f"rule: {p.rule}"]
            yield "\n".join(page.folded(line, margin=2) for line in lines)


COMMAND = Command(
    "The dtype at which operands meet: in all systems, or one in full.", arguments, run,
    (
        "int64 float16", "int8 uint8 --system jax", "uint8 300 --op add",
        "int32:0d float --system torch --system mine.toml", "-- uint8 -1", "a*2.0+b a=int8:0d b=float16",
    ),
)  # fmt: skip
