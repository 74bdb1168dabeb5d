"""Calls of a library that no table describes, made in this process: which dtype they give.

Arrays of unknown shape are tried with several numbers of axes. A call that fails is made again with other
dtypes: only if it then succeeds do the dtypes decide, and the failure is the library's refusal.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, cycle, product
from math import prod
from typing import Any

from typelattice.base.errors.error_texts import quote_short
from typelattice.conformance.recording.in_process_library import exception_answer
from typelattice.conformance.recording.library import Library, NoSuchOperandError, versions_text
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.evidence.answer_notation import NOT_ASKED_ANSWER
from typelattice.core.operations.shapes import Shape
from typelattice.core.registry.libraries import libraries, recordings
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.library_questions import (
    AskedOperand,
    CallTrial,
    LibraryAnswer,
    LibraryQuestion,
)
from typelattice.programs.calls.steps import (
    CALLED_OBJECT,
    OBJECT_ITSELF,
    LibraryObject,
    NamedDType,
    Pairs,
    Slice,
    yield_leaves,
)

TRIED_LENGTH = 2
"""The length of each axis that is not known."""

ONE_AXIS: Shape = (TRIED_LENGTH,)
"""The shape of the arrays that a library makes for its recording."""

MAX_ELEMENTS = 100_000
"""Elements of an array of known shape. A larger array is not made."""

TRIED_SHAPES: Sequence[Shape] = tuple(ONE_AXIS * axes for axes in (1, 2, 3, 4))
"""The shapes that an array of unknown shape is tried with, before none of the axes."""

ENOUGH_SHAPES = 3
"""Calls that succeed, with arrays of different shapes, after which no more are made."""

MAX_ARRAYS_TRIED_APART = 3
"""If more arrays than these have an unknown shape, all are tried with the same shape."""

CONTROL_KINDS = (Kind.FLOAT, Kind.SIGNED, Kind.BOOL, Kind.COMPLEX)
"""A call that failed is made again with a dtype of each kind, to see whether the dtypes are the reason."""

USUAL_BITS = {Kind.FLOAT: 32, Kind.SIGNED: 64, Kind.BOOL: 0, Kind.COMPLEX: 64}
"""The least width of the dtype that stands for a kind: most functions have a kernel for it."""

PLAIN_TEXT = re.compile(r"[\w<>|,+-]*(\.\.\.[\w<>|,+-]*)*")
"""A text that is passed to a library: a word, or subscripts. It names no file elsewhere, and is no code."""

MAX_TEXT_CHARS = 100
"""Characters of a text that is passed to a library."""


class UnclearError(Exception):
    """A call that cannot be asked. The message says why."""


class NoArrayError(UnclearError):
    """A call whose result is no array, but an object of the class `made`, or several results."""

    def __init__(self, message: str, made: str) -> None:
        super().__init__(message)
        self.made = made


class LiveCalls:
    """The functions of one library. A name means what it means in the library's namespaces."""

    def __init__(self, library: Library) -> None:
        self.library = library
        entry = recordings().get(library.name)
        self.library_name = entry.library if entry else library.name
        self.modules = libraries()[self.library_name].modules
        self.source = versions_text(dict([*library.versions.items()][:1]))
        self.has_only_columns = getattr(library, "has_only_columns", False)  # of one length that it chooses
        self.make_values: Callable[[str, Shape], Any] = _regular_values
        self.control_dtypes = [*filter(None, map(self.find_control_dtype, CONTROL_KINDS))]

    def find_control_dtype(self, kind: Kind) -> str | None:
        """Return the dtype of a kind that most functions take, or None if the library has none."""
        known = [DTYPES[name] for name in self.library.dtypes() if name in DTYPES]
        bits = {x.name: x.bits or 0 for x in known if x.kind is kind and (x.bits or 0) >= USUAL_BITS[kind]}
        return min(bits, key=lambda name: bits[name], default=None)

    def has_function(self, name: str) -> bool:
        """Return True if the library has a function, or its arrays a method `.name`."""
        try:
            return bool(self.find_function(name))
        except UnclearError:
            return False

    def find_function(self, name: str) -> Callable[..., Any]:
        """Return the function of a name, or a function that calls the method. Raises UnclearError."""
        if name.startswith("."):
            method = name.removeprefix(".")
            array = self.make_operand(self.control_dtypes[0], ONE_AXIS)
            if method.startswith("_") or not callable(getattr(type(array), method, None)):
                raise UnclearError(f"arrays of {self.library_name} have no method {method}")
            return lambda x, *args, **keywords: getattr(x, method)(*args, **keywords)
        function: Callable[..., Any] | None = self.find_member(name)
        if callable(function):
            return function
        raise UnclearError(f"{self.source} has no function {name}")

    def find_member(self, name: str) -> Any:
        """Return what the library has by a name, whatever the source calls its modules, or None."""
        names = name.split(".")
        roots = [sys.modules[each] for each in self.modules if each in sys.modules]
        for parts in (names, names[1:], names[-2:], names[-1:]):
            for root in [*roots, *(getattr(self.library, "namespaces", None) or ())]:
                found = self.follow_names(root, parts)
                if found is not None and not isinstance(found, types.ModuleType):
                    return found
        return None

    def follow_names(self, root: Any, names: Sequence[str]) -> Any:
        """Return what attributes lead to, or None if one is missing, private, or of another package."""
        found = root
        for name in names:
            if name.startswith("_"):
                return None
            try:
                found = getattr(found, name, None)
            except Exception:  # a library's module may raise anything for a name that it lacks
                return None
            home = found.__name__ if isinstance(found, types.ModuleType) else getattr(found, "__module__", "")
            if isinstance(home, str) and home.partition(".")[0] not in ("", "builtins", *self.modules):
                return None
        return None if found is root else found

    def make_operand(self, text: str, shape: Shape | None) -> Any:
        """Return an operand of a shape. Raises NoSuchOperandError if the library has none."""
        is_usual = shape is None or (shape == ONE_AXIS and self.make_values is _regular_values)
        is_array = text.partition(":")[0] in self.library.dtypes()
        if is_usual or shape is None or self.has_only_columns or not is_array:
            return self.library.make(text)
        if shape == ():
            return self.library.make(f"{text}:0d")
        make = getattr(self.library, "make_of_shape", None)
        if make is None or ":" in text:
            raise NoSuchOperandError(f"{self.source} has no {text} of the shape {shape}")
        dtypes: Mapping[str, Any] = self.library.native_dtypes  # type: ignore[attr-defined]
        return make(shape, dtypes[text], self.make_values(text, shape))

    def answer(self, question: LibraryQuestion) -> LibraryAnswer:
        """Return what a call gives. It has no answer if the dtypes do not decide why it fails."""
        try:
            found, message, axes = self.ask(question)
        except UnclearError as e:
            return LibraryAnswer(None, str(e), self.source)
        return LibraryAnswer(found, message, self.source, axes)

    def try_call(self, question: LibraryQuestion) -> CallTrial:
        """Make a call with dtypes of all kinds until one succeeds."""
        why = ""
        try:
            operands = [*_list_operands(question)]
            choices = product((_regular_values, _ones), self.list_controls(operands))
            for (make_values, dtypes), shapes in product(choices, tried_shapes(operands)):
                found, message, shape = self.call_with_values(make_values, question, shapes, dtypes)
                if message is None:
                    if self.has_only_columns or [x.shape for x in operands] != [*shapes]:
                        return CallTrial("")
                    return CallTrial("", self.find_certain_shape(question, dtypes, shape))
                if found != NOT_ASKED_ANSWER:
                    why = why or f"{self.source} refuses it: {found[1:]}: {message}"
        except NoArrayError as e:
            return CallTrial(str(e), None, e.made)
        except UnclearError as e:
            return CallTrial(str(e))
        return CallTrial(why or f"{self.source} cannot be asked about it")

    def find_certain_shape(
        self, question: LibraryQuestion, dtypes: Mapping[int, str], shape: tuple[int, ...] | None
    ) -> Shape | None:
        """Return the shape with None for each length that is another for other values, as in `unique(x)`."""
        shapes = [x.shape for x in _list_operands(question)]
        try:
            other = self.call_with_values(_alternating_values, question, shapes, dtypes)[2]
        except UnclearError:
            return None
        if shape is None or other is None or len(shape) != len(other):
            return None
        return tuple(n if n == m else None for n, m in zip(shape, other, strict=True))

    def ask(self, question: LibraryQuestion) -> tuple[str, str, bool]:
        """Return the answer, its message, and whether it has axes. Raises UnclearError."""
        operands = [*_list_operands(question)]
        answers: dict[str, bool] = {}
        failures: dict[tuple[Shape | None, ...], tuple[str, str]] = {}
        successes = 0
        for shapes in tried_shapes(operands):
            if answers and has_0d_stand_in(operands, shapes):
                break  # a library may have other rules for an array without axes
            found, message, shape = self.call(question, shapes, {})
            if message is None:
                answers.setdefault(found, shape != ())
                successes += 1
                if len(answers) > 1:
                    both = " and ".join(answers)
                    why = f"{question.function} gives {both} for arrays of different shapes"
                    raise UnclearError(f"{why}; state them, as in x=int8[2,3]")
                if successes == ENOUGH_SHAPES:
                    break
            else:
                failures[shapes] = found, message
        if answers:
            ((found, axes),) = answers.items()
            return found, "", axes
        for shapes in failures:  # the values may be the reason: a probability is no 2
            found, message, shape = self.call_with_values(_ones, question, shapes, {})
            if message is None:
                return found, "", shape != ()
        for dtypes in self.list_controls(operands):
            for shapes in failures:
                if self.call(question, shapes, dtypes)[1] is None:
                    return *failures[shapes], False
        found, message = next(iter(failures.values()))
        if found == NOT_ASKED_ANSWER:
            raise UnclearError(f"{question.function} cannot be asked: {message}")
        raise UnclearError(f"{question.function} fails for other dtypes, too: {found[1:]}: {message}")

    def call_with_values(
        self, make_values: Callable[[str, Shape], Any], question: LibraryQuestion,
        shapes: Sequence[Shape | None], dtypes: Mapping[int, str],
    ) -> tuple[str, str | None, tuple[int, ...] | None]:  # fmt: skip
        """Make a call, as `call` does, with other values in the arrays of known shape than the usual ones."""
        self.make_values = make_values
        try:
            return self.call(question, shapes, dtypes)
        finally:
            self.make_values = _regular_values

    def list_controls(self, operands: Sequence[AskedOperand]) -> Iterator[Mapping[int, str]]:
        """Yield other dtypes for the arrays of a call, by their numbers among the operands."""
        arrays = [i for i, x in enumerate(operands) if x.text.partition(":")[0] in self.library.dtypes()]
        if len(arrays) > MAX_ARRAYS_TRIED_APART:
            yield from (dict.fromkeys(arrays, name) for name in self.control_dtypes)
        else:
            choices = product(self.control_dtypes, repeat=len(arrays))
            yield from (dict(zip(arrays, names, strict=True)) for names in choices)

    def call(
        self, question: LibraryQuestion, shapes: Sequence[Shape | None], dtypes: Mapping[int, str]
    ) -> tuple[str, str | None, tuple[int, ...] | None]:
        """Make a call with arrays of these shapes. Return the answer, the message of a failure, the shape."""
        try:
            result = self.compute(question, _Operands(self, shapes, dtypes))
            if isinstance(result, (tuple, list)):
                why = f"{question.function} gives {len(result)} results; take one, such as [0]"
                raise NoArrayError(why, type(result).__name__)
            answer = "a dtype" if self.is_dtype(result) else self.read_result(result)
        except NoSuchOperandError as error:
            return NOT_ASKED_ANSWER, str(error) or f"{self.source} has no such operand", None
        except UnclearError:
            raise
        except BaseException as error:  # a library may raise anything
            return *exception_answer(error), None
        if answer.removesuffix("*") not in self.library.dtypes() and not answer.startswith("py:"):
            made = type(result).__name__
            raise NoArrayError(f"{question.function} gives a {made}, which is no array of numbers", made)
        return answer, None, _read_shape(result)

    def compute(self, call: LibraryQuestion | LibraryObject, operands: _Operands) -> Any:
        """Return what a call gives, or a part of it. Raises UnclearError, and what the library raises."""
        if call.args is None:
            made: Any = self.find_member(call.name)
            if made is None:
                raise UnclearError(f"{self.source} has no {call.name}")
        else:
            args = [_as_python(operands.convert(x)) for x in call.args]
            keywords = {key: _as_python(operands.convert(x)) for key, x in call.keywords}
            if call.name == OBJECT_ITSELF:
                made = args[0]
            elif call.name == CALLED_OBJECT:
                made = args[0](*args[1:], **keywords)
            else:
                made = self.find_function(call.name)(*args, **keywords)
        for part in call.taken:
            made = take_part(made, part)
        return made

    def read_result(self, result: object) -> str:
        """Return the answer of an array or a number, or the class of another object."""
        try:
            return self.library.read(result)
        except Exception:  # a library's own object may raise anything
            # a lazy array refuses its dtype only when it is read; another object has no dtype to read
            if isinstance(result, type(self.make_operand(self.control_dtypes[0], ONE_AXIS))):
                raise
            return type(result).__name__

    def is_dtype(self, result: object) -> bool:
        """Return True for a dtype, of which libraries read the name as of an array."""
        dtypes = getattr(self.library, "native_dtypes", {}).values()
        return isinstance(result, (type, *{type(each) for each in dtypes}))

    def native_dtype(self, name: str) -> Any:
        """Return the library's own object of a dtype, or the name if the library has none."""
        known = getattr(self.library, "native_dtypes", {})
        own = name_meaning(NameSort.CAST, name, self.library_name) or name
        return known.get(own) or self.find_member(f"{self.library_name}.{name}") or name


class _Operands:
    """The operands of one call, in the order in which it reads them, of chosen shapes and dtypes."""

    def __init__(
        self, calls: LiveCalls, shapes: Sequence[Shape | None], dtypes: Mapping[int, str]
    ) -> None:
        self.calls, self.shapes, self.dtypes = calls, shapes, dtypes
        self.numbers = count()

    def convert(self, argument: Any) -> Any:
        """Return what a library is given. Raises UnclearError, and what the library raises."""
        match argument:
            case AskedOperand(text=text):
                i = next(self.numbers)
                return self.calls.make_operand(self.dtypes.get(i, text), self.shapes[i])
            case LibraryObject():
                return self.calls.compute(argument, self)
            case tuple():
                return tuple([self.convert(x) for x in argument])
            case Slice() | Pairs():
                return argument.map(self.convert)
            case NamedDType(name=name):
                return self.calls.native_dtype(name)
            case str():
                check_text(argument)
        return argument


def take_part(made: Any, part: int | str) -> Any:
    """Return an item or an attribute of an object.

    Raises UnclearError for a private attribute, and for a module: its functions are not the library's own.
    """
    if isinstance(part, str) and part.startswith("_"):
        raise UnclearError(f"{part} is private")
    found = made[part] if isinstance(part, int) else getattr(made, part)
    if isinstance(made, types.ModuleType) or isinstance(found, types.ModuleType):
        raise UnclearError(f"{part} is of a module, or is one; give the value that is computed")
    return found


def _read_shape(result: object) -> tuple[int, ...] | None:
    """Return the shape of a library's array, or None if it cannot be read."""
    try:
        return tuple(map(int, result.shape))  # type: ignore[attr-defined]
    except Exception:  # a library's own object may have anything there
        return None


def tried_shapes(operands: Sequence[AskedOperand]) -> Iterator[tuple[Shape | None, ...]]:
    """Yield the shapes to try: those that are known, and each of several in place of those that are not."""
    unknown = [i for i, x in enumerate(operands) if x.shape is None]
    known = [_fill_lengths(x.shape) for x in operands]
    if any(shape is not None and prod(shape) > MAX_ELEMENTS for shape in known):
        raise UnclearError(f"an array of more than {MAX_ELEMENTS:,} elements is not made")
    if len(unknown) > MAX_ARRAYS_TRIED_APART:
        choices = [(shape,) * len(unknown) for shape in (*TRIED_SHAPES, ())]
    else:
        choices = [*product((*TRIED_SHAPES, ()), repeat=len(unknown))]
    for chosen in sorted(choices, key=lambda shapes: () in shapes):
        found = dict(zip(unknown, chosen, strict=True))
        yield tuple(found.get(i, shape) for i, shape in enumerate(known))


def has_0d_stand_in(operands: Sequence[AskedOperand], shapes: Sequence[Shape | None]) -> bool:
    """Return True if an array of unknown shape is tried without axes."""
    return any(x.shape is None and shape == () for x, shape in zip(operands, shapes, strict=True))


def _fill_lengths(shape: Shape | None) -> tuple[int, ...] | None:
    """Return a shape with the length that is tried in place of those that are not known."""
    return None if shape is None else tuple(TRIED_LENGTH if n is None else n for n in shape)


def check_text(text: str) -> None:
    """Raise UnclearError for a text that may name a file, or be code: it may come from a stranger."""
    plain = re.sub(r" ?(,|->) ?", r"\1", text)
    if len(text) > MAX_TEXT_CHARS or not PLAIN_TEXT.fullmatch(plain):
        raise UnclearError(f"the text {quote_short(text)} is not passed on: it may name a file, or be code")


def _regular_values(dtype: str, shape: Shape) -> Any:
    """Return the values of an array: ones, or matrices that have an inverse if the dtype has fractions."""
    if len(shape) < 2 or DTYPES[dtype].kind not in (Kind.FLOAT, Kind.COMPLEX):
        return 1
    rows, columns = shape[-2] or 0, shape[-1] or 0
    matrix: Any = [[1 + (i == j) for j in range(columns)] for i in range(rows)]
    for length in reversed(shape[:-2]):
        matrix = [matrix] * (length or 0)
    return matrix


def _ones(dtype: str, shape: Shape) -> Any:
    return 1


def _alternating_values(dtype: str, shape: Shape) -> Any:
    """Return nested lists of zeros and ones in turn."""
    numbers = cycle((0, 1))

    def fill(lengths: Shape) -> Any:
        return [fill(lengths[1:]) for _ in range(lengths[0] or 0)] if lengths else next(numbers)

    return fill(shape)


def _list_operands(question: LibraryQuestion) -> Iterator[AskedOperand]:
    """Yield the operands in the order in which a call reads them."""
    leaves: Iterator[Any] = yield_leaves((*question.args, *(x for _, x in question.keywords)))
    return (x for x in leaves if isinstance(x, AskedOperand))


def _as_python(argument: Any) -> Any:
    """Return an argument as Python code writes it: a list if it holds arrays, and a slice."""
    if isinstance(argument, tuple):
        items = [_as_python(x) for x in argument]
        plain = all(isinstance(x, (bool, int, float, str, tuple, slice, type(None))) for x in items)
        return tuple(items) if plain else items
    if isinstance(argument, Slice):
        return slice(*map(_as_python, argument.parts))
    if isinstance(argument, Pairs):
        return dict(_as_python(pair) for pair in argument.pairs)
    return argument
