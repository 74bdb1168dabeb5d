"""Workers share tasks, and an end before the last result ends all of them."""
from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from typelattice.base.workers.pool import LocalPool, WorkersError, connect_cluster


class Doubling:
    """Doubles numbers; at 13 it waits until it is stopped, at -1 it fails."""

    def __init__(self) -> None:
        self.stopped, self.closed = threading.Event(), False

    def results(self, task: int) -> Iterator[int]:
        if task == -1:
            raise LookupError("no -1")
        if task == 13:
            assert self.stopped.wait(60)
        yield task * 2
        yield task * 2 + 1

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None:
        self.closed = True


def test_each_task_is_done_once_and_the_workers_are_closed() -> None:
    workers = [Doubling() for _ in range(3)]
    with LocalPool(workers) as pool:
        assert sorted(pool.results(range(50, 90))) == [*range(100, 180)]
        assert sorted(pool.results([1])) == [2, 3]
    assert all(worker.closed for worker in workers)


def test_a_worker_that_fails_ends_the_others() -> None:
    workers = [Doubling(), Doubling()]
    with LocalPool(workers) as pool, pytest.raises(LookupError, match="no -1"):
        [*pool.results([13, -1, *range(20, 10_000)])]
    assert all(worker.stopped.is_set() for worker in workers)


def test_results_that_nobody_wants_any_more_are_not_made() -> None:
    given = []

    def tasks() -> Iterator[int]:
        for task in range(20, 1_000_000):
            given.append(task)
            yield task

    before = threading.active_count()
    with LocalPool([Doubling(), Doubling()]) as pool:
        results = pool.results(tasks())
        next(results)
        assert threading.active_count() == before + 2
        results.close()  # type: ignore[attr-defined]
        assert threading.active_count() == before
        assert len(given) < 1_000_000 - 20


def test_a_cluster_without_dask_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "typelattice.base.workers.dask_pool", raising=False)
    with pytest.raises(WorkersError, match="a cluster needs Dask; install it with pip install distributed"):
        connect_cluster(Doubling, lambda task: [], "tcp://127.0.0.1:1")
