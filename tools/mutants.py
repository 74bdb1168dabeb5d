"""Mutation testing of the spine: one small change at a time, in memory; a test has to notice each.

Every mutant runs in a fork of a process that has imported the test tools: the tests of its own file first, the others
only if those notice nothing. Prints killed / total a file, and the survivors.

    python tools/mutants.py [--minutes N] [FILE ...]
"""
from __future__ import annotations

import argparse
import ast
import importlib.util
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "typelattice"
FILES = ("order", "operand", "system", "promotion", "fit")
UNSEEING = (
    "wheel", "docs", "imports", "cli", "recording", "recordings", "malformed", "explanation_by_deletion", "designer",
    "findings",
    "author",
)  # tests of other processes, which have no mutant, or of no rules
PATIENCE = 5  # times the processor time of the tests as they are: a mutant that takes longer hangs, and is killed
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
Change = tuple[str, Callable[[], None]]


def changes(node: ast.AST) -> Iterator[Change]:
    """What can be changed at this node: a description, and the change."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield "comparison turned", lambda: node.ops.__setitem__(0, SWAPS[type(node.ops[0])]())  # type: ignore[call-overload]
    if isinstance(node, (ast.BoolOp, ast.BinOp, ast.AugAssign)) and type(node.op) in SWAPS:
        yield "operator swapped", lambda: setattr(node, "op", SWAPS[type(node.op)]())
    if isinstance(node, (ast.If, ast.IfExp)):
        yield "condition negated", lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.comprehension) and node.ifs:
        yield "filter dropped", lambda: setattr(node, "ifs", [])
    if isinstance(node, ast.Return) and node.value and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield "returns None", lambda: setattr(node, "value", ast.Constant(None))
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        new = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{node.value} -> {new}", lambda: setattr(node, "value", new)
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield f"{node.id} -> {NAMES[node.id]}", lambda: setattr(node, "id", NAMES[node.id])
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        for i, child in enumerate(block if isinstance(block, list) else ()):
            called = isinstance(child, ast.Expr) and isinstance(child.value, ast.Call)
            if called or isinstance(child, (ast.Raise, ast.AugAssign)):
                yield f"{type(child).__name__.lower()} dropped", lambda b=block, i=i: b.__setitem__(i, ast.Pass())  # type: ignore[misc]


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but annotations, class bodies' own declarations included."""
    yield tree
    for field, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST) and field not in ("annotation", "returns", "decorator_list"):
                yield from nodes(child)


def mutants(path: Path) -> Iterator[tuple[str, ast.Module]]:
    text = path.read_text(encoding="utf-8")
    sites = [(i, k) for i, node in enumerate(nodes(ast.parse(text))) for k, _ in enumerate(changes(node))]
    for i, k in sites:
        tree = ast.parse(text)
        node = list(nodes(tree))[i]
        what, change = list(changes(node))[k]
        line = getattr(node, "lineno", None) or min((n.lineno for n in ast.walk(node) if hasattr(n, "lineno")), default=0)
        change()
        yield f"{path.name}:{line}: {what}", ast.fix_missing_locations(tree)


class Mutated(MetaPathFinder, Loader):
    """Imports one module from a tree instead of from its file."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def start(path: Path, tree: ast.Module, seconds: float = 600) -> int:
    """Forks a process that tests a tree in place of a file; its exit status is zero if no test notices."""
    pid = os.fork()
    if pid:
        return pid
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    import pytest
    from hypothesis import Phase, settings

    settings.register_profile("mutants", phases=(Phase.explicit, Phase.generate), database=None)  # a failure says enough
    sys.meta_path.insert(0, Mutated(f"typelattice.{path.stem}", path, tree))
    os.chdir(ROOT)
    options = ["-x", "-m", "not live", "-p", "no:cacheprovider", "--tb=no", "--assert=plain", "--hypothesis-profile=mutants"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning", *(f"--ignore=tests/test_{name}.py" for name in UNSEEING)]
    own = f"tests/test_{path.stem}.py"
    os._exit((Path(own).exists() and pytest.main([*options, own])) or pytest.main([*options, "tests", "src"]))


def verdicts(work: Iterator[tuple[Path, str, ast.Module]], seconds: float, until: float) -> Iterator[tuple[str, str, bool]]:
    """(file, mutant, whether it was killed), as they finish; one process a core. Stops at the time given."""
    running: dict[int, tuple[str, str]] = {}
    jobs = os.cpu_count() or 1
    for path, what, tree in work:
        if time.monotonic() > until:
            break
        running[start(path, tree, seconds)] = path.name, what
        while len(running) >= jobs:
            pid, status = os.wait()
            yield *running.pop(pid), status != 0
    while running:
        pid, status = os.wait()
        yield *running.pop(pid), status != 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutation testing of the spine.")
    parser.add_argument("files", nargs="*", type=Path, default=[PACKAGE / f"{name}.py" for name in FILES])
    parser.add_argument("--minutes", type=float, default=10, help="stop after so long; what was not tried is counted")
    asked = parser.parse_args()
    files = [path.resolve() for path in asked.files if path.exists()]
    for tool in ("pytest", "hypothesis", "numpy", "ml_dtypes"):  # imported once, shared by the forks
        importlib.import_module(tool)
    _, status, used = os.wait4(start(files[0], ast.parse(files[0].read_text(encoding="utf-8"))), 0)
    if status:
        print("the tests fail as it is; nothing can be said of mutants", file=sys.stderr)
        return 2
    every = [(path, what, tree) for path in files for what, tree in mutants(path)]
    random.Random(0).shuffle(every)
    killed, tried, survivors = dict.fromkeys((p.name for p in files), 0), dict.fromkeys((p.name for p in files), 0), []
    seconds = PATIENCE * (used.ru_utime + used.ru_stime)
    for name, what, dead in verdicts(iter(every), seconds, time.monotonic() + 60 * asked.minutes):
        tried[name] += 1
        killed[name] += dead
        if not dead:
            survivors.append(what)
    for what in sorted(survivors, key=lambda w: (w.split(":")[0], int(w.split(":")[1]))):
        print(f"survived  {what}")
    for name in tried:
        print(f"{name:<14} {killed[name]} / {tried[name]} killed")
    print(f"{'all':<14} {sum(killed.values())} / {sum(tried.values())} killed, {len(every) - sum(tried.values())} not tried")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
