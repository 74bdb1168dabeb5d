"""Patches old releases of packages whose public change is known, and compares the places of both.

    python tools/known_fixes.py                      # the cases of known_fixes.toml but those apart
    python tools/known_fixes.py --apart              # those kept apart
    python tools/known_fixes.py sigma 'cira stretch' # whose name or environment begins so
    python tools/known_fixes.py --into FOLDER ...    # environments are made there; else in .venv-known

Each release is installed in an environment of its own. `typelattice fix` patches it in runs alone. Then the
patch is put into the environment and checked without typelattice: the result is narrow, float64 input gives
bit by bit what it gave before, with --tests the package's own tests of the place come out as before, and no
line with a word such as "precision" in its comment has changed. The release is restored at the end.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
CASES = Path(__file__).with_suffix(".toml")
SECONDS = 1_200
END = """
assert str(result.dtype) == "{narrow}", result.dtype
"""
SHOW = """
import hashlib
print(result.dtype, hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest())
"""
WIDER = {"float32": "float64", "complex64": "complex128"}
MEANT = re.compile(rb"#.*\b(?:precision|double|float64|accura|overflow)|typelattice: meant", re.IGNORECASE)
SAME, NEAR, OTHER, PART = "same place", "as small, elsewhere", "elsewhere", "the result stays wide"


@dataclass(frozen=True)
class Case:
    """A release, a script that shows what is wrong with it, and the functions that its change touched."""

    name: str
    environment: str
    link: str
    places: tuple[str, ...]
    script: str
    package: str
    requires: str
    python: str = "3.11"
    narrow: str = "float32"
    tests: str = ""
    apart: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of a case: where the patch is, what failed, and the lines of it."""

    place: str
    broken: tuple[str, ...]
    changes: tuple[str, ...]
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return self.place in (SAME, NEAR) and not self.broken


def cases() -> list[Case]:
    """Read the cases."""
    read = tomllib.loads(CASES.read_text(encoding="utf-8"))
    return [
        Case(**{**read["environments"][each["environment"]], **each, "places": tuple(each["places"])})
        for each in read["case"]
    ]


def environment(case: Case, folder: Path) -> Path:
    """Make the environment of a case, unless it is there; return its Python. Raises RuntimeError."""
    place = folder / case.environment
    python, ready = place / "bin" / "python", place / "ready"
    if not ready.is_file() or ready.read_text(encoding="utf-8") != case.requires:
        base = subprocess.run([ROOT / "tools" / "find-python", case.python], capture_output=True, text=True)
        words = ["-m", "pip", "install", "-q", "--prefer-binary", "pytest", *case.requires.split()]
        make = [base.stdout.strip() or sys.executable, "-m", "venv", "--clear", str(place)]
        for command in (make, [str(python), *words]):
            ran = subprocess.run(command, capture_output=True, text=True)
            if ran.returncode:
                raise RuntimeError(f"{case.requires} cannot be installed: {ran.stderr.strip()[-300:]}")
        ready.write_text(case.requires, encoding="utf-8")
    return python


def run(python: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in an environment, without typelattice."""
    words = [str(python), "-W", "ignore", "-c", script]
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)


def widened(case: Case) -> str:
    """Write wide dtypes into the script."""
    return case.script.replace(case.narrow, WIDER[case.narrow])


def test_outcomes(case: Case, python: Path) -> Counter[str]:
    """Run the package's own tests of the place, and count how they come out."""
    if not case.tests:
        return Counter()
    module = case.tests.removesuffix(".py").replace("/", ".")
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "-rA", "--tb=no", "--pyargs", module]
    words = [str(python), "-m", "pytest", *options]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, cwd=python.parents[1])
    return Counter(line for line in ran.stdout.splitlines() if re.match("(PASSED|FAILED|ERROR) ", line))


def find_patch(case: Case, python: Path) -> dict[str, Any] | str:
    """Ask `typelattice fix` for a patch; return its data, or why there is none."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "case.py").write_text(case.script + END.format(narrow=case.narrow), encoding="utf-8")
        options = ["--package", case.package, "--format", "json", "case.py"]
        words = [str(python), "-m", "typelattice", "fix", *options]
        env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        try:
            ran = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=env, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"more than {SECONDS} s"
    try:
        data = json.loads(ran.stdout)
    except ValueError:
        return ran.stderr.strip()[-300:]
    assert isinstance(data, dict)
    return data


def function_at(source: str, line: int) -> str:
    """Name the outermost function around a line with its class; "" in none."""
    found = ""

    def visit(node: ast.AST, prefix: str) -> None:
        nonlocal found
        for inner in ast.iter_child_nodes(node):
            within = getattr(inner, "lineno", 0) <= line <= (getattr(inner, "end_lineno", 0) or 0)
            if not within:
                continue
            if isinstance(inner, ast.ClassDef):
                visit(inner, f"{prefix}{inner.name}.")
            elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found = prefix + inner.name
            else:
                visit(inner, prefix)

    visit(ast.parse(source), "")
    return found


def places_of(case: Case, patch: Mapping[str, Any]) -> Iterator[str]:
    """Yield the functions that a patch changes, as the cases name them."""
    for each in patch["fixed"]:
        source = patch["files"][each["file"]]["after"]
        file = each["file"].partition("/site-packages/")[2].partition("/")[2]
        yield f"{file}: {function_at(source, each['line'])}"


@contextmanager
def applied(patch: Mapping[str, Any]) -> Iterator[None]:
    """Write a patch into its environment, and take it back."""
    try:
        for file, contents in patch["files"].items():
            Path(file).write_bytes(contents["after"].encode("utf-8"))
        yield
    finally:
        for file, contents in patch["files"].items():
            Path(file).write_bytes(contents["before"].encode("utf-8"))
            shutil.rmtree(Path(file).parent / "__pycache__", ignore_errors=True)


def judge(case: Case, python: Path) -> Outcome:
    """Patch a release, and check the patch without typelattice."""
    if run(python, case.script + END.format(narrow=case.narrow)).returncode == 0:
        return Outcome("the release is not affected", (), ())
    started = time.monotonic()
    patch = find_patch(case, python)
    seconds = time.monotonic() - started
    if isinstance(patch, str):
        return Outcome(f"no patch: {patch}", (), (), seconds)
    changes = tuple(f"{each['before']} → {each['after']}" for each in patch["fixed"])
    if not patch["fixed"]:
        left = "; ".join(f"{Path(u['file']).name}:{u['line']}: {u['reason']}" for u in patch["unfixed"])
        return Outcome(f"no patch: {left or patch['progress']}", (), (), seconds)
    place = ""
    wide, tests = run(python, widened(case) + SHOW).stdout, test_outcomes(case, python)
    broken = []
    with applied(patch):
        ran = run(python, case.script + END.format(narrow=case.narrow))
        if ran.returncode:
            place = PART
        if run(python, widened(case) + SHOW).stdout != wide:
            broken.append("wide input gives another result")
        now = test_outcomes(case, python)
        if differ := ((tests - now) + (now - tests)).total():
            broken.append(f"{differ} outcomes of its tests differ")
    meant = [each["before"] for each in patch["fixed"] if MEANT.search(each["before"].encode("utf-8"))]
    broken += [f"a line that is meant was changed: {line}" for line in meant]
    places = [*places_of(case, patch)]
    if {*places} <= {*case.places}:
        place = place or SAME
    else:
        place = place or (NEAR if len(places) <= len(case.places) else OTHER)
        changes = tuple(f"{change} (in {at})" for change, at in zip(changes, places, strict=True))
    return Outcome(place, tuple(broken), changes, seconds)


def main() -> int:
    """Judge the cases, print a line for each with its changes, and count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="CASE")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--tests", action="store_true", help="run the tests of the packages, too")
    parser.add_argument("--into", type=Path, default=ROOT / ".venv-known", metavar="FOLDER")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    for case in cases():
        chosen = any(case.name.startswith(n) or case.environment.startswith(n) for n in args.names)
        if not chosen and (args.names or case.apart is not args.apart):
            continue
        try:
            outcome = judge(case if args.tests else replace(case, tests=""), environment(case, args.into))
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            outcome = Outcome(f"not judged: {e}", (), ())
        counts[outcome.place.partition(":")[0]] += 1
        counts["good"] += outcome.good
        release = case.requires.split()[0]
        print(f"{release} {case.name}: {outcome.place} ({outcome.seconds:.0f} s)", flush=True)
        for line in (*outcome.changes, *(f"BROKEN: {each}" for each in outcome.broken)):
            print(f"    {line}")
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
