"""A program that is followed behaves as by itself; memory is bounded, and nothing is written unasked."""

from __future__ import annotations

import doctest
import marshal
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np
import pytest
from samples import one_in

import typelattice as tl
from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import MAX_KEYS_PER_OPERATION, Recorder
from typelattice.tracing.run_data.array_classes import ArrayClasses
from typelattice.tracing.run_data.producing_steps import (
    LINKS_BEFORE_CLEANUP,
    MAX_CONSTANTS,
    MAX_SCALARS,
    MAX_STEPS_PER_OPERATION,
)

MODULE = '''
"""A module of a program.

>>> widened([1, 2]).dtype
dtype('float64')
"""
import warnings
import numpy as np


def widened(x):
    """Twice as many bits.

    >>> widened(np.ones(2, np.float32)).dtype
    dtype('float64')
    >>> widened("a")
    Traceback (most recent call last):
    ...
    ValueError: could not convert string to float: 'a'
    """
    x = np.asarray(x, dtype=np.float64)
    y = (
        x
        * 2.0
        - 1.5
    )
    for i in range(3):
        if i > 1 and y[0] < 100:
            continue
        y = np.where(
            y > i,
            y,
            y + 0,
        )
    y = np.clip(y, 0, 9).reshape(-1,
        1, order="C").sum(
        axis=-1,
    )
    return y


def warned(x):
    warnings.warn(
        "at its caller",
        stacklevel=2,
    )
    return x / np.zeros(
        1,
        np.float32,
    )


def all_of_it():
    try:
        x = widened([1, 2])
        x += 1; x[0] += 2
        return [each + 1 for each in warned(x) if each > 0], {"a": x[1:].T}, (lambda q: q + 1)(3)
    finally:
        x = -x
'''


def ways(name: str = "a_program") -> tuple[ModuleType, ModuleType]:
    """The module as it is, and rewritten."""
    found = []
    for compiler in (None, ModuleCompiler(Recorder())):
        module = ModuleType(name)
        module.__file__ = f"{name}.py"
        plain = compile(MODULE, module.__file__, "exec", dont_inherit=True)
        code = compiler.compile_module(name, module.__file__, MODULE.encode()) if compiler else plain
        assert code is not None
        exec(code, vars(module))
        found.append(module)
    return found[0], found[1]


def test_doctests_pass_as_they_do() -> None:
    for module in ways():
        finder = doctest.DocTestFinder()
        examples = finder.find(module, "a_program", module=False, globs=vars(module))
        assert sorted(len(each.examples) for each in examples if each.examples) == [1, 2]
        runner = doctest.DocTestRunner(verbose=False)
        for each in examples:
            runner.run(each)
        assert (runner.tries, runner.failures) == (3, 0)


def lines_seen(module: ModuleType, run: Callable[[], object]) -> list[tuple[str, int]]:
    """The functions and the lines of a module that run, as coverage is told of them."""
    seen: list[tuple[str, int]] = []

    def told(frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code.co_filename != module.__file__:
            return None
        if event == "line":
            seen.append((frame.f_code.co_name, frame.f_lineno))
        return told

    before = sys.gettrace()
    sys.settrace(told)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    finally:
        sys.settrace(before)
    return seen


def test_coverage_is_told_of_the_lines_that_it_was_told_of_in_their_order() -> None:
    plain, rewritten = (lines_seen(module, module.all_of_it) for module in ways())
    assert len(plain) > 30
    assert plain == rewritten


def test_warnings_name_the_lines_that_they_named() -> None:
    places = []
    for module in ways():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.all_of_it()
        places.append([(w.lineno, w.filename, str(w.message)) for w in caught])
    assert len(places[0]) > 1 and places[0] == places[1]


# -- scripts


def started(folder: Path, script: str, *words: str, **settings: str) -> subprocess.Popen[str]:
    """A script that is followed, started in a folder, and which takes that folder for its home."""
    (folder / "s.py").write_text(textwrap.dedent(script), encoding="utf-8")
    source = str(Path(tl.__file__).parents[1])
    home = {"HOME": str(folder), "TMPDIR": str(folder), "XDG_CACHE_HOME": str(folder)}
    variables = {**os.environ, **home, "PYTHONPATH": source, **settings}
    return subprocess.Popen(
        [sys.executable, "-m", "typelattice", "trace", *words, "s.py"],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_script_that_is_interrupted_gives_its_report(tmp_path: Path) -> None:
    script = """
        import time
        import numpy as np
        x = np.ones(3, np.float32) * np.float64(2)
        time.sleep(0)  # what a first call has to look up is known when the signal comes
        print("ready", flush=True)
        time.sleep(60)
    """
    process = started(tmp_path, script)
    assert process.stdout and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in said and "np.ones(3, np.float32) * np.float64(2)" in said
    assert str(Path(tl.__file__).parent) not in said  # no frame of ours


def test_without_assertions_a_script_has_none(tmp_path: Path) -> None:
    script = """
        import numpy as np
        assert np.ones(2).sum() > 3, "never"
        print(__debug__)
    """
    out, said = started(tmp_path, script, PYTHONOPTIMIZE="1").communicate(timeout=60)
    assert out == "False\n", said


@pytest.mark.parametrize(
    ("words", "made"),
    one_in(3, [
        ((), []), (("--json", "run.json"), ["run.json"]), (("--html", "pages"), ["pages"]),
        (("--cache", "kept"), ["kept"]),
    ]),
)
def test_nothing_is_written_but_what_was_asked_for(
    tmp_path: Path, words: tuple[str, ...], made: list[str]
) -> None:
    (tmp_path / "followed.py").write_text("import numpy as np\ndef f(x): return x * 2.5\n", encoding="utf-8")
    process = started(
        tmp_path,
        "import numpy as np\nimport followed\nfollowed.f(np.ones(2, np.int8))\n",
        "--package",
        "followed",
        *words,
        PYTHONDONTWRITEBYTECODE="",
        PYTHONPYCACHEPREFIX=str(tmp_path / "python"),  # what Python itself keeps of modules
    )
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, ""), said
    found = sorted(path.name for path in tmp_path.iterdir())
    assert [name for name in found if name != "python"] == sorted(["followed.py", "s.py", *made])
    (kept,) = (tmp_path / "python").rglob("followed*")
    code = marshal.loads(kept.read_bytes()[16:])
    assert "record_binary" not in str([each.co_names for each in code.co_consts if hasattr(each, "co_names")])


# -- programs that start other processes

EVERY_FORM = """
def f(np, x, more):
    x[0] = -(x + 1)[0] * np.add(x, x)[0]
    x += np.concatenate(more).T
    x.resize(2)
    return abs(x), np.sum(x, axis=0, dtype=x.dtype), np.clip(x, x, x, out=x), np.add(*more, *[x]), x.copy()
"""


def test_a_function_shows_the_code_of_its_file_in_every_form() -> None:
    code = ModuleCompiler(Recorder()).compile_module("sent", "sent.py", EVERY_FORM.encode())
    assert code is not None
    functions = []
    for each in (compile(EVERY_FORM, "sent.py", "exec", dont_inherit=True), code):
        exec(each, scope := {"__name__": "sent"})
        functions.append(scope["f"])
    plain, followed = functions
    assert followed.__code__ == plain.__code__ and marshal.dumps(followed.__code__)
    results = [repr(f(np, np.arange(3.0), [np.ones(2), np.zeros(1)])) for f in functions]
    assert results[0] == results[1]


# -- programs with objects, builtins and depths of their own

ASKING = """
import numpy as np
asked = []
class Asked:
    def __array_namespace__(self): asked.append("__array_namespace__"); return np
    def __add__(self, other): return Asked()
class Array(np.ndarray):
    pass
class Unhashable(type):
    def __eq__(self, other): asked.append("__eq__")
class Other(metaclass=Unhashable):
    def __add__(self, other): return self
    __class__ = property(lambda self: asked.append("__class__"))
    def __getattr__(self, name): asked.append(name)
other = Other() + 1
for cls in (Asked, Array):
    for name in ("dtype", "shape", "ndim", "nbytes", "base", "size"):
        setattr(cls, name, property(lambda x, name=name: asked.append(name)))
x = Asked() + Asked()
y = np.ones(3).view(Array)
y = y + np.float32(1)
y += 2
y[0] = 3
z = np.add(y[1:], y[0:2])
print(asked, type(z))
"""
REPLACING = """
import builtins
import numpy as np
NAMES = "len", "isinstance", "type", "id", "tuple", "map", "object", "super", "int"
before = {name: getattr(builtins, name) for name in NAMES}
def fail(*given): raise ZeroDivisionError("replaced")
for name in before: setattr(builtins, name, fail)
x = np.ones(3, np.float32)
y = np.add(x, 1) * 2
y += x[0]
for name, f in before.items(): setattr(builtins, name, f)
z = y - 1
print(y, z)
builtins.len = builtins.isinstance = fail
"""
DEEP = """
import sys, traceback
import numpy as np
def f(x):
    return f(np.add(x, x) * x[0])
for limit in range(100, 140):
    sys.setrecursionlimit(limit)
    try:
        f(np.ones(2))
    except RecursionError as e:
        files = {frame.filename for frame in traceback.extract_tb(e.__traceback__)}
        sys.setrecursionlimit(1000)
        print(files == {__file__}, e)
"""


@pytest.mark.parametrize("text", [ASKING, REPLACING, DEEP])
def test_programs_with_objects_builtins_and_depths_of_their_own(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.py").write_text(text, encoding="utf-8")
    plain, traced = (
        subprocess.run(
            [sys.executable, *words, "s.py"],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1])},
            capture_output=True, text=True, timeout=60, check=False,
        )
        for words in ((), ("-m", "typelattice", "trace", "--values"))
    )  # fmt: skip
    assert plain.returncode == traced.returncode == 0, traced.stderr
    assert plain.stdout == traced.stdout
    assert "ran in 1 file" in traced.stderr
    failed = "our reading of it failed (ZeroDivisionError: replaced)" in " ".join(traced.stderr.split())
    assert failed == (text == REPLACING), traced.stderr


# -- programs that run long


LONG = {
    "a chain": "x = x + 1",
    "numbers that differ": "x * i",
    "scalars": "x[0] * x[1]",
    "arrays that differ in their dimensions": "np.ones((1,) * (i % 5)) + x",
    "lists of arrays": "np.concatenate([x] * (1 + i % 40))",
    "arrays that all live": "alive.append(x + 1)",
    "functions made anew": "(lambda q: q + 1)(x)",
    "texts that differ": "np.array(x, str(x.dtype), order='C' if i % 2 else 'F')",
}
MANY_TIMES = 60_000


@pytest.mark.parametrize("line", one_in(3, [*LONG.values()]), ids=list(LONG))
def test_what_is_remembered_of_a_long_run_is_bounded_and_every_operation_is_counted(line: str) -> None:
    text = f"import numpy as np\nx, alive = np.ones(3), []\nfor i in range({MANY_TIMES}):\n    {line}\n"
    recorder = Recorder()
    code = ModuleCompiler(recorder).compile_module("long", "long.py", text.encode())
    assert code is not None
    exec(code, scope := {"__name__": "long"})
    assert len(recorder.tallies) < 40 * MAX_STEPS_PER_OPERATION
    assert len(recorder.links.scalars) <= MAX_SCALARS and recorder.links.constants <= MAX_CONSTANTS
    witnesses = [x for x in constants(code) if hasattr(x, "tallies")]
    assert witnesses and all(len(x.tallies) <= MAX_KEYS_PER_OPERATION + 40 for x in witnesses)
    run = recorder.build_run()
    assert max(seen.count for _, seen in run) <= MANY_TIMES <= sum(seen.count for _, seen in run)
    if not scope["alive"]:
        assert len(recorder.links.by_weak_reference) < LINKS_BEFORE_CLEANUP
    if any(len(x.tallies) > 2 * MAX_STEPS_PER_OPERATION for x in witnesses):
        assert "are counted with an earlier run of the same line" in " ".join(run.summaries)


def constants(code: Any) -> list[Any]:
    """All constants of compiled code and of the functions in it."""
    found = []
    for each in code.co_consts:
        found += constants(each) if hasattr(each, "co_consts") else [each]
    return found


def test_links_of_arrays_that_are_gone_are_forgotten() -> None:
    text = f"import numpy as np\nx = np.ones(3)\nalive = [x + 1 for _ in range({2 * LINKS_BEFORE_CLEANUP})]\n"
    recorder = Recorder()
    code = ModuleCompiler(recorder).compile_module("gone", "gone.py", text.encode())
    assert code is not None
    exec(code, scope := {"__name__": "gone"})
    assert len(recorder.links.by_weak_reference) > LINKS_BEFORE_CLEANUP
    scope["alive"] = []
    exec(ModuleCompiler(recorder).compile_module("gone", "gone.py", text.encode()) or "", scope)
    assert len(recorder.links.by_weak_reference) < 2 * len(scope["alive"]) + LINKS_BEFORE_CLEANUP


@pytest.mark.live
def test_dtypes_of_two_libraries_are_not_compared() -> None:
    strict = pytest.importorskip("array_api_strict")
    numpy: Any = import_module("numpy")
    kinds = ArrayClasses()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # array-api-strict warns of a comparison with a dtype of NumPy's
        marks = {kind.cache_key(x) for x in (numpy.ones(3), strict.ones(3)) if (kind := kinds[type(x)])}
    assert len(marks) == 2
