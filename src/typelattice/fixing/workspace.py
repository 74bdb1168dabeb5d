"""A copy of a program's folder, in which the program is run with patches."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfile, copytree
from tempfile import TemporaryDirectory

from typelattice.fixing.child import Kept, Program, RunInChild
from typelattice.fixing.source import FixError
from typelattice.tracing.ground.run import Run

MOST_FILES = 20_000
MOST_BYTES = 500_000_000
LEFT_OUT = {"__pycache__", "node_modules"}
SECONDS = 600.0
CHILD = "import sys; from typelattice.fixing.child import main; main(sys.argv[1], sys.argv[2])"


@dataclass(frozen=True, slots=True)
class Result:
    """A run of a program: what was followed, its values, what it printed and warned of."""

    run: Run
    values: Mapping[str, Kept]
    printed: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workspace:
    """The copy of a folder, and the program to be run in it."""

    program: Program
    folder: Path

    def run(self, widen: bool = False) -> Result | str:
        """Run the program in a process of its own; return the reason where it fails."""
        todo, out = self.folder / "program.pickle", self.folder / "ran.pickle"
        todo.write_bytes(pickle.dumps(replace(self.program, widen=widen)))
        out.unlink(missing_ok=True)
        own = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), own]))
        here = Path.cwd()
        original, root = self.program.original, self.program.root
        inside = root / here.relative_to(original) if here.is_relative_to(original) else root
        try:
            done = subprocess.run(
                [sys.executable, "-c", CHILD, str(todo), str(out)],
                cwd=inside, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
                errors="replace", stdin=subprocess.DEVNULL, timeout=SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"it ran for more than {SECONDS:.0f} seconds"
        ran: RunInChild | None = pickle.loads(out.read_bytes()) if out.is_file() else None
        if ran is None or ran.status != 0 or done.returncode != 0:
            said = done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"]
            return next((line for line in reversed(said) if line.strip()), "")[:300]
        warnings = [line.partition("Warning: ") for line in done.stderr.splitlines() if "Warning: " in line]
        told = tuple(sorted(f"{kind.rpartition(' ')[2]}Warning: {text}" for kind, _, text in warnings))
        return Result(ran.run, ran.values, done.stdout, told)


@contextmanager
def workspace(program: Program) -> Iterator[Workspace]:
    """Copy the folder of a program; `root` of the program is put in its place. Raises FixError."""
    original = program.original
    files = bytes_ = 0
    for folder, folders, names in os.walk(original):
        folders[:] = [name for name in folders if not _left_out(Path(folder, name))]
        files += len(names)
        bytes_ += sum(Path(folder, name).lstat().st_size for name in names)
        if files > MOST_FILES or bytes_ > MOST_BYTES:
            what = f"{original} holds more than {MOST_FILES:,} files or {MOST_BYTES // 10**6} MB"
            raise FixError(f"{what}, too much to copy for each try; run it from a folder that holds less")
    with TemporaryDirectory(prefix="typelattice-fix-") as folder:
        root = Path(os.path.realpath(folder)) / original.name
        copytree(original, root, symlinks=True, ignore=_ignored, copy_function=_copied)
        target = (
            program.target if program.as_module else str(root / Path(program.target).relative_to(original))
        )
        yield Workspace(replace(program, root=root, target=target), Path(os.path.realpath(folder)))


def _ignored(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if Path(folder, name).is_dir() and _left_out(Path(folder, name))]


def _left_out(folder: Path) -> bool:
    """Tell whether a folder holds no code of the user's: hidden, a cache, or a virtual environment."""
    return folder.name.startswith(".") or folder.name in LEFT_OUT or (folder / "pyvenv.cfg").is_file()


def _copied(source: str, target: str) -> None:
    """Copy a regular file; leave out sockets, pipes and devices."""
    if os.path.isfile(source):
        copyfile(source, target)
