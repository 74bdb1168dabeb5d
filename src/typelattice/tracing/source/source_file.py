"""The source of a file with the nodes of its syntax tree, and edits that keep every other byte."""

from __future__ import annotations

import ast
import warnings
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property, lru_cache

from typelattice.base.rendering.grid import printable
from typelattice.programs.calls.steps import MAX_STEP_CHARS
from typelattice.programs.readers.source.expressions import list_defaults

NODES_WITHOUT_PARENTHESES = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Tuple)
"""Expressions that need no parentheses before `.astype(...)`. Tuples have their own."""
PARAMETERS_WITHOUT_ARRAY = ("self", "cls")  # the first parameter of a method
MAX_NAMES_TRIED = 3  # names of arrays that are tried in `dtype=x.dtype`
SCOPE_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
FUNCTIONS_OF_SHAPES = ("zeros", "ones", "empty", "full")  # their first argument is a shape
LOOP_NODES = (ast.For, ast.AsyncFor, ast.comprehension)
ARRAY_ATTRIBUTES = {"shape", "ndim", "dtype", "size", "T"}
"""Attributes of arrays: a name with one of these is taken for an array."""
MAX_PARSED_SOURCES = 64  # sources whose trees are kept
MAX_SOURCE_LINES = 20_000  # longest source that is parsed
UTF8_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # first bytes of a file that mark it as UTF-8
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """A replacement of the bytes from `start` to `end`, or an insertion if both are equal.

    `old_text` is the text that was there.
    """

    start: int
    end: int
    text: str
    old_text: str = ""


@dataclass(frozen=True, eq=False)
class SourceFile:
    """The bytes of a Python file, which are UTF-8.

    `is_imported` is True if other files may use its names, as it is not the script itself.
    """

    content: bytes
    is_imported: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.content.removeprefix(UTF8_BYTE_ORDER_MARK))

    def check_syntax(self) -> None:
        """Compile the file. Raises SyntaxError or ValueError if it is not Python.

        The parser alone accepts a keyword that is passed twice.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the program shows its own
            compile(self.tree, "<source>", "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)

    @cached_property
    def parent_by_node(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node."""
        return {inner: node for node in ast.walk(self.tree) for inner in ast.iter_child_nodes(node)}

    @cached_property
    def line_starts(self) -> list[int]:
        """The first byte of each line."""
        first = len(UTF8_BYTE_ORDER_MARK) if self.content.startswith(UTF8_BYTE_ORDER_MARK) else 0
        lines = self.content.removeprefix(UTF8_BYTE_ORDER_MARK).splitlines(keepends=True)
        found = [first]
        for line in lines:
            found.append(found[-1] + len(line))
        return found

    def find_span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the first byte of a node, and the byte after its last."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self.line_starts[node.lineno - 1] + node.col_offset,
            self.line_starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def line_of_byte(self, byte: int) -> int:
        """Return the number of the line of a byte, counted from 1."""
        return bisect_right(self.line_starts, byte)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        start, end = self.find_span(node)
        return self.content[start:end].decode("utf-8")

    @cached_property
    def uses_by_name(self) -> dict[str, list[ast.AST]]:
        """The nodes that have a name or an attribute, by its text, as an operand, an argument or a target."""
        found: dict[str, list[ast.AST]] = {}
        for node, around in self.parent_by_node.items():
            if isinstance(node, (ast.Name, ast.Attribute)):
                user = self.parent_by_node[around] if isinstance(around, ast.keyword) else around
                found.setdefault(self.text(node), []).append(user)
        return found

    @cached_property
    def parts_by_line(self) -> dict[int, list[ast.AST]]:
        """The simple statements on each line, and the expressions in the heads of the other statements."""
        found: dict[int, list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt):
                for part in _list_parts(node):
                    for line in range(part.lineno, (part.end_lineno or part.lineno) + 1):
                        found.setdefault(line, []).append(part)
        return found

    def find_nodes(self, line: int, text: str) -> list[ast.expr | ast.stmt]:
        """Find the nodes with this text in the statements on a line, first the nodes that begin there."""
        found = {
            node
            for part in self.parts_by_line.get(line, ())
            for node in ast.walk(part)
            if isinstance(node, (ast.expr, ast.stmt)) and printable(self.text(node))[:MAX_STEP_CHARS] == text
        }
        return sorted(
            found,
            key=lambda node: (abs(node.lineno - line), isinstance(node, ast.Expr), node.col_offset),
        )

    def find_scope(self, node: ast.AST) -> ast.AST:
        """Return the function, class or module that is the scope of a node."""
        while node in self.parent_by_node:
            node = self.parent_by_node[node]
            if isinstance(node, SCOPE_NODES):
                return node
        return node

    def find_function(self, node: ast.AST) -> FunctionNode | None:
        """Return the function that a node is in the body of, or None."""
        scope = self.find_scope(node)
        while isinstance(scope, (ast.Lambda, ast.ClassDef)):
            scope = self.find_scope(scope)
        return scope if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) else None

    def find_statement(self, node: ast.AST) -> ast.AST:
        """Return the statement around an expression, or the node itself if it is a statement."""
        while not isinstance(node, ast.stmt) and node in self.parent_by_node:
            node = self.parent_by_node[node]
        return node

    def list_targets(self, node: ast.AST) -> list[str]:
        """List the texts of what the statement around a node assigns to."""
        statement = self.find_statement(node)
        match statement:
            case ast.Assign(targets=targets):
                found = targets
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                found = [target]
            case _:
                found = []
        return [self.text(inner) for target in found for inner in getattr(target, "elts", [target])]

    def is_in_body(self, node: ast.AST, function: FunctionNode | ast.Lambda) -> bool:
        """Return True if a node is in the body of a function, and not among its defaults or decorators."""
        while self.parent_by_node.get(node) is not function:
            node = self.parent_by_node[node]
        return node is function.body if isinstance(function, ast.Lambda) else node in function.body

    def is_in_loop(self, node: ast.AST) -> bool:
        """Return True if a node is in a loop of the function or module around it."""
        scope = self.find_scope(node)
        while node is not scope and node in self.parent_by_node:
            node = self.parent_by_node[node]
            if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
                return True
        return False

    def is_read_in_function(self, name: str) -> bool:
        """Return True if a function or a class of the file uses a name of the module."""
        return name in self.names_read_in_scopes

    def is_updated_from_itself(self, name: str) -> bool:
        """Return True if a statement of the file computes an attribute or an element from its own value."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.AugAssign) and self.text(node.target).startswith(name):
                return True
            if isinstance(node, ast.Assign):
                targets = [self.text(target) for target in node.targets]
                if any(t == name or t.startswith(f"{name}[") for t in targets) and any(
                    isinstance(inner, (ast.Attribute, ast.Subscript)) and self.text(inner) == name
                    for inner in ast.walk(node.value)
                ):
                    return True
        return False

    def is_unpacked(self, node: ast.expr) -> bool:
        """Return True if an expression is assigned to several names: its value may be a tuple."""
        around = self.parent_by_node.get(node)
        targets = around.targets if isinstance(around, ast.Assign) else []
        return any(isinstance(target, (ast.Tuple, ast.List)) for target in targets)

    def list_names_before(self, node: ast.expr | ast.stmt) -> set[str]:
        """List the parameters of the function around a node, and the names bound above the node's line."""
        scope = self.find_scope(node)
        found: set[str] = set()
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if not self.is_in_body(node, scope):
                return found  # a default or a decorator, which is computed before the function is called
            found |= {a.arg for a in ast.walk(scope.args) if isinstance(a, ast.arg)}
        for inner in list_nodes_of_scope(scope):
            bound = isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
            if bound and isinstance(inner, ast.Name) and inner.lineno < node.lineno:
                found.add(inner.id)
        return found

    def list_names_used_as_arrays(self, function: FunctionNode, line: int) -> list[str]:
        """List what a function uses like an array up to a line, such as `x` by `x.shape`, the last one first.

        The element of a list, such as `frames[0]`, counts as a name.
        """
        uses = [
            (inner.lineno, self.text(inner.value))
            for inner in list_nodes_of_scope(function)
            if isinstance(inner, ast.Attribute)
            and _is_name_or_element(inner.value)
            and inner.attr in ARRAY_ATTRIBUTES
            and inner.lineno <= line
        ]
        return [*dict.fromkeys(name for _, name in sorted(uses, reverse=True))]

    def list_arrays_at_hand(self, node: ast.expr | ast.stmt) -> list[str]:
        """List the names that may be arrays in the function around a node, the likeliest first.

        Parameters with array attributes that the function uses, such as a shape, come before its other
        parameters. Names used as counts come last: arguments of the node itself, and arguments of `range`.
        Left out are names of lengths in the shape of a new array, and parameters that the function iterates
        over: they may be lists.
        """
        scope = self.find_scope(node)
        if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return []
        defaults = list_defaults(scope.args)
        given = [a.arg for a in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)]
        given = [name for name in given if not isinstance(defaults.get(name), ast.Constant)]
        known = self.list_names_before(node)
        ranges = [n for n in ast.walk(scope) if isinstance(n, ast.Call) and self.text(n.func) == "range"]
        counts = {n.id for call in (node, *ranges) for n in ast.walk(call) if isinstance(n, ast.Name)}
        iterated = {self.text(node.iter) for node in ast.walk(scope) if isinstance(node, LOOP_NODES)}
        without_array = {*PARAMETERS_WITHOUT_ARRAY, *iterated}
        others = sorted((name for name in given if name not in without_array), key=counts.__contains__)
        found = [*self.list_names_used_as_arrays(scope, node.lineno), *others]
        left_out = {*list_lengths(node), *self.names_of_objects}
        at_hand = [x for x in dict.fromkeys(found) if x.partition("[")[0] in known and x not in left_out]
        return at_hand[:MAX_NAMES_TRIED]

    @cached_property
    def names_of_objects(self) -> frozenset[str]:
        """The names of what is no array: what the file calls, such as a model, or makes by its class.

        A name that the file computes with, or whose shape it reads, may be an array of that class.
        """
        found: set[str] = set()
        arrays: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found.add(node.func.id)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                called = self.text(node.value.func).rpartition(".")[2]
                found |= {x.id for x in node.targets if isinstance(x, ast.Name) and called[:1].isupper()}
            elif isinstance(node, ast.BinOp):
                arrays |= {x.id for x in (node.left, node.right) if isinstance(x, ast.Name)}
            elif isinstance(node, ast.Attribute) and node.attr in ARRAY_ATTRIBUTES:
                arrays.add(self.text(node.value))
        return frozenset(found - arrays)

    @cached_property
    def names_of_numbers(self) -> frozenset[str]:
        """The names that the file binds to a written number alone, such as `TINY = 1e-15`."""
        found: dict[str, bool] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.arg):
                found[node.arg] = False
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                around = self.parent_by_node.get(node)
                value = around.value if isinstance(around, (ast.Assign, ast.AnnAssign)) else None
                value = value.operand if isinstance(value, ast.UnaryOp) else value
                is_number = isinstance(value, ast.Constant) and isinstance(value.value, (int, float, complex))
                found[node.id] = is_number and found.get(node.id, True)
        return frozenset(name for name, is_number in found.items() if is_number)

    @cached_property
    def import_aliases(self) -> tuple[tuple[str, str], ...]:
        """Each name that an import binds, with the module that it stands for."""
        return tuple(self._list_import_aliases())

    def _list_import_aliases(self) -> Iterator[tuple[str, str]]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    yield alias.asname or whole, whole
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"

    @cached_property
    def names_with_attributes(self) -> frozenset[str]:
        """The names of which the file uses an attribute, as it does of modules."""
        return frozenset(
            node.value.id
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        )

    @cached_property
    def functions(self) -> tuple[FunctionNode, ...]:
        """The functions of the file, the outer ones before the inner ones."""
        return tuple(
            node for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        )

    @cached_property
    def names_read_in_scopes(self) -> frozenset[str]:
        """The names that functions and classes of the file use."""
        return frozenset(
            inner.id
            for node in ast.walk(self.tree)
            if isinstance(node, SCOPE_NODES) and not isinstance(node, ast.Module)
            for inner in ast.walk(node)
            if isinstance(inner, ast.Name)
        )

    def apply_edits(self, edits: Sequence[Edit]) -> bytes:
        """Return the content with some edits."""
        return apply_edits(self.content, edits)

    def text_of_changed_line(self, line: int, edits: Iterable[Edit]) -> str:
        """Return the text of a line with some of the edits on it: those that do not change the same bytes."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.content)
        applied: list[Edit] = []
        for edit in sorted(edits):
            if start <= edit.start and edit.end <= end and (not applied or applied[-1].end <= edit.start):
                applied.append(edit)
        moved = [Edit(e.start - start, e.end - start, e.text) for e in applied]
        return apply_edits(self.content[start:end], moved).decode("utf-8", "replace").rstrip("\r\n")

    def edited(self, edits: Sequence[Edit]) -> SourceFile:
        """Return the file with some edits."""
        return replace(self, content=self.apply_edits(edits))

    def make_replacement_edit(self, node: ast.expr, text: str) -> Edit:
        """Return the edit that puts a text in the place of an expression."""
        return Edit(*self.find_span(node), text, self.text(node))

    def make_keyword_edit(self, call: ast.Call, keyword: str) -> Edit:
        """Return the edit that adds a keyword argument to a call."""
        _, end = self.find_span(call)
        given = [*call.args, *(k.value for k in call.keywords)]
        if not given:
            return Edit(end - 1, end - 1, keyword)
        last = max(self.find_span(node)[1] for node in given)
        between = self.content[last : end - 1]
        while between.lstrip()[:1] == b")":  # the last argument is in parentheses
            last += between.index(b")") + 1
            between = self.content[last : end - 1]
        return Edit(last, last, f", {keyword}")

    def operand_text(self, node: ast.expr) -> str:
        """Return the text of an expression, in parentheses if a method call after it needs them."""
        text = self.text(node)
        return (
            text if isinstance(node, NODES_WITHOUT_PARENTHESES) and not text.startswith("*") else f"({text})"
        )


def _is_name_or_element(node: ast.expr) -> bool:
    """Return True for a name, or for the element of a name at a fixed place."""
    match node:
        case ast.Name() | ast.Subscript(value=ast.Name(), slice=ast.Constant(value=int())):
            return True
    return False


def _list_parts(statement: ast.stmt) -> Iterator[ast.expr | ast.stmt]:
    """Yield a simple statement itself, and the expressions in the head of a statement with others in it."""
    children = [*ast.iter_child_nodes(statement)]
    if not any(isinstance(x, (ast.stmt, ast.match_case, ast.ExceptHandler)) for x in children):
        yield statement
    for child in children:
        # arguments and items of `with` have no lines of their own
        for each in (child,) if hasattr(child, "lineno") else ast.walk(child):
            if isinstance(each, ast.expr):
                yield each


@lru_cache(MAX_PARSED_SOURCES)
def parse_source(text: str, is_imported: bool = False) -> SourceFile | None:
    """Parse a source, or return None if it is too long or is not Python, as a cell with a magic."""
    if text.count("\n") > MAX_SOURCE_LINES:
        return None
    source = SourceFile(text.encode("utf-8", "surrogatepass"), is_imported)
    try:
        _ = source.tree
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return source


def list_lengths(node: ast.AST) -> set[str]:
    """List the names that are lengths in the shape of a new array, such as `n` in `zeros((n, len(x)))`."""
    if not isinstance(node, ast.Call) or not node.args:
        return set()
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in FUNCTIONS_OF_SHAPES:
        return set()
    shape = node.args[0]
    lengths = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
    return {each.id for each in lengths if isinstance(each, ast.Name)}


def list_nodes_of_scope(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without the nodes of functions and classes in it.

    The targets of a comprehension are left out, since they are bound within it alone.
    """
    for node in ast.iter_child_nodes(scope):
        if isinstance(scope, ast.comprehension) and node is scope.target:
            continue
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from list_nodes_of_scope(node)


def apply_edits(content: bytes, edits: Sequence[Edit]) -> bytes:
    """Return a content with some edits."""
    for edit in sorted(edits, reverse=True):
        content = content[: edit.start] + edit.text.encode("utf-8") + content[edit.end :]
    return content


def map_lines(new_content: bytes, old_content: bytes) -> dict[int, int]:
    r"""Map the numbers of a content's lines to those of an older content, if the two differ by lines.

    >>> map_lines(b"a\nnew\nb", b"a\nb")
    {1: 1, 2: 2, 3: 2}
    """
    new, old = new_content.splitlines(), old_content.splitlines()
    if len(new) == len(old):
        return {}
    found: dict[int, int] = {}
    for _, i, j, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        found |= {line + 1: min(i + line - start, max(i, j - 1)) + 1 for line in range(start, end)}
    return found
