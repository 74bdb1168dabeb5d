"""Dask's results computed, whole and in chunks; its recordings have the dtype that a lazy array announces."""

from __future__ import annotations

from typing import Any

from typelattice.conformance.recording.libraries.dask import Dask


class ComputedDask(Dask):
    """Lazy arrays that are computed before their dtype is read."""

    name = "dask-computed"
    how = "functions of dask.array, computed"

    def read(self, result: object) -> str:
        compute = getattr(result, "compute", None)
        return super().read(compute(scheduler="synchronous") if compute else result)

    def values(self, result: Any) -> object:
        return result.compute(scheduler="synchronous")


class ChunkedDask(ComputedDask):
    """Arrays of two chunks, so that partial results are combined."""

    name = "dask-chunked"
    how = "functions of dask.array on arrays of two chunks, computed"

    def make(self, operand: str) -> object:
        made: Any = super().make(operand)
        return made.rechunk(1) if hasattr(made, "rechunk") else made


IMPLEMENTATIONS = {each.name: each for each in (ComputedDask, ChunkedDask)}
