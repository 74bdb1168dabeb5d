"""Changes at the expression that makes a wide array, at what decides its dtype, and at later results."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from typelattice.programs.calls.steps import Cast, Created, Input, Step
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.library_traits import cast_text
from typelattice.tracing.remedies.casts import list_guarded_casts
from typelattice.tracing.remedies.change import Change, StepCast
from typelattice.tracing.remedies.changes_where_met import plain_number_text
from typelattice.tracing.remedies.dtype_forms import list_dtype_forms, list_narrow_forms, narrow_dtype_text
from typelattice.tracing.remedies.lasting_arrays import holds_state
from typelattice.tracing.remedies.step_node import StepNode
from typelattice.tracing.source.dtype_arguments import (
    DTYPE_POSITIONS,
    find_cast_source,
    find_dtype_argument,
    is_casting_method,
    is_dtype,
    name_of_called,
)
from typelattice.tracing.source.function_calls import list_parameters, list_passed_arguments
from typelattice.tracing.source.source_file import FunctionNode, SourceFile

SIZED_OPERATIONS = {"zeros", "ones", "full", "empty", "eye"}
MAX_LATER_EXPRESSIONS = 6  # expressions after a widening that are cast instead


def propose_where_made(
    at: StepNode, cause: WideningCause, widening: StepNode | None, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield changes at the expression that makes the wide array."""
    node, step = at.node, at.predicted_run.steps[at.step]
    if not isinstance(node, ast.expr):
        return
    literal = narrow_dtype_text(at, cause)
    created = isinstance(step, Created) or (isinstance(node, ast.Call) and _creates_default_dtype(node, step))
    names = _list_names_at_hand(at, widening, created)
    casts = at.casts_of_results(cause.origin_steps)
    takes_dtype = isinstance(step, (Cast, Created)) or any(
        k.arg == "dtype" for k in getattr(node, "keywords", ())
    )
    asked = find_dtype_argument(node) if isinstance(node, ast.Call) and takes_dtype else None
    if isinstance(node, ast.Call) and _creates_default_dtype(node, step):
        for dtype in dict.fromkeys(
            [*list_dtype_forms(at, names, literal, "None"), *list_narrow_forms(at, names, literal)]
        ):
            yield at.make_change(at.source.make_keyword_edit(node, f"dtype={dtype}"), casts=casts)
    elif isinstance(node, ast.Call) and isinstance(step, Cast) and is_dtype(node.func):
        yield from _propose_other_casts(at, node, literal, casts)
    elif asked is not None and isinstance(node, ast.Call):
        yield from _propose_dtype_arguments(at, cause, node, asked, names, created, sources)
    is_part = bool(getattr(step, "part", ""))  # of a tuple or the like, which has no dtype
    if not isinstance(step, Created) and not is_part and not at.source.is_unpacked(node):
        inner = [] if cause.origin_steps[0] != cause.step else at.list_names(at.list_operands())
        names = [*dict.fromkeys([*names, *inner, *at.source.list_arrays_at_hand(node)])]
        text, alias = at.source.operand_text(node), at.find_library_alias()
        general, narrow = list_dtype_forms(at, names, literal), list_narrow_forms(at, names, literal)
        changes = {
            dtype: at.make_change(
                at.source.make_replacement_edit(node, cast_text(at.library, text, dtype, alias)), casts=casts
            )
            for dtype in [*general, *narrow]
        }
        yield from (changes[dtype] for dtype in general)
        yield from list_guarded_casts(at, node, names, literal, casts)
        yield from (changes[dtype] for dtype in narrow)


def _propose_other_casts(
    at: StepNode, node: ast.Call, literal: str, casts: Sequence[StepCast]
) -> Iterator[Change]:
    """Yield changes of a call that is named after a dtype: `np.float64(x)`, or the method `x.double()`."""
    if is_casting_method(node):
        text = cast_text(at.library, at.source.operand_text(node.func.value), literal)
        yield at.make_change(at.source.make_replacement_edit(node, text), casts=casts)
        return
    if len(node.args) == 1 and not node.keywords:  # a Python number does not widen arrays
        edit = at.source.make_replacement_edit(node, plain_number_text(at, node))
        yield at.make_change(edit, casts=casts)
    yield at.make_change(at.source.make_replacement_edit(node.func, literal), casts=casts)


def propose_like_array_at_hand(at: StepNode, cause: WideningCause) -> Iterator[Change]:
    """Yield changes that give a new array the dtype of an array at hand."""
    node, step = at.node, at.predicted_run.steps[at.step]
    if not isinstance(node, ast.Call) or not isinstance(step, Created):
        return
    asked = find_dtype_argument(node)
    function = at.source.find_function(node)
    if isinstance(asked, ast.Name) and function is not None and asked.id in list_parameters(function):
        return
    otherwise = "None" if asked is None else at.source.text(asked)
    literal, casts = narrow_dtype_text(at, cause), at.casts_of_results(cause.origin_steps)
    names = at.source.list_arrays_at_hand(node)
    bare = list_narrow_forms(at, names, literal)[:-1]
    for dtype in [*list_dtype_forms(at, names, literal, otherwise), *bare]:
        if asked is not None:
            yield at.make_change(at.source.make_replacement_edit(asked, dtype), casts=casts)
        elif step.dtype is None:
            yield at.make_change(at.source.make_keyword_edit(node, f"dtype={dtype}"), casts=casts)


def propose_at_later_results(
    predicted_run: PredictedRun, cause: WideningCause, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield casts of later results that a cause made wide, in the order of the run."""
    found = (
        StepNode.find(predicted_run, i, sources)
        for i in sorted({*cause.widening_steps, *cause.later_wide_steps})
    )
    nodes = {
        at.node: at
        for at in found
        if at is not None
        and isinstance(at.node, ast.expr)
        and not getattr(predicted_run.steps[at.step], "part", "")
        and not at.source.is_unpacked(at.node)
        and not holds_state(at, at.node)
    }
    for at in islice(nodes.values(), MAX_LATER_EXPRESSIONS):
        node = at.node
        assert isinstance(node, ast.expr)
        own = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}  # they may be wide
        names = [name for name in at.source.list_arrays_at_hand(node) if name not in own]
        literal, casts = narrow_dtype_text(at, cause), at.casts_of_results()
        for dtype in list_dtype_forms(at, names, literal):
            text = cast_text(at.library, at.source.operand_text(node), dtype, at.find_library_alias())
            yield at.make_change(at.source.make_replacement_edit(node, text), casts=casts)
        yield from list_guarded_casts(at, node, names, literal, casts)


def _list_names_at_hand(at: StepNode, widening: StepNode | None, creates_array: bool) -> list[str]:
    """Name the arrays at hand, the narrow operands of the step that widens first."""
    known = at.source.list_names_before(at.node)
    is_near = widening is not None and widening.scope is at.scope
    names = widening.list_names(widening.split_wide_and_narrow()[1]) if is_near and widening else []
    found = [name for name in names if name.partition(".")[0] in known]
    at_hand = at.source.list_arrays_at_hand(at.node) if creates_array else ()
    sizes = _list_sizes(at) if creates_array else set()
    shaped = _list_shaped_items(at) if creates_array else []
    return [name for name in dict.fromkeys((*found, *at_hand, *shaped)) if name not in sizes]


def _list_shaped_items(at: StepNode) -> list[str]:
    """List the items of lists whose shape a new array takes, as in `np.zeros(images[0].shape)`."""
    return [
        at.source.text(node.value)
        for node in ast.walk(at.node)
        if isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Subscript)
    ]


def _list_sizes(at: StepNode) -> set[str]:
    """List the names that are sizes of a new array, as in `np.zeros((n, length))`. They are no arrays."""
    is_sized = at.predicted_run.steps[at.step].op in SIZED_OPERATIONS
    if not is_sized or not isinstance(at.node, ast.Call) or not at.node.args:
        return set()
    shape = at.node.args[0]
    sizes = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
    return {size.id for size in sizes if isinstance(size, ast.Name)}


def _creates_default_dtype(node: ast.Call, step: Step) -> bool:
    """Return True if a call creates an array with the default dtype. The call's step may be an input."""
    if find_dtype_argument(node) is not None:
        return False  # an argument that may be None
    if isinstance(step, Created):
        return step.dtype is None
    return isinstance(step, Input) and name_of_called(node) in DTYPE_POSITIONS


def _propose_dtype_arguments(
    at: StepNode,
    cause: WideningCause,
    node: ast.Call,
    requested_dtype: ast.expr,
    names: Sequence[str],
    creates_array: bool,
    sources: Mapping[str, SourceFile],
) -> Iterator[Change]:
    """Yield changes of an argument that requests a wide dtype, including where a caller passes it."""
    scope, literal = at.scope, narrow_dtype_text(at, cause)
    if isinstance(requested_dtype, ast.Name) and isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from _propose_passed_dtypes(at, cause, scope, requested_dtype.id, sources)
        if requested_dtype.id in list_parameters(scope):
            return  # callers request a dtype, and get it
    source = find_cast_source(node)
    if isinstance(source, (ast.Name, ast.Attribute)):
        own = at.source.text(source)
        names = [*names, own] if creates_array else [own, *names]
    otherwise = at.source.text(requested_dtype)
    names = [*dict.fromkeys(names)]
    forms = [*list_dtype_forms(at, names, literal, otherwise), *list_narrow_forms(at, names, literal)]
    casts = at.casts_of_results(cause.origin_steps)
    for dtype in dict.fromkeys(forms):
        yield at.make_change(at.source.make_replacement_edit(requested_dtype, dtype), casts=casts)


def _propose_passed_dtypes(
    at: StepNode,
    cause: WideningCause,
    function: FunctionNode,
    parameter: str,
    sources: Mapping[str, SourceFile],
) -> Iterator[Change]:
    """Yield changes of calls that pass a dtype, or leave it to its default."""
    alias, literal = at.find_library_alias(), narrow_dtype_text(at, cause)
    default = f"{alias}.{cause.wide_dtype}" if alias else f'"{cause.wide_dtype}"'
    casts = at.casts_of_results(cause.origin_steps)
    for passed in list_passed_arguments(function, parameter, sources):
        node, value = passed.call, passed.value
        caller = at.at_node(passed.file, sources[passed.file], node)
        array = caller.source.text(node.args[0]) if node.args and isinstance(node.args[0], ast.Name) else ""
        otherwise = default if value is None else caller.source.text(value)
        for dtype in [*list_dtype_forms(caller, [array] if array else [], literal, otherwise), literal]:
            edit = (
                caller.source.make_replacement_edit(value, dtype)
                if value is not None
                else caller.source.make_keyword_edit(node, f"{parameter}={dtype}")
            )
            yield caller.make_change(edit, casts=casts)
