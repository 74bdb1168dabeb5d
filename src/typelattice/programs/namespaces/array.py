"""An array that promotes by a system: the library's own array and its operand."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from html import escape
from linecache import getline
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from typelattice.core.dtypes.dtypes import DType
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.namespaces.recipe import ArrayType, RecipeMaker

if TYPE_CHECKING:
    from typelattice.programs.namespaces.operators import Operators
    from typelattice.programs.namespaces.standard import Functions
else:
    Operators = object  # the namespace sets those that its library has

STANDARD_VERSIONS = ("2022.12", "2023.12", "2024.12", "2025.12")  # versions of the array API standard


class Array(Operators):
    """An array of a namespace: the library's own array, `bare`, with a dtype of typelattice's and weakness.

    `asarray` and the other functions of the standard that create arrays make it. Each namespace has its own
    subclass, with the operators.

    >>> import numpy, typelattice
    >>> x = typelattice.namespace("jax", numpy).asarray([1, 2], dtype="int8") + 1
    >>> x.dtype, x.weak, x.bare
    (int8, False, array([2, 3], dtype=int8))
    """

    __slots__ = ("_data", "_type")
    __array_ufunc__ = None  # a NumPy array on the left leaves the operation to this class
    __hash__ = None  # type: ignore[assignment]
    _data: Any
    _type: ArrayType
    _recipes: ClassVar[RecipeMaker]
    _space: ClassVar[Functions[Any]]
    _operations: ClassVar[Mapping[str, Callable[..., Any]]]  # functions of the user's
    _to_numpy: ClassVar[bool]  # True if NumPy may convert the array

    # -- made

    @classmethod
    def _wrap_typed(cls, data: Any, array_type: ArrayType) -> Self:
        """Make an array around one of the library's."""
        result = object.__new__(cls)
        result._data, result._type = data, array_type
        return result

    @classmethod
    def _wrap(cls, data: Any, dtype: DType | None, weak: bool = False) -> Self:
        """Wrap an array or a scalar of the library as an array of the namespace."""
        data = cls._recipes.library.ensure_array(data)
        return cls._wrap_typed(data, cls._recipes.type_of_array(data, dtype, weak))

    def _wrap_like(self, data: Any) -> Self:
        """Return an array of the same dtype and weakness."""
        return self._wrap(data, self.dtype, self.weak)

    # -- properties

    @property
    def bare(self) -> Any:
        """The array library's own array."""
        return self._data

    @property
    def dtype(self) -> DType:
        """The dtype."""
        d: DType = self._type.operand.dtype  # type: ignore[assignment]
        return d

    @property
    def weak(self) -> bool:
        """Return True if only the kind of the array counts beside other operands, as for a Python scalar."""
        return self._type.operand.weak

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, as the library has it."""
        found: tuple[int | None, ...] = self._data.shape
        return found

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self._data.ndim)

    @property
    def size(self) -> int | None:
        """The number of elements, or None where it is not known yet."""
        return self._recipes.library.size_of(self._data)

    @property
    def device(self) -> object:
        """The device that holds the elements."""
        return self._recipes.library.device_of(self._data)

    @property
    def T(self) -> Self:
        """The transpose of a matrix. Raises NamespaceError for any other number of axes than two."""
        if self._data.ndim != 2:
            raise NamespaceError(f"T is of two axes, not {self._data.ndim}; use mT, or permute_dims")
        return self.mT

    @property
    def mT(self) -> Self:
        """The last two axes exchanged."""
        return self.__array_namespace__().matrix_transpose(self)

    def to_device(self, device: object, /, *, stream: object = None) -> Self:
        """Return the same array on another device."""
        return self._wrap_like(self._recipes.library.move_to_device(self._data, device, stream))

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Functions[Self]:
        """Return the namespace of the array.

        Raises NamespaceError for any other version of the standard.
        """
        if api_version is not None and api_version not in STANDARD_VERSIONS:
            followed = f"these are {', '.join(STANDARD_VERSIONS)}"
            raise NamespaceError(f"{api_version!r} is no version of the standard followed here; {followed}")
        space: Functions[Self] = self._space
        return space

    # -- conversion

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if not self._to_numpy:
            what = f"{_outermost_caller(sys._getframe(1))} converts an array {self._system_text()} to NumPy's"
            advice = "give x.bare, or allow it for all arrays: tl.namespace(..., to_numpy=True)"
            raise NamespaceError(f"{what}, where NumPy's rules would go on; {advice}")
        return self._recipes.library.to_numpy(self._data, dtype, copy)

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        said = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return self._data.__dlpack__(**{name: value for name, value in said.items() if value is not None})

    def __dlpack_device__(self) -> Any:
        return self._data.__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self._recipes.library.convertible_item(self._data))

    def __int__(self) -> int:
        return int(self._recipes.library.convertible_item(self._data))

    def __float__(self) -> float:
        return float(self._data)

    def __complex__(self) -> complex:
        return complex(self._data)

    def __index__(self) -> int:
        found: int = self._recipes.library.convertible_item(self._data).__index__()
        return found

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Self]:
        if self._data.ndim == 0:
            raise TypeError("an array without dimensions has nothing to go through; use float(x) or x.bare")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: complex) -> bool:
        return bool(self.__array_namespace__().any(self == value))

    def __copy__(self) -> Self:
        return self.__array_namespace__().asarray(self, copy=True)

    # -- as text

    def __repr__(self) -> str:
        shown = str(self._data) if self._data.ndim < 2 else "\n" + str(self._data)
        return f"<{self.dtype}{', weak' if self.weak else ''} {self._system_text()}: {shown}>"

    def _repr_html_(self) -> str:
        inner = getattr(self._data, "_repr_html_", None)
        body = str(inner()) if inner else f"<pre>{escape(str(self._data))}</pre>"
        facts = f"{self.dtype}{' (weak)' if self.weak else ''}, shape {tuple(self.shape)}"
        return f"<div><b>{escape(facts)}</b> <span>{escape(self._system_text())}</span>{body}</div>"

    def _system_text(self) -> str:
        return f"under {self._recipes.system.name} over {self._recipes.library.name}"


def _outermost_caller(frame: FrameType) -> str:
    """Name the function through which the package calls NumPy on an array, and its place."""
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    while frame.f_back and frame.f_back.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    name = f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_name}"
    caller = frame.f_back
    line = getline(caller.f_code.co_filename, caller.f_lineno).strip()[:120] if caller else ""
    return f"{name}, called by `{line}`," if line else name
