"""Making of programs: from expressions, lines of Python, functions in files, and functions to call."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from typelattice.base.objects.strange_objects import refuse_strange
from typelattice.core.engine.system import System
from typelattice.core.operations.operations import Operation
from typelattice.programs.calls.call_tables import find_equivalents
from typelattice.programs.calls.compositions import is_composition
from typelattice.programs.calls.steps import ProgramError
from typelattice.programs.program.program import Program, SourceReadings
from typelattice.programs.readers.source.quiet_parser import parse_source
from typelattice.programs.readers.source.read_source import MAX_SOURCE_CHARS, Source, read_text_file
from typelattice.programs.readers.symbols.symbol_namespace import Symbols

# NumPy's dtypes may begin with an operator: '<i4'
NOT_AN_OPERAND_PATTERN = re.compile(r"[][(){}]|.([+*/%&|^<>@]|==)")
FUNCTION_OF_FILE_PATTERN = re.compile(r"(.+\.py):([^\W\d]\w*)", re.DOTALL)  # names a function of a file


def program(source: str | Callable[..., object], /, *operands: object, **bound: object) -> Program:
    """Make a program from Python text, or from a function of arrays, which is called with symbols.

    Text is an expression, lines with assignments, a function, or `FILE.py:function`. It is parsed and never
    evaluated. Operands are bound to the names in it, or by position to the parameters of a function.

    An operand is an array, a dtype, a number or an operand string. The string may name a dtype of a system's
    own file, and `float32[3,4]` has a shape. A called function gets a symbol for each of these, but numbers,
    None and tuples as they are. A `System` by position adds the operations that its file defines. Raises
    ProgramError or FileError.

    >>> p = program("a*2.0 + b", a="int8:0d", b="float16")
    >>> [(step.text, str(o)) for step, o in zip(p.steps, p.under("numpy")) if step.op]
    [('a*2.0', 'float64'), ('a*2.0 + b', 'float64')]
    >>> program(lambda x, y, scale: (x + y) * scale, "int32[3]", "float16", 1.5).under("jax").dtype
    float16
    """
    for x in (source, *operands, *bound.values()):
        refuse_strange(x, ProgramError, "give a text or a function, and operands")
    systems = [x for x in operands if isinstance(x, System)]
    operands, known_operations = (
        tuple(x for x in operands if not isinstance(x, System)),
        CustomOperations(systems),
    )
    if not isinstance(source, str) and not callable(source):
        what = f"an object of type {type(source).__name__} is no program"
        raise ProgramError(f"{what}; give a text such as 'a + b', or a function")
    if not isinstance(source, str):
        return program_of_function(source, operands, bound, known_operations)
    if operands:
        raise ProgramError("operands by position go with a function that is called; name them: x='int8'")
    in_file = FUNCTION_OF_FILE_PATTERN.fullmatch(source) if len(source) < MAX_SOURCE_CHARS else None
    file = source.removesuffix(":")
    if file.endswith(".py") and "\n" not in file and Path(file).is_file():
        raise ProgramError(f"{file} is a file; say which function of it is meant: {file}:name")
    if in_file:
        path = Path(in_file[1]).absolute()
        text, name, function = read_text_file(path), path.name, in_file[2]
    else:
        path, text, name, function = None, source, "", None
    own_system = systems[0] if len(systems) == 1 else None
    library = _library_of_all(systems)
    read = Source(text, bound, known_operations, name, function, library, own_system, path=path)
    return read_program(read, source.strip())


def read_program(source: Source, text: str) -> Program:
    """Read a source as a program. Raises ProgramError; PartlyReadError if a result is not known."""
    readings = SourceReadings(source)
    reading = readings.reading
    is_needed = reading.answers or reading.unread
    readings_or_none = readings if is_needed else None
    return Program(reading.steps, reading.results, text, readings_or_none, reading.system)


class CustomOperations(Mapping[str, Operation]):
    """The operations that the files of systems define.

    An operation that two systems define differently is left to the tables of calls, if they have it for all
    libraries: each system then has its own rule of it. Else it cannot be taken: that raises ProgramError.
    """

    def __init__(self, systems: Iterable[System]) -> None:
        self._operations: dict[str, Operation] = {}
        self._other_systems: dict[str, str] = {}
        for system in systems:
            for name, op in system.custom_operations.items():
                if _call_of(self._operations.setdefault(name, op)) != _call_of(op):
                    self._other_systems.setdefault(name, system.name)
        for name in [*self._other_systems]:
            if is_composition(name, None) or find_equivalents(name, None):
                del self._operations[name], self._other_systems[name]

    def __getitem__(self, name: str) -> Operation:
        if name in self._other_systems:
            why = f"{name} is called otherwise in {self._other_systems[name]}"
            raise ProgramError(f"{why}; give one of the systems")
        return self._operations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._operations)

    def __len__(self) -> int:
        return len(self._operations)


def _call_of(operation: Operation) -> tuple[object, ...]:
    """Return what calls of an operation depend on. Its dtype rule may differ between systems."""
    return operation.like, operation.operand_names, operation.parameter_names


def _library_of_all(systems: Iterable[System]) -> str | None:
    """Return the library whose rules all systems have, or None without one."""
    found = {system.library.partition(" ")[0] for system in systems}
    return found.pop() if len(found) == 1 else None


def program_of_function(
    function: Callable[..., object],
    operands: Sequence[object],
    keywords: Mapping[str, object],
    custom_operations: Mapping[str, Operation],
) -> Program:
    """Call a function with symbols to make a program of it. Systems define the custom operations."""
    xp = Symbols(custom_operations)
    taken = list(operands)
    try:
        names = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        names = []
    names += [f"x{i}" for i in range(len(names), len(taken))]
    args = [_make_symbol(xp, name, x) for name, x in zip(names, taken, strict=False)]
    found = function(*args, **{name: _make_symbol(xp, name, x) for name, x in keywords.items()})
    refuse_strange(found, ProgramError, "end the function with return, and what it computed")
    results = found if isinstance(found, (tuple, list)) else (found,)
    if not results or any(x is None for x in results):
        raise ProgramError(f"{getattr(function, '__name__', 'it')} returns nothing; end it with return")
    return xp.output(*results)


def _make_symbol(xp: Symbols, name: str, x: object) -> object:
    """Return the symbol of an operand for the call of a function. Return a plain value as it is."""
    plain = x is None or (isinstance(x, (bool, int, float, complex, tuple)) and not hasattr(x, "dtype"))
    return x if plain else xp.input(name, x)


def program_file(text: str) -> str | None:
    """Return the file of a program that is a function in a file, or None for any other text.

    >>> program_file("models/f.py:softmax"), program_file("x + y")
    ('models/f.py', None)
    """
    in_file = FUNCTION_OF_FILE_PATTERN.fullmatch(text) if len(text) < MAX_SOURCE_CHARS else None
    return in_file[1] if in_file else None


def is_program(text: str) -> bool:
    """Return True if a text is a program, and False if it is an operand.

    A program has an operator or a call, or names a function in a file. Text that Python cannot parse counts
    as a program if it has a bracket or an operator. Its error is reported later.

    >>> is_program("x + y"), is_program("int8:0d"), is_program("sqrt(x"), is_program("f.py:softmax")
    (True, False, True, True)
    """
    if program_file(text) is not None:
        return True
    try:
        lines = parse_source(text[:MAX_SOURCE_CHARS].strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return NOT_AN_OPERAND_PATTERN.search(text) is not None
    made_of = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Call, ast.Subscript)
    return len(lines) > 1 or any(
        isinstance(line, (ast.Assign, ast.AugAssign, ast.Return, ast.FunctionDef))
        or (isinstance(line, ast.Expr) and isinstance(line.value, made_of))
        for line in lines
    )
