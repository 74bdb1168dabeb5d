"""Changes that make a step give under other systems the dtype that it had in a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from typelattice.core.dtypes.dtypes import DType
from typelattice.programs.calls.steps import Created
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.library_traits import cast_text, in_range_texts
from typelattice.tracing.remedies.casts import LIST_NODES
from typelattice.tracing.remedies.change import Change
from typelattice.tracing.remedies.step_node import StepNode
from typelattice.tracing.source.source_file import SourceFile


def propose_agreeing_changes(
    predicted_run: PredictedRun, step_number: int, observed_dtype: DType, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield changes that make a step give the observed dtype under the other systems as well.

    They pass `dtype=` to the call, or cast one operand, all operands or the result.
    """
    at = StepNode.find(predicted_run, step_number, sources)
    if at is None:
        return
    alias, step, node = at.find_library_alias(), predicted_run.steps[step_number], at.node
    literal = f"{alias}.{observed_dtype.name}" if alias else f'"{observed_dtype.name}"'
    yield from _write_in_range(at)
    takes = isinstance(step, Created) or len(predicted_run.inputs[step_number]) == 1
    if isinstance(node, ast.Call) and takes and "dtype" not in [k.arg for k in node.keywords]:
        yield at.make_change(at.source.make_keyword_edit(node, f"dtype={literal}"))
    if isinstance(step, Created):
        return
    constants = (ast.Constant, ast.Starred, *LIST_NODES)
    operands = [operand for operand in at.list_operands() if not isinstance(operand, constants)]
    for cast_together in [
        *([operand] for operand in operands),
        *([operands] if len(operands) > 1 else []),
        *([[node]] if isinstance(node, ast.expr) else []),
    ]:
        yield at.make_change(
            *(
                at.source.make_replacement_edit(
                    operand, cast_text(at.library, at.source.operand_text(operand), literal, alias)
                )
                for operand in cast_together
            )
        )


def _write_in_range(at: StepNode) -> Iterator[Change]:
    """Yield a call that makes an array of constants, written so that each release takes the constants."""
    list_texts = in_range_texts(at.library)
    if list_texts is None or not isinstance(at.node, ast.Call):
        return
    try:
        found = [*list_texts(at.node, "", at.find_library_alias(), at.source.text, ast.literal_eval)]
    except (ValueError, TypeError):  # an argument is no constant
        return
    for node, text in found:
        yield at.make_change(at.source.make_replacement_edit(node, text))
