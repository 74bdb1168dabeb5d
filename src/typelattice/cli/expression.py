"""`explain` of a whole expression."""
from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from json import dumps
from typing import TYPE_CHECKING

import typelattice as tl
from typelattice.cli.command import Out
from typelattice.explain.english import cast_words, fit_words
from typelattice.operands.notation import parse
from typelattice.rendering.grid import printable
from typelattice.rendering.terminal import beside, bold, dim, folded, width

if TYPE_CHECKING:
    from typelattice.programs.expression import Formula, Outcome

BINDING = re.compile(r"([^\W\d]\w*)=(?!=)(.*)", re.DOTALL)  # a=int8:0d; in an operand string, a colon comes before


def expression(args: Namespace, found: Sequence[tl.System]) -> Out:
    """A whole expression, its names bound: what every part comes to."""
    from typelattice.programs.expression import FormulaError, data, formula

    texts, bindings = [x for x in args.operands if not BINDING.match(x)], [BINDING.match(x) for x in args.operands]
    if len(texts) != 1 or args.op:
        what = "--op goes with operands" if args.op else f"{len(texts)} expressions where one is wanted"
        raise FormulaError(f"{what}; give one expression and its names, as in: explain 'a*2.0 + b' a=int8 b=float16")
    own = {name: d for s in found for name, d in s.dtypes.items()}
    bound: dict[str, object] = {}
    for name, said in (b.groups() for b in bindings if b):
        if name in bound:
            raise FormulaError(f"{name} is bound twice, to {bound[name]} and to {said}; leave one out")
        bound[name] = parse(said, own)
    f = formula(texts[0], **bound)
    outcomes = [f.under(s) for s in found]
    if args.format == "json":
        yield dumps(data(f, found, outcomes), indent=1)
    elif args.system:
        for i, (s, o) in enumerate(zip(found, outcomes, strict=True)):
            yield from ["", ""] * bool(i)
            yield from _parts_in_full(f, s, o)
    else:
        yield from _parts_in_brief(f, found, outcomes)


def _with(f: Formula) -> str:
    return f"{f.text} with {', '.join(f'{name}={o}' for name, o in f.bound.items())}"


def _parts_in_brief(f: Formula, found: Sequence[tl.System], outcomes: Sequence[Sequence[Outcome]]) -> Out:
    """Every part with its answers, and the first at which the systems part."""
    yield bold("\n".join(folded(_with(f), width())))
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
        yield "\n".join(folded(printable(part.text) + mark, width()))
        stub = max(map(len, groups)) + 8
        for given, names in sorted(groups.items(), key=lambda g: (g[0] in ("refused", "not reached"), -len(g[1]))):
            lines = ["every system" if len(names) == len(found) else ", ".join(names)]
            yield beside(f"  {given.ljust(stub - 8)}{len(names):4}", lines, stub)
    if any(o.operand and o.operand.dtype and o.operand.weak for made in outcomes for o in made):
        yield ""
        yield dim("* is weak: it counts by its kind, and gives way to a dtype beside it")


def _parts_in_full(f: Formula, s: tl.System, outcomes: Sequence[Outcome]) -> Out:
    """Every part under one system: what it comes to, and the casts that are not written."""
    yield bold("\n".join(folded(f"{_with(f)} under {s.name}: {outcomes[-1]}", width())))
    for part, o in zip(f.parts, outcomes, strict=True):
        if part.op is None:
            continue
        yield ""
        yield "\n".join(folded(f"{printable(part.text)}: {o}", width()))
        p = o.promotion
        if p is not None:
            lines = [p.reason] if p.reason else [f"casts {cast_words(c)}" for c in p.casts if isinstance(c.source, tl.DType)]
            lines += [fit_words(x) for x in p.fits]
            yield "\n".join(f"  {row}" for line in [*lines, f"rule: {p.rule}"] for row in folded(line, width() - 2))
