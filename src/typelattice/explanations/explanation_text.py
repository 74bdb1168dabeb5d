"""The whole explanation of a promotion, as print and the command line show it."""
from __future__ import annotations

from typelattice.engine.promotion import Promotion
from typelattice.explanations.promotion_in_english import answer_text, explain_in_sections, question_text
from typelattice.explanations.recorded_answer_in_english import describe_library_answer, recorded_result_text
from typelattice.recorded.recorded_answer import find_recorded_answer
from typelattice.rendering.paragraphs import PLAIN_LAYOUT, Layout


def explanation(p: Promotion, layout: Layout = PLAIN_LAYOUT) -> str:
    """Write the answer, the steps to it, the lines of the file that decided, and the library's own answer.

    >>> from typelattice import system
    >>> print(explanation(system("array-api").explain("int8", "uint8")))
    int8 with uint8 under array-api: int16
    ...
    """
    library = f" ({p.system.library})" if p.system.library else ""
    rule = p.rule
    quoted = [f"{n}: {line}" for n, line in zip(rule.lines, rule.quoted, strict=False)]
    did = describe_library_answer(p)
    told = [*explain_in_sections(p), ("rule", [str(rule), *quoted]), *([("observed", did)] if did else [])]
    asked = question_text([str(o) for o in p.operands], p.op)
    return "\n".join([
        layout.bold(f"{asked} under {p.system.name}: {_describe_result(p)}"),
        layout.dim(f"{p.system.title}{library}"),
        "",
        *(layout.join_columns(heading, lines) for heading, lines in told),
    ])  # fmt: skip



def _describe_result(p: Promotion) -> str:
    """Return the answer in words, or both answers if the library departs from the rule."""
    o = find_recorded_answer(p)
    return (
        f"{recorded_result_text(o)} when asked, {answer_text(p)} by rule"
        if o and o.departs
        else answer_text(p)
    )
