"""SciPy: functions of NumPy's arrays. An operation has its module in its name: `special_gammaln`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import fft, linalg, ndimage, signal, special, stats
from scipy.spatial import distance

from typelattice.conformance.functions import SpelledFunction, first
from typelattice.conformance.libraries.numpy import NumPy
from typelattice.conformance.library import Library, NoSuchOperandError, ParsedOperandString, versions_of
from typelattice.facts.operations import Operation, make_custom_operation

Function = Callable[..., object]
Shape = Callable[[Any], Any]
LIKE = {1: "fftshift", 2: "kron", 3: "addmm"}  # an operation with this number of whole arrays
NOT_STATED = (
    "nbdtr", "nbdtrc", "nbdtri", "eval_gegenbauer", "eval_genlaguerre", "eval_jacobi", "eval_sh_jacobi",
)  # fmt: skip
"""Functions of special with loops that mix integers and floats in three arguments or more."""
ENDLESS = ("obl_", "pro_")  # beginnings of names in special; some of these functions never return


def one(x: Any) -> Any:
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


def call_of(module: Any, name: str, shape: Shape, *more: Any) -> Function:
    """Call a function of a module with arrays of a shape, and return its first result."""
    function = getattr(module, name)
    rest = "".join(f", {x.__module__}.{x.__name__}" if callable(x) else f", {x!r}" for x in more)
    spelling = f"{module.__name__}.{name}({{}}{rest})"
    return SpelledFunction(lambda *arrays: first(function(*map(shape, arrays), *more)), spelling)


def calls(module: Any, shape: Shape, names: str, *more: Any) -> dict[str, Function]:
    """Make such calls of several functions of a module."""
    prefix = module.__name__.rpartition(".")[2]
    return {f"{prefix}_{name}": call_of(module, name, shape, *more) for name in names.split()}


UFUNCS = {
    name: found
    for name, found in vars(special).items()
    if isinstance(found, np.ufunc) and not name.startswith(("_", *ENDLESS))
}
SHARED_UFUNCS = {
    "sigmoid": "expit", "rint": "round",
    **{name: name for name in ("erf", "expm1", "log1p", "exp2", "cbrt")},
}  # fmt: skip
"""Elementwise functions that other libraries have, too: operation → name."""


def ufunc(name: str) -> Function:
    """Call an elementwise function, and return its first result."""
    found = UFUNCS[name]
    return SpelledFunction(lambda *operands: first(found(*operands)), f"scipy.special.{name}")


SHARED: Mapping[str, Function] = {  # functions that other libraries also have, by operation
    **{op: ufunc(name) for op, name in SHARED_UFUNCS.items()},
    **{name: call_of(special, name, vector) for name in ("softmax", "log_softmax", "logsumexp")},
    **{name: call_of(fft, name, vector) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{name: call_of(fft, name, grid) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{name: call_of(fft, name, vector) for name in ("fftshift", "ifftshift")},
    **{name: call_of(linalg, name, matrix) for name in ("inv", "pinv", "det", "cholesky", "solve", "norm")},
    **{name: call_of(linalg, name, matrix) for name in ("svdvals", "eigvalsh", "eigvals")},
    **{name: call_of(linalg, name, matrix) for name in ("qr", "svd", "eigh")},
    **{name: call_of(signal, name, vector) for name in ("convolve", "correlate")},
}
BINARY = (
    *("linalg_solve_triangular", "linalg_khatri_rao", "signal_sosfilt", "signal_fftconvolve"),
    *("signal_oaconvolve", "signal_upfirdn", "signal_convolve2d", "signal_correlate2d", "stats_zmap"),
    *("distance_cdist", "distance_braycurtis", "distance_canberra", "distance_hamming", "distance_jaccard"),
    *("distance_sqeuclidean", "distance_cosine", "distance_correlation", "distance_jensenshannon"),
)
OF_WHOLE_ARRAYS: Mapping[str, Function] = {  # functions of whole arrays that no other library has
    **calls(special, vector, "lambertw"),
    **calls(fft, vector, "dct idct dst idst"),
    **calls(fft, grid, "dctn idctn dstn idstn hfftn ihfftn"),
    **calls(linalg, matrix, "hessenberg null_space orth polar rq ldl lu_factor cho_factor pinvh"),
    **calls(linalg, matrix, "solve_triangular expm cosm sinm tanm schur khatri_rao"),
    **calls(linalg, vector, "circulant toeplitz hankel"),
    **calls(ndimage, grid, "gaussian_filter gaussian_filter1d gaussian_laplace", 1.0),
    **calls(ndimage, grid, "gaussian_gradient_magnitude", 1.0),
    **calls(ndimage, grid, "fourier_gaussian fourier_uniform fourier_ellipsoid fourier_shift", 1.0),
    **calls(ndimage, grid, "uniform_filter uniform_filter1d median_filter maximum_filter", 3),
    **calls(ndimage, grid, "minimum_filter maximum_filter1d minimum_filter1d grey_dilation", 3),
    **calls(ndimage, grid, "grey_erosion grey_opening grey_closing white_tophat black_tophat", 3),
    **calls(ndimage, grid, "morphological_gradient morphological_laplace", 3),
    **calls(ndimage, grid, "sobel prewitt laplace spline_filter spline_filter1d label"),
    **calls(ndimage, grid, "mean variance standard_deviation binary_erosion binary_dilation"),
    **calls(ndimage, grid, "binary_opening binary_closing binary_propagation binary_fill_holes"),
    **calls(ndimage, grid, "distance_transform_edt distance_transform_bf distance_transform_cdt"),
    **calls(ndimage, grid, "percentile_filter", 50, 3),
    **calls(ndimage, grid, "rank_filter", 1, 3),
    **calls(ndimage, grid, "generic_filter", np.mean, 3),
    **calls(ndimage, grid, "zoom", 2),
    **calls(ndimage, grid, "rotate shift", 30),
    **calls(ndimage, grid, "convolve correlate", [[1.0] * 3] * 3),
    **calls(ndimage, grid, "convolve1d correlate1d", [1, 1]),
    **calls(ndimage, grid, "affine_transform", [[1.0, 0.0], [0.0, 1.0]]),
    **calls(ndimage, grid, "map_coordinates", [[1, 2], [1, 2]]),
    "signal_lfilter": lambda b, a, x: signal.lfilter(b, a[:1], vector(x)),
    "signal_sosfilt": lambda sos, x: signal.sosfilt(np.array([[1, 0, 0, 1, 0, 0]], sos.dtype), vector(x)),
    **calls(signal, vector, "fftconvolve oaconvolve upfirdn hilbert envelope detrend cspline1d"),
    **calls(signal, vector, "resample", 16),
    **calls(signal, vector, "resample_poly", 2, 1),
    **calls(signal, vector, "decimate", 2),
    **calls(signal, vector, "savgol_filter", 5, 2),
    **calls(signal, vector, "medfilt wiener", 3),
    **calls(signal, grid, "medfilt2d", 3),
    **calls(signal, grid, "order_filter", [[1] * 3] * 3, 1),
    **calls(signal, grid, "convolve2d correlate2d"),
    **calls(distance, grid, "cdist pdist"),
    **calls(distance, one, "squareform"),
    **calls(distance, vector, "braycurtis canberra hamming jaccard"),
    **calls(distance, vector, "sqeuclidean cosine correlation jensenshannon"),
    **calls(stats, sample, "zscore hmean skew kurtosis moment tmean tstd tvar gstd circstd circvar"),
    **calls(stats, sample, "zmap sem median_abs_deviation variation circmean iqr entropy"),
    **calls(stats, sample, "trim_mean", 0.1),
    **calls(stats, sample, "pmean", 2),
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
        ufuncs = {f"special_{name}": found for name, found in UFUNCS.items() if name not in NOT_STATED}
        shared = [UFUNCS[name] for name in SHARED_UFUNCS.values()]
        self.ufuncs = {name: found for name, found in ufuncs.items() if found not in shared}
        self.custom_operations: Mapping[str, Operation] = {
            **{
                name: make_custom_operation(name, "cbrt", "xyzv"[: found.nin])
                for name, found in self.ufuncs.items()
            },
            **{
                name: make_custom_operation(
                    name, LIKE[3 if name == "signal_lfilter" else 2 if name in BINARY else 1]
                )
                for name in OF_WHOLE_ARRAYS
            },
        }

    def make(self, operand: str) -> object:
        if ParsedOperandString.parse(operand).tier not in ("array", "python"):
            raise NoSuchOperandError(operand)
        return super().make(operand)

    def operations(self) -> Mapping[str, Function]:
        ufuncs = {name: ufunc(name.partition("_")[2]) for name in self.ufuncs}
        return {**SHARED, **ufuncs, **OF_WHOLE_ARRAYS}


LIBRARIES: Mapping[str, Callable[[], Library]] = {SciPy.name: SciPy}
