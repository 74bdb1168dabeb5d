"""The wheel as a newcomer gets it: built, installed into an empty environment, and asked something."""
from __future__ import annotations

import email
import os
import re
import shlex
import subprocess
import sys
import tarfile
import venv
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from typelattice.repair.copies.progress import PROGRESS_PREFIX, TUNE_PREFIX

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import pages

pytestmark = pytest.mark.package
ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "typelattice"
MAX_WHEEL_BYTES = 4_000_000


def run(*command: str | Path, cwd: Path = Path(sys.prefix)) -> str:
    """What a command prints, run where no source of the package lies."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel in dist/, which `make package` builds from the source distribution beside it."""
    (built,) = (ROOT / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that holds the wheel and nothing else: no pip, no NumPy."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python")
    run(*pip, "install", "-qq", "--no-compile", "--no-index", "--no-deps", wheel)
    return scripts


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no clone of the repository")
def test_source_distribution_holds_what_the_repository_does() -> None:
    (built,) = (ROOT / "dist").glob("*.tar.gz")
    tracked = run("git", "-C", ROOT, "ls-files", "-z").split("\0")
    with tarfile.open(built) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {name for name in tracked if name} - held == set()


def test_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    sources = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*") if path.is_file()}
    wanted = {name for name in sources if "__pycache__" not in name}
    assert {"typelattice/py.typed", "typelattice/systems/numpy.toml"} <= wanted
    assert any(name.startswith("typelattice/core/evidence/recordings/") for name in wanted)
    assert wanted <= set(ZipFile(wheel).namelist())


def metadata(wheel: Path, field: str) -> list[str]:
    """What the wheel states under a field."""
    with ZipFile(wheel) as z:
        (name,) = (name for name in z.namelist() if name.endswith("/METADATA"))
        stated = email.message_from_bytes(z.read(name)).get_all(field)
    return [str(value) for value in stated or ()]


def test_wheel_needs_no_other_package(wheel: Path) -> None:
    assert [needed for needed in metadata(wheel, "Requires-Dist") if "extra ==" not in needed] == []


def test_the_pythons_named_are_those_that_the_tests_run_on(wheel: Path) -> None:
    releases = re.search(r"^for release in (.*); do$", (ROOT / ".ci/run").read_text(encoding="utf-8"), re.M)
    assert releases is not None
    tested = releases[1].split()
    classifiers = metadata(wheel, "Classifier")
    classified = [line.rpartition(" ")[2] for line in classifiers if " :: Python :: 3." in line]
    assert classified == tested
    assert metadata(wheel, "Requires-Python") == [f">={tested[0]}"]


def test_every_release_that_an_environment_takes_is_stated(wheel: Path) -> None:
    """Of each package that an extra names, the constraints say which release the light environments take."""
    lines = (ROOT / "tools/constraints.txt").read_text(encoding="utf-8").splitlines()
    held = {line.partition("==")[0] for line in lines if "==" in line}
    named = {re.split(r"[^\w-]", needed)[0] for needed in metadata(wheel, "Requires-Dist")}
    assert {name.replace("_", "-") for name in named} - {name.replace("_", "-") for name in held} == set()


def test_installed_command_explains(empty: Path) -> None:
    assert "int16" in run(empty / "typelattice", "explain", "int8", "uint8")


def test_installed_package_answers_without_numpy(empty: Path) -> None:
    asked = "tl.system('numpy').result_type('int8', 'uint8'), 'numpy' in sys.modules"
    assert run(empty / "python", "-c", f"import sys, typelattice as tl; print({asked})") == "int16 False\n"


def test_wheel_is_small(wheel: Path) -> None:
    """It has the recordings of all libraries, and the page of all systems."""
    assert "typelattice/show/explorer/document.xz" in ZipFile(wheel).namelist()
    assert wheel.stat().st_size <= MAX_WHEEL_BYTES


def test_the_examples_of_the_readme_run_with_the_installed_wheel(empty: Path, tmp_path: Path) -> None:
    """NumPy, which the examples need, is that of these tests."""
    (packages,) = run(empty / "python", "-c", "import site; print(*site.getsitepackages())").split()
    for found in Path(find_spec("numpy").submodule_search_locations[0]).parent.glob("numpy*"):
        (Path(packages) / found.name).symlink_to(found)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    run(empty / "python", "-m", "doctest", "-o", "ELLIPSIS", "README.md", cwd=tmp_path)
    ran = 0
    with chdir(tmp_path):
        for info, block in pages.blocks(text):
            pages.write_file(info, block)
            for command, shown in pages.commands(block) if info.startswith("console") else ():
                words = [str(empty / "typelattice"), *shlex.split(command)[1:]]
                variables = {**os.environ, "COLUMNS": pages.COLUMNS}
                done = subprocess.run(words, capture_output=True, text=True, env=variables)
                told = "\n".join(
                    line.rstrip()
                    for line in (done.stdout + done.stderr).splitlines()
                    if not line.startswith((PROGRESS_PREFIX, TUNE_PREFIX))
                )
                assert pages.same(shown, told.strip("\n"), varies=True), told
                ran += 1
    assert ran == 4
