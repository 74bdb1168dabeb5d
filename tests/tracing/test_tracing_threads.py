"""Threads of a program that is followed: what several see first at once is one step."""

from __future__ import annotations

import sys

from followed import followed_module

from typelattice.tracing.run_data.run import Run, is_operation

THREADS, LINES = 8, 60


def at_once(arrays: str, line: str) -> Run:
    """The run of threads that all do the same with arrays, of which each line is a new operation."""
    code = f"""
import numpy as np, threading
exec("arrays = {arrays}")
start = threading.Barrier({THREADS})
def work():
    start.wait()
    x = arrays[0]
{"".join(f"    {line.format(i=i)}{chr(10)}" for i in range(LINES))}
threads = [threading.Thread(target=work) for _ in range({THREADS})]
for each in threads: each.start()
for each in threads: each.join()
"""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        return followed_module(code)[1]
    finally:
        sys.setswitchinterval(interval)


def test_an_operation_that_threads_see_first_at_once_is_one_step() -> None:
    run = at_once("[np.ones(3)]", "a = x + {i}.5; b = np.sqrt(a); c = b[1:]; c *= 2")
    assert [seen.count for step, seen in run if is_operation(step)] == [THREADS] * (4 * LINES)


def test_an_array_that_threads_meet_first_at_once_comes_in_once() -> None:
    run = at_once(f"[np.ones(3) for _ in range({LINES})]", "np.sqrt(arrays[{i}])")
    inputs = [seen.count for step, seen in run if step.op is None]
    assert inputs == [1] * LINES
