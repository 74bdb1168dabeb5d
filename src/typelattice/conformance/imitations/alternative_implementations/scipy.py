"""SciPy as it is recorded, asked also whether a result is an array or a scalar."""

from __future__ import annotations

from typelattice.conformance.imitations.alternative_implementations.numpy import suffix_of_form
from typelattice.conformance.recording.libraries.scipy import SciPy


class EagerSciPy(SciPy):
    """SciPy's functions on NumPy's arrays."""

    name = "scipy-eager"

    def read(self, result: object) -> str:
        return super().read(result) + suffix_of_form(result)


IMPLEMENTATIONS = {EagerSciPy.name: EagerSciPy}
