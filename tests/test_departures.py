"""Lists of departures: read whole or refused, with where the fault stands."""
from __future__ import annotations

import signal
from pathlib import Path

import pytest

from typelattice.disk.read import FileError
from typelattice.recorded import departures as module
from typelattice.recorded.departures import Departure, DepartureError, departure_of, departures

GOOD = 'calls = "add.*"\nreason = "why"\nsource = "here"\n'


def listed(folder: Path, text: str | bytes) -> tuple[Departure, ...]:
    (folder / "list.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return tuple(departures("numpy", folder / "list.toml"))


def test_a_list_of_ones_own_is_read(tmp_path: Path) -> None:
    assert listed(tmp_path, f"[[departure]]\n{GOOD}count = 3") == (Departure("add.*", "why", "here", 3),)
    assert listed(tmp_path, "") == ()


def test_what_is_said_of_a_function_is_said_of_its_operator_too() -> None:
    of_add, of_plus = (Departure(calls, "why", "here") for calls in (r"add\(int8, .*", r"\+\(.*"))
    assert departure_of("+=(int8, int16)", (of_add, of_plus)) is of_plus
    assert departure_of("+(int8, int16)", (of_add,)) is departure_of("add(int8, int16)", (of_add,)) is of_add
    assert departure_of("add(int8, int16)", (of_plus,)) is None
    assert departure_of("-(int8, int16)", (of_add, of_plus)) is None


def test_a_recording_without_a_list_has_none_and_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    assert departures("nothing") == ()
    assert departures("\0" + "n" * 10_000) == ()
    with pytest.raises(FileError, match=r"cannot read '.*none\.toml': No such file or directory"):
        departures("numpy", tmp_path / "none.toml")


@pytest.mark.parametrize(("text", "why"), [
    ("[[departure]", "list.toml: not TOML: .*line 1"), (b"\xff", r"list.toml: not UTF-8 text \(byte 0\)"),
    ("a = " + "[" * 10_000, "list.toml: not TOML: nested too deep"), ("a = " + "9" * 5_000, "not TOML: "),
    ("a." * 90_000 + "b = 1", "list.toml, line 1: more than 200 dots"),
    ("# " * 100_001, "list.toml: larger than 200,000 bytes"),
    (f"[[deviation]]\n{GOOD}", r"list.toml: unknown key 'deviation'; write tables \[\[departure\]\]"),
    ("departure = 3", "list.toml: departure is no list"),
    ("departure = [3]", "list.toml, departure 1: no table"),
    (f"[[departure]]\n{GOOD}[[departure]]\n{GOOD}call = 3", "departure 2: unknown key 'call'; did you mean"),
    (f"[[departure]]\n{GOOD}count = true", "departure 1: count should be a number"),
    ("[[departure]]\ncalls = 3", "departure 1: calls should be a text"),
    ('[[departure]]\ncalls = "add"', "departure 1: reason is missing"),
    (f"[[departure]]\n{GOOD.replace('.*', '(')}", "departure 1: calls is no regular expression: missing"),
    (f"[[departure]]\n{GOOD.replace('.*', '(' * 5_000 + ')' * 5_000)}", "calls is no regular expression"),
    (f"[[departure]]\n{GOOD.replace('.*', 'a{99999999999}')}", "calls is no regular expression"),
])  # fmt: skip
def test_a_list_that_cannot_be_right_is_refused_by_entry_and_cause(
    tmp_path: Path, text: str | bytes, why: str
) -> None:
    with pytest.raises(DepartureError, match=why) as e:
        listed(tmp_path, text)
    assert len(str(e.value)) < 500


def test_the_first_departure_that_covers_a_call_counts() -> None:
    known = (Departure("sub.*", "a", ""), Departure("add.*", "b", ""), Departure("add.*", "c", ""))
    assert departure_of("add(int8, int8)", known) == known[1]
    assert departure_of("pow(int8, int8)", known) is None


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no alarms")
def test_an_expression_that_would_never_end_is_refused_and_other_alarms_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 600)
        monkeypatch.setattr(module, "LIMIT_SECONDS", 0.1)
        message = (
            r"calls = '\(a\+\)\+b' takes longer than 0\.1 s to match 'a{37}\.\.\.'; write it without repeats"
        )
        with pytest.raises(DepartureError, match=message):
            departure_of("a" * 60, (Departure("(a+)+b", "why", "here"),))
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 600
        signal.raise_signal(signal.SIGALRM)
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
