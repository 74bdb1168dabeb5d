"""Every function of a library, called with simple operands: what a run makes of it, and of the program."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from samples import one_in

pytestmark = pytest.mark.live

GIVEN = (
    "x", "x, x", "x, y", "i, 2", "x, 1.5", "b, x, y", "x, 0, 1", "[x, y]", "i, y", "x, dtype=y.dtype", "s",
)  # fmt: skip
LEFT_OUT = (  # what reads and writes files, sets what holds from then on, or ends the process
    "save", "load", "file", "txt", "memmap", "set", "seed", "compile", "print", "show", "info",
    "test", "get_", "init", "import", "fork", "wait", "exit", "vmap", "distributed", "unify",
    "random", "rand", "normal", "bernoulli", "multinomial", "dropout", "poisson", "empty", "async",
    "stream", "cuda", "from_dlpack", "_", "resize", "synchronize", "clear", "new_", "export",
    "autocast", "typename", "is_", "use_", "may_", "quantize", "fbgemm", "mkldnn", "cudnn",
    "miopen", "sym", "sparse", "put", "place", "copyto", "reset",
)  # fmt: skip
PROGRAM = """
import sys, warnings
warnings.simplefilter("ignore")
import {module} as xp
def array(values, dtype):
    return {make}
x, y = array([[1.5, 2.0], [0.5, 3.0]], "float32"), array([[1.0, 2.0], [4.0, 0.25]], "float64")
i, b = array([[1, 2], [0, 1]], "int32"), array([[True, False], [False, True]], "bool")
s = array(1.5, "float32")
def told(r):
    if isinstance(r, (tuple, list)):
        return [told(each) for each in r]
    return str(getattr(r, "dtype", type(r).__name__))
"""
CALL = """
try: r = told({call})
except Exception as e: r = type(e).__name__
print({call!r}, r)
"""
LIBRARIES = {  # the module, how it makes an array
    "array_api_strict": ("array_api_strict", "xp.asarray(values, dtype=getattr(xp, dtype))"),
    "mlx": ("mlx.core", "xp.array(values, dtype=getattr(xp, dtype.replace('bool', 'bool_')))"),
    "numpy": ("numpy", "xp.asarray(values, dtype=dtype)"),
    "torch": ("torch", "xp.asarray(values, dtype=getattr(xp, dtype))"),
}
NAMES = """
import {module} as xp
for name in sorted(dir(xp)):
    found = getattr(xp, name, None)
    if callable(found) and not isinstance(found, type):
        print(name)
"""
OTHERWISE = {  # calls that our rules say otherwise
    # The standard has numbers there, and no arrays.
    "array_api_strict": {"xp.arange(s)"},
    # Floats are taken for indices, and rounded.
    "mlx": {"xp.take_along_axis(x, x)", "xp.take_along_axis(x, y)", "xp.take_along_axis(i, y)"},
    # So is a float without dimensions; and a number is made an array of one dimension, which diff wants.
    "numpy": {"xp.take(x, 1.5)", "xp.ediff1d(s)"},
}


def python(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("library", one_in(2, [*LIBRARIES]))
def test_every_function_does_in_a_run_what_it_does_without(library: str, tmp_path: Path) -> None:
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    module, make = LIBRARIES[library]
    names = python("-W", "ignore", "-c", NAMES.format(module=module)).split()
    calls = [f"xp.{n}({given})" for n in names if not n.startswith(LEFT_OUT) for given in GIVEN]
    assert len(calls) > 1000
    script = tmp_path / "every.py"
    lines = PROGRAM.format(module=module, make=make) + "".join(CALL.format(call=call) for call in calls)
    script.write_text(lines, encoding="utf-8")
    told = tmp_path / "told.json"
    plain = python(str(script))
    assert python("-m", "typelattice", "trace", "--json", str(told), str(script)) == plain
    run = json.loads(told.read_text(encoding="utf-8"))
    assert not run["not_followed"]
    wrong = {run["steps"][m["step"]]["code"] for m in run["mismatches"]}
    assert wrong == OTHERWISE.get(library, set())
