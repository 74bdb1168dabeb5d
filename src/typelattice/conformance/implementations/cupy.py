"""CuPy, which has NumPy's functions on a GPU."""

from typelattice.conformance.libraries.cupy import CuPy

IMPLEMENTATIONS = {CuPy.name: CuPy}
