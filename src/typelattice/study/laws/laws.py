"""The laws of algebra that promotion may keep: each holds for a system or has a smallest counterexample."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.base.rendering import Cell, Grid
from typelattice.core.dtypes.dtypes import DTypeError, Node
from typelattice.core.engine.system import System
from typelattice.core.explanations.expression_terms import Term, write_code
from typelattice.core.explanations.promotion_in_english import TitledLines
from typelattice.core.operands.operand import Operand
from typelattice.core.system_files.reader import system as find_system
from typelattice.study.laws.closure import REFUSED_NUMBER, Closure, answer_key, answer_words, compute_closure
from typelattice.study.laws.counterexample import Counterexample, make_counterexample
from typelattice.study.laws.distributivity import DistributivityFailure, find_uneven
from typelattice.study.laws.law_equations import EQUATION_BY_ELEMENT, EQUATIONS_BY_LAW, EquationChecker
from typelattice.study.laws.multi_operand_recordings import find_evidence
from typelattice.study.tables.study_scope import BeyondReachError, TierChoice, list_operands

if TYPE_CHECKING:
    from pathlib import Path

STATEMENT_BY_LAW = {
    "idempotent": "x + x is x",
    "commutative": "a + b is b + a",
    "associative": "(a + b) + c is a + (b + c)",
    "unique bounds": "if any dtype lies above two operands, one of these is the lowest",
    "order-free": "several operands together give the same result in any order",
    "monotone": "if b is above a, b + c is above a + c",
    "distributive": (
        "if a lies below b + c, but below neither, "
        "a is the join of something below b and something below c"
    ),
    "identity": "one operand e changes no other: e + x is x",
    "top": "one operand t absorbs all others: t + x is t",
}
MARK_BY_VERDICT = {True: "✓", False: "✗", None: "?"}
MAX_CODE_CHARS = 64


@dataclass(frozen=True, slots=True)
class LawVerdict:
    """The verdict on a law. `holds` is None if it is not known whether the law holds, and `note` says why.

    `failing_count` of the `case_count` combinations break the law; `counterexample` is the smallest of these.
    The laws `identity` and `top` need one special operand: `special_operand` is that operand.
    """

    law: str
    holds: bool | None
    failing_count: int
    case_count: int
    counterexample: Counterexample | None = None
    special_operand: Operand | None = None
    note: str = ""

    def __bool__(self) -> bool:
        return self.holds is True

    @property
    def mark(self) -> str:
        """Return ✓ if the law holds, ✗ if not, ? if it is not known."""
        return MARK_BY_VERDICT[self.holds]

    def __str__(self) -> str:
        """Return the law's statement and the operand that proves it, or the place where it fails."""
        if self.holds is None:
            return f"not known: {self.note}"
        if self.counterexample is None:
            return (
                f"{STATEMENT_BY_LAW[self.law]}{f': {self.special_operand}' if self.special_operand else ''}"
            )
        return f"fails for {self.failing_count} of {self.case_count}: {self.counterexample}"

    def data(self) -> dict[str, object]:
        """Return the verdict as data for JSON; `holds` is null if it is not known."""
        return {
            "says": STATEMENT_BY_LAW[self.law],
            "holds": self.holds,
            "failing": self.failing_count,
            "asked": self.case_count,
            "counterexample": self.counterexample and self.counterexample.data(),
            "witness": self.special_operand and str(self.special_operand),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Laws(Mapping[str, LawVerdict], NotebookDisplay):
    """The verdicts on a system for some operands, by the name of the law."""

    system: System
    tier: TierChoice
    operands: tuple[Operand, ...]
    verdicts: Mapping[str, LawVerdict]

    def __getitem__(self, law: str) -> LawVerdict:
        return self.verdicts[law]

    def __iter__(self) -> Iterator[str]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    def __repr__(self) -> str:
        return f"<laws of {self.system.name}: {sum(map(bool, self.values()))} of {len(self)} hold>"

    def __str__(self) -> str:
        width = max(map(len, self)) + 1
        return "\n".join([self.title, "", *(f"{law:{width}} {v.mark} {v}" for law, v in self.items())])

    @property
    def title(self) -> str:
        """One line on the operands and the tier."""
        tier = "" if self.tier == "array" else f", tier {self.tier}"
        return f"Laws of {self.system.name}, {len(self.operands)} operands{tier}"

    def sections(self) -> Iterator[TitledLines]:
        """Yield each law with its statement or its counterexample, the latter also as the library's code."""
        prepared: set[str] = set()
        for law, v in self.items():
            lines = [f"{v.mark} {v}"]
            if v.counterexample and v.counterexample.setup:
                setup = v.counterexample.setup
                lines += [] if setup in prepared else setup.split("; ")
                lines += map(_parenthesize_long, v.counterexample.expressions)
                prepared.add(setup)
            yield law, lines

    def grid(self) -> Grid:
        """Lay out the laws (rows), whether each holds, how often it fails, and where."""
        heads = tuple(map(Cell, ("holds", "failing", "asked", "where")))
        marks = {True: (), False: ("differs",), None: ("refused",)}
        cells = tuple(
            (Cell(v.mark, marks[v.holds]), Cell(str(v.failing_count)), Cell(str(v.case_count)), Cell(str(v)))
            for v in self.values()
        )
        return Grid(self.title, heads, tuple(Cell(law, (), STATEMENT_BY_LAW[law]) for law in self), cells)

    def data(self) -> dict[str, object]:
        """Return the verdicts as data for JSON."""
        return {
            "system": self.system.name,
            "tier": self.tier,
            "operands": [str(o) for o in self.operands],
            "laws": {law.replace(" ", "_"): v.data() for law, v in self.items()},
        }


def laws(
    system: str | Path | System, tier: TierChoice = "array", dtypes: Iterable[object] | None = None
) -> Laws:
    """Judge which laws hold for the operands of a system, of one tier, or of all with Python scalars.

    `dtypes`: only these, as far as the system has them. A refusal equals a refusal. The smallest
    counterexample has the fewest operands, then the fewest bits. With arrays, Python itself adds two Python
    scalars. Raises UnknownSystemError, FormatError, or DTypeError if no operand is left.

    >>> import typelattice as tl
    >>> numpy = tl.laws("numpy")
    >>> numpy
    <laws of numpy: 5 of 9 hold>
    >>> numpy["commutative"].holds, numpy["associative"].holds
    (True, False)
    >>> print(numpy["associative"].counterexample)
    (uint8 + int8) + float16 is float32, uint8 + (int8 + float16) is float16
    >>> all(tl.laws("jax", dtypes=["bool", "uint64", "int64", "float16", "bfloat16", "float64"]).values())
    True
    """
    found = find_system(system)
    operands = list_operands(found, tier, dtypes)
    if not operands:
        raise DTypeError(f"{found.name} takes no Python scalars; ask of its arrays")
    return _judge_operands(found, tier, operands)


@lru_cache(maxsize=128)  # a system never changes
def _judge_operands(system: System, tier: TierChoice, operands: tuple[Operand, ...]) -> Laws:
    closure = compute_closure(system, operands)
    judge = EquationChecker(closure)
    verdicts = {law: _judge_equation(law, judge) for law in EQUATIONS_BY_LAW}
    verdicts["unique bounds"] = _unique_bounds(closure)
    verdicts["distributive"] = _judge_distributivity(closure)
    verdicts |= {law: _judge_element_law(law, judge) for law in EQUATION_BY_ELEMENT}
    return Laws(system, tier, operands, {law: verdicts[law] for law in STATEMENT_BY_LAW})


def _judge_equation(law: str, judge: EquationChecker) -> LawVerdict:
    """Judge a law of all combinations of operands."""
    try:
        count = judge.count_failing_cases(law)
    except BeyondReachError as e:
        return LawVerdict(law, None, 0, 0, note=str(e))
    if count.smallest:
        shown = make_counterexample(judge.closure, count.smallest)
        return LawVerdict(law, False, count.failing_count, count.case_count, shown)
    verdict = LawVerdict(law, True, 0, count.case_count)
    return _correct_by_recording(verdict, judge.closure) if law == "order-free" else verdict


def _correct_by_recording(verdict: LawVerdict, closure: Closure) -> LawVerdict:
    """Correct a file's verdict on order-free by the recorded calls of its library.

    A file that joins the set of operands always keeps the law, but its library may reduce them in another
    order. If two recorded calls differ only by their order, the law fails. If the library departs from the
    join of the set, the verdict is not known.
    """
    found = find_evidence(closure.system, closure.operands(*closure.start_numbers))
    if found.contradictions:
        one, other = found.contradictions[0]
        terms: tuple[Term, ...] = (one.operands, other.operands)
        setup, expressions = write_code(closure.system, terms, closure.has_python_scalars)
        note = f"as recorded of {found.versions}"
        shown = Counterexample(terms, (one.library_answer, other.library_answer), expressions, setup, note)
        return LawVerdict(verdict.law, False, len(found.contradictions), len(found.calls), shown)
    if found.departing_calls:
        call = found.departing_calls[0]
        departing, calls = len(found.departing_calls), len(found.calls)
        counted = f"{departing} of {calls} recorded calls of several operands depart from the file"
        example = (
            f"{', '.join(map(str, call.operands))} is {answer_words(call.library_answer)} in {found.versions}"
        )
        note = f"{counted}; {example}, and {answer_words(call.system_answer)} by joining the set"
        return LawVerdict(verdict.law, None, 0, verdict.case_count, note=note)
    return verdict


def _judge_element_law(law: str, judge: EquationChecker) -> LawVerdict:
    """Judge a law of one special operand; if none keeps it, show where the nearest one fails."""
    element, count = judge.find_element(law)
    if count.smallest is None:
        return LawVerdict(law, True, 0, count.case_count, None, judge.closure.members[element])
    return LawVerdict(
        law, False, count.failing_count, count.case_count, make_counterexample(judge.closure, count.smallest)
    )


def _unique_bounds(closure: Closure) -> LawVerdict:
    """Judge the law of the order itself: no pair may have several lowest upper bounds."""
    pairs = list(combinations(closure.start_numbers, 2))
    bounds = {pair: closure.system.explain(*closure.operands(*pair)).bounds for pair in pairs}
    split = [pair for pair in pairs if len(bounds[pair]) > 1]
    if not split:
        return LawVerdict("unique bounds", True, 0, len(pairs))
    pair = min(split, key=lambda pair: (closure.size(*pair), pair))
    *others, last = map(str, bounds[pair])
    note = f"{', '.join(others)} and {last} lie lowest above both"
    terms: tuple[Term, ...] = (closure.operands(*pair),)
    setup, expressions = write_code(closure.system, terms, closure.has_python_scalars)
    answers = (answer_key(closure.system, closure.members[closure.table[pair[0]][pair[1]]]),)
    shown = Counterexample(terms, answers, expressions, setup, note)
    return LawVerdict("unique bounds", False, len(split), len(pairs), shown)


def _judge_distributivity(closure: Closure) -> LawVerdict:
    """Judge the law of the order itself: every dtype below a join of arrays is a join from below."""
    number: dict[Node, int] = {}
    for i in closure.start_numbers:
        o = closure.members[i]
        if o and o.dtype and o.dtype in closure.system.order and o.tier != "scalar" and not o.weak:
            number.setdefault(o.dtype, i)
    try:
        broken, case_count = find_uneven(
            closure.system.order,
            list(number),
            lambda a, b: closure.table[number[a]][number[b]] != REFUSED_NUMBER,
        )
    except BeyondReachError as e:
        return LawVerdict("distributive", None, 0, 0, note=str(e))
    if not broken:
        return LawVerdict("distributive", True, 0, case_count)

    def rank(u: DistributivityFailure) -> tuple[int, list[int]]:
        places = [number[n] for n in (u.left, u.right, u.node)]
        return closure.size(*places), places

    least = min(broken, key=rank)
    left, right = number[least.left], number[least.right]
    terms: tuple[Term, ...] = (closure.operands(left, right),)
    setup, expressions = write_code(closure.system, terms, closure.has_python_scalars)
    answers = (answer_key(closure.system, closure.members[closure.table[left][right]]),)
    note = f"{least.node} lies below {least.join}, but is no join from below {least.left} and {least.right}"
    shown = Counterexample(terms, answers, expressions, setup, note)
    return LawVerdict("distributive", False, len(broken), case_count, shown)


def _parenthesize_long(code: str) -> str:
    """Put long code in parentheses, so that it stays an expression if a terminal folds it."""
    return code if len(code) <= MAX_CODE_CHARS else f"({code})"
