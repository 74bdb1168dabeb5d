"""The user's own code is followed without being named: the modules of a project that are not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from typelattice.tracing.entry_points.script import find_project, run_script
from typelattice.tracing.record.user_code import PYTHON_FOLDER, UserCode, find_project_folder
from typelattice.tracing.run_data.run import Run

WIDENS = "import numpy as np\ndef f(x):\n    return x * np.linspace(0, 1, 3)\n"
USES = "import numpy as np\nfrom {} import f\ny = f(np.ones(3, np.float32))\n"


def files_of(run: Run, folder: Path) -> list[str]:
    """The followed files of a run, from a folder on."""
    return sorted(Path(file).relative_to(folder).as_posix() for file in run.sources)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    return folder


def traced(script: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The run of a script, whose modules are forgotten after it."""
    before = {*sys.modules}
    monkeypatch.setattr(sys, "path_importer_cache", {})
    try:
        return run_script(str(script), (), (), project=find_project(str(script), False)).run
    finally:
        for name in {*sys.modules} - before:
            if name.startswith("own_"):
                del sys.modules[name]


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("own_lib", "own_lib.py"),
        ("own_pkg.inner", "own_pkg/inner.py"),
        ("own_spaces.deep.lib", "own_spaces/deep/lib.py"),  # packages without __init__
    ],
)
def test_a_module_beside_the_script_is_followed(
    module: str, file: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    (project / file).write_text(WIDENS)
    if module == "own_pkg.inner":
        (project / "own_pkg" / "__init__.py").touch()
    script = project / "s.py"
    script.write_text(USES.format(module))
    run = traced(script, monkeypatch)
    assert files_of(run, project) == sorted([file, "s.py"]) and not run.opaque


def test_a_module_of_the_project_is_followed_from_a_script_in_another_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "own_top.py").write_text(WIDENS)
    (project / "scripts").mkdir()
    script = project / "scripts" / "s.py"
    script.write_text(f"import sys\nsys.path.append({str(project)!r})\n" + USES.format("own_top"))
    assert files_of(traced(script, monkeypatch), project) == ["own_top.py", "scripts/s.py"]


@pytest.mark.parametrize("folder", [".venv/lib/python3/site-packages", "env/lib/dist-packages"])
def test_what_is_installed_in_the_project_is_not_followed(
    folder: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / folder).mkdir(parents=True)
    (project / folder / "own_installed.py").write_text(WIDENS)
    script = project / "s.py"
    path = f"import sys\nsys.path.append({str(project / folder)!r})\n"
    script.write_text(path + USES.format("own_installed"))
    run = traced(script, monkeypatch)
    assert files_of(run, project) == ["s.py"] and run.opaque == 1


def test_a_folder_beside_the_script_hides_no_installed_module(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "numpy").mkdir()
    (project / "json").mkdir()
    script = project / "s.py"
    script.write_text("import json, numpy as np\ny = np.ones(len(json.loads('[1]')), np.float32) * 2\n")
    run = traced(script, monkeypatch)
    assert files_of(run, project) == ["s.py"] and run.operations == 2


def test_of_another_project_nothing_is_followed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "own_other.py").write_text(WIDENS)
    script = project / "s.py"
    script.write_text(f"import sys\nsys.path.append({str(other)!r})\n" + USES.format("own_other"))
    assert files_of(traced(script, monkeypatch), project) == ["s.py"]


def test_editable_packages_are_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed, own, mapped = tmp_path / "site-packages", tmp_path / "own", tmp_path / "mapped" / "own_mapped"
    for folder in (installed, own, mapped):
        folder.mkdir(parents=True)
    (own / "own_editable.py").touch()
    (mapped / "__init__.py").touch()
    (installed / "own.pth").write_text(f"# a comment\nimport os\n{own}\n{tmp_path / 'gone'}\n")
    monkeypatch.setattr("site.getsitepackages", lambda: [str(installed)])
    finder = type("Finder", (), {"__module__": "__editable___mapped_finder"})
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    module = type(sys)("__editable___mapped_finder")
    module.MAPPING = {"own_mapped": str(mapped)}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__editable___mapped_finder", module)
    code = UserCode((), str(tmp_path / "project"))
    monkeypatch.setattr(sys, "path", [*sys.path, str(own)])
    assert code.may_hold_module("own_editable", None) and code.owns_file(str(own / "own_editable.py"))
    assert code.may_hold_module("own_mapped", None) and code.owns_file(str(mapped / "__init__.py"))
    assert not code.owns_file(str(installed / "own_editable.py"))


@pytest.mark.parametrize("name", ["numpy", "json", "typelattice", "torch.nn"])
def test_libraries_python_and_we_are_never_the_users_own(name: str) -> None:
    code = UserCode((), "/")
    assert not code.may_hold_module(name, None) or name == "typelattice"
    import typelattice

    assert not code.owns_file(str(typelattice.__file__)) and not code.owns_file(f"{PYTHON_FOLDER}/json/x.py")


def test_the_project_is_the_nearest_folder_with_a_marker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    assert find_project_folder(str(inner)) == str(inner)
    (tmp_path / "a" / ".git").mkdir()
    assert find_project_folder(str(inner)) == str(tmp_path / "a")
    (tmp_path / "a" / "b" / "setup.py").touch()
    assert find_project_folder(str(inner)) == str(tmp_path / "a" / "b")
    monkeypatch.setenv("HOME", str(tmp_path / "a" / "b"))
    assert find_project_folder(str(inner)) == str(inner)  # the home folder is no project
    assert find_project("no such file.py", False) == find_project_folder(".")


@pytest.mark.parametrize(("options", "files"), [((), "2 files"), (("--only-script",), "1 file")])
def test_the_command_follows_the_project_unless_it_is_told_not_to(
    options: tuple[str, ...], files: str, project: Path
) -> None:
    (project / "own_lib.py").write_text(WIDENS)
    (project / "s.py").write_text(USES.format("own_lib"))
    words = [sys.executable, "-m", "typelattice", "trace", *options, "s.py"]
    ended = subprocess.run(words, cwd=project, capture_output=True, text=True, check=True)
    assert f"in {files} under numpy" in ended.stderr


def test_child_processes_follow_the_project_as_well(project: Path) -> None:
    (project / "own_lib.py").write_text(WIDENS)
    (project / "s.py").write_text(
        "import multiprocessing, sys\nimport numpy as np\nimport own_lib\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:\n"
        "        print(pool.map(own_lib.f, [np.ones(3, np.float32)])[0].dtype)\n"
    )
    for method in ("spawn", "fork"):
        words = [sys.executable, "-m", "typelattice", "trace", "s.py", method]
        ended = subprocess.run(words, cwd=project, capture_output=True, text=True, check=True)
        assert "own_lib.py:3: x * np.linspace(0, 1, 3)" in ended.stderr, (method, ended.stderr)
