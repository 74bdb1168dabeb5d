"""The source of a file with the nodes of its syntax tree, and edits that leave every other byte as it is."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path

from typelattice.calls.step import LONGEST
from typelattice.facts.errors import TypelatticeError
from typelattice.rendering.grid import printable

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Tuple)
"""Expressions after which `.astype(...)` may stand without parentheses; tuples bring their own."""
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
OF_ARRAYS = {"shape", "ndim", "dtype", "size", "T"}
"""Attributes that a function asks of an array."""
MARK = b"\xef\xbb\xbf"  # that a file is UTF-8, at its beginning


class FixError(TypelatticeError, ValueError):
    """A program that cannot be patched, or a file that cannot be changed."""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """A replacement of the bytes from `start` to `end`; an insertion where both are equal.

    `old` is the text that was there.
    """

    start: int
    end: int
    text: str
    old: str = ""


@dataclass(frozen=True, eq=False)
class Source:
    """The bytes of a Python file. Raises FixError for one that is no UTF-8, or no Python."""

    path: Path
    content: bytes

    def __post_init__(self) -> None:
        try:
            encoding, _ = tokenize.detect_encoding(BytesIO(self.content).readline)
        except SyntaxError as e:
            encoding = str(e)
        if encoding in ("utf-8", "utf-8-sig"):
            try:
                self.content.decode("utf-8")
            except UnicodeDecodeError as e:
                encoding = e.reason
        if encoding not in ("utf-8", "utf-8-sig"):
            raise FixError(f"{self.path} is not UTF-8 ({encoding}): save it as UTF-8, or patch it by hand")

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.content.removeprefix(MARK))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node around each node."""
        return {inner: node for node in ast.walk(self.tree) for inner in ast.iter_child_nodes(node)}

    @cached_property
    def starts(self) -> list[int]:
        """The byte at which each line begins."""
        first = len(MARK) if self.content.startswith(MARK) else 0
        lines = self.content.removeprefix(MARK).splitlines(keepends=True)
        found = [first]
        for line in lines:
            found.append(found[-1] + len(line))
        return found

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The bytes of a node, from the first to the one after the last."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.content[start:end].decode("utf-8")

    def nodes(self, line: int, text: str) -> list[ast.expr | ast.stmt]:
        """Find the nodes of a text in the statements that a line is part of, those that begin there first."""
        found = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, (ast.expr, ast.stmt))
            and node.lineno <= line + len(text)
            and (node.end_lineno or 0) >= line
            and printable(self.text(node))[:LONGEST] == text
        ]
        return sorted(found, key=lambda node: (abs(node.lineno - line), isinstance(node, ast.Expr)))

    def scope(self, node: ast.AST) -> ast.AST:
        """The function, class or module in whose scope a node stands."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, SCOPES):
                return node
        return node

    def names_before(self, node: ast.expr | ast.stmt) -> set[str]:
        """The parameters of the function around a node, and the names that it binds above the node's line."""
        scope = self.scope(node)
        found: set[str] = set()
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found |= {a.arg for a in ast.walk(scope.args) if isinstance(a, ast.arg)}
        for inner in ast.walk(scope):
            bound = isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
            if bound and isinstance(inner, ast.Name) and inner.lineno < node.lineno:
                found.add(inner.id)
        return found

    def arrays_at_hand(self, node: ast.expr | ast.stmt) -> list[str]:
        """The names that the function around a node has asked for a shape or the like, last first."""
        scope = self.scope(node)
        if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return []
        asked = [
            (inner.lineno, inner.value.id)
            for inner in ast.walk(scope)
            if isinstance(inner, ast.Attribute)
            and isinstance(inner.value, ast.Name)
            and inner.attr in OF_ARRAYS
            and inner.lineno <= node.lineno
            and self.scope(inner) is scope
        ]
        return [*dict.fromkeys(name for _, name in sorted(asked, reverse=True))]

    def aliases(self) -> Iterator[tuple[str, str]]:
        """Each name that an import binds, with the module that it stands for."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    yield alias.asname or whole, whole
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"

    def apply_edits(self, edits: Sequence[Edit]) -> bytes:
        """The content with some edits."""
        content = self.content
        for edit in sorted(edits, reverse=True):
            content = content[: edit.start] + edit.text.encode("utf-8") + content[edit.end :]
        return content

    def replace_expression(self, node: ast.expr, text: str) -> Edit:
        """The edit that puts a text in the place of an expression."""
        return Edit(*self.span(node), text, self.text(node))

    def with_keyword(self, call: ast.Call, keyword: str) -> Edit:
        """The edit that adds a keyword argument to a call."""
        _, end = self.span(call)
        given = [*call.args, *(k.value for k in call.keywords)]
        if not given:
            return Edit(end - 1, end - 1, keyword)
        last = max(self.span(node)[1] for node in given)
        between = self.content[last : end - 1]
        while between.lstrip()[:1] == b")":  # the last argument stands in parentheses
            last += between.index(b")") + 1
            between = self.content[last : end - 1]
        return Edit(last, last, f", {keyword}")

    def operand_text(self, node: ast.expr) -> str:
        """The text of an expression, in parentheses where a method is to follow and it needs them."""
        text = self.text(node)
        return text if isinstance(node, ATOMS) and not text.startswith("*") else f"({text})"
