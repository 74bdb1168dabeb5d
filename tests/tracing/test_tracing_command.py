"""The command `typelattice trace`: reports, statuses, and what a script does to its process."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from samples import one_in
from traced_modules import followed, texts, write

import typelattice as tl
from typelattice.show.cli.main import main
from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.record.trace_imports import Tracing

SCRIPT = """
import sys, os, threading
import numpy as np
def f(x):
    return x * np.float64(2)
f(np.ones(3, np.float32))
print("printed", sys.argv[1:], __name__)
how = sys.argv[1] if sys.argv[1:] else ""
if how == "raise": raise ValueError("no")
if how == "exit": sys.exit(3)
if how == "text": sys.exit("said")
if how == "interrupt": raise KeyboardInterrupt
if how == "fork":
    child = os.fork()
    if child == 0: sys.exit(5)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
if how == "leave":
    child = os.fork()
    if child == 0: os._exit(5)
    os.waitpid(child, 0)
    sys.stdout.flush()
    os._exit(4)
if how == "thread": threading.Timer(0.05, lambda: f(np.ones(2, np.float32))).start()
"""


VARIABLES = {
    **os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1",
}  # fmt: skip


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-m", "typelattice", "trace", *words)
    return subprocess.run(words, cwd=folder, env=VARIABLES, capture_output=True, text=True, timeout=120)


def test_threads_are_followed(package: Path) -> None:
    text = """
        import threading
        import numpy as np

        def work(x):
            for _ in range(200):
                x * 2.0

        def run():
            threads = [threading.Thread(target=work, args=(np.ones(2, np.float32),)) for _ in range(4)]
            for t in threads: t.start()
            for t in threads: t.join()
    """
    _, run = followed(package, text)
    assert texts(run)["x * 2.0"] == ("multiply", "float32", 800)


def test_a_run_is_told_although_the_program_took_numpy_out_of_the_modules(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(package, "traced_out", "import numpy as np\ndef run(): return np.ones(2) + 1\n")
    with Tracing(("traced_out",)) as tracing:
        import traced_out

        traced_out.run()
        monkeypatch.delitem(sys.modules, "numpy")
    assert tracing.run().systems["numpy"].startswith("numpy")


@pytest.mark.parametrize(
    ("how", "status"),
    one_in(3, [
        ("", 0), ("raise", 1), ("exit", 3), ("text", 1), ("interrupt", -2), ("fork", 0), ("leave", 4),
        ("--quiet", 0),
    ], 1),
)
def test_a_script_gives_its_report_and_its_own_status_however_it_ends(
    tmp_path: Path, how: str, status: int
) -> None:
    write(tmp_path, "s", SCRIPT)
    words = [how] if how else []
    done = command(tmp_path, "--json", "run.json", "--system", "torch", "s.py", *words)
    plain = subprocess.run(
        [sys.executable, "s.py", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == plain.stdout
    assert done.returncode == status
    assert plain.returncode == status
    assert done.stderr.startswith(plain.stderr)
    assert len(re.findall("operations? ran", done.stderr)) == 1
    steps = json.loads((tmp_path / "run.json").read_text())["steps"]
    (step,) = [s for s in steps if s["op"] == "multiply"]
    assert (step["code"], step["observed"], step["systems"]) == (
        "x * np.float64(2)",
        "float64",
        {"torch": "float32"},
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.json", "s.py"]


def test_a_report_marks_steps_that_a_system_was_never_asked(tmp_path: Path) -> None:
    write(tmp_path, "s", "import numpy as np\nx = np.arange(5, dtype=np.int8)\ny = np.heaviside(x, x) + x\n")
    done = command(tmp_path, "--json", "run.json", "--html", "pages", "--system", "keras", "s.py")
    assert "no answer of keras is recorded for 2 of 3 steps" in " ".join(done.stderr.split())
    assert "heaviside of int8 gives float32?; the run gave float16" in done.stderr
    steps = json.loads((tmp_path / "run.json").read_text())["steps"]
    assert [s["never_asked"] for s in steps if s["op"] == "heaviside"] == [["keras"]]
    assert [s["never_asked"] for s in steps if s["op"] == "arange"] == [[]]
    page = (tmp_path / "pages" / "index.html").read_text()
    assert "no answer of keras is recorded for 2 of 3 steps" in page
    assert "float32?" in next((tmp_path / "pages").glob("001_*.html")).read_text()


def test_what_threads_do_after_the_script_is_seen(tmp_path: Path) -> None:
    write(tmp_path, "s", SCRIPT)
    done = command(tmp_path, "--json", "run.json", "s.py", "thread")
    steps = json.loads((tmp_path / "run.json").read_text())["steps"]
    assert done.returncode == 0 and sum(s["count"] for s in steps if s["op"] == "multiply") == 2


def test_a_module_is_run_as_python_runs_it(tmp_path: Path) -> None:
    write(tmp_path / "pkg", "__init__", "")
    write(
        tmp_path / "pkg",
        "__main__",
        "import numpy as np\nfrom . import part\nprint(part.run(), __package__)\n",
    )
    write(tmp_path / "pkg", "part", "import numpy as np\ndef run(): return np.ones(1, np.float32) + 1\n")
    done = command(tmp_path, "--json", "run.json", "-m", "pkg", "-x")
    assert (done.stdout, done.returncode) == ("[2.] pkg\n", 0), done.stderr
    assert "add" in {s["op"] for s in json.loads((tmp_path / "run.json").read_text())["steps"]}


@pytest.mark.parametrize("name", ["broken", "null", "pkg.part", "lacking.part", "pkg", "exits.part"])
def test_an_error_before_a_module_runs_is_the_programs_own(tmp_path: Path, name: str) -> None:
    write(tmp_path, "broken", "x = = 1\n")
    write(tmp_path, "null", "x = 1\0")
    write(tmp_path / "pkg", "__init__", "raise RuntimeError('not today')")
    write(tmp_path / "pkg", "part", "")
    write(tmp_path / "lacking", "__init__", "import no_such_module_at_all")
    write(tmp_path / "lacking", "part", "")
    write(tmp_path / "exits", "__init__", "raise SystemExit(7)")
    write(tmp_path / "exits", "part", "")
    done = command(tmp_path, "-m", name)
    plain = subprocess.run(
        [sys.executable, "-m", name], cwd=tmp_path, env=VARIABLES, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == plain.returncode != 0
    assert done.stderr.startswith(plain.stderr), done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "typelattice: trace: give a script, or -m and a module; see typelattice trace --help\n"),
        (("--system", "nump", "s.py"), "unknown system 'nump'"),
        (("-m", "no_such_module"), "typelattice: there is no module no_such_module; install it, or correct"),
        (("broken.py",), "broken.py, line 1: invalid syntax"),
        (("missing.py",), "'missing.py': No such file or directory; give the path of a script, or -m and a"),
        (("--why", "brokn.py:1", "s.py"), "'brokn.py' in the project of 's.py' (did you mean broken.py?)"),
        (("brokn.py",), "'brokn.py': No such file or directory (did you mean broken.py?); give the path"),
        (("-m", "brokn"), "typelattice: there is no module brokn (did you mean broken?); install it"),
        (("--package", "nmpy", "s.py"), "no package 'nmpy' was found (did you mean numpy?)"),
        (("--json", "no/where.json", "s.py"), "no/where.json"),
        (("",), "cannot read '': it is no path"),
        (("--json", "", "s.py"), "cannot write '': it is no path"),
        (("--json", "./out", "--html", "out", "s.py"), "need paths of their own; rename one"),
        (("--html", "broken.py", "s.py"), "cannot write into 'broken.py': Not a directory"),
        (("--html", "", "s.py"), "cannot write into '': it is no path"),
        (("--cache", "broken.py/in", "s.py"), "cannot write into 'broken.py/in': Not a directory"),
        (("--package", "src/pkg", "s.py"), "'src/pkg' is no name of a package; write it as an import does"),
        (("--package", "numpy", "s.py"), "numpy is a library whose operations are what is followed"),
        (("-m", "numpy"), "typelattice: No module named numpy.__main__; 'numpy' is a package and cannot be"),
        (("no\0thing",), "a path has no null characters; give the path of a script"),
        (("null.py",), "null.py: source code string cannot contain null bytes; Python cannot run it"),
        (("folder",), "typelattice: there is no __main__.py in folder; name a script in it"),
        (("deep.py",), "deep.py: an expression is nested too deeply; Python cannot run it either"),
        (("unary.py",), "unary.py: an expression is nested too deeply; Python cannot run it either"),
    ],
)
def test_bad_input_is_one_clear_error_and_the_script_is_not_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    why: str,
) -> None:
    write(tmp_path, "s", SCRIPT)
    write(tmp_path, "broken", "x = = 1\n")
    write(tmp_path, "null", "x = 1\0")
    write(tmp_path, "deep", f"x = y{'.a' * 90_000}\n")
    write(tmp_path, "unary", f"x = {'-' * 90_000}1\n")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    assert main(["trace", *words]) == 2
    told = capsys.readouterr()
    assert told.out == "" and why in told.err and "Traceback" not in told.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "deed",
    one_in(3, [
        "sys.stdout.close()",
        "sys.stdout.detach()",
        "sys.stdout = sys.stderr = object()",
        "sys.excepthook = None; raise ValueError('no')",
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')",
        "os.mkdir('away'); os.chdir('away')",
    ], 1),
)
def test_whatever_a_script_does_to_its_process_the_report_comes_and_the_run_is_where_it_was_wanted(
    tmp_path: Path, deed: str
) -> None:
    write(tmp_path, "s", f"import os, sys\nimport numpy as np\nx = np.ones(3, np.float32) * 2\n{deed}\n")
    done = command(tmp_path, "--json", "run.json", "--html", "pages", "--cache", "cache", "s.py")
    for folder in ("away", "gone"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)
    plain = subprocess.run([sys.executable, "s.py"], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == plain.returncode  # 120 of Python that cannot flush a stream
    assert "2 operations ran in 1 file" in done.stderr
    assert done.stderr.count("Traceback") == ("raise" in deed)
    assert {"run.json", "pages", "cache"} <= {p.name for p in tmp_path.iterdir()}


def test_a_package_of_which_nothing_was_imported_is_named(tmp_path: Path) -> None:
    write(tmp_path, "s", SCRIPT)
    done = command(tmp_path, "--package", "zzqqxx", "s.py")
    said = "not followed: zzqqxx: no module of it was imported, so that nothing of it was checked; give"
    assert f"{said} its name as an import does" in " ".join(done.stderr.split())
    assert done.returncode == 0


def test_a_thread_that_was_not_joined_does_no_harm(package: Path) -> None:
    done = threading.Event()
    text = "import numpy as np\ndef run(e):\n    e.wait(5)\n    return np.ones(2) + 1\n"
    write(package, "traced_late", text)
    tracing = Tracing(("traced_late",))
    tracing.start()
    import traced_late

    late = threading.Thread(target=traced_late.run, args=(done,))
    late.start()
    run = tracing.stop()
    done.set()
    late.join()
    assert not run.program.steps and not tracing.run().program.steps


def test_after_a_script_the_main_module_is_who_called_it(tmp_path: Path) -> None:
    before = sys.modules["__main__"], sys.argv, [*sys.path]
    text = """
        import sys
        assert sys.argv[1:] == ["a"] and vars(sys.modules["__main__"]) is globals()
        sys.exit(3)
    """
    assert run_script(str(write(tmp_path, "script", text)), ["a"], ()).status == 3
    assert (sys.modules["__main__"], sys.argv, [*sys.path]) == before
