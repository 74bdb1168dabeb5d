"""The ways to write the cast of an expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from typelattice.tracing.library_traits import cast_text
from typelattice.tracing.remedies.change import Change, StepCast
from typelattice.tracing.remedies.dtype_forms import list_dtype_tests, list_names_of_narrow_arrays
from typelattice.tracing.remedies.step_node import StepNode

LIST_NODES = (ast.List, ast.Tuple)


def list_casts(
    at: StepNode, nodes: Sequence[ast.expr], dtype: str, casts: Sequence[StepCast]
) -> Iterator[Change]:
    """Yield the ways to cast expressions: as arrays, or as lists."""
    source, alias = at.source, at.find_library_alias()
    if not at.takes_list_by_name and not any(isinstance(node, LIST_NODES) for node in nodes):
        edits = (
            source.make_replacement_edit(node, cast_text(at.library, source.operand_text(node), dtype, alias))
            for node in nodes
        )
        yield at.make_change(*edits, casts=casts)
    if alias:
        edits = (
            source.make_replacement_edit(node, f"{alias}.asarray({source.text(node)}, dtype={dtype})")
            for node in nodes
        )
        yield at.make_change(*edits, casts=casts)


def list_guarded_casts(
    at: StepNode, node: ast.expr, names: Sequence[str], literal: str, casts: Sequence[StepCast]
) -> Iterator[Change]:
    """Yield casts that are made only beside an array of the narrow dtype."""
    source, alias = at.source, at.find_library_alias()
    text = source.text(node)
    operand = source.operand_text(node)
    is_list = at.takes_list_by_name or isinstance(node, LIST_NODES)
    texts = [] if is_list else [cast_text(at.library, operand, literal, alias)]
    texts += [f"{alias}.asarray({text}, dtype={literal})"] if alias else []
    names = [name for name in list_names_of_narrow_arrays(at, names) if name != text]
    for cast in texts:
        for test in list_dtype_tests(at, names, literal):
            edit = source.make_replacement_edit(node, f"({cast} if {test} else {text})")
            yield at.make_change(edit, casts=casts)
