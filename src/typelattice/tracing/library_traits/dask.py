"""Dask: the module of its dtypes, and the functions that compute an array."""

DTYPE_MODULE = "dask.array"
COMPUTING_FUNCTIONS = ("compute", "persist", "load")  # `load` is xarray's, of arrays of Dask
