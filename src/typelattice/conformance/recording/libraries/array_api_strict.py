"""array-api-strict, which has only what the Python array API standard has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import array_api_strict as xp

from typelattice.conformance.recording.array_api_library import ArrayNamespace
from typelattice.conformance.recording.library import Library, versions_of


class ArrayAPIStrict(ArrayNamespace):
    """The standard at the newest revision that array-api-strict implements by default."""

    namespaces = (xp, xp.linalg, xp.fft)
    copy_array = staticmethod(
        partial(xp.asarray, copy=True)
    )  # copy.deepcopy raises up to array-api-strict 2.4

    def __init__(self) -> None:
        super().__init__(xp)
        self.name = "array-api"
        self.versions = versions_of("array-api-strict", "numpy")
        revision = xp.get_array_api_strict_flags()["api_version"]
        self.how = f"array-api-strict's functions, standard revision {revision}"


LIBRARIES: Mapping[str, Callable[[], Library]] = {"array-api": ArrayAPIStrict}
