"""Terms: operands that meet, and meet again. What they come to in a system, and how its library writes them."""
from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TypeAlias

from typelattice.engine.system import System
from typelattice.explain.library_forms import PLAIN, Form, form, operand_text
from typelattice.facts.dtypes import Kind
from typelattice.operands.operand import Operand, scalar

INFIX = "{} + {}"
Term: TypeAlias = "Operand | tuple[Term, ...]"  # an operand, or terms that meet, all at once


def value(system: System, term: Term, op: str | None = None, python: bool = False) -> Operand | None:
    """What a term comes to, as an operand of the highest standing within it; None where it is refused.

    Two Python scalars are the library's to add, or, if `python`, Python's, and stay one.

    >>> from typelattice import operand, system
    >>> a, b, c = map(operand, ("int8", "uint8", "float16"))
    >>> numpy = system("numpy")
    >>> print(value(numpy, ((a, b), c)), value(numpy, (a, (b, c))))
    float32 float16
    """
    if isinstance(term, Operand):
        return term
    parts = [value(system, part, op, python) for part in term]
    operands = [o for o in parts if o is not None]
    if len(operands) < len(parts):
        return None
    if python and all(o.tier == "scalar" for o in operands):
        return scalar(max((o.kind for o in operands), key=lambda kind: kind.rank))
    p = system.explain(*operands, op=op)
    array = any(o.tier == "array" for o in operands)
    return Operand(p.dtype, p.dtype.kind, p.weak, "array" if array else "0d") if p.dtype else None


def leaves(term: Term) -> Iterator[Operand]:
    """The operands of a term, from left to right."""
    if isinstance(term, Operand):
        yield term
    else:
        for part in term:
            yield from leaves(part)


def plain(term: Term) -> str:
    """A term in operand strings: `(uint8 + int8) + float16`."""
    return _text(PLAIN, term, as_dtype=False)


def written(system: System, terms: tuple[Term, ...], python: bool = False) -> tuple[str, tuple[str, ...]]:
    """What to run first, and terms as expressions of the system's library; in operand strings if it is none known here.

    Sums, where `add` answers what promotion does; else where the dtypes meet.

    >>> from typelattice import operand, system
    >>> a, b = operand("int8"), operand("uint8")
    >>> written(system("numpy"), ((a, b),))
    ('import numpy as np', ("np.ones(1, 'int8') + np.ones(1, 'uint8')",))
    """
    known = form(system.name, system.library)
    operands = [o for t in terms for o in leaves(t)]
    sums = all(_answer(value(system, t, "add", python)) == _answer(value(system, t, None, python)) for t in terms if _two(t))
    made = known.small or all(o.kind is Kind.BOOL or not o.dtype or (o.dtype.bits or 8) >= 8 for o in operands)
    if not sums or not made:
        known = known if known.dtype and all(o.tier == "array" and not o.weak for o in operands) else PLAIN
    elif not python and all(o.tier == "scalar" for o in operands) and known.add == INFIX:
        known = PLAIN  # as Python, it would be Python's sum
    return known.setup, tuple(_text(known, t, as_dtype=not (sums and made)) for t in terms)


def _text(form: Form, term: Term, as_dtype: bool) -> str:
    """Python scalars alone are added by Python, where anything else takes part."""
    if isinstance(term, Operand):
        return operand_text(form, term, as_dtype)
    parts = [f"({text})" if _infix(form, part, as_dtype) else text for part in term for text in [_text(form, part, as_dtype)]]
    if len(parts) > 2 and form.many:
        return form.many.format(", ".join(parts))
    return reduce((INFIX if _infix(form, term, as_dtype) else form.join if as_dtype else form.add).format, parts)


def _infix(form: Form, term: Term, as_dtype: bool) -> bool:
    """Whether it is written with a plus."""
    scalars = all(o.tier == "scalar" for o in leaves(term))
    return not isinstance(term, Operand) and (scalars or (form.add == INFIX and not (as_dtype and form.join)))


def _two(term: Term) -> bool:
    """Whether it is of meetings of two only: of more at once, `add` says nothing."""
    return isinstance(term, Operand) or (len(term) == 2 and all(map(_two, term)))


def _answer(o: Operand | None) -> object:
    return o and (o.dtype, o.kind, o.weak)
