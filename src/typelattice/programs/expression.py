"""A whole expression: parsed, never evaluated, and what every part of it comes to under a system.

Operators, functions of the array API standard, explicit casts, names bound to operands, Python's numbers.
"""
from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typelattice.engine.answer import Promotion
from typelattice.explain.plain_data import data as told
from typelattice.facts.dtypes import DType, dtype
from typelattice.facts.operations import NAMES, OPERATIONS, OpError
from typelattice.facts.suggest import nearest, short
from typelattice.operands.notation import parse
from typelattice.operands.operand import SCALARS, Operand, OperandError, of, scalar
from typelattice.operands.reading import operand
from typelattice.programs.literals import WIDEST, kind_of, number_of

if TYPE_CHECKING:
    from typelattice.engine.system import System

LONGEST, DEEPEST, MOST = 10_000, 100, 500  # characters, levels, parts


def _operator(text: str) -> type[ast.AST]:
    """The class of syntax that an operator is to Python's parser."""
    tree = ast.parse(text if text[-1].isalpha() else f"{text}x" if text == "~" else f"x{text}x", mode="eval").body
    match tree:
        case ast.Compare(ops=[op]) | ast.BinOp(op=op) | ast.UnaryOp(op=op):
            return type(op)
    raise AssertionError(f"{text} is no operator of expressions")


OPERATORS = {_operator(op.operator): name for name, op in OPERATIONS.items() if op.operator and op.operator != "+="}
POSSIBLE = "operators, functions of the array API standard, .astype(dtype), names and numbers"


class FormulaError(OperandError):
    """A text that is no expression of arrays, or a name without an operand."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an expression: its text, its operation and the indices of its own parts; the operand of a leaf or a number.

    `to` is the dtype of an explicit cast; `whole`: whether a reduction leaves no axis.
    """

    text: str
    op: str | None = None
    parts: tuple[int, ...] = ()
    operand: Operand | None = None
    to: DType | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a part comes to under a system: an operand, or None where it, or a part of it, is refused."""

    operand: Operand | None
    promotion: Promotion | None = None
    refused: bool = False

    def __str__(self) -> str:
        if self.operand is None:
            return "refused" if self.refused else "not reached"
        if self.operand.tier == "scalar":
            return f"Python {self.operand.kind.word}"
        return f"{self.operand.dtype}{'*' * self.operand.weak}"


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression whose names are bound: its parts, each after those that it is made of; the last is the whole."""

    text: str
    bound: Mapping[str, Operand]
    parts: tuple[Part, ...]

    def under(self, system: System) -> tuple[Outcome, ...]:
        """What each part comes to. Python numbers among themselves are Python's."""
        found: list[Outcome] = []
        for part in self.parts:
            found.append(_outcome(system, part, [found[i] for i in part.parts]))
        return tuple(found)


def formula(text: str, **bound: object) -> Formula:
    """The expression that a text is, with an operand for each name in it. Raises FormulaError, DTypeError, OperandError.

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
        what = getattr(e, "msg", None) or "too deep or not text"
        raise FormulaError(f"{short(text)} is no expression: {what}; give {POSSIBLE}") from None
    operands = {name: parse(x, {}) if isinstance(x, str) else operand(x) for name, x in bound.items()}
    _measure(tree)
    reader = _Reader(operands)
    reader.read(tree)
    if unused := [name for name in operands if name not in reader.used]:
        raise FormulaError(f"{unused[0]} is bound and does not occur in {short(text)}{nearest(unused[0], reader.unbound)}")
    return Formula(text.strip(), operands, tuple(reader.parts))


def _measure(tree: ast.expr) -> None:
    """Raises FormulaError of a tree with too many parts or levels, before anything goes through it by recursion."""
    level, parts = [tree], 0
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        parts += len(level)
    numbers = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is int)
    if any(number.bit_length() > WIDEST for number in numbers):
        raise FormulaError(f"a number of more than {WIDEST} bits; no dtype holds it")
    if level or parts > MOST:
        raise FormulaError(f"an expression of more than {MOST} parts or {DEEPEST} levels; take it apart")


class _Reader:
    """Goes through a tree and lists its parts, each once."""

    def __init__(self, bound: Mapping[str, Operand]) -> None:
        self.bound = bound
        self.parts: list[Part] = []
        self.used: set[str] = set()
        self.unbound: list[str] = []

    def read(self, node: ast.expr) -> int:
        """The index of a part."""
        part = self.part(node)
        if part not in self.parts:
            self.parts.append(part)
        return self.parts.index(part)

    def part(self, node: ast.expr) -> Part:
        text = ast.unparse(node)
        number = number_of(node)
        known = None if number is None else scalar(SCALARS[type(number)], number)
        match node:
            case ast.Constant() | ast.UnaryOp(operand=ast.Constant(), op=ast.USub()) if known:
                return Part(text, operand=known)
            case ast.Name(id=name):
                return Part(text, operand=self.name(name))
            case ast.BinOp(left=a, right=b, op=op):
                return Part(text, OPERATORS[type(op)], (self.read(a), self.read(b)), known)
            case ast.UnaryOp(operand=a, op=op) if type(op) in OPERATORS:
                return Part(text, OPERATORS[type(op)], (self.read(a),), known)
            case ast.Compare(left=a, comparators=[b], ops=[op]) if type(op) in OPERATORS:
                return Part(text, OPERATORS[type(op)], (self.read(a), self.read(b)))
            case ast.Compare() | ast.BoolOp():
                raise FormulaError(f"{short(text)}: Python asks arrays one by one there; compare two, and join with & or |")
            case ast.Call(func=ast.Attribute(value=x, attr="astype"), args=[to], keywords=[]) if not self.is_module(x):
                return Part(text, "astype", (self.read(x),), to=_dtype(to))
            case ast.Call(func=ast.Attribute(value=x, attr=name)) if not self.is_module(x) and not isinstance(x, ast.Attribute):
                raise FormulaError(f"{short(text)}: of methods there is astype alone; write {name}(...) as a function")
            case ast.Call(func=function, args=args, keywords=keywords):
                return self.call(text, _called(function), args, keywords)
        raise FormulaError(f"{short(text)} is nothing that promotion knows of; give {POSSIBLE}")

    def name(self, name: str) -> Operand:
        if name not in self.bound:
            self.unbound.append(name)
            some = f"; bound are {', '.join(self.bound)}" if self.bound else ""
            raise FormulaError(f"{name} is bound to nothing{nearest(name, self.bound)}{some}: give {name}=int8, for one")
        self.used.add(name)
        return self.bound[name]

    def is_module(self, x: ast.expr) -> bool:
        return isinstance(x, ast.Name) and x.id not in self.bound

    def call(self, text: str, name: str, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Part:
        if name == "astype" and len(args) == 2 and not keywords:
            return Part(text, "astype", (self.read(args[0]),), to=_dtype(args[1]))
        if name not in NAMES:
            raise FormulaError(f"unknown function {short(name)}{nearest(name, NAMES)}; functions are the array API standard's")
        known = NAMES[name]
        form = known.form
        if form == "each":
            raise FormulaError(f"{name} gives several arrays, each of its operand's dtype; ask of one")
        if len({keyword.arg for keyword in keywords}) < len(keywords):
            raise FormulaError(f"{short(text)}: a name is given twice; give it once")
        for keyword in keywords:
            if keyword.arg not in ("axis", "keepdims") or form in ("elementwise", "choice", "promotion", "parts"):
                raise FormulaError(f"{short(text)}: only axis and keepdims may be named; cast with .astype(dtype)")
        given = list(args)
        if form == "several" and len(given) == 1 and isinstance(given[0], (ast.List, ast.Tuple)):
            given = list(given[0].elts)
        if form in ("choice", "indexed") and len(given) < (known.most or 0):
            raise FormulaError(f"{name} takes {known.most} operands in an expression, not {len(given)}")
        try:
            known.check(len(given))
        except OpError as e:
            raise FormulaError(str(e)) from None
        whole = form == "reduction" and all(map(_says_nothing, keywords))
        return Part(text, known.name, tuple(self.read(x) for x in given), whole=whole)


def _says_nothing(keyword: ast.keyword) -> bool:
    """Whether a keyword is given its default."""
    return isinstance(keyword.value, ast.Constant) and (keyword.value.value is None or keyword.value.value is False)


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return name
        case ast.Attribute(value=ast.Attribute(value=ast.Name()), attr=name):  # np.linalg.inv
            return name
    raise FormulaError(f"{short(ast.unparse(function))} is no function of the array API standard")


def _dtype(node: ast.expr) -> DType:
    match node:
        case ast.Name(id=name) | ast.Constant(value=str() as name) | ast.Attribute(value=ast.Name(), attr=name):
            return dtype(name)
    raise FormulaError(f"{short(ast.unparse(node))} is no dtype; give one such as float32")


def _outcome(system: System, part: Part, made: Sequence[Outcome]) -> Outcome:
    """What a part comes to, of what its parts have come to."""
    if part.operand is not None:
        return Outcome(part.operand)
    operands = [o.operand for o in made if o.operand is not None]
    if len(operands) < len(made):
        return Outcome(None)
    tiers = {o.tier for o in operands}
    if part.to is not None:
        return Outcome(of(part.to, tier="array" if tiers == {"array"} else "0d"))
    by_python = tiers == {"scalar"} and any(part.op == op for op in OPERATORS.values())
    if by_python:
        kind = kind_of(part.op or "", [o.kind for o in operands])
        return Outcome(scalar(kind) if kind else None, refused=kind is None)
    p = system.explain(*operands, op=part.op)
    if p.dtype is None:
        return Outcome(None, p, refused=True)
    zero_d = part.whole or "array" not in tiers
    return Outcome(of(p.dtype, p.weak and "scalar" not in system.tiers, "0d" if zero_d else "array"), p)


def data(f: Formula, systems: Sequence[System], outcomes: Sequence[Sequence[Outcome]]) -> dict[str, object]:
    """An expression and what each part comes to under systems, as JSON can hold it."""
    return {
        "expression": f.text,
        "operands": {name: str(o) for name, o in f.bound.items()},
        "parts": [{"text": part.text, "op": part.op, "parts": list(part.parts)} for part in f.parts],
        "answers": [
            {"system": s.name, "parts": [{"answer": str(o), "promotion": o.promotion and told(o.promotion)} for o in made]}
            for s, made in zip(systems, outcomes, strict=True)
        ],
    }
