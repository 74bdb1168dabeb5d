"""The error that a namespace raises for what its system or its array library cannot do."""
from __future__ import annotations

from typelattice.facts.errors import TypelatticeError


class NamespaceError(TypelatticeError, TypeError):
    """Arrays that do not go together, or what the array library cannot do; the message says what to do."""
