"""What names mean in Python source, and how source is read: by generators that yield those of their parts.

What is read by recursion elsewhere is a generator here, and `run` keeps them on a stack of its own, so that
no depth of code is too deep. What has no parts is read at once, and yielded as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from types import GeneratorType
from typing import Any, TypeAlias

from typelattice.facts.libraries import library_of
from typelattice.programs.dtype_questions import Limits
from typelattice.programs.several import Several
from typelattice.programs.step import Argument, Ref

ALIASES = {
    "np": "numpy",
    "jnp": "jax",
    "tf": "tensorflow",
    "da": "dask",
    "cp": "cupy",
    "mx": "mlx",
    "ndx": "ndonnx",
}
LENGTH = 100_000  # of a range that a loop runs over
ASKS = "asks for the value of an array, and its steps depend on that"
WHERE = "write where(condition, x, y), or each branch as a program of its own"


Scope: TypeAlias = MutableMapping[str, Any]  # what names are bound to


@dataclass(frozen=True, slots=True)
class Dotted:
    """A name that is bound to nothing here: a library, a function of one, or a dtype that a file defines."""

    path: tuple[str, ...]

    @property
    def owner(self) -> str | None:
        """The library that it belongs to."""
        return library_of(ALIASES.get(self.path[0], self.path[0]))


@dataclass(frozen=True, slots=True)
class Function:
    """A function that the source defines."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope

    @property
    def name(self) -> str:
        """What it is called."""
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "the lambda"

    @property
    def lines(self) -> Sequence[ast.stmt]:
        """Its lines: of a lambda the one that returns its expression."""
        if isinstance(self.node, ast.FunctionDef):
            return self.node.body
        return [ast.Return(value=self.node.body)]


@dataclass(frozen=True, slots=True)
class Method:
    """A method of an array, before it is called."""

    of: Ref
    name: str


@dataclass(frozen=True, slots=True)
class Elements:
    """`x.at[key]`, elements that a new array has others of: JAX's way to write."""

    of: Ref
    key: Argument


Read: TypeAlias = "Argument | Dotted | Elements | Function | Limits | Mapping[Any, Any] | Method | Several"
Reading: TypeAlias = Generator[Any, Any, Any]


def run(reading: Reading) -> Any:
    """What a reading comes to, with all the readings that it yields."""
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
