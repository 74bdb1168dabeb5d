"""The answers of several systems to one question, grouped by answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.base.objects.strange_objects import refuse_strange
from typelattice.base.rendering import Cell, Grid
from typelattice.base.rendering.paragraphs import PLAIN_LAYOUT, Layout
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.evidence.never_asked import NEVER_ASKED_MARK, NEVER_ASKED_NOTE, is_never_asked
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.core.explanations.promotion_as_data import promotion_data
from typelattice.core.explanations.promotion_in_english import answer_text, describe_outcome, question_text
from typelattice.core.explanations.recorded_answer_in_english import recorded_result_text
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operands.operand import OperandError
from typelattice.core.registry.system_headings import (
    LIBRARIES_HEADING,
    heading_of,
    list_headings,
    sort_known_first,
)
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_text import UnknownSystemError
from typelattice.core.system_files.system_text import systems as all_systems

SummaryRow = tuple[str, str, str]  # an answer, a reason for it or nothing, and a system's name
SystemsByAnswer = dict[str, dict[str, list[str]]]  # answer -> reason -> names of systems


class Answers(NotebookDisplay):
    """The answers of systems to one question. Each is a Promotion. They are in the order of the systems.

    >>> import typelattice as tl
    >>> found = tl.explain("int64", "float16", systems=["numpy", "jax"])
    >>> found["jax"].dtype, [p.dtype for p in found]
    (float16, [float64, float16])
    """

    __slots__ = ("_answers",)

    def __init__(self, answers: Iterable[Promotion]) -> None:
        self._answers = tuple(answers)

    def __getitem__(self, name: str) -> Promotion:
        """Return the answer of a system, by its name. Raises UnknownSystemError."""
        found = {p.system.name: p for p in self._answers}
        if name not in found:
            raise UnknownSystemError(
                f"{quote_short(str(name))} was not asked{spelling_hint(str(name), found)}"
            )
        return found[name]

    def __iter__(self) -> Iterator[Promotion]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def agree(self) -> bool:
        """Return True if no system refuses, and all give the same result.

        >>> import typelattice as tl
        >>> tl.explain("int8", "int16").agree, tl.explain("int8", "uint8", systems=["numpy", "torch"]).agree
        (False, True)
        """
        results = {(p.dtype, p.weak, p.python_number_kind) for p in self._answers}
        return len(results) == 1 and all(p.dtype for p in self._answers)

    @property
    def question(self) -> str:
        """The operands, and the operation if one was named: `add of int8 and uint8`."""
        return question_text([str(o) for o in self._answers[0].operands], self._answers[0].op)

    def text(self, layout: Layout = PLAIN_LAYOUT, hints: Sequence[str] = ()) -> str:
        """Return the answers under the headings of their systems, then notes and hints."""
        below = [layout.dim(line) for line in (*list_notes(self), *hints)]
        lines = [
            layout.bold(self.question),
            "",
            *list_summary(self, layout),
            *([""] if below else []),
            *below,
        ]
        return "\n".join(lines)

    def grid(self) -> Grid:
        """Return a row for each answer and reason under a heading, with the names of the systems."""
        rows, cells = [], []
        for heading, found in _group_by_heading(self):
            for answer, names_by_reason in _group_systems(found).items():
                for why, names in names_by_reason.items():
                    rows.append(Cell(heading))
                    mark = ("refused",) if answer == "refused" else ()
                    cells.append((Cell(answer, mark), Cell(", ".join(names)), Cell(why)))
        columns = (Cell("answer"), Cell("systems"), Cell("reason"))
        return Grid(self.question, columns, tuple(rows), tuple(cells), tuple(list_notes(self)))

    def data(self) -> dict[str, object]:
        """Return the question and every answer as dictionaries, lists and texts, as JSON holds them."""
        first = self._answers[0]
        return {
            "operands": [str(o) for o in first.operands],
            "op": first.op,
            "answers": [promotion_data(p) for p in self._answers],
        }

    def __repr__(self) -> str:
        return self.text()


def explain(
    *operands: object,
    op: str | None = None,
    systems: str | System | Iterable[str | Path | System] | None = None,
) -> Answers:
    """Answer a question under all systems, or the named ones, and group the answers.

    Raises DTypeError or OperandError for a value that is not an operand, OpError for an unknown operation.
    Raises UnknownSystemError or FormatError for a system that cannot be read.

    >>> import typelattice as tl
    >>> tl.explain("int64", "float16", systems=["numpy", "jax", "torch"])
    int64 with float16
    <BLANKLINE>
    libraries
      float16   2  jax, torch
      float64   1  numpy
    """
    for x in operands:
        refuse_strange(x, OperandError, "give an array, a dtype, a number or an operand string")
    refuse_strange(systems, UnknownSystemError, "give the names of systems")
    named = (systems,) if isinstance(systems, (str, System)) else systems
    found = [find_system(s) for s in (all_systems() if named is None else named)]
    if not found:
        raise UnknownSystemError("no system was named; leave systems out to ask all of them")
    return Answers(
        s.explain(*(parse_operand(x, own) if isinstance(x, str) else x for x in operands), op=op)
        for s, own in zip(found, list_custom_dtypes(found), strict=True)
    )


def list_custom_dtypes(systems: Sequence[System]) -> list[dict[str, DType]]:
    """Return the dtypes defined by files that operands may name: each system's own, then all others.

    Operands may also use a dtype of one file under the other systems: they refuse it by name.
    """
    every = {name: d for s in reversed(systems) for name, d in s.custom_dtypes.items()}
    return [{**every, **s.custom_dtypes} for s in systems]


def list_summary(answers: Answers, layout: Layout) -> Iterator[str]:
    """Yield the systems under their headings, libraries first, grouped by answer."""
    for heading, found in _group_by_heading(answers):
        yield layout.bold(heading)
        yield from list_groups(found, layout)


def list_groups(answers: Iterable[Promotion], layout: Layout) -> Iterator[str]:
    """Write systems by answer: the library's own if it is recorded, with a different answer of the rule."""
    groups = _group_systems(answers)
    stub = max(map(len, groups)) + 8
    for answer, names_by_reason in groups.items():
        ordered = sorted(names_by_reason.items(), key=lambda w: (bool(w[0]), -len(w[1])))
        lines = [f"{why}: {', '.join(names)}" if why else ", ".join(names) for why, names in ordered]
        yield layout.join_columns(
            f"  {answer.ljust(stub - 8)}{sum(map(len, names_by_reason.values())):4}", lines, stub
        )


def pick_example(answers: Answers) -> str:
    """Return the best known system that gives the commonest answer among the libraries."""
    libraries = [p for p in answers if heading_of(p.system.name) == LIBRARIES_HEADING]
    asked_first = libraries or list(answers)
    commonest = next(iter(_group_systems(asked_first)))
    return sort_known_first([p.system.name for p in asked_first if _make_row(p)[0] == commonest])[0]


def list_notes(answers: Answers) -> list[str]:
    """Explain the marks behind names, if any name has one."""
    return [NEVER_ASKED_NOTE] if any(map(is_never_asked, answers)) else []


def _group_by_heading(answers: Answers) -> Iterator[tuple[str, list[Promotion]]]:
    for heading in list_headings():
        if listed := [p for p in answers if heading_of(p.system.name) == heading]:
            yield heading, listed


def _group_systems(answers: Iterable[Promotion]) -> SystemsByAnswer:
    """Group the names of systems by answer and reason, the commonest answer first, refusals last."""
    groups: SystemsByAnswer = {}
    for answer, why, name in map(_make_row, answers):
        groups.setdefault(answer, {}).setdefault(why, []).append(name)
    return dict(sorted(groups.items(), key=lambda g: (g[0] == "refused", -sum(map(len, g[1].values())))))


def _make_row(promotion: Promotion) -> SummaryRow:
    """Return the line of one system in a summary."""
    o = find_recorded_answer(promotion)
    name = promotion.system.name
    if o is not None and o.departs:
        return recorded_result_text(o), "", f"{name} (by rule {answer_text(promotion)})"
    why = "; ".join(
        f"{f.value} out of range, {describe_outcome(f)}" for f in promotion.fits if f.outcome != "fits"
    )
    why = why or (promotion.reason or "").removeprefix(f"{name} ")
    return (
        recorded_result_text(o) if o else answer_text(promotion),
        why,
        f"{name}{NEVER_ASKED_MARK}" if is_never_asked(promotion) else name,
    )
