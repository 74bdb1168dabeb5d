"""Python source as a program: an expression, lines with assignments, a function. Nothing is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from textwrap import dedent
from typing import Any

from typelattice.calls.program_builder import ProgramBuilder
from typelattice.calls.program_inputs import is_operand
from typelattice.calls.steps import MAX_STEP_CHARS, Argument, Excerpt, ProgramError, SourceLocation
from typelattice.facts.operations import Operation
from typelattice.programs.source.name_meanings import (
    DefinedFunction,
    Reading,
    Scope,
    library_used_by,
    run_reading,
)
from typelattice.programs.source.quiet_parser import parse_source
from typelattice.programs.source.syntax_reader import NOTHING_RETURNED, SourceReader, list_parameter_names
from typelattice.support.error_texts import clip_text, quote_short, spelling_hint

MAX_SOURCE_CHARS = 8_000_000  # characters; a longer source is refused
ACCEPTED_SOURCE = "operators, functions of arrays, .astype(dtype), names and numbers, on one line or several"


def read_source(
    text: str,
    bound: Mapping[str, object],
    custom_operations: Mapping[str, Operation],
    file: str = "",
    function: str | None = None,
) -> tuple[ProgramBuilder, list[int]]:
    """Return the steps of a source, and the numbers of its result steps. Raises ProgramError.

    `custom_operations` are the operations that systems define. `function` names the function to read in a
    file.
    """
    if len(text) > MAX_SOURCE_CHARS:
        raise ProgramError(f"a source of {len(text):,} characters; the longest is {MAX_SOURCE_CHARS:,}")
    clean = dedent(text.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
    clean = clean if "\n" in clean else clean.strip()
    builder = ProgramBuilder(custom_operations=custom_operations)
    source = SourceReader(builder, clean if not file else text, file, bound)
    lines = _parse_lines(source)
    source.library = library_used_by(lines)
    scope: Scope = {}
    if function is not None or _is_function(lines):
        found = run_reading(_read_function(source, lines, scope, function))
    else:
        found = run_reading(_read_script(source, lines, scope))
    excerpt = Excerpt(clip_text(clean, MAX_STEP_CHARS))
    results = found if isinstance(found, tuple) and not _is_list(lines) else (found,)
    return source.builder, [source.builder.ensure_ref(excerpt, x).step for x in results]


def _parse_lines(source: SourceReader) -> list[ast.stmt]:
    """Return the lines of a source. Raises ProgramError if Python cannot parse it."""
    try:
        lines = parse_source(source.text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        why = getattr(e, "msg", None) or "nested too deep; give parts of it names on lines of their own"
        line = getattr(e, "lineno", None) or 1
        where = f"{SourceLocation(source.file or '<source>', line)}: " if source.has_several_lines else ""
        why += _describe_error_position(e)
        raise ProgramError(
            f"{where}{quote_short(source.text)} is no program: {why}; give {ACCEPTED_SOURCE}"
        ) from None
    if not lines:
        what = source.file or quote_short(source.text)
        raise ProgramError(f"{what} is no program: there is nothing in it; give {ACCEPTED_SOURCE}")
    return lines


def _describe_error_position(error: BaseException) -> str:
    """Return the column of a syntax error and the text there, or nothing if Python does not state it."""
    offset, text = getattr(error, "offset", None), getattr(error, "text", None)
    if not offset or not text or offset > len(text.rstrip()):
        return " at its end" if offset else ""
    return f" at column {offset}, {quote_short(text[offset - 1 :].rstrip())}"


def _is_function(lines: Sequence[ast.stmt]) -> bool:
    """Return True if a source ends with the definition of a function."""
    return isinstance(lines[-1], ast.FunctionDef)


def _read_annotations(function: DefinedFunction) -> dict[str, object]:
    """Return the operand strings that annotate a function's parameters, as in `x: "float32[3]"`."""
    args = function.node.args
    stated = {a.arg: a.annotation for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    return {
        name: said.value
        for name, said in stated.items()
        if isinstance(said, ast.Constant) and isinstance(said.value, str) and is_operand(said.value)
    }


def _is_list(lines: Sequence[ast.stmt]) -> bool:
    return len(lines) == 1 and isinstance(lines[0], ast.Expr) and isinstance(lines[0].value, ast.List)


def _bind_names(source: SourceReader, names: Sequence[str]) -> dict[str, Any]:
    return {name: _read_input(source, name) for name in names}


def _read_input(source: SourceReader, name: str) -> Argument:
    """Return the value for a name: an input, a tuple as it is, or None."""
    given = source.bound[name]
    if given is None or (isinstance(given, str) and given == "None"):
        return None
    if isinstance(given, tuple):
        return given
    return source.builder.add_input(Excerpt(name, owner=source.library), given)


def _read_script(source: SourceReader, lines: Sequence[ast.stmt], scope: Scope) -> Reading:
    """Read lines that end with the result: an expression, or an assignment."""
    scope.update(_bind_names(source, [*source.bound]))
    found = yield _read_lines(source, lines, scope)
    _check_used(source, lines)
    return found


def _read_lines(source: SourceReader, lines: Sequence[ast.stmt], scope: Scope) -> Reading:
    """Read lines and return what they return, or the value of the last line."""
    *before, last = lines
    found = yield source.read_block(before, scope)
    if found is NOTHING_RETURNED and isinstance(last, ast.Expr):
        return source.as_argument(last, (yield source.read_expression(last.value, scope)))
    if found is NOTHING_RETURNED:
        found = yield source.read_block([last], scope)
    if found is not NOTHING_RETURNED:
        return found
    match last:
        case ast.Assign(targets=[*_, target]) | ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            named = target.value if isinstance(target, ast.Subscript) else target
            return source.as_argument(last, (yield source.read_expression(named, scope)))
    raise source.excerpt_of(last).error("nothing is returned; end with an expression or with return")


def _check_used(source: SourceReader, lines: Sequence[ast.stmt]) -> None:
    """Raise ProgramError if a name has an operand, and no line of the source uses the name."""
    unread = [name for name in source.bound if name not in source.used_names]
    if not unread:
        return
    written = {node.id for line in lines for node in ast.walk(line) if isinstance(node, ast.Name)}
    for name in unread:
        if name not in written:
            what = f"{quote_short(source.text)} does not use {clip_text(name, 40)}"
            raise ProgramError(f"{what}; remove its operand")


def _find_needed_lines(lines: Sequence[ast.stmt], name: str) -> list[ast.stmt]:
    """Return the lines of a file that a function needs: imports, and assignments of the names in it."""
    giving: dict[str, list[ast.stmt]] = {}
    for line in lines:
        match line:
            case ast.FunctionDef(name=given) | ast.AnnAssign(target=ast.Name(id=given)):
                giving.setdefault(given, []).append(line)
            case ast.Assign(targets=targets):
                for target in targets:
                    for node in ast.walk(target):
                        if isinstance(node, ast.Name):
                            giving.setdefault(node.id, []).append(line)
    needed: set[ast.stmt] = {line for line in lines if isinstance(line, (ast.Import, ast.ImportFrom))}
    wanted = [name]
    while wanted:
        for line in giving.pop(wanted.pop(), []):
            needed.add(line)
            wanted += [node.id for node in ast.walk(line) if isinstance(node, ast.Name)]
    return [line for line in lines if line in needed]


def _read_function(
    source: SourceReader, lines: Sequence[ast.stmt], scope: Scope, name: str | None
) -> Reading:
    """Call the function of a name, or the last one, with the operands bound to its parameters."""
    defined = [line.name for line in lines if isinstance(line, ast.FunctionDef)]
    if name is not None and name not in defined:
        near = spelling_hint(name, defined) or f"; it has {', '.join(defined[:8]) or 'none'}"
        raise ProgramError(f"{source.file} has no function {quote_short(name)}{near}")
    name = name or defined[-1]
    for line in _find_needed_lines(lines, name):
        yield source.read_line(line, scope)
    function: DefinedFunction = scope[name]
    known = list_parameter_names(function.node)
    defaults = yield source.read_defaults(function)
    for given in source.bound:
        if given not in known:
            near = spelling_hint(given, known)
            has = ", ".join(known) or "none"
            raise ProgramError(
                f"{function.name} has no parameter {clip_text(given, 40)}{near}; it has {has}"
            )
    source.bound = {**_read_annotations(function), **source.bound}
    for needed in known:
        if needed not in source.bound and needed not in defaults:
            raise source.unbound_name_error(function.node, needed)
    args = _bind_names(source, [name for name in known if name in source.bound])
    found = yield source.read_block(function.statements, {**scope, **defaults, **args})
    if found is NOTHING_RETURNED or found is None:
        raise source.excerpt_of(function.node).error("it returns nothing; end it with return")
    return found
