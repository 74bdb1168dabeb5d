"""Runs programs of packages that nobody here chose, untraced and traced, and compares what they do.

    python tools/strangers.py                 # every package of tools/requirements-strangers.txt
    python tools/strangers.py flox qoi        # some of them
    python tools/strangers.py --reports DIR   # keep the reports of the traces

The Python that runs this tool must have the packages, and PYTHONPATH must name our source. Each program runs
in a fresh folder: alone, under `trace`, under `trace --package` and with `--values`. Output, exit status,
standard error and the files that it wrote must be the same. The report goes into a file of its own, so that
standard error is the program's. Each difference is printed, and the status is then 1. A report counts as a
difference if it contradicts our rules or if reading an array failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

TOOLS = Path(__file__).parent
PINS = re.compile(r"(?m)^([\w.-]+)==(\S+)  # (\w+)$")
FAULT = re.compile(r"please report it|our reading of it failed|Traceback")
TIMEOUT = 300.0


@dataclass(frozen=True)
class Stranger:
    """A package: its name in the index, its version, and the module that programs import."""

    name: str
    version: str
    module: str

    @property
    def ways(self) -> dict[str, list[str]]:
        """List the ways to run the program under the tracer, as options."""
        package = ["--package", self.module]
        return {
            "trace": [],
            "trace --package": package,
            "trace --package --values": [*package, "--values"],
        }


@dataclass(frozen=True)
class Ending:
    """The streams, status and files of a program that has ended. `status` is None if it took too long."""

    output: bytes
    errors: bytes
    status: int | None
    files: dict[str, bytes]

    def differences(self, other: Ending) -> Iterator[str]:
        """Describe how another run differs from this one."""
        if self.status != other.status:
            yield f"status {self.status} → {other.status}: {last_line(other.errors)}"
        for name in ("output", "errors"):
            before, after = getattr(self, name), getattr(other, name)
            if before != after:
                yield f"{name}: {first_difference(before, after)}"
        for file in sorted({*self.files, *other.files}):
            if self.files.get(file) != other.files.get(file):
                yield f"file {file}"


def read_strangers() -> list[Stranger]:
    """Read the packages and their versions."""
    text = (TOOLS / "requirements-strangers.txt").read_text(encoding="utf-8")
    return [Stranger(*found.groups()) for found in PINS.finditer(text)]


def last_line(text: bytes) -> str:
    """Return the last line of a stream, or a word for an empty one."""
    return (text.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]


def first_difference(before: bytes, after: bytes) -> str:
    """Show the first line at which two streams differ."""
    one, two = before.decode(errors="replace").splitlines(), after.decode(errors="replace").splitlines()
    for i, line in enumerate([*one, None]):
        if (other := two[i] if i < len(two) else None) != line:
            return f"line {i + 1}: {line!r} → {other!r}"
    return f"after line {len(one)}: {two[len(one)]!r}" if len(two) > len(one) else "the ends of lines"


def run_program(stranger: Stranger, folder: Path, options: list[str] | None) -> tuple[Ending, float]:
    """Run a program in a fresh folder, with options of `trace` or alone. Return its ending and its seconds.

    The folder always has the same path, since programs may print it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(TOOLS / "strangers" / f"{stranger.module}.py", folder / "program.py")
    tracer = [] if options is None else ["-m", "typelattice", "trace", "--output", "../report.txt", *options]
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *tracer, "program.py"], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "TQDM_DISABLE": "1"},
    )  # fmt: skip
    try:
        output, errors = process.communicate(timeout=TIMEOUT)
        status: int | None = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        status = None
    seconds = time.monotonic() - started
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return Ending(output, errors, status, files), seconds


def compare(stranger: Stranger, scratch: Path, reports: Path | None) -> tuple[list[str], list[float]]:
    """Run a program alone and in each way. Return all differences, and how often longer each way took."""
    folder, report = scratch / "run", scratch / "report.txt"
    first, _ = run_program(stranger, folder, None)
    alone, seconds = run_program(stranger, folder, None)  # now all its imports are compiled
    found = [] if alone.status == 0 else [f"alone: status {alone.status}: {last_line(alone.errors)}"]
    found += [f"alone, run again: {difference}" for difference in first.differences(alone)]
    ratios = []
    for way, options in stranger.ways.items():
        report.unlink(missing_ok=True)
        traced, longer = run_program(stranger, folder, options)
        ratios.append(longer / seconds)
        differences = [*alone.differences(traced)]
        text = report.read_text(encoding="utf-8") if report.exists() else ""
        differences += ["no report"] if not text else []
        flat = " ".join(text.split())  # sentences of the report go over several lines
        differences += [f"report: {flat[max(0, m.start() - 200) : m.end()]}" for m in FAULT.finditer(flat)]
        found += [f"{way}: {difference}" for difference in differences]
        if reports is not None:
            (reports / f"{stranger.module} {way}.txt").write_text(text, encoding="utf-8")
    return found, ratios


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="*", help="the modules whose programs run (default: all)")
    parser.add_argument("--reports", type=Path, help="a folder that keeps the reports")
    args = parser.parse_args()
    strangers = read_strangers()
    if unknown := {*args.modules} - {each.module for each in strangers}:
        parser.error(f"no such module: {', '.join(sorted(unknown))}; see tools/requirements-strangers.txt")
    if args.reports is not None:
        args.reports.mkdir(parents=True, exist_ok=True)
    failed = 0
    print("| package | version | same | time, times that of the program alone |\n|---|---|---|---|")
    with TemporaryDirectory() as name:
        for stranger in strangers:
            if args.modules and stranger.module not in args.modules:
                continue
            differences, ratios = compare(stranger, Path(name), args.reports)
            failed += bool(differences)
            same = "no" if differences else "yes"
            times = ", ".join(f"{ratio:.1f}" for ratio in ratios)
            print(f"| {stranger.name} | {stranger.version} | {same} | {times} |", flush=True)
            for difference in differences:
                print(f"{stranger.module}: {difference}", file=sys.stderr, flush=True)
    print(f"{failed} of {len(args.modules) or len(strangers)} differ", file=sys.stderr)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
