"""An array library as far as a namespace needs it: its functions under the standard's names, its dtypes, its casts.

array-api-compat gives the functions. NumPy's ufuncs cast as they go, block by block, where others make a copy first.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from typelattice.facts.dtypes import DTYPES, DType, DTypeError
from typelattice.facts.errors import TypelatticeError
from typelattice.namespaces.gaps import as_signed, completed, forward
from typelattice.operands.adapters import native
from typelattice.operands.operand import operand

LINALG = (
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matrix_norm", "matrix_power", "matrix_rank", "outer",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "trace", "vector_norm",
)  # fmt: skip
BOTH = ("matmul", "matrix_transpose", "tensordot", "vecdot")  # in the main namespace and in linalg
FFT = (
    "fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft", "fftshift", "ifftshift", "fftfreq",
    "rfftfreq",
)  # fmt: skip
LACKS = (NotImplementedError, TypeError)  # what libraries raise where a function has no kernel for a dtype


class NamespaceError(TypelatticeError, TypeError):
    """Arrays that do not go together, or what the array library below cannot do; the message says what to do instead."""


class Backend:
    """One array library: `xp` has its functions under the standard's names; `mutable`: its arrays can be written into."""

    __slots__ = ("_dtypes", "_natives", "library", "mutable", "name", "numpy", "root", "xp")

    def __init__(self, library: ModuleType) -> None:
        try:
            import array_api_compat
        except ImportError:
            raise NamespaceError("array-api-compat gives array libraries one form: pip install array-api-compat") from None
        name = getattr(library, "__name__", type(library).__name__)
        try:
            sample = library.ones(1)
            self.xp: Any = array_api_compat.array_namespace(sample)
        except (AttributeError, TypeError):
            known = "give a module such as numpy, torch, jax.numpy, dask.array or cupy"
            raise NamespaceError(f"{name} is no array library with the array API standard; {known}") from None
        self.root = type(sample).__module__.partition(".")[0].replace("jaxlib", "jax")
        self.numpy = array_api_compat.is_numpy_namespace(self.xp)
        self.library, self.name = sys.modules["numpy"] if self.numpy else library, name
        self.mutable = bool(array_api_compat.is_writeable_array(sample)) and self.root != "dask"
        self._natives: dict[DType, Any] = {}
        self._dtypes: dict[Any, DType] = {}

    def has(self, d: DType) -> bool:
        """Whether the library has a dtype."""
        try:
            self.native(d)
        except NamespaceError:
            return False
        return True

    def native(self, d: DType) -> Any:
        """A dtype as the library's own. Raises NamespaceError where it has none."""
        try:
            return self._natives[d]
        except KeyError:
            pass
        try:
            self._natives[d] = found = native(d, self.root)
        except (DTypeError, TypeError) as e:
            raise NamespaceError(f"{self.name} cannot hold {d}, which the system answers ({e}); cast to one it has") from None
        return found

    def dtype(self, data: Any) -> DType:
        """The dtype of an array of the library's."""
        own = data.dtype
        try:
            return self._dtypes[own]
        except KeyError:
            self._dtypes[own] = found = operand(own).dtype or DTYPES["bool"]
            return found

    def weak(self, data: Any) -> bool:
        """Whether an array is weakly typed by the library itself."""
        return bool(getattr(data, "weak_type", False))

    def array(self, data: Any) -> Any:
        """An array, also where NumPy gave a scalar."""
        return self.library.asarray(data) if self.numpy and not hasattr(data, "__setitem__") else data

    def cast(self, data: Any, to: Any) -> Any:
        """An array as another native dtype; itself if it is of that."""
        return data if data.dtype == to else self.checked(self.xp.astype(data, to), to)

    def checked(self, data: Any, to: Any) -> Any:
        """What the library made, if it is of the native dtype asked for. Raises NamespaceError."""
        if data.dtype == to:
            return data
        what = f"{self.name} gave {data.dtype} where {to} was asked for"
        more = "jax.config.update('jax_enable_x64', True)" if self.root == "jax" else "cast to a dtype that it has"
        raise NamespaceError(f"{what}; {more}")

    def number(self, value: Any, to: Any, like: Any) -> Any:
        """A Python number as an array without dimensions, where another array is."""
        if self.numpy:
            return self.library.asarray(value).astype(to) if isinstance(value, complex) else self.library.asarray(value, to)
        device = {"device": like.device} if self.root in ("torch", "cupy") else {}
        return self.xp.asarray(value, dtype=to, **device)

    def function(self, name: str) -> Callable[..., Any]:
        """A function of the standard's, also of its extensions. Raises NamespaceError where the library has none."""
        extension = "linalg" if name in LINALG else "fft" if name in FFT else None
        found = getattr(getattr(self.xp, extension, None) if extension else self.xp, name, None)
        if callable(found):
            return completed(name, found, self.library) if self.root == "torch" else found
        raise NamespaceError(f"{self.name} has no function {name}")

    def number_of(self, data: Any) -> Any:
        """What Python makes a number of; PyTorch's own conversion stops at int64."""
        return data.item() if self.root == "torch" else data

    def items(self, data: Any, key: Any) -> Any:
        """What indexing gives."""
        if self.root != "torch":
            return data[key]
        key, axes = forward(key, data.shape, self.library)
        found = completed("", lambda x: x[key], self.library)(data)
        return self.function("flip")(found, axis=tuple(axes)) if axes else found

    def put(self, data: Any, key: Any, value: Any) -> Any:
        """The array with elements replaced by a value of the dtype: itself, or JAX's changed copy."""
        if self.root == "jax":
            return data.at[key].set(value)
        if not self.mutable:
            raise NamespaceError(f"arrays of {self.name} do not change; use where, or concat")
        whole = data
        if self.root == "torch":
            key, axes = forward(key, data.shape, self.library)
            data, value = (as_signed(x, self.library) for x in (data, value))
            value = value.broadcast_to(data[key].shape).flip(axes) if axes else value
        data[key] = value
        return whole

    def casting(self, name: str, to: Any, sources: Iterable[Any], zero_d: bool) -> Callable[..., Any]:
        """A function of positional arrays alone that casts each to a native dtype before, in blocks if it can."""
        function, casts = self.function(name), tuple(own != to for own in sources)
        if self.numpy:
            return _ufunc(function, to, any(casts), zero_d, self.library) or self._first(function, to, casts)
        return self._first(function, to, casts)

    def _first(self, function: Callable[..., Any], to: Any, casts: tuple[bool, ...]) -> Callable[..., Any]:
        cast = self.cast
        match casts:
            case (False,) | (False, False):
                return function
            case (True, False):
                return lambda a, b: function(cast(a, to), b)
            case (False, True):
                return lambda a, b: function(a, cast(b, to))
        return lambda *arrays: function(*(cast(x, to) for x in arrays))


LARGE, BLOCK = 1 << 18, 1 << 16  # elements: of arrays worth going through in blocks, and of a block, which stays in cache


def _ufunc(function: Any, to: Any, casts: bool, zero_d: bool, numpy: Any) -> Callable[..., Any] | None:
    """A NumPy ufunc as it is, or with its loop chosen; its scalars made arrays. None if it is none, or has no such loop."""
    if not isinstance(function, numpy.ufunc):
        return (lambda *arrays: numpy.asarray(function(*arrays))) if zero_d and not casts else None
    if not casts:
        return (lambda *arrays: numpy.asarray(function(*arrays))) if zero_d else function
    signature, one = (*(to,) * function.nin, None), numpy.ones(1, to)
    try:
        gives = function(*(one,) * function.nin, signature=signature, casting="unsafe").dtype
    except TypeError:
        return None
    if zero_d:
        return lambda *arrays: numpy.asarray(function(*arrays, signature=signature, casting="unsafe"))
    if function.nin == 1:
        return lambda a: function(a, signature=signature, casting="unsafe")

    def compute(a: Any, b: Any) -> Any:
        if a.size < LARGE or gives != to or a.shape != b.shape or not (a.flags.c_contiguous and b.flags.c_contiguous):
            return function(a, b, signature=signature, casting="unsafe")
        out = numpy.empty(a.shape, to)
        whole, left, right = out.reshape(-1), a.reshape(-1), b.reshape(-1)
        for i in range(0, a.size, BLOCK):
            part, x, y = whole[i : i + BLOCK], left[i : i + BLOCK], right[i : i + BLOCK]
            part[...] = y if a.dtype == to else x
            function(x if a.dtype == to else part, part if a.dtype == to else y.astype(to, copy=False), out=part)
        return out

    return compute
