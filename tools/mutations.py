"""Makes small changes to a module's syntax tree. A test should notice each."""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Pow: ast.Mult, ast.Mod: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
Change = tuple[str, ast.AST, Callable[[], None]]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change to one file: its lines, what it does, and the numbers by which a fresh tree finds it."""

    path: Path
    first: int
    last: int
    what: str
    node: int
    change: int

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}:{self.first}: {self.what}"

    def tree(self) -> ast.Module:
        """The file's tree with the change made; a node of -1 is no change."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        if self.node < 0:
            return tree
        node = list(nodes(tree))[self.node]
        list(changes(node))[self.change][2]()
        return ast.fix_missing_locations(tree)


def unchanged(path: Path) -> Mutation:
    """No change, to the whole of a file: no test may notice it."""
    return Mutation(path, 1, len(path.read_text(encoding="utf-8").splitlines()), "unchanged", -1, 0)


def mutations(path: Path) -> Iterator[Mutation]:
    """Every change to a file, in the order of its nodes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for i, node in enumerate(nodes(tree)):
        for k, (what, place, _) in enumerate(changes(node)):
            lines = [n.lineno for n in ast.walk(place) if hasattr(n, "lineno")]
            yield Mutation(path, min(lines), max(lines), what, i, k)


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but annotations and decorators, which say how to read a function rather than what it does."""
    yield tree
    for field, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST) and field not in ("annotation", "returns", "decorator_list"):
                yield from nodes(child)


def changes(node: ast.AST) -> Iterator[Change]:
    """What can be changed at this node: a description, the part of the tree that has to run, the change."""
    yield from _operators(node)
    yield from _conditions(node)
    yield from _values(node)
    yield from _statements(node)


def _operators(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            if type(op) in SWAPS:
                other = SWAPS[type(op)]()
                yield "comparison turned", node, partial(node.ops.__setitem__, i, other)
    if isinstance(node, (ast.BoolOp, ast.BinOp, ast.AugAssign)) and type(node.op) in SWAPS:
        yield "operator swapped", node, lambda: setattr(node, "op", SWAPS[type(node.op)]())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not dropped", node, lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert)):
        yield "sign dropped", node, lambda: setattr(node, "op", ast.UAdd())


def _conditions(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield "condition negated", node.test, lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.comprehension) and node.ifs:
        yield "filter dropped", node, lambda: setattr(node, "ifs", [])
    if isinstance(node, ast.Match):
        for case in node.cases:
            if len(node.cases) > 1:
                yield "case dropped", case.pattern, partial(setattr, case, "guard", ast.Constant(False))
            if case.guard:
                yield "guard dropped", case.guard, partial(setattr, case, "guard", None)


def _values(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Return) and not (
        isinstance(node.value, ast.Constant) and node.value.value is None
    ):
        yield "returns None", node, lambda: setattr(node, "value", ast.Constant(None))
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        new = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{node.value} -> {new}", node, lambda: setattr(node, "value", new)
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield f"{node.id} -> {NAMES[node.id]}", node, lambda: setattr(node, "id", NAMES[node.id])


def _statements(node: ast.AST) -> Iterator[Change]:
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        for i, child in enumerate(block if isinstance(block, list) else ()):
            called = isinstance(child, ast.Expr) and isinstance(child.value, ast.Call)
            if called or isinstance(child, (ast.Raise, ast.AugAssign)):
                what = f"{type(child).__name__.lower()} dropped"
                yield what, child, partial(block.__setitem__, i, ast.Pass())
