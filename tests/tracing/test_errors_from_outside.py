"""Errors that a signal handler or another thread raises reach the program, wherever they arrive."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import one_in
from test_tracing_scripts import both

from typelattice.base.errors.outside_errors import raise_if_from_outside
from typelattice.tracing.entry_points.trace_function import trace
from typelattice.tracing.record.recorder import Recorder

HEAD = """
import ctypes, signal, sys, threading, time
import numpy as np
class Stop({base}): pass
def stop(number, frame):
    raise Stop("now")
signal.signal(signal.SIGALRM, stop)
def numbers():
    i = 0
    while True:
        i = i + 1
def arrays():
    x = np.ones(4, np.float32)
    while True:
        x = x * 0.5 + x[0] / 4 - abs(x).sum() / 100
def calls():
    while True:
        max(1, [1, 2].index(2)), (lambda a, b: a)(3, 4)
def inside_numpy():
    x = np.ones((200, 200))
    while True:
        x = np.tanh(x @ x)
def new_steps():
    i = 0
    while True:
        i += 1
        np.ones(i % 9 + 1, ("f4", "f8", "i2")[i % 3]) * (i % 100)
"""
ALARMS = """
for loop in (numbers, arrays, calls, inside_numpy, new_steps):
    arrived = 0
    for k in range({times}):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.004 + 0.0003 * k)
            loop()
        except Stop:
            arrived += 1
    print(loop.__name__, arrived)
"""
THREADS = """
arrived = []
def work():
    try:
        arrays()
    except Stop:
        arrived.append(1)
for k in range({times}):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    time.sleep(0.004)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stop))
    thread.join(20)
print(len(arrived))
"""


BASES = ("Exception", "ValueError", "RecursionError", "KeyError", "BaseException")


@pytest.mark.parametrize(("way", "base"), one_in(3, [*product(("alarms", "threads"), BASES)]))
def test_each_error_from_outside_arrives_the_first_time(tmp_path: Path, base: str, way: str) -> None:
    text = ALARMS if way == "alarms" else THREADS
    script = HEAD.replace("{base}", base) + text.replace("{times}", "10")
    (tmp_path / "main.py").write_text(script, encoding="utf-8")
    plain, traced = both(tmp_path, "main.py")
    assert plain.stdout == traced.stdout and "10\n" in plain.stdout, traced.stderr
    assert "failed" not in traced.stderr, traced.stderr


@pytest.mark.parametrize("cls", [ValueError, KeyboardInterrupt])
def test_an_error_from_outside_while_a_class_is_made_arrives_as_it_is(cls: type[BaseException]) -> None:
    class Named:
        calls = 0

        def __set_name__(self, owner: type, name: str) -> None:
            Named.calls += 1
            if Named.calls == 1:
                raise cls("now")

    def make_class() -> type:
        return type("Made", (), {"x": Named()})

    with pytest.raises(cls, match="now"):
        try:
            make_class()
        except Exception as e:
            raise_if_from_outside(e, make_class)


def test_a_handler_that_raises_shows_no_frame_of_ours(tmp_path: Path) -> None:
    text = HEAD.replace("{base}", "Exception") + "\nsignal.setitimer(signal.ITIMER_REAL, 0.02)\narrays()\n"
    (tmp_path / "main.py").write_text(text, encoding="utf-8")
    _, traced = both(tmp_path, "main.py")
    assert traced.returncode == 1 and "Stop: now" in traced.stderr
    assert "typelattice/tracing" not in traced.stderr


class Stop(Exception):
    """An error of the program."""


def test_an_error_that_comes_once_is_raised_and_one_of_ours_is_not() -> None:
    def fail_once() -> None:
        if not seen:
            seen.append(1)
            raise Stop

    seen: list[int] = []
    for work, is_raised in ((fail_once, True), (lambda: [][1], False)):
        try:
            work()
        except Exception as e:
            if is_raised:
                with pytest.raises(Stop):
                    raise_if_from_outside(e, work)
            else:
                raise_if_from_outside(e, work)


def test_our_own_failure_leaves_an_opaque_step_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any) -> Any:
        raise ValueError("we are wrong")

    monkeypatch.setattr(Recorder, "excerpt_of", _failing_once_per_step(Recorder.excerpt_of, fail))

    def f(x: Any) -> Any:
        return x * 2

    traced = trace(f, np.ones(2, np.float32))
    assert traced.result.dtype == np.float32


def _failing_once_per_step(inner: Callable[..., Any], fail: Callable[..., Any]) -> Callable[..., Any]:
    def excerpt(recorder: Recorder, witness: Any, library: str) -> Any:
        caller = sys._getframe(1).f_code.co_name
        if caller == "add_step" and witness not in recorder.failures:
            return fail()
        return inner(recorder, witness, library)

    return excerpt


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarms")
def test_an_alarm_during_the_first_step_leaves_a_whole_run(tmp_path: Path) -> None:
    text = HEAD.replace("{base}", "Exception") + (
        "done = 0\n"
        "for k in range(60):\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0.0002 * (k + 1))\n"
        "        new_steps()\n"
        "    except Stop:\n"
        "        done += 1\n"
        "y = np.ones(2, np.float32) * np.float64(2)\n"
        "print(done)\n"
    )
    (tmp_path / "main.py").write_text(text, encoding="utf-8")
    _, traced = both(tmp_path, "main.py")
    assert traced.stdout == "60\n" and "np.ones(2, np.float32) * np.float64(2)" in traced.stderr
    assert "rules predict" in traced.stderr, traced.stderr
