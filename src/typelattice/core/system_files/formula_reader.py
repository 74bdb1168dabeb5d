"""Formulas of a system file, read from text: nothing in them is executed."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.engine.parameter_formulas import (
    OPERAND_CALL,
    OPERAND_FUNCTIONS,
    SAME_FOR_ALL_OPERANDS,
    TERM_CALL,
    TERM_FUNCTIONS,
    Formula,
)
from typelattice.core.system_files.value_reader import UnknownWordError

MAX_FORMULA_CHARS = 200  # characters: many times the length of SQL's formulas
SIGN_BY_AST_OPERATOR = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
FORMULA_FUNCTIONS = (*OPERAND_FUNCTIONS, "round_up")


def read_formula(text: str, names: Collection[str], computed_names: Collection[str]) -> Formula:
    """Read a formula. Raises ValueError.

    `names` are the parameters of the operands, `computed_names` those of the join that are computed already.

    >>> decimals = [{"p": 10, "s": 2}, {"p": 5, "s": 4}]
    >>> read_formula("max(p - s) + s", ["p", "s"], ["s"]).evaluate(decimals, decimals, {"s": 4})
    12
    """
    if text == SAME_FOR_ALL_OPERANDS:
        return Formula(text, text)
    return Formula(text, _FormulaReader(text, names, computed_names).read(_parse_expression(text)))


def split_call(text: str) -> tuple[str, list[str]]:
    """Split `decimal(p + 1, s)` into its name and its arguments. Raises ValueError."""
    match _parse_expression(text):
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return name, [ast.unparse(arg) for arg in args]
    raise ValueError(f"{quote_short(text)} should be written as in decimal(p + 1, s)")


def _parse_expression(text: str) -> ast.expr:
    """Parse an expression. Raises ValueError for a text that is not an expression, or is too long."""
    try:
        if len(text) <= MAX_FORMULA_CHARS:
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    raise ValueError(f"cannot read {quote_short(text)}; write a formula such as max(p - s) + 1")


@frozen()
class _FormulaReader:
    """The reading of one formula. Every error quotes its text."""

    text: str
    names: Collection[str]
    known: Collection[str]

    def read(self, tree: ast.expr, of_operands: bool = False) -> Any:
        """Build the tree of a formula. Raises ValueError for any term that formulas do not have."""
        match tree:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name):
                return self._check_name(name, self.names if of_operands else self.known)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as sign, right=right):
                return (
                    TERM_CALL,
                    SIGN_BY_AST_OPERATOR[type(sign)],
                    *(self.read(side, of_operands) for side in (left, right)),
                )
            case ast.Call(func=ast.Name(id=function), args=[_, *_] as terms, keywords=[]):
                table = OPERAND_FUNCTIONS if len(terms) == 1 else TERM_FUNCTIONS
                if function not in FORMULA_FUNCTIONS or function not in table:
                    raise self._function_error(function, len(terms))
                asks = table is OPERAND_FUNCTIONS
                if asks and of_operands:
                    raise ValueError(f"{quote_short(self.text)} asks the operands twice, within {function}")
                return (
                    OPERAND_CALL if asks else TERM_CALL,
                    function,
                    *(self.read(term, asks or of_operands) for term in terms),
                )
        raise ValueError(
            f"{quote_short(self.text)} should have numbers, parameters, + - * and functions only"
        )

    def _check_name(self, name: str, computed_names: Collection[str]) -> str:
        if name not in computed_names:
            listed = f"; known there: {', '.join(computed_names) or 'none'}"
            near = (
                "; state it before" if name in self.names else spelling_hint(name, computed_names) or listed
            )
            raise UnknownWordError(
                f"{quote_short(self.text)} names {quote_short(name)}, which is not known there{near}", name
            )
        return name

    def _function_error(self, function: str, count: int) -> UnknownWordError:
        """Return the error for an unknown function, or for a wrong number of arguments."""
        near = spelling_hint(function, FORMULA_FUNCTIONS) if function not in FORMULA_FUNCTIONS else ""
        terms = "one term" if count == 1 else f"{count} terms"
        listed = near or f"; functions are {', '.join(FORMULA_FUNCTIONS)}"
        return UnknownWordError(
            f"{quote_short(self.text)} calls {quote_short(function)} with {terms}{listed}", function
        )
