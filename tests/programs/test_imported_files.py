"""What a function of a file imports of its own package is read there, and what is installed is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.show.cli.main import main

FILES = {
    "pkg/__init__.py": "from .inner import scale\n",
    "pkg/util.py": "import numpy as np\nFACTOR = np.float64(2.5)\ndef half(x):\n    return x / 2\n"
    "def widen(x):\n    return half(x) * FACTOR\n",
    "pkg/inner.py": "from . import util\nfrom .util import widen as w\nimport pkg.util as u\n"
    "def scale(x):\n    return util.half(x)\n"
    "def f(x):\n    return w(x)\ndef g(x):\n    return u.half(x)\n"
    "def h(x):\n    from pkg import scale as again\n    return again(x)\n"
    "def absent(x):\n    from .util import nothing\n    return nothing(x)\n"
    "def branch(x):\n    if x.sum() > 0:\n        return w(x)\n    return util.widen(x)\n",
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": "from ..util import half\nfrom . import wide\n"
    "def f(x):\n    return wide.wider(half(x))\n",
    "pkg/sub/wide.py": "import numpy as np\nfrom ..inner import scale\n"
    "def wider(x):\n    return scale(x) * np.ones(3)\n",
    "lib.py": "def twice(x):\n    return x * 2.5\n",
    "script.py": "from lib import twice\ndef f(x):\n    return twice(x)\n",
    "loop.py": "from ring import g\ndef f(x):\n    return g(x)\n",
    "ring.py": "from loop import f\ndef g(x):\n    return f(x)\n",
    "broken.py": "from bad import g\ndef f(x):\n    return g(x)\n",
    "bad.py": "def g(x:\n",
    "numpy.py": "raise SystemExit('executed')\ndef ones(n):\n    return 1j\n",
    "shadow.py": "import numpy as np\ndef f(x):\n    return x * np.ones(3)\n",
}


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("function", "expected"), [
    ("pkg/inner.py:f", "float64"), ("pkg/inner.py:g", "float32"), ("pkg/inner.py:h", "float32"),
    ("pkg/inner.py:branch", "float64"), ("pkg/sub/deep.py:f", "float64"), ("script.py:f", "float32"),
    ("shadow.py:f", "float64"),
])  # fmt: skip
def test_names_of_the_package_are_read_in_their_files(folder: Path, function: str, expected: str) -> None:
    before = {*sys.modules}
    assert str(tl.program(f"{folder}/{function}", x="float32[3]").under("numpy").dtype) == expected
    assert not {"pkg", "lib"} & ({*sys.modules} - before)


def test_a_step_names_its_file(folder: Path) -> None:
    steps = tl.program(f"{folder}/pkg/inner.py:f", x="float32[3]").steps
    found = {str(step.location) for step in steps if step.location and "/ 2" in step.text}
    assert found == {"util.py, line 4"}


def test_explain_names_other_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{folder}/pkg/sub/deep.py:f", "x=float32[3]", "--system", "numpy"]) == 0
    out = capsys.readouterr().out
    assert "util.py:4: x / 2 (2 times): float32" in out
    assert "wide.py:4: scale(x) * np.ones(3): float64" in out


@pytest.mark.parametrize(("function", "message"), [
    ("pkg/inner.py:absent", "util.py has no nothing"), ("loop.py:f", "one another|calls|recursion|deep"),
    ("broken.py:f", "bad.py, line 1"),
])  # fmt: skip
def test_what_cannot_be_imported_is_said(folder: Path, function: str, message: str) -> None:
    with pytest.raises(tl.ProgramError, match=message):
        tl.program(f"{folder}/{function}", x="float32[3]")


def test_the_steps_before_an_unknown_result_are_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "from scipy.signal import lfilter\ndef f(x):\n    y = x * 2.5\n    return lfilter(y, y)\n"
    (folder / "s.py").write_text(text)
    with pytest.raises(tl.ProgramError, match="lfilter"):
        tl.program(f"{folder}/s.py:f", x="float32[3]")
    assert main(["explain", f"{folder}/s.py:f", "x=float32[3]", "--system", "numpy"]) == 2
    out, err = capsys.readouterr()
    assert "its result is not known" in out and "3: x * 2.5: float32" in out
    assert "unknown function 'lfilter'" in err


DECORATED = """
import jax, jax.numpy as jnp, torch
from functools import partial
@jax.jit
def f(x, scale=2.5):
    return jnp.asarray(x, dtype=float) * scale
@partial(jax.jit, static_argnames=("n",))
def g(x, *, n=3):
    return x[:n] / n
@jax.vmap
def h(x):
    return x.sum() * 2
def k(x):
    return x * 2 if torch.__version__ >= "2" else x
"""


@pytest.mark.parametrize(("name", "expected"), [("f", "float64"), ("g", "float32"), ("h", "float32")])
def test_a_decorated_function_has_its_defaults(folder: Path, name: str, expected: str) -> None:
    (folder / "d.py").write_text(DECORATED)
    replay = tl.program(f"{folder}/d.py:{name}", x="float32[3,4]").under("jax")
    assert str(replay.dtype) == expected
    shape = replay.program.steps[replay.program.results[0]].shape
    assert shape == {"h": (3,)}.get(name, (3, 4))


def test_an_unknown_value_is_no_error_of_python(folder: Path) -> None:
    (folder / "d.py").write_text(DECORATED)
    with pytest.raises(tl.ProgramError, match="a value that is not known here"):
        tl.program(f"{folder}/d.py:k", x="float32[3,4]")
