"""The error that a namespace raises for what its system or its array library cannot do."""
from __future__ import annotations

from typelattice.facts.errors import TypelatticeError


class NamespaceError(TypelatticeError, TypeError):
    """Arrays that do not match, or a request that the array library cannot fulfil, with what to do."""
