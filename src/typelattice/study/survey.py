"""Systems judged by laws and criteria: many in a grid, one in words."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from typelattice.engine.answer import Promotion
from typelattice.engine.system import System
from typelattice.explain.english import Section
from typelattice.facts.dtypes import DType, DTypeError
from typelattice.files.reader import system as find_system
from typelattice.files.text import systems as all_systems
from typelattice.rendering import Cell, Grid
from typelattice.study.closure import Standing
from typelattice.study.criteria import CRITERIA, Criteria, criteria
from typelattice.study.laws import LAWS, Laws, Verdict, laws

if TYPE_CHECKING:
    from pathlib import Path

YES, NO, NONE = "✓", "✗", "-"
HEADS = dict(zip(LAWS, ("idem", "comm", "assoc", "bounds", "free", "mono", "id", "top"), strict=True))
ROOM = 64  # characters of code that fit on a line; more are put in parentheses, to survive a fold
FEW = 4  # pairs that stand for all of their sort


def survey(
    systems: Iterable[str | Path | System] | None = None, tier: Standing = "array", dtypes: Iterable[object] | None = None
) -> Grid:
    """Systems (rows) against laws, and how many pairs break each criterion; without systems, all there are.

    A system that has no such operands gets `-`. Criteria are of arrays, with Python scalars too if the tier is `all`.

    >>> from typelattice.study.survey import survey
    >>> print(survey(["numpy", "jax"], dtypes=["int8", "uint8", "float16"]).cells[0][:4])
    (Cell(text='3', ...), Cell(text='✓', ...), Cell(text='✓', ...), Cell(text='✗', ...))
    """
    found = [find_system(s) for s in (all_systems() if systems is None else systems)]
    wanted = None if dtypes is None else list(dtypes)
    heads = [Cell("n", (), "operands"), *(Cell(HEADS[law], (), f"{law}: {about}") for law, about in LAWS.items())]
    heads += [Cell("pairs", (), "pairs of operands"), *(Cell(c.head, (), c.about) for name, c in CRITERIA.items())]
    return Grid(
        f"Laws and criteria{'' if tier == 'array' else f', tier {tier}'}",
        tuple(heads),
        tuple(Cell(s.name, (), s.title) for s in found),
        tuple(tuple(_row(s, tier, wanted, len(heads))) for s in found),
        (
            f"{YES} the law holds, {NO} it does not: `typelattice laws SYSTEM` shows where. n operands; "
            + "; ".join(f"{HEADS[law]} {law}" for law in LAWS if HEADS[law] != law),
            "pairs of different operands; of these " + "; ".join(f"{c.head} {c.about}" for name, c in CRITERIA.items()),
        ),
        "",
    )


def _row(s: System, tier: Standing, dtypes: Sequence[object] | None, cells: int) -> Iterator[Cell]:
    try:
        found, costs = laws(s, tier, dtypes), criteria(s, dtypes, scalars=tier == "all")
    except DTypeError as e:
        yield from [Cell(NONE, ("refused",), str(e))] * cells
        return
    yield Cell(str(len(found.operands)))
    for v in found.values():
        yield Cell(YES if v else NO, () if v else ("differs",), says(v))
    yield Cell(str(costs.asked))
    for name, pairs in costs.items():
        yield Cell(str(len(pairs)), (), listed(pairs) if pairs else f"no pair: {CRITERIA[name].about}")


def says(v: Verdict) -> str:
    """A verdict in a line: what the law says, who proves it, or where it fails."""
    if v.counterexample is None:
        return f"{LAWS[v.law]}{f': {v.witness}' if v.witness else ''}"
    return f"fails for {v.failing} of {v.asked}: {v.counterexample}"


def verdicts(found: Laws) -> Iterator[Section]:
    """Each law with what it says or where it fails, the counterexample also as the library's code."""
    seen: set[str] = set()
    for law, v in found.items():
        lines = [f"{YES if v else NO} {says(v)}"]
        if v.counterexample and v.counterexample.setup:
            lines += [] if v.counterexample.setup in seen else v.counterexample.setup.split("; ")
            lines += map(_whole, v.counterexample.expressions)
            seen.add(v.counterexample.setup)
        yield law, lines


def costs(found: Criteria, most: int = FEW) -> Iterator[Section]:
    """Each criterion with how many pairs break it, and some of them."""
    for name, pairs in found.items():
        yield name, [f"{len(pairs)} of {found.asked}: {CRITERIA[name].about}", *([listed(pairs, most)] if pairs else [])]


def brief(found: Laws, pairs: Criteria) -> Iterator[Section]:
    """What a system fails, in as few lines as that takes."""
    failing = [f"not {law}: {v.counterexample}" for law, v in found.items() if not v]
    yield "laws", [f"kept: {', '.join(law for law, v in found.items() if v) or 'none'}", *failing]
    broken = [f"{name} {count}" for name, count in pairs.counts.items() if count]
    yield "criteria", [f"of {pairs.asked} pairs: {', '.join(broken) or 'none falls short'}"]


def listed(pairs: Sequence[Promotion], most: int = FEW) -> str:
    """Pairs and their results: `int8 + uint8: int16, ...`."""
    said = [f"{' + '.join(map(str, p.operands))}{f': {p.dtype}' if p.dtype else ''}" for p in pairs[:most]]
    return ", ".join(said) + ", ..." * (len(pairs) > most)


def dtypes_of(system: str | Path | System) -> list[DType]:
    """The dtypes of a system, to judge others by."""
    return [n for n in find_system(system).order.nodes if isinstance(n, DType)]


def _whole(code: str) -> str:
    return code if len(code) <= ROOM else f"({code})"
