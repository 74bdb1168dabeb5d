"""Expressions read from text, which is parsed and never evaluated.

An expression is made of Python's operators, functions by any name that an operation has, `.astype(dtype)`,
names and numbers.
"""
from __future__ import annotations

import ast
from collections.abc import Sequence

from typelattice.facts.operations import OPERATIONS, Operation, OpError
from typelattice.facts.suggest import nearest, short
from typelattice.operands.operand import SCALARS, OperandError, scalar
from typelattice.programs.formula import Call, Cast, Formula, Input, Literal, Part
from typelattice.programs.python_numbers import WIDEST

LONGEST, DEEPEST, MOST = 10_000, 100, 500  # characters, levels, parts
POSSIBLE = "operators, functions of arrays, .astype(dtype), names and numbers"
WITHOUT_AXES = ("elementwise", "choice", "promotion", "parts")  # forms of functions that go along no axis


class FormulaError(OperandError):
    """A text that is no expression of arrays, or a name without an operand."""


def _syntax(operator: str) -> type[ast.AST] | None:
    """What Python's parser calls an operator: `Add` of `+`, `USub` of `-x`; None of `+=`, a statement."""
    for text in (operator, f"x {operator} x", f"{operator} x"):
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
FUNCTIONS = {name: op for op in OPERATIONS.values() for name in op.functions}


def formula(text: str, **bound: object) -> Formula:
    """The expression that a text is, with an operand for each name in it. Raises FormulaError.

    The system under which it is asked reads the operands, so that a string may name a dtype of its file.

    >>> from typelattice import system
    >>> f = formula("a*2.0 + b", a="int8:0d", b="float16")
    >>> [(part.text, str(o)) for part, o in zip(f.parts, f.under(system("numpy"))) if part.op]
    [('a * 2.0', 'float64'), ('a * 2.0 + b', 'float64')]
    """
    if len(text) > LONGEST:
        raise FormulaError(f"an expression of {len(text)} characters; the longest is {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        why = getattr(e, "msg", None) or "too deep or not text"
        raise FormulaError(f"{short(text)} is no expression: {why}; give {POSSIBLE}") from None
    _measure(tree)
    reader = _Reader(tuple(bound))
    reader.read(tree)
    unused = [name for name in bound if name not in reader.used]
    if unused:
        near = nearest(unused[0], reader.unbound)
        raise FormulaError(f"{unused[0]} is bound and does not occur in {short(text)}{near}")
    return Formula(text.strip(), bound, tuple(reader.parts))


def is_expression(text: str) -> bool:
    """Whether a text has an operator or a call in it, and so is an expression and no operand.

    >>> is_expression("x + y"), is_expression("int8:0d"), is_expression("sqrt(x)"), is_expression("int8")
    (True, False, True, False)
    """
    try:
        tree = ast.parse(text[:LONGEST].strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(tree, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Call))


def _measure(tree: ast.expr) -> None:
    """Raises FormulaError of a tree that is too large for what goes through it by recursion."""
    level, parts = [tree], 0
    for _ in range(DEEPEST):
        level = [x for node in level for x in ast.iter_child_nodes(node) if isinstance(x, ast.expr)]
        parts += len(level)
    if level or parts > MOST:
        raise FormulaError(f"an expression of more than {MOST} parts or {DEEPEST} levels; take it apart")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value.bit_length() > WIDEST:
            raise FormulaError(f"a number of more than {WIDEST} bits; no dtype holds it")


class _Reader:
    """Goes through a tree of syntax and lists its parts, each once and after those that it is made of."""

    def __init__(self, bound: Sequence[str]) -> None:
        self.bound = bound
        self.parts: list[Part] = []
        self.used: set[str] = set()
        self.unbound: list[str] = []

    def read(self, node: ast.expr) -> int:
        """The index of the part that a node is."""
        part = self.part(node)
        if part not in self.parts:
            self.parts.append(part)
        return self.parts.index(part)

    def part(self, node: ast.expr) -> Part:
        text = ast.unparse(node)
        match node:
            case ast.Constant(value=bool() | int() | float() | complex() as value):
                return Literal(text, scalar(SCALARS[type(value)], value))
            case ast.UnaryOp(operand=ast.Constant(value=int() | float() | complex() as value), op=ast.USub()):
                return Literal(text, scalar(SCALARS[type(-value)], -value))
            case ast.Name(id=name):
                return self.input(name)
            case ast.BinOp(left=a, right=b, op=op):
                return Call(text, OPERATORS[type(op)], (self.read(a), self.read(b)), operator=True)
            case ast.UnaryOp(operand=a, op=op) if type(op) in OPERATORS:
                return Call(text, OPERATORS[type(op)], (self.read(a),), operator=True)
            case ast.Compare(left=a, comparators=[b], ops=[op]) if type(op) in OPERATORS:
                return Call(text, OPERATORS[type(op)], (self.read(a), self.read(b)), operator=True)
            case ast.Compare() | ast.BoolOp():
                why = "Python asks arrays one by one there; compare two, and join with & or |"
                raise FormulaError(f"{short(text)}: {why}")
            case ast.Call(func=ast.Attribute(value=x, attr=name)) if self.is_array(x) or _is_cast(node):
                return self.method(text, x, name, node)
            case ast.Call(func=function):
                return self.function(text, _called(function), node)
        raise FormulaError(f"{short(text)} is nothing that promotion knows of; give {POSSIBLE}")

    def input(self, name: str) -> Input:
        if name not in self.bound:
            self.unbound.append(name)
            some = f"; bound are {', '.join(self.bound)}" if self.bound else ""
            near = nearest(name, self.bound)
            raise FormulaError(
                f"{name} is bound to nothing{near}{some}: names need operands, e.g. {name}=int8"
            )
        self.used.add(name)
        return Input(name)

    def is_array(self, node: ast.expr) -> bool:
        """Whether a node before a dot is an array, and no module such as `np` or `np.linalg`."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return not isinstance(node, ast.Name) or node.id in self.bound

    def method(self, text: str, x: ast.expr, name: str, call: ast.Call) -> Part:
        if name != "astype" or len(call.args) != 1 or call.keywords:
            why = f"of methods there is astype alone, with a dtype; write {name}(...) as a function"
            raise FormulaError(f"{short(text)}: {why}")
        return Cast(text, (self.read(x),), _dtype_name(call.args[0]))

    def function(self, text: str, name: str, call: ast.Call) -> Part:
        if name == "astype" and len(call.args) == 2 and not call.keywords:
            return Cast(text, (self.read(call.args[0]),), _dtype_name(call.args[1]))
        if name not in FUNCTIONS:
            known = "the array API standard's, by any name that a library has for them"
            raise FormulaError(
                f"unknown function {short(name)}{nearest(name, FUNCTIONS)}; functions are {known}"
            )
        known_as = FUNCTIONS[name]
        _check_keywords(text, known_as, call.keywords)
        operands = _operands(name, known_as, call.args)
        parts = tuple(self.read(x) for x in operands)
        axis = len(operands) < len(call.args) or not all(map(_says_nothing, call.keywords))
        return Call(text, known_as.name, parts, whole=known_as.form == "reduction" and not axis)


def _check_keywords(text: str, op: Operation, keywords: Sequence[ast.keyword]) -> None:
    """Raises FormulaError of arguments by name that are given twice, or may say something of dtypes."""
    names = [keyword.arg for keyword in keywords]
    if len({*names}) < len(names):
        raise FormulaError(f"{short(text)}: a name is given twice; give it once")
    if names and (op.form in WITHOUT_AXES or not {*names} <= {"axis", "keepdims"}):
        raise FormulaError(f"{short(text)}: only axis and keepdims may be named; cast with .astype(dtype)")


def _operands(name: str, op: Operation, arguments: Sequence[ast.expr]) -> Sequence[ast.expr]:
    """The arguments of a call that are operands, which come first.

    Raises FormulaError of more or fewer operands than the operation takes.
    """
    match op.form, arguments:
        case "each", _:
            raise FormulaError(f"{name} gives several arrays, each of its operand's dtype; ask of one")
        case "several", [ast.List(elts=listed) | ast.Tuple(elts=listed)]:
            arguments = listed
        case (("whole" | "reduction" | "along"), _) if all(map(_is_plain, arguments[op.least :])):
            arguments = arguments[: op.least]  # the others are no operands: a shape, axes, an exponent
        case (("choice" | "indexed"), _) if len(arguments) < (op.most or 0):
            raise FormulaError(f"{name} takes {op.most} operands in an expression, not {len(arguments)}")
    try:
        op.check(len(arguments))
    except OpError as e:
        raise FormulaError(str(e)) from None
    return arguments


def _is_cast(call: ast.Call) -> bool:
    """Whether a call is `x.astype(dtype)`, and not `np.astype(x, dtype)`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "astype" and len(call.args) == 1


def _is_plain(node: ast.expr) -> bool:
    """Whether a node is a number, or a tuple or list of them."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(_is_plain, node.elts))
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _says_nothing(keyword: ast.keyword) -> bool:
    """Whether an argument by name is given its default, None or False."""
    # Not `in (None, False)`, which 0 is: an axis.
    return isinstance(keyword.value, ast.Constant) and (
        keyword.value.value is None or keyword.value.value is False
    )


def _called(function: ast.expr) -> str:
    """The name of a function: `sqrt`, `np.sqrt`, `np.linalg.inv`. Raises FormulaError of anything else."""
    match function:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return name
        case ast.Attribute(value=ast.Attribute(value=ast.Name()), attr=name):
            return name
    raise FormulaError(f"{short(ast.unparse(function))} is no function of the array API standard")


def _dtype_name(node: ast.expr) -> str:
    """The name of a dtype: `float32`, `'float32'`, `np.float32`. Raises FormulaError of anything else."""
    match node:
        case (
            ast.Name(id=name) | ast.Constant(value=str() as name) | ast.Attribute(value=ast.Name(), attr=name)
        ):
            return name
    raise FormulaError(f"{short(ast.unparse(node))} is no dtype; give one such as float32")
