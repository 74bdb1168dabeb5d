"""The workers of a Dask cluster as a pool: Dask gives the task of a worker that ended to another one."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from threading import get_ident
from typing import Any, Self
from uuid import uuid4

from distributed import Client, KilledWorker, as_completed
from distributed.comm import parse_address
from distributed.comm.registry import get_backend

from typelattice.base.workers.pool import Worker, WorkersError

CONNECT_TIMEOUT = 10
"""Seconds to wait for the scheduler."""

_worker_by_key: dict[tuple[str, int], Worker] = {}
"""The worker of each thread in a process of the cluster, by pool and thread."""


class DaskPool:
    """Workers in the processes of a Dask cluster. The arguments are those of `cluster`."""

    def __init__(
        self,
        make_worker: Callable[[], Worker],
        results_of_lost_task: Callable[[Any], Iterable[Any]],
        address: str,
    ) -> None:
        self._make, self._lost, self._key = make_worker, results_of_lost_task, uuid4().hex
        try:
            _check_address(address)
            self._client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TypeError) as e:
            why = f"{address} ({type(e).__name__})"
            what = f"there is no Dask scheduler at {why}"
            raise WorkersError(f"{what}; give the address of one, such as tcp://127.0.0.1:8786") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):  # workers may have ended meanwhile
            self._client.run(_stop_workers, self._key)
        self._client.close()

    def results(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of all tasks as they arrive.

        Raises WorkersError if a worker cannot run a task.
        """
        futures = {
            self._client.submit(_compute_results, self._key, self._make, task, pure=False): task
            for task in tasks
        }
        try:
            for future in as_completed([*futures], loop=self._client.loop):
                if future.status == "finished":
                    yield from future.result()
                elif isinstance(error := future.exception(), KilledWorker):
                    yield from self._lost(futures[future])
                else:
                    why = " ".join(str(error.__cause__ or error).split())
                    needs = "it needs typelattice and the packages that are installed here"
                    raise WorkersError(f"a worker of the cluster fails: {why}; {needs}")
                del futures[future]
        finally:
            self._client.cancel([*futures])


def _check_address(address: str) -> None:
    """Raise ValueError for an address of an unknown sort, for which Client would wait a minute."""
    get_backend(parse_address(address)[0])
    if address.split() != [address]:
        raise ValueError("an address has no spaces")


def _compute_results(key: str, make_worker: Callable[[], Worker], task: Any) -> list[Any]:
    """Do a task in a process of the cluster, with the worker of this thread."""
    multiprocessing.current_process().daemon = False  # a daemon may start no process
    worker = _worker_by_key.get((key, get_ident()))
    if worker is None:
        worker = _worker_by_key[key, get_ident()] = make_worker()
    return [*worker.results(task)]


def _stop_workers(key: str) -> None:
    for of in [of for of in _worker_by_key if of[0] == key]:
        _worker_by_key.pop(of).stop()
