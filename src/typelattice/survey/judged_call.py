"""One call with float32 beside the same call with float64: which floats of its result stayed narrow."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from typelattice.survey.example_calls import RecordedCall
from typelattice.survey.numpy_arrays import (
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

WAYS = (("narrow", True), ("narrow", False), ("keep", True), ("keep", False), ("float", True))
"""Treatments of integers and of lists, in the order in which they are tried."""

SECONDS = 2.0
"""The time that one call may take, if it runs Python code; the process of a function has another limit."""


class SlowError(BaseException):
    """Ends a call that takes too long."""


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


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise SlowError in code that runs longer, once it is back in Python."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise SlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def judge_call(name: str, function: Callable[..., Any], call: RecordedCall) -> JudgedCall | str:
    """Make a call with both widths, by the first treatment with which both succeed; else return the reason."""
    why = "no call holds floats that can be converted"
    for integers, lists in WAYS:
        wide, narrow = Conversion(WIDE, integers, lists), Conversion(NARROW, integers, lists)
        try:
            with time_limit(SECONDS):
                expected = _call(function, call, wide)
        except UnconvertibleError:
            why = "an argument holds float64 that cannot be converted, or asks for it"
            continue
        except SlowError:
            return f"a call takes more than {SECONDS:g} s"
        except (Exception, SystemExit) as e:
            why = f"no valid call was found: {_error(e)}"
            continue
        if not wide.arrays:
            continue
        if call.source == "a recipe" and not all(has_numbers(x) for _, _, x in expected):
            why = "no valid call was found: the result has no finite number"
            continue
        try:
            with time_limit(SECONDS):
                found = _call(function, call, narrow)
        except SlowError:
            return f"a call with float32 takes more than {SECONDS:g} s"
        except (UnconvertibleError, Exception, SystemExit) as e:
            why = f"float32 is refused: {_error(e)}"
            continue
        kept = tuple(leaf for leaf, dtype, _ in found if not is_wide(dtype))
        made_wide = tuple(leaf for leaf, dtype, _ in found if is_wide(dtype))
        if made_wide and narrow.wide_integers:
            why = "integers in its arguments make floats wide by themselves"
            continue
        return JudgedCall(
            _text(name, call, narrow), call.source, kept, made_wide, lambda: _make(function, call, narrow)
        )
    return why


def _call(function: Callable[..., Any], call: RecordedCall, to: Conversion) -> list[tuple[str, str, Any]]:
    return [*read_floats(_make(function, call, to))]


def _make(function: Callable[..., Any], call: RecordedCall, to: Conversion) -> Any:
    args = [to.convert(x) for x in call.args]
    named = {key: to.convert(x) for key, x in call.named.items()}
    seed_random()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(*args, **named)
    return [*result] if isinstance(result, Iterator) and not hasattr(result, "dtype") else result


def _text(name: str, call: RecordedCall, to: Conversion) -> str:
    args = [describe(to.convert(x)) for x in call.args]
    args += [f"{key}={describe(to.convert(x))}" for key, x in call.named.items()]
    text = f"{name.rpartition('.')[2]}({', '.join(args)})"
    return text if len(text) <= 120 else f"{text[:116]}...)"


def _error(e: BaseException) -> str:
    words = " ".join(str(e).split())
    text = f"{type(e).__name__}: {words}" if words else type(e).__name__
    return "".join(c if c.isprintable() else "?" for c in text[:110])
