"""Rewriting of a module's syntax tree: a call after each operation reports it to a witness.

`a + b` becomes `witness.record_binary(a, b, COPY + COPY)`. The copies are marks. `bytecode` turns them into
instructions that copy values from the stack. So the operation itself runs in the same frame and on the same
line as before, without new names or frames. Tracebacks, warnings, `locals()` and `super()` do not change.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from itertools import count
from types import NoneType
from typing import Any

from typelattice.programs.readers.source.syntax_operators import OPERATOR_BY_SYNTAX
from typelattice.tracing.rewrite.nodes import (
    COPY_IN_PLACE,
    COPY_TARGET,
    COPY_TOP,
    LOAD,
    WITNESS_PREFIX,
    copy_mark,
    place_node,
    wrap_in_comparison,
)
from typelattice.tracing.rewrite.unsafe_rewrites import (
    ARRAYLESS_BUILTINS,
    MAX_ARGUMENTS,
    constants_of,
    keeps_evaluation_order,
    keeps_resizing_method,
    list_items,
    lists_of,
    node_at_call_line,
)
from typelattice.tracing.run_data.written_operation import OMITTED_ARGUMENTS, ListLiteral, OperationRow
from typelattice.tracing.source.dtype_arguments import find_dtype_argument

SYMBOL_CLASSES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
PLAIN_NODES = (ast.Name, ast.Constant, ast.arg, ast.Pass, ast.Break, ast.Continue, ast.Import, ast.ImportFrom)
NODES_WITHOUT_OPERATIONS = frozenset(  # the classes of nodes and fields with nothing to rewrite
    (NoneType, str, int, *PLAIN_NODES, ast.Global, ast.Nonlocal, ast.TypeIgnore)
).union(*(base.__subclasses__() for base in SYMBOL_CLASSES))
PYTHON_LOCATES_TRUTH_TESTS = sys.version_info >= (3, 12)  # Python itself gives it the value's location
CALL_METHODS = ("record_call_0", "record_call_1", "record_call_2")  # calls of 0, 1 and 2 arguments
COMPUTED_ATTRIBUTES = ("T", "mT", "H", "mH", "real", "imag")  # attributes that compute an array
NUMBER_ATTRIBUTES = ("value", "values", "magnitude")  # attributes that give the numbers of another class
LITERALS = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Constant)
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
NUMBER_ITERATORS = ("range", "enumerate", "zip", "reversed", "sorted", "map", "filter")  # they give no rows
CONTENT_ATTRIBUTES = ("data", "values")  # assigning these attributes gives an array other contents


class Rewriter:
    """A rewriting of one tree, in place.

    `rows` has the operations that it found, each with the fields of a WrittenOperation. A search of `text`,
    the source, often saves a walk through the tree.

    It is not an `ast.NodeTransformer`, which looks up the fields of each node: the import of a large package
    would take twice as long.
    """

    def __init__(self, tree: ast.Module, text: str) -> None:
        self.rows: list[OperationRow] = []
        self.reference_counters = {"getrefcount"}
        """The names of `sys.getrefcount` in this module."""
        self.keeps_resizing_method = ".resize" in text and keeps_resizing_method(tree)
        if "getrefcount" in text:
            self.reference_counters.update(
                alias.asname
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
                if alias.name == "getrefcount" and alias.asname
            )
        self.visits: dict[type, Callable[[Any], Any]] = {
            getattr(ast, name.removeprefix("visit_")): getattr(self, name)
            for name in dir(self)
            if name.startswith("visit_") and hasattr(ast, name.removeprefix("visit_"))
        }

    def visit(self, node: Any) -> Any:
        """Return the replacement of a node."""
        visit = self.visits.get(type(node))
        if visit is not None:
            return visit(node)
        return node if type(node) in NODES_WITHOUT_OPERATIONS else self.rewrite_children(node)

    def rewrite_children(self, node: Any) -> Any:
        """Replace the nodes within a node. Return the node."""
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                for i, each in enumerate(value):
                    if type(each) not in NODES_WITHOUT_OPERATIONS:
                        value[i] = self.visit(each)
            elif type(value) not in NODES_WITHOUT_OPERATIONS:
                setattr(node, name, self.visit(value))
        return node

    # -- replacements of operations

    def wrap_in_witness(
        self,
        node: Any,
        method: str,
        items: Sequence[ast.expr],
        inner: ast.expr | None,
        name: str = "",
        keywords: tuple[str | None, ...] = (),
        constants: tuple[tuple[int, Any], ...] = (),
        at: Any = None,
        lists: tuple[ListLiteral, ...] = (),
        dtype_owners: tuple[int, ...] = (),
    ) -> ast.expr:
        """Return a call of a witness's method with the items and, if given, the result of `inner`.

        Its source location is the location of the node, or of the node `at`.
        """
        place = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        self.rows.append((*place, name, keywords, constants, lists, dtype_owners))
        witness = place_node(node, ast.Constant(f"{WITNESS_PREFIX}{len(self.rows) - 1}"))
        method_node = place_node(node, ast.Attribute(witness, method, LOAD))
        # the attribute lies on one line, so that a traceback names the line of the node (see `called_at`)
        method_node.end_lineno, method_node.end_col_offset = node.lineno, node.col_offset
        arguments = [*items, place_node(at or node, inner)] if inner is not None else [*items]
        return place_node(at or node, ast.Call(method_node, arguments, []))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        plain = isinstance(node.left, ast.Constant) and (
            isinstance(node.right, ast.Constant) or isinstance(node.left.value, (str, bytes))
        )
        self.rewrite_children(node)
        if plain or isinstance(node.left, ast.JoinedStr):
            return node
        inner = ast.BinOp(copy_mark(node, 2, 0), node.op, copy_mark(node, 2, 1))
        return self.wrap_in_witness(
            node, "record_binary", [node.left, node.right], inner, OPERATOR_BY_SYNTAX[type(node.op)]
        )

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.rewrite_children(node)
        if isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant):
            return node
        inner = ast.UnaryOp(node.op, copy_mark(node, 1, 0))
        return self.wrap_in_witness(
            node, "record_unary", [node.operand], inner, OPERATOR_BY_SYNTAX[type(node.op)]
        )

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        parts = [node.left, *node.comparators]
        values = [x.value for x in parts if isinstance(x, ast.Constant)]
        plain = any(isinstance(value, (str, bytes, type(None))) for value in values)
        self.rewrite_children(node)
        if plain or len(node.ops) > 1 or type(node.ops[0]) not in OPERATOR_BY_SYNTAX:
            return node
        inner = ast.Compare(copy_mark(node, 2, 0), node.ops, [copy_mark(node, 2, 1)])
        items = [node.left, node.comparators[0]]
        told = self.wrap_in_witness(
            node, "record_binary", items, inner, OPERATOR_BY_SYNTAX[type(node.ops[0])]
        )
        return told if PYTHON_LOCATES_TRUTH_TESTS else wrap_in_comparison(node, told)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        plain = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        self.rewrite_children(node)
        if plain or not isinstance(node.ctx, ast.Load):
            return node
        inner = ast.Subscript(copy_mark(node, 2, 0), copy_mark(node, 2, 1), LOAD)
        return self.wrap_in_witness(node, "record_item", [node.value, node.slice], inner, "getitem")

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.rewrite_children(node)
        if node.attr == "resize" and isinstance(node.ctx, ast.Load):  # the method may be called later
            node.value = self.wrap_in_witness(node, "forget_receiver", [node.value], None)
        if not isinstance(node.ctx, ast.Load):
            return node
        inner = ast.Attribute(copy_mark(node, 1, 0), node.attr, LOAD)
        if node.attr in COMPUTED_ATTRIBUTES:
            return self.wrap_in_witness(node, "record_attribute", [node.value], inner, node.attr)
        if node.attr in NUMBER_ATTRIBUTES:
            return self.wrap_in_witness(node, "record_numbers", [node.value], inner, node.attr)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Attribute):  # a method that is named `real` does not compute an array
            node.func.value = self.visit(node.func.value)
        else:
            node.func = self.visit(node.func)
        node.args = [self.visit(x) for x in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        if isinstance(node.func, ast.Name) and node.func.id in ARRAYLESS_BUILTINS:
            return node
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        # A debugger would stop within the witness of the call, and a copy of an argument is a reference.
        if called == "set_trace" or called in self.reference_counters:
            return node
        if isinstance(node.func, ast.Attribute) and node.func.attr == "resize":
            return self.rewrite_resize(node, node.func)
        may_resize = self.keeps_resizing_method and isinstance(node.func, ast.Name)
        if may_resize or not keeps_evaluation_order(node):
            at = node_at_call_line(node)
            inner = ast.Call(copy_mark(at, 1, 0), node.args, node.keywords)
            return self.wrap_in_witness(
                node, "record_call", [node.func], inner, "", (OMITTED_ARGUMENTS,), (), at
            )
        return self.rewrite_call(node)

    def rewrite_call(self, node: ast.Call) -> ast.expr:
        """Lay the function and its arguments on the stack, and call a copy of the function with copies."""
        starred = [isinstance(x, ast.Starred) for x in node.args]
        arguments = [x.value if isinstance(x, ast.Starred) else x for x in node.args]
        arguments += [keyword.value for keyword in node.keywords]
        at = node_at_call_line(node)
        lists = tuple(lists_of(node, at.lineno))
        for i, *_ in reversed(lists):
            arguments[i : i + 1] = list_items(arguments[i])
        constants = tuple(constants_of(arguments, at.lineno))
        known = {i for i, _ in constants}
        items, owners = self.lay_out_items(node, [x for i, x in enumerate(arguments) if i not in known])
        numbers = (i for i in count(1) if i - 1 not in owners)
        copies = [
            x if i in known else copy_mark(at, len(items), next(numbers)) for i, x in enumerate(arguments)
        ]
        for i, length, is_tuple in lists:
            made = (ast.Tuple if is_tuple else ast.List)(copies[i : i + length], LOAD)
            copies[i : i + length] = [place_node(at, made)]
        named = copies[len(starred) :]
        inner = ast.Call(
            copy_mark(at, len(items), 0),
            [
                place_node(at, ast.Starred(x, LOAD)) if star else x
                for x, star in zip(copies, starred, strict=False)
            ],
            [place_node(at, ast.keyword(k.arg, x)) for k, x in zip(node.keywords, named, strict=True)],
        )
        keywords = (*(["*"] if any(starred) else []), *(k.arg for k in node.keywords))
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        method = CALL_METHODS[len(items) - 1] if len(items) <= len(CALL_METHODS) else "record_call"
        if isinstance(node.func, ast.Name) and node.func.id == "map":
            method = "record_map"
        return self.wrap_in_witness(node, method, items, inner, name, keywords, constants, at, lists, owners)

    def lay_out_items(
        self, node: ast.Call, arguments: Sequence[ast.expr]
    ) -> tuple[list[ast.expr], tuple[int, ...]]:
        """Return the function and the arguments of a call, and the positions of arrays that give a dtype.

        For the dtype in `x.astype(y.dtype)`, both `y` and `y.dtype` are laid on the stack, one above the
        other, so that the witness learns which array gave the dtype.
        """
        items, owners = [node.func], []
        dtype = find_dtype_argument(node) if len(arguments) < MAX_ARGUMENTS else None
        for x in arguments:
            if x is dtype and isinstance(x, ast.Attribute) and x.attr == "dtype":
                owners.append(len(items) - 1)
                items.append(x.value)
                x.value = copy_mark(x.value, 0, 0, COPY_TOP)
            items.append(x)
        return items, tuple(owners)

    def rewrite_resize(self, node: ast.Call, func: ast.Attribute) -> ast.Call:
        """Make the witness forget `x` before `x.resize(n)`: NumPy resizes only arrays without references.

        Since Python 3.14 a local variable has no reference of its own on the stack, but the result of a call
        has one. So the variable stays as it is, and the witness's call goes into the first argument.
        """
        match func.value, node.args:
            case ast.Name() as name, [first, *_]:
                value = first.value if isinstance(first, ast.Starred) else first
                again = place_node(value, ast.Name(name.id, LOAD))
                told = self.wrap_in_witness(value, "forget", [value, again], None)
                if isinstance(first, ast.Starred):
                    first.value = told
                else:
                    node.args[0] = told
            case _:
                func.value = self.wrap_in_witness(node, "forget_receiver", [func.value], None)
        return node

    def visit_Raise(self, node: ast.Raise) -> Any:
        """Rewrite the parts of a raised call, but not the call: its result is an exception, not an array."""
        if not isinstance(node.exc, ast.Call):
            return self.rewrite_children(node)
        self.rewrite_children(node.exc)
        node.cause = node.cause and self.visit(node.cause)
        return node

    # -- statements

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Replace `x[i] += y` by `x[i] += result`, which `bytecode` turns into `x[i] = result`.

        So Python reads and writes the target in its own order, each part of it once. In `x[i] += y` the value
        `y` passes a witness of `x[i]`, which learns the array of the elements.
        """
        target = node.target
        self.rewrite_children(node)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            read = place_node(target.value, ast.Name(target.value.id, LOAD))
            node.value = self.wrap_in_witness(
                target, "note_elements_read", [node.value, read], None, "getitem"
            )
        inner = ast.BinOp(copy_mark(node, 2, 0), node.op, copy_mark(node, 2, 1, COPY_IN_PLACE))
        items = [copy_mark(node, 0, 0, COPY_TARGET), node.value]
        node.value = self.wrap_in_witness(
            node, "record_in_place", items, inner, OPERATOR_BY_SYNTAX[type(node.op)]
        )
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.rewrite_children(node)
        match node.targets:
            case [ast.Subscript(value=ast.Name() as name)]:
                items = [node.value, place_node(name, ast.Name(name.id, LOAD))]
                node.value = self.wrap_in_witness(node, "record_assignment", items, None, "setitem")
            case [ast.Attribute(value=ast.Name() as name, attr=attr)] if attr in CONTENT_ATTRIBUTES:
                items = [node.value, place_node(name, ast.Name(name.id, LOAD))]
                node.value = self.wrap_in_witness(node, "note_data_replaced", items, None, attr)
            case targets:
                for target in targets:
                    self.rewrite_target(node, target)
        return node

    def rewrite_target(self, node: ast.Assign, target: ast.expr) -> None:
        """Let a witness see the array in each target such as `x.y[i]`, also in `x[0], y[1:] = ...`.

        The value lies below the witness on the stack, as the target of `x += y` does.
        """
        if isinstance(target, (ast.Tuple, ast.List)):
            for each in target.elts:
                self.rewrite_target(node, each)
        elif isinstance(target, ast.Subscript):
            items = [copy_mark(node, 0, 0, COPY_TARGET), target.value]
            target.value = self.wrap_in_witness(
                node, "record_assignment_to", items, None, "setitem", at=target.value
            )

    # -- loops

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.rewrite_children(node)
        node.iter = self.wrap_iterated(node.target, node.iter, node.end_lineno or 0)
        return node

    def visit_ListComp(self, node: Comprehension) -> ast.expr:
        """Rewrite a comprehension of any kind."""
        self.rewrite_children(node)
        for each in node.generators:
            each.iter = self.wrap_iterated(each.target, each.iter, node.end_lineno or 0)
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def wrap_iterated(self, target: ast.expr, iterated: ast.expr, last_line: int) -> ast.expr:
        """Let a witness see the array with the elements of a loop's name, also in `enumerate` and `zip`."""
        if isinstance(target, ast.Name):
            called = iterated.func if isinstance(iterated, ast.Call) else None
            if isinstance(iterated, LITERALS) or getattr(called, "id", "") in NUMBER_ITERATORS:
                return iterated
            told = (str(last_line),)
            return self.wrap_in_witness(iterated, "note_iterated", [iterated], None, target.id, told)
        if not isinstance(iterated, ast.Call) or not isinstance(target, ast.Tuple):
            return iterated
        args, names = iterated.args, [*target.elts]
        match getattr(iterated.func, "id", ""):
            case "enumerate" if len(args) > 0 and len(names) == 2:
                pairs = [(0, names[1])]
            case "zip" if len(args) == len(names):
                pairs = [*enumerate(names)]
            case _:
                return iterated
        for i, name in pairs:
            if isinstance(name, ast.Name) and not isinstance(args[i], ast.Starred):
                args[i] = self.wrap_iterated(name, args[i], last_line)
        return iterated

    # -- nodes left unchanged: annotations, decorators, patterns

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return self.rewrite_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return self.rewrite_function(node)

    def rewrite_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        """Rewrite the defaults and the body of a function."""
        given = node.args
        given.defaults = [self.visit(x) for x in given.defaults]
        given.kw_defaults = [x and self.visit(x) for x in given.kw_defaults]
        node.body = [self.visit(line) for line in node.body]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        node.body = [self.visit(line) for line in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        node.value = node.value and self.visit(node.value)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.guard = node.guard and self.visit(node.guard)
        node.body = [self.visit(line) for line in node.body]
        return node

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:
        return node
