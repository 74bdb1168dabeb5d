"""Links from an array to the operations on its elements in a loop: `for value in x`.

An element is a new scalar each time, so the run itself does not show where it comes from.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from typelattice.repair.tune.operation_sites import OperationSite
from typelattice.repair.tune.places import find_node
from typelattice.tracing.source.source_file import SourceFile


def link_loops(sites: Sequence[OperationSite], sources: Mapping[str, SourceFile]) -> None:
    """Add the sites that made the array of a loop to the inputs of the sites that use its elements."""
    for file, source in sources.items():
        nodes = [
            (number, node) for number, site in enumerate(sites)
            if site.file == file and (node := find_node(source, site)) is not None
        ]  # fmt: skip
        for loop in ast.walk(source.tree):
            if isinstance(loop, (ast.For, ast.comprehension)):
                names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
                arrays = {n.id for n in ast.walk(loop.iter) if isinstance(n, ast.Name)}
                makers = [number for number, node in nodes if assigned_names(source, node) & arrays]
                for number, node in nodes:
                    if is_in(source, node, loop) and names & names_in(node):
                        sites[number].inputs.update(i for i in makers if i != number)


def assigned_names(source: SourceFile, node: ast.expr) -> set[str]:
    """Return the names that an expression is assigned to."""
    around = source.parent_by_node.get(node)
    targets = around.targets if isinstance(around, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def is_in(source: SourceFile, node: ast.AST, loop: ast.AST) -> bool:
    """Return True if a node is in a loop."""
    around = source.parent_by_node.get(loop) if isinstance(loop, ast.comprehension) else loop
    while node in source.parent_by_node:
        node = source.parent_by_node[node]
        if node is around:
            return True
    return False
