"""Programs that use executors print and return the same with and without the tracer."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import one_in
from test_tracing_scripts import both

HEAD = """
import asyncio, concurrent.futures, multiprocessing, sys
import numpy as np
def double(x):
    return x * np.float64(2)
xs = [np.full(2, i, np.float32) for i in range(4)]
def executor(pool):
    with pool: return list(pool.map(double, xs))
async def gather():
    return await asyncio.gather(*(asyncio.to_thread(double, x) for x in xs))
def processes(how):
    with multiprocessing.get_context(how).Pool(2) as pool: return pool.map(double, xs)
if __name__ == "__main__":
    print({})
    sys.exit(5)
"""
EXECUTORS = (
    "executor(concurrent.futures.ThreadPoolExecutor(2))",
    "executor(concurrent.futures.ProcessPoolExecutor(2))",
    "asyncio.run(gather())",
    "processes('fork')",
    "processes('spawn')",
    "processes('forkserver')",
)


@pytest.mark.parametrize("used", one_in(4, EXECUTORS, 1))
def test_a_program_with_an_executor_does_what_it_does_untraced(tmp_path: Path, used: str) -> None:
    (tmp_path / "main.py").write_text(HEAD.replace("{}", used), encoding="utf-8")
    plain, traced = both(tmp_path, "main.py", PYTHONWARNINGS="ignore")
    assert plain.returncode == traced.returncode == 5, traced.stderr
    assert plain.stdout == traced.stdout and "array([6., 6.])" in plain.stdout


WAITING = """
import asyncio, multiprocessing, signal, threading
def end():
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
def wait(lock):
    threading.Timer(0.2, end).start()
    lock.acquire()
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    lock = context.Lock()
    lock.acquire()
    child = context.Process(target=wait, args=(lock,))
    child.start()
    child.join()
    print(child.exitcode)
"""


def test_a_signal_ends_a_child_process_that_waits_in_compiled_code(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(WAITING, encoding="utf-8")
    plain, traced = both(tmp_path, "main.py", PYTHONWARNINGS="ignore")
    assert plain.stdout == traced.stdout == "-15\n", traced.stderr


NESTED = """
import multiprocessing, os, warnings
warnings.simplefilter("error")
def fork():
    if not os.fork():
        os._exit(3)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
if __name__ == "__main__":
    child = multiprocessing.get_context("fork").Process(target=fork)
    child.start()
    child.join()
    print(child.exitcode)
"""


def test_a_child_process_forks_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(NESTED, encoding="utf-8")
    plain, traced = both(tmp_path, "main.py")
    assert plain.stdout == traced.stdout == "3\n0\n", traced.stderr
