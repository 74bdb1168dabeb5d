"""The common part of array libraries as a namespace needs it. Each library has its own file.

array-api-compat provides the functions of libraries under the standard's names.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from types import ModuleType
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType, DTypeError, Kind
from typelattice.core.engine.system import System
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.adapters import native
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import find_operation
from typelattice.core.operations.shapes import Shape
from typelattice.core.registry.libraries import library_of
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.namespaces.standard_signatures import read_standard

NO_KERNEL_ERRORS = (
    NotImplementedError,
    TypeError,
)  # libraries raise these if a function has no kernel for a dtype


def known_dtype_of(dtype: DType) -> DType:
    """Return the known dtype that has the facts of a file's own dtype, apart from names, or that dtype."""
    facts = [fact for fact in dtype.__match_args__ if fact not in ("name", "code")]
    if DTYPES.get(dtype.name) is dtype or dtype.family is not None or dtype.parameters:
        return dtype
    alike = (d for d in DTYPES.values() if all(getattr(d, f) == getattr(dtype, f) for f in facts))
    return next(alike, dtype)


class ComputingLibrary:
    """An array library: its functions, its dtypes, its casts, and how its arrays are read and written into.

    `xp` has the functions under the standard's names, `module` is the library itself, `package` the root
    module of its arrays.
    """

    compares_exactly = False  # True if it compares signed with unsigned integers without a common dtype
    writes_custom_calls = False  # True if its graphs may have calls of operations that a system defines
    builds_graphs = False  # True if it has values of a graph in place of arrays, and only casts them
    fuses_casts = False  # True if a cast and the next step run as one program, which rounds differently
    refusal_messages: tuple[str, ...] = ()  # texts in its errors about a number, besides OverflowErrors
    remedy = "cast to a dtype that it has"  # advice if it gave another dtype than requested

    def __init__(self, module: ModuleType, xp: Any, package: str, mutable: bool) -> None:
        self.module, self.xp, self.package, self.mutable = module, xp, package, mutable
        self.name = module.__name__
        self._natives: dict[DType, Any] = {}
        self._dtypes: dict[Any, DType] = {}

    # -- dtypes

    def has_dtype(self, dtype: DType) -> bool:
        """Return True if the library has a dtype."""
        try:
            self.native_dtype(dtype)
        except NamespaceError:
            return False
        return True

    def native_dtype(self, dtype: DType) -> Any:
        """Return the library's own form of a dtype. Raises NamespaceError if the library lacks it."""
        try:
            return self._natives[dtype]
        except KeyError:
            pass
        try:
            self._natives[dtype] = found = native(known_dtype_of(dtype), self.package)
        except (DTypeError, TypeError) as e:
            why = f"{self.name} cannot hold {dtype}, which the system answers ({e})"
            raise NamespaceError(f"{why}; cast to one it has") from None
        return found

    def read_as(self, custom_dtypes: Collection[DType], nodes: Container[object]) -> None:
        """Read arrays as having a dtype of a system's file, if its order lacks the known dtype alike."""
        for d in custom_dtypes:
            if known_dtype_of(d) not in nodes:
                self._dtypes[self.native_dtype(d)] = d

    def dtype_of(self, data: Any) -> DType:
        """Return the dtype of an array of the library."""
        own = data.dtype
        try:
            return self._dtypes[own]
        except KeyError:
            found = operand(own).dtype
            assert found is not None
            self._dtypes[own] = found
            return found

    def is_weak(self, data: Any) -> bool:
        """Return True if an array is weak to the library itself: only its kind counts."""
        return False

    # -- arrays

    def ensure_array(self, data: Any) -> Any:
        """Return an array, also if the library gave a scalar."""
        return data

    def cast(self, data: Any, to: Any) -> Any:
        """Cast an array to a native dtype. Return it unchanged if it already has this dtype."""
        return data if data.dtype == to else self.check_dtype(self.xp.astype(data, to), to)

    def copy_array(self, data: Any, to: Any, **options: Any) -> Any:
        """Copy an array, as an array of a native dtype. `options` may state a device."""
        return self.xp.astype(data, to, **options)

    def cast_exactly(self, data: Any, to: Any) -> Any:
        """Cast an array as the formats define it, also where the library rounds twice."""
        return self.cast(data, to)

    def check_dtype(self, data: Any, to: Any) -> Any:
        """Return the library's array if it has the requested native dtype. Raises NamespaceError if not."""
        if data.dtype == to:
            return data
        raise NamespaceError(f"{self.name} gave {data.dtype} where {to} was asked for; {self.remedy}")

    def asarray(self, obj: Any, **options: Any) -> Any:
        """Make an array of numbers, of sequences of them, or of an array of this or another library."""
        return self.xp.asarray(obj, **options)

    def number_to_array(self, value: PythonNumber, to: Any, like: Any) -> Any:
        """Convert a Python number to an array without dimensions, on the device of another array."""
        return self.xp.asarray(value, dtype=to, device=self.device_of(like))

    def scalar_to_array(self, scalar: object) -> Any:
        """Convert a scalar of the library to an array without dimensions. Return None for anything else."""
        return None

    def convertible_item(self, data: Any) -> Any:
        """Return the object that Python can convert to a number."""
        return data

    def python_value(self, data: Any) -> PythonNumber:
        """Return the Python number in an array without dimensions."""
        found: PythonNumber = data.item()
        return found

    def to_numpy(self, data: Any, dtype: Any, copy: bool | None) -> Any:
        """Convert an array to NumPy's."""
        import numpy

        return numpy.array(data, dtype=dtype, copy=copy)

    def size_of(self, data: Any) -> int | None:
        """Return the number of elements, or None if it is not known yet."""
        import array_api_compat

        return array_api_compat.size(data)  # type: ignore[no-any-return]

    def device_of(self, data: Any) -> Any:
        """Return the device that holds the elements."""
        import array_api_compat

        return array_api_compat.device(data)

    def move_to_device(self, data: Any, device: Any, stream: Any) -> Any:
        """Move an array to another device."""
        import array_api_compat

        return array_api_compat.to_device(data, device, stream=stream)

    def select_elements(self, data: Any, key: Any) -> Any:
        """Return the elements that a key selects."""
        return data[key]

    def cast_for_assignment(self, data: Any, dtype: DType) -> Any:
        """Cast an array for an assignment: complex numbers become their real parts, in bool their truth."""
        if self.dtype_of(data).kind is Kind.COMPLEX and dtype.kind is not Kind.COMPLEX:
            data = data != 0 if dtype.kind is Kind.BOOL else self.xp.real(data)
        return self.cast(data, self.native_dtype(dtype))

    def put_elements(self, data: Any, key: Any, value: Any) -> Any:
        """Replace elements by an array or a number. Return the array itself, or a changed copy.

        Raises NamespaceError if arrays of the library are immutable.
        """
        if not self.mutable:
            raise NamespaceError(f"arrays of {self.name} do not change; use where, or concat")
        data[key] = value
        return data

    def register_array_class(
        self, cls: type, flatten_array: Callable[[Any], Any], unflatten_array: Callable[..., Any]
    ) -> None:
        """Register the class of a namespace's arrays with the library.

        `flatten_array(x)` returns (the library's array, a tuple of facts). `unflatten_array(array, *facts)`
        rebuilds the array.
        """

    # -- functions

    def inspection_info(self) -> Any:
        """Return the library's inspection object."""
        return self.xp.__array_namespace_info__()

    def find_function(self, name: str) -> Callable[..., Any]:
        """Return a function of the standard or of its extensions. Raises NamespaceError without one."""
        places = read_standard()
        extension = "fft" if name in places.fft else "linalg" if name in places.linalg else None
        products = name in places.linalg and name in places.main  # functions that are in both places
        within = getattr(self.xp, extension, None) if extension and not products else self.xp
        found = getattr(within, name, None)
        if callable(found):
            return found  # type: ignore[no-any-return]
        raise NamespaceError(f"{self.name} has no function {name}")

    def has_function(self, name: str) -> bool:
        """Return True if the library has a function of the standard."""
        try:
            self.find_function(name)
        except NamespaceError:
            return False
        return True

    def uncast_function(self, op_name: str, zero_d: bool) -> Callable[..., Any]:
        """Return the library's own operator or function, which takes arrays and Python scalars uncast."""
        return self.find_function(find_operation(op_name).function)

    def is_refusal(self, error: Exception) -> bool:
        """Return True if an error means that the library accepts a number in no dtype, e.g. an overflow."""
        return isinstance(error, OverflowError) or any(text in str(error) for text in self.refusal_messages)

    def is_described_by(self, system: System) -> bool:
        """Return True if a system states the rules of this very library, in the installed major version."""
        name, _, version = system.library.partition(" ")
        installed = str(getattr(sys.modules.get(self.package), "__version__", ""))
        return name == library_of(self.package) and version.partition(".")[0] == installed.partition(".")[0]

    def accumulate(self, name: str, to: Any, *arrays: Any, **options: Any) -> Any:
        """Call a function that adds up in a native dtype, whatever dtypes the arrays have.

        A library without accumulators gives the same values of cast arrays.
        """
        cast = (self.cast(x, to) if hasattr(x, "dtype") else x for x in arrays)
        return self.find_function(name)(*cast, **options)

    def call_custom(
        self,
        domain: str,
        name: str,
        to: Any,
        shape: Shape,
        arrays: Sequence[Any],
        settings: Mapping[str, Any],
    ) -> Any:
        """Call an operation that a system defines, in a graph, if `writes_custom_calls`."""
        raise NotImplementedError

    def casting_function(
        self, name: str, to: Any, sources: Sequence[Any], zero_d: bool
    ) -> Callable[..., Any]:
        """Build a function of positional arrays that casts each to a native dtype first.

        `sources` are the native dtypes of the arrays. `zero_d` is True if no array has dimensions.
        """
        function, cast = self.find_function(name), self.cast
        match tuple(own != to for own in sources):
            case (False,) | (False, False):
                return function
            case (True, False):
                return lambda a, b: function(cast(a, to), b)
            case (False, True):
                return lambda a, b: function(a, cast(b, to))
        return lambda *arrays: function(*(cast(x, to) for x in arrays))
