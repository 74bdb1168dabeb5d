"""The name that a program uses to call the operation of a step, such as `add.accumulate`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION
from typelattice.programs.calls.equivalent_operations import operation_of
from typelattice.programs.calls.steps import Step
from typelattice.programs.calls.ufunc_methods import REDUCTION_BY_UFUNC_METHOD, is_ufunc_method

# the operation of a step that writes into an array, by whatever is written in the source
WRITING_OPERATION = "setitem"


def name_in_source(step: Step) -> str:
    """Find the operation of a step by the name in its source text, if the text shows it.

    >>> from typelattice.programs.calls.steps import Call
    >>> name_in_source(Call("cumsum", (), (), (), text="np.add.accumulate(x)"))
    'add.accumulate'
    >>> name_in_source(Call("setitem", (), (), (), text="np.add(x, y, out=z)"))
    'add into out'
    >>> name_in_source(Call("add", (), (), (), text="x + y"))
    'add'
    """
    name = step.op or ""
    path, count = _parse_call(step.text)
    if not path:
        return name
    function = operation_of(path[-1], count, step.owner)
    # a method that writes into its array, as PyTorch's mul_ does, is not an operation
    if name == WRITING_OPERATION:
        return f"{path[-1]} into out" if function in OPERATION_BY_FUNCTION else path[-1]
    if is_ufunc_method(path):
        *_, ufunc, method = path
        stands_for = (
            ufunc if method == "outer" else REDUCTION_BY_UFUNC_METHOD.get(method, {}).get(ufunc, method)
        )
        return f"{ufunc}.{method}" if _find_operation(stands_for) == name else name
    return path[-1] if _find_operation(function) == name else name


def _find_operation(function: str) -> str:
    """Return the name of a function's operation, or the function's own name if it has none."""
    return OPERATION_BY_FUNCTION[function].name if function in OPERATION_BY_FUNCTION else function


def _parse_call(text: str) -> tuple[Sequence[str], int]:
    """Return the name that a text calls, without the object before it, and the number of its arguments.

    It is empty if the text does not parse as a call, or was cut.
    """
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (), 0
    if not isinstance(node, ast.Call):
        return (), 0
    names: list[str] = []
    function: ast.expr = node.func
    while isinstance(function, ast.Attribute):
        names.insert(0, function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        names.insert(0, function.id)
    return names, len(node.args)
