"""Who calls a function: the calls by its name, and what each passes as a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from typelattice.tracing.source.dtype_arguments import name_of_called
from typelattice.tracing.source.source_file import PARAMETERS_WITHOUT_ARRAY, FunctionNode, SourceFile


@dataclass(frozen=True, slots=True)
class PassedArgument:
    """A call of a function, and what it passes as a parameter: None if it leaves it to the default."""

    file: str
    call: ast.Call
    value: ast.expr | None


def list_parameters(function: FunctionNode) -> list[str]:
    """Return the parameters. `*args` comes after the positional ones."""
    arguments = function.args
    starred = [arguments.vararg] if arguments.vararg else []
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *starred, *arguments.kwonlyargs)]


def list_passed_arguments(
    function: FunctionNode, parameter: str, sources: Mapping[str, SourceFile]
) -> Iterator[PassedArgument]:
    """List the calls of a function by its name, or of a class by the class's, with what they pass.

    The search reads only the source, so a call may be one that never ran.
    """
    if parameter not in list_parameters(function):
        return
    positional = [name for name in list_parameters(function) if name not in _list_keyword_only(function)]
    is_method = positional[:1] and positional[0] in PARAMETERS_WITHOUT_ARRAY
    own = positional[1:] if is_method else positional
    for file, source in sources.items():
        if function.name.encode() not in source.content and function.name != "__init__":
            continue
        name = function.name
        if name == "__init__":
            around = source.parent_by_node.get(function)
            name = around.name if isinstance(around, ast.ClassDef) else ""
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and name_of_called(node) == name:
                yield PassedArgument(file, node, _find_passed(node, parameter, own))


def _find_passed(call: ast.Call, parameter: str, positional: list[str]) -> ast.expr | None:
    """Find what a call passes as a parameter by its name or position."""
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    position = positional.index(parameter) if parameter in positional else len(call.args)
    before = call.args[: position + 1]
    if position < len(call.args) and not any(isinstance(x, ast.Starred) for x in before):
        return call.args[position]
    return None


def _list_keyword_only(function: FunctionNode) -> list[str]:
    return [a.arg for a in function.args.kwonlyargs]
