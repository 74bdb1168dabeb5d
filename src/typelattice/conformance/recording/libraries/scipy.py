"""SciPy: functions of NumPy's arrays. An operation has its module in its name: `special_gammaln`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import fft, linalg, ndimage, signal, special, stats
from scipy.spatial import distance

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation
from typelattice.conformance.recording.libraries.numpy import NumPy
from typelattice.conformance.recording.library import (
    Library,
    NoSuchOperandError,
    ParsedOperandString,
    versions_of,
)
from typelattice.conformance.recording.operation_functions import (
    LibraryFunction,
    SpelledFunction,
    first_result,
)
from typelattice.core.operations.operations import Operation, make_custom_operation

ArrayMaker = Callable[[Any], Any]
OPERATION_BY_ARRAY_COUNT = {
    1: "fftshift",
    2: "kron",
    3: "addmm",
}  # an operation with this number of whole arrays
UFUNCS_WITHOUT_STATED_RULE = (
    "nbdtr", "nbdtrc", "nbdtri", "eval_gegenbauer", "eval_genlaguerre", "eval_jacobi", "eval_sh_jacobi",
)  # fmt: skip
"""Functions of special with loops that mix integers and floats in three arguments or more."""
# beginnings of names in special; some of these functions never return
ENDLESS_FUNCTION_PREFIXES = ("obl_", "pro_")


def one_element(x: Any) -> Any:
    """Make an array of one element."""
    return np.resize(x, 1)


def vector(x: Any) -> Any:
    """Make an array of one dimension, long enough for filters."""
    return np.resize(x, 64)


def grid(x: Any) -> Any:
    """Make an array of two dimensions."""
    return np.resize(x, (6, 6))


def matrix(x: Any) -> Any:
    """Make a matrix that can be inverted."""
    return np.eye(3).astype(np.asarray(x).dtype)


def sample(x: Any) -> Any:
    """Make a sample of the values 1 and 2."""
    return (np.arange(24) % 2 + 1).astype(np.asarray(x).dtype)


def make_function(module: Any, name: str, shape: ArrayMaker, *more: Any) -> LibraryFunction:
    """Call a function of a module with arrays of a shape, and return its first result."""
    function = getattr(module, name)
    rest = "".join(f", {x.__module__}.{x.__name__}" if callable(x) else f", {x!r}" for x in more)
    spelling = f"{module.__name__}.{name}({{}}{rest})"
    return SpelledFunction(lambda *arrays: first_result(function(*map(shape, arrays), *more)), spelling)


def make_functions(module: Any, shape: ArrayMaker, names: str, *more: Any) -> dict[str, LibraryFunction]:
    """Make such calls of several functions of a module."""
    prefix = module.__name__.rpartition(".")[2]
    return {f"{prefix}_{name}": make_function(module, name, shape, *more) for name in names.split()}


UFUNC_BY_NAME = {
    name: found
    for name, found in vars(special).items()
    if isinstance(found, np.ufunc) and not name.startswith(("_", *ENDLESS_FUNCTION_PREFIXES))
}
UFUNC_NAME_BY_OPERATION = {
    "sigmoid": "expit", "rint": "round",
    **{name: name for name in ("erf", "expm1", "log1p", "exp2", "cbrt")},
}  # fmt: skip
"""Elementwise functions that other libraries have, too: operation → name."""


def make_ufunc_function(name: str) -> LibraryFunction:
    """Call an elementwise function, and return its first result."""
    found = UFUNC_BY_NAME[name]
    return SpelledFunction(lambda *operands: first_result(found(*operands)), f"scipy.special.{name}")


# functions that other libraries also have, by operation
SHARED_FUNCTION_BY_OPERATION: Mapping[str, LibraryFunction] = {
    **{op: make_ufunc_function(name) for op, name in UFUNC_NAME_BY_OPERATION.items()},
    **{name: make_function(special, name, vector) for name in ("softmax", "log_softmax", "logsumexp")},
    **{name: make_function(fft, name, vector) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{name: make_function(fft, name, grid) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{name: make_function(fft, name, vector) for name in ("fftshift", "ifftshift")},
    **{
        name: make_function(linalg, name, matrix)
        for name in ("inv", "pinv", "det", "cholesky", "solve", "norm")
    },
    **{name: make_function(linalg, name, matrix) for name in ("svdvals", "eigvalsh", "eigvals")},
    **{name: make_function(linalg, name, matrix) for name in ("qr", "svd", "eigh")},
    **{name: make_function(signal, name, vector) for name in ("convolve", "correlate")},
}
BINARY_FUNCTIONS = (
    *("linalg_solve_triangular", "linalg_khatri_rao", "signal_sosfilt", "signal_fftconvolve"),
    *("signal_oaconvolve", "signal_upfirdn", "signal_convolve2d", "signal_correlate2d", "stats_zmap"),
    *("distance_cdist", "distance_braycurtis", "distance_canberra", "distance_hamming", "distance_jaccard"),
    *("distance_sqeuclidean", "distance_cosine", "distance_correlation", "distance_jensenshannon"),
)
# functions that only SciPy has
WHOLE_ARRAY_FUNCTION_BY_NAME: Mapping[str, LibraryFunction] = {
    **make_functions(special, vector, "lambertw"),
    **make_functions(fft, vector, "dct idct dst idst"),
    **make_functions(fft, grid, "dctn idctn dstn idstn hfftn ihfftn"),
    **make_functions(linalg, matrix, "hessenberg null_space orth polar rq ldl lu_factor cho_factor pinvh"),
    **make_functions(linalg, matrix, "solve_triangular expm cosm sinm tanm schur khatri_rao"),
    **make_functions(linalg, vector, "circulant toeplitz hankel"),
    **make_functions(ndimage, grid, "gaussian_filter gaussian_filter1d gaussian_laplace", 1.0),
    **make_functions(ndimage, grid, "gaussian_gradient_magnitude", 1.0),
    **make_functions(ndimage, grid, "fourier_gaussian fourier_uniform fourier_ellipsoid fourier_shift", 1.0),
    **make_functions(ndimage, grid, "uniform_filter uniform_filter1d median_filter maximum_filter", 3),
    **make_functions(ndimage, grid, "minimum_filter maximum_filter1d minimum_filter1d grey_dilation", 3),
    **make_functions(ndimage, grid, "grey_erosion grey_opening grey_closing white_tophat black_tophat", 3),
    **make_functions(ndimage, grid, "morphological_gradient morphological_laplace", 3),
    **make_functions(ndimage, grid, "sobel prewitt laplace spline_filter spline_filter1d label"),
    **make_functions(ndimage, grid, "mean variance standard_deviation binary_erosion binary_dilation"),
    **make_functions(ndimage, grid, "binary_opening binary_closing binary_propagation binary_fill_holes"),
    **make_functions(ndimage, grid, "distance_transform_edt distance_transform_bf distance_transform_cdt"),
    **make_functions(ndimage, grid, "percentile_filter", 50, 3),
    **make_functions(ndimage, grid, "rank_filter", 1, 3),
    **make_functions(ndimage, grid, "generic_filter", np.mean, 3),
    **make_functions(ndimage, grid, "zoom", 2),
    **make_functions(ndimage, grid, "rotate shift", 30),
    **make_functions(ndimage, grid, "convolve correlate", [[1.0] * 3] * 3),
    **make_functions(ndimage, grid, "convolve1d correlate1d", [1, 1]),
    **make_functions(ndimage, grid, "affine_transform", [[1.0, 0.0], [0.0, 1.0]]),
    **make_functions(ndimage, grid, "map_coordinates", [[1, 2], [1, 2]]),
    "signal_lfilter": lambda b, a, x: signal.lfilter(b, a[:1], vector(x)),
    "signal_sosfilt": lambda sos, x: signal.sosfilt(np.array([[1, 0, 0, 1, 0, 0]], sos.dtype), vector(x)),
    **make_functions(signal, vector, "fftconvolve oaconvolve upfirdn hilbert envelope detrend cspline1d"),
    **make_functions(signal, vector, "resample", 16),
    **make_functions(signal, vector, "resample_poly", 2, 1),
    **make_functions(signal, vector, "decimate", 2),
    **make_functions(signal, vector, "savgol_filter", 5, 2),
    **make_functions(signal, vector, "medfilt wiener", 3),
    **make_functions(signal, grid, "medfilt2d", 3),
    **make_functions(signal, grid, "order_filter", [[1] * 3] * 3, 1),
    **make_functions(signal, grid, "convolve2d correlate2d"),
    **make_functions(distance, grid, "cdist pdist"),
    **make_functions(distance, one_element, "squareform"),
    **make_functions(distance, vector, "braycurtis canberra hamming jaccard"),
    **make_functions(distance, vector, "sqeuclidean cosine correlation jensenshannon"),
    **make_functions(stats, sample, "zscore hmean skew kurtosis moment tmean tstd tvar gstd circstd circvar"),
    **make_functions(stats, sample, "zmap sem median_abs_deviation variation circmean iqr entropy"),
    **make_functions(stats, sample, "trim_mean", 0.1),
    **make_functions(stats, sample, "pmean", 2),
}


class SciPy(NumPy):
    """SciPy's functions of NumPy's arrays, also with Python scalars."""

    name = "scipy"
    how = "scipy's functions, called on NumPy's arrays and on Python scalars"
    namespaces = None  # every other library has functions that SciPy lacks
    extra_operands: Sequence[str] = ()

    def __init__(self) -> None:
        super().__init__()
        self.versions = versions_of("scipy", "numpy")
        ufuncs = {
            f"special_{name}": found
            for name, found in UFUNC_BY_NAME.items()
            if name not in UFUNCS_WITHOUT_STATED_RULE
        }
        shared = [UFUNC_BY_NAME[name] for name in UFUNC_NAME_BY_OPERATION.values()]
        self.ufuncs = {name: found for name, found in ufuncs.items() if found not in shared}
        self.custom_operations: Mapping[str, Operation] = {
            **{
                name: make_custom_operation(name, "cbrt", "xyzv"[: found.nin])
                for name, found in self.ufuncs.items()
            },
            **{
                name: make_custom_operation(
                    name,
                    OPERATION_BY_ARRAY_COUNT[
                        3 if name == "signal_lfilter" else 2 if name in BINARY_FUNCTIONS else 1
                    ],
                )
                for name in WHOLE_ARRAY_FUNCTION_BY_NAME
            },
        }

    def make(self, operand: str) -> object:
        if ParsedOperandString.parse(operand).tier not in ("array", "python"):
            raise NoSuchOperandError(operand)
        return super().make(operand)

    def operations(self) -> FunctionByOperation:
        ufuncs = {name: make_ufunc_function(name.partition("_")[2]) for name in self.ufuncs}
        return {**SHARED_FUNCTION_BY_OPERATION, **ufuncs, **WHOLE_ARRAY_FUNCTION_BY_NAME}


LIBRARIES: Mapping[str, Callable[[], Library]] = {SciPy.name: SciPy}
