"""One call with float32, compared with the same call with float64: which floats stayed narrow."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from typelattice.repair.survey.example_calls import ExampleCall
from typelattice.repair.survey.numpy_adapter import (
    NARROW_FLOAT,
    WIDE_FLOAT,
    Conversion,
    UnconvertibleError,
    describe_argument,
    has_numbers,
    is_wide,
    read_floats,
    seed_random,
)
from typelattice.repair.survey.surveyor_handle import NO_VALID_CALL
from typelattice.repair.survey.time_limit import TimeLimitError, time_limit

ARGUMENT_TREATMENTS = (
    ("narrow", True, False), ("narrow", False, False), ("keep", True, False), ("keep", False, False),
    ("float", True, False), ("float", True, True),
)  # fmt: skip
"""Treatments of integers, of lists, and of Python's floats, in the order in which they are tried."""

# folders of this machine, which mean nothing to a reader
FOLDER_PATTERN = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")
SLOW_CALL_PREFIX, FLOAT32_REFUSED_PREFIX = "a call takes", "float32 is refused"


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
    for way in ARGUMENT_TREATMENTS:
        found = _judge_with_treatment(name, function, call, way, seconds)
        if isinstance(found, str):
            why = why if why.startswith(FLOAT32_REFUSED_PREFIX) else found or why
            if found.startswith(SLOW_CALL_PREFIX):
                break
            continue
        judged_call, has_others = found
        judged.append(judged_call)
        if not judged_call.wide or not has_others:
            break
    return min(judged, key=lambda each: len(each.wide), default=why)


def _judge_with_treatment(
    name: str,
    function: Callable[..., Any],
    call: ExampleCall,
    treatment: tuple[str, bool, bool],
    seconds: float,
) -> tuple[JudgedCall, bool] | str:
    """Return the judged call with one treatment, and True if other numbers may widen its floats.

    If it cannot be judged, return the reason, which may be empty.
    """
    wide, narrow = Conversion(WIDE_FLOAT, *treatment), Conversion(NARROW_FLOAT, *treatment)
    try:
        with time_limit(seconds):
            expected = _call_and_read_floats(function, call, wide)
    except UnconvertibleError:
        return "an argument holds float64 that cannot be converted, or asks for it"
    except TimeLimitError:
        return f"{SLOW_CALL_PREFIX} more than {seconds:g} s"
    except (Exception, SystemExit) as e:
        return f"{NO_VALID_CALL}{_error_text(e)}"
    if not wide.array_count:
        return ""
    if call.source == "a recipe" and not all(has_numbers(x) for _, _, x in expected):
        return f"{NO_VALID_CALL}the result has no finite number"
    try:
        with time_limit(seconds):
            found = _call_and_read_floats(function, call, narrow)
    except TimeLimitError:
        return f"{SLOW_CALL_PREFIX} more than {seconds:g} s with float32"
    except (UnconvertibleError, Exception, SystemExit) as e:
        return f"{FLOAT32_REFUSED_PREFIX}: {_error_text(e)}"
    kept = tuple(leaf for leaf, dtype, _ in found if not is_wide(dtype))
    made_wide = tuple(leaf for leaf, dtype, _ in found if is_wide(dtype))
    if made_wide and narrow.wide_integer_count:
        return "integers in its arguments make floats wide by themselves"
    text = _call_text(name, call, narrow)
    judged = JudgedCall(text, call.source, kept, made_wide, lambda: _make_call(function, call, narrow))
    return judged, narrow.unconverted_count > 0


def _call_and_read_floats(
    function: Callable[..., Any], call: ExampleCall, conversion: Conversion
) -> list[tuple[str, str, Any]]:
    return [*read_floats(_make_call(function, call, conversion))]


def _make_call(function: Callable[..., Any], call: ExampleCall, conversion: Conversion) -> Any:
    args = [conversion.convert(x) for x in call.args]
    keywords = {key: conversion.convert(x) for key, x in call.keywords.items()}
    seed_random()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(*args, **keywords)
    return [*result] if isinstance(result, Iterator) and not hasattr(result, "dtype") else result


def _call_text(name: str, call: ExampleCall, conversion: Conversion) -> str:
    args = [describe_argument(conversion.convert(x)) for x in call.args]
    args += [f"{key}={describe_argument(conversion.convert(x))}" for key, x in call.keywords.items()]
    text = f"{name.rpartition('.')[2]}({', '.join(args)})"
    return text if len(text) <= 120 else f"{text[:116]}...)"


def _error_text(error: BaseException) -> str:
    words = FOLDER_PATTERN.sub("", " ".join(str(error).split()))
    text = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return "".join(c if c.isprintable() else "?" for c in text[:110])
