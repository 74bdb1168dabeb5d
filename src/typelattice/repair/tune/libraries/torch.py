"""PyTorch: products of matrices refuse tensors of different dtypes."""

from __future__ import annotations

from collections.abc import Mapping

MODULE = "torch"
DTYPES = ("float64", "float32", "bfloat16", "float16")
CAST = ".to({})"
CREATORS = """
    zeros ones empty full eye arange linspace logspace tensor as_tensor asarray zeros_like ones_like
    empty_like full_like
"""
ACCUMULATORS = {"dtype": "sum mean prod cumsum cumprod nansum nanmean softmax log_softmax norm"}
DRAWS = "rand randn rand_like randn_like normal"
DRAW_KEYWORD = ""
SEEDED_FUNCTIONS = ("torch.manual_seed",)
AGREEING_OPERATIONS = """
    matmul mm bmm mv dot vdot inner einsum tensordot linear addmm baddbmm conv1d conv2d conv3d lerp cdist
    layer_norm batch_norm bilinear scaled_dot_product_attention
"""
WIDE_ENVIRONMENT: Mapping[str, str] = {}
SCALARS_WIDEN = False
FORKS_AFTER_IMPORT = True
TAKES_NAMES = False
