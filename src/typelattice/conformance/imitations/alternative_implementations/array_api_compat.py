"""array-api-compat's namespaces, which make libraries answer as the standard says."""

from __future__ import annotations

import importlib
from functools import partial

from typelattice.conformance.recording.array_api_library import ArrayNamespace
from typelattice.conformance.recording.library import versions_of


class CompatNamespace(ArrayNamespace):
    """The namespace around one library."""

    def __init__(self, module: str, package: str) -> None:
        super().__init__(importlib.import_module(f"array_api_compat.{module}"))
        self.name = f"array-api-compat-{package}"
        self.versions = versions_of("array-api-compat", package)


IMPLEMENTATIONS = {
    f"array-api-compat-{package}": partial(CompatNamespace, module, package)
    for module, package in (("numpy", "numpy"), ("torch", "torch"), ("dask.array", "dask"))
}
