"""NumPy: every creation and most reductions take a dtype."""

from __future__ import annotations

from collections.abc import Mapping

MODULE = "numpy"
DTYPES = ("float64", "float32", "float16")
CAST = ".astype({})"
CREATORS = """
    zeros ones empty full eye identity tri arange linspace logspace geomspace array asarray ascontiguousarray
    zeros_like ones_like empty_like full_like fromiter frombuffer loadtxt
"""
ACCUMULATORS = {
    "dtype": "sum mean var std prod cumsum cumprod trace nansum nanmean nanvar nanstd nanprod matmul einsum"
}
DRAWS = """
    random rand randn random_sample standard_normal normal uniform exponential poisson gamma beta lognormal
    standard_exponential standard_gamma laplace logistic
"""
DRAW_KEYWORD = ""
SEEDED_FUNCTIONS = ("numpy.random.default_rng", "numpy.random.seed", "numpy.random.RandomState")
AGREEING_OPERATIONS = ""
WIDE_ENVIRONMENT: Mapping[str, str] = {}
SCALARS_WIDEN = True
FORKS_AFTER_IMPORT = True
TAKES_NAMES = True
