"""A namespace of symbols: calling its functions with symbols adds steps to a program."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from typelattice.core.dtypes.dtypes import dtype
from typelattice.core.operations.operations import Operation
from typelattice.programs.calls.attributes import read_attribute
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION, attribute_dtype, find_constant
from typelattice.programs.calls.calls_to_steps import call_function
from typelattice.programs.calls.creation_and_cast_handlers import CREATION_HANDLERS
from typelattice.programs.calls.dtype_questions import (
    LIMITS_FUNCTION_AND_ATTRIBUTES,
    is_kind,
    limits_of,
    read_limit,
)
from typelattice.programs.calls.methods import call_method, is_in_place
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import Argument, Excerpt, NamedDType, Ref
from typelattice.programs.calls.ufunc_methods import call_ufunc_method, changes_array, is_ufunc_method
from typelattice.programs.program.program import Program
from typelattice.programs.readers.symbols.caller_location import find_caller_location
from typelattice.programs.readers.symbols.symbol import Symbol, SymbolDType, convert_argument


class Symbols:
    """A namespace of the array API standard with symbols as its arrays.

    `output` gives the program that computes some of them. `custom_operations` are operations that systems
    define: `system.operations`.

    >>> xp = Symbols()
    >>> x, y = xp.asarray(1, dtype="int16"), xp.asarray(1.0, dtype="float32")
    >>> xp.output(x + y).under("max-2024").dtype
    float32
    """

    __array_api_version__ = "2025.12"

    def __init__(self, custom_operations: Mapping[str, Operation] = {}) -> None:
        self.builder = ProgramBuilder(custom_operations=custom_operations)
        self.__name__ = "typelattice.Symbols"  # code that searches for a library by its name finds none

    @property
    def linalg(self) -> Symbols:
        """This namespace, so that `xp.linalg.inv` is found as `xp.inv` is."""
        return self

    @property
    def fft(self) -> Symbols:
        """The same functions."""
        return self

    def input(self, name: str, described_operand: object) -> Symbol:
        """Add an input: an operand, an operand string or an array under a name. Return its symbol."""
        return Symbol(self, self.builder.add_input(Excerpt(name), described_operand))

    def output(self, *results: object) -> Program:
        """Return the program that gives these results. Raises ProgramError if one is not a symbol."""
        refs = [self.builder.ensure_ref(find_caller_location(), convert_argument(self, x)) for x in results]
        return Program(tuple(self.builder.steps), tuple(ref.step for ref in refs))

    def isdtype(self, d: object, kind: Any) -> bool:
        """Return True if a known dtype is of a kind. Raises ProgramError if the dtype is not known."""
        return is_kind(
            self.builder, find_caller_location(), convert_argument(self, d), convert_argument(self, kind)
        )

    def finfo(self, d: object) -> SymbolLimits:
        """Return the limits of a float dtype, or of an array's: Python floats."""
        return SymbolLimits(self, "finfo", convert_argument(self, d))

    def iinfo(self, d: object) -> SymbolLimits:
        """Return the limits of an integer dtype, or of an array's: Python ints."""
        return SymbolLimits(self, "iinfo", convert_argument(self, d))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        number = find_constant(name)
        if number is not None or name == "newaxis":
            return number
        if (
            name in OPERATION_BY_FUNCTION
            or name in CREATION_HANDLERS
            or name in self.builder.custom_operations
        ):
            return lambda *args, **named: self._call_function(name, args, named)
        found = attribute_dtype(name, None)
        if found is None:
            raise AttributeError(
                f"a namespace of symbols has no {name!r}; functions are the array API standard's"
            )
        return dtype(found.name)

    def _call_function(self, name: str, args: Any, keywords: dict[str, Any], owner: str | None = None) -> Any:
        """Call a function with symbols and plain values, and return its result."""
        excerpt = find_caller_location()
        taken = [convert_argument(self, x) for x in args]
        said = {key: convert_argument(self, x) for key, x in keywords.items() if x is not None}
        found = call_function(self.builder, excerpt.of_library(owner), name, taken, said)
        if name in ("result_type", "promote_types") and isinstance(found, Ref):
            return SymbolDType(found)
        return self._wrap_result(excerpt, found)

    def _call_method(self, symbol: Symbol, name: str, args: Any, keywords: dict[str, Any]) -> Any:
        """Call a method of a symbol, and return its result."""
        excerpt = find_caller_location()
        taken = [convert_argument(self, each) for each in args]
        said = {key: convert_argument(self, each) for key, each in keywords.items() if each is not None}
        found = call_method(self.builder, excerpt, name, symbol._ref, taken, said)
        if is_in_place(name) and isinstance(found, Ref):
            symbol._ref = found
        return self._wrap_result(excerpt, found)

    def _read_attribute(self, symbol: Symbol, name: str) -> Any:
        """Return an attribute of a symbol that all arrays have."""
        excerpt = find_caller_location()
        return self._wrap_result(excerpt, read_attribute(self.builder, excerpt, name, symbol._ref))

    def _call_ufunc_method(self, function: str, method: str, args: Any, keywords: dict[str, Any]) -> Any:
        """Call a method of a NumPy function, such as `np.add.reduce(x)`, and return its result."""
        excerpt = find_caller_location()
        if not is_ufunc_method((function, method)):
            raise excerpt.error(
                f"{function}.{method} is no operation; write it with functions of whole arrays"
            )
        taken = [convert_argument(self, x) for x in args]
        said = {key: convert_argument(self, x) for key, x in keywords.items()}
        where = excerpt.of_library("numpy")
        found = call_ufunc_method(self.builder, where, function, method, taken, said)
        if changes_array((function, method), said) and isinstance(args[0], Symbol) and isinstance(found, Ref):
            args[0]._ref = found
            return None
        return self._wrap_result(excerpt, found)

    def _wrap_result(self, excerpt: Excerpt, result: Argument | MultipleResults) -> Any:
        """Return a result for the calling code: a symbol for a step, a plain value as it is."""
        if isinstance(result, MultipleResults):
            return self._wrap_each(excerpt, result)
        if isinstance(result, NamedDType):
            return dtype(result.name)
        return Symbol(self, result) if isinstance(result, Ref) else result

    def _wrap_each(self, excerpt: Excerpt, results: MultipleResults) -> Any:
        """Return a tuple of symbols, with named fields if the standard names them."""
        if results.count is None:
            why = f"it is not known how many arrays {results.name} gives"
            raise excerpt.error(f"{why}; give its operand a shape, e.g. float32[3,4]")
        made = [Symbol(self, results[i]) for i in range(results.count)]
        return namedtuple(results.name, results.fields)(*made) if results.fields else tuple(made)


class SymbolLimits:
    """The limits of a dtype. They are numbers if it is known, or else Python numbers of unknown value."""

    __slots__ = ("_limits", "_xp")

    def __init__(self, xp: Symbols, name: str, dtype: Argument) -> None:
        self._xp = xp
        self._limits = limits_of(find_caller_location(), name, dtype)

    def __getattr__(self, name: str) -> Any:
        if name not in LIMITS_FUNCTION_AND_ATTRIBUTES[self._limits.name][1]:
            raise AttributeError(name)
        return self._xp._wrap_result(
            find_caller_location(), read_limit(self._xp.builder, find_caller_location(), self._limits, name)
        )
