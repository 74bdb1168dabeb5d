"""The error of a namespace for requests that its system or its array library cannot fulfil."""
from __future__ import annotations

from typelattice.base.errors.errors import TypelatticeError


class NamespaceError(TypelatticeError, TypeError):
    """Arrays that do not match, or a request that the array library cannot fulfil, with what to do."""

    __module__ = "typelattice"
