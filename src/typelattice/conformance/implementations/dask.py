"""Dask's results computed; its recordings have the dtype that a lazy array announces."""

from __future__ import annotations

from typelattice.conformance.libraries.dask import Dask


class Computed(Dask):
    """Lazy arrays that are computed before their dtype is read."""

    name = "dask-computed"
    how = "functions of dask.array, computed"

    def read(self, result: object) -> str:
        compute = getattr(result, "compute", None)
        return super().read(compute(scheduler="synchronous") if compute else result)


IMPLEMENTATIONS = {Computed.name: Computed}
