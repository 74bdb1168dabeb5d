"""An ONNX model without the nodes that its builder adds: an Identity before each result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx

from typelattice.programs.namespaces.computing_libraries.ndonnx import OPSET_VERSION

IDENTITY = "Identity"


def tidy_model(model: Any) -> Any:
    """Name each result after the node that computes it, and state the newest set of operators.

    A runtime need not know the dtype of a result in a further operator then. An Identity stays if a result is
    an input, or is given twice.
    """
    graph = model.graph
    computed = {name for node in graph.node if node.op_type != IDENTITY for name in node.output}
    results = {each.name for each in graph.output}
    renamed: dict[str, str] = {}
    kept = []
    for node in graph.node:
        is_plain = node.op_type == IDENTITY and not node.domain and node.output[0] in results
        if is_plain and node.input[0] in computed and node.input[0] not in {*renamed, *results}:
            renamed[node.input[0]] = node.output[0]
        else:
            kept.append(node)
    if renamed:
        del graph.node[:]
        graph.node.extend(kept)
        _rename(graph, lambda name: renamed.get(name, name))
    _state_newest_operators(model)
    return model


def _rename(graph: Any, new_name: Callable[[str], str]) -> None:
    """Rename values of a graph, and of the graphs in its nodes."""
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [*map(new_name, names)]
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                _rename(inner, new_name)


def _state_newest_operators(model: Any) -> None:
    """State the newest set of operators that we know if no node changes by it.

    An older set has fewer dtypes in Identity, which only gives its operand.
    """
    stated = next((each for each in model.opset_import if not each.domain), None)
    if stated is None or stated.version >= OPSET_VERSION:
        return
    names = {node.op_type for node in model.graph.node if not node.domain} - {IDENTITY}
    if all(_is_unchanged(name, stated.version) for name in names):
        stated.version = OPSET_VERSION


def _is_unchanged(name: str, version: int) -> bool:
    before, after = (onnx.defs.get_schema(name, each) for each in (version, OPSET_VERSION))
    return bool(before.since_version == after.since_version)
