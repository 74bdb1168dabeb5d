"""A symbol: an argument for a function of arrays, which records the function's operations as a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import EllipsisType
from typing import Any, NoReturn

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.foreign_arrays import INDEX_FORMS
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, OperandError
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.attributes import READABLE_ATTRIBUTES
from typelattice.programs.calls.methods import is_method
from typelattice.programs.calls.steps import Argument, DTypeOf, Excerpt, NamedDType, ProgramError, Ref, Slice
from typelattice.programs.readers.symbols.caller_location import find_caller_location

BRANCH_REMEDY = "write where(condition, x, y), or each branch as a function of its own"


class Symbol:
    """A result in a program that is being built. Operators and the functions of its namespace add steps."""

    __slots__ = ("_ref", "_xp")
    __array_priority__ = 1e6  # if a NumPy array is on the left, NumPy leaves the operation to us
    __hash__ = None  # type: ignore[assignment]  # == makes a step, so that no key can be found
    shape: tuple[int, ...]
    ndim: int

    def __init__(self, xp: Any, ref: Ref) -> None:
        self._xp, self._ref = xp, ref

    def __repr__(self) -> str:
        return f"<symbol {self._xp.builder.steps[self._ref.step].text}>"

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self._xp

    # -- known properties

    @property
    def dtype(self) -> Any:
        """The dtype. It is a DType for an input or a cast. For all others a system decides it."""
        return self._xp.builder.dtype_of(self._ref) or SymbolDType(self._ref)

    @property
    def device(self) -> None:
        """The device, which is always None."""
        return None

    def __round__(self, decimals: int = 0) -> Symbol:
        found: Symbol = self._xp._call_function("round", (self, decimals) if decimals else (self,), {})
        return found

    def __divmod__(self, other: Any) -> Any:
        return self._xp._call_function("divmod", (self, other), {})

    def __rdivmod__(self, other: Any) -> Any:
        return self._xp._call_function("divmod", (other, self), {})

    # -- Python's own questions, which have no answer

    def __bool__(self) -> NoReturn:
        raise find_caller_location().error(
            f"it needs the value of {self!r}, which a program does not have; {BRANCH_REMEDY}"
        )

    def __len__(self) -> int:
        return self.shape[0] if self.ndim else self._refuse_request("a length")

    def __iter__(self) -> Iterator[Symbol]:
        return (self[i] for i in range(len(self)))

    def _refuse_request(self, requested: str) -> NoReturn:
        raise find_caller_location().error(
            f"it asks {self!r} for {requested}, which is not known; use functions of arrays"
        )

    def __float__(self) -> NoReturn:
        self._refuse_request("a float")

    def __int__(self) -> NoReturn:
        self._refuse_request("an int")

    def __complex__(self) -> NoReturn:
        self._refuse_request("a complex number")

    def __index__(self) -> NoReturn:
        self._refuse_request("an index")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not is_method(name):
            raise AttributeError(f"a symbol has no attribute {name!r}; use functions of its namespace")
        return lambda *args, **named: self._xp._call_method(self, name, args, named)

    def __array__(self, *args: object, **named: object) -> NoReturn:
        what = "leave numpy.asarray out, or call asarray of its namespace"
        raise find_caller_location().error(
            f"it asks {self!r} for an array of NumPy's, whose values are not known; {what}"
        )

    # -- elements

    def __getitem__(self, key: Any) -> Symbol:
        builder = self._xp.builder
        several = type(key) is tuple and list in map(type, key)
        lists = INDEX_FORMS[0] if type(key) is list else INDEX_FORMS[1] if several else ""
        return Symbol(
            self._xp,
            builder.add_index(find_caller_location(), self._ref, convert_argument(self._xp, key), lists),
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        builder = self._xp.builder
        given = convert_argument(self._xp, key), convert_argument(self._xp, value)
        self._ref = builder.add_setitem(find_caller_location(), self._ref, *given, is_operator=True)

    # -- NumPy's own functions

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **named: Any) -> Any:
        if method != "__call__":
            return self._xp._call_ufunc_method(function.__name__, method, args, named)
        return self._xp._call_function(function.__name__, args, named, "numpy")

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        return self._xp._call_function(function.__name__, args, named, "numpy")


class SymbolDType:
    """The dtype of a symbol. It differs from system to system."""

    __slots__ = ("ref",)
    __hash__ = None  # type: ignore[assignment]  # what it equals is not known

    def __init__(self, ref: Ref) -> None:
        self.ref = ref

    def __eq__(self, other: object) -> NoReturn:
        raise find_caller_location().error(
            f"it compares a dtype that is another under each system; {BRANCH_REMEDY}"
        )


def convert_argument(xp: Any, value: Any) -> Argument:
    """Return a symbol, a plain value, a dtype or an array as an argument of a step. Raises ProgramError."""
    match value:
        case Symbol():
            if value._xp is not xp:
                raise find_caller_location().error(
                    "it mixes symbols of two programs; call the function with those of one"
                )
            return value._ref
        case SymbolDType():
            return DTypeOf(value.ref.step)
        case DType():
            return NamedDType(value.name)
        case None | bool() | str() | EllipsisType():
            return value
        case list() | tuple():
            return tuple(convert_argument(xp, each) for each in value)
        case slice():
            return Slice(*(convert_argument(xp, bound) for bound in (value.start, value.stop, value.step)))
    if type(value) in KIND_BY_PYTHON_TYPE:
        number: PythonNumber = value
        return number
    if isinstance(value, type) and value in KIND_BY_PYTHON_TYPE:
        return NamedDType(value.__name__)
    try:
        found = operand(value)
    except OperandError as e:
        raise find_caller_location().error(str(e)) from None
    if isinstance(value, type) or not hasattr(value, "shape") or "dtype" in type(value).__name__.lower():
        return NamedDType(str(found.dtype))
    owner = library_of(type(value).__module__.partition(".")[0])
    found_ref: Ref = xp.builder.add_input(Excerpt(f"constant{len(xp.builder.steps)}", owner=owner), value)
    return found_ref


def _make_operator(name: str, reflected: bool = False) -> Callable[[Symbol, Any], Any]:

    def method(self: Symbol, other: Any) -> Any:
        try:
            given = convert_argument(self._xp, other)
        except ProgramError:
            return NotImplemented
        operands = (given, self._ref) if reflected else (self._ref, given)
        found = self._xp.builder.add_operator(find_caller_location(), name, operands)
        return Symbol(self._xp, found) if isinstance(found, Ref) else found

    return method


def _make_in_place(name: str) -> Callable[[Symbol, Any], Symbol]:
    """Build the method of an in-place operator such as `+=`. Python then binds the name to the result."""

    def method(self: Symbol, other: Any) -> Symbol:
        found = self._xp.builder.add_in_place(
            find_caller_location(), name, self._ref, convert_argument(self._xp, other), may_rebind=True
        )
        assert isinstance(found, Ref)
        return Symbol(self._xp, found)

    return method


def _make_unary(name: str) -> Callable[[Symbol], Any]:
    def method(self: Symbol) -> Any:
        found = self._xp.builder.add_operator(find_caller_location(), name, (self._ref,))
        return Symbol(self._xp, found) if isinstance(found, Ref) else found

    return method


def _make_attribute(name: str) -> property:
    return property(lambda self: self._xp._read_attribute(self, name))


for _name in READABLE_ATTRIBUTES:
    setattr(Symbol, _name, _make_attribute(_name))
for _op in OPERATIONS.values():
    if (
        _op.special_method
        and (_op.operator or _op.name == "abs")
        and _op.operation_class not in ("in-place", "assignment")
    ):
        if _op.max_operands == 1:
            setattr(Symbol, _op.special_method, _make_unary(_op.name))
        else:
            setattr(Symbol, _op.special_method, _make_operator(_op.name))
            if _op.operation_class not in ("comparison", "ordering"):
                setattr(
                    Symbol,
                    _op.special_method.replace("__", "__r", 1),
                    _make_operator(_op.name, reflected=True),
                )
                setattr(Symbol, _op.special_method.replace("__", "__i", 1), _make_in_place(_op.name))
