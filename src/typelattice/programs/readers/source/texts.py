"""Texts with values in them."""

from __future__ import annotations

import ast
from typing import Any

from typelattice.programs.calls.steps import ProgramError
from typelattice.programs.readers.source.python_values import (
    MISSING,
    InstanceValue,
    RaisedError,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import (
    SourceReader,
)

UNKNOWN_TEXT_MESSAGE = "a text with the values of arrays in it; give the text"
MAX_FORMAT_CHARS = 8  # of the format of a value in a text
MAX_BITS_OF_TEXT = 10_000  # Python writes no whole number of more digits
MAX_FIELD_WIDTH = 10_000  # of all fields of a text together
CONTAINERS = (str, tuple, list, dict, set)


def check_format(reader: SourceReader, node: ast.AST, text: str, values: Any) -> None:
    """Raise ProgramError for a format that could make a text of any length, or that runs code of objects."""
    digits = "".join(x if x.isdigit() else " " for x in text).split()
    numbers = [x for x in (values if isinstance(values, tuple) else (values,)) if isinstance(x, int)]
    if sum(int(x[:9]) for x in digits) > MAX_FIELD_WIDTH or ("*" in text and any(x > 9999 for x in numbers)):
        raise reader.error(node, "a text with very wide fields; give the text")


def read_joined_text(reader: SourceReader, node: ast.JoinedStr, scope: Scope) -> Reading:
    """Read a text with values in it. It is unknown if one of them is."""
    found, unknown = "", None
    for part in node.values:
        if not isinstance(part, ast.FormattedValue):
            found += yield reader.read_expression(part, scope)
            continue
        try:
            value = reader.known((yield reader.read_expression(part.value, scope)))
            form = (yield reader.read_expression(part.format_spec, scope)) if part.format_spec else ""
        except RaisedError:
            raise
        except ProgramError as e:
            unknown = unknown or UnknownValue(e)
            continue
        text = yield convert_to_text(reader, node, value, part.conversion)
        if isinstance(text, UnknownValue) or isinstance(form, UnknownValue) or len(form) > MAX_FORMAT_CHARS:
            unknown = unknown or UnknownValue(reader.error(node, UNKNOWN_TEXT_MESSAGE))
            continue
        try:
            found += format(text, form)
        except (ValueError, TypeError) as e:
            raise reader.raised(node, e) from None
        reader.check_length(node, len(found))
    return unknown or found


def convert_to_text(reader: SourceReader, node: ast.AST, value: Any, conversion: int) -> Reading:
    """Return what Python formats for a value in a text: the value itself, or its text."""
    if isinstance(value, InstanceValue):
        own = next((x for x in map(value.of.find, ("__str__", "__repr__")) if x is not MISSING), None)
        is_text = own is not None and conversion != ord("r") and value.of.find("__format__") is MISSING
        if is_text:
            return (yield reader.call(node, own, [value], {}, Scope()))
    if not is_plain_text(reader, value):
        return UnknownValue(reader.error(node, UNKNOWN_TEXT_MESSAGE))
    if conversion in (ord("r"), ord("a")):
        return repr(value) if conversion == ord("r") else ascii(value)
    is_formatted = isinstance(value, (str, bool, int, float, complex)) and conversion != ord("s")
    return value if is_formatted else str(value)


def is_plain_text(reader: SourceReader, value: Any) -> bool:
    """Return True for a value whose text Python makes of known numbers and texts alone."""
    if isinstance(value, (tuple, list, set)):
        of = value if type(value) in (tuple, list, set) else (object(),)
        is_known = reader.branches.find_unknown_length(value) is None
        return is_known and all(is_plain_text(reader, x) for x in reader.count_items(of))
    if type(value) is dict and reader.branches.find_unknown_length(value) is None:
        return is_plain_text(reader, [*value]) and is_plain_text(reader, [*value.values()])
    return value is None or (isinstance(value, (str, bool, int, float, complex)) and not is_huge(value))


def is_huge(x: Any) -> bool:
    return isinstance(x, int) and x.bit_length() > MAX_BITS_OF_TEXT
