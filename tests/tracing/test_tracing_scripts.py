"""A script that is followed finds itself as Python would have started it, and ends as it would have ended."""

from __future__ import annotations

import json
import os
import py_compile
import re
import signal
import subprocess
import sys
import zipapp
from itertools import product
from pathlib import Path

import pytest
from samples import one_in

import typelattice as tl

MAIN = """
import sys
import numpy as np
x = np.ones(3, np.float32) * np.float64(2)
for name in sorted({*globals()} - {"__loader__", "__spec__", "np", "x", "sys"}):
    print(name, type(globals()[name]), str(globals()[name])[:100])
print(__loader__.__class__.__mro__[-5:], __spec__ and (__spec__.name, __spec__.origin), sys.argv, sys.path)
"""


def ran(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """What Python makes of words, in a folder."""
    variables = {**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1]), **settings}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=variables, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def both(folder: Path, *words: str, **settings: str) -> list[subprocess.CompletedProcess[str]]:
    """What Python makes of a script, by itself and followed."""
    return [ran(folder, *before, *words, **settings) for before in ((), ("-m", "typelattice", "trace"))]


@pytest.mark.parametrize(
    ("words", "safe"),
    one_in(3, [*product([("main.py", "a"), ("app", "a"), ("app.pyz", "-x"), ("-m", "app", "a")], ["", "1"])]),
)
def test_the_main_module_is_what_python_makes_it(tmp_path: Path, words: tuple[str, ...], safe: str) -> None:
    (tmp_path / "app").mkdir()
    for file in ("main.py", "app/__main__.py"):
        (tmp_path / file).write_text(MAIN, encoding="utf-8")
    zipapp.create_archive(tmp_path / "app")
    plain, followed = both(tmp_path, *words, PYTHONSAFEPATH=safe, PYTHONDONTWRITEBYTECODE="1")
    if safe and words[0] == "-m":
        assert plain.returncode and "there is no module app" in followed.stderr
        return
    assert plain.returncode == followed.returncode == 0, followed.stderr
    assert followed.stdout == plain.stdout
    assert "\n 1  " in followed.stderr and "np.ones(3, np.float32) * np.float64(2)" in followed.stderr


WALKERS = {
    "sys._getframe": """
def depth(n):
    try:
        return sys._getframe(n).f_code.co_name
    except ValueError as e:
        return str(e)
print([depth(n) for n in range(12)])""",
    "warnings": """
import warnings
def warn(n):
    warnings.warn("deep", stacklevel=n)
for n in range(1, 12):
    warnings.warn("here", stacklevel=n)
    warn(n)
print([*vars(sys.modules["warnings"])["onceregistry"]], [*globals().get("__warningregistry__", {})])""",
    "inspect": "import inspect\nprint([(s.function, s.filename, s.lineno) for s in inspect.stack()])",
    "traceback": "import traceback\ntraceback.print_stack()\nprint(traceback.extract_stack())",
    "logging": """
import logging
logging.basicConfig(format="%(filename)s %(lineno)d %(funcName)s %(message)s")
for n in range(1, 12):
    logging.warning("at %d", n, stacklevel=n)
logging.warning("all", stack_info=True)""",
    "tracemalloc": """
import tracemalloc
tracemalloc.start(20)
x = [bytearray(10)]
print(tracemalloc.get_object_traceback(x[0]))""",
    "threads": """
import time
time.sleep(0.05)  # until a thread of ours would run
print([f.f_back and f.f_back.f_lineno for f in sys._current_frames().values()])""",
    "a fork": """
import os, time, warnings
warnings.simplefilter("error")  # Python 3.12 warns of a fork beside another thread
time.sleep(0.05)
if pid := os.fork():
    print(os.waitpid(pid, 0)[1])
else:
    os._exit(0)""",
    "the last error": "print(sys.exc_info(), [name for name in dir(sys) if name.startswith('last_')])",
    "the hook of errors": """
print(sys.excepthook is sys.__excepthook__)
def hook(*given):
    try:
        print(sys._getframe(1))
    except ValueError as e:
        print(e, sys.exc_info()[0], sys._getframe().f_back)
sys.excepthook = hook
1 / 0""",
}


STARTS = (("main.py",), ("-m", "main"), ("start.py",))  # a script, a module, a child process


@pytest.mark.parametrize(
    ("name", "start"),
    one_in(3, [(name, STARTS[(i + j) % 3]) for i, name in enumerate(WALKERS) for j in range(3)]),
)
def test_no_frame_is_below_the_frames_of_a_program(tmp_path: Path, name: str, start: tuple[str, ...]) -> None:
    child = "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, 'main.py']))\n"
    (tmp_path / "start.py").write_text(child, encoding="utf-8")
    (tmp_path / "main.py").write_text(f"import sys\n{WALKERS[name]}\n", encoding="utf-8")
    plain, followed = both(tmp_path, *start, PYTHONWARNINGS="always")
    assert followed.stdout == plain.stdout
    assert followed.stderr.startswith(plain.stderr)
    assert followed.returncode == plain.returncode == (name == "the hook of errors")


def test_a_program_is_followed_where_a_profiler_calls_us(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import sys\nprint(sys.argv)\nsys.exit(3)\n", encoding="utf-8")
    done = ran(tmp_path, "-m", "cProfile", "-m", "typelattice", "trace", "main.py", "a")
    assert "['main.py', 'a']" in done.stdout and "function calls" in done.stdout, done.stderr
    assert "no dtypes are known" in done.stderr


UNCOMPILABLE = {
    "syntax": b"x = (1,\n",
    "indentation": b"def f():\nx = 1\n",
    "tabs": b"if 1:\n\tx = 1\n        y = 2\n",
    "null byte": b"x = 1\0\n",
    "unknown encoding": b"# coding: klingon\nx = 1\n",
    "wrong encoding": b'x = "\xe9"\n',
    "return outside": b"return 3\n",
    "future": b"from __future__ import nothing\n",
    "depth": b"x = " + b"-" * 90_000 + b"1\n",
    "too many parentheses": b"x = " + b"(" * 300 + b"1" + b")" * 300 + b"\n",
}


@pytest.mark.parametrize("name", one_in(3, [*UNCOMPILABLE]))
def test_a_script_that_python_cannot_compile_ends_with_the_report_of_python(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "main.py").write_bytes(UNCOMPILABLE[name])
    plain, followed = both(tmp_path, "main.py", "a")
    assert (followed.stdout, followed.returncode) == (plain.stdout, plain.returncode) == ("", 1)
    assert followed.stderr.startswith(plain.stderr)
    assert "not followed: main.py: Python cannot compile it" in followed.stderr


def test_compiled_code_is_refused_and_its_source_asked_for(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("print(1)\n", encoding="utf-8")
    py_compile.compile(str(tmp_path / "main.py"), str(tmp_path / "main.pyc"))
    plain, followed = both(tmp_path, "main.pyc")
    assert (plain.stdout, followed.stdout, followed.returncode) == ("1\n", "", 2)
    assert "compiled code, in which nothing can be followed; trace the source" in followed.stderr


def test_a_compiled_main_module_runs_and_is_named_as_not_followed(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("print(1)\n", encoding="utf-8")
    (tmp_path / "app").mkdir()
    py_compile.compile(str(tmp_path / "main.py"), str(tmp_path / "app/__main__.pyc"))
    plain, followed = both(tmp_path, "app")
    assert plain.stdout == followed.stdout == "1\n" and followed.returncode == 0
    assert "not followed: __main__" in followed.stderr


@pytest.mark.parametrize(
    ("ends", "status"),
    one_in(2, [("sys.stderr = None", 0), ("sys.stderr.close()", 0), ("sys.stderr.close(); sys.exit(3)", 3)]),
)
def test_a_script_that_closes_standard_error_keeps_its_status_and_has_its_report(
    tmp_path: Path, ends: str, status: int
) -> None:
    lines = "import sys, numpy as np", "x = np.ones(3, np.float32) * np.float64(2)", "print('done')", ends
    (tmp_path / "main.py").write_text("\n".join(lines), encoding="utf-8")
    plain, followed = both(tmp_path, "main.py")
    assert plain.returncode == followed.returncode == status
    told = followed.stderr if "None" in ends else followed.stdout.removeprefix(plain.stdout)
    assert "\n 1  main.py:2: np.ones(3, np.float32) * np.float64(2)" in told


def test_a_script_that_closes_both_streams_keeps_its_status(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import sys\nsys.stdout.close()\nsys.stderr.close()\nsys.exit(3)")
    assert [done.returncode for done in both(tmp_path, "main.py")] == [3, 3]


def test_what_a_script_leaves_for_its_end_runs_where_it_was_interrupted(tmp_path: Path) -> None:
    lines = (
        "import atexit", "atexit.register(print, 'left')",
        "class A:", "    def __del__(self): print('deleted')", "a = A()", "raise KeyboardInterrupt",
    )  # fmt: skip
    (tmp_path / "main.py").write_text("\n".join(lines), encoding="utf-8")
    plain, followed = both(tmp_path, "main.py")
    assert plain.returncode == followed.returncode == -signal.SIGINT
    assert plain.stdout == followed.stdout == "left\ndeleted\n"
    assert followed.stderr.startswith(plain.stderr) and followed.stderr.count("Traceback") == 1


def test_an_interrupt_while_threads_are_waited_for_leaves_the_report_and_the_status(tmp_path: Path) -> None:
    lines = (
        "import os, signal, threading, time, numpy as np",
        "x = np.ones(3, np.float32) * np.float64(2)",
        "ended = threading.Event()",
        "def interrupt():",
        "    time.sleep(0.5)",
        "    os.kill(os.getpid(), signal.SIGINT)",
        "    ended.wait(0.5)",
        "threading.Thread(target=interrupt).start()",
    )
    (tmp_path / "main.py").write_text("\n".join(lines), encoding="utf-8")
    plain, followed = both(tmp_path, "main.py")
    assert plain.returncode == followed.returncode == 0
    assert "\n 1  main.py:2: np.ones(3, np.float32) * np.float64(2)" in followed.stderr


POOL = """
import time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
def doubled(x):
    time.sleep(0.1)
    print(str((x * np.float64(2)).dtype) + "\\n", end="")
pool = ThreadPoolExecutor(1)
for _ in range(2):
    pool.submit(doubled, np.ones(2, np.float32))
print("end")
"""


def test_a_pool_of_threads_that_is_left_open_does_its_work_and_ends(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(POOL, encoding="utf-8")
    plain, followed = both(tmp_path, "main.py")
    assert plain.returncode == followed.returncode == 0
    assert plain.stdout == followed.stdout == "end\nfloat64\nfloat64\n"
    assert "main.py:7: x * np.float64(2)" in followed.stderr


EXITS = """
import atexit, sys, threading
import numpy as np
from numpy import ones
def late(what):
    print(what, threading.main_thread().is_alive(), (ones(3, np.float32) * np.float64(2)).dtype)
atexit.register(late, "exit function")
def work():
    ended.wait()
    late("thread")
    atexit.register(late, "registered by a thread that was joined")
ended = threading.Event()
threading.Thread(target=work).start()
threading._register_atexit(ended.set)  # as joblib's executors end their threads
threading._register_atexit(late, "before threads are joined")
sys.modules["__main__"].end = "main"
atexit.register(lambda: print(sys.modules["__main__"].end, sys.argv))
atexit.register(lambda: 1 / 0)
sys.exit(3)
"""


def test_threads_and_exit_functions_run_in_pythons_order_and_are_followed(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(EXITS, encoding="utf-8")
    plain, followed = both(tmp_path, "main.py", "a")
    assert plain.returncode == followed.returncode == 3
    assert followed.stdout == plain.stdout and plain.stdout.count("float64") == 4
    told, _, report = followed.stderr.partition("12 operations ran")
    assert report and re.sub("0x[0-9a-f]+", "", told) == re.sub("0x[0-9a-f]+", "", plain.stderr)


REGISTERED = """
import queue, threading
import numpy as np
work = queue.Queue()
def end(): print("end\\n", end=""); work.put(None)
def wait():
    while (x := work.get()) is not None: print(f"{(x * np.float64(2)).dtype}\\n", end="")
threading._register_atexit(lambda: print("last\\n", end=""))
threading._register_atexit(end)
threading.Thread(target=wait).start()
work.put(np.ones(2, np.float32))
"""


def test_threads_end_that_a_module_ends_by_its_own_callback_at_exit(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(REGISTERED, encoding="utf-8")
    plain, followed = both(tmp_path, "main.py")
    assert plain.returncode == followed.returncode == 0
    assert sorted(plain.stdout.split()) == sorted(followed.stdout.split()) == ["end", "float64", "last"]


STARTS = """
import multiprocessing, os, subprocess, sys
import numpy as np
def double(x):
    return x * np.float64(2)
if __name__ == "__main__":
    double(np.ones(3, np.float32))
    how = sys.argv[1]
    if how == "popen":
        subprocess.run([sys.executable, "-c", ""], close_fds=False)
    elif how == "shell":
        os.system("true")
    elif how == "raw":
        if not os.fork():
            os._exit(0)
        os.wait()
        os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", ""], os.environ), 0)
    elif how != "none":
        with multiprocessing.get_context(how).Pool(2) as pool:
            pool.map(double, [np.ones(3, np.float32)])
            pool.close()
            pool.join()
"""


@pytest.mark.parametrize(
    ("how", "many", "command"),
    one_in(3, [
        ("none", 0, ""), ("popen", 0, ""), ("shell", 1, "true"), ("raw", 1, "sh"),
        ("fork", 0, ""), ("spawn", 0, ""), ("forkserver", 0, ""),
    ], 2),
)  # fmt: skip
def test_the_report_says_how_many_child_processes_were_not_followed(
    tmp_path: Path, how: str, many: int, command: str
) -> None:
    (tmp_path / "main.py").write_text(STARTS, encoding="utf-8")
    trace = "-m", "typelattice", "trace", "--json", "run.json", "--html", "pages", "main.py", how
    followed = ran(tmp_path, *trace)
    assert followed.returncode == 0, followed.stderr
    data = json.loads((tmp_path / "run.json").read_text())
    assert data["child_processes"] == many
    assert data["followed_processes"] == {"none": 0, "popen": 1, "shell": 0, "raw": 1}.get(how, 2)
    said = f"not followed: {many} child process{'es' * (many > 1)} that the program started"
    said += f", and that left no run: {command}" if command else ""
    for told in (followed.stderr, (tmp_path / "pages" / "index.html").read_text()):
        assert (said in " ".join(told.split())) is bool(many), told
        assert ("child process" in told) is bool(many)
