"""The source text of a module as it ran. The texts of steps are parts of it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from io import StringIO

from typelattice.base.rendering.grid import printable
from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.run_data.written_operation import WrittenOperation


@dataclass(frozen=True, eq=False)
class SourceText:
    """A source text, which is read on first use. Most modules' texts are never read."""

    read: Callable[[], str]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines, each with its end."""
        return tuple(split_lines(self.read()))

    def text_at(self, location: SourceLocation | WrittenOperation) -> str:
        """Return the text of an operation, on one line."""
        parts = list(self.lines[location.line - 1 : location.end_line])
        if not parts:
            return ""
        parts[-1] = _cut_columns(parts[-1], 0, location.end_column)
        parts[0] = _cut_columns(parts[0], location.column, None)
        return printable("".join(parts))

    def operand_text(self, operation: WrittenOperation, position: int) -> str:
        """Return the text of one operand of an operation, or "" if it is not known."""
        text = self.text_at(operation)
        try:
            node = ast.parse(text.partition(" = ")[2] or text).body[0]
        except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
            return ""
        found = _list_operands(node.value if isinstance(node, ast.Expr) else node)
        for i, *_ in reversed(operation.lists):
            # the first entry is the function, or the object of the method
            for listed in found[i + 1 : i + 2]:
                found[i + 1 : i + 2] = listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else [listed]
        is_dtype_owner = position - 1 in operation.dtype_owners
        position = operation.argument_position(position)
        if position >= len(found):
            return ""
        operand = found[position]
        if is_dtype_owner and isinstance(operand, ast.Attribute):
            operand = operand.value
        return ast.get_source_segment(text, operand) or ast.unparse(operand)


def split_lines(source: str) -> list[str]:
    r"""Split a source into the lines that Python counts, each with its end.

    `str.splitlines` also splits at form feeds and other characters.

    >>> split_lines("x = 1\n\fy = 2\r\n")
    ['x = 1\n', '\x0cy = 2\r\n']
    """
    return [*StringIO(source, newline="")]


def _list_operands(node: ast.AST) -> list[ast.AST]:
    match node:
        case ast.BinOp(left=a, right=b) | ast.Compare(left=a, comparators=[b]):
            return [a, b]
        case ast.AugAssign(target=a, value=b):
            return [a, b]
        case ast.UnaryOp(operand=a) | ast.Attribute(value=a):
            return [a]
        case ast.Subscript(value=a, slice=b):
            return [a, b]
        case ast.Call(func=f, args=args, keywords=keywords):
            owner: list[ast.AST] = [f.value if isinstance(f, ast.Attribute) else f]
            return [*owner, *args, *(k.value for k in keywords)]
    return []


def _cut_columns(line: str, start: int, end: int | None) -> str:
    """Return the part of a line between two columns, which count bytes."""
    if line.isascii():
        return line[start:end]
    return line.encode("utf-8", "surrogatepass")[start:end].decode("utf-8", "replace")
