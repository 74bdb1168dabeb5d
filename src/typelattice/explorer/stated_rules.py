"""The statements in a system's files on which its answers rest, and the lines behind them."""

from __future__ import annotations

from collections.abc import Hashable

from typelattice.engine.operations import entries
from typelattice.engine.system import System
from typelattice.facts.operations import operation
from typelattice.files.provenance import Provenance
from typelattice.files.text import Text

ABOUT = ("name", "title", "source", "library")  # keys on which no answer rests


def stated(system: System, op: str | None) -> Hashable:
    """All that the files state of an operation, or of promotion alone, and the texts that state it.

    Two systems with the same statements give the same answers, by the same lines of the same files; only the
    reason of a refusal may name the system.

    >>> from typelattice import system
    >>> stated(system("numpy"), "add") == stated(system("numpy@2.4"), "add")
    True
    >>> stated(system("numpy"), "add") == stated(system("jax"), "add")
    False
    """
    assert isinstance(system.origin, Provenance)
    spec, ops = system.origin.spec, system.origin.spec.entries("ops")
    said = {key: value for key, value in spec.values.items() if key not in (*ABOUT, "ops")}
    of_op = [entry for entry in entries(op) if entry in ops] if op else []
    # The standard has no line of an operator: the file itself is named.
    main = spec.main.file if op and operation(op).is_operator else None
    return (
        main,
        tuple((key, repr(said[key]), *_source(spec.texts[key])) for key in sorted(said)),
        tuple((entry, repr(ops[entry]), *_source(spec.text_of_entry("ops", entry))) for entry in of_op),
    )


def _source(text: Text) -> tuple[str, str]:
    """Return what a rule names of a text: its file and its lines."""
    return text.file, text.text
