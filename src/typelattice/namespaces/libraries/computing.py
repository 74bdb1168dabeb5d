"""An array library as a namespace needs it; what is particular to one library is in a file of its own.

array-api-compat gives the functions of libraries under the standard's names.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, DTypeError, Kind
from typelattice.facts.libraries import library_of
from typelattice.facts.range import Value
from typelattice.namespaces.errors import NamespaceError
from typelattice.namespaces.signatures import standard
from typelattice.operands.adapters import native
from typelattice.operands.objects import operand

LACKS = (NotImplementedError, TypeError)  # what libraries raise where a function has no kernel for a dtype


class ComputingLibrary:
    """An array library: its functions, its dtypes, its casts, and how its arrays are read and written into.

    `xp` has the functions under the standard's names, `module` is the library itself, `package` the root
    module of its arrays.
    """

    exact_comparisons = False  # whether it compares integers of two signs without a common dtype
    fuses = False  # whether a cast and what follows are one program, which rounds otherwise than two
    remedy = "cast to a dtype that it has"  # where it gave another dtype than was asked for

    def __init__(self, module: ModuleType, xp: Any, package: str, mutable: bool) -> None:
        self.module, self.xp, self.package, self.mutable = module, xp, package, mutable
        self.name = module.__name__
        self._natives: dict[DType, Any] = {}
        self._dtypes: dict[Any, DType] = {}

    # -- dtypes

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
            self._natives[d] = found = native(d, self.package)
        except (DTypeError, TypeError) as e:
            why = f"{self.name} cannot hold {d}, which the system answers ({e})"
            raise NamespaceError(f"{why}; cast to one it has") from None
        return found

    def dtype(self, data: Any) -> DType:
        """The dtype of an array of the library's."""
        own = data.dtype
        try:
            return self._dtypes[own]
        except KeyError:
            found = operand(own).dtype
            assert found is not None
            self._dtypes[own] = found
            return found

    def weak(self, data: Any) -> bool:
        """Whether the library itself counts an array by its kind alone."""
        return False

    # -- arrays

    def array(self, data: Any) -> Any:
        """An array, also where the library gave a scalar."""
        return data

    def cast(self, data: Any, to: Any) -> Any:
        """An array as another native dtype; itself if it is of that."""
        return data if data.dtype == to else self.checked(self.xp.astype(data, to), to)

    def checked(self, data: Any, to: Any) -> Any:
        """What the library made, if it is of the native dtype asked for. Raises NamespaceError."""
        if data.dtype == to:
            return data
        raise NamespaceError(f"{self.name} gave {data.dtype} where {to} was asked for; {self.remedy}")

    def asarray(self, obj: Any, **options: Any) -> Any:
        """An array of numbers, of sequences of them, of the library's own arrays, or of another one's."""
        return self.xp.asarray(obj, **options)

    def number(self, value: Value, to: Any, like: Any) -> Any:
        """A Python number as an array without dimensions, on the device of another array."""
        return self.xp.asarray(value, dtype=to, device=self.device(like))

    def scalar(self, x: object) -> Any:
        """A scalar of the library's own as an array without dimensions; None of anything else."""
        return None

    def item(self, data: Any) -> Any:
        """What Python makes a number of."""
        return data

    def value(self, data: Any) -> Value:
        """The Python number in an array without dimensions."""
        found: Value = data.item()
        return found

    def to_numpy(self, data: Any, dtype: Any, copy: bool | None) -> Any:
        """An array as one of NumPy's."""
        import numpy

        return numpy.array(data, dtype=dtype, copy=copy)

    def size(self, data: Any) -> int | None:
        """The number of elements; None where it is not known yet."""
        import array_api_compat

        return array_api_compat.size(data)  # type: ignore[no-any-return]

    def device(self, data: Any) -> Any:
        """Where the elements are."""
        import array_api_compat

        return array_api_compat.device(data)

    def moved(self, data: Any, device: Any, stream: Any) -> Any:
        """The array on another device."""
        import array_api_compat

        return array_api_compat.to_device(data, device, stream=stream)

    def elements(self, data: Any, key: Any) -> Any:
        """What indexing gives."""
        return data[key]

    def stored(self, data: Any, d: DType) -> Any:
        """An array as an assignment casts it: of complex numbers the real parts, or in bool their truth."""
        if self.dtype(data).kind is Kind.COMPLEX and d.kind is not Kind.COMPLEX:
            data = data != 0 if d.kind is Kind.BOOL else self.xp.real(data)
        return self.cast(data, self.native(d))

    def put(self, data: Any, key: Any, value: Any) -> Any:
        """The array with elements replaced by an array or a number: itself, or a changed copy.

        Raises NamespaceError where arrays do not change.
        """
        if not self.mutable:
            raise NamespaceError(f"arrays of {self.name} do not change; use where, or concat")
        data[key] = value
        return data

    def adopt(self, cls: type, apart: Callable[[Any], Any], together: Callable[..., Any]) -> None:
        """Makes the class of a namespace's arrays known to the library.

        `apart(x)` is (the library's array, a tuple of facts), `together(array, *facts)` makes the array
        again.
        """

    # -- functions

    def info(self) -> Any:
        """The library's inspection object."""
        return self.xp.__array_namespace_info__()

    def function(self, name: str) -> Callable[..., Any]:
        """A function of the standard's or of its extensions. Raises NamespaceError where there is none."""
        places = standard()
        extension = "fft" if name in places.fft else "linalg" if name in places.linalg else None
        products = name in places.linalg and name in places.main  # those that stand in both places
        within = getattr(self.xp, extension, None) if extension and not products else self.xp
        found = getattr(within, name, None)
        if callable(found):
            return found  # type: ignore[no-any-return]
        raise NamespaceError(f"{self.name} has no function {name}")

    def has_function(self, name: str) -> bool:
        """Whether the library has a function of the standard's."""
        try:
            self.function(name)
        except NamespaceError:
            return False
        return True

    def raw(self, name: str, zero_d: bool) -> Callable[..., Any]:
        """The library's own function, which is given arrays and Python scalars as they are."""
        return self.function(name)

    def is_described_by(self, system: System) -> bool:
        """Whether a system states this very library's rules, in the major version that is installed."""
        name, _, version = system.library.partition(" ")
        installed = str(getattr(sys.modules.get(self.package), "__version__", ""))
        return name == library_of(self.package) and version.partition(".")[0] == installed.partition(".")[0]

    def casting(self, name: str, to: Any, sources: Sequence[Any], zero_d: bool) -> Callable[..., Any]:
        """A function of positional arrays alone that casts each to a native dtype first.

        `sources` are the native dtypes of the arrays; `zero_d` says that none of them has dimensions.
        """
        function, cast = self.function(name), self.cast
        match tuple(own != to for own in sources):
            case (False,) | (False, False):
                return function
            case (True, False):
                return lambda a, b: function(cast(a, to), b)
            case (False, True):
                return lambda a, b: function(a, cast(b, to))
        return lambda *arrays: function(*(cast(x, to) for x in arrays))
