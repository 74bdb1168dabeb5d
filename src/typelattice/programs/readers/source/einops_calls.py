"""Calls of einops, whose patterns such as `b (h w) -> b h w` name the axes of an array.

Each becomes steps of the array's own library: reshape, permute, broadcast and reduce.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from typelattice.core.operations.operations import find_operation
from typelattice.programs.calls.result_shapes import UNKNOWN_SHAPE_MESSAGE
from typelattice.programs.readers.source.python_values import PythonFunction, ReadValue
from typelattice.programs.readers.source.syntax_reader import SourceReader

REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")
ELLIPSIS = "..."
Side = tuple[tuple[str, ...], ...]  # the axes of one side of a pattern, each with the axes in its brackets


@dataclass(frozen=True, slots=True)
class AxisPattern:
    """A pattern with the lengths of its axes, in which an ellipsis is written out."""

    left: Side
    right: Side
    lengths: Mapping[str, int]

    def shape_of(self, axes: Side) -> tuple[int, ...]:
        """Return the lengths of axes, those in brackets as one."""
        return tuple(prod(self.lengths[name] for name in group) for group in axes)


def read_side(text: str) -> Side:
    """Return the axes of one side of a pattern. Raises ValueError for text that is none."""
    groups = re.findall(r"\(([^()]*)\)|(\.\.\.|\w+)", text)
    if re.sub(r"\([\w\s.]*\)|\.\.\.|\w+|\s", "", text):
        raise ValueError(text)
    return tuple(tuple(inner.split()) if not name else (name,) for inner, name in groups)


def read_pattern(
    reader: SourceReader, node: ast.AST, text: Any, shape: Sequence[int | None], given: Mapping[str, Any]
) -> AxisPattern:
    """Read a pattern for an array of a shape. Raises ProgramError if it does not fit."""
    refusal = reader.error(node, f"a pattern that does not fit an array of {len(shape)} axes; give another")
    try:
        left, right = map(read_side, text.split("->"))
    except (ValueError, AttributeError):
        raise refusal from None
    if (ELLIPSIS,) in left:
        at, count = left.index((ELLIPSIS,)), len(shape) - len(left) + 1
        names = tuple(f"{ELLIPSIS}{i}" for i in range(count))
        left = (*left[:at], *((name,) for name in names), *left[at + 1 :])
        right = _write_out_ellipsis(right, names)
    lengths = {name: reader.known(value) for name, value in given.items()}
    lengths |= {n: int(n) for group in (*left, *right) for n in group if n.isdigit()}
    if len(left) != len(shape) or not all(isinstance(n, int) for n in lengths.values()):
        raise refusal
    for group, length in zip(left, shape, strict=True):
        if length is None:
            raise reader.error(node, UNKNOWN_SHAPE_MESSAGE)
        unknown = [name for name in group if name not in lengths]
        known = prod(lengths[name] for name in group if name in lengths)
        if len(unknown) > 1 or not known or length % known or (not unknown and length != known):
            raise refusal
        lengths |= dict.fromkeys(unknown, length // known)
    if any(name not in lengths for group in right for name in group):
        raise refusal
    return AxisPattern(left, right, lengths)


def _write_out_ellipsis(side: Side, names: Sequence[str]) -> Side:
    """Return a side with the axes for which its ellipsis stands."""
    found: list[tuple[str, ...]] = []
    for group in side:
        if group == (ELLIPSIS,):
            found += [(name,) for name in names]
        else:
            found.append(tuple(n for name in group for n in (names if name == ELLIPSIS else (name,))))
    return tuple(found)


def convert_axes(
    reader: SourceReader, node: ast.AST, value: ReadValue, text: Any, given: Mapping[str, Any], reduction: Any
) -> ReadValue:
    """Return the array that a pattern makes. Axes of the left side alone are reduced."""
    excerpt, builder = reader.excerpt_of(node), reader.builder
    array = builder.ensure_ref(excerpt, reader.as_argument(node, value))
    shape = reader.shape_of(array)
    if shape is None:
        raise reader.error(node, UNKNOWN_SHAPE_MESSAGE)
    pattern = read_pattern(reader, node, text, shape, given)

    def apply(name: str, argument: tuple[int, ...], key: str = "") -> None:
        nonlocal array
        args, keywords = ((), {key: argument}) if key else ((argument,), {})
        array = builder.add_call(excerpt, find_operation(name), [array], args, keywords)

    before = [name for group in pattern.left for name in group]
    after = [name for group in pattern.right for name in group]
    if [group for group in pattern.left if len(group) != 1]:
        apply("reshape", tuple(pattern.lengths[name] for name in before))
    dropped = [i for i, name in enumerate(before) if name not in after]
    if dropped and reduction is not None:
        if reduction not in REDUCTIONS:
            raise reader.error(node, f"a reduction that is not known; give one of {', '.join(REDUCTIONS)}")
        apply(reduction, tuple(dropped), "axis")
    elif any(pattern.lengths[before[i]] != 1 for i in dropped):
        raise reader.error(node, "an axis that is missing on the right side; use reduce")
    kept = [name for i, name in enumerate(before) if i not in dropped]
    order = tuple(kept.index(name) for name in after if name in kept)
    if dropped and reduction is None:
        apply("reshape", tuple(pattern.lengths[name] for name in kept))
    if order != (*range(len(kept)),):
        apply("permute_dims", order)
    if len(after) > len(kept):
        apply("reshape", tuple(pattern.lengths[name] if name in kept else 1 for name in after))
        apply("broadcast_to", tuple(pattern.lengths[name] for name in after))
    if [group for group in pattern.right if len(group) != 1]:
        apply("reshape", pattern.shape_of(pattern.right))
    return array


def rearrange(
    reader: SourceReader, node: ast.AST, value: Any, pattern: Any, **lengths: Any
) -> ReadValue:
    """Return the result of `einops.rearrange` or `einops.repeat`."""
    return convert_axes(reader, node, value, pattern, lengths, None)


def reduce(
    reader: SourceReader, node: ast.AST, value: Any, pattern: Any, reduction: Any, **lengths: Any
) -> ReadValue:
    """Return the result of `einops.reduce`."""
    return convert_axes(reader, node, value, pattern, lengths, reduction)


EINOPS_FUNCTIONS: Mapping[str, PythonFunction] = {
    "einops.rearrange": PythonFunction("rearrange", rearrange),
    "einops.repeat": PythonFunction("repeat", rearrange),
    "einops.reduce": PythonFunction("reduce", reduce),
}
