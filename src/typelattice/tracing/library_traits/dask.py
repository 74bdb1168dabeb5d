"""Dask: the module of its dtypes."""

DTYPE_MODULE = "dask.array"
