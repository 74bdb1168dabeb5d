"""Reads from a forked process if a mutant was killed. A crash of the tool itself is no verdict."""
from __future__ import annotations

import os
import pickle
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from mutations import Mutation

SURVIVED, KILLED, BROKEN = range(3)  # what an exit status says; BROKEN: the tool failed, not a test
MEMORY = 6 * 2**30  # bytes that a fork may have: a mutant that takes all there is fails its tests instead
PATIENCE = 5  # times the processor time of the tests as they are: what takes longer hangs, and is killed
T = TypeVar("T")


def forked(run: Callable[[], bool], seconds: float) -> int:
    """Starts a fork whose exit status tells what the call says; one that takes far too long is ended."""
    pid = os.fork()
    if pid:
        return pid
    limit = int(PATIENCE * seconds + 10)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    silence()
    status = BROKEN
    try:
        status = KILLED if run() else SURVIVED
    finally:
        os._exit(status)


def silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def answer_of(run: Callable[[], T]) -> T:
    """What a call in a fork returns: it leaves nothing behind in this process."""
    with tempfile.TemporaryFile() as file:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                pickle.dump(run(), file)
                file.flush()
                status = 0
            finally:
                os._exit(status)
        if os.waitpid(pid, 0)[1]:
            raise SystemExit("unchanged code fails in a fork: nothing can be said of mutants")
        file.seek(0)
        found: T = pickle.load(file)
        return found


def race(
    work: Iterable[Mutation], start: Callable[[Mutation], int], jobs: int, until: float
) -> Iterator[tuple[Mutation, bool]]:
    """(mutant, whether it was killed) as they finish, so many at a time; none is started after `until`."""
    running: dict[int, Mutation] = {}
    for mutant in work:
        if time.monotonic() > until:
            break
        running[start(mutant)] = mutant
        if len(running) >= jobs:
            yield verdict(running)
    while running:
        yield verdict(running)


def verdict(running: dict[int, Mutation]) -> tuple[Mutation, bool]:
    """The next mutant that is done, and whether it was killed: noticed by a test, or ended since it hung."""
    pid, status = os.wait()
    mutant = running.pop(pid)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) not in (SURVIVED, KILLED):
        raise RuntimeError(f"{mutant}: the tool itself failed, which says nothing of the mutant")
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) not in (signal.SIGXCPU, signal.SIGKILL, signal.SIGSEGV):
        raise RuntimeError(f"{mutant}: ended from outside by signal {os.WTERMSIG(status)}")
    return mutant, status != 0
