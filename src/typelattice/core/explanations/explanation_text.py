"""The whole explanation of a promotion, as print and the command line show it."""
from __future__ import annotations

from typelattice.base.rendering.paragraphs import PLAIN_LAYOUT, Layout
from typelattice.core.engine.promotion import Promotion
from typelattice.core.evidence.recorded_answer import RecordedAnswer, find_recorded_answer
from typelattice.core.explanations.promotion_in_english import answer_text, explain_in_sections, question_text
from typelattice.core.explanations.recorded_answer_in_english import (
    describe_recorded_answer,
    recorded_result_text,
)


def write_explanation(promotion: Promotion, layout: Layout = PLAIN_LAYOUT) -> str:
    """Write the answer, the steps to it, the lines of the file that decided, and the library's own answer.

    >>> from typelattice import system
    >>> print(write_explanation(system("array-api").explain("int8", "uint8")))
    int8 with uint8 under array-api: int16
    ...
    """
    library = f" ({promotion.system.library})" if promotion.system.library else ""
    rule = promotion.rule
    quoted = [f"{n}: {line}" for n, line in zip(rule.lines, rule.quoted, strict=False)]
    recorded = find_recorded_answer(promotion)
    did = describe_recorded_answer(promotion, recorded)
    told = [
        *explain_in_sections(promotion),
        ("rule", [str(rule), *quoted]),
        *([("observed", did)] if did else []),
    ]
    asked = question_text([str(o) for o in promotion.operands], promotion.op)
    return "\n".join([
        layout.bold(f"{asked} under {promotion.system.name}: {_describe_result(promotion, recorded)}"),
        layout.dim(f"{promotion.system.title}{library}"),
        "",
        *(layout.join_columns(heading, lines) for heading, lines in told),
    ])  # fmt: skip

def _describe_result(promotion: Promotion, recorded: RecordedAnswer | None) -> str:
    """Return the answer in words, or both answers if the library departs from the rule."""
    if recorded and recorded.departs:
        return f"{recorded_result_text(recorded)} when asked, {answer_text(promotion)} by rule"
    return answer_text(promotion)
