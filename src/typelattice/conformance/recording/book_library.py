"""The functions of a library's book, asked of the library: each with the arguments that its row states.

A row says which arguments are operands. For the others, and for the shapes of the operands, the first choice
is taken with which the library computes anything. Other shapes must give the same dtype.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice, product
from typing import Any

from typelattice.base.objects.frozen_classes import replace as replace_fields
from typelattice.conformance.recording.library import (
    CannotAskError,
    Library,
    NoSuchOperandError,
    NotAskedError,
    ParsedOperandString,
)
from typelattice.conformance.recording.load_library import load_library
from typelattice.conformance.recording.questions import COMMON_DTYPE_PATTERN
from typelattice.core.books.read_book import BookRow, read_book, spoken_name, stated_rule
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.core.registry.libraries import recordings
from typelattice.programs.calls.call_tables import module_with_rules

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
SOURCE_PARAMETERS = ("source", "src", "values", "value", "bias")
MASK_PARAMETERS = ("mask", "condition")
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


SAME_OPERAND = BookOperand("same")
"""An argument that is an array like the first operand."""


@dataclass(frozen=True)
class BookFunction:
    """A result of a row, with the function of the library, and with arguments with which it computes.

    `operands` are the parameters that are operands, `filled` the other arguments. `shapes` are the shapes of
    arrays that the function takes, and `tiers` the tiers of operands.
    """

    library: Any
    function: Callable[..., Any]
    row: BookRow
    number: int
    operands: tuple[str, ...]
    filled: Mapping[str, object]
    shapes: tuple[tuple[int, ...], ...]
    tiers: tuple[str, ...] = ("array", "0d", "weak")

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
        values = {name: operands[0] if x is SAME_OPERAND else x for name, x in self.filled.items()}
        named = zip(self.operands, operands, strict=True)
        values |= {name: _make_array(self.library, x, shape) for name, x in named}
        args: list[object] = []
        keywords: dict[str, object] = {}
        is_positional = True
        for part in self.row.parameters:
            names = parameter_names(part)
            is_positional &= part != "*" and names[0] in values
            if is_positional:
                args.append(_as_argument(self.library, values[names[0]], shape))
            elif names[0] in values:
                keywords[names[-1]] = _as_argument(self.library, values[names[0]], shape)
        asked_args, asked_keywords = _read_asked(self.row.asked)
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


class BookLibrary:
    """A library for the functions of its book alone; the other methods are those of the library."""

    extra_operands = ()
    namespaces = None

    def __init__(self, library: Library) -> None:
        self.library: Any = library
        self.book = find_book(library.name)
        self.name, self.versions = library.name, library.versions
        self.how = f"the functions of {self.book}'s book, with arrays of up to five axes"

    def dtypes(self) -> Sequence[str]:
        """Return the dtypes of the library."""
        return self.library.dtypes()  # type: ignore[no-any-return]

    def make(self, operand: str) -> BookOperand:
        """Return an operand that the library has. Raises NoSuchOperandError."""
        parsed = ParsedOperandString.parse(operand)
        if parsed.tier not in ("array", "0d", "weak") or parsed.value not in (None, 1):
            raise NoSuchOperandError(operand)
        self.library.make(operand)
        return BookOperand(operand)

    def read(self, result: object) -> str:
        """Return what the library reads."""
        return str(self.library.read(result))

    @cached_property
    def functions(self) -> Mapping[str, BookFunction]:
        """The functions that could be called once, by the name under which systems have them."""
        found: dict[str, BookFunction] = {}
        for name, row, number, operands in list_asked_results(self.book):
            if name not in found and (made := find_call(self.library, row, number, operands)) is not None:
                found[name] = made
        return found

    @property
    def custom_operations(self) -> Mapping[str, Operation]:
        """The functions as operations."""
        return {name: _make_operation(name, len(x.operands)) for name, x in self.functions.items()}

    def operations(self) -> Mapping[str, Callable[..., object]]:
        """Return the functions, by name."""
        return self.functions


def load_book_library(name: str) -> BookLibrary:
    """Return the library of a recording's name, to ask the functions of its book.

    Raises UnknownLibraryError, MissingLibraryError, and CannotAskError for a library without a book.
    """
    library = load_library(name)
    if not read_book(find_book(library.name)):
        raise CannotAskError(f"{name} has no book of functions; leave --book out")
    return BookLibrary(library)


def find_book(recording: str) -> str:
    """Return the library whose book has the functions of a recording.

    >>> find_book("torch-autocast")
    'torch'
    """
    return recordings()[recording].library if recording in recordings() else recording


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
            is_call = rule and not result.startswith("=") and {*operands} <= names
            if is_call and rule not in OPERATIONS and not row.function.startswith("_"):
                yield spoken_name(row, number, rule), row, number, tuple(dict.fromkeys(operands))


def find_call(library: Any, row: BookRow, number: int, operands: tuple[str, ...]) -> BookFunction | None:
    """Find arguments with which the function of a row computes, or return None if there are none."""
    choices = {
        parameter_names(part)[0]: _list_choices(part)
        for part in row.parameters
        if part not in ("*", "...") and parameter_names(part)[0] not in operands and _is_required(part)
    }
    functions = [*find_functions(library, row.function)]
    for dtype in _control_dtypes(library):
        for function in functions:
            trials = (
                BookFunction(library, function, row, number, operands, named, (shape,))
                for named in _name_choices(choices)
                for shape in SHAPES
            )
            for made in islice(trials, MAX_TRIALS):
                if _computes(made, BookOperand(dtype)):
                    return _with_all_shapes(made, dtype)
    return None


def find_functions(library: Any, name: str) -> Iterator[Callable[..., Any]]:
    """Yield what a name may be in a library: a function of a module, or a method of its arrays."""
    parts = name.split(".")
    modules = [x for x in library.namespaces or () if getattr(x, "__name__", "").endswith(f".{parts[0]}")]
    if len(parts) > 1 and (own := [f for x in modules if callable(f := getattr(x, parts[-1], None))]):
        yield from own
        return
    for path in (parts, parts[-1:]):
        for space in library.namespaces or ():
            found: Any = space
            for part in path:
                found = getattr(found, part, None)
            if callable(found):
                yield found
    method = parts[-1]
    if not method.startswith("_"):
        yield lambda x, *args, **keywords: getattr(x, method)(*args, **keywords)


@cache
def _read_asked(text: str) -> tuple[Sequence[object], Mapping[str, object]]:
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
    names = part.partition("=")[0].partition(":")[0].rstrip("?![]")
    return tuple(name.rstrip("?![]") for name in names.split("|"))


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
    if allowed:
        return [int(allowed[0]) if allowed[0].isdigit() else allowed[0]]
    if names[0].startswith("return_") or names[0] == "out_int32":
        return [True]
    if "target" in names:
        return [BookOperand("int64", has_one_axis=True), BookOperand("int64"), BookOperand("float32")]
    if {*names} & {*INDEX_PARAMETERS}:
        return [BookOperand("int64"), BookOperand("int64", has_one_axis=True), 1, (1,)]
    if {*names} & {*MASK_PARAMETERS}:
        return [BookOperand("bool")]
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
    return [*value] if isinstance(value, tuple) and value and isinstance(value[0], float) else value


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


def _make_operation(name: str, operand_count: int) -> Operation:
    """Make an operation that takes so many arrays, so that its calls can be planned."""
    known = OPERATIONS[LIKE_BY_OPERAND_COUNT[operand_count]]
    return replace_fields(
        known, name=name, function=name, other_names=(), operator=None, special_method=None, like=known.name,
        min_operands=operand_count, max_operands=operand_count, min_dimensions=(0,),
    )  # fmt: skip
