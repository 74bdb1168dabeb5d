"""An array that promotes by a system: the library's own array, and what it is to the system."""
from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any, Self

from typelattice.facts.dtypes import DType
from typelattice.namespaces.backend import NamespaceError
from typelattice.namespaces.plan import Standing
from typelattice.namespaces.writing import assign

if TYPE_CHECKING:
    from typelattice.namespaces.space import Namespace

OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
SIGNS = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}


class Array:
    """An array of a namespace: the library's own array, `bare`, with a dtype of typelattice's and weakness.

    Made by the namespace's `asarray` and the other functions of the standard that create arrays; each namespace has a
    subclass of its own, which gives it operators.
    """

    __slots__ = ("_data", "_standing")
    __array_ufunc__ = None  # a NumPy array at the left leaves an operation to us
    __hash__ = None  # type: ignore[assignment]
    _data: Any
    _standing: Standing
    _space: Namespace

    @property
    def bare(self) -> Any:
        """The array library's own array."""
        return self._data

    @property
    def dtype(self) -> DType:
        """The dtype."""
        d: DType = self._standing.operand.dtype  # type: ignore[assignment]
        return d

    @property
    def weak(self) -> bool:
        """Whether it counts by its kind alone beside others, as a Python scalar does."""
        return self._standing.operand.weak

    @property
    def shape(self) -> Any:
        """The shape, as the library has it."""
        return self._data.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self._data.ndim)

    @property
    def size(self) -> int | None:
        """The number of elements; None where it is not known yet."""
        import array_api_compat

        return array_api_compat.size(self._data)  # type: ignore[no-any-return]

    @property
    def device(self) -> Any:
        """Where the elements are."""
        import array_api_compat

        return array_api_compat.device(self._data)

    @property
    def T(self) -> Self:
        """The transpose of a matrix. Raises NamespaceError where there are not two axes."""
        if self._data.ndim != 2:
            raise NamespaceError(f"T is of two axes, not {self._data.ndim}; use mT, or permute_dims")
        return self.mT

    @property
    def mT(self) -> Self:
        """The last two axes exchanged."""
        transposed: Self = self._space.matrix_transpose(self)
        return transposed

    def to_device(self, device: Any, /, *, stream: Any = None) -> Self:
        """The same array on another device."""
        import array_api_compat

        return self._like(array_api_compat.to_device(self._data, device, stream=stream))

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Namespace:
        """The namespace that it belongs to. Raises NamespaceError for a version of the standard that it does not follow."""
        return self._space.versioned(api_version)

    def _like(self, data: Any) -> Self:
        """An array of the same dtype and weakness."""
        return self._space.wrap(data, self.dtype, self.weak)  # type: ignore[return-value]

    # -- conversion

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        data = self._data.detach().cpu() if hasattr(self._data, "detach") else self._data
        return numpy.array(data, dtype=dtype, copy=copy)

    def __dlpack__(
        self, /, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        said = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return self._data.__dlpack__(**{name: value for name, value in said.items() if value is not None})

    def __dlpack_device__(self) -> Any:
        return self._data.__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self._space.backend.number_of(self._data))

    def __int__(self) -> int:
        return int(self._space.backend.number_of(self._data))

    def __float__(self) -> float:
        return float(self._data)

    def __complex__(self) -> complex:
        return complex(self._data)

    def __index__(self) -> int:
        found: int = self._space.backend.number_of(self._data).__index__()
        return found

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Self]:
        if self._data.ndim == 0:
            raise TypeError("an array without dimensions has nothing to go through; use float(x) or x.bare")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return bool(self._space.any(self == value))

    def __copy__(self) -> Self:
        copied: Self = self._space.asarray(self, copy=True)
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._space, self._data, self.dtype, self.weak)

    # -- indexing

    def __getitem__(self, key: Any, /) -> Self:
        return self._like(self._space.backend.items(self._data, self._space.bare(key)))

    def __setitem__(self, key: Any, value: Any, /) -> None:
        assign(self._space, self, key, value)

    # -- as text

    def __repr__(self) -> str:
        space = self._space
        shown = str(self._data) if self._data.ndim < 2 else "\n" + str(self._data)
        weak = ", weak" if self.weak else ""
        return f"<{self.dtype}{weak} under {space.system.name} over {space.backend.name}: {shown}>"

    def _repr_html_(self) -> str:
        inner = getattr(self._data, "_repr_html_", None)
        body = str(inner()) if inner else f"<pre>{escape(str(self._data))}</pre>"
        space = self._space
        facts = f"{self.dtype}{' (weak)' if self.weak else ''}, shape {tuple(self.shape)}"
        where = f"under {space.system.name} over {space.backend.name}"
        return f"<div><b>{escape(facts)}</b> <span>{escape(where)}</span>{body}</div>"


def _again(space: Namespace, data: Any, dtype: DType, weak: bool) -> Array:
    """A copied or pickled array."""
    return space.wrap(data, dtype, weak)
