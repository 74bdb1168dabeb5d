"""A library's functions by operation, called on operands; this module adds any further arguments."""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typelattice.conformance.recording.library import NotAskedError, python_answer
from typelattice.core.operations.operations import OPERATIONS, OPERATORS, Operation
from typelattice.programs.calls.call_tables import find_signature

LibraryFunction = Callable[..., object]

OPERATIONS_OF_MATRICES = ("addmm", "matrix_rank", "solve")
"""Operations that are asked of matrices, as are those whose operands need two dimensions."""

LIBRARY_SPECIFIC_OPERATIONS = (
    "promote_types",
    "cond",
    "cross",
    "squeeze",
    "meshgrid",
    "broadcast_arrays",
    "take_along_axis",
)
"""Operations whose arguments differ between libraries: a library's own file defines those that are asked."""


@dataclass(frozen=True)
class SpelledFunction:
    """A function of operands, and its name in the library's own code: `numpy.linalg.inv`."""

    function: LibraryFunction
    spelling: str

    def __call__(self, *operands: object) -> object:
        return self.function(*operands)


def find_functions(
    namespaces: Sequence[Any],
    condition: object,
    renamed: Mapping[str, str] = {},
    matrix: Callable[[Any], object] | None = None,
    copy_array: Callable[[Any], Any] = copy.deepcopy,
) -> dict[str, LibraryFunction]:
    """Return the functions of a library, by operation.

    They are searched in the namespaces, the main one first: by the name in `renamed`, or by all names of the
    operation. `condition` is a true array for `where`, and gives `take` its index. `matrix` makes a matrix of
    an array of one dimension, by default a diagonal one. `copy_array` copies an array before an operator
    writes into it. All of Python's operators are included.
    """
    main = namespaces[0]
    matrix = matrix or (lambda x: main.tril(main.triu(main.broadcast_to(x, (2, 2)))))
    found: dict[str, LibraryFunction] = {}
    for op in OPERATIONS.values():
        names = (renamed[op.name],) if op.name in renamed else op.function_names
        first_found = _first_function(namespaces, names)
        if first_found is not None and op.name not in LIBRARY_SPECIFIC_OPERATIONS:
            function, spelling = first_found
            found[op.name] = SpelledFunction(
                function_of_operands(op, function, condition, matrix, main), spelling
            )
    return found | list_operators(copy_array)


def list_operators(copy_array: Callable[[Any], Any] = copy.deepcopy) -> dict[str, LibraryFunction]:
    """Return Python's operators. Python itself answers for two Python scalars.

    `@=` is left out: a product of arrays of one dimension has no dimensions, and cannot be written into one.
    """
    return {
        op.name: (
            _write_into_copy(op.special_method, copy_array)
            if op.is_in_place
            else skip_without_array(getattr(operator, op.special_method))
        )
        for op in OPERATORS.values()
        if op.special_method and op.name != "@="
    }


def _write_into_copy(method: str, copied: Callable[[Any], Any]) -> LibraryFunction:
    """Return an operator that writes into a copy of its left operand."""
    write = getattr(operator, method)
    return skip_number_first(lambda x, y: write(copied(x), y))


def return_array_itself(x: Any) -> Any:
    """Return the array itself: operators write into no array."""
    return x


def skip_unless(is_asked: Callable[..., object], reason: str, function: LibraryFunction) -> LibraryFunction:
    """Wrap a function, and skip calls of operands for which a test is not true."""

    @functools.wraps(function)
    def call(*operands: object) -> object:
        if not is_asked(*operands):
            raise NotAskedError(reason)
        return function(*operands)

    return call


def skip_without(cls: Any, reason: str, function: LibraryFunction) -> LibraryFunction:
    """Wrap a function, and skip calls without an operand of a class."""
    return skip_unless(lambda *operands: any(isinstance(x, cls) for x in operands), reason, function)


def skip_number_first(function: LibraryFunction) -> LibraryFunction:
    """Wrap a function whose first operand must be an array, and skip Python scalars there."""
    reason = "the first operand is no array"
    return skip_unless(lambda x, *more: not isinstance(x, (bool, int, float, complex)), reason, function)


def list_operator_functions(*names: str) -> dict[str, LibraryFunction]:
    """Return the functions that a library has only as Python's operators."""
    return {
        name: skip_without_array(getattr(operator, OPERATIONS[name].special_method or "")) for name in names
    }


def skip_without_array(function: LibraryFunction) -> LibraryFunction:
    """Wrap a function, and skip calls with only Python scalars and lists."""

    def has_array(*operands: object) -> bool:
        return not all(isinstance(operand, list) or python_answer(operand) for operand in operands)

    return skip_unless(has_array, "Python itself answers", function)


def skip_unless_numbers(function: LibraryFunction) -> LibraryFunction:
    """Wrap a function that makes an array of Python scalars, and skip all other operands."""
    return skip_unless(
        lambda *operands: all(map(python_answer, operands)), "it takes Python scalars", function
    )


def bind_constants(
    function: Callable[..., Any], operands: Sequence[Any], cls: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """Return a function of the arrays among operands, which are of class `cls`, and these arrays.

    The other operands are constants in it. A transformation may call it with objects of another class.
    """

    def call_with_tracers(*symbols: object) -> Any:  # recorded messages quote these two names
        rest = iter(symbols)
        return function(*(next(rest) if isinstance(x, cls) else x for x in operands))

    return call_with_tracers, [x for x in operands if isinstance(x, cls)]


def first_result(result: Any) -> Any:
    """Return the first of several results."""
    return result[0] if isinstance(result, (tuple, list)) else result


def _first_function(
    spaces: Sequence[Any], names: Sequence[str]
) -> tuple[Callable[..., Any], str] | None:
    """Return the first attribute of a namespace that is a function, and its spelling, or None.

    numpy.fft is not a function, numpy.fft.fft is.
    """
    for name in names:
        for space in spaces:
            if callable(function := getattr(space, name, None)):
                return function, f"{_qualified_name(space, spaces[0])}.{name}"
    return None


def _qualified_name(space: Any, main: Any) -> str:
    """Return the name of a namespace or a class in code: `tensorflow.math`, not its real module."""
    if isinstance(main, type):
        return f"{main.__module__.partition('.')[0]}.{main.__qualname__}"
    name = str(getattr(main, "__name__", main))
    inside = (key for key, value in vars(main).items() if value is space) if hasattr(main, "__dict__") else ()
    return name if space is main else next((f"{name}.{key}" for key in inside), space.__name__)


def function_of_operands(
    operation: Operation,
    function: Callable[..., Any],
    condition: object,
    matrix: Callable[[Any], object],
    main: Any,
) -> LibraryFunction:
    """Return the function of an operation that takes only its operands, and gives only its first result."""
    extra_arguments = find_signature(operation, None).recorder_arguments
    if operation.call_form == "choice":
        return lambda x, y: function(condition, x, y)
    if operation.call_form == "list":
        return lambda *arrays: function(list(arrays))
    if operation.call_form == "subscripts":
        return lambda *arrays: function(",".join("i" * len(arrays)), *arrays)
    if operation.call_form == "cases":
        return lambda *arrays: function([condition] * (len(arrays) - 1), [*arrays[:-1]], arrays[-1])
    if operation.name == "full":
        return lambda x: function((2,), x)
    if operation.name == "take":
        return lambda x: function(x, first_result(main.nonzero(condition)))
    if operation.name == "clip":
        return skip_number_first(lambda x, low=None, high=None: function(x, low, high))
    if operation.required_dimensions > 1 or operation.name in OPERATIONS_OF_MATRICES:
        return lambda *arrays: first_result(function(*map(matrix, arrays), *extra_arguments))
    return lambda *operands: first_result(function(*operands, *extra_arguments))
