"""The tables of calls: parameters of operations, names in libraries, like functions, names in graphs.

signatures.txt has the parameters, names.txt the names, and graph_names.txt the names of operations in
compiled graphs. equivalents.txt has functions with the dtypes of operations. They are checked when they are
loaded. A mistake is reported with its file, its row and its column.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TypeVar

from typelattice.base.errors.error_texts import spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DTYPE_BY_OTHER_NAME, DTYPES, Kind
from typelattice.core.operations.operation_forms import MEANING_BY_CALL_FORM
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.core.registry.libraries import libraries
from typelattice.programs.calls.steps import Argument, NamedDType

T = TypeVar("T")
CAST_OPERATION = "astype"
CALL_TABLE_FOLDER = Path(__file__).parent
OPERATION_BY_FUNCTION: Mapping[str, Operation] = {
    name: op for op in OPERATIONS.values() for name in op.function_names
}
CREATORS_WITH_ROWS = (  # functions with rows that are not operations
    "astype", "bitcast", "bool", "complex", "dtype", "empty", "eye", "flatten", "float", "int", "ones",
    "opaque", "rand", "randn", "zeros",
)  # fmt: skip
COMMON_PARAMETERS = ("dtype", "out", "where", "initial")  # parameters that mean the same in every row
PYTHON_KIND_NAMES = tuple(kind.python_name for kind in Kind)
SAME_ARGUMENTS_PREFIX, ANY_RESULT_COUNT_MARK = "=", "..."  # marks in equivalents.txt
DTYPE_OF_FUNCTION_ITSELF, DTYPE_OF_COMPUTED_RESULT, OPERAND_DTYPE_SUFFIX = "itself", "computed", "(x)"


class NameSort(StrEnum):
    """A sort of names in a library's code. names.txt explains each word, and has a row for each name."""

    CAST = "cast"
    BYTE_CODE = "code"
    CREATION_FUNCTION = "function"
    TYPED_FINFO = "typed"
    RETURNS_ITS_ARRAY = "same"
    ATTRIBUTE_ITSELF = "itself"
    FLAG_OF_ARRAYS = "flag"
    CONSTANT = "constant"
    TAKES_LIST = "listed"
    ARRAY_AFTER_CONDITION = "after"
    ARRAY_IS_SECOND = "second"
    COMPOSED = "composed"
    IN_PLACE_REBINDS_SCALARS = "rebound"
    REFUSES_HIGHER_KINDS = "same-kind"
    SWAPS_TWO_AXES = "swaps"
    TRANSPOSED_AXES = "axes"
    COMPUTES_FROM_BOOLS = "computes"
    MISSING_PYTHON_FUNCTION = "lacks"
    JOINED_NUMBER_IS_ARRAY = "joined"
    IMMUTABLE_ARRAYS = "unchanged"
    IN_PLACE_CHANGES_ALIASES = "shared"
    MODULE_WITH_RULES = "module"
    UNDESCRIBED_MODULE = "undescribed"
    PACKAGE = "package"
    IMPORT_ALIAS = "alias"
    COLUMN_FUNCTION = "column"
    TAKES_COLUMN_NAMES = "columns"
    ELEMENT_METHOD = "element"
    JOINING_CLASS = "joining"
    JOINING_INDEX = "joins"
    ARRAY_CLASS_WITH_RULES = "mode"
    ARRAY_CLASS = "class"
    CONVERTING_METHOD = "converts"
    ARRAY_TEST = "tests"
    RANDOM_GENERATOR = "generator"
    PYTHON_NUMBER_ELEMENTS = "python"
    NEUTRAL_CONTEXT = "context"
    CONTEXT_OF_MODE = "within"
    NEUTRAL_DECORATOR = "decorator"
    TAKES_FUNCTION = "takes"
    DERIVED_KINDS = "derives"
    CALLED_METHOD = "called"
    OBJECT_METHOD = "object"
    LAYER_CONTAINER = "holds"
    RETURNS_NOTHING = "nothing"
    SETTING = "setting"
    RAISES_BY_VALUES = "raises"
    INDEX_ITERATOR = "iterates"
    SPLIT_PARTS = "parts"


class TableError(TypelatticeError, ValueError):
    """A row of a table that cannot be read. The message names its file, row and column."""


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """A parameter of an operation.

    `role` is operand, operands, list, text, position, name, joined, deciding or ignored, or the name of a
    parameter that means the same everywhere. `is_variadic`: its numbers may be given one by one. `joined_by`
    is the operation that joins an argument with the first operand. `must_be_float` is set if it must be a
    float, `must_be_real` if it may not be complex. `allowed_values` are its values that decide nothing. Rows
    of books also say whether it must be an array, an array or a list, or one of `allowed_values`.
    Their `default` is Python's text.
    """

    names: tuple[str, ...]
    role: str
    is_variadic: bool = False
    is_keyword_only: bool = False
    joined_by: str = ""
    must_be_float: bool = False
    must_be_real: bool = False
    must_be_array: bool = False
    must_be_array_or_list: bool = False
    default: str | None = None
    allowed_values: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the argument in a step."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One of several results: with an operation's dtype, or a separate call.

    `matches_dtype_only`: the call has the dtype of the result, and other values.
    """

    name: str
    dtype_origin: str = DTYPE_OF_FUNCTION_ITSELF
    call: str = ""
    matches_dtype_only: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of an operation in a library, and its results, if it has several.

    `multiple_results_parameter`: the call has several results only if this parameter is given.
    `value_dependent_kind` is the kind of a result that depends on the values of the operands.
    `recorder_arguments` are the arguments that recorders pass.
    """

    parameters: tuple[ParameterRow, ...]
    results: tuple[ResultRow, ...] = ()
    multiple_results_parameter: str = ""
    value_dependent_kind: str = ""
    recorder_arguments: tuple[object, ...] = ()

    @property
    def first_role(self) -> str:
        """Return the role of the first parameter."""
        return self.parameters[0].role

    @property
    def ignores_other_arguments(self) -> bool:
        """Return True if only the named arguments can change a dtype."""
        return self.find_parameter("") is not None

    def find_parameter(self, name: str) -> ParameterRow | None:
        """Return the parameter of a name, or None if no parameter has it."""
        return next((p for p in self.parameters if name in p.names), None)

    @property
    def positional_parameters(self) -> list[ParameterRow]:
        return [p for p in self.parameters if not p.is_keyword_only]

    def match_arguments(
        self, args: Sequence[Argument], keywords: Mapping[str, Argument]
    ) -> dict[str, Argument] | None:
        """Return the arguments of a call by parameter name, or None if an argument has no parameter."""
        placed = self.positional_parameters
        before = len(placed) - 1
        if len(args) > len(placed) and placed and placed[before].is_variadic:
            args = (*args[:before], (*args[before:],))
        if len(args) > len(placed) and not self.ignores_other_arguments:
            return None
        found = {p.name: value for p, value in zip(placed, args, strict=False)}
        for name, value in keywords.items():
            parameter = self.find_parameter(name)
            if parameter is not None:
                found[parameter.name] = value
            elif not self.ignores_other_arguments and value is not None and value is not False:
                return None
        return found

    @property
    def kept_parameter_names(self) -> tuple[str, ...]:
        """The parameters with arguments that a step keeps."""
        kept = ("position", "name", "joined", "initial", "operand")
        return tuple(p.name for p in self.parameters if p.role in kept)


def find_creator_signature(name: str) -> Signature:
    """Find the signature of a function that makes an array."""
    return _read_signatures()[name, "*"]


def find_signature(operation: Operation, library: str | None) -> Signature:
    """Find the signature of an operation in a library.

    >>> [p.name for p in find_signature(OPERATION_BY_FUNCTION["sum"], "torch").parameters][:3]
    ['operands', 'axis', 'keepdims']
    """
    rows, library = _read_signatures(), library or "*"
    for key in (
        (operation.name, library),
        (operation.name, "*"),
        (f"({operation.call_form})", library),
        (f"({operation.call_form})", "*"),
    ):
        if key in rows:
            return rows[key]
    raise TableError(
        f"signatures.txt has no row of ({operation.call_form}), the form of {operation.name}; add one"
    )


def parameter_of_all(name: str) -> ParameterRow | None:
    """Find the parameter with this name that means the same in every function, or None."""
    return _read_signatures()["(any)", "*"].find_parameter(name)


@cache
def dtype_origin_by_result(op_name: str) -> Mapping[str, str]:
    """Return the name and the origin of the dtype of each result that a step names by number."""
    found = _read_signatures().get((op_name, "*"))
    return {r.name: r.dtype_origin for r in found.results} if found else {}


def libraries_with_several_results(op_name: str, keywords: Collection[str]) -> list[str]:
    """Return the libraries in which a call gives several results, where all others give one.

    >>> libraries_with_several_results("max", ["axis"]), libraries_with_several_results("max", [])
    (['torch'], [])
    """
    return [
        library
        for (name, library), row in _read_signatures().items()
        if name == op_name
        and any(r.call for r in row.results)
        and (not row.multiple_results_parameter or row.multiple_results_parameter in keywords)
    ]


def name_meanings(sort: NameSort) -> Mapping[tuple[str, str], str]:
    """Map the names of a sort to their meanings, by library and name."""
    return _read_names()[sort]


@cache
def _read_names() -> Mapping[str, Mapping[tuple[str, str], str]]:
    meanings: dict[str, dict[tuple[str, str], str]] = {sort: {} for sort in NameSort}
    meanings[NameSort.CAST] = {("*", other): each.name for other, each in DTYPE_BY_OTHER_NAME.items()}
    stated = _StatedKeys("names.txt")
    for row, (listed, name, name_sort, meaning) in read_rows("names.txt", 4, 4):
        _check_word(name_sort, tuple(NameSort), "names.txt", row, 3)
        for library in listed.split(","):
            check_library(library, "names.txt", row, 1)
            stated.add_key(library, name, name_sort, row=row)
            meanings[name_sort][library, name] = meaning
    return meanings


def name_meaning(sort: NameSort, name: str, library: str | None) -> str | None:
    """Return the meaning of a name in a library's code, or None if the name is not of this sort.

    >>> name_meaning(NameSort.CREATION_FUNCTION, "as_tensor", "torch")
    'asarray'
    >>> name_meaning(NameSort.CAST, "half", None)
    'float16'
    """
    stated = name_meanings(sort)
    return stated.get((library or "*", name), stated.get(("*", name)))


def is_identity(name: str, library: str | None) -> bool:
    """Return True for a function that returns its array, as `clone` does.

    >>> is_identity("clone", "torch"), is_identity("sin", "torch")
    (True, False)
    """
    return name_meaning(NameSort.RETURNS_ITS_ARRAY, name, library) is not None


def takes_list(name: str, library: str | None) -> bool:
    """Return True for a function that also takes its arrays in a list."""
    return name_meaning(NameSort.TAKES_LIST, name, library) is not None


def follows_condition(name: str) -> bool:
    """Return True for a function that takes a condition before its array, as `compress(condition, x)`."""
    return name_meaning(NameSort.ARRAY_AFTER_CONDITION, name, None) is not None


def module_with_rules(path: Sequence[str], library: str | None) -> str:
    """Find the module of a function if its functions have their own system, or return an empty string.

    >>> module_with_rules(("jax", "lax", "add"), "jax"), module_with_rules(("np", "linalg", "inv"), "numpy")
    ('lax', '')
    """
    return next((each for each in path[:-1] if name_meaning(NameSort.MODULE_WITH_RULES, each, library)), "")


def is_undescribed(path: Sequence[str], library: str | None) -> bool:
    """Return True for a function of a module whose functions no table describes.

    >>> is_undescribed(("tf", "experimental", "numpy", "mean"), "tensorflow")
    True
    """
    modules = (".".join(path[1:end]) for end in range(2, len(path)))
    return any(name_meaning(NameSort.UNDESCRIBED_MODULE, each, library) for each in modules)


def system_of_module(module: str, library: str | None, system: str) -> str | None:
    """Find the system of a module with other rules than the rest of its library.

    `system` is the system of the library. The result is None if the module has no system of its own.

    >>> system_of_module("lax", "jax", "jax"), system_of_module("lax", "jax", "numpy")
    ('jax-lax', None)
    """
    stated = name_meaning(NameSort.MODULE_WITH_RULES, module, library) or ""
    return dict(each.split("=") for each in stated.split(",") if each).get(system)


def is_mode_of_library(mode: str, owner: str | None, library: str) -> bool:
    """Return True for a mode of a library whose steps it owns, if that is also the library of a system.

    >>> is_mode_of_library("autocast", "torch", "torch 2.13"), is_mode_of_library("lax", "jax", "jax 0.10")
    (True, False)
    """
    is_mode = name_meaning(NameSort.CONTEXT_OF_MODE, mode, owner) is not None
    return is_mode and owner == library.partition(" ")[0]


def array_class_with_rules(array_class: str, library: str | None) -> str:
    """Return the name of a class of arrays if a library has other rules for it, or an empty string.

    >>> array_class_with_rules("KerasTensor", "keras"), array_class_with_rules("Variable", "keras")
    ('KerasTensor', '')
    """
    return array_class if name_meaning(NameSort.ARRAY_CLASS_WITH_RULES, array_class, library) else ""


def system_of_array_class(array_class: str, library: str | None, system: str) -> str | None:
    """Find the system of a library's arrays of one class, or of a mode, or None if it has no other.

    >>> system_of_array_class("KerasTensor", "keras", "keras-torch-computed")
    'keras-jax'
    """
    stated = name_meaning(NameSort.ARRAY_CLASS_WITH_RULES, array_class, library) or ""
    return dict(each.split("=") for each in stated.split(",") if each).get(system)


def attribute_dtype(name: str, library: str | None) -> NamedDType | None:
    """Return the dtype of a library's attribute, such as `torch.half`, or None if it is not a dtype."""
    found = name_meaning(NameSort.CAST, name, library)
    if found is None and name in DTYPES:
        found = name
    return NamedDType(found) if found else None


def find_constant(name: str) -> float | None:
    """Return the number of a library's attribute, such as `np.pi`, or None if it is not a number."""
    found = name_meaning(NameSort.CONSTANT, name, None)
    return None if found is None else float(found)


@cache
def read_equivalents() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Map library and name of a function to the operations that have the dtypes of its results."""
    found, stated = {}, _StatedKeys("equivalents.txt")
    for row, (library, name, *operations) in read_rows("equivalents.txt", 3):
        check_library(library, "equivalents.txt", row, 1)
        for column, each in enumerate(operations, 3):
            if each != ANY_RESULT_COUNT_MARK:
                _check_word(
                    each.removeprefix(SAME_ARGUMENTS_PREFIX),
                    OPERATION_BY_FUNCTION,
                    "equivalents.txt",
                    row,
                    column,
                )
        stated.add_key(library, name, row=row)
        found[library, name] = tuple(operations)
    return found


def find_equivalents(name: str, library: str | None) -> tuple[str, ...]:
    """Find the operations that give the dtypes of a function's results, one for each result, or ().

    >>> find_equivalents("topk", "torch"), find_equivalents("sqrt", "torch")
    (('sort', 'argsort'), ())
    """
    stated = read_equivalents()
    return stated.get((library or "*", name)) or stated.get(("*", name)) or ()


@cache
def graph_names() -> Mapping[tuple[str, str], tuple[str, str]]:
    """Map the operations of libraries' graphs to ours, with the operands that ours need."""
    found = {}
    for row, (library, name, ours, *operands) in read_rows("graph_names.txt", 3):
        _check_word(library, ("onnx", *libraries()), "graph_names.txt", row, 1)
        _check_word(ours, (*OPERATION_BY_FUNCTION, CAST_OPERATION), "graph_names.txt", row, 3)
        found[library, name] = ours, "".join(operands)
    return found


def graph_operation(library: str, name: str) -> str:
    """Find our name for an operation of a library's graphs, or return an empty string.

    >>> graph_operation("jax", "reduce_sum"), graph_operation("jax", "select_n")
    ('sum', 'where')
    """
    ours = graph_names().get((library, name), (name.lower(), ""))[0]
    return (
        CAST_OPERATION
        if ours == CAST_OPERATION
        else OPERATION_BY_FUNCTION[ours].name
        if ours in OPERATION_BY_FUNCTION
        else ""
    )


def graph_operands(library: str, name: str, operands: Sequence[T]) -> tuple[T, ...]:
    """Return the operands of an operation of a library's graphs in the order of our operation.

    >>> graph_operands("jax", "select_n", "cxy"), graph_operands("tensorflow", "ConcatV2", "xya")
    (('c', 'y', 'x'), ('x', 'y'))
    """
    order_text = graph_names().get((library, name), ("", ""))[1]
    if order_text == ":-1":
        return tuple(operands[:-1])
    order = [int(i) for i in order_text.split(",")] if order_text else []
    return (
        tuple(operands[i] for i in order)
        if order and len(operands) > max(order)
        else tuple(operands)
    )


class _StatedKeys:
    """The keys of the rows that were read so far, each with its row."""

    def __init__(self, file: str) -> None:
        self.file, self.rows = file, dict[tuple[str, ...], int]()

    def add_key(self, *key: str, row: int) -> None:
        """Raise TableError for a key that another row has."""
        if key in self.rows:
            what = f"{' '.join(key)} has row {self.rows[key]} already; leave one out"
            raise TableError(f"{self.file}, row {row}, column 1: {what}")
        self.rows[key] = row


def read_rows(file: str, min_columns: int, max_columns: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a table with their numbers. Raises TableError for too few or too many columns."""
    with open(CALL_TABLE_FOLDER / file, encoding="ascii") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split()
            if not words or line.startswith("#"):
                continue
            if len(words) < min_columns or len(words) > (max_columns or len(words)):
                raise TableError(f"{file}, row {number}: {len(words)} columns; give {min_columns}")
            yield number, words


def _check_word(word: str, known_words: Collection[str], file: str, row: int, column: int) -> None:
    """Raise TableError for a word that is not among those known."""
    if word not in known_words:
        near = spelling_hint(word, [*known_words])
        raise TableError(f"{file}, row {row}, column {column}: unknown {word!r}{near}")


def check_library(word: str, file: str, row: int, column: int) -> None:
    """Raise TableError for a word that is neither a library nor `*`, which means all libraries."""
    _check_word(word, ("*", *libraries()), file, row, column)


@cache
def _read_signatures() -> Mapping[tuple[str, str], Signature]:
    """Return all rows of signatures.txt, by operation or form, and library."""
    signatures: dict[tuple[str, str], Signature] = {}
    known = ("(any)", *(f"({form})" for form in MEANING_BY_CALL_FORM), *OPERATIONS, *CREATORS_WITH_ROWS)
    for row, (operations, library, *rest) in read_rows("signatures.txt", 3):
        check_library(library, "signatures.txt", row, 2)
        read = _parse_signature(rest, row)
        for name in operations.split(","):
            _check_word(name, known, "signatures.txt", row, 1)
            if (name, library) in signatures:
                what = f"{name} has a row already; join the two"
                raise TableError(f"signatures.txt, row {row}, column 1: {what}")
            signatures[name, library] = read
    return signatures


def _parse_signature(words: list[str], row: int) -> Signature:
    """Return the signature that the words of a row state. Raises TableError."""
    at = words.index("asked") if "asked" in words else len(words)
    words, recorder_arguments = words[:at], tuple(literal_eval(word) for word in words[at + 1 :])
    value_dependent_kind = ""
    if "unless" in words[:-1]:
        *words, _, value_dependent_kind = words
        if value_dependent_kind not in PYTHON_KIND_NAMES:
            raise TableError(
                f"signatures.txt, row {row}: unless {value_dependent_kind!r} is no kind; "
                f"give one of {PYTHON_KIND_NAMES}"
            )
    arrow_index = words.index("->") if "->" in words else len(words)
    parameters: list[ParameterRow] = []
    by_name = False
    for column, word in enumerate(words[:arrow_index], 3):
        if word == ";":
            by_name = True
            continue
        parameter = _parse_parameter(word, by_name)
        if not all(name.isidentifier() for name in parameter.names) and word != "~...":
            raise TableError(f"signatures.txt, row {row}, column {column}: {word!r} is no parameter")
        if parameter.joined_by:
            _check_word(parameter.joined_by, OPERATION_BY_FUNCTION, "signatures.txt", row, column)
        parameters.append(parameter)
    results = words[arrow_index + 1 :]
    multiple_results_parameter = ""
    if "when" in results:
        at = results.index("when")
        results, multiple_results_parameter = results[:at], " ".join(results[at + 1 :])
    read = tuple(_parse_result(word, row, arrow_index + 4 + i) for i, word in enumerate(results))
    found = Signature(
        tuple(parameters), read, multiple_results_parameter, value_dependent_kind, recorder_arguments
    )
    if multiple_results_parameter and found.find_parameter(multiple_results_parameter) is None:
        raise TableError(
            f"signatures.txt, row {row}: `when {multiple_results_parameter}` names no parameter; "
            "name one of the row"
        )
    return found


# The mark before a name -> its role.
ROLE_BY_NAME_PREFIX = {"/": "position", "+": "joined", "!": "deciding", "~": "ignored"}


def _parse_parameter(word: str, by_name: bool) -> ParameterRow:
    if word in ("operands", "list", "text"):
        return ParameterRow((word,), word)
    plain, _, of = word.removesuffix("...").partition("=")
    plain, _, kind = plain.partition(":")
    names = tuple(name.removesuffix("?") for name in plain.lstrip("".join(ROLE_BY_NAME_PREFIX)).split("|"))
    role = ROLE_BY_NAME_PREFIX.get(word[0]) or (
        "operand" if "?" in word else names[0] if names[0] in COMMON_PARAMETERS else "name"
    )
    if role == "joined":
        of = of or "result_type"
    words = tuple(kind.split(":")) if role == "deciding" and kind else ()
    spread, by_name = word.endswith("..."), by_name or word == "~..."
    return ParameterRow(
        names, role, spread, by_name, of, kind == "float", kind == "real", allowed_values=words
    )


def _parse_result(word: str, row: int, column: int) -> ResultRow:
    """Return a result: `S`, `S=real`, `values:max()` or `indices:~argsort()`. Raises TableError."""
    name, _, made = word.partition(":")
    if made:
        call = made.removeprefix("~").removesuffix("()")
        _check_word(call, OPERATION_BY_FUNCTION, "signatures.txt", row, column)
        return ResultRow(name, call=call, matches_dtype_only=made.startswith("~"))
    name, _, of = word.partition("=")
    if not of or of == DTYPE_OF_COMPUTED_RESULT:
        return ResultRow(name, of or DTYPE_OF_FUNCTION_ITSELF)
    _check_word(of.removesuffix(OPERAND_DTYPE_SUFFIX), OPERATION_BY_FUNCTION, "signatures.txt", row, column)
    return ResultRow(name, of)
