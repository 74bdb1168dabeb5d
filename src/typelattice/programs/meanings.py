"""What names, attributes, operators and indices mean in Python source: steps, or plain values."""

from __future__ import annotations

import ast
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.engine.guests import INDICES
from typelattice.facts.operations import OPERATIONS
from typelattice.programs.dictionaries import looked_up
from typelattice.programs.draft import Draft
from typelattice.programs.dtype_questions import Limits, dtype_attribute, limit, same_dtype
from typelattice.programs.functions import FUNCTIONS
from typelattice.programs.makers import PYTHONS
from typelattice.programs.names import constant, dtype_named
from typelattice.programs.reading import ASKS, LENGTH, WHERE, Dotted, Elements, Function, Method, Read, Scope
from typelattice.programs.several import Several
from typelattice.programs.shapes import size
from typelattice.programs.site import Site
from typelattice.programs.step import Argument, DTypeOf, NamedDType, Ref, Slice


def _syntax(sign: str) -> type[ast.AST] | None:
    """What Python's parser calls an operator: `Add` of `+`, `USub` of `-x`; None of `+=`, a statement."""
    for text in (sign, f"x {sign} x", f"{sign} x"):
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError:
            continue
        match tree:
            case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.Compare(ops=[op]):
                return type(op)
    return None


OPERATORS: dict[type[ast.AST], str] = {
    syntax: op.name for op in OPERATIONS.values() if op.operator and (syntax := _syntax(op.operator))
}
PLAIN_TESTS: Mapping[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


class Meanings(ABC):
    """What is found in source, and what is added to the draft for it."""

    def __init__(self, draft: Draft, site: Callable[[ast.AST], Site]) -> None:
        self.draft, self.site = draft, site
        self.used: set[str] = set()  # names that have been asked for

    # -- names

    def name(self, node: ast.AST, name: str, scope: Scope) -> Read:
        """What a name is bound to."""
        if name in scope:
            self.used.add(name)
            found: Read = scope[name]
            return found
        return NamedDType(name) if name in PYTHONS else dtype_named(name, None) or Dotted((name,))

    def attribute(self, node: ast.Attribute, x: Read, name: str) -> Read:
        """What an attribute is: of an array, or of a library."""
        if isinstance(x, Dotted):
            if name == "newaxis":
                return None
            if name in ("dtype", "shape", "ndim", "size", "T", "mT") and x.owner is None:
                raise self.unbound(node, x.path[0])
            number = constant(name)
            dtype = dtype_named(name, x.owner)
            return number if number is not None else dtype or Dotted((*x.path, name))
        if isinstance(x, Limits):
            return limit(self.draft, self.site(node), x, name)
        if isinstance(x, (NamedDType, DTypeOf)):
            return dtype_attribute(self.draft, self.site(node), x, name)
        if isinstance(x, Several) and name in x.fields:
            return x[x.fields.index(name)]
        if not isinstance(x, Ref):
            raise self.site(node).refuse(f"nothing is known of its {name}; give it as a value")
        shape = self.draft.shape(x)
        match name:
            case "dtype":
                return DTypeOf(x.step)
            case "T" | "mT":
                if shape is not None and name == "T" and len(shape) != 2:
                    raise self.site(node).refuse(
                        f"T of an array of {len(shape)} axes; write permute_dims(x, axes)"
                    )
                return self.draft.call(self.site(node), FUNCTIONS["matrix_transpose"], [x])
            case "real" | "imag":
                return self.draft.call(self.site(node), FUNCTIONS[name], [x])
            case "ndim" if shape is not None:
                return len(shape)
            case "shape" if shape is not None and None not in shape:
                return shape
            case "size" if (count := size(shape)) is not None:
                return count
            case "shape" | "ndim" | "size":
                given = "its operand a shape, e.g. float32[3,4]"
                raise self.site(node).refuse(f"the shape is not known; give {given}")
        return Method(x, name)

    def argument(self, node: ast.AST, x: Read) -> Argument:
        """What an operation can be given. Raises ProgramError of a name that is bound to nothing."""
        match x:
            case Dotted(path=(name, *more)):
                if more:
                    raise self.site(node).refuse("nothing that promotion knows of; give an array or a number")
                raise self.unbound(node, name)
            case Several(name=name):
                raise self.site(node).refuse(f"{name} gives several arrays; take one: {name}(x)[0]")
            case Mapping():
                raise self.site(node).refuse("a dictionary; take one of its values, or give them names")
            case Limits(name=name):
                raise self.site(node).refuse(f"{name} gives several numbers; take one: {name}(dtype).max")
            case Dotted() | Elements() | Function() | Method():
                raise self.site(node).refuse("a function that is not called; call it")
        return x

    @abstractmethod
    def unbound(self, node: ast.AST, name: str) -> Exception:
        """The error of a name without an operand."""

    def plain(self, x: Read) -> Any:
        """A known number in place of the step that gives it."""
        others = (Dotted, Elements, Function, Limits, Mapping, Method, Several)
        return x if isinstance(x, others) else self.draft.static(x)

    def truth(self, node: ast.AST, x: Read, instead: str = WHERE) -> bool:
        """Whether a plain value is true. Raises ProgramError of an array."""
        value = self.plain(x)
        if isinstance(value, (Ref, DTypeOf)):
            raise self.site(node).refuse(f"it {ASKS}; {instead}")
        return bool(value)

    # -- operators

    def operated(self, node: ast.AST, name: str, operands: Sequence[Read]) -> Argument:
        """What an operator makes: a step, or a plain value of plain values."""
        given = [self.argument(node, x) for x in operands]
        if any(isinstance(x, tuple) for x in given):
            match [self.plain(x) for x in given], name:
                case [tuple() as a, tuple() as b], "add":
                    return (*a, *b)
                case [(tuple() as a, int(n)) | (int(n), tuple() as a)], "multiply" if len(a) * n <= LENGTH:
                    return a * n
        return self.draft.operator(self.site(node), name, given)

    def compared(self, node: ast.AST, op: ast.cmpop, a: Read, b: Read) -> Argument:
        """What a comparison makes: a step, or a bool of plain values."""
        left, right = self.plain(a), self.plain(b)
        if not isinstance(op, (ast.Is, ast.IsNot)):
            left = self.plain(self.argument(node, left))
            right = right if isinstance(right, Mapping) else self.plain(self.argument(node, right))
        if any(isinstance(x, (DTypeOf, NamedDType)) for x in (left, right)) and None not in (left, right):
            return self.dtypes_compared(node, op, left, right)
        numbers = all(isinstance(x, (int, float, complex)) for x in (left, right))
        if type(op) in PLAIN_TESTS and not numbers:
            known = isinstance(op, (ast.Is, ast.IsNot))
            if known or not any(isinstance(x, Ref) for x in (left, right)):
                return self.plain_test(node, op, left, right)
        if type(op) not in OPERATORS:
            raise self.site(node).refuse(f"it {ASKS}; {WHERE}")
        return self.draft.operator(
            self.site(node), OPERATORS[type(op)], [self.argument(node, x) for x in (a, b)]
        )

    def dtypes_compared(self, node: ast.AST, op: ast.cmpop, left: Argument, right: Argument) -> bool:
        """Whether dtypes are one, or a dtype is among others."""
        site = self.site(node)
        match op:
            case ast.Eq() | ast.Is() | ast.NotEq() | ast.IsNot():
                found = same_dtype(self.draft, site, left, right)
            case ast.In() | ast.NotIn() if isinstance(right, tuple):
                found = any(same_dtype(self.draft, site, left, each) for each in right)
            case _:
                raise site.refuse("dtypes have no order; ask for the kind with isdtype")
        return found is not isinstance(op, (ast.NotEq, ast.IsNot, ast.NotIn))

    def plain_test(self, node: ast.AST, op: ast.cmpop, left: Any, right: Any) -> bool:
        """A comparison of values that are known."""
        try:
            return bool(PLAIN_TESTS[type(op)](left, right))
        except TypeError as e:
            raise self.site(node).refuse(f"Python refuses it: {e}; compare others") from None

    def subscript(self, node: ast.Subscript, x: Read, key: Read) -> Read:
        """Elements of an array, or of a list or a dictionary that is known."""
        at: Any = self.plain(key)
        if isinstance(x, Several) and isinstance(at, int):
            try:
                return x[at]
            except IndexError as e:
                raise self.site(node).refuse(f"{e}; give another index") from None
        if isinstance(x, Method) and x.name == "at":
            return Elements(x.of, self.argument(node, at))
        if isinstance(x, Mapping):
            value: Read = looked_up(self.site(node), x, at)
            return value
        x = self.argument(node, x)
        if isinstance(x, tuple):
            try:
                place: Any = slice(at.start, at.stop, at.step) if isinstance(at, Slice) else at
                chosen: Argument = x[place]
                return chosen
            except (IndexError, TypeError) as e:
                raise self.site(node).refuse(f"Python refuses it: {e}; give another index") from None
        if not isinstance(x, Ref):
            raise self.site(node).refuse("a number has no elements; index an array")
        return self.draft.index(self.site(node), x, self.argument(node, at), _lists_in(node.slice))


def _lists_in(index: ast.expr) -> str:
    """How lists stand in an index, as a step has it."""
    if isinstance(index, ast.List):
        return INDICES[0]
    several = isinstance(index, ast.Tuple) and any(isinstance(x, ast.List) for x in index.elts)
    return INDICES[1] if several else ""
