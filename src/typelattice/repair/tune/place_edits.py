"""Edits of the source that give places their chosen dtypes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.repair.tune.libraries import TunedLibrary, tuned_library
from typelattice.repair.tune.places import (
    ACCUMULATED,
    CAST,
    CONVERTING_FUNCTIONS,
    MADE,
    NUMBER,
    PARAMETER,
    PRECISION_METHODS,
    TREE,
    Place,
    find_root_alias,
)
from typelattice.tracing.run_data.float_widths import dtype_width
from typelattice.tracing.source.dtype_arguments import CASTING_METHODS, find_dtype_argument, is_dtype
from typelattice.tracing.source.source_file import Edit, SourceFile, apply_edits

NO_CASTS: Mapping[tuple[int, int], str] = {}


def edit_source(
    source: SourceFile, choices: Mapping[Place, str], casts: Mapping[tuple[int, int], str] = NO_CASTS
) -> bytes:
    """Return the content of a file in which places have their chosen dtypes.

    `casts` has the text that is written after arguments, each with its span.
    """
    edits: list[tuple[int, float, int, str]] = []  # the byte, the order there, the end, the text
    for span, text in casts.items():
        opening, closing = cast_afterwards(find_expression(source, span), span, text)
        length = span[1] - span[0] + 0.5  # after what is written at the argument itself
        if opening is not None:
            edits.append((opening.start, -length, opening.end, opening.text))
        edits.append((closing.start, length, closing.end, closing.text))
    for place, chosen in choices.items():
        for edit in edits_of_choice(source, place, chosen):
            # of what is written at one byte, the end of the inner expression comes first, and its start last
            is_opening = edit.start == edit.end == place.span[0] and place.sort != PARAMETER
            length = place.span[1] - place.span[0]
            edits.append((edit.start, -length if is_opening else length, edit.end, edit.text))
    merged: list[Edit] = []
    for start, _, end, text in sorted(edits):
        if merged and merged[-1].start == start and merged[-1].end == start == end:
            merged[-1] = Edit(start, end, merged[-1].text + text)
        elif not merged or merged[-1].end <= start:
            merged.append(Edit(start, end, text))
    return apply_edits(source.content, merged)


def edits_of_choice(source: SourceFile, place: Place, chosen: str) -> list[Edit]:
    """Return the edits that give a place a dtype, or none if the source says so already."""
    library = tuned_library(place.library)
    assert library is not None
    text = place.dtype_text(place.dtype_at(chosen))
    if place.sort == PARAMETER:
        start = place.span[0]
        column = start - source.line_starts[source.line_of_byte(start) - 1]
        cast = f"{place.name} = {place.name}{library.cast.format(text)}"
        return [Edit(start, start, f"{cast}\n{' ' * column}")]
    node = find_expression(source, place.span)
    if place.sort == TREE:
        names = {"root": find_root_alias(source, library), "module": place.alias}
        before, after = library.tree_cast.format(dtype=text, tree="\0", **names).split("\0")
        start, end = place.span
        return [Edit(start, start, before), Edit(end, end, after)]
    if place.sort == NUMBER:
        return [Edit(*place.span, f"{text}({source.text(node)})")]
    assert isinstance(node, ast.Call) or place.sort not in (MADE, CAST, ACCUMULATED)
    if isinstance(node, ast.Call) and place.sort in (MADE, CAST, ACCUMULATED):
        keyword_edits = edit_call(source, place, node, library, text)
        if keyword_edits is not None:
            return keyword_edits
    return wrap(source, place, node, library, text)


def edit_call(
    source: SourceFile, place: Place, call: ast.Call, library: TunedLibrary, text: str
) -> list[Edit] | None:
    """Return the edits of a call that takes a dtype itself, or None if its result must be cast."""
    name = place.name
    if place.sort == ACCUMULATED:
        keyword = library.accumulators[name]
        given = next((k.value for k in call.keywords if k.arg == keyword), None)
        if given is not None:
            return [Edit(*source.find_span(given), text, source.text(given))]
        return [source.make_keyword_edit(call, f"{keyword}={text}")]
    if name in PRECISION_METHODS and not call.args and isinstance(call.func, ast.Attribute):
        start, (_, end) = source.find_span(call.func.value)[1], place.span
        return [Edit(start, end, library.cast.format(text))]
    if is_dtype(call.func):
        return [Edit(*source.find_span(call.func), text, source.text(call.func))]
    takes_dtype = name in library.creators or name in CASTING_METHODS or name in CONVERTING_FUNCTIONS
    asked = find_dtype_argument(call) if takes_dtype else None
    if asked is not None and not (name == "to" and not names_float_dtype(asked)):
        return [Edit(*source.find_span(asked), text, source.text(asked))]
    if name in library.creators and place.sort == MADE:
        return [source.make_keyword_edit(call, f"dtype={text}")]
    return None


def wrap(source: SourceFile, place: Place, node: ast.expr, library: TunedLibrary, text: str) -> list[Edit]:
    """Return the edits that cast the result of an expression. A draw keeps the dtype in which it is drawn.

    What a keyword says of the array is said of the cast one: `requires_grad=True` becomes a method after the
    cast, since the gradient goes to the array that has it.
    """
    edits, cast = [], library.cast.format(text)
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        method = library.after_cast.get(keyword.arg or "")
        if method is not None:
            said = source.text(keyword.value)
            edits.append(Edit(*source.find_span(keyword.value), "False", said))
            cast += method.format(said)
    keyword_name = "dtype" if place.name in library.like_draws else library.draw_keyword
    is_draw = place.name in library.draws and keyword_name
    if is_draw and isinstance(node, ast.Call) and find_dtype_argument(node) is None:
        drawn = f"{keyword_name}={place.dtype_text(place.dtype)}"
        edits.append(source.make_keyword_edit(node, drawn))
        if text == place.dtype_text(place.dtype):
            return edits
    edits += filter(None, cast_afterwards(node, place.span, cast))
    return edits


def cast_afterwards(node: ast.expr, span: tuple[int, int], cast: str) -> tuple[Edit | None, Edit]:
    """Return the edits that write a cast after an expression, the first one if that needs parentheses."""
    start, end = span
    if isinstance(node, (ast.Call, ast.Name, ast.Attribute, ast.Subscript)):
        return None, Edit(end, end, cast)
    return Edit(start, start, "("), Edit(end, end, ")" + cast)


def find_expression(source: SourceFile, span: tuple[int, int]) -> ast.expr:
    """Return the outermost expression with a span."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.expr) and source.find_span(node) == span:
            return node
    raise LookupError(f"no expression at bytes {span}")


def names_float_dtype(node: ast.expr) -> bool:
    """Return True if an expression may be a dtype, and not a device such as "cpu"."""
    match node:
        case ast.Attribute(attr=name) | ast.Constant(value=str() as name):
            return name in DTYPES or name in ("half", "float", "double")
    return not isinstance(node, ast.Constant)


def needs_edit(place: Place, chosen: str) -> bool:
    """Return True if a choice differs from what the program has without an edit."""
    return place.follows or place.dtype_at(chosen) != place.dtype


def width_of(name: str) -> int:
    """Return the bits of a float dtype, or 0 for no dtype."""
    return (dtype_width(DTYPES[name]) or 0) if name else 0


def needs_pin(place: Place) -> bool:
    """Return True if a place draws other numbers if another place changes, unless it names its dtype."""
    library = tuned_library(place.library)
    return library is not None and place.name in library.like_draws


def widest(names: Sequence[str]) -> str:
    """Return the widest of some dtypes, the first of equal ones."""
    return max(names, key=width_of)
