"""Arrays that stay wide: constants of a module, defaults, and state that is updated from itself."""

from __future__ import annotations

import ast

from typelattice.tracing.remedies.step_node import StepNode


def is_lasting(at: StepNode) -> bool:
    """Return True if an array outlives the calls that use it, so that callers that did not run may see it.

    Such are constants of a module that a function reads, values of a class, defaults of parameters, and
    attributes that are updated from themselves, such as the moments of an optimizer.
    """
    source, scope = at.source, at.scope
    if isinstance(scope, ast.ClassDef):
        return True
    functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    if isinstance(scope, functions) and not source.is_in_body(at.node, scope):
        return True  # a default
    targets = source.list_targets(at.node)
    if isinstance(scope, ast.Module):
        return any(source.is_read_in_function(name) for name in targets) or (
            bool(targets) and source.is_imported
        )
    return any(source.is_updated_from_itself(name) for name in targets if not name.isidentifier())


def holds_state(at: StepNode, node: ast.AST) -> bool:
    """Return True if an expression reads what its own statement updates. It stays as wide as it is."""
    states = _list_states(at)
    return any(
        isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript)) and at.source.text(inner) in states
        for inner in ast.walk(node)
    )


def _list_states(at: StepNode) -> list[str]:
    """List what the statement of a step updates from its own value: attributes, elements, or running sums."""
    source, statement = at.source, at.source.find_statement(at.node)
    targets = source.list_targets(at.node)
    if isinstance(statement, ast.AugAssign):
        return targets
    in_loop = source.is_in_loop(at.node)
    return [text for text in targets if in_loop or not text.isidentifier()]
