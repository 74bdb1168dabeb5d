"""Breaks the engine, one small change at a time, and counts the changes that no test notices.

The tests are collected once, and run once to see which of them run which lines of the engine. Each mutant
then has a fork of that process, in which its functions take the mutant's code, and the tests that run the
changed lines are run, quickest first. What they do not notice is tried again in a process that imports the
mutant afresh, with every test that runs the engine at all: code outside of functions, and answers that were
remembered, are then the mutant's too. Prints killed / total a module, and the survivors.

    python tools/mutants.py [--minutes N] [--jobs N] [--sample N] [--by FILE ...] [MODULE ...]

where a module is written as engine/rules. What the tests of some files kill, `--by`, all tests kill: their
share is a lower bound, found in less time.
"""
from __future__ import annotations

import argparse
import ast
import functools
import gc
import importlib
import inspect
import os
import random
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeVar

from afresh import PACKAGE, failing_afresh, noticed_afresh, tests
from forks import answer_of, forked, race, silence
from mutations import Mutation, mutations, unchanged

MODULES = [
    *sorted(PACKAGE.glob("engine/[a-z]*.py")),
    PACKAGE / "core/dtypes/order.py",
    PACKAGE / "core/operands/operand.py",
]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Run:
    """What one test did as the code stands: whether it passed, its seconds, and which lines it ran."""

    passed: bool
    seconds: float
    lines: frozenset[tuple[str, int]]


@dataclass(slots=True)
class Trial:
    """A pytest plug-in that tries mutants in forks instead of running the tests."""

    mutants: list[Mutation]
    jobs: int
    until: float
    runs: dict[str, Run] = field(default_factory=dict)
    dead: list[Mutation] = field(default_factory=list)
    alive: list[Mutation] = field(default_factory=list)

    def pytest_runtestloop(self, session: Any) -> bool:
        items = session.items
        files = {str(m.path) for m in self.mutants}
        self.runs = answer_of(lambda: traced(items, files))
        functions = live_functions(files)
        by_name = {item.nodeid: item for item in items}
        gc.freeze()  # a fork then copies fewer pages

        def attempt(mutant: Mutation) -> int:
            wanted = {(str(mutant.path), line) for line in range(mutant.first, mutant.last + 1)}
            ran = sorted((r.seconds, name) for name, r in self.runs.items() if r.passed and r.lines & wanted)
            return forked(
                lambda: noticed(mutant, functions, [by_name[n] for _, n in ran]), sum(s for s, _ in ran)
            )

        passing = [by_name[name] for name, run in self.runs.items() if run.passed]
        same = unchanged(self.mutants[0].path)
        for name in answer_of(lambda: [*failing(same, functions, passing)]):
            self.runs[name] = replace(self.runs[name], passed=False)
        for mutant, killed in race(self.mutants, attempt, self.jobs, self.until):
            (self.dead if killed else self.alive).append(mutant)
        return True


def traced(items: Sequence[Any], files: set[str]) -> dict[str, Run]:
    """Every test run once, in order."""
    from _pytest.runner import runtestprotocol

    lines: set[tuple[str, int]] = set()

    def local(frame: FrameType, event: str, _: object) -> Any:
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def trace(frame: FrameType, event: str, _: object) -> Any:
        return local if frame.f_code.co_filename in files else None

    threading.settrace(trace)
    sys.settrace(trace)
    runs = {}
    for item, following in followed(items):
        lines.clear()
        start = time.process_time()
        reports = runtestprotocol(item, nextitem=following, log=False)
        passed = not any(report.failed for report in reports)
        runs[item.nodeid] = Run(passed, time.process_time() - start, frozenset(lines))
    return runs


def live_functions(files: set[str]) -> dict[CodeType, list[FunctionType]]:
    """The functions that were made from files, by their code."""
    found = defaultdict(list)
    for x in gc.get_objects():
        if isinstance(x, FunctionType) and x.__code__.co_filename in files:
            found[x.__code__].append(x)
    return found


def noticed(mutant: Mutation, functions: dict[CodeType, list[FunctionType]], items: Sequence[Any]) -> bool:
    """Whether a test fails once the functions have the mutant's code."""
    return any(failing(mutant, functions, items))


def failing(
    mutant: Mutation, functions: dict[CodeType, list[FunctionType]], items: Sequence[Any]
) -> Iterator[str]:
    """The names of the tests that fail once the functions have the mutant's code."""
    from _pytest.runner import runtestprotocol

    source = mutant.path.read_text(encoding="utf-8")
    before = outermost(compile(ast.parse(source), str(mutant.path), "exec"))
    after = outermost(compile(mutant.tree(), str(mutant.path), "exec"))
    for old, new in zip(before, after, strict=False):
        # A method that loses its super() has another closure, which Python refuses here: it is tried afresh.
        for function in functions.get(old, ()) if old != new and old.co_freevars == new.co_freevars else ():
            function.__code__ = new
    forget()
    for item, following in followed(items):
        if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
            yield item.nodeid


def followed(items: Sequence[T]) -> Iterator[tuple[T, T | None]]:
    """Each item and the next one; the last has none."""
    return zip(items, [*items[1:], None], strict=False)


def outermost(code: CodeType) -> Iterator[CodeType]:
    """The code of a module's functions and methods, without that of functions within."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            # a class body is not optimised, a function is
            yield from [inner] if inner.co_flags & inspect.CO_OPTIMIZED else outermost(inner)


def forget() -> None:
    """Empties what the package remembers: answers that were computed before the mutant came."""
    for x in gc.get_objects():
        module = getattr(x, "__module__", None)
        if isinstance(x, functools._lru_cache_wrapper) and str(module).startswith("typelattice"):
            x.cache_clear()
        elif type(x).__module__ == "typelattice.core.engine.system" and type(x).__name__ == "System":
            for name in ("_pairs", "_arrays", "_remembered"):
                getattr(x, name).clear()


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutation testing of the engine.")
    parser.add_argument(
        "modules", nargs="*", help="such as engine/rules (default: the engine, orders, operands)"
    )
    parser.add_argument(
        "--minutes", type=float, default=60, help="stop after so long; what was not tried is counted"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sample", type=int, default=0, help="try so many mutants, drawn at random")
    parser.add_argument("--by", nargs="+", default=["tests", "src"], metavar="FILE", help="files of tests")
    asked = parser.parse_args()
    paths = [PACKAGE / f"{name}.py" for name in asked.modules] or MODULES
    missing = [path for path in paths if not path.is_file()]
    if missing:
        parser.error(f"no module {missing[0].relative_to(PACKAGE).with_suffix('')}")
    until = time.monotonic() + 60 * asked.minutes
    every = [mutant for path in paths for mutant in mutations(path)]
    random.Random(0).shuffle(every)
    for tool in ("pytest", "hypothesis", "numpy", "ml_dtypes"):  # imported once, shared by the forks
        importlib.import_module(tool)

    def first() -> Trial:
        trial = Trial(every[: asked.sample or len(every)], asked.jobs, until)
        silence()
        if tests(asked.by, trial):
            raise RuntimeError("no verdict counts")
        return trial

    trial = answer_of(first)
    broken = [name for name, run in trial.runs.items() if not run.passed]
    print(f"{len(trial.runs)} tests", flush=True)
    for name in broken:
        print(f"left out, since it fails in a fork with the code as it is: {name}", flush=True)
    seconds = {name: run.seconds for name, run in trial.runs.items() if run.passed and run.lines}
    allowed = sum(seconds.values()) + 30
    if not seconds:
        raise SystemExit("no test that passes runs a line of these modules: nothing can be said of mutants")
    print(f"{len(trial.dead)} killed in a fork; {len(trial.alive)} are tried afresh", flush=True)
    if trial.alive:
        broken = answer_of(lambda: failing_afresh(unchanged(paths[0]), seconds, asked.by))
        if len(broken) == len(seconds):
            raise SystemExit("no test passes with the code as it is, imported afresh: nothing can be said")
        for name in broken:
            print(f"left out, since it fails with the code as it is, imported afresh: {name}", flush=True)
            del seconds[name]
    again = race(
        trial.alive,
        lambda m: forked(lambda: noticed_afresh(m, seconds, asked.by), allowed),
        asked.jobs,
        until,
    )
    killed, survived = trial.dead, []
    for mutant, dead in again:
        (killed if dead else survived).append(mutant)
        if not dead:
            print(f"survived  {mutant}", flush=True)
    report(paths, every, killed, survived)
    return 0


def report(
    paths: Sequence[Path], every: Sequence[Mutation], killed: Sequence[Mutation], survived: Sequence[Mutation]
) -> None:
    dead, alive = Counter(m.path for m in killed), Counter(m.path for m in survived)
    for path in paths:
        name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        print(f"{name:<20} {dead[path]} / {dead[path] + alive[path]} killed")
    tried = len(killed) + len(survived)
    share = f" ({100 * len(killed) / tried:.1f} %)" if tried else ""
    print(f"{'all':<20} {len(killed)} / {tried} killed{share}, {len(every) - tried} not tried")


if __name__ == "__main__":
    raise SystemExit(main())
