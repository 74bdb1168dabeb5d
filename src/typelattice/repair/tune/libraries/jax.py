"""JAX: without the switch of 64-bit types there is no float64."""

from __future__ import annotations

MODULE = "jax.numpy"
DTYPES = ("float64", "float32", "bfloat16", "float16")
CAST = ".astype({})"
CREATORS = """
    zeros ones empty full eye identity tri arange linspace logspace geomspace array asarray
    zeros_like ones_like empty_like full_like
"""
ACCUMULATORS = {
    "dtype": "sum mean var std prod cumsum cumprod trace nansum nanmean nanvar nanstd nanprod",
    "preferred_element_type": "matmul dot einsum tensordot vdot inner",
}
DRAWS = "normal uniform truncated_normal exponential gamma beta laplace logistic gumbel"
DRAW_KEYWORD = "dtype"
SEEDED_FUNCTIONS = ("jax.random.PRNGKey", "jax.random.key")
AGREEING_OPERATIONS = "while_loop scan fori_loop cond dot_general conv_general_dilated"
WIDE_ENVIRONMENT = {"JAX_ENABLE_X64": "1"}
SCALARS_WIDEN = True
FORKS_AFTER_IMPORT = True
TAKES_NAMES = True
