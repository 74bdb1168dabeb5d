"""The names that an entry of `ops` may have: operations, their classes, and groups of classes."""
from __future__ import annotations

from collections.abc import Iterable

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS, STANDARD_RULES_BY_CLASS
from typelattice.core.operations.operations import OPERATION_BY_NAME, OPERATIONS, OPERATORS
from typelattice.core.system_files.value_reader import UnknownWordError

ENTRY_NAMES = dict.fromkeys(
    (*STANDARD_RULES_BY_CLASS, *OPERATIONS, *OPERATORS, *GROUP_BY_CLASS.values())
)


def check_entry(op: str, custom_names: Iterable[str] = ()) -> None:
    """Raise ValueError unless a word names an operation, a class or a group of operations.

    `custom_names` are the operations that the file defines.
    """
    if op not in ENTRY_NAMES and op not in custom_names:
        near = (
            f"; write {OPERATION_BY_NAME[op].name}"
            if op in OPERATION_BY_NAME
            else spelling_hint(op, (*ENTRY_NAMES, *custom_names))
        )
        raise UnknownWordError(f"unknown operation or class {quote_short(op)}{near}", op)
