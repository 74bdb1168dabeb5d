"""Calls of a recorded run as steps: the operation of each function, and the arguments that count."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import Operation
from typelattice.core.registry.libraries import library_of
from typelattice.core.registry.releases import VERSION_SIGN
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.call_tables import (
    OPERATION_BY_FUNCTION,
    NameSort,
    find_signature,
    module_with_rules,
    name_meaning,
    name_meanings,
    system_of_module,
)
from typelattice.programs.calls.calls_to_steps import call_function, count_leading_operands, may_affect_dtype
from typelattice.programs.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.programs.calls.equivalent_operations import operation_of
from typelattice.programs.calls.methods import call_method
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import Argument, DTypeArgument, DTypeOf, Excerpt, NamedDType, Ref, Slice
from typelattice.programs.calls.ufunc_methods import REDUCTION_BY_UFUNC_METHOD, REDUCTION_METHOD_PARAMETERS
from typelattice.tracing.library_traits import dtype_text, has_rules, own_system
from typelattice.tracing.run_data.array_classes import MAX_LIST_ITEMS, is_dtype
from typelattice.tracing.run_data.written_operation import WrittenOperation
from typelattice.tracing.steps.arguments import (
    DTypeOfArray,
    UnknownCallError,
    arguments_by_name,
    list_arguments,
    list_method_parameters,
    list_parameters,
    read_arguments,
)

UNRELATED_MODULES = (
    ".control_flow.",
    ".scimath",
)  # functions in these modules differ from others with their names
STANDARD_PACKAGE = "array_api_compat"  # the package that gives libraries the functions of the standard


@dataclass(frozen=True, slots=True)
class CalledFunction:
    """A called function: its name and library, and the array if it is a method."""

    name: str
    library: str | None
    receiver: tuple[Any, ...] = ()
    operand_limit: int | None = None  # number of operands of a ufunc, which writes into later arguments
    parameters: Callable[[], Sequence[str]] = tuple  # names of its positional arguments, if known
    module: str = ""  # the function's module, if that follows a system of its own
    custom_operation: Operation | None = None  # an operation that the module's system defines


class CallReader:
    """A reader of calls as steps, and of their arguments.

    `find_step` gives the step of an array, None of anything else.
    """

    def __init__(self, builder: ProgramBuilder, find_step: Callable[[Any], int | None]) -> None:
        self.builder, self.find_step = builder, find_step

    def read_step(
        self,
        excerpt: Excerpt,
        operation: WrittenOperation,
        function: Any,
        argument_values: Sequence[Any],
        number: int,
        result: Operand,
    ) -> Argument:
        """Return the step of a call, or of one of its results. Raises UnknownCallError, ProgramError."""
        called = identify_function(function)
        if called.library is None or not has_rules(called.library):
            raise UnknownCallError("it is no library's, or one's whose rules no system has")
        positional, named = read_arguments(operation, argument_values, DTypeOfArray)
        if "." in called.module and called.library != excerpt.owner:
            raise UnknownCallError(f"it is given arrays of another library than {called.library}")
        if called.custom_operation is not None:
            return self.step_of_custom_operation(
                replace(excerpt, module=called.module), called, called.custom_operation, positional, named
            )
        positional = [*called.receiver, *positional]
        op = OPERATION_BY_FUNCTION.get(operation_of(called.name, len(positional), called.library))
        if (
            op is not None
            and find_signature(op, called.library).value_dependent_kind == result.kind.python_name
        ):
            raise UnknownCallError("its values decide of which kind its result is")
        count = count_leading_operands(op)
        # Functions such as `compress` have their condition first, and then the operand.
        operand_is_not_first = name_meaning(NameSort.ARRAY_AFTER_CONDITION, called.name, None)
        has_further_arguments = count is not None and len(positional) > count and not operand_is_not_first
        # reading the parameters is slow
        names = called.parameters() if has_further_arguments else ()
        positional, named = arguments_by_name(names, count, positional, named)
        out = named.pop("out", None)
        if called.operand_limit is not None and len(positional) > called.operand_limit:
            out = tuple(positional[called.operand_limit :])
            positional = positional[: called.operand_limit]
        args = [
            self.read_text(x) if op is None and isinstance(x, str) else self.read_argument(x)
            for x in positional
        ]
        keywords = {
            key: self.read_dtype(x) if key == "dtype" else self.read_argument(x) for key, x in named.items()
        }
        excerpt = Excerpt(
            excerpt.text,
            excerpt.location,
            called.library if called.library != STANDARD_PACKAGE else excerpt.owner,
            excerpt.module or called.module,  # a class of arrays with its own rules has them everywhere
        )
        new_step = self.step_of_function(excerpt, called, args, keywords, number)
        if isinstance(out, tuple):
            out = out[number] if number < len(out) else None
        return (
            new_step
            if out is None
            else self.builder.add_setitem(excerpt, self.read_argument(out), None, new_step)
        )

    def step_of_function(
        self,
        excerpt: Excerpt,
        called: CalledFunction,
        args: list[Argument],
        keywords: dict[str, Argument],
        number: int,
    ) -> Argument:
        """Return the result of a number of a call."""
        if called.receiver:
            if not isinstance(args[0], Ref):
                raise UnknownCallError("no operation has its name")
            results = call_method(self.builder, excerpt, called.name, args[0], args[1:], keywords)
        else:
            results = call_function(self.builder, excerpt, called.name, args, keywords)
        if not isinstance(results, MultipleResults):
            if number:
                raise UnknownCallError(f"{called.name} gave more arrays than are known of")
            return results
        if results.count is not None and number >= results.count:
            raise UnknownCallError(f"{called.name} gave more arrays than are known of")
        return results[number]

    def step_of_custom_operation(
        self,
        excerpt: Excerpt,
        called: CalledFunction,
        custom_operation: Operation,
        positional: list[Any],
        keywords: dict[str, Any],
    ) -> Ref:
        """Return the step of a function that its module's system defines. All its results have one dtype.

        Raises UnknownCallError if an argument that is not an operand may decide the dtype.
        """
        count = len(custom_operation.operand_names)
        if called.operand_limit is None:
            known = called.parameters()
            positional += [keywords.pop(name) for name in known[len(positional) : count] if name in keywords]
        operands, further = (
            [*map(self.read_argument, positional[:count])],
            [*positional[count:], *keywords.values()],
        )
        if any(x is not None and may_affect_dtype(self.builder, self.read_argument(x)) for x in further):
            raise UnknownCallError(f"{called.name} is given more than its operands")
        return self.builder.add_call(excerpt, custom_operation, operands)

    # -- arguments, and the arrays of their shapes, bounds and lists

    def step_of_joined_entries(self, excerpt: Excerpt, name: str, entries: Sequence[Any]) -> Argument:
        """Return the step of `np.r_[x, 1:5, 2.0]`: arrays, slices that stand for arrays, and Python numbers.

        As in NumPy, numbers are cast to the dtype of the result. Raises UnknownCallError.
        """
        if entries and isinstance(entries[0], str):  # the first entry is a text that names the axes
            entries = entries[1:]
        found = [
            self.range_of_slice(excerpt, x) if isinstance(x, slice) else self.read_argument(x)
            for x in entries
        ]
        if all(type(x) in KIND_BY_PYTHON_TYPE for x in found):
            return self.builder.add_array_of_list(excerpt, list_arguments(found), None)
        found = [self.builder.ensure_ref(excerpt, x) if isinstance(x, tuple) else x for x in found]
        if any(type(x) in KIND_BY_PYTHON_TYPE for x in found):
            common = DTypeOf(self.builder.add_call(excerpt, OPERATION_BY_FUNCTION["result_type"], found).step)
            found = [
                self.builder.add_cast(excerpt, x, common) if type(x) in KIND_BY_PYTHON_TYPE else x
                for x in found
            ]
        return self.builder.add_call(excerpt, OPERATION_BY_FUNCTION[name], found)

    def range_of_slice(self, excerpt: Excerpt, entry: slice) -> Argument:
        """Return the numbers of a slice in `np.r_`: four for `1:5`, five from 0 to 1 for `0:1:5j`."""
        bounds = [
            0 if entry.start is None else entry.start,
            entry.stop,
            1 if entry.step is None else entry.step,
        ]
        name = "linspace" if isinstance(bounds[2], complex) else "arange"
        text = ":".join("" if each is None else str(each) for each in (entry.start, entry.stop, entry.step))
        excerpt = Excerpt(
            text.removesuffix(":") if entry.step is None else text, excerpt.location, excerpt.owner
        )
        given = list(map(self.read_argument, bounds[:2] if name == "linspace" else bounds))
        made = call_function(self.builder, excerpt, name, given, {})
        assert isinstance(made, Ref)
        return made

    def read_argument(self, value: Any) -> Argument:
        """Convert a value of the program to an argument of a step. It is `...` if no rule reads it."""
        if value is None or type(value) is str or type(value) in KIND_BY_PYTHON_TYPE:
            plain: Argument = value
            return plain
        if type(value) is DTypeOfArray:
            with suppress(UnknownCallError):
                return self.read_dtype(value)
            return ...
        number = self.find_step(value)
        if number is not None:
            return Ref(int(number))
        if isinstance(value, (list, tuple)):
            return self.list_arguments(value)
        if isinstance(value, slice):
            return Slice(None, None, None)
        with suppress(UnknownCallError):
            return self.read_dtype(value) if isinstance(value, type) or is_dtype(type(value)) else ...
        return ...

    def list_arguments(self, values: Sequence[Any]) -> Argument:
        """Return a list of arguments. A long list of Python numbers gives one of each type."""
        if len(values) > MAX_LIST_ITEMS:
            if not {*map(type, values)} <= KIND_BY_PYTHON_TYPE.keys():
                return ...
            values = [*{type(each): each for each in values}.values()]
        return list_arguments(map(self.read_argument, values))

    def read_text(self, text: str) -> Argument:
        """Return the dtype that a text names, or the text unchanged."""
        with suppress(UnknownCallError):
            return self.read_dtype(text)
        return text

    def read_dtype(self, value: Any) -> DTypeArgument:
        """Convert a dtype argument. Raises UnknownCallError if it is not a dtype."""
        if type(value) is DTypeOfArray:
            number = self.find_step(value.owner)
            return self.read_dtype(value.dtype) if number is None else DTypeOf(int(number))
        if isinstance(value, type) and value in KIND_BY_PYTHON_TYPE:
            return NamedDType(value.__name__)
        if isinstance(value, str) and value in PYTHON_TYPE_BY_NAME:
            return NamedDType(value)
        try:
            found = operand(dtype_text(value)) if isinstance(value, str) else operand(value)
        except (TypelatticeError, TypeError):
            raise UnknownCallError("it is given something that is no operand") from None
        if found.dtype is None:
            raise UnknownCallError("it is given something that is no dtype")
        return NamedDType(found.dtype.name)


def identify_function(function: Any) -> CalledFunction:
    """Identify the function that was called."""
    name = getattr(function, "__name__", "").lstrip("_")  # JAX's method sum is called _sum
    found = _identify_outside_package(function, name)
    if found is not None:
        return found
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, (ModuleType, type)):
        cls = type(owner)
        library = _find_library(cls.__module__)
        if cls.__name__ == "ufunc":
            if name == "outer":
                return CalledFunction(owner.__name__, library)
            reduced = REDUCTION_BY_UFUNC_METHOD.get(name, {}).get(owner.__name__, "")
            return CalledFunction(reduced, library, (), None, lambda: ("", *REDUCTION_METHOD_PARAMETERS))
        if hasattr(cls, "dtype") and hasattr(cls, "shape"):
            libraries = filter(None, (_find_library(c.__module__) for c in cls.__mro__))
            own = next(libraries, None)
            name = _name_of_method(cls, function, name)
            return CalledFunction(name, own, (owner,), None, partial(list_method_parameters, function, own))
        return CalledFunction("", library)
    if owner is builtins:
        return CalledFunction(name, STANDARD_PACKAGE)
    cls = type(function)
    module = getattr(function, "__module__", None) if not isinstance(function, type) else function.__module__
    if isinstance(module, str) and any(each in module for each in UNRELATED_MODULES):
        return CalledFunction("", _find_library(module))
    library = _find_library(module if isinstance(module, str) else "") or _find_library(cls.__module__)
    operand_limit = function.nin if cls.__name__ == "ufunc" and hasattr(function, "nin") else None
    if type(operand_limit) is int:
        return CalledFunction(name, library, (), operand_limit)
    own = module_with_rules((*str(module).split("."), name), library)
    return CalledFunction(name, library, (), None, partial(list_parameters, function), own)


def _name_of_method(cls: type, method: Any, name: str) -> str:
    """Return the name under which a class has a method: all those of JAX's tracers are called `meth`."""
    function = getattr(method, "__func__", None)
    if function is None or hasattr(cls, name):
        return name
    named = ((key, x) for each in cls.__mro__ for key, x in vars(each).items())
    return next((key for key, x in named if x is function), name)


def _identify_outside_package(function: Any, name: str) -> CalledFunction | None:
    """Identify a function of another package that takes a library's arrays, such as SciPy's."""
    for library, module in name_meanings(NameSort.MODULE_WITH_RULES):
        found = sys.modules.get(module) if "." in module else None
        if found is not None and getattr(found, name, None) is function:
            plain = own_system(library, ()).partition(VERSION_SIGN)[0]
            system = system_of_module(module, library, plain)
            full = f"{module.rpartition('.')[2]}.{name}"
            own = find_system(system).custom_operations.get(full.replace(".", "_")) if system else None
            takes = getattr(function, "nin", None)  # only a ufunc has this attribute
            return CalledFunction(full, library, (), takes, partial(list_parameters, function), module, own)
    return None


def _find_library(module: str) -> str | None:
    if STANDARD_PACKAGE in module.split("."):
        return STANDARD_PACKAGE
    return library_of(module.partition(".")[0])
