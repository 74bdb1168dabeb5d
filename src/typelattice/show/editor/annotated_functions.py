"""Steps of functions that annotate their parameters with dtypes, such as `x: NDArray[np.float32]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.explanations.explanation_text import write_explanation
from typelattice.core.registry.system_headings import LIBRARIES_HEADING, heading_of
from typelattice.core.system_files.system_text import systems
from typelattice.programs.calls.library_questions import forbid_questions
from typelattice.programs.entry_points.make_program import program
from typelattice.programs.readers.source.python_values import library_of_name
from typelattice.programs.readers.source.quiet_parser import parse_source
from typelattice.show.editor.known_steps import ExpressionDType, location_range

DEFAULT_SYSTEM = "numpy"  # the system of a file that imports no library
PYTHON_NUMBERS = ("bool", "int", "float", "complex")


def list_steps_of_annotations(text: str) -> Iterator[ExpressionDType]:
    """Yield the steps of each function with a dtype for every parameter, by the rules of its library.

    >>> source = "def f(x: NDArray[np.float32], n: int):\\n    return x * n\\n"
    >>> [(step.line, step.dtype) for step in list_steps_of_annotations(source)]
    [(1, 'float32')]
    """
    try:
        tree = parse_source(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    name, lines = _system_of_imports(tree), text.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (bound := _operands_of_parameters(node)):
            yield from _list_expression_dtypes(node, bound, name, lines)


def _system_of_imports(tree: ast.Module) -> str:
    """Return the system of the first library that a file imports."""
    libraries = [name for name in systems() if heading_of(name) == LIBRARIES_HEADING]
    for node in ast.walk(tree):
        named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        named += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        for module in named:
            library = library_of_name(module.partition(".")[0])
            if library in libraries:
                return library
    return DEFAULT_SYSTEM


def _operands_of_parameters(node: ast.FunctionDef) -> dict[str, str]:
    """Map each parameter to its operand. Return an empty mapping if one has no dtype."""
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    found = {one.arg: _annotated_dtype(one.annotation) for one in arguments}
    starred = node.args.vararg or node.args.kwarg
    return {} if starred or not all(found.values()) else {name: str(d) for name, d in found.items()}


def _annotated_dtype(annotation: ast.expr | None) -> str | None:
    """Return the dtype that an annotation names: the first dtype among its names, whatever their case.

    >>> annotations = ("Float32[Array, 'n 3']", "np.int8", "float", "str")
    >>> [_annotated_dtype(ast.parse(a, mode="eval").body) for a in annotations]
    ['float32', 'int8', 'float', None]
    """
    if annotation is None:
        return None
    if isinstance(annotation, ast.Name) and annotation.id in PYTHON_NUMBERS:
        return annotation.id
    for node in ast.walk(annotation):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name.lower() in DTYPES and name not in PYTHON_NUMBERS:
            return name.lower()
    return None


def _list_expression_dtypes(
    node: ast.FunctionDef, bound: dict[str, str], name: str, lines: Sequence[str]
) -> Iterator[ExpressionDType]:
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
    indent = len(source) - len(source.lstrip())
    source = "\n".join(line[indent:] if not line[:indent].strip() else line for line in source.split("\n"))
    try:
        with forbid_questions():  # to open a file asks nobody
            made = program(source, **bound)
            outcomes = [*made.under(name)]
    except TypelatticeError:  # the annotation is no operand, or the function cannot be read
        return
    for step, outcome in zip(made.steps, outcomes, strict=True):
        if step.op is None or step.location is None or outcome.operand is None:
            continue
        line = step.location.line + node.lineno - 1
        columns = location_range(step.text, lines, line) if line >= first else None
        if columns:
            rule = f"\n\n{write_explanation(outcome.promotion)}" if outcome.promotion else ""
            about = f"{step.text}: by the annotations, under {name}{rule}"
            yield ExpressionDType(line - 1, *columns, _describe_operand(outcome.operand), about)


def _describe_operand(operand: object) -> str:
    text = str(operand)
    return text.partition("=")[0].replace(":weak", "*").partition(":")[0]
