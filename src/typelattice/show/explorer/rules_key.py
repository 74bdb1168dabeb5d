"""The statements of a system's files that decide its answers, and the lines behind them."""

from __future__ import annotations

from collections.abc import Hashable

from typelattice.core.engine.operation_rules import entry_names
from typelattice.core.engine.system import System
from typelattice.core.operations.operations import find_operation
from typelattice.core.system_files.system_origin import SystemOrigin
from typelattice.core.system_files.system_text import OPERATION_SETS_KEY, SystemText

DESCRIPTIVE_KEYS = ("name", "title", "source", "library")  # keys that decide no answer


def rules_key(system: System, op_name: str | None) -> Hashable:
    """Return what the files state about an operation, or about plain promotion, and the texts themselves.

    Two systems with the same statements give the same answers, by the same lines of the same files. Only the
    reason of a refusal may name the system.

    >>> from typelattice import system
    >>> rules_key(system("numpy"), "add") == rules_key(system("numpy@2.4"), "add")
    True
    >>> rules_key(system("numpy"), "add") == rules_key(system("jax"), "add")
    False
    """
    assert isinstance(system.origin, SystemOrigin)
    definition, ops = system.origin.definition, system.origin.definition.entries_of_key("ops")
    left_out = (*DESCRIPTIVE_KEYS, OPERATION_SETS_KEY, "ops")
    said = {key: value for key, value in definition.values.items() if key not in left_out}
    of_op = (
        [entry for entry in entry_names(system.find_operation(op_name)) if entry in ops] if op_name else []
    )
    # standard.txt has no line for an operator, so the key has the name of the file.
    main = definition.main.file if op_name and find_operation(op_name).is_operator else None
    return (
        main,
        tuple((key, repr(said[key]), *_file_and_lines(definition.texts[key])) for key in sorted(said)),
        tuple(
            (entry, repr(ops[entry]), *_file_and_lines(definition.text_of_entry("ops", entry)))
            for entry in of_op
        ),
    )


def _file_and_lines(text: SystemText) -> tuple[str, str]:
    """Return the file and the lines of a text, as a rule names them."""
    return text.file, text.text
