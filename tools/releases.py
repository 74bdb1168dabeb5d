"""Asks several releases of the libraries, each in its own environment, and records their answers.

    python tools/releases.py                    # every environment that the registry of libraries lists
    python tools/releases.py numpy-2.0 recent   # these
    python tools/releases.py --into FOLDER ...  # the environments are made there; else as .venv-NAME here

A recording of a release such as `numpy@2.4` is asked what that of the newest was asked, and kept as what
differs from it: the newest ones come first. Each environment is made with the first Python for which pip
finds its packages. What cannot be installed or asked is named at the end, with the reason, and the exit
status is 1 then.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # before anything is installed

from typelattice.core.registry.libraries import libraries, recordings
from typelattice.core.registry.releases import VERSION_SIGN
from typelattice.core.system_files.system_text import systems

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
KEPT = ROOT / "src" / "typelattice" / "core" / "evidence" / "recordings"


def packages(environment: str) -> list[str]:
    """What pip installs in an environment."""
    return [package for known in libraries().values() for package in known.packages.get(environment, ())]


def recorded_in(environment: str) -> list[str]:
    """The recordings of systems that are made in an environment."""
    return [
        name
        for name, entry in recordings().items()
        if entry.environment == environment and name.partition(VERSION_SIGN)[0] in systems()
    ]


def run(*command: object) -> str | None:
    """Runs a program; the last line that it writes if it fails, None if it does not."""
    path = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=path, cwd=ROOT)
    lines = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()
    return lines[-1] if done.returncode else None


def installed(environment: str, folder: Path) -> tuple[Path, str | None]:
    """An environment, made unless it is there with these very packages; and why that is not possible."""
    place = folder / f".venv-{environment}"
    python, ready = place / "bin" / "python", place / "ready"
    wanted = "\n".join(packages(environment))
    if ready.exists() and ready.read_text() == wanted:
        return python, None
    failures = []
    for release in PYTHONS:
        base = subprocess.run([ROOT / "tools" / "find-python", release], capture_output=True, text=True)
        if base.returncode:
            failures.append(f"Python {release} is not installed")
            continue
        failed = run(base.stdout.strip(), "-m", "venv", "--clear", place) or run(
            python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages(environment)
        )
        if failed is None:
            ready.write_text(wanted)
            return python, None
        failures.append(f"Python {release}: {failed}")
    return python, "; ".join(failures)


def main() -> int:
    """Makes the environments and the recordings; the exit status."""
    found = dict.fromkeys(entry.environment for entry in recordings().values())
    every = [name for name in found if packages(name)]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("environments", nargs="*", default=every, choices=[*every, []], metavar="ENVIRONMENT")
    parser.add_argument("--into", type=Path, default=ROOT, metavar="FOLDER")
    args = parser.parse_args()
    lacking = []
    ready = {}
    for environment in args.environments or every:
        python, why = installed(environment, args.into)
        if why:
            lacking.append(f"{environment} ({' '.join(packages(environment))}): {why}")
        else:
            ready[environment] = python
    names = [(name, environment) for environment in ready for name in recorded_in(environment)]
    for name, environment in sorted(names, key=lambda pair: VERSION_SIGN in pair[0]):
        why = run(
            ready[environment],
            "-W",
            "ignore",
            "-m",
            "typelattice",
            "record",
            name,
            "-o",
            KEPT / f"{name}.jsonl",
        )
        print(f"{name}: {why or 'recorded'}", flush=True)
        if why:
            lacking.append(f"{name} (in {environment}): {why}")
    print(*lacking, sep="\n")
    return 1 if lacking else 0


if __name__ == "__main__":
    raise SystemExit(main())
