"""The patterns of `match`: of known values, sequences, dictionaries and objects."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from typelattice.programs.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.programs.calls.steps import Ref
from typelattice.programs.readers.source.comparisons import apply_comparison
from typelattice.programs.readers.source.functions_of_classes import is_of_class
from typelattice.programs.readers.source.python_values import (
    MISSING,
    ClassValue,
    DottedName,
    InstanceValue,
    ReadValue,
    Scope,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import SourceReader

CLASSES = (*PYTHON_TYPE_BY_NAME, "str", "list", "tuple", "dict", "set")


def match_pattern(
    reader: SourceReader, pattern: ast.pattern, subject: ReadValue, names: dict[str, Any], scope: Scope
) -> Reading:
    """Read whether a value fits a pattern. `names` gets the names that the pattern binds."""
    match pattern:
        case ast.MatchValue(value=expression):
            value = yield reader.read_expression(expression, scope)
            found = yield apply_comparison(reader, expression, ast.Eq(), subject, value, scope)
            return (yield reader.read_known_truth(expression, found))
        case ast.MatchSingleton(value=value):
            known = reader.known(subject)
            if isinstance(known, Ref) and value is not None:
                return (yield reader.read_known_truth(pattern, known)) is value
            return known is value
        case ast.MatchAs(pattern=within, name=name):
            if within is not None and not (yield match_pattern(reader, within, subject, names, scope)):
                return False
            if name is not None:
                names[name] = subject
            return True
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                if (yield match_pattern(reader, each, subject, names, scope)):
                    return True
            return False
        case ast.MatchSequence(patterns=patterns):
            return (yield match_sequence(reader, patterns, subject, names, scope))
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            if not isinstance(subject, dict):
                return False
            taken = []
            for key, each in zip(keys, patterns, strict=True):
                at = yield reader.read_expression(key, scope)
                taken.append(at)
                if at not in subject or not (yield match_pattern(reader, each, subject[at], names, scope)):
                    return False
            if rest is not None:
                names[rest] = {key: value for key, value in subject.items() if key not in taken}
            return True
        case ast.MatchClass():
            return (yield match_class(reader, pattern, subject, names, scope))
    raise reader.error(pattern, "a pattern that is not known here; write it as if")


def match_sequence(
    reader: SourceReader,
    patterns: Sequence[ast.pattern],
    subject: ReadValue,
    names: dict[str, Any],
    scope: Scope,
) -> Reading:
    """Read whether the items of a tuple or a list fit patterns, of which one may have a star."""
    if not isinstance(subject, (tuple, list)):
        return False
    reader.check_items(subject)
    starred = next((i for i, each in enumerate(patterns) if isinstance(each, ast.MatchStar)), None)
    parts: list[Any] = [*subject]
    if starred is not None:
        after = len(patterns) - starred - 1
        if len(parts) < len(patterns) - 1:
            return False
        end = len(parts) - after
        parts = [*parts[:starred], parts[starred:end], *parts[end:]]
    if len(parts) != len(patterns):
        return False
    for each, part in zip(patterns, parts, strict=True):
        if isinstance(each, ast.MatchStar):
            if each.name is not None:
                names[each.name] = part
        elif not (yield match_pattern(reader, each, part, names, scope)):
            return False
    return True


def match_class(
    reader: SourceReader, pattern: ast.MatchClass, subject: ReadValue, names: dict[str, Any], scope: Scope
) -> Reading:
    """Read whether a value is of a class, and its attributes fit patterns."""
    known = reader.known(subject)
    if isinstance(pattern.cls, ast.Name) and pattern.cls.id in CLASSES and pattern.cls.id not in scope:
        if not is_of_class(reader, pattern, known, DottedName((pattern.cls.id,))):
            return False
        first = pattern.patterns[0] if pattern.patterns else None
        return first is None or (yield match_pattern(reader, first, subject, names, scope))
    cls = yield reader.read_expression(pattern.cls, scope)
    if isinstance(cls, DottedName) or not isinstance(cls, ClassValue):
        raise reader.error(pattern, "it asks for a class that libraries have of their own; leave it out")
    if not isinstance(subject, InstanceValue) or cls not in subject.of.order:
        return False
    fields = cls.find("__match_args__")
    by_position = tuple(cls.fields or ()) if fields is MISSING else fields
    if not isinstance(by_position, tuple) or not all(isinstance(x, str) for x in by_position):
        raise reader.error(pattern, "__match_args__ that is no tuple of names; write one")
    pairs = [
        *zip(by_position, pattern.patterns, strict=False),
        *zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True),
    ]
    for name, each in pairs:
        value = yield reader.read_attribute(pattern, subject, name, scope)
        if not (yield match_pattern(reader, each, value, names, scope)):
            return False
    return True
