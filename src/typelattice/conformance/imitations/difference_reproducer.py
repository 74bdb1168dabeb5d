"""A difference of an implementation from the imitated library, as a short program of both."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from typelattice.conformance.imitations.implementation_differences import (
    ARRAY_OR_SCALAR,
    OTHER_VALUE,
    Difference,
    is_operator,
)
from typelattice.conformance.recording.chains import CHAIN_SEPARATOR, split_chain
from typelattice.conformance.recording.library import NotAskedError, ParsedOperandString
from typelattice.conformance.recording.operation_functions import first_result, function_of_operands
from typelattice.core.evidence.answer_notation import EXCEPTION_PREFIX, PYTHON_NUMBER_PREFIX
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.operations.operations import OPERATION_BY_NAME

VARIABLE_LETTERS = "xyzuvw"
MAX_REPRODUCER_LINES = 10
FILLED_CALL_BY_ONES_CALL = {"ones(2": "full((2,), {value}", "ones(()": "full((), {value}"}
"""An array of ones as it is written, and one of another number in its place."""


class CodeFragment:
    """Code in place of an object of the recorder's library: its `repr` is the code.

    That of a function which takes more than the operands has a `{}` in their place.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __call__(self, *arguments: object) -> CodeFragment:
        written = ", ".join(map(repr, arguments))
        return CodeFragment(self.text.format(written) if "{}" in self.text else f"{self.text}({written})")


def write_snippet(forms: Mapping[str, Any], difference: Difference, spellings: Mapping[str, str]) -> str:
    """Write a call as a program that prints the expected and the found dtype, a refusal last.

    `forms` is the table of the implementation, `spellings` the names of its functions. Returns "" if these
    cannot write the call.
    """
    found, expected = difference.found, difference.expected
    answers = (found.answer, expected.answer)
    if not forms or any(answer.startswith(PYTHON_NUMBER_PREFIX) for answer in answers):
        return ""
    lines, names, variables = [forms["setup"]], list[CodeFragment](), list[str]()
    for operand, letter in zip(found.operands, VARIABLE_LETTERS, strict=False):
        parsed = ParsedOperandString.parse(operand)
        if parsed.dtype is None:
            number = re.sub("inf|nan", r"float('\g<0>')", repr(parsed.value))  # inf and nan have no literals
            names.append(CodeFragment(f"({number})" if is_operator(found.op) else number))
        elif parsed.tier not in forms or re.fullmatch(forms.get("unmade", ""), parsed.dtype):
            return ""
        else:
            form = _array_filling_line(forms[parsed.tier], forms) if "=" in operand else forms[parsed.tier]
            lines.append(
                form.format(dtype=_library_dtype_name(parsed.dtype, forms), x=letter, value=parsed.value)
            )
            names.append(CodeFragment(letter))
            variables.append(letter)
    implementation_call, library_call = (
        write_call(
            found.op,
            [CodeFragment(form.format(x=x)) if repr(x) in variables else x for x in names],
            spellings,
            {**forms, "argument": form},
        )
        for form in (forms["argument"], forms.get("real", "{x}"))
    )
    if not implementation_call or not library_call:
        return ""
    for named, imitated in forms.get("modules", {}).items():
        library_call = library_call.replace(named, imitated)
    all_variables = ", ".join(variables)
    # A function such as result_type gives a dtype, not an array.
    gives_dtype = found.op in OPERATION_BY_NAME and OPERATION_BY_NAME[found.op].call_form == "promotion"
    compares_values = difference.difference_type == OTHER_VALUE
    dtype_replacement = (
        ""
        if gives_dtype or compares_values
        else ".__class__"
        if difference.difference_type == ARRAY_OR_SCALAR
        else None
    )
    print_lines = [
        _print_line(form, forms, dtype_replacement).format(call=call, names=all_variables)
        + f"  # {answer}, {word}"
        for form, call, answer, word in (
            (forms["expected"], library_call, _answer_text(expected, compares_values), "expected"),
            (forms["found"], implementation_call, _answer_text(found, compares_values), "found"),
        )
    ]
    lines += reversed(print_lines) if expected.answer.startswith(EXCEPTION_PREFIX) else print_lines
    return "\n".join(lines) if len(lines) <= MAX_REPRODUCER_LINES else ""


def first_snippet(
    forms: Mapping[str, Any], differences: Iterable[Difference], spellings: Mapping[str, str]
) -> tuple[Difference, str] | None:
    """Find the first difference that has a snippet."""
    written = ((each, write_snippet(forms, each, spellings)) for each in differences)
    return next((pair for pair in written if pair[1]), None)


def _library_dtype_name(dtype: str, forms: Mapping[str, Any]) -> str:
    """Return what the library calls a dtype."""
    for part, word in forms.get("words", {}).items():
        dtype = dtype.replace(part, word)
    return dtype


def _array_filling_line(form: str, forms: Mapping[str, Any]) -> str:
    """Return the line that makes an array of a number, not of ones."""
    for ones, filled in forms.get("filled", FILLED_CALL_BY_ONES_CALL).items():
        form = form.replace(ones, filled)
    return form


def _answer_text(call: RecordedCall, of_values: bool) -> str:
    return call.message if of_values else call.answer.removeprefix(EXCEPTION_PREFIX)


def _print_line(form: str, forms: Mapping[str, Any], instead: str | None) -> str:
    """Return the line that prints the dtype of a result, or what is read of it instead."""
    return form if instead is None else form.replace(forms.get("dtype", ".dtype"), instead)


def write_call(
    op_name: str, operands: Sequence[CodeFragment], spellings: Mapping[str, str], forms: Mapping[str, Any]
) -> str:
    """Write a call or a chain, or "" if an operator writes into its operand, or a name is unknown."""
    if CHAIN_SEPARATOR in op_name:
        written = ""
        for name, own_operands in split_chain(op_name, operands):
            previous_result = [CodeFragment(f"({written})")] if written else []
            written = write_call(name, [*previous_result, *own_operands], spellings, forms)
            if not written:
                return ""
        return written
    if is_operator(op_name):
        return (
            ""
            if OPERATION_BY_NAME[op_name].is_in_place
            else _write_operator_call(str(OPERATION_BY_NAME[op_name].operator), operands)
        )
    if op_name not in spellings:
        return ""
    if op_name not in OPERATION_BY_NAME:
        return repr(CodeFragment(spellings[op_name])(*operands))
    known = OPERATION_BY_NAME[op_name]
    array = forms.get("condition") or forms["array"].partition(" = ")[2].format(
        dtype=_library_dtype_name("bool", forms)
    )
    condition = CodeFragment(forms["argument"].format(x=array))
    matrix: Callable[[object], object] | None = None
    if "matrix" in forms:
        matrix = lambda x: CodeFragment(forms["matrix"].format(x=x))  # noqa: E731
    function = CodeFragment(spellings[op_name])
    index = SimpleNamespace(nonzero=lambda _: [CodeFragment(forms.get("index", "0"))])
    try:
        call: Any = function_of_operands(known, function, condition, matrix or _refuse_matrix, index)(
            *operands
        )
    except NotAskedError:
        return ""
    return f"{first_result(call)!r}{'[0]' * (known.call_form == 'multi-result')}"


def _refuse_matrix(x: object) -> object:
    raise NotAskedError("the table has no words for a matrix")


def _write_operator_call(sign: str, operands: Sequence[CodeFragment]) -> str:
    if len(operands) > 1:
        return f" {sign} ".join(map(repr, operands))
    return sign.replace("x", repr(operands[0])) if "x" in sign else f"{sign}{operands[0]!r}"
