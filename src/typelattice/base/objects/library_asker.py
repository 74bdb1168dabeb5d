"""The maker of the asker of installed libraries. `typelattice` registers it when it is imported."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARY_ASKER: dict[str, Callable[[], object]] = {}
"""The maker, by the key "asker", once it is registered."""
