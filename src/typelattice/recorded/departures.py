"""Listed departures: calls where a library contradicts itself or lacks a kernel, with reasons and sources.

`departures/<recording>.toml` holds tables `[[departure]]` of `calls`, a regular expression that matches whole
calls such as `equal(bool, 9223372036854775808)`, `reason`, `source`, and `count`, how many recorded calls
there are: it may fall only.
"""
from __future__ import annotations

import os
import re
import signal
import threading
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from typelattice.disk.read import read_bytes
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.operations import NAMES
from typelattice.facts.releases import SIGN
from typelattice.facts.suggest import nearest, short

FOLDER = Path(__file__).with_name("departures")
LIMIT_BYTES, LIMIT_DOTS = 200_000, 200  # of a list, on one of its lines
LIMIT_SECONDS = 1.0  # of matching one call
KEYS = {"calls": str, "reason": str, "source": str, "count": int}


class DepartureError(TypelatticeError, ValueError):
    """A list of departures that cannot be read."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A reason why some calls of a library go their own way."""

    calls: str
    reason: str
    source: str
    count: int = 0

    def covers(self, call: str) -> bool:
        """Whether a call, written `op(operand, …)`, is one of these."""
        return re.fullmatch(self.calls, call) is not None


def departure_of(call: str, listed: Sequence[Departure]) -> Departure | None:
    """The first of the listed departures that covers a call, if any.

    What is said of a function is said of its operator, too, as in a system's file.

    Raises DepartureError if an expression takes too long to match, as `(a+)+` may. That is noticed in the
    main thread, on operating systems that have alarms.
    """
    departure = None
    try:
        with _alarm(LIMIT_SECONDS):
            for spelling in _spellings(call):
                for departure in listed:
                    if departure.covers(spelling):
                        return departure
    except _TooLongError:
        calls = short(departure.calls) if departure else ""
        what = f"calls = {calls} takes longer than {LIMIT_SECONDS:g} s to match {short(call)}"
        raise DepartureError(f"{what}; write it without repeats within repeats") from None
    return None


def _spellings(call: str) -> tuple[str, ...]:
    """A call, then one of an operator as that of its function: `+=(int8, int8)` also as `add(int8, int8)`."""
    op, bracket, operands = call.partition("(")
    known = NAMES.get(op)
    if known is None or not known.is_operator:
        return (call,)
    plain = (known.name[:-1],) if known.in_place else ()
    return tuple(f"{name}{bracket}{operands}" for name in (op, *plain, known.function))


class _TooLongError(Exception):
    """An alarm has gone off."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raises _TooLongError in what takes longer; an alarm that was set before stands again afterwards."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGALRM, _ring)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, remaining, interval)
        signal.signal(signal.SIGALRM, handler)


def _ring(*_: object) -> None:
    raise _TooLongError


def departures(name: str, path: Path | None = None) -> Sequence[Departure]:
    """The departures listed for a recording, or in a file of your own; none for a recording without a list.

    For an older release they are its own, then those of the newest, of which it may have fewer or more.

    Raises FileError for a file of your own that cannot be read, DepartureError for one that cannot be right.
    """
    if path is None:
        newest, _, older = name.partition(SIGN)
        further = departures(newest) if older else ()
        path = FOLDER / f"{name}.toml"
        if not os.path.isfile(path):
            return further
        return (*departures(name, path), *further)
    values = _values(path)
    listed = values.pop("departure", [])
    for key in values:
        raise DepartureError(f"{path.name}: unknown key {short(key)}; write tables [[departure]]")
    if not isinstance(listed, list):
        raise DepartureError(f"{path.name}: departure is no list; write tables [[departure]]")
    numbered = enumerate(listed, 1)
    return tuple(_departure(entry, f"{path.name}, departure {number}") for number, entry in numbered)


def _values(path: Path) -> dict[str, object]:
    """What the TOML in a file says. Raises FileError, DepartureError."""
    data = read_bytes(path, LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise DepartureError(f"{path.name}: larger than {LIMIT_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise DepartureError(f"{path.name}: not UTF-8 text (byte {e.start}); save it as UTF-8") from None
    # tomllib takes time that grows with the square of the parts of a key, which stands on one line.
    if deep := next((n for n, line in enumerate(text.split("\n"), 1) if line.count(".") > LIMIT_DOTS), 0):
        raise DepartureError(f"{path.name}, line {deep}: more than {LIMIT_DOTS} dots; write several entries")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise DepartureError(f"{path.name}: not TOML: nested too deep") from None
    except ValueError as e:
        raise DepartureError(f"{path.name}: not TOML: {e}") from None


def _departure(entry: object, where: str) -> Departure:
    """The departure that an entry of a list states. Raises DepartureError, which begins with `where`."""
    if not isinstance(entry, dict):
        raise DepartureError(f"{where}: no table; write [[departure]] above it")
    for key, value in entry.items():
        if key not in KEYS:
            near = nearest(key, KEYS) or f"; the keys are {', '.join(KEYS)}"
            raise DepartureError(f"{where}: unknown key {short(key)}{near}")
        if type(value) is not KEYS[key]:
            raise DepartureError(f"{where}: {key} should be a {'number' if key == 'count' else 'text'}")
    if missing := [key for key in ("calls", "reason", "source") if key not in entry]:
        raise DepartureError(f"{where}: {missing[0]} is missing")
    try:
        re.compile(entry["calls"])
    except (re.error, RecursionError, OverflowError) as e:
        raise DepartureError(f"{where}: calls is no regular expression: {e}") from None
    return Departure(**entry)
