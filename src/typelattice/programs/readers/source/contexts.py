"""Contexts of a `with`: those of the source, those that change no dtype, and modes of libraries.

names.txt has the contexts of libraries. A mode, such as PyTorch's autocast, has a system of its own for some
arguments of its context, and no other arguments can be read.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from typelattice.programs.calls.call_tables import NameSort, is_identity, name_meaning, name_meanings
from typelattice.programs.calls.program_builder import Mode
from typelattice.programs.calls.steps import NamedDType
from typelattice.programs.readers.source.python_values import (
    MISSING,
    ContextValue,
    DefinedFunction,
    DottedName,
    PythonFunction,
    ReadValue,
    Scope,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import SourceReader

# what names.txt says of a parameter of a mode's context
MODE_SWITCH, ANY_VALUE, NEVER_ASKED = "switch", "any", "unknown"
NOT_COMPARED = (MODE_SWITCH, ANY_VALUE)


def may_swallow(leave: Any) -> bool:
    """Return True if an `__exit__` may return something true, which ends the error."""
    nodes = ast.walk(leave.node) if isinstance(leave, DefinedFunction) else ()
    returned = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    return any(not isinstance(x, ast.Constant) or x.value for x in returned)


def read_context(reader: SourceReader, node: ast.expr, scope: Scope) -> Reading:
    """Read the context of a `with`. The arguments of one that changes no dtype are not read."""
    called = node.func if isinstance(node, ast.Call) else node
    function = yield reader.read_expression(called, scope)
    if isinstance(function, DottedName):
        if is_neutral_context(function):
            return ContextValue()
        if find_parameters(function) is None or not isinstance(node, ast.Call):
            raise reader.error(node, "a context that may change dtypes; write its lines without it")
    return (yield reader.read_expression(node, scope))


def is_neutral_context(function: DottedName) -> bool:
    """Return True if a context of a library changes no dtype."""
    return name_meaning(NameSort.NEUTRAL_CONTEXT, function.path[-1], function.owner) is not None


def find_parameters(function: DottedName) -> dict[str, str] | None:
    """Return the parameters of a mode's context, with what each has to be, or None for another function."""
    for start in range(len(function.path)):
        name = ".".join(function.path[start:])
        stated = name_meaning(NameSort.CONTEXT_OF_MODE, name, function.owner)
        if stated is not None:
            return dict(each.split("=", 1) for each in stated.split(","))
    return None


def make_context(
    reader: SourceReader, node: ast.AST, function: DottedName, args: Sequence[ReadValue],
    keywords: Mapping[str, ReadValue],
) -> ReadValue:  # fmt: skip
    """Return the context that a function of a library makes, or MISSING for another function.

    Raises ProgramError for arguments of which no system knows the rules.
    """
    parameters = find_parameters(function)
    if parameters is None:
        is_known = function.owner is not None or function.path[0] in sys.stdlib_module_names
        is_other = is_identity(function.path[-1], function.owner)  # `torch.device("cpu")` gives its text
        return ContextValue() if is_known and is_neutral_context(function) and not is_other else MISSING
    name = function.path[-1]
    listed: dict[str, Any] = {**dict(zip(parameters, args, strict=False)), **keywords}
    if len(args) > len(parameters) or not {*listed} <= {*parameters}:
        raise reader.error(node, f"{name} takes {', '.join(parameters)}; give those")
    given = {key: reader.known(x) for key, x in listed.items() if x is not None}
    for key, needed in parameters.items():
        if needed == MODE_SWITCH and not isinstance(given.get(key, True), (bool, int)):
            raise reader.error(node, f"{key} is not known here; write the lines for either case")
        if needed == MODE_SWITCH and not given.get(key, True):
            return ContextValue(switches_mode=True)
    needs = {key: needed for key, needed in parameters.items() if needed not in NOT_COMPARED}
    if NEVER_ASKED in needs.values() or any(
        _name_argument(given.get(key, needed)) != needed for key, needed in needs.items()
    ):
        asked = name_meanings(NameSort.CONTEXT_OF_MODE)[function.owner or "*", name].split(",")
        known = [each.replace("=", " ") for each in asked if each.partition("=")[2] not in NOT_COMPARED]
        what = f"the rules of {name} were asked for {' and '.join(known)} alone"
        raise reader.error(node, f"{what}; give those, or write its lines without it")
    return ContextValue(Mode(name, function.owner or ""), switches_mode=True)


def _name_argument(value: Any) -> str:
    """Return the text of an argument: a text without the number of a device, or the name of a dtype."""
    if isinstance(value, NamedDType):
        return value.name
    return value.partition(":")[0] if isinstance(value, str) else ""


def put_in_context(
    reader: SourceReader, node: ast.AST, context: ContextValue, args: list[Any], keywords: dict[str, Any]
) -> PythonFunction:  # fmt: skip
    """Read a context as a decorator: return the function, called within it. Raises ProgramError."""
    if len(args) != 1 or keywords:
        raise reader.error(node, "a context takes the function that it decorates; give one")

    def compute(reader: SourceReader, node: ast.AST, *args_: Any, **keywords_: Any) -> Reading:
        before = reader.builder.mode
        context.enter(reader.builder)
        try:
            return (yield reader.call(node, args[0], [*args_], keywords_, Scope()))
        finally:
            reader.builder.mode = before

    return PythonFunction("context", compute)
