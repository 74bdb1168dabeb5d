"""The site's pages of answers: a page for each everyday question, such as `int64+float16` or `divide`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from urllib.parse import quote, urlencode

from typelattice.core.engine.promotion import Promotion
from typelattice.core.operations.operations import OPERATIONS, find_operation
from typelattice.core.system_files.reader import system
from typelattice.study.tables.tables import is_small

DEFAULT_OPERATION = "add"  # the operation of pages without an operation in their name
OPERATIONS_WITH_NUMBERS = (DEFAULT_OPERATION, "multiply", "divide", "pow")
NUMBER_OPERANDS = ("1", "-1", "300", "100000", "2.5", "1e5", "1j")
SIGN_BY_OPERATION: Mapping[str, str] = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%",
    "pow": "**", "maximum": "", "where": "", "concat": "", "matmul": "@", "equal": "==",
}  # fmt: skip
UNARY_OPERATIONS = ("sum", "mean", "sqrt", "abs", "exp", "cumulative_sum", "var", "sign")
ANSWERS_FOLDER = "answers"
LIVE_PAGE = "live.html"  # the page that computes any question


@dataclass(frozen=True, slots=True)
class AnswerAddress:
    """An operation and its operands, as the name of the page writes them."""

    op: str
    operands: tuple[str, ...]

    @property
    def path(self) -> str:
        """Return the page's path from the folder of all: `int64+float16.html`, `divide/int64+float16.html`.

        >>> AnswerAddress("divide", ("int64", "float16")).path, AnswerAddress("sum", ("int8",)).path
        ('divide/int64+float16.html', 'sum/int8.html')
        """
        name = f"{'+'.join(self.operands)}.html"
        return name if self.op == DEFAULT_OPERATION else f"{self.op}/{name}"

    @property
    def title(self) -> str:
        """The question as code: `int64 / float16`, `maximum(int64, float16)`."""
        sign = SIGN_BY_OPERATION.get(self.op)
        return f" {sign} ".join(self.operands) if sign else f"{self.op}({', '.join(self.operands)})"


def list_dtypes() -> tuple[str, ...]:
    """Return the everyday dtypes: those of JAX, except those of fewer than 8 bits and small floats."""
    return tuple(str(dtype) for dtype in system("jax").dtypes if not is_small(dtype))


def list_questions() -> Iterator[AnswerAddress]:
    """List the questions by operation: pairs of everyday dtypes, each dtype with a number, each dtype.
    """
    every = list_dtypes()
    for op in SIGN_BY_OPERATION:
        for pair in combinations_with_replacement(every, 2):
            yield AnswerAddress(op, pair)
        for dtype in every if op in OPERATIONS_WITH_NUMBERS else ():
            yield from (AnswerAddress(op, (dtype, number)) for number in NUMBER_OPERANDS)
    for op in UNARY_OPERATIONS:
        yield from (AnswerAddress(op, (dtype,)) for dtype in every)


@cache
def _question_set() -> frozenset[AnswerAddress]:
    return frozenset(list_questions())


def find_question(operands: Sequence[str], op_name: str | None) -> AnswerAddress | None:
    """Return the question whose page answers operands in either order, or None if no page does.

    An operator has the page of its function, unless it writes in place. Plain promotion has the page of
    addition.

    >>> find_question(["float16", "int64"], "/").path
    'divide/int64+float16.html'
    >>> find_question(["int64:0d", "float16"], None) is None
    True
    """
    known = find_operation(op_name or DEFAULT_OPERATION)
    if known.is_in_place:
        return None
    name = known.function
    for order in (tuple(operands), tuple(operands)[::-1]):
        found = AnswerAddress(name, order)
        if found in _question_set():
            return found
    return None


def answer_link(promotion: Promotion) -> str:
    """Return the page that answers a question, from the site's root: a static page, or the live one.
    """
    operands = [str(o) for o in promotion.operands]
    found = find_question(operands, promotion.op)
    if found:
        return f"{ANSWERS_FOLDER}/{quote(found.path, safe='/+')}"
    names = [chr(ord("a") + i) if i < 26 else f"x{i}" for i in range(len(operands))]
    code = (
        f"{promotion.op}({', '.join(names)})"
        if promotion.op and promotion.op.isidentifier()
        else f" {promotion.op or '+'} ".join(names)
    )
    return live_link(code, dict(zip(names, operands, strict=True)), ())


def live_link(code: str, bound: Mapping[str, str], systems: Sequence[str]) -> str:
    """Return the page that computes the dtypes of a program, with the program in its address."""
    asked = {"code": code, "names": " ".join(f"{name}={x}" for name, x in bound.items())}
    return f"{LIVE_PAGE}#{urlencode(asked | ({'systems': ' '.join(systems)} if systems else {}))}"


def describe_scope() -> dict[str, object]:
    """Return the scope of all pages as plain data. Scripts use it to find the page of a question."""
    return {
        "usual": DEFAULT_OPERATION,
        "dtypes": list(list_dtypes()),
        "numbers": list(NUMBER_OPERANDS),
        "withNumbers": list(OPERATIONS_WITH_NUMBERS),
        "alone": list(UNARY_OPERATIONS),
        "operations": {op: _operation_names(op) for op in (*SIGN_BY_OPERATION, *UNARY_OPERATIONS)},
    }


def _operation_names(op_name: str) -> list[str]:
    """Return all names of an operation, and its sign."""
    return [op_name, *OPERATIONS[op_name].other_names, *filter(None, [SIGN_BY_OPERATION.get(op_name)])]
