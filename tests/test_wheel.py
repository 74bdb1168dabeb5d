"""The wheel, as a newcomer gets it: built, installed into an empty environment, and asked something."""
from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "typelattice"


def run(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=Path(sys.prefix))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps", "-w", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that holds the wheel and nothing else: no pip, no NumPy."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    run(sys.executable, "-m", "pip", "--python", scripts / "python", "install", "-qq", "--no-index", "--no-deps", wheel)
    return scripts


def test_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    sources = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*") if path.is_file()}
    wanted = {name for name in sources if "__pycache__" not in name}
    assert {"typelattice/py.typed", "typelattice/systems/numpy.toml"} <= wanted
    assert any(name.startswith("typelattice/recorded/recordings/") for name in wanted)
    assert wanted <= set(ZipFile(wheel).namelist())


def test_wheel_needs_no_other_package(wheel: Path) -> None:
    with ZipFile(wheel) as z:
        (metadata,) = (name for name in z.namelist() if name.endswith("/METADATA"))
        needed = [line for line in z.read(metadata).decode().splitlines() if line.startswith("Requires-Dist:")]
    assert [line for line in needed if "extra ==" not in line] == []


def test_installed_command_explains(empty: Path) -> None:
    assert "int16" in run(empty / "typelattice", "explain", "int8", "uint8")


def test_installed_package_answers_without_numpy(empty: Path) -> None:
    asked = "import sys, typelattice as tl; print(tl.system('numpy').result_type('int8', 'uint8'), 'numpy' in sys.modules)"
    assert run(empty / "python", "-c", asked) == "int16 False\n"
