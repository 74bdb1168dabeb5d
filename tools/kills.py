"""Kills `fix --write` at random moments, and looks at what is left: the sources, the copy, the processes.

    python tools/kills.py            # 50 kills, by four signals
    python tools/kills.py --count 5 --seed 3

After each kill the sources must be all as before or all as after, no file may be left beside them, and
neither the copy nor a process of the program may be left for long.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SOURCES = {
    "s.py": "import numpy as np\nimport helper\nx = np.ones(3, 'f4')\ny = x * np.ones(3)\nz = helper.f(x)\n",
    "helper.py": "import numpy as np\ndef f(x):\n    return x * np.linspace(0, 1, 3)\n",
}
WRITE_SECONDS = 0.3  # from the printed patch to the end
PATIENCE = 10.0  # seconds until a copy or a process counts as left


def start_search(folder: Path, temporary: Path) -> subprocess.Popen[bytes]:
    """Start a search for a patch of two files."""
    words = [sys.executable, "-m", "typelattice", "fix", "--write", "--package", "helper", "s.py"]
    return subprocess.Popen(
        words, cwd=folder, env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def read_sources(folder: Path) -> dict[str, str]:
    """Read all files of a folder."""
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def list_left_processes(temporary: Path) -> list[str]:
    """List the processes that were started with a temporary folder, but for those that are ending."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if str(temporary).encode() in (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:100])
            except OSError:
                continue
    return found


def kill_searches(count: int, seed: int) -> Iterator[str]:
    """Kill searches at random moments. Yield what is left after each: before, after, or a mistake."""
    dice = random.Random(seed)
    with TemporaryDirectory() as name:
        folder, temporary = Path(name, "project"), Path(name, "tmp")
        folder.mkdir()
        temporary.mkdir()
        after, seconds = run_whole_search(folder, temporary)
        for i in range(count):
            write_sources(folder, SOURCES)
            search = start_search(folder, temporary)
            if i % 2:
                time.sleep(dice.uniform(0, seconds))
            else:  # it prints the patch just before it writes
                assert search.stdout is not None
                search.stdout.read(1)
                time.sleep(dice.uniform(0, WRITE_SECONDS))
            os.killpg(search.pid, dice.choice(SIGNALS))
            search.communicate()
            yield describe_rest(folder, temporary, after)


def run_whole_search(folder: Path, temporary: Path) -> tuple[dict[str, str], float]:
    """Run a search to its end. Return the sources that it wrote, and its seconds."""
    write_sources(folder, SOURCES)
    started = time.monotonic()
    start_search(folder, temporary).communicate()
    after = read_sources(folder)
    assert all(after[name] != text for name, text in SOURCES.items()), "the search changes both files"
    return after, time.monotonic() - started


def write_sources(folder: Path, sources: Mapping[str, str]) -> None:
    """Make a folder hold these sources only."""
    for path in folder.iterdir():
        path.unlink()
    for name, text in sources.items():
        (folder / name).write_text(text)


def describe_rest(folder: Path, temporary: Path, after: Mapping[str, str]) -> str:
    """Say whether the sources are as before or as after, or what is wrong."""
    end = time.monotonic() + PATIENCE
    while (left := [*os.listdir(temporary), *list_left_processes(temporary)]) and time.monotonic() < end:
        time.sleep(0.05)
    if left:
        return f"left: {left}"
    found = read_sources(folder)
    return "before" if found == SOURCES else "after" if found == after else f"mixed: {found}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    counts = Counter(kill_searches(args.count, args.seed))
    print(", ".join(f"{outcome}: {count}" for outcome, count in counts.items()))
    return int(not {*counts} <= {"before", "after"})


if __name__ == "__main__":
    sys.exit(main())
