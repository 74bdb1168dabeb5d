"""Modules of Python's standard library that work on values: heapq, bisect, cmath, json, random, statistics.

Where the values of arrays decide which item is meant, it may be any of them.
"""

from __future__ import annotations

import ast
import bisect
import cmath
import heapq
import json
import statistics
from collections.abc import Callable
from typing import Any

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, scalar_operand
from typelattice.programs.calls.steps import Ref
from typelattice.programs.readers.source.container_methods import sort_items
from typelattice.programs.readers.source.python_functions import compute_plainly, define
from typelattice.programs.readers.source.python_values import KeyOfValues, ReadValue, Scope, UnknownValue
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import SourceReader
from typelattice.programs.readers.source.texts import UNKNOWN_TEXT_MESSAGE, is_plain_text

AVERAGES = (
    "mean", "fmean", "geometric_mean", "harmonic_mean", "median", "stdev", "pstdev", "variance", "pvariance",
)  # fmt: skip


def make_number(reader: SourceReader, node: ast.AST, name: str, kind: Kind) -> ReadValue:
    """Return a Python number that the values of arrays, or chance, decide."""
    return reader.builder.add_opaque(reader.excerpt_of(node), name, scalar_operand(kind), (), ())


# -- heaps and sorted lists


def take_least(reader: SourceReader, node: ast.AST, heap: list[Any]) -> ReadValue:
    """Remove and return the least item of a heap. If arrays decide which it is, any of them may be left."""
    reader.check_items(heap)
    if not heap:
        raise reader.raised(node, IndexError("index out of range"))
    _order(reader, node, heap)
    least: ReadValue = heapq.heappop(heap) if is_plain_text(reader, heap) else heap.pop()
    return least


def _order(reader: SourceReader, node: ast.AST, heap: list[Any]) -> None:
    """Put a heap in order. If arrays or objects decide the order, each of its items may be any of them."""
    reader.branches.will_change(heap)
    if is_plain_text(reader, heap):
        compute_plainly(reader, node, heapq.heapify, heap)
    elif heap:
        items = [*{id(x): x for x in heap}.values()]
        heap[:] = [reader.any_item(node, items)] * len(heap)


@define("heapq.heapify")
def _heapify(reader: SourceReader, node: ast.AST, heap: list[Any]) -> Any:
    reader.check_items(heap)
    _order(reader, node, heap)


@define("heapq.heappush")
def _heappush(reader: SourceReader, node: ast.AST, heap: list[Any], item: Any) -> Any:
    reader.check_items(heap)
    reader.check_length(node, len(heap) + 1)
    reader.branches.will_change(heap)
    heap.append(item)
    _order(reader, node, heap)


@define("heapq.heappop")
def _heappop(reader: SourceReader, node: ast.AST, heap: list[Any]) -> Any:
    return take_least(reader, node, heap)


@define("heapq.heappushpop")
def _heappushpop(reader: SourceReader, node: ast.AST, heap: list[Any], item: Any) -> Any:
    _heappush(reader, node, heap, item)
    return take_least(reader, node, heap)


@define("heapq.heapreplace")
def _heapreplace(reader: SourceReader, node: ast.AST, heap: list[Any], item: Any) -> Any:
    least = take_least(reader, node, heap)
    _heappush(reader, node, heap, item)
    return least


def _define_extremes(name: str, reverse: bool) -> None:
    @define(f"heapq.{name}")
    def take(reader: SourceReader, node: ast.AST, n: Any, value: Any, key: Any = None) -> Reading:
        count = reader.known(n)
        if not isinstance(count, int):
            raise reader.error(node, "a number of items that is not known; give one")
        items = yield reader.read_items(node, value)
        ordered = yield sort_items(reader, node, items, key, reverse, Scope())
        return ordered[: max(count, 0)]


_define_extremes("nlargest", True)
_define_extremes("nsmallest", False)


def _define_search(name: str, function: Callable[..., Any]) -> None:
    @define(f"bisect.{name}")
    def search(
        reader: SourceReader, node: ast.AST, items: Any, item: Any, lo: Any = 0, hi: Any = None
    ) -> Any:
        is_changing = name.startswith("insort")
        if not isinstance(items, list) and (is_changing or not isinstance(items, tuple)):
            raise reader.error(node, "it searches in no list; give a list, or write searchsorted")
        given = ([*items], item, lo, hi)
        if is_changing:
            reader.check_items(items)
            reader.branches.will_change(items)
        if all(is_plain_text(reader, reader.known(x)) for x in given):
            bounds = (reader.known(lo), *(() if hi is None else (reader.known(hi),)))
            return compute_plainly(reader, node, function, items, reader.known(item), *bounds)
        if not isinstance(items, list) or not is_changing:
            return make_number(reader, node, "bisect", KIND_BY_PYTHON_TYPE[int])
        any_item = reader.any_item(node, [*items, item])
        items[:] = [any_item] * (len(items) + 1)
        return None


for _name in ("bisect", "bisect_left", "bisect_right", "insort", "insort_left", "insort_right"):
    _define_search(_name, getattr(bisect, _name))


# -- chance


@define("random.choice")
def _choice(reader: SourceReader, node: ast.AST, value: Any) -> Reading:
    items = yield reader.read_samples(node, value)
    if not items:
        raise reader.raised(node, IndexError("Cannot choose from an empty sequence"))
    return reader.any_item(node, items)


@define("random.choices", "random.sample")
def _sample(
    reader: SourceReader, node: ast.AST, value: Any, *given: Any, k: Any = None, **more: Any
) -> Reading:
    items = yield reader.read_items(node, value)
    positional = given[-1] if given and not isinstance(given[-1], (list, tuple)) else 1
    count = reader.known(positional if k is None else k)
    if not isinstance(count, int) or count < 0:
        raise reader.error(node, "a number of items that is not known; give one")
    reader.check_length(node, count)
    return [reader.any_item(node, items)] * count if count else []


@define("random.shuffle")
def _shuffle(reader: SourceReader, node: ast.AST, items: list[Any]) -> Any:
    reader.check_items(items)
    reader.branches.will_change(items)
    if items:
        items[:] = [reader.any_item(node, items)] * len(items)


# -- numbers and texts


def _define_average(name: str) -> None:
    @define(f"statistics.{name}")
    def average(reader: SourceReader, node: ast.AST, value: Any) -> Reading:
        items = [reader.known(x) for x in (yield reader.read_items(node, value))]
        if all(isinstance(x, (int, float)) for x in items):
            return compute_plainly(reader, node, getattr(statistics, name), items)
        kinds = {_kind_of_number(reader, x) for x in items}
        if name not in ("fmean", "geometric_mean", "stdev", "pstdev") and kinds != {Kind.FLOAT}:
            raise reader.error(node, f"{name} of other items than floats; convert them with float(x)")
        return make_number(reader, node, name, Kind.FLOAT)


def _kind_of_number(reader: SourceReader, x: Any) -> Kind | None:
    """Return the kind of a Python number, or None for anything else."""
    if isinstance(x, Ref) and reader.builder.is_scalar(x):
        operand = reader.answers.outcome_of(reader.builder.steps, x.step).operand
        return None if operand is None else operand.kind
    return Kind.FLOAT if type(x) is float else None


for _name in AVERAGES:
    _define_average(_name)


def _define_complex_function(name: str, function: Callable[..., Any]) -> None:
    @define(f"cmath.{name}")
    def compute(reader: SourceReader, node: ast.AST, *args: Any) -> Any:
        known = [reader.known(x) for x in args]
        if all(isinstance(x, (int, float, complex)) for x in known):
            return compute_plainly(reader, node, function, *known)
        if any(isinstance(x, Ref) and not reader.builder.is_scalar(x) and reader.shape_of(x) for x in known):
            raise reader.error(node, f"{name} of an array; write the function of its library")
        kind = {"phase": Kind.FLOAT, "isnan": Kind.BOOL, "isinf": Kind.BOOL, "isfinite": Kind.BOOL}
        return make_number(reader, node, name, kind.get(name, Kind.COMPLEX))


for _name, _function in vars(cmath).items():
    if callable(_function) and not _name.startswith("_") and _name not in ("polar", "isclose"):
        _define_complex_function(_name, _function)


@define("json.loads")
def _read_json(reader: SourceReader, node: ast.AST, text: Any) -> Any:
    if not isinstance(text, str):
        raise reader.error(node, "it reads no text that is known; write its values out")
    found = compute_plainly(reader, node, json.loads, text)
    reader.count_items(found if isinstance(found, (list, dict)) else ())
    return found


@define("json.dumps")
def _write_json(reader: SourceReader, node: ast.AST, value: Any, **options: Any) -> Any:
    keys = [*value] if isinstance(value, dict) else []
    if options or any(isinstance(x, KeyOfValues) for x in keys) or not is_plain_text(reader, value):
        return UnknownValue(reader.error(node, UNKNOWN_TEXT_MESSAGE))
    return compute_plainly(reader, node, json.dumps, value)
