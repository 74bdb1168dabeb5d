"""The entries of a system file for the values of Python scalars: `fit` and `limits`."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations

from typelattice.base.errors.error_texts import quote_short
from typelattice.core.dtypes.dtypes import DType, Kind, Node, sort_key
from typelattice.core.engine.scalar_fit import (
    FIT_CONDITIONS,
    FIT_OUTCOMES,
    FIT_OUTCOMES_OF_DTYPE,
    LEAST_DTYPE_OUTCOME,
    RAISE_BEYOND_DEFAULT,
    RAISE_IF_DEFAULT_TAKEN,
)
from typelattice.core.losses.range_and_overflow import is_in_range
from typelattice.core.operands.operand import KIND_BY_NAME
from typelattice.core.system_files.value_reader import (
    RepeatedEntryError,
    UnknownWordError,
    Vocabulary,
    read_distinct,
    read_kind,
    require_each_of,
    require_one_of,
    require_text,
    table_items,
)


def read_fit(words: Vocabulary, table: object, dtypes: bool = False) -> dict[str, str]:
    """Read kind of scalar → outcome for a value out of range.

    With `dtypes`, also read dtype → outcome.
    """
    found: dict[str, str] = {}
    entry_by_dtype: dict[str, str] = {}
    # one word holds for all kinds
    outcome_by_kind = dict.fromkeys(KIND_BY_NAME, table) if isinstance(table, str) else table
    for word, outcome_text in table_items(outcome_by_kind):
        if word not in KIND_BY_NAME and dtypes:
            require_one_of(outcome_text, FIT_OUTCOMES_OF_DTYPE)
            for d in map(words.require_dtype, words.read_nodes(word)):
                if str(d) in found:
                    cause = f"{d} is mapped twice; keep one entry"
                    raise RepeatedEntryError(cause, word, entry_by_dtype[str(d)])
                found[str(d)], entry_by_dtype[str(d)] = require_text(outcome_text), word
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
        if {RAISE_BEYOND_DEFAULT, RAISE_IF_DEFAULT_TAKEN} <= {*conditions}:
            cause = f"{quote_short(RAISE_BEYOND_DEFAULT)} includes it; leave it out"
            raise UnknownWordError(f"{quote_short(RAISE_IF_DEFAULT_TAKEN)}: {cause}", RAISE_IF_DEFAULT_TAKEN)
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
    entry_by_dtype: dict[DType, str] = {}
    for word, codes in table_items(table):
        if word in KIND_BY_NAME:
            found[KIND_BY_NAME[word]] = _read_bounds(words, word, codes)
            continue
        bounds = _read_bounds(words, Kind.SIGNED.python_name, codes)
        for d in map(words.require_dtype, words.read_nodes(word)):
            if d in found:
                cause = f"{d} is mapped twice; keep one entry"
                raise RepeatedEntryError(cause, word, entry_by_dtype[d])
            found[d], entry_by_dtype[d] = bounds, word
    return found


def _read_bounds(words: Vocabulary, word: str, codes: object) -> tuple[DType, ...]:
    """Read dtypes, of which one must hold a value. None lies within another. Raises ValueError."""
    found = words.read_scalar_dtypes(word, codes)
    for narrow, wide in permutations(found, 2):
        if lies_within(narrow, wide):
            raise ValueError(f"{wide} holds every value of {narrow}; leave {narrow} out")
    return found


def lies_within(narrow: DType, wide: DType) -> bool:
    """Return True if a dtype holds the least and the greatest value of another, which has both."""
    ends = (narrow.min, narrow.max)
    return all(end is not None and is_in_range(end, wide) for end in ends)
