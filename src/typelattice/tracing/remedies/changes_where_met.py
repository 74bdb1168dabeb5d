"""Changes at the step where a wide array meets a narrow one, and at the callers that passed the wide one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.operations.operations import OPERATIONS
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION, find_signature
from typelattice.programs.calls.steps import Call
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.library_traits import has_scalars
from typelattice.tracing.remedies.casts import list_casts, list_guarded_casts
from typelattice.tracing.remedies.change import Change, StepCast
from typelattice.tracing.remedies.dtype_forms import list_dtype_forms, list_narrow_forms, narrow_dtype_text
from typelattice.tracing.remedies.lasting_arrays import holds_state
from typelattice.tracing.remedies.step_node import StepNode
from typelattice.tracing.run_data.float_widths import dtype_at_width_of
from typelattice.tracing.source.dtype_arguments import DTYPE_POSITIONS, is_dtype, name_of_called
from typelattice.tracing.source.function_calls import list_passed_arguments
from typelattice.tracing.source.source_file import SourceFile

LIST_OPERATIONS = {"concat", "stack"}  # both take a list of arrays, and a dtype
UFUNC_BY_OPERATOR: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power",
}  # fmt: skip
"""The function of each operator. It takes lists and numbers, as an array does beside the operator."""


def propose_where_met(at: StepNode, cause: WideningCause) -> Iterator[Change]:
    """Yield casts of the operands that widen others, at the widening step."""
    wide, narrow = at.split_wide_and_narrow()
    names, literal = at.list_names(narrow), narrow_dtype_text(at, cause)
    if at.takes_list_by_name:  # a list has no dtype, and its items are what widens
        names = [*at.source.list_arrays_at_hand(at.node)]
    keywords = [*_propose_dtype_keywords(at, cause, wide, names, literal)]
    takes_dtype = _takes_dtype(at)
    yield from keywords if takes_dtype else ()
    if isinstance(at.node, ast.BinOp):
        yield from _propose_functions(at, at.node, wide)
    arrays = [x for x in wide if not isinstance(x, ast.Constant) and not holds_state(at, x)]
    # what is written into a cast of the target would be lost
    arrays = [x for x in arrays if not isinstance(at.node, ast.Assign) or x is at.node.value]
    yield from _propose_casts(at, arrays, list_dtype_forms(at, names, literal))
    at_hand = [*dict.fromkeys([*names, *at.source.list_arrays_at_hand(at.node)])]
    if len(arrays) > 1:  # each of two wide operands widens
        casts = at.casts_of_operands(arrays)
        guarded = (list_guarded_casts(at, x, names, literal, casts) for x in arrays)
        for changes in zip(*guarded, strict=False):
            yield at.make_change(*(edit for change in changes for edit in change.edits), casts=casts)
    for x in arrays:
        casts = at.casts_of_operands([x])
        yield from list_guarded_casts(at, x, names, literal, casts)
        if len(at_hand) > len(names):
            yield from list_guarded_casts(at, x, at_hand, literal, casts)
    yield from _propose_casts(at, arrays, list_narrow_forms(at, names, literal))
    # only a run tells whether another function takes it
    yield from () if takes_dtype else (replace(change, casts=()) for change in keywords)


def propose_plain_constants(at: StepNode, origin: StepNode) -> Iterator[Change]:
    """Yield `float(NORM)` for a wide scalar that a module or a class keeps under a name.

    A Python number has no width, so callers with wide arrays keep the number and the dtype.
    """
    run, made = at.predicted_run, origin.predicted_run.result_of(origin.step)
    around = origin.source.parent_by_node.get(origin.node)
    is_scalar = made is not None and made.tier == "0d" and made.kind is Kind.FLOAT
    if not is_scalar or not has_scalars(origin.library) or not isinstance(around, ast.Assign):
        return
    names = {origin.source.text(target) for target in around.targets if isinstance(target, ast.Name)}
    used = [
        node for x in at.list_operands() for node in ast.walk(x)
        if isinstance(node, ast.Name) and node.id in names
    ]  # fmt: skip
    casts = [StepCast(origin.step, i) for i in run.consumers[origin.step]]
    if used and at.file == origin.file:
        edits = (at.source.make_replacement_edit(node, f"float({node.id})") for node in used)
        yield at.make_change(*edits, casts=casts)


def _propose_casts(at: StepNode, arrays: Sequence[ast.expr], dtypes: Sequence[str]) -> Iterator[Change]:
    """Yield casts of one operand, or of all, to each of some dtypes."""
    for dtype in dtypes:
        others = [x for x in arrays if dtype.removesuffix(".dtype") != at.source.text(x)]
        for together in [*([x] for x in others), *([others] if len(others) > 1 else [])]:
            yield from list_casts(at, together, dtype, at.casts_of_operands(together))


def _takes_dtype(at: StepNode) -> bool:
    """Return True if the function of a step is known to take `dtype=`.

    A function that is made of operations, such as a loss, has parameters of its own.
    """
    operation = OPERATIONS.get(at.predicted_run.steps[at.step].op or "")
    if at.takes_list_by_name and isinstance(at.node, ast.Call) and name_of_called(at.node) in DTYPE_POSITIONS:
        return True  # `np.array(rows)`
    if isinstance(at.node, ast.Call) and OPERATION_BY_FUNCTION.get(name_of_called(at.node)) is not operation:
        return False
    return operation is not None and find_signature(operation, at.library).find_parameter("dtype") is not None


def propose_widening(at: StepNode, cause: WideningCause) -> Iterator[Change]:
    """Yield casts of the narrow operands to the wide dtype, which the program requests."""
    _, narrow = at.split_wide_and_narrow()
    alias, name = at.find_library_alias(), dtype_at_width_of(cause.narrow_dtype, cause.wide_dtype).name
    arrays = [x for x in narrow if not isinstance(x, ast.Constant)]
    if arrays:
        casts = at.casts_of_operands(arrays)
        yield from list_casts(at, arrays, f"{alias}.{name}" if alias else f'"{name}"', casts)


def propose_to_callers(
    at: StepNode, cause: WideningCause, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield casts of what callers pass, if the wide array of a widening step is a parameter."""
    scope = at.scope
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    wide, _ = at.split_wide_and_narrow()
    literal = narrow_dtype_text(at, cause)
    for x in {x.id: x for x in wide if isinstance(x, ast.Name)}.values():
        casts = at.casts_of_operands([x])
        for passed in list_passed_arguments(scope, x.id, sources):
            value = passed.value
            if value is None or isinstance(value, (ast.Constant, ast.Starred)):
                continue
            caller = at.at_node(passed.file, sources[passed.file], value)
            others = [x for x in passed.call.args if x is not value]
            names = [*caller.list_names(others), *caller.source.list_arrays_at_hand(value)]
            names = [*dict.fromkeys(names)]
            for dtype in list_dtype_forms(caller, names, literal):
                yield from list_casts(caller, [value], dtype, casts)
            yield from list_guarded_casts(caller, value, names, literal, casts)
            for dtype in list_narrow_forms(caller, names, literal):
                yield from list_casts(caller, [value], dtype, casts)


def _propose_dtype_keywords(
    at: StepNode, cause: WideningCause, wide: Sequence[ast.expr], names: Sequence[str], literal: str
) -> Iterator[Change]:
    """Yield `dtype=` of a call that takes a list of arrays, or that widens by itself, as `numpy.cov` does."""
    step, node = at.predicted_run.steps[at.step], at.node
    takes_list = step.op in LIST_OPERATIONS or len(at.predicted_run.inputs[at.step]) > len(wide)
    widens_by_itself = isinstance(step, Call) and cause.origin_steps[0] == cause.step
    if not isinstance(node, ast.Call) or not (takes_list or widens_by_itself):
        return
    asked = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    otherwise = "None" if asked is None else at.source.text(asked)
    for dtype in [*list_dtype_forms(at, names, literal, otherwise), *list_narrow_forms(at, names, literal)]:
        edit = (
            at.source.make_keyword_edit(node, f"dtype={dtype}")
            if asked is None
            else at.source.make_replacement_edit(asked, dtype)
        )
        yield at.make_change(edit, casts=at.casts_of_results())


def _propose_functions(at: StepNode, node: ast.BinOp, wide: Sequence[ast.expr]) -> Iterator[Change]:
    """Yield a call in the place of an operator with a library's number, which becomes a Python number."""
    alias, function = at.find_library_alias(), UFUNC_BY_OPERATOR.get(type(node.op))
    if not alias or function is None:
        return
    for number in wide:
        if isinstance(number, ast.Call) and is_dtype(number.func) and len(number.args) == 1:
            plain = plain_number_text(at, number)
            texts = [plain if x is number else at.source.text(x) for x in (node.left, node.right)]
            edit = at.source.make_replacement_edit(node, f"{alias}.{function}({', '.join(texts)})")
            yield at.make_change(edit, casts=at.casts_of_operands([number]))


def plain_number_text(at: StepNode, node: ast.Call) -> str:
    """Write the argument of a call such as `np.float64(2)` as a Python number."""
    (value,) = node.args
    text = at.source.text(value)
    result = at.predicted_run.result_of(at.step)
    if result is not None and result.kind is Kind.COMPLEX:
        return f"complex({text})"
    if isinstance(value, ast.Constant) and type(value.value) in (int, float):
        return f"{text}.0" if text.isdecimal() else text
    return f"float({text})"
