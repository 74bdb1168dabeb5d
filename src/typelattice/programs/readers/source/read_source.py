"""Python source as a program: an expression, lines with assignments, a function. Nothing is evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from typing import Any

from typelattice.base.disk.read import read_bytes
from typelattice.base.errors.error_texts import clip_text, quote_short, spelling_hint
from typelattice.core.engine.system import System
from typelattice.core.operations.operations import Operation
from typelattice.core.system_files.system_text import systems as list_systems
from typelattice.programs.calls.call_tables import NameSort, name_meanings
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.program_builder import LIBRARY_YIELDING_TO_OTHERS, ProgramBuilder
from typelattice.programs.calls.program_inputs import is_operand
from typelattice.programs.calls.steps import (
    MAX_STEP_CHARS,
    Argument,
    DTypeOf,
    Excerpt,
    InvalidCallError,
    NamedDType,
    ProgramError,
    Slice,
    SourceLocation,
    Step,
)
from typelattice.programs.readers.source import (
    functions_of_classes,
    functions_of_containers,
    functions_of_numbers,
    standard_library,
    standard_modules,
)
from typelattice.programs.readers.source.calls_of_values import call_value, list_parameter_names, read_call
from typelattice.programs.readers.source.elements import assign_elements
from typelattice.programs.readers.source.expressions import EXPRESSION_READERS, read_defaults
from typelattice.programs.readers.source.imported_files import ImportedFiles, find_needed_lines
from typelattice.programs.readers.source.iterators import iterate_generator, read_iterator
from typelattice.programs.readers.source.library_objects import find_library_method
from typelattice.programs.readers.source.python_values import (
    BoundFunction,
    ClassValue,
    DefinedFunction,
    InstanceValue,
    PythonFunction,
    RaisedError,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.quiet_parser import parse_source
from typelattice.programs.readers.source.readings import Reading, run_reading
from typelattice.programs.readers.source.source_libraries import libraries_named_by, library_used_by
from typelattice.programs.readers.source.statements import (
    STATEMENT_READERS,
    read_function_body,
    read_imported_name,
    read_line_of_module,
)
from typelattice.programs.readers.source.syntax_reader import (
    ReadingStopped,
    SettingError,
    ShapesNeeded,
    SourceReader,
    SyntaxReaders,
    UnreadLine,
)
from typelattice.programs.readers.source.system_answers import SystemAnswers

MAX_SOURCE_CHARS = 8_000_000  # characters; a longer source is refused
QUOTED_PATTERN = re.compile(r"'[^']*'|\"[^\"]*\"")  # an input that is a text
ACCEPTED_SOURCE = "operators, functions of arrays, .astype(dtype), names and numbers, on one line or several"


# The rooms of Python's functions. Each fills the table when it is imported.
FUNCTION_ROOMS = (
    functions_of_numbers, functions_of_containers, functions_of_classes, standard_library, standard_modules,
)  # fmt: skip

SYNTAX_READERS = SyntaxReaders(
    {**EXPRESSION_READERS, ast.Call: read_call},
    STATEMENT_READERS,
    call_value,
    read_iterator,
    find_library_method,
    iterate_generator,
    assign_elements,
    read_imported_name,
)


@dataclass(frozen=True, slots=True)
class SourceReading:
    """The program that a source is under a system.

    `answers` are those that the source was given about dtypes: another system with the same answers reads the
    same program. `system` names the system, and is empty without such answers: then all read the same.
    `unread` are the lines that were not read.
    """

    steps: tuple[Step, ...]
    results: tuple[int, ...]
    answers: tuple[object, ...]
    system: str
    unread: tuple[UnreadLine, ...]


class PartlyReadError(ProgramError):
    """The error of a source with a result that depends on a line that was not read.

    `source` is what was read. Its steps can be had by `keeps_unknown_results`.
    """

    def __init__(self, message: str, source: Source) -> None:
        super().__init__(message)
        self.source = source


@dataclass(frozen=True, slots=True)
class Source:
    """A source with its inputs, which is read under any system.

    `custom_operations` are the operations that systems define. `function` names the function to read in a
    file. `library` is that of the inputs if the source names none, and `own_system` the system whose branches
    are read at first if it is given: else that of the library. `keeps_unknown_results`: a source with a
    result that depends on an unread line is not refused, and that result is left out. `path` is the path of
    its file: what it imports of its package is read there.
    """

    text: str
    bound: Mapping[str, object]
    custom_operations: Mapping[str, Operation]
    file: str = ""
    function: str | None = None
    library: str | None = None
    own_system: System | None = None
    keeps_unknown_results: bool = False
    path: Path | None = None

    def read(self, system: System | Mapping[str, System] | None = None) -> SourceReading:
        """Read the source under a system: its own one if none is given. Raises ProgramError."""
        try:
            return self._read(system, asks_shapes=False)
        except ShapesNeeded:
            return self._read(system, asks_shapes=True)

    def _read(self, system: System | Mapping[str, System] | None, asks_shapes: bool) -> SourceReading:
        if len(self.text) > MAX_SOURCE_CHARS:
            raise ProgramError(
                f"a source of {len(self.text):,} characters; the longest is {MAX_SOURCE_CHARS:,}"
            )
        clean = dedent(self.text.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
        clean = clean if "\n" in clean else clean.strip()
        text = clean if not self.file else self.text
        builder = ProgramBuilder(custom_operations=self.custom_operations)
        lines = _parse_lines(text, self.file)
        named = libraries_named_by(lines)
        library = library_used_by(named) or self.library
        answers = SystemAnswers(system or self.own_system or _usual_system(library))
        source = SourceReader(builder, text, self.file, self.bound, SYNTAX_READERS, answers)
        source.asks_shapes = asks_shapes
        if self.path is not None:
            source.files = ImportedFiles(self.path, _parse_file)
        source.library, source.names_library = library, bool(named)
        scope = Scope(kind="module")
        try:
            if self.function is not None or _is_function(lines):
                found = run_reading(_read_function(source, lines, scope, self.function))
            else:
                found = run_reading(_read_script(source, lines, scope))
            last = lines[-1] if self.function is None else _find_function(lines, self.function)
            results = _list_results(source, Excerpt(clip_text(clean, MAX_STEP_CHARS)), lines, last, found)
            if self.function is None and not _is_function(lines):
                _check_used(source, lines)
        except ReadingStopped as e:
            results = (e.step,)
        except RaisedError as e:
            raise e.where from None
        except RecursionError:
            what = "lists or objects in one another, nested too deep"
            raise ProgramError(f"{what}; take them apart") from None
        if source.unknown_result is not None and not self.keeps_unknown_results:
            raise PartlyReadError(str(source.unknown_result), self)
        name = answers.name if answers.asked else ""
        return SourceReading(
            tuple(builder.steps), results, tuple(answers.asked), name, tuple(source.unread.values())
        )


def _usual_system(library: str | None) -> str:
    """Return the name of the system of a library, or NumPy's if it has none by its name."""
    return library if library in list_systems() else LIBRARY_YIELDING_TO_OTHERS


def _list_results(
    source: SourceReader, excerpt: Excerpt, lines: Sequence[ast.stmt], last: ast.stmt, found: Any
) -> tuple[int, ...]:
    """Return the steps of the results: of each item of a list or a dictionary, and of an object's parts.

    `last` is the function, or the line, that gives them.

    A result that depends on a line that was not read is left out, and listed. There may be none then.
    """
    if _is_list(lines):
        found = source.as_argument(lines[0], found)
        return (source.builder.ensure_ref(excerpt, found).step,)
    parts = [x for x in _yield_results(source, found) if not _is_text(x)]
    unknown = [x for x in parts if isinstance(x, UnknownValue)]
    if unknown and any(step.op is not None for step in source.builder.steps):
        source.unknown_result = unknown[0].error
        parts = [x for x in parts if not isinstance(x, UnknownValue)]
        if not parts:
            return ()
    parts = [x for x in parts if x is not None]
    parts = [x for x in parts if not isinstance(x, NO_RESULTS)] or parts
    refs = [source.builder.ensure_ref(excerpt, source.as_argument(last, x)) for x in parts]
    if not refs:
        raise source.error(last, "no array and no number is returned; return one")
    return tuple(ref.step for ref in refs)


def _is_text(x: Any) -> bool:
    """Return True for a text, also if the values of arrays decide which."""
    return isinstance(x, str) or (
        isinstance(x, UnknownValue) and bool(x.one_of) and all(map(_is_text, x.one_of))
    )


# What a function may return beside its arrays, and what has no dtype of its own.
NO_RESULTS = (
    type(None), type(Ellipsis), Slice, DTypeOf, NamedDType, BoundFunction, ClassValue, DefinedFunction,
    PythonFunction, type,
)  # fmt: skip


def _has_no_array(x: Any) -> bool:
    """Return True for None, a text and an empty container: in results there is nothing to say of them."""
    return x is None or _is_text(x) or (isinstance(x, (tuple, list, dict)) and not x)


def _yield_results(source: SourceReader, found: object) -> Iterator[Any]:
    """Yield the values in lists, dictionaries and objects of a result."""
    if isinstance(found, UnknownValue):
        others = [x for x in found.one_of if not _has_no_array(x)]
        found = others[0] if len(others) == 1 else found
    if isinstance(found, InstanceValue):
        if found.lost is not None:
            yield UnknownValue(found.lost)
        found = found.attributes
    if isinstance(found, list) and found and source.branches.find_unknown_length(found) is not None:
        found = [source.any_item(ast.Constant(None), found)]
    if isinstance(found, MultipleResults) and found.count is not None:
        found = [found[i] for i in range(found.count)]
    if isinstance(found, (tuple, list, dict)):
        if not isinstance(found, dict) or not found:  # of a dictionary, what may be in it is known
            source.check_items(found)
        for each in found.values() if isinstance(found, dict) else found:
            yield from _yield_results(source, each)
    else:
        yield found


def _find_function(lines: Sequence[ast.stmt], name: str) -> ast.FunctionDef:
    """Return the last definition of a function in a file."""
    return next(x for x in reversed(lines) if isinstance(x, ast.FunctionDef) and x.name == name)


def _describe_syntax_error(error: Exception) -> str:
    """Say why Python does not parse a text."""
    if isinstance(error, UnicodeEncodeError):
        return f"a character is no Unicode text ({error.reason}); leave it out"  # half of a surrogate pair
    why = getattr(error, "msg", None)
    if why is None:
        return "nested too deep; give parts of it names on lines of their own"
    if "integer string conversion" in why:
        return "it has a number of more than 4,300 digits, which no dtype holds; give a smaller one"
    return str(why)


def _parse_lines(text: str, file: str) -> list[ast.stmt]:
    """Return the lines of a source. Raises ProgramError if Python cannot parse it."""
    try:
        lines = parse_source(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        why = _describe_syntax_error(e)
        line = getattr(e, "lineno", None) or 1
        has_several_lines = "\n" in text or file != ""
        where = f"{SourceLocation(file or '<source>', line)}: " if has_several_lines else ""
        why += _describe_error_position(e)
        raise ProgramError(
            f"{where}{quote_short(text)} is no program: {why}; give {ACCEPTED_SOURCE}"
        ) from None
    if not lines:
        what = file or quote_short(text)
        raise ProgramError(f"{what} is no program: there is nothing in it; give {ACCEPTED_SOURCE}")
    return lines


def read_text_file(path: Path) -> str:
    """Return the text of a file. Raises FileError or ProgramError if it cannot be read."""
    data = read_bytes(path, MAX_SOURCE_CHARS + 1)
    if len(data) > MAX_SOURCE_CHARS:
        raise ProgramError(
            f"{path.name}: larger than {MAX_SOURCE_CHARS:,} bytes; take the function out of it"
        )
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as e:
        raise ProgramError(f"{path.name}: not UTF-8 text (byte {e.start}); save it as UTF-8") from None


def _parse_file(path: Path) -> tuple[list[ast.stmt], str]:
    """Return the statements and the text of another file. Raises ProgramError."""
    text = read_text_file(path)
    return _parse_lines(text, path.name), text


def _describe_error_position(error: BaseException) -> str:
    """Return the column of a syntax error and the text there, or nothing if Python does not state it."""
    offset, text = getattr(error, "offset", None), getattr(error, "text", None)
    if not offset or not text or offset > len(text.rstrip()):
        return " at its end" if offset else ""
    return f" at column {offset}, {quote_short(text[offset - 1 :].rstrip())}"


def _is_function(lines: Sequence[ast.stmt]) -> bool:
    """Return True if a source ends with the definition of a function."""
    return isinstance(lines[-1], ast.FunctionDef)


def _read_annotations(function: DefinedFunction) -> dict[str, object]:
    """Return the operand strings that annotate a function's parameters, as in `x: "float32[3]"`."""
    args = function.node.args
    stated = {a.arg: a.annotation for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    return {
        name: said.value
        for name, said in stated.items()
        if isinstance(said, ast.Constant) and isinstance(said.value, str) and is_operand(said.value)
    }


def _is_list(lines: Sequence[ast.stmt]) -> bool:
    return len(lines) == 1 and isinstance(lines[0], ast.Expr) and isinstance(lines[0].value, ast.List)


def _bind_names(source: SourceReader, names: Sequence[str]) -> dict[str, Any]:
    return {name: _read_input(source, name) for name in names}


def _read_input(source: SourceReader, name: str) -> Argument:
    """Return the value for a name: an input, a tuple as it is, a text in quotes, or None."""
    given = source.bound[name]
    if given is None or (isinstance(given, str) and given == "None"):
        return None
    if isinstance(given, tuple):
        return given
    if isinstance(given, str) and QUOTED_PATTERN.fullmatch(given):
        return given[1:-1]
    return source.builder.add_input(Excerpt(name, owner=source.library), given)


def _read_script(source: SourceReader, lines: Sequence[ast.stmt], scope: Scope) -> Reading:
    """Read lines that end with the result: an expression, or an assignment."""
    scope.names.update(_bind_names(source, [*source.bound]))
    return (yield _read_lines(source, lines, scope))


def _read_lines(source: SourceReader, lines: Sequence[ast.stmt], scope: Scope) -> Reading:
    """Read lines and return what they return, or the value of the last line."""
    *before, last = lines
    ending = yield _read_script_body(source, before, scope)
    if ending is not None:
        return ending
    if isinstance(last, ast.Expr):
        return (yield source.read_expression(last.value, scope))
    match last:
        case ast.Assign(targets=[*_, target]) | ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            yield source.readers.statements[type(last)](source, last, scope)
            named = target.value if isinstance(target, ast.Subscript) else target
            return (yield source.read_expression(named, scope))
    ending = yield _read_script_body(source, [last], scope)
    if ending is not None:
        return ending
    raise source.error(last, "nothing is returned; end with an expression or with return")


def _read_script_body(source: SourceReader, lines: Sequence[ast.stmt], scope: Scope) -> Reading:
    """Read lines of a script, which may return as those of a function. Return None if they do not."""
    if not lines:
        return None
    return (yield read_function_body(source, lines[0], lines, scope))


def _check_used(source: SourceReader, lines: Sequence[ast.stmt]) -> None:
    """Raise ProgramError if a name has an operand, and no line of the source uses the name."""
    unread = [name for name in source.bound if name not in source.used_names]
    if not unread:
        return
    nodes = [node for line in lines for node in ast.walk(line)]
    written: set[object] = {node.id for node in nodes if isinstance(node, ast.Name)}
    if any(library == source.library for library, _ in name_meanings(NameSort.COLUMN_FUNCTION)):
        written |= {node.value for node in nodes if isinstance(node, ast.Constant)}
    for name in unread:
        if name not in written:
            what = f"{quote_short(source.text)} does not use {clip_text(name, 40)}"
            raise ProgramError(f"{what}; remove its operand")


def _read_function(
    source: SourceReader, lines: Sequence[ast.stmt], scope: Scope, name: str | None
) -> Reading:
    """Call the function of a name, or the last one, with the operands bound to its parameters."""
    defined = [line.name for line in lines if isinstance(line, ast.FunctionDef)]
    if name is not None and name not in defined:
        near = spelling_hint(name, defined) or f"; it has {', '.join(defined[:8]) or 'none'}"
        raise ProgramError(f"{source.file} has no function {quote_short(name)}{near}")
    name = name or defined[-1]
    for line in find_needed_lines(lines, name):
        yield read_line_of_module(source, line, scope)
    function = scope.names[name]
    if isinstance(function, UnknownValue):
        raise function.error
    decorated = function
    if not isinstance(function, DefinedFunction) or function.name != name:  # it is decorated
        node = _find_function(lines, name)
        defaults = yield read_defaults(source, node.args, scope)
        function = DefinedFunction(node, scope, defaults)
    known, taken = list_parameter_names(function.node), function.node.args
    for given in source.bound:
        if given not in known:
            near = spelling_hint(given, known)
            has = ", ".join(known) or "none"
            raise ProgramError(f"{function.name} has no parameter {clip_text(given, 40)}{near}; it has {has}")
    source.bound = {**_read_annotations(function), **source.bound}
    for needed in known:
        if needed not in source.bound and needed not in function.defaults:
            raise source.unbound_name_error(needed)
    args = _bind_names(source, [name for name in known if name in source.bound])
    stars: dict[str, Any] = {
        star.arg: empty for star, empty in ((taken.vararg, ()), (taken.kwarg, {})) if star
    }
    inner = Scope({**function.defaults, **stars, **args}, function.scope)
    try:
        if decorated is function:
            reading = read_function_body(source, function.node, function.statements, inner)
            if function.is_generator:
                reading = source.read_samples(function.node, iterate_generator(source, reading))
            found = yield reading
        else:
            taken_by_name = {x.arg for x in taken.kwonlyargs}
            by_place = [*takewhile(lambda name: name in args and name not in taken_by_name, known)]
            by_name = {name: value for name, value in args.items() if name not in by_place}
            placed = [args[name] for name in by_place]
            found = yield source.call(function.node, decorated, placed, by_name, scope)
    except (SettingError, InvalidCallError):
        raise
    except ProgramError as e:
        found = UnknownValue(e)
    if found is None:
        raise source.error(function.node, "it returns nothing; end it with return")
    return found
