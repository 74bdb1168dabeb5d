"""Chains of operations, `add then sqrt`: each uses the previous result and its own further operands.

A chain is one function, so that a compiler sees all of it, and a lazy library computes at its end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from typelattice.conformance.recording.questions import Question
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.evidence.answer_notation import (
    ARRAY_SUFFIX,
    EXCEPTION_PREFIX,
    NOT_ASKED_ANSWER,
    REFUSED_SIGN,
    split_form,
)
from typelattice.core.operations.operations import OPERATION_BY_NAME

CHAIN_SEPARATOR = " then "
CHAIN_LENGTHS = (2, 3, 4)
PYTHON_NUMBER_OPERANDS = ("int", "float")
"""Python numbers, of which one may stand beside an array."""

LibraryFunction = Callable[..., object]


def split_chain(chain: str, operands: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield each operation of a chain with its own operands: all but the first lack the previous result.

    >>> list(split_chain("add then sqrt then multiply", ("int8", "int8", "float32")))
    [('add', ('int8', 'int8')), ('sqrt', ()), ('multiply', ('float32',))]
    """
    taken = 0
    for name in chain.split(CHAIN_SEPARATOR):
        count = OPERATION_BY_NAME[name].min_operands - (taken > 0)
        yield name, operands[taken : taken + count]
        taken += count


def chained_function(library: Any, functions: Mapping[str, LibraryFunction], chain: str) -> LibraryFunction:
    """Return the function of a chain, made of the functions of its operations.

    A library may have its own way; see `Library`.
    """
    own_way: Callable[[Sequence[str]], LibraryFunction] | None = getattr(library, "chain", None)
    if own_way:
        return own_way(chain.split(CHAIN_SEPARATOR))
    as_whole: Callable[[LibraryFunction], LibraryFunction] | None = getattr(library, "as_whole", None)
    plain = {name: getattr(f, "__wrapped__", f) if as_whole else f for name, f in functions.items()}

    def call(*operands: object) -> object:
        result = None
        for i, (name, own) in enumerate(split_chain(chain, operands)):
            result = plain[name](*([result] if i else []), *own)
        return result

    return as_whole(call) if as_whole else call


def random_chains(
    operands: Sequence[str], operations: Sequence[str], number: int, seed: int
) -> Iterator[Question]:
    """Yield random chains of two to four operations, with arrays and Python numbers."""
    rng = random.Random(seed)
    chainable_operations = [op for op in operations if op in OPERATION_BY_NAME and _can_be_chained(op)]
    arrays = [operand for operand in operands if operand in DTYPES]
    numbers = [operand for operand in PYTHON_NUMBER_OPERANDS if operand in operands]
    for _ in range(number if chainable_operations and arrays else 0):
        names = rng.choices(chainable_operations, k=rng.choice(CHAIN_LENGTHS))
        operand_count = 1 - len(names) + sum(OPERATION_BY_NAME[name].min_operands for name in names)
        others = rng.choices([*arrays, *numbers], k=operand_count - 1)
        yield CHAIN_SEPARATOR.join(names), (rng.choice(arrays), *others)


def _can_be_chained(op_name: str) -> bool:
    known = OPERATION_BY_NAME[op_name]
    return (
        known.call_form == "elementwise"
        and known.min_operands == known.max_operands
        and not known.is_in_place
    )


def answer_step_by_step(chain: str, operands: Sequence[str], ask: Callable[[Question], str]) -> str:
    """Compute the answer to a chain from answers to its operations.

    It is NOT_ASKED_ANSWER if an intermediate result is neither an array of a strong dtype nor a refusal.
    """
    answer = ""
    for name, own in split_chain(chain, operands):
        answer = ask((name, (*([answer] if answer else []), *own)))
        if answer not in DTYPES:
            return answer if answer.startswith((EXCEPTION_PREFIX, REFUSED_SIGN)) else NOT_ASKED_ANSWER
    return answer


def yield_parts(chain: str, operands: Sequence[str], ask: Callable[[Question], str]) -> Iterator[Question]:
    """Yield all shorter chains and single operations within a chain, the shortest first.

    `ask` gives the dtypes of results, which become the first operand of a part.
    """
    steps = [*split_chain(chain, operands)]
    previous_results = [
        (),
        *((_operand_of_answer(ask(_join_steps(steps[:end]))),) for end in range(1, len(steps))),
    ]
    for length in range(1, len(steps)):
        for start in range(len(steps) - length + 1):
            names, own = _join_steps(steps[start : start + length])
            if all(previous_results[start]):
                yield names, (*previous_results[start], *own)


def split_off_last_call(chain: str, operands: Sequence[str], ask: Callable[[Question], str]) -> Question:
    """Return the last operation of a chain as a call, with the result of the others as its first operand."""
    *before, (name, own) = split_chain(chain, operands)
    return name, (_operand_of_answer(ask(_join_steps(before))), *own)


def _operand_of_answer(answer: str) -> str:
    """Write an answer as an operand; "" for a refusal, and for what is neither an array nor a scalar.

    >>> _operand_of_answer("float32*"), _operand_of_answer("float64:scalar"), _operand_of_answer("!TypeError")
    ('float32:weak', 'float64:scalar', '')
    """
    dtype, form = split_form(answer)
    if dtype.rstrip("*") not in DTYPES:
        return ""
    return f"{dtype[:-1]}:weak" if dtype.endswith("*") else dtype + form.removeprefix(ARRAY_SUFFIX)


def _join_steps(steps: Sequence[tuple[str, Sequence[str]]]) -> Question:
    """Return steps as a chain: their names, and the operands of all steps."""
    return CHAIN_SEPARATOR.join(name for name, _ in steps), tuple(
        operand for _, own in steps for operand in own
    )
