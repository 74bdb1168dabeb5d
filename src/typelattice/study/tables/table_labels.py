"""Dtypes, operands and answers as the short texts of tables, in the codes that the reader chose."""

from __future__ import annotations

from functools import partial

from typelattice.base.errors.error_texts import spelling_hint
from typelattice.base.rendering import Cell
from typelattice.core.dtypes.dtypes import DType, numpy_reading, weak_node
from typelattice.core.engine.promotion import Promotion
from typelattice.core.evidence.recorded_answer import RecordedAnswer, find_recorded_answer
from typelattice.core.explanations.promotion_in_english import (
    answer_text,
    describe_cast,
    question_of_promotion,
)
from typelattice.core.explanations.recorded_answer_in_english import describe_answer
from typelattice.core.losses.loss import loss
from typelattice.core.operands.operand import BOOL_DTYPE, Operand

CODE_STYLES = (
    "bits",
    "bytes",
    "names",
)  # `i32` counts bits; `i4` counts bytes, as NumPy does; `int32` is a name
REFUSED_LABEL = "-"
SHOW_SMALL = "; small=True or --small shows them"
DEPARTURE_MARK = "!"  # follows a library's answer that its rule contradicts


def operand_label(operand: Operand, codes: str) -> Cell:
    """Make the label of a row or a column from an operand."""
    marks = (operand.kind.value, *(["weak"] * operand.weak))
    if operand.dtype is None or operand.tier == "scalar":
        text = (
            str(operand) if operand.value is not None or codes == "names" else repr(weak_node(operand.kind))
        )
        return Cell(text, marks, f"a Python {operand.kind.python_name}")
    star, zero_d = "*" * operand.weak, ":0d" * (operand.tier == "0d")
    value = "" if operand.value is None else f"={operand.value}"
    return Cell(f"{short_label(operand.dtype, codes)}{star}{zero_d}{value}", marks, str(operand))


def table_cell(promotion: Promotion, recorded: RecordedAnswer | None, codes: str) -> Cell:
    """Make a cell from an answer, marked by its kind, by weakness and by any loss of a cast.

    `recorded` is the library's recorded answer. If it differs from the rule's, the cell shows it, with a `!`.
    """
    if recorded is not None and recorded.departs:
        given = (
            short_label(recorded.dtype, codes) + "*" * recorded.weak
            if recorded.dtype
            else REFUSED_LABEL
            if recorded.error
            else recorded.call.answer
        )
        return Cell(f"{given}{DEPARTURE_MARK}", ("departs",), partial(describe_cell, promotion))
    return Cell(dtype_code(promotion, codes), answer_marks(promotion), partial(describe_cell, promotion))


def dtype_code(promotion: Promotion, codes: str = "bits") -> str:
    """Return an answer in a word: `i16`, `f*` or `f32*` if it is weak, `-` for a refusal."""
    if promotion.dtype is None:
        return REFUSED_LABEL
    if not promotion.weak:
        return short_label(promotion.dtype, codes)
    by_kind = (
        promotion.dtype is promotion.system.defaults.get(promotion.dtype.kind)
        and weak_node(promotion.dtype.kind, promotion.dtype) not in promotion.system.order
    )
    if by_kind and codes != "names":
        return repr(weak_node(promotion.dtype.kind))
    return f"{short_label(promotion.dtype, codes)}*"


def short_label(dtype: DType, codes: str) -> str:
    """Return a dtype's code in bits or in bytes as NumPy does, or its name. Raises ValueError if unknown."""
    if codes == "bits":
        return dtype.code
    if codes == "names":
        return dtype.name
    if codes != "bytes":
        raise ValueError(
            f"unknown codes {codes!r}{spelling_hint(str(codes), CODE_STYLES)}; "
            f"these are {', '.join(CODE_STYLES)}"
        )
    in_bytes = f"{dtype.code[0]}{(dtype.bits or 0) // 8}"
    if numpy_reading(in_bytes) is dtype:
        return in_bytes
    return "b1" if dtype is BOOL_DTYPE else dtype.name


def answer_marks(promotion: Promotion) -> tuple[str, ...]:
    """Return the marks of a cell: refused; or its kind, weak, lossy."""
    if promotion.dtype is None:
        return ("refused",)
    to = promotion.compute  # not `p.casts`, which makes an object for each cast: a large table has many
    lossy = to is not None and any(
        o.dtype and o.dtype is not to and loss(o.dtype, to) for o in promotion.promoting_operands
    )
    return (promotion.dtype.kind.value, *(["weak"] * promotion.weak), *(["lossy"] * bool(lossy)))


def describe_cell(promotion: Promotion) -> str:
    """Describe a cell in a line: the question, the answer, and the reason of a refusal or the loss."""
    lost = dict.fromkeys(describe_cast(c) for c in promotion.casts if c.loss)
    o = find_recorded_answer(promotion)
    did = [f"{o.library} {describe_answer(o)}"] if o and o.departs else []
    return ". ".join(
        (
            f"{question_of_promotion(promotion)}: {answer_text(promotion)}",
            *([str(promotion.reason)] if promotion.reason else []),
            *lost,
            *did,
        )
    )


def describe_left_out(dtypes: tuple[DType, ...], advice: str = "") -> list[str]:
    """Return a note on hidden dtypes, with advice, or none for pictures."""
    codes = ", ".join(d.code for d in dtypes)
    return [f"left out: {len(dtypes)} small dtypes ({codes}){advice}"] if dtypes else []
