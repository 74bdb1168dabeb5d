"""The libraries that a source names, by its imports and by the modules it uses."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from typelattice.programs.readers.source.python_values import library_of_name


def library_used_by(lines: Sequence[ast.stmt]) -> str | None:
    """Return the library that the source uses. NumPy counts only if the source uses no other library.

    The result is None if it uses none, or several: then nobody knows which library's arrays the inputs are.

    >>> library_used_by(ast.parse("torch.relu(x) * np.float64(2)").body)
    'torch'
    """
    owners = libraries_named_by(lines)
    others = owners - {"numpy"}
    return (others or owners).pop() if len(others or owners) == 1 else None


def libraries_named_by(lines: Sequence[ast.stmt]) -> set[str]:
    """Return all libraries that the source imports, or whose modules it names."""
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
            owners |= {owner for name in names if (owner := library_of_name(name))}
    return owners
