"""The pytest plug-in: budgets of tests, baselines that only shrink, and nothing loaded unasked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from forked import run_python

from typelattice.programs.calls.steps import Input, SourceLocation
from typelattice.tracing.entry_points.baseline import Baseline, BaselineEntry, list_run_codes
from typelattice.tracing.entry_points.session_verdict import SessionFindings, compare_with_baseline

SOURCE = Path(__file__).parents[2] / "src"

PACKAGE = """
    import numpy as np

    SCALE = np.array([0.5, 0.25])

    def scaled(x):
        return x * SCALE

    def halved(x):
        return x / 2.0
"""

TESTS = """
    import numpy as np
    import pytest
    from package import halved, scaled

    @pytest.mark.dtype_budget("float32")
    def test_scaled():
        assert scaled(np.ones((3, 2), np.float32)).shape == (3, 2)

    @pytest.mark.dtype_budget("float32")
    def test_halved():
        assert halved(np.ones(3, np.float32)).dtype == np.float32
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package that widens a float, and tests of it."""
    (tmp_path / "package.py").write_text(dedent(PACKAGE))
    (tmp_path / "test_package.py").write_text(dedent(TESTS))
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider --strict-markers\n")
    return tmp_path


def run(project: Path, *options: str, fresh: bool = False) -> tuple[int, str]:
    """The exit status of pytest with the plug-in, and what it printed; a fresh process has loaded nothing."""
    path = os.pathsep.join([str(SOURCE), str(project)])
    env = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "80"}
    words = ("-q", "-p", "typelattice.tracing.entry_points.pytest_plugin", *options)
    if fresh:
        command = [sys.executable, "-m", "pytest", *words]
        done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=120)
    else:
        done = run_python("pytest", *words, folder=project, variables=env)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def parallel() -> tuple[str, ...]:
    """The options by which tests run in two processes."""
    pytest.importorskip("xdist", reason="needs pytest-xdist, which the extra `test` installs")
    return "-p", "xdist.plugin", "-n", "2"


def without_budgets(project: Path) -> None:
    tests = project / "test_package.py"
    tests.write_text(tests.read_text().replace('@pytest.mark.dtype_budget("float32")\n', ""))


def test_without_its_options_it_loads_nothing_and_changes_nothing(project: Path) -> None:
    (project / "test_package.py").write_text(
        dedent(
            """
            import sys
            import pytest

            def test_nothing_is_loaded():
                loaded = {name for name in sys.modules if name.startswith("typelattice.")}
                assert loaded <= {"typelattice.base", "typelattice.base.objects",
                                  "typelattice.base.objects.display_hooks",
                                  "typelattice.base.objects.library_asker",
                                  "typelattice.tracing", "typelattice.tracing.entry_points",
                                  "typelattice.tracing.entry_points.pytest_plugin"}
            """
        )
    )
    assert run(project, fresh=True)[0] == 0


def test_a_test_that_exceeds_its_budget_fails_and_the_line_is_named(project: Path) -> None:
    status, told = run(project, "--dtype-trace=package")
    assert status == 1
    assert "1 failed, 1 passed" in told
    assert "the dtype budget float32 is exceeded from 1 place\n  package.py:4: np.array([0.5, 0.25])" in told
    assert "package.py:7: x * SCALE" in told


def test_a_budget_fails_where_nothing_is_traced(project: Path) -> None:
    status, told = run(project)
    assert status == 1
    assert "dtype_budget checks nothing unless code is traced: run pytest with --dtype-trace=PKG" in told


def test_a_budget_fails_where_its_test_computes_with_nothing_that_is_followed(project: Path) -> None:
    (project / "test_package.py").write_text(
        "import package\nimport pytest\n\n"
        "@pytest.mark.dtype_budget('float32')\ndef test_it(): assert package\n"
    )
    status, told = run(project, "--dtype-trace=package")
    assert status == 1 and "the dtype budget float32 checked nothing" in told


def test_a_budget_has_a_floor_in_bytes_and_a_form_for_results(project: Path) -> None:
    marks = {
        '"float32"': "FAILED",
        '"float32", floor=17': "PASSED",
        '"float32", floor=16': "FAILED",
        '"float32", results=True': "PASSED",
    }
    (project / "package.py").write_text(
        "import numpy as np\n\ndef halved(x):\n    wide = x * np.float64([1, 2])\n"
        "    return (wide + 1).astype(np.float32)\n"
    )
    tests = "\n".join(
        f"@pytest.mark.dtype_budget({mark})\n"
        f"def test_{n}(): assert package.halved(np.ones(2, np.float32)).size == 2"
        for n, mark in enumerate(marks)
    )
    (project / "test_package.py").write_text(f"import numpy as np\nimport package\nimport pytest\n{tests}\n")
    told = run(project, "--dtype-trace=package", "-rA")[1]
    for n, outcome in enumerate(marks.values()):
        assert f"{outcome} test_package.py::test_{n}" in told
    failures = told.partition("short test summary info")[0]  # which repeats the messages where CI is set
    hint = "the results are within the budget; results=True in the mark checks them alone"
    assert failures.count(hint) == 2


def test_a_baseline_names_files_of_installed_packages_from_the_package_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "env" / "site-packages"
    (packages / "gadget").mkdir(parents=True)
    (packages / "gadget" / "core.py").write_text("y = x * 2.5\n")
    monkeypatch.syspath_prepend(str(packages))
    place = SourceLocation(str(packages / "gadget" / "core.py"), 1)
    step = Input(text="x * 2.5", location=place, fixed_result="float32")
    ((file, code),) = list_run_codes([step], tmp_path)
    assert (file, code) == ("gadget/core.py", "x * 2.5")
    known = [BaselineEntry(file, code, "float32 becomes float64"), BaselineEntry(file, "x * 3.5", "")]
    session = SessionFindings({}, frozenset(), ())
    made = compare_with_baseline(session, Baseline(tuple(known)), tmp_path / "elsewhere")
    assert [finding.code for finding in made.stale] == ["x * 3.5"]


def test_findings_that_the_baseline_does_not_have_fail_the_run(project: Path) -> None:
    without_budgets(project)
    options = ("--dtype-trace=package", "--dtype-baseline=known.toml")
    status, told = run(project, *options, "--dtype-write-baseline")
    assert status == 0 and "wrote 1 finding to known.toml" in told
    assert run(project, *options)[0] == 0
    package = project / "package.py"
    package.write_text(package.read_text().replace("x / 2.0", "x / np.float64(2.0)"))
    status, told = run(project, *options)
    assert status == 1
    assert "1 finding not in known.toml; cast where the report says:" in told
    assert "package.py:10: x / np.float64(2.0): float32 becomes float64" in told


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[0.5, 0.25])", "[0.5, 0.25], dtype=np.float32)"),
        ("x * SCALE", "x * SCALE.astype(x.dtype)"),  # which begins as the code of the entry
    ],
)
def test_an_entry_that_is_found_no_more_fails_the_run_until_it_is_removed(
    project: Path, before: str, after: str
) -> None:
    without_budgets(project)
    options = ("--dtype-trace=package", "--dtype-baseline=known.toml")
    run(project, *options, "--dtype-write-baseline")
    package = project / "package.py"
    package.write_text(package.read_text().replace(before, after))
    status, told = run(project, *options)
    assert status == 1
    assert "1 entry of known.toml no longer occurs; remove it from the file:\n  package.py: x * SCALE" in told
    assert run(project, *options, "--dtype-write-baseline")[0] == 0
    assert "[[known]]" not in (project / "known.toml").read_text()
    assert run(project, *options)[0] == 0


def test_an_entry_whose_code_did_not_run_stays(project: Path) -> None:
    without_budgets(project)
    options = ("--dtype-trace=package", "--dtype-baseline=known.toml")
    run(project, *options, "--dtype-write-baseline")
    assert run(project, *options, "-k", "halved")[0] == 0


@pytest.mark.parametrize("processes", [0, 2])
def test_writing_keeps_an_entry_whose_code_did_not_run(
    project: Path, processes: int, request: pytest.FixtureRequest
) -> None:
    without_budgets(project)
    options = ("--dtype-trace=package", "--dtype-baseline=known.toml", "--dtype-write-baseline")
    run(project, *options)
    before = (project / "known.toml").read_text()
    options += request.getfixturevalue("parallel") if processes else ()
    status, told = run(project, *options, "-k", "halved")
    assert status == 0 and "wrote 1 finding to known.toml\n" in told
    assert (project / "known.toml").read_text() == before and before.count("[[known]]") == 1


def test_an_entry_stands_where_its_own_file_holds_its_code_however_it_is_spaced(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("y = x * 2.5 + x * 4.5\n")
    (tmp_path / "two.py").write_text("y = sum(\n    x *\n    3.5,\n)\n")
    (tmp_path / "unread.py").write_text("y = x * 2.5 (\n")
    deep = f"1 + {'- ' * 1100}x"
    (tmp_path / "deep.py").write_text(f"y = {deep}\n")
    standing = [
        ("one.py", "x*2.5"),
        ("one.py", "y = x * 2.5 +..."),
        ("deep.py", deep.replace(" ", "")),
        ("two.py", "x * 3.5"),
        ("unread.py", "x*2.5"),
    ]
    stale = [("lost.py", "x * 2.5"), ("one.py", "x * 2.5 + x"), ("one.py", "x * 3.5"), ("two.py", "x * 2.5")]
    known = [BaselineEntry(file, code, "float32 becomes float64") for file, code in (*stale, *standing)]
    made = compare_with_baseline(SessionFindings({}, frozenset(), ()), Baseline(tuple(known)), tmp_path)
    assert [(finding.file, finding.code) for finding in made.stale] == stale


def test_a_baseline_that_is_there_never_grows(project: Path) -> None:
    without_budgets(project)
    options = ("--dtype-trace=package", "--dtype-baseline=known.toml")
    run(project, *options, "--dtype-write-baseline")
    before = (project / "known.toml").read_text()
    package = project / "package.py"
    package.write_text(package.read_text().replace("x / 2.0", "x / np.float64(2.0)"))
    told = run(project, *options, "--dtype-write-baseline")[1]
    assert "wrote 1 finding to known.toml, which may only shrink; 1 new not added\n" in told
    assert (project / "known.toml").read_text() == before


def test_where_a_system_parts_is_in_the_baseline_too(project: Path) -> None:
    without_budgets(project)
    options = ("--dtype-trace=package", "--dtype-baseline=known.toml", "--dtype-system=torch")
    assert run(project, *options, "--dtype-write-baseline")[0] == 0
    assert 'what = "torch gives float32, not float64"' in (project / "known.toml").read_text()
    assert run(project, *options)[0] == 0


def test_processes_that_run_tests_in_parallel_are_put_together(
    project: Path, parallel: tuple[str, ...]
) -> None:
    without_budgets(project)
    options = ("--dtype-trace=package", "--dtype-baseline=known.toml", *parallel)
    assert run(project, *options, "--dtype-write-baseline")[0] == 0
    assert (project / "known.toml").read_text().count("[[known]]") == 1
    assert run(project, *options)[0] == 0
    (project / "known.toml").write_text("")
    status, told = run(project, *options)
    assert status == 1 and "package.py:7: x * SCALE: float32 becomes float64" in told


def test_in_parallel_without_its_options_it_changes_nothing(project: Path, parallel: tuple[str, ...]) -> None:
    without_budgets(project)
    assert run(project, *parallel)[0] == 0


def test_budgets_hold_in_parallel(project: Path, parallel: tuple[str, ...]) -> None:
    status, told = run(project, "--dtype-trace=package", *parallel)
    assert status == 1 and "1 failed, 1 passed" in told
    assert "the dtype budget float32 is exceeded" in told


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--dtype-system=torch"], "--dtype-system needs --dtype-trace=PKG, which says what to trace"),
        (["--dtype-trace=package", "--dtype-write-baseline"], "-write-baseline needs --dtype-baseline=FILE"),
        (["--dtype-trace=package", "--dtype-baseline=no.toml"], "write it once with --dtype-write-baseline"),
        (["--dtype-trace=package", "--dtype-baseline=package.py"], "package.py is no baseline"),
        (["--dtype-trace=pakcage"], "no package 'pakcage' was found (did you mean package?); name it as"),
        (["--dtype-trace="], "'' is no name of a package; write it as an import does"),
        (["--dtype-trace=numpy"], "numpy is a library whose operations are what is followed"),
        (["--dtype-trace=package", "--dtype-html=package.py"], "package.py': Not a directory"),
        (["--dtype-trace=package", "--dtype-system=trch"], "unknown system 'trch' (did you mean torch?)"),
    ],
)
def test_options_that_make_no_sense_are_one_line(project: Path, options: list[str], why: str) -> None:
    status, told = run(project, *options)
    assert status == pytest.ExitCode.USAGE_ERROR, told
    assert why in " ".join(told.split())
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("processes", "options"), [(0, ()), (2, ("--dtype-baseline=known.toml", "--dtype-write-baseline"))]
)
def test_a_package_of_which_nothing_was_followed_fails_the_run(
    project: Path, options: tuple[str, ...], processes: int, request: pytest.FixtureRequest
) -> None:
    without_budgets(project)
    options += request.getfixturevalue("parallel") if processes else ()
    status, told = run(project, "--dtype-trace=package", "--dtype-trace=zzqqx", *options)
    assert status == pytest.ExitCode.TESTS_FAILED and "2 passed" in told
    assert "no module of zzqqx was followed, so that nothing of it was checked" in told
    assert not (project / "known.toml").exists()


TAKES = 'dtype_budget takes one float dtype, as in dtype_budget("float32"), and may take a floor'


MARKS = {
    "dtype_budget": TAKES,
    "dtype_budget()": TAKES,
    "dtype_budget(3)": "is no name of a dtype",
    'dtype_budget("int8")': TAKES,
    'dtype_budget(name="float32")': TAKES,
    'dtype_budget("float32", floor="1 kB")': TAKES,
    'dtype_budget("float32", dtype="float32")': TAKES,
    'dtype_budget("flaot32")': "unknown dtype 'flaot32'",
    'dtype_budget(dtype="float32")': "the dtype budget float32 is exceeded from 1 place",
}


def test_a_mark_says_what_it_takes(project: Path) -> None:
    tests = ["import numpy as np", "import pytest", "from package import scaled"]
    for n, mark in enumerate(MARKS):
        tests += [f"@pytest.mark.{mark}", f"def test_{n}():", "    scaled(np.ones((3, 2), np.float32))"]
    (project / "test_package.py").write_text("\n".join(tests))
    status, told = run(project, "--dtype-trace=package")
    assert status == 1 and "Traceback" not in told and "another exception" not in told
    for n, why in enumerate(MARKS.values()):
        of_test = told.partition(f"_ test_{n} _")[2].partition("\n____")[0]
        assert why in of_test, of_test or told


def test_pages_are_written_where_they_were_asked_for(project: Path) -> None:
    run(project, "--dtype-trace=package", "--dtype-html=pages")
    assert {page.name for page in (project / "pages").iterdir()} == {"001_package.html", "index.html"}
