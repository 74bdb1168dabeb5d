"""Terms such as `(a + b) + c`: their resulting operands, and their text in the library's own code."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TypeAlias

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.system import System
from typelattice.core.explanations.code_templates import PLAIN_FORM, CodeTemplates, find_form, operand_text
from typelattice.core.operands.operand import Operand, scalar_operand

ADDITION_FORM = "{} + {}"
MIN_ARRAY_DTYPE_BITS = 8  # every library computes with dtypes of at least these bits
Term: TypeAlias = "Operand | tuple[Term, ...]"  # an operand, or terms that are promoted together


def result_of_term(
    system: System, term: Term, op_name: str | None = None, python_adds_scalars: bool = False
) -> Operand | None:
    """Return the result of a term, or None if any part of it is refused.

    The library adds two Python scalars. If `python_adds_scalars`, Python adds them, and the result is one.

    >>> from typelattice import operand, system
    >>> a, b, c = map(operand, ("int8", "uint8", "float16"))
    >>> numpy = system("numpy")
    >>> print(result_of_term(numpy, ((a, b), c)), result_of_term(numpy, (a, (b, c))))
    float32 float16
    """
    if isinstance(term, Operand):
        return term
    parts = [result_of_term(system, part, op_name, python_adds_scalars) for part in term]
    operands = [o for o in parts if o is not None]
    return (
        result_operand(system, operands, op_name, python_adds_scalars)
        if len(operands) == len(parts)
        else None
    )


def result_operand(
    system: System, operands: Sequence[Operand], op_name: str | None = None, python_adds_scalars: bool = False
) -> Operand | None:
    """Return the result as an operand: an array if an operand is one, or None if the system refuses them."""
    if python_adds_scalars and all(o.tier == "scalar" for o in operands):
        return scalar_operand(max((o.kind for o in operands), key=lambda kind: kind.category))
    p = system.explain(*operands, op=op_name)
    if p.dtype is None:
        return None
    array = any(o.tier == "array" for o in operands)
    return Operand(p.dtype, p.dtype.kind, p.weak, "array" if array else "0d")


def list_leaves(term: Term) -> Iterator[Operand]:
    """Yield the operands of a term, from left to right."""
    if isinstance(term, Operand):
        yield term
    else:
        for part in term:
            yield from list_leaves(part)


def term_text(term: Term) -> str:
    """Return a term in operand strings: `(uint8 + int8) + float16`."""
    return _write_term(PLAIN_FORM, term, as_dtype=False)


def write_code(
    system: System, terms: tuple[Term, ...], python_adds_scalars: bool = False
) -> tuple[str, tuple[str, ...]]:
    """Write the setup and the terms in the code of the system's library, or as operand strings.

    The expressions are sums if `add` gives the result of promotion. Otherwise they look up the common dtype.

    >>> from typelattice import operand, system
    >>> a, b = operand("int8"), operand("uint8")
    >>> write_code(system("numpy"), ((a, b),))
    ('import numpy as np', ("np.ones(1, 'int8') + np.ones(1, 'uint8')",))
    """
    form = find_form(system.name, system.library)
    operands = [o for term in terms for o in list_leaves(term)]
    if not (_add_promotes(system, terms, python_adds_scalars) and _can_make(form, operands)):
        arrays = all(o.tier == "array" and not o.weak for o in operands)
        chosen = form if form.dtype and arrays else PLAIN_FORM
        return chosen.setup, tuple(_write_term(chosen, term, as_dtype=True) for term in terms)
    if not python_adds_scalars and form.add == ADDITION_FORM and all(o.tier == "scalar" for o in operands):
        form = PLAIN_FORM  # run as the library's code, `1 + 1.0` would be Python's own sum
    return form.setup, tuple(_write_term(form, term, as_dtype=False) for term in terms)


def _add_promotes(system: System, terms: tuple[Term, ...], python_adds_scalars: bool) -> bool:
    """Return True if `add` gives the result of promotion for each term of two operands."""
    return all(
        result_of_term(system, t, "add", python_adds_scalars)
        == result_of_term(system, t, None, python_adds_scalars)
        for t in terms
        if _promotes_pairs(t)
    )


def _can_make(form: CodeTemplates, operands: Sequence[Operand]) -> bool:
    """Return True if the library computes with these operands. Only some compute with small dtypes."""
    if form.small:
        return True
    dtypes = (o.dtype for o in operands if o.dtype and o.kind is not Kind.BOOL)
    return all(d.bits is None or d.bits >= MIN_ARRAY_DTYPE_BITS for d in dtypes)


def _write_term(form: CodeTemplates, term: Term, as_dtype: bool) -> str:
    """Write a term in the library's code.

    If the term also has arrays, Python itself adds the Python scalars.
    """
    if isinstance(term, Operand):
        return operand_text(form, term, as_dtype)
    parts = []
    for part in term:
        text = _write_term(form, part, as_dtype)
        parts.append(f"({text})" if _has_plus(form, part, as_dtype) else text)
    if len(parts) > 2 and form.many:
        return form.many.format(", ".join(parts))
    if _has_plus(form, term, as_dtype):
        return reduce(ADDITION_FORM.format, parts)
    return reduce((form.join if as_dtype else form.add).format, parts)


def _has_plus(form: CodeTemplates, term: Term, as_dtype: bool) -> bool:
    """Return True if a term is written with a plus."""
    if isinstance(term, Operand):
        return False
    scalars = all(o.tier == "scalar" for o in list_leaves(term))
    return scalars or (form.add == ADDITION_FORM and not (as_dtype and form.join))


def _promotes_pairs(term: Term) -> bool:
    """Return True if a term promotes at most two operands at once."""
    return isinstance(term, Operand) or (len(term) == 2 and all(map(_promotes_pairs, term)))
