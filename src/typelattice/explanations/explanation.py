"""The whole explanation of a promotion, as print and the command line show it."""
from __future__ import annotations

from typelattice.engine.answer import Promotion
from typelattice.explanations.recorded_answer import answer_words, evidence
from typelattice.explanations.sections import answer, question_text, sections
from typelattice.recorded.observed import observed
from typelattice.rendering.paragraphs import PLAIN, Layout


def explanation(p: Promotion, layout: Layout = PLAIN) -> str:
    """Write the answer, the steps to it, the lines of the file that decided, and the library's own answer.

    >>> from typelattice import system
    >>> print(explanation(system("array-api").explain("int8", "uint8")))
    int8 with uint8 under array-api: int16
    ...
    """
    library = f" ({p.system.library})" if p.system.library else ""
    rule = p.rule
    quoted = [f"{n}: {line}" for n, line in zip(rule.lines, rule.quoted, strict=False)]
    did = evidence(p)
    told = [*sections(p), ("rule", [str(rule), *quoted]), *([("observed", did)] if did else [])]
    asked = question_text([str(o) for o in p.operands], p.op)
    return "\n".join([
        layout.bold(f"{asked} under {p.system.name}: {_describe_result(p)}"),
        layout.dim(f"{p.system.title}{library}"),
        "",
        *(layout.join_columns(heading, lines) for heading, lines in told),
    ])  # fmt: skip



def _describe_result(p: Promotion) -> str:
    """Return the answer in words; if the library departs from the rule, both answers."""
    o = observed(p)
    return f"{answer_words(o)} when asked, {answer(p)} by rule" if o and o.departs else answer(p)
