"""A traced program sees the references to its objects that it has untraced, and their dtypes are current."""

from __future__ import annotations

import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from samples import one_in
from test_tracing_scripts import both

import typelattice as tl

HEAD = """
import gc, operator, sys, weakref
import numpy as np
class Noisy(np.ndarray):
    def __del__(self):
        print("deleted")
def use(x):
    return x * np.float32(2) + 1
a = np.ones(3, np.float32) + 1
b = use(a)
"""
PROGRAMS = {
    "a method kept": "p = a.resize\nc = a + 1\np(4)\nprint(a)",
    "by the class": "np.ndarray.resize(a, 4)\nprint(a)",
    "a function of the class": "r = np.ndarray.resize\nc = a + 1\nr(a, 4)\nprint(a)",
    "getattr": "p = getattr(a, 'resize')\nc = a + 1\np(4)\nprint(a)",
    "methodcaller": (
        "m = operator.methodcaller('resize', 4, refcheck=False)\nc = a + 1\nm(a)\nprint(a)"
    ),
    "counts by another name": "from sys import getrefcount as count\nprint(count(a), count(b))",
    "later": "a.resize(4)\nc = a + 1\na.resize(5)\nprint(a, c)",
    "in place": "p = a.resize\na += 1\np(4)\nprint(a)",
    "a view is refused": "v = a[:2]\nw = v + 1\ntry:\n    v.resize(4)\nexcept ValueError as e:\n    print(e)",
    "weak references": "r = weakref.ref(a)\nprint(weakref.getweakrefcount(a), len(weakref.getweakrefs(b)))",
    "none of its own": "print(weakref.getweakrefcount(b), weakref.getweakrefs(b))",
    "reference counts": "s = b.sum()\nt = s + 1\nprint([sys.getrefcount(x) for x in (a, b, s, t)])",
    "deletion": "n = (np.ones(2).view(Noisy) + 1)\nm = n * 2\ndel n\nprint('after')\ndel m\nprint('end')",
    "exported buffers": (
        "held = bytearray(16)\nx = np.frombuffer(held, np.float32)\ny = x + 1\ndel x\nheld.append(1)\n"
        "print(len(held))"
    ),
    "a dead class": (
        "class Own:\n    pass\ndef make(c):\n    return np.ones(2) if c else c\n"
        "make(Own)\nnp.ones(2, object if Own is None else float)\nr = weakref.ref(Own)\ndel Own\n"
        "gc.collect()\nprint(r())"
    ),
}


@pytest.mark.parametrize("name", one_in(2, sorted(PROGRAMS)))
def test_a_program_sees_no_reference_of_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / "main.py").write_text(f"{HEAD}{PROGRAMS[name]}\n", encoding="utf-8")
    plain, traced = both(tmp_path, "main.py")
    assert (traced.stdout, traced.returncode) == (plain.stdout, plain.returncode), traced.stderr
    assert plain.returncode == 0 or sys.version_info >= (3, 14), plain.stderr  # it refuses more by itself
    assert "rules predict" in traced.stderr


@pytest.mark.filterwarnings("ignore:Setting the dtype:DeprecationWarning")
def test_a_new_dtype_of_an_array_is_a_step_of_its_own() -> None:
    def f(x: np.ndarray) -> np.ndarray:
        y = x + x
        change(y)
        return y + y

    def change(y: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            np.ndarray.dtype.__set__(y, np.dtype("int32"))

    traced = tl.trace(f, np.ones(2, np.float32))
    assert traced.result.dtype == np.int32
    seen = [(step.op, str(each.operand.dtype)) for step, each in traced.run]
    assert seen[-2:] == [("astype", "int32"), ("add", "int32")], seen
    assert traced.run.program.steps[-2].text
    assert "every dtype is the one" in str(traced)


def test_a_traced_function_sees_no_weak_reference_of_ours() -> None:
    def f(x: np.ndarray) -> int:
        y = x + x
        return weakref.getweakrefcount(y)

    assert tl.trace(f, np.ones(2, np.float32)).result == 0
