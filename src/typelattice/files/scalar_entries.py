"""The entries of a system file for the values of Python scalars: `fit` and `limits`."""
from __future__ import annotations

from collections.abc import Iterable, Mapping

from typelattice.engine.scalar_fit import (
    FIT_CONDITIONS,
    FIT_OUTCOMES,
    FIT_OUTCOMES_OF_DTYPE,
    LEAST_DTYPE_OUTCOME,
)
from typelattice.facts.dtypes import DType, Kind, Node, sort_key
from typelattice.files.value_reader import (
    Vocabulary,
    read_distinct,
    read_kind,
    require_each_of,
    require_one_of,
    require_text,
    table_items,
)
from typelattice.operands.operand import KIND_BY_NAME
from typelattice.support.error_texts import quote_short


def read_fit(words: Vocabulary, table: object, dtypes: bool = False) -> dict[str, str]:
    """Read kind of scalar → outcome for a value out of range.

    With `dtypes`, also read dtype → outcome.
    """
    found: dict[str, str] = {}
    # one word holds for all kinds
    outcome_by_kind = dict.fromkeys(KIND_BY_NAME, table) if isinstance(table, str) else table
    for word, outcome_text in table_items(outcome_by_kind):
        if word not in KIND_BY_NAME and dtypes:
            require_one_of(outcome_text, FIT_OUTCOMES_OF_DTYPE)
            found |= dict.fromkeys(
                map(str, map(words.require_dtype, words.read_nodes(word))),
                require_text(outcome_text),
            )
            continue
        if require_text(outcome_text).startswith(LEAST_DTYPE_OUTCOME) and word == "int":
            if outcome_text != LEAST_DTYPE_OUTCOME and not require_text(outcome_text).startswith(
                f"{LEAST_DTYPE_OUTCOME} of "
            ):
                raise ValueError(
                    f'{quote_short(require_text(outcome_text))} should be "{LEAST_DTYPE_OUTCOME}", '
                    f'or "{LEAST_DTYPE_OUTCOME} of u8, u16"'
                )
            found[read_kind(word, KIND_BY_NAME).python_name] = LEAST_DTYPE_OUTCOME
            continue
        outcome, *conditions = map(str.strip, require_text(outcome_text).split(","))
        impossible = ("inf",) if word == "int" else ("wrap", LEAST_DTYPE_OUTCOME)
        kind = read_kind(word, KIND_BY_NAME)
        require_one_of(outcome, [x for x in FIT_OUTCOMES if x not in impossible])
        require_each_of(", ".join(conditions) or FIT_CONDITIONS[0], FIT_CONDITIONS)
        found[kind.python_name] = ", ".join((outcome, *conditions))
    return found


def read_int_join_dtypes(
    words: Vocabulary, table: Mapping[str, object], nodes: Iterable[Node]
) -> tuple[DType, ...]:
    """Read the dtypes of `least dtype of …`, from narrow to wide.

    The default is all integers of `nodes`.
    """
    outcome_text = require_text(table.get("int", ""))
    if not outcome_text.startswith(LEAST_DTYPE_OUTCOME):
        return ()
    listed = outcome_text.removeprefix(LEAST_DTYPE_OUTCOME).removeprefix(" of ")
    integers = [n for n in nodes if isinstance(n, DType) and n.kind.python_name == "int"]
    named = words.read_nodes(listed) if listed else integers
    return tuple(
        sorted(read_distinct(words.require_dtype(n, Kind.SIGNED) for n in named), key=sort_key)
    )


def read_limits(words: Vocabulary, table: object) -> dict[DType | Kind, tuple[DType, ...]]:
    """Read kind → dtypes, and dtypes → dtypes.

    At least one of the dtypes must hold the scalar or the int.
    """
    found: dict[DType | Kind, tuple[DType, ...]] = {}
    for word, codes in table_items(table):
        if word in KIND_BY_NAME:
            found[KIND_BY_NAME[word]] = words.read_scalar_dtypes(word, codes)
            continue
        bounds = words.read_scalar_dtypes(Kind.SIGNED.python_name, codes)
        for d in map(words.require_dtype, words.read_nodes(word)):
            if d in found:
                raise ValueError(f"{d} is mapped twice; keep one entry")
            found[d] = bounds
    return found
