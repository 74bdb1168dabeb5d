"""Several systems' answers to one question, grouped by what the libraries do."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from typelattice.engine.answer import Promotion
from typelattice.explain.english import answer, fate
from typelattice.explain.evidence import given, lacking_of
from typelattice.facts.headings import LIBRARIES, heading_of, headings
from typelattice.recorded.observed import observed
from typelattice.rendering.layout import Layout

UNASKED = "?"  # behind the name of a system whose library was never asked this
UNASKED_NOTE = f"{UNASKED} the library was never asked this, and the answer is its rule's"
Row = tuple[str, str, str]  # an answer, a reason for it or nothing, and a system's name


def summary(answers: Sequence[Promotion], layout: Layout) -> Iterator[str]:
    """The systems under their headings, libraries first, grouped by answer."""
    for heading in headings():
        listed = [p for p in answers if heading_of(p.system.name) == heading]
        if listed:
            yield layout.bold(heading)
            yield from grouped(listed, layout)


def grouped(answers: Iterable[Promotion], layout: Layout) -> Iterator[str]:
    """Systems by answer: the library's where it was asked, with the rule's beside it if that is another."""
    groups = _groups(answers)
    stub = max(map(len, groups)) + 8
    for given_, whys in groups.items():
        ordered = sorted(whys.items(), key=lambda w: (bool(w[0]), -len(w[1])))
        lines = [f"{why}: {', '.join(names)}" if why else ", ".join(names) for why, names in ordered]
        yield layout.beside(f"  {given_.ljust(stub - 8)}{sum(map(len, whys.values())):4}", lines, stub)


def example(answers: Sequence[Promotion]) -> str:
    """The name of a system that gives the commonest answer among the libraries."""
    libraries = [p for p in answers if heading_of(p.system.name) == LIBRARIES]
    commonest = next(iter(_groups(libraries or answers)))
    return next(p.system.name for p in libraries or answers if _row(p)[0] == commonest)


def _groups(answers: Iterable[Promotion]) -> dict[str, dict[str, list[str]]]:
    """Names of systems by answer and reason, the commonest answer first, refusals last."""
    groups: dict[str, dict[str, list[str]]] = {}
    for given_, why, name in map(_row, answers):
        groups.setdefault(given_, {}).setdefault(why, []).append(name)
    return dict(sorted(groups.items(), key=lambda g: (g[0] == "refused", -sum(map(len, g[1].values())))))


def notes(answers: Iterable[Promotion]) -> Iterator[str]:
    """What the marks in a summary mean."""
    if any(unasked(p) for p in answers):
        yield UNASKED_NOTE


def unasked(p: Promotion) -> bool:
    """Whether an answer is a rule's alone, though its system is a library's, which could have been asked."""
    return observed(p) is None and bool(p.system.library) and not lacking_of(p)


def _row(p: Promotion) -> Row:
    """Where a system stands in a summary."""
    o = observed(p)
    name = p.system.name
    if o is not None and o.departs:
        return given(o), "", f"{name} (by rule {answer(p)})"
    why = "; ".join(f"{f.value} out of range, {fate(f)}" for f in p.fits if f.outcome != "fits")
    why = why or (p.reason or "").removeprefix(f"{name} ")
    return given(o) if o else answer(p), why, f"{name}{UNASKED}" if unasked(p) else name
