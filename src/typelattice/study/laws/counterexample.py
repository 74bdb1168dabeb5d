"""Counterexamples of a law: the operands, both sides of the law, and the library's own code."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typelattice.core.explanations.expression_terms import Term, list_leaves, term_text, write_code
from typelattice.core.operands.operand import Operand
from typelattice.study.laws.closure import AnswerKey, Closure, answer_words
from typelattice.study.laws.law_equations import FailingCase, monotone


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two terms that the law says are equal, and the system's result for each; or one term, and its fault.

    `expressions` are the terms in the code of the system's library, after `setup`; `note` is a further
    remark.
    """

    terms: tuple[Term, ...]
    answers: tuple[AnswerKey, ...]
    expressions: tuple[str, ...]
    setup: str
    note: str = ""

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands of the terms, each once."""
        return tuple(dict.fromkeys(list_leaves(self.terms[0])))

    def __str__(self) -> str:
        said = [
            f"{term_text(t)} is {answer_words(found)}"
            for t, found in zip(self.terms, self.answers, strict=True)
        ]
        if isinstance(self.terms[-1], Operand):
            said[1:] = [f"not {self.terms[-1]}"]
        return ", ".join([*said, *filter(None, [self.note])])

    def data(self) -> dict[str, object]:
        """Return the counterexample as data for JSON."""
        return {
            "operands": [str(o) for o in self.operands],
            "terms": [term_text(t) for t in self.terms],
            "answers": [{"dtype": d and d.name, "weak": weak} for d, weak in self.answers],
            "setup": self.setup,
            "expressions": list(self.expressions),
            "note": self.note,
        }


def make_counterexample(closure: Closure, case: FailingCase) -> Counterexample:
    """Return a case written out in operands."""
    operands: Sequence[Term] = closure.operands(*case.numbers)
    two = case.sides(_join_terms, operands, lambda a, b: True)
    assert two
    note = f"though {operands[1]} is above {operands[0]}" if case.sides is monotone else ""
    setup, expressions = write_code(closure.system, two, closure.has_python_scalars)
    return Counterexample(two, case.answers, expressions, setup, note)


def _join_terms(*terms: Term) -> Term:
    """Return the term that promotes some terms at once."""
    return terms
