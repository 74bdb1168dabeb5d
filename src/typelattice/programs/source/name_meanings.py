"""Meanings of names in Python source, and the generators that read expressions.

Generators replace recursion here. `run` keeps them on a stack of its own, so that code may nest to any depth.
An expression without parts is read at once, and yielded as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import GeneratorType
from typing import Any, TypeAlias

from typelattice.calls.call_tables import NameSort, name_meaning
from typelattice.calls.multiple_results import MultipleResults
from typelattice.calls.steps import Argument, Ref
from typelattice.facts.libraries import library_of
from typelattice.programs.source.dtype_questions import DTypeLimits

MAX_RANGE_LENGTH = 100_000  # longest range of a loop
NEEDS_VALUES_MESSAGE = "needs the values of an array, which a program does not have"
BRANCH_REMEDY = "write where(condition, x, y), or each branch as a program of its own"


Scope: TypeAlias = MutableMapping[str, Any]  # the objects that names are bound to


@dataclass(frozen=True, slots=True)
class DottedName:
    """An unbound name: a library, a function of one, or a dtype that a file defines."""

    path: tuple[str, ...]

    @property
    def owner(self) -> str | None:
        """The library that it belongs to."""
        return library_of_name(self.path[0])


@lru_cache(1024)
def library_of_name(name: str) -> str | None:
    """Find the library that code imports by a name."""
    return library_of(name_meaning(NameSort.IMPORT_ALIAS, name, None) or name)


@dataclass(frozen=True, slots=True)
class DefinedFunction:
    """A function that the source defines."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope

    @property
    def name(self) -> str:
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "the lambda"

    @property
    def statements(self) -> Sequence[ast.stmt]:
        """Its lines. For a lambda, the line that returns its expression."""
        if isinstance(self.node, ast.FunctionDef):
            return self.node.body
        return [ast.Return(value=self.node.body)]


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method of an array, before it is called."""

    receiver: Ref
    name: str


@dataclass(frozen=True, slots=True)
class IndexUpdateRef:
    """The elements `x.at[key]`, which JAX replaces in a new array."""

    array: Ref
    key: Argument


def library_used_by(lines: Sequence[ast.stmt]) -> str | None:
    """Return the library that the source uses. NumPy counts only if the source uses no other library.

    The result is None if it uses none, or several: then nobody knows which library's arrays the inputs are.

    >>> library_used_by(ast.parse("torch.relu(x) * np.float64(2)").body)
    'torch'
    """
    owners: set[str] = set()
    for line in lines:
        for node in ast.walk(line):
            match node:
                case ast.Attribute(value=ast.Name(id=name)):
                    names = [name]
                case ast.Import(names=modules):
                    names = [each.name.partition(".")[0] for each in modules]
                case ast.ImportFrom(module=str(module)):
                    names = [module.partition(".")[0]]
                case _:
                    continue
            owners |= {owner for name in names if (owner := DottedName((name,)).owner)}
    others = owners - {"numpy"}
    return (others or owners).pop() if len(others or owners) == 1 else None


ReadValue: TypeAlias = (
    "Argument | DottedName | IndexUpdateRef | DefinedFunction | DTypeLimits | Mapping[Any, Any] | BoundMethod"
    " | MultipleResults"
)
Reading: TypeAlias = Generator[Any, Any, Any]


def run_reading(reading: Reading) -> Any:
    """Run a generator and each generator it yields, without recursion. Return the first one's result."""
    stack, value = [reading], None
    while stack:
        try:
            found = stack[-1].send(value)
        except StopIteration as done:
            stack.pop()
            value = done.value
            continue
        if isinstance(found, GeneratorType):
            stack.append(found)
            value = None
        else:
            value = found
    return value


def list_defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    """Return the expressions of a function's default values, by the names of the parameters."""
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    found = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found | {a.arg: default for a, default in pairs if default is not None}
