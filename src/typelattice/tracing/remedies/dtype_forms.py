"""The ways to write a float dtype like that of an array, from the idiomatic to the general."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from typelattice.programs.calls.steps import Cast, Created
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.remedies.step_node import StepNode
from typelattice.tracing.run_data.float_widths import dtype_at_width_of, dtype_width, is_integer
from typelattice.tracing.source.function_calls import list_parameters
from typelattice.tracing.source.source_file import PARAMETERS_WITHOUT_ARRAY, FunctionNode

MAX_ASSIGNMENTS_FOLLOWED = 8  # assignments from a name back to a parameter


def narrow_dtype_text(at: StepNode, cause: WideningCause) -> str:
    """Return the narrow dtype of a cause as a file names it."""
    name = dtype_at_width_of(cause.wide_dtype, cause.narrow_dtype).name
    alias = at.find_library_alias()
    return f"{alias}.{name}" if alias else f'"{name}"'


def list_dtype_forms(at: StepNode, names: Sequence[str], literal: str, otherwise: str = "") -> list[str]:
    """List the expressions of a float dtype like the arrays of some names, the idiomatic ones first.

    `result_type(x, 0.0)` is the dtype of a float array, and the default float for integers. The last forms
    leave everything as it was, `otherwise`, unless the array has the narrow dtype itself. A name that was a
    number has no bare `x.dtype`, and one that no step shows to be an array has it last.
    """
    alias, names = at.find_library_alias(), list_names_of_narrow_arrays(at, names)
    floats = [name for name in names if not may_be_integer(at, name)]
    arrays = [name for name in names if is_surely_array(at, name)]
    unseen = [name for name in names if name not in arrays and not at.list_operands_named(name)]
    varied = [name for name in names if name not in arrays and name not in unseen]
    found = [f"{name}.dtype" for name in arrays if name in floats]
    if alias:
        found += [f"{alias}.result_type({name}, 0.0)" for name in arrays]
        seen = [name for name in names if name not in unseen]
        if len(seen) > 1:
            found.append(f"{alias}.result_type({', '.join(seen)}, 0.0)")
        found += [f"{alias}.result_type({alias}.asarray({x}), 0.0)" for x in names if x not in varied]
        found += [f"{alias}.result_type({name}, 0.0)" for name in varied]
        found += [f"{alias}.result_type({alias}.asarray({name}), 0.0)" for name in varied]
    if otherwise:
        found += [f"{literal} if {test} else {otherwise}" for test in list_dtype_tests(at, names, literal)]
    return [*found, *(f"{name}.dtype" for name in unseen if name in floats)]


def is_surely_array(at: StepNode, name: str) -> bool:
    """Return True if a name is an array: each of its uses in the run was, or the source reads its shape."""
    seen = at.list_operands_named(name)
    if seen:
        return all(operand.tier != "scalar" for operand in seen)
    function = at.source.find_function(at.node)
    return function is not None and name in at.source.list_names_used_as_arrays(function, at.node.lineno)


def list_narrow_forms(at: StepNode, names: Sequence[str], literal: str) -> list[str]:
    """List the expressions of a narrow dtype that are wrong for other callers: a cast with it comes last.

    If a caller passes integers, those with the bare dtype of a name stay integers.
    """
    names = list_names_of_narrow_arrays(at, names)
    return [*(f"{name}.dtype" for name in names if may_be_integer(at, name)), literal]


def list_names_of_narrow_arrays(at: StepNode, names: Sequence[str]) -> list[str]:
    """List the names that may be narrow arrays: those that the run saw as such, or did not see.

    A mask, an index, a Python number or a wide constant has no narrow dtype to give. A name that was also
    something else, such as a number, comes later. A wide variable comes last, as another change may make it
    narrow.
    """
    limit, variables = at.predicted_run.widths[at.step], at.source.list_names_before(at.node)
    found: list[str] = []
    mixed: list[str] = []
    wide: list[str] = []
    for name in names:
        seen = at.list_operands_named(name)
        floats = [dtype_width(o.dtype) for o in seen if o.dtype is not None and o.tier != "scalar"]
        widths = [width for width in floats if width is not None]
        if not seen or any(limit is None or width < limit for width in widths):
            (found if len(widths) == len(seen) else mixed).append(name)
        elif widths and name in variables:
            wide.append(name)
    return [*found, *mixed, *wide]


def list_dtype_tests(at: StepNode, names: Sequence[str], literal: str) -> list[str]:
    """List the conditions that an array has a dtype. The last ones take lists and numbers, too.

    A name that the run saw as a number may be one beside an array that has the dtype.
    """
    numbers = [name for name in names if any(o.tier == "scalar" for o in at.list_operands_named(name))]
    plain = [f"{name}.dtype == {literal}" for name in names if name not in numbers]
    safe = [
        f'getattr({name}, "dtype", {literal if name in numbers and len(names) > 1 else None}) == {literal}'
        for name in names
    ]
    both = [" and ".join(tests) for tests in (plain, safe) if len(tests) > 1]
    return [*plain, *safe, *both]


def may_be_integer(at: StepNode, name: str) -> bool:
    """Return True if a caller of the function around a step can make the array of a name an integer.

    So it is for a parameter, unless the step refuses integers there, and for what is computed from one by
    steps that give integers of integers. Code outside of functions has no other callers.
    """
    function = at.source.find_function(at.node)
    if function is None:
        return False
    operands = {at.source.text(x): p for x, p in at.pair_operands()}
    if name in operands:
        outcome = at.predicted_run.predict_with_integers(at.step, operands[name])
        if outcome is not None and outcome.operand is None:
            return False
    return _comes_from_integers(at, function, name, at.node.lineno, MAX_ASSIGNMENTS_FOLLOWED)


def _comes_from_integers(at: StepNode, function: FunctionNode, name: str, line: int, depth: int) -> bool:
    """Return True if a name can be an integer at a line of a function."""
    root = name.partition(".")[0].partition("[")[0]
    assigned = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and node.lineno < line
        and any(isinstance(target, ast.Name) and target.id == root for target in node.targets)
    ]
    if not assigned:
        return root in list_parameters(function) and root not in PARAMETERS_WITHOUT_ARRAY
    last = max(assigned, key=lambda node: node.lineno)
    names = at.list_names([last.value])
    if depth == 0 or not any(_comes_from_integers(at, function, x, last.lineno, depth - 1) for x in names):
        return False
    return all(_gives_integers(at, i) for i in at.list_steps_of(last.value))


def _gives_integers(at: StepNode, step_number: int) -> bool:
    """Return True if a step gives integers of integers."""
    step = at.predicted_run.steps[step_number]
    if isinstance(step, (Created, Cast)):
        return False
    outcome = at.predicted_run.predict_with_integers(step_number)
    return outcome is None or is_integer(outcome.operand)
