"""Runs of child processes become part of the run of their parent, however the processes are started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import traced_workers
from samples import one_in

import typelattice as tl
from typelattice.tracing.run_data.merged_runs import drop_unused_steps, merge_runs

CODE = """
import concurrent.futures, multiprocessing, os, sys, signal
import numpy as np
def double(x):
    if x[0] == 9: os.kill(os.getpid(), signal.SIGKILL)
    return x * np.float64(2)
xs = [np.full(2, i, np.float32) for i in range(4)]
def executor(how):
    context = multiprocessing.get_context(how)
    with concurrent.futures.ProcessPoolExecutor(2, context) as pool: return list(pool.map(double, xs))
def pool(how):
    with multiprocessing.get_context(how).Pool(2) as pool: return pool.map(double, xs)
def closed(how):
    with multiprocessing.get_context(how).Pool(2, maxtasksperchild=1) as pool:
        found = pool.map(double, xs, chunksize=1)
        pool.close(); pool.join()
    return found
def one(how, x):
    process = multiprocessing.get_context(how).Process(target=double, args=(x,))
    process.start(); process.join()
def fork():
    if os.fork() == 0: double(xs[0]); double(xs[1]); os._exit(0)
    os.wait()
def leave():
    if os.fork() == 0: double(xs[0]); sys.exit(0)
    os.wait()
def within(x):
    return one(None, x)
def nested():
    process = multiprocessing.Process(target=within, args=(xs[0],))
    process.start(); process.join()
def loky():
    import joblib
    return joblib.Parallel(2)(joblib.delayed(double)(x) for x in xs)
def cluster():
    from dask.distributed import Client, LocalCluster
    settings = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        client.gather(client.map(double, xs))
def added():
    parts = pool("spawn")
    return parts[0] + xs[0]
if __name__ == "__main__":
    exec(sys.argv[1])
"""


def traced(folder: Path, code: str, *options: str) -> str:
    """The report of the script, without its steps."""
    (folder / "s.py").write_text(CODE, encoding="utf-8")
    root = str(Path(tl.__file__).parents[1])
    words = [sys.executable, "-W", "ignore", "-m", "typelattice", "trace", *options, "s.py", code]
    ran = subprocess.run(
        words, cwd=folder, env={**os.environ, "PYTHONPATH": root, "TMPDIR": str(folder)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not [*folder.glob("typelattice-runs-*")]
    return " ".join(ran.stderr.split())


HOW = ("fork", "spawn", "forkserver")
# From 3.14 on the server imports the script before the trace reaches it, and its functions are not followed.
OF_SCRIPTS = HOW[:2] if sys.version_info >= (3, 14) else HOW


@pytest.mark.parametrize(("code", "how"), one_in(4, [*product(("executor", "pool", "closed"), OF_SCRIPTS)]))
def test_the_runs_of_workers_are_merged(tmp_path: Path, how: str, code: str) -> None:
    """A pool ends its workers by a signal, unless it is closed."""
    told = traced(tmp_path, f"{code}({how!r})", "--json", "run.json")
    assert "processes" in told and "s.py:6: x * np.float64(2)" in told
    assert "multiply of float32 and float64:0d gives float64" in told
    assert code == "pool" or "left no run" not in told  # its workers may end before they have begun
    steps = json.loads((tmp_path / "run.json").read_text())["steps"]
    assert [step["count"] for step in steps if step["code"] == "x * np.float64(2)"] == [4]


def test_the_line_of_the_worker_comes_before_the_call_that_its_results_come_from(tmp_path: Path) -> None:
    told = traced(tmp_path, "total = added()")
    assert told.index(" 1 s.py:6: x * np.float64(2)") < told.index(" 2 s.py:12: pool.map(double, xs)")


@pytest.mark.parametrize(
    ("code", "operations"), one_in(2, [("fork()", 12), ("leave()", 8), ("nested()", 8)])
)
def test_a_forked_process_counts_only_what_it_does(tmp_path: Path, code: str, operations: int) -> None:
    if code == "nested()" and sys.version_info >= (3, 14):
        pytest.skip("its processes are not forked")
    told = traced(tmp_path, code)
    assert f"{operations} operations ran in 1 file under " in told and "left no run" not in told


@pytest.mark.parametrize("how", one_in(3, OF_SCRIPTS, 1))
def test_a_worker_that_is_killed_costs_its_part_alone(tmp_path: Path, how: str) -> None:
    told = traced(tmp_path, f"one({how!r}, xs[1]); one({how!r}, np.full(2, 9, np.float32))")
    assert "in 2 processes" in told and "x * np.float64(2)" in told
    assert "not followed: 1 child process that the program started, and that left no run" in told


def test_values_of_child_processes_are_checked_too(tmp_path: Path) -> None:
    told = traced(tmp_path, "one('spawn', np.full(2, 1.5e308))", "--values")
    assert "in 2 processes" in told and "2 of 2 numbers became infinite" in told


@pytest.mark.live
def test_the_workers_of_joblib_are_followed_though_functions_come_pickled_by_value(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    told = traced(tmp_path, "loky()")
    assert "20 operations ran in 1 file under " in told and "in 3 processes" in told
    assert "s.py:6: x * np.float64(2)" in told


@pytest.mark.live
def test_the_worker_processes_of_dask_are_followed(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    told = traced(tmp_path, "cluster()", "--json", "run.json")
    steps = json.loads((tmp_path / "run.json").read_text())["steps"]
    assert [step["count"] for step in steps if step["code"] == "x * np.float64(2)"] == [4]
    assert "in 3 processes" in told and "multiply of float32 and float64:0d gives float64" in told


def scaled(x: object) -> object:
    import numpy as np

    return x * np.float64(2) + 1 + 1.0  # type: ignore[operator]


def test_a_run_merged_with_itself_has_the_same_steps_and_twice_the_counts() -> None:
    import numpy as np

    run = tl.trace(scaled, np.ones(2, np.float32)).run
    both = merge_runs([run, run])
    assert both.program.steps == run.program.steps and both.followed_process_count == 1
    assert [(s.operand, s.count, s.bytes) for s in both.observations] == [
        (s.operand, 2 * s.count, 2 * s.bytes) for s in run.observations
    ]
    assert {"1", "1.0"} <= {step.text for step in both.program.steps}
    assert not both.mismatches and merge_runs([run]) is run


def test_steps_that_did_not_run_are_left_out_of_what_a_child_process_leaves() -> None:
    import numpy as np

    run = tl.trace(scaled, np.ones(2, np.float32)).run
    first = [replace(seen, count=0) if i > 1 else seen for i, seen in enumerate(run.observations)]
    assert drop_unused_steps(run).program.steps == run.program.steps
    left = drop_unused_steps(replace(run, observations=tuple(first)))
    assert 0 < len(left.program.steps) <= 2 and len(left.observations) == len(left.program.steps)


@pytest.mark.parametrize("how", one_in(3, HOW, 2))
def test_a_traced_function_and_a_traced_block_have_the_runs_of_their_workers(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = sys.modules["__main__"]  # which is pytest; its workers are not to run it again
    monkeypatch.setattr(main, "__file__", traced_workers.__file__, raising=False)
    monkeypatch.setitem(sys.modules, "traced_workers", traced_workers)  # a test before may have read it again
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    with tl.trace(package="traced_workers") as block:
        traced_workers.computed(how)
    for run in (tl.trace(traced_workers.computed, how).run, block.run):
        doubled = [seen.count for step, seen in run if step.text == "x * np.float64(2)"]
        assert (doubled, run.followed_process_count, run.unfollowed_process_count) == ([4], 2, 0)
