"""Runs tests in this process, on the code as it is or with a mutant in place of a module."""
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from forks import silence
from mutations import Mutation

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "typelattice"
OPTIONS = [
    "-m", "not live and not browser and not package and not whole", "-p",
    "no:cacheprovider", "--tb=no", "--assert=plain", "--hypothesis-profile=mutants",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",
]  # fmt: skip


class Mutated(MetaPathFinder, Loader):
    """Imports one module from a mutant's tree instead of from its file."""

    def __init__(self, mutant: Mutation) -> None:
        self.mutant = mutant
        self.name = ".".join(mutant.path.relative_to(PACKAGE.parent).with_suffix("").parts)

    def find_spec(self, name: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        return spec_from_file_location(name, self.mutant.path, loader=self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.mutant.tree(), str(self.mutant.path), "exec"), module.__dict__)


@dataclass(frozen=True, slots=True, eq=False)  # pytest asks for the hash of its plug-ins
class Only:
    """A pytest plug-in that runs the tests named alone, the slow ones last, and keeps the names that fail."""

    seconds: dict[str, float]
    failed: list[str] = field(default_factory=list)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        chosen = [item for item in items if item.nodeid in self.seconds]
        items[:] = sorted(chosen, key=lambda item: self.seconds[item.nodeid] > 1)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and report.nodeid not in self.failed:  # a test may fail, and what follows it as well
            self.failed.append(report.nodeid)


def noticed_afresh(mutant: Mutation, seconds: dict[str, float], files: Sequence[str]) -> bool:
    """Whether a test fails in a process that imports the mutant."""
    return bool(failing_afresh(mutant, seconds, ["-x", *files]))


def failing_afresh(mutant: Mutation, seconds: dict[str, float], options: Sequence[str]) -> list[str]:
    """The names of the tests that fail in a process that imports the mutant; all if it cannot even begin."""
    silence()
    sys.meta_path.insert(0, Mutated(mutant))
    only = Only(seconds)
    status = tests(options, only)
    if status == 5:
        raise RuntimeError("no test was collected")
    if status and not only.failed:
        return [*seconds]
    return only.failed


def tests(options: Sequence[str], *plugins: object) -> int:
    """Runs pytest in this process, with every example of hypothesis the same each time and none shrunk."""
    import pytest
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", phases=phases, database=None, derandomize=True, deadline=None)
    os.chdir(ROOT)
    return int(pytest.main([*OPTIONS, *options], plugins=plugins))
