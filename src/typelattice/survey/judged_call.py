"""One call with float32, compared with the same call with float64: which floats stayed narrow."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from typelattice.survey.example_calls import ExampleCall
from typelattice.survey.numpy_adapter import (
    NARROW,
    WIDE,
    Conversion,
    UnconvertibleError,
    describe,
    has_numbers,
    is_wide,
    read_floats,
    seed_random,
)
from typelattice.survey.surveyor_handle import NO_VALID_CALL
from typelattice.survey.time_limit import SlowError, time_limit

TREATMENTS = (
    ("narrow", True, False), ("narrow", False, False), ("keep", True, False), ("keep", False, False),
    ("float", True, False), ("float", True, True),
)  # fmt: skip
"""Treatments of integers, of lists, and of Python's floats, in the order in which they are tried."""

# folders of this machine, which mean nothing to a reader
FOLDER_PATTERN = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")
SLOW, FLOAT32_REFUSED_PREFIX = "a call takes", "float32 is refused"


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call that succeeded with both widths.

    `kept` and `wide` are the names of the result's floats, such as `result[0]`. `repeat` makes the call with
    float32 again.
    """

    text: str
    source: str
    kept: tuple[str, ...]
    wide: tuple[str, ...]
    repeat: Callable[[], Any]


def judge_call(
    name: str, function: Callable[..., Any], call: ExampleCall, seconds: float
) -> JudgedCall | str:
    """Make a call with both widths, by the first treatment with which both succeed, or return the reason.

    Integers or Python's floats in a call may be why floats widen. Then the treatments that turn them into
    float32 are also tried, and the one that widens the fewest results counts.
    """
    why = "no call holds floats that can be converted"
    judged: list[JudgedCall] = []
    for way in TREATMENTS:
        found = _judge_one_way(name, function, call, way, seconds)
        if isinstance(found, str):
            why = why if why.startswith(FLOAT32_REFUSED_PREFIX) else found or why
            if found.startswith(SLOW):
                break
            continue
        judged_call, has_others = found
        judged.append(judged_call)
        if not judged_call.wide or not has_others:
            break
    return min(judged, key=lambda each: len(each.wide), default=why)


def _judge_one_way(
    name: str, function: Callable[..., Any], call: ExampleCall, way: tuple[str, bool, bool], seconds: float
) -> tuple[JudgedCall, bool] | str:
    """Return the judged call with one treatment, and True if other numbers may widen its floats.

    If it cannot be judged, return the reason, which may be empty.
    """
    wide, narrow = Conversion(WIDE, *way), Conversion(NARROW, *way)
    try:
        with time_limit(seconds):
            expected = _call(function, call, wide)
    except UnconvertibleError:
        return "an argument holds float64 that cannot be converted, or asks for it"
    except SlowError:
        return f"{SLOW} more than {seconds:g} s"
    except (Exception, SystemExit) as e:
        return f"{NO_VALID_CALL}{_error(e)}"
    if not wide.array_count:
        return ""
    if call.source == "a recipe" and not all(has_numbers(x) for _, _, x in expected):
        return f"{NO_VALID_CALL}the result has no finite number"
    try:
        with time_limit(seconds):
            found = _call(function, call, narrow)
    except SlowError:
        return f"{SLOW} more than {seconds:g} s with float32"
    except (UnconvertibleError, Exception, SystemExit) as e:
        return f"{FLOAT32_REFUSED_PREFIX}: {_error(e)}"
    kept = tuple(leaf for leaf, dtype, _ in found if not is_wide(dtype))
    made_wide = tuple(leaf for leaf, dtype, _ in found if is_wide(dtype))
    if made_wide and narrow.wide_integer_count:
        return "integers in its arguments make floats wide by themselves"
    text = _text(name, call, narrow)
    judged = JudgedCall(text, call.source, kept, made_wide, lambda: _make(function, call, narrow))
    return judged, narrow.unconverted_count > 0


def _call(
    function: Callable[..., Any], call: ExampleCall, conversion: Conversion
) -> list[tuple[str, str, Any]]:
    return [*read_floats(_make(function, call, conversion))]


def _make(function: Callable[..., Any], call: ExampleCall, conversion: Conversion) -> Any:
    args = [conversion.convert(x) for x in call.args]
    keywords = {key: conversion.convert(x) for key, x in call.keywords.items()}
    seed_random()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(*args, **keywords)
    return [*result] if isinstance(result, Iterator) and not hasattr(result, "dtype") else result


def _text(name: str, call: ExampleCall, conversion: Conversion) -> str:
    args = [describe(conversion.convert(x)) for x in call.args]
    args += [f"{key}={describe(conversion.convert(x))}" for key, x in call.keywords.items()]
    text = f"{name.rpartition('.')[2]}({', '.join(args)})"
    return text if len(text) <= 120 else f"{text[:116]}...)"


def _error(e: BaseException) -> str:
    words = FOLDER_PATTERN.sub("", " ".join(str(e).split()))
    text = f"{type(e).__name__}: {words}" if words else type(e).__name__
    return "".join(c if c.isprintable() else "?" for c in text[:110])
