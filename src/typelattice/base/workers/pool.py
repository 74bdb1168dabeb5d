"""Pools of workers, which share tasks: on this machine, or in a cluster."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Protocol, Self, cast

from typelattice.base.errors.errors import TypelatticeError


class WorkersError(TypelatticeError, RuntimeError):
    """A cluster that cannot be reached, or workers that cannot work."""


class Worker(Protocol):
    """A worker that does one task after another, in a process that it starts."""

    def results(self, task: Any) -> Iterator[Any]:
        """Yield the results of a task."""

    def stop(self) -> None:
        """End the current task, from another thread. The task need not give any more results."""

    def close(self) -> None:
        """End its process. It has no task then."""


class WorkerPool(Protocol):
    """Workers that share tasks."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def results(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of all tasks as they arrive, in any order."""


class LocalPool:
    """Workers of this machine, each driven by a thread."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers
        self._threads: Sequence[threading.Thread] = ()
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_workers()
        for worker in self._workers:
            worker.close()

    def _stop_workers(self) -> None:
        self._stopped.set()
        for worker in self._workers:
            worker.stop()
        for thread in self._threads:
            thread.join()

    def results(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of all tasks as they arrive. Raises the errors of the workers."""
        waiting, one_at_a_time = iter(tasks), threading.Lock()
        made: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        stopped = threading.Event()

        def work(worker: Worker) -> None:
            try:
                while not stopped.is_set():
                    with one_at_a_time:
                        task = next(waiting, made)
                    if task is made:
                        break
                    for result in worker.results(task):
                        if stopped.is_set():
                            break
                        made.put(("result", result))
                made.put(("end", None))
            except BaseException as e:
                made.put(("error", e))

        self._stopped = stopped
        self._threads = [threading.Thread(target=work, args=[each], daemon=True) for each in self._workers]
        for thread in self._threads:
            thread.start()
        working = len(self._threads)
        try:
            while working:
                what, result = made.get()
                if what == "error":
                    raise result
                if what == "result":
                    yield result
                else:
                    working -= 1
        finally:
            if working:
                self._stop_workers()


def connect_cluster(
    make_worker: Callable[[], Worker], results_of_lost_task: Callable[[Any], Iterable[Any]], address: str
) -> WorkerPool:
    """Return the workers of a Dask cluster as a pool.

    `make_worker` makes a worker there, so it must be picklable. A task may end every worker that takes it;
    `results_of_lost_task` then gives its results. Raises WorkersError if no scheduler answers at the address.
    """
    try:
        module = import_module(f"{__package__}.dask_pool")
    except ImportError:
        raise WorkersError("a cluster needs Dask; install it with pip install distributed") from None
    return cast(WorkerPool, module.DaskPool(make_worker, results_of_lost_task, address))
