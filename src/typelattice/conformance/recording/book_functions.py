"""The functions of a library's book, with arguments with which the library can be asked.

A row says which arguments are operands. For the others, and for the shapes of the operands, the first choice
is taken with which the library computes anything. Other shapes must give the same dtype.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, product
from typing import Any, TypeVar

from typelattice.base.objects.frozen_classes import replace as replace_fields
from typelattice.conformance.recording.library import NotAskedError, ParsedOperandString
from typelattice.conformance.recording.questions import COMMON_DTYPE_PATTERN
from typelattice.core.books.read_book import PARAMETER_MARKS, BookRow, read_book, spoken_name, stated_rule
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.core.registry.libraries import libraries, recordings
from typelattice.programs.calls.call_tables import module_with_rules

T = TypeVar("T")
SHAPES: Sequence[tuple[int, ...]] = (
    (2, 2), (2,), (4,), (4, 4), (4, 4, 4), (4, 4, 4, 4), (4, 4, 4, 4, 4), (5, 5),
)  # fmt: skip
CONTROL_KINDS = (Kind.FLOAT, Kind.SIGNED, Kind.COMPLEX, Kind.BOOL)
"""Kinds of the dtypes with which a function is tried, in turn."""
FILLED: Sequence[object] = (1, (1,), 0.5, 0, 2, (2,), (2, 2), True)
"""Values of arguments that are no operands."""
USUAL_BITS = 32
MAX_TRIALS = 200
"""Calls of a function with a dtype after which it counts as one that cannot be called."""
MAX_SHAPES = 4
"""Shapes with which a function is asked."""
INDEX_PARAMETERS = ("index", "indices", "ids", "obj", "idx")
SOURCE_PARAMETERS = ("source", "src", "values", "value")
MASK_PARAMETERS = ("mask", "condition")
OPERAND_NAMES = ("x", "y", "z")
NAME_BY_FILLED = {"int64": "i", "float32": "f", "bool": "b"}
"""The names of further arrays in a call, by their dtypes."""
NO_ARRAYS = ("axis",)
"""Parameters in expressions that are no arrays."""
ARRAYS_OF_FIXED_RESULTS = frozenset("xy")
"""Parameters that are arrays in rows whose result always has the same dtype."""
CREATORS = ("rand", "randn", "zeros", "full")
"""Functions of expressions that take no array."""
LIKE_BY_OPERAND_COUNT = {1: "cbrt", 2: "kron", 3: "addmm"}
"""Operations that take as many arrays, to plan the calls."""


class ShapeDecidesError(Exception):
    """The error of a call with arrays of different shapes that give different dtypes."""


@dataclass(frozen=True)
class BookOperand:
    """An operand of a call by its text, as recordings write it. `has_one_axis`: whatever the shapes are."""

    text: str
    has_one_axis: bool = False

    @property
    def tier(self) -> str:
        """Return the tier of the operand: array, 0d or weak."""
        return ParsedOperandString.parse(self.text).tier


SAME_OPERAND, SAME_AS_LAST = BookOperand("same"), BookOperand("last")
"""Arguments that are arrays like the first operand, and like the last."""


@dataclass(frozen=True)
class BookFunction:
    """A result of a row, with the function of the library, and with arguments with which it computes.

    `operands` are the parameters that are operands, `filled` the other arguments. `shapes` are the shapes of
    arrays that the function takes, and `tiers` the tiers of operands. `has_vectors`: all but the first have
    one axis, such as the weights of a norm.
    """

    library: Any
    function: Callable[..., Any]
    row: BookRow
    number: int
    operands: tuple[str, ...]
    filled: Mapping[str, object]
    shapes: tuple[tuple[int, ...], ...]
    tiers: tuple[str, ...] = ("array", "0d", "weak")
    has_vectors: bool = False

    @property
    def spelling(self) -> str:
        """The function as the book writes it."""
        return self.row.function

    def __call__(self, *operands: BookOperand) -> object:
        """Return the library's result. Raises what the library raises, and ShapeDecidesError."""
        if not {x.tier for x in operands} <= {*self.tiers}:
            raise NotAskedError(f"{self.row.function} is not asked of {', '.join(x.text for x in operands)}")
        if any(x.tier != "array" for x in operands):
            return self.call(operands, self.shapes[0])
        errors: list[BaseException] = []
        results: dict[str, object] = {}
        for shape in self.shapes:
            try:
                result = self.call(operands, shape)
                results.setdefault(str(self.library.read(result)), result)
            except BaseException as e:  # a library may raise anything
                errors.append(e)
        if len(results) > 1:
            raise ShapeDecidesError(f"it gives {' and '.join(results)} for arrays of different shapes")
        if not results:
            raise errors[0]
        return next(iter(results.values()))

    def call(self, operands: Sequence[BookOperand], shape: tuple[int, ...]) -> object:
        """Call the function with arrays of a shape, and take its result."""
        shapes = (shape, *[shape[-1:] if self.has_vectors else shape] * (len(operands) - 1))
        arrays = [_make_array(self.library, x, of) for x, of in zip(operands, shapes, strict=True)]
        like = {SAME_OPERAND: arrays[0], SAME_AS_LAST: arrays[-1]}
        values: dict[str, Any] = dict(zip(self.operands, arrays, strict=True))
        for name, x in self.filled.items():
            values[name] = like[x] if isinstance(x, BookOperand) and x in like else x
        given = {name: _as_argument(self.library, x, shape) for name, x in values.items()}
        args, keywords = place_arguments(self.row, given)
        if self.row.object_parameters is None:
            asked_args, asked_keywords = read_asked(self.row.asked)
            args += asked_args
            keywords |= asked_keywords
        evaluate = getattr(self.library, "evaluate_call", None)  # without computing, where a library can
        result: Any = (
            self.function(*args, **keywords) if evaluate is None else evaluate(self.function, args, keywords)
        )
        if len(self.row.results) == 1:
            return result[0] if isinstance(result, (tuple, list)) and len(result) == 1 else result
        field, colon, _ = self.row.results[self.number].rpartition(":")
        return getattr(result, field) if colon and hasattr(result, field) else result[self.number]


def find_book(recording: str) -> str:
    """Return the library whose book has the functions of a recording.

    >>> find_book("torch-autocast")
    'torch'
    """
    return recordings()[recording].library if recording in recordings() else recording


def is_class(rule: str) -> bool:
    """Return True for a rule that is a class of functions, and no operation.

    >>> is_class("float_maps"), is_class("matmul"), is_class("")
    (True, False, False)
    """
    return bool(rule) and rule not in OPERATIONS


def list_asked_results(library: str) -> Iterator[tuple[str, BookRow, int, tuple[str, ...]]]:
    """Yield the results of a book that follow a rule: name, row, number of the result, operands.

    Rows of functions that only the book has are left out, as are rows of operations. So are rows of modules
    whose functions follow another system.
    """
    for row in read_book(library):
        if module_with_rules(row.function.split("."), library):
            continue
        for number, result in enumerate(row.results):
            rule, operands = stated_rule(result)
            names = {parameter_names(part)[0] for part in row.parameters}
            is_call = not result.startswith("=") and {*operands} <= names
            if is_call and is_class(rule) and not row.function.startswith("_"):
                yield spoken_name(row, number, rule), row, number, tuple(dict.fromkeys(operands))


def list_composed_results(library: str) -> Iterator[tuple[BookRow, int, tuple[str, ...]]]:
    """Yield the results of a book that are compositions of arrays: row, number of the result, operands.

    Results of which an operation or a function of the book decides the dtype count as compositions. So does
    a result that always has the same dtype: the library may refuse some operands.
    """
    for row in read_book(library):
        names = [parameter_names(part)[0] for part in row.parameters if part not in ("*", "...")]
        for number, result in enumerate(row.results):
            rule, operands = stated_rule(result)
            is_asked = is_class(rule) and {*operands} <= {*names}
            if row.function.startswith("_") or (is_asked and not result.startswith("=")):
                continue
            expression = ast.parse(result.rpartition(":")[2].lstrip("~="), mode="eval").body
            used = frozenset() if isinstance(expression, ast.Attribute) else list_arrays(expression)
            if used and used <= DTYPES.keys():
                used = ARRAYS_OF_FIXED_RESULTS
            if found := tuple(name for name in names if name in used and name not in NO_ARRAYS):
                yield row, number, found[: len(LIKE_BY_OPERAND_COUNT)]


def list_arrays(node: ast.AST) -> frozenset[str]:
    """Return the names in an expression of a row, but for those of shapes and of named options."""
    match node:
        case ast.Name(id=name):
            return frozenset((name,))
        case ast.Call(func=ast.Name(id=name), args=args):
            parts: Sequence[ast.AST] = () if name in CREATORS else args
        case _:
            parts = [*ast.iter_child_nodes(node)]
    return frozenset().union(*map(list_arrays, parts))


def place_arguments(row: BookRow, values: Mapping[str, T]) -> tuple[list[T], dict[str, T]]:
    """Return the positional and the named arguments of a call, of values by parameter."""
    args: list[T] = []
    keywords: dict[str, T] = {}
    is_positional = True
    for part in row.parameters:
        names = parameter_names(part)
        is_positional &= part != "*" and names[0] in values
        if is_positional:
            args.append(values[names[0]])
        elif names[0] in values:
            keywords[names[-1]] = values[names[0]]
    return args, keywords


def write_call(function: BookFunction, library: str) -> str:
    """Return a call of a row's function as Python writes it, with names for the arrays."""
    row = function.row
    given = dict(zip(function.operands, OPERAND_NAMES, strict=False))
    last = [*given.values()][-1]
    like = {SAME_OPERAND: OPERAND_NAMES[0], SAME_AS_LAST: last}
    given |= {
        name: like[x] if isinstance(x, BookOperand) and x in like else _write_filled(x)
        for name, x in function.filled.items()
    }
    args, named = place_arguments(row, given)
    keywords = [f"{name}={x}" for name, x in named.items()]
    asked_args, asked_keywords = read_asked(row.asked)
    further = [*map(repr, asked_args)], [f"{name}={x!r}" for name, x in asked_keywords.items()]
    if row.object_parameters is None:
        call = f"({', '.join((*args, *further[0], *keywords, *further[1]))})"
    else:
        call = f"({', '.join((*further[0], *further[1]))})({', '.join((*args, *keywords))})"
    item = f"[{function.number}]" if len(row.results) > 1 else ""
    return f"{library}.{row.function}{call}{item}"


def _write_filled(value: object) -> str:
    if isinstance(value, BookOperand):
        return NAME_BY_FILLED[value.text]
    return repr(_as_list(value))


def _as_list(value: object) -> object:
    """Return several floats as a list, and any other value as it is."""
    return [*value] if isinstance(value, tuple) and value and isinstance(value[0], float) else value


def find_call(library: Any, row: BookRow, number: int, operands: tuple[str, ...]) -> BookFunction | None:
    """Find arguments with which the function of a row computes, or return None if there are none."""
    choices = {
        parameter_names(part)[0]: _list_choices(part)
        for part in row.parameters
        if part not in ("*", "...") and parameter_names(part)[0] not in operands and _is_required(part)
    }
    functions = [*find_functions(library, row.function)]
    if row.object_parameters is not None:
        functions = [_object_caller(function, row) for function in functions]
    for dtype in _control_dtypes(library):
        for function in functions:
            trials = (
                BookFunction(library, function, row, number, operands, named, (shape,), has_vectors=vectors)
                for vectors in ((False, True) if len(operands) > 1 else (False,))
                for named in _name_choices(choices)
                for shape in SHAPES
            )
            for made in islice(trials, MAX_TRIALS):
                if _computes(made, BookOperand(dtype)):
                    return _with_all_shapes(made, dtype)
    return None


def _object_caller(function: Callable[..., Any], row: BookRow) -> Callable[..., Any]:
    """Return a function that makes an object with the arguments of a row, and calls it."""
    args, keywords = read_asked(row.asked)
    return lambda *given, **named: function(*args, **keywords)(*given, **named)


def find_functions(library: Any, name: str) -> Iterator[Callable[..., Any]]:
    """Yield what a name may be in a library: a function of a module, or a method of its arrays."""
    parts = name.split(".")
    modules = [x for x in library.namespaces or () if getattr(x, "__name__", "").endswith(f".{parts[0]}")]
    if len(parts) > 1 and (own := [f for x in modules if callable(f := getattr(x, parts[-1], None))]):
        yield from own
        return
    roots = [
        sys.modules[each]
        for each in libraries()[find_book(library.name)].modules
        if each in sys.modules and len(parts) > 1
    ]
    for path in (parts, parts[-1:]):
        for space in (*(library.namespaces or ()), *(roots if path is parts else ())):
            found: Any = space
            for part in path:
                found = getattr(found, part, None)
            if callable(found):
                yield found
    method = parts[-1]
    if not method.startswith("_"):
        yield lambda x, *args, **keywords: getattr(x, method)(*args, **keywords)


@cache
def read_asked(text: str) -> tuple[Sequence[object], Mapping[str, object]]:
    """Read the further arguments of a row: `asked(2,size=3)`."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    args = [ast.literal_eval(node) for node in call.args]
    return args, {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}


def parameter_names(part: str) -> tuple[str, ...]:
    """Return the names of a parameter, as the row writes it: `axis|dim=-1`.

    >>> parameter_names("axis|dim=-1"), parameter_names("src!"), parameter_names("q:0:1")
    (('axis', 'dim'), ('src',), ('q',))
    """
    names = part.partition("=")[0].partition(":")[0].rstrip(PARAMETER_MARKS)
    return tuple(name.rstrip(PARAMETER_MARKS) for name in names.split("|"))


def _name_choices(choices: Mapping[str, Sequence[object]]) -> Iterator[Mapping[str, object]]:
    """Yield each choice of values for the parameters."""
    return (dict(zip(choices, filled, strict=True)) for filled in product(*choices.values()))


def _control_dtypes(library: Any) -> Sequence[str]:
    """Return the usual dtypes of a library: of each kind those of 32 bits first, which have most kernels."""
    known = [DTYPES[d] for d in library.dtypes() if d in DTYPES and COMMON_DTYPE_PATTERN.fullmatch(d)]
    found = [d for d in known if d.kind in CONTROL_KINDS]
    found.sort(key=lambda d: (CONTROL_KINDS.index(d.kind), abs((d.bits or 0) - USUAL_BITS)))
    per_kind = [[d for d in found if d.kind is kind][:2] for kind in CONTROL_KINDS]
    return [d.name for several in per_kind for d in several]


def _is_required(part: str) -> bool:
    return "=" not in part and not part.partition(":")[0].endswith("?")


def _list_choices(part: str) -> Sequence[object]:
    """List the values to try for a parameter that is no operand."""
    names, allowed = parameter_names(part), part.split(":")[1:]
    if names[0].startswith("return_") or names[0] == "out_int32":
        return [True]
    if any("dtype" in name or name.startswith("out_") or name == "output_type" for name in names):
        return []  # a dtype, which no recorder fills in
    if allowed:
        return [int(allowed[0]) if allowed[0].isdigit() else allowed[0]]
    if "target" in names:
        return [BookOperand("int64", has_one_axis=True), BookOperand("int64"), BookOperand("float32")]
    if {*names} & {*INDEX_PARAMETERS}:
        return [BookOperand("int64"), BookOperand("int64", has_one_axis=True), 1, (1,)]
    if {*names} & {*MASK_PARAMETERS}:
        return [BookOperand("bool")]
    if "bias" in names:
        return [SAME_AS_LAST, 1]
    if {*names} & {*SOURCE_PARAMETERS}:
        return [SAME_OPERAND, 1]
    if part.endswith("!"):
        return [BookOperand("float32")]
    if part.endswith("[]"):
        return [(0.5, 1.0)]
    arrays = [BookOperand("int64"), BookOperand("int64", has_one_axis=True), BookOperand("float32")]
    return [*FILLED, *arrays, BookOperand("bool")]


def _computes(made: BookFunction, operand: BookOperand) -> bool:
    """Return True if the library gives an array for operands of one dtype."""
    try:
        answer = made.library.read(made.call([operand] * len(made.operands), made.shapes[0]))
    except BaseException:  # a library may raise anything
        return False
    return answer.removesuffix("*") in made.library.dtypes() or answer.startswith("py:")


def _with_all_shapes(made: BookFunction, dtype: str) -> BookFunction:
    """Return a function that is asked of each shape, and of each tier, that it takes."""
    shapes = [s for s in SHAPES if _computes(replace(made, shapes=(s,)), BookOperand(dtype))]
    tiers = [t for t in ("0d", "weak") if _computes(made, BookOperand(f"{dtype}:{t}"))]
    if len(made.operands) > 1:
        tiers = []
    return replace(made, shapes=tuple(shapes[:MAX_SHAPES]), tiers=("array", *tiers))


def _as_argument(library: Any, value: object, shape: tuple[int, ...]) -> object:
    if isinstance(value, BookOperand):
        return _make_array(library, value, shape)
    return _as_list(value)


def _make_array(library: Any, operand: BookOperand, shape: tuple[int, ...]) -> object:
    """Make an operand: an array of ones, or of matrices that have an inverse if its dtype has fractions."""
    text = operand.text
    make = getattr(library, "make_of_shape", None)
    if operand.tier != "array" or operand.has_one_axis or make is None:
        return library.make(text)
    values: Any = 1
    if len(shape) > 1 and text in DTYPES and DTYPES[text].kind in (Kind.FLOAT, Kind.COMPLEX):
        values = [[1 + (i == j) for j in range(shape[-1])] for i in range(shape[-2])]
        for length in reversed(shape[:-2]):
            values = [values] * length
    try:
        return make(shape, library.native_dtypes[text], values)
    except Exception:  # a library without arrays of several axes, or without such values
        return library.make(text)


def make_operation(name: str, operand_count: int) -> Operation:
    """Make an operation that takes so many arrays, so that its calls can be planned."""
    known = OPERATIONS[LIKE_BY_OPERAND_COUNT[operand_count]]
    return replace_fields(
        known, name=name, function=name, other_names=(), operator=None, special_method=None, like=known.name,
        min_operands=operand_count, max_operands=operand_count, min_dimensions=(0,),
    )  # fmt: skip
