"""Programs that fail by the dtype of an operand: a patch is right if the program runs to its end."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from samples import one_in

import typelattice as tl
from typelattice.repair.copies.source import FixError
from typelattice.repair.patch.patch import Patch
from typelattice.repair.patch.patch_search import fix_script

KERNELS = """
import numpy as np

def doubled(a):
    if a.dtype != np.float64:
        raise ValueError("Buffer dtype mismatch, expected 'double' but got 'float'")
    return a * 2

def double(a):
    if a.dtype != np.float64:
        raise ValueError("Buffer dtype mismatch, expected 'double' but got 'float'")
    a *= 2

def joined(a, b):
    if a.dtype != b.dtype:
        raise TypeError(f"operands must have equal dtypes, got {a.dtype} and {b.dtype}")
    return a + b

def checked(a):
    if a.sum() > 1:
        raise ValueError("the sum is too large")
    return a

class Layer:
    def __init__(self):
        self.weight = np.ones(3, np.float16)

    def __call__(self, a):
        return joined(a, self.weight)
"""
START = "import numpy as np\nimport kernels\nprint('start', 1.5)\nx = np.ones(3, np.float32)\n"
MENDED = {  # a program that fails, and the lines of its patch
    "y = kernels.doubled(x)": ["y = kernels.doubled(x.astype(np.float64))"],
    "def work(a):\n    return kernels.doubled(a + 1)\ny = work(x)": [
        "    return kernels.doubled((a + 1).astype(np.float64))"
    ],
    "y = x + 1\nkernels.double(y)\nz = y + 1": ["y = (x + 1).astype(np.float64)"],
    "w = np.ones(3, np.float16)\ny = kernels.joined(x, w)": ["y = kernels.joined(x.astype(w.dtype), w)"],
    "y = kernels.joined(np.ones(3), x)": ["y = kernels.joined(np.ones(3).astype(x.dtype), x)"],
    "layer = kernels.Layer()\ny = layer(x)": ["y = layer(x.astype(layer.weight.dtype))"],
    "counts = np.zeros(3, dtype=int)\ncounts += x": ["counts = np.zeros(3, dtype=np.float32)"],
    "a = kernels.doubled(x)\nb = kernels.doubled(x + a)\nc = kernels.doubled(x)": [
        "x = np.ones(3, np.float32).astype(np.float64)"
    ],
    "a = np.eye(3, dtype=np.float16)\nb = np.linalg.inv(a)": [
        "b = np.linalg.inv(a.astype(np.float32)).astype(a.dtype)"
    ],
    "a = np.eye(3, dtype=np.float16)\nb, c = np.linalg.eigh(a)": [
        "b, c = np.linalg.eigh(a.astype(np.float32))"
    ],
    "i = np.array([0.0, 1.0])\ny = x[i, ...]": ["y = x[i.astype(np.int64), ...]"],
    "a = kernels.doubled(x * 2)\nb = kernels.doubled(x - 1)": [
        "a = kernels.doubled((x * 2).astype(np.float64))",
        "b = kernels.doubled((x - 1).astype(np.float64))",
    ],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's folder. `kernels` stands for a compiled library, so it lies elsewhere."""
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "kernels.py").write_text(KERNELS, encoding="utf-8")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    path = Path(tl.__file__).parents[1], tmp_path / "library"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, path)))
    return tmp_path / "project"


def mended(folder: Path, code: str, start: str = START) -> tuple[Patch, list[str]]:
    """Return the patch of a script, and the lines that it adds."""
    path = folder / "s.py"
    path.write_text(start + dedent(code) + "\n", encoding="utf-8")
    patch = fix_script("s.py")
    before, after = (text.decode().splitlines() for text in patch.contents[path])
    return patch, [line for line in after if line not in before]


@pytest.mark.parametrize("code", one_in(3, [*MENDED]))
def test_a_program_that_fails_by_its_dtype_runs_with_the_patch(folder: Path, code: str) -> None:
    patch, lines = mended(folder, code)
    assert lines == MENDED[code], str(patch)
    assert patch.grade == "runs now" and "the program failed before, and runs to its end now" in str(patch)


def test_the_report_names_the_results_that_nobody_could_compare(folder: Path) -> None:
    patch, _ = mended(folder, "y = kernels.doubled(x)\nz = y + 1")
    assert "runs to its end now; 2 results are new: check y, z yourself" in str(patch)
    assert "it failed with ValueError: Buffer dtype mismatch, expected 'double'" in str(patch)
    patch.write()
    assert "kernels.doubled(x.astype(np.float64))" in (folder / "s.py").read_text()
    assert str(fix_script("s.py", only=None)).startswith(("not fixed", "nothing to do", "---"))


NOT_BY_DTYPE = (
    "y = kernels.checked(x)",
    "raise ValueError('no')",
    "y = x.reshape(2, 2)",
    "y = x[np.array([0.5, 1.0])]",
    "y = np.linalg.inv(x.astype(np.float16).reshape(1, -1))",
    "y = undefined + x",
    "y = kernels.doubled(x) + undefined",
)


@pytest.mark.parametrize("code", one_in(2, NOT_BY_DTYPE))
def test_a_program_that_fails_otherwise_is_refused(folder: Path, code: str) -> None:
    with pytest.raises(FixError, match="the program fails without any change: "):
        mended(folder, code)


def test_a_cast_that_would_be_written_into_and_dropped_is_refused(folder: Path) -> None:
    code = """
        class Box:
            x = x + 1
        def work(box):
            kernels.double(box.x)
            return box.x
        y = work(Box())
    """
    with pytest.raises(FixError, match="the program fails without any change: ValueError: Buffer"):
        mended(folder, code)


def test_a_cast_that_changes_calls_which_did_not_fail_has_a_condition(folder: Path) -> None:
    code = """
        def both(a, b):
            return kernels.joined(a, b) if hasattr(b, "dtype") else a
        first = both(x, 2)
        y = both(x.astype(np.float16), np.ones(3))
    """
    patch, (line,) = mended(folder, code)
    assert "as before in" in patch.kept_changes[0].proof and ".astype(" in line


def test_what_was_printed_before_the_failure_stays(folder: Path) -> None:
    code = "y = x + 1\nprint(y.dtype, y.sum())\nkernels.double(y)"
    with pytest.raises(FixError, match="it prints other words before the failure"):
        mended(folder, code)


IN_RANGE = {  # numbers that NumPy 2 refuses: what the program gives with the patch is what NumPy 1 gave
    "h = np.frombuffer(b'ab', np.uint8)\ny = h[0] * 256": ("y = int(h[0]) * 256", "24832 int"),
    "h = np.frombuffer(b'ab', np.uint8)\ny = h[0] * 256 + h[1]": (
        "y = h[0].astype(np.int64) * 256 + h[1]", "24930 int64",
    ),
    "a = np.array([5], np.uint32)\ny = a + -19": ("y = a.astype(np.int64) + -19", "[-14] int64"),
    "a = np.array([5], np.uint8)\ny = 300 - a": ("y = 300 - a.astype(np.uint16)", "[295] uint16"),
    "y = np.uint32(-1)": ("y = np.uint32(np.iinfo(np.uint32).max)", "4294967295 uint32"),
    "y = np.uint32(-19)": ("y = np.int64(-19).astype(np.uint32)", "4294967277 uint32"),
    "n = -1\ny = np.uint8(n)": ("y = np.int64(n).astype(np.uint8)", "255 uint8"),
    "y = np.array([0, -8], dtype=np.uint8)": ("y = np.array([0, -8]).astype(np.uint8)", "[  0 248] uint8"),
    "y = np.full(2, 300, dtype='uint8')": ("y = np.full(2, 300).astype('uint8')", "[44 44] uint8"),
    "a = np.array([5], np.uint8)\ny = np.add(a, 300)": (
        "y = np.add(a.astype(np.uint16), 300)", "[305] uint16",
    ),
    "def f(v):\n    return v * 256\na = f(3), f([1])[:2]\ny = f(np.uint8(2))": (
        '    return (v.astype(np.int64) if getattr(v, "dtype", None) == np.uint8 else v) * 256', "512 int64",
    ),
}  # fmt: skip


@pytest.mark.skipif(np.__version__.startswith("1."), reason="NumPy 1 takes these numbers")
@pytest.mark.parametrize("code", one_in(3, [*IN_RANGE]))
def test_a_number_that_a_dtype_does_not_hold_is_computed_as_numpy_1_did(folder: Path, code: str) -> None:
    patch, lines = mended(folder, f"{code}\nkind = str(getattr(y, 'dtype', 'int'))", "import numpy as np\n")
    line, value = IN_RANGE[code]
    assert lines == [line], str(patch)
    names: dict[str, object] = {}
    with pytest.raises(OverflowError):
        exec(f"import numpy as np\n{code}", {})
    exec(patch.contents[folder / "s.py"][1], names)
    assert f"{names['y']} {names['kind']}" == value


@pytest.mark.skipif(np.__version__.startswith("1."), reason="NumPy 1 takes these numbers")
def test_the_patch_also_runs_in_another_interpreter(folder: Path, new_processes: None) -> None:
    (folder / "s.py").write_text("import numpy as np\ny = np.uint8([3]) * 256\n")
    patch = fix_script("s.py", like="numpy1", python=sys.executable)
    assert f"in {sys.executable} all results have the same values and dtypes" in str(patch)
    (folder / "s.py").write_text(
        "import sys, numpy as np\nassert not sys.flags.no_user_site\ny = np.uint8(3) * 256\n"
    )
    other = folder / "python"
    other.write_text(f'#!/bin/sh\nexec {sys.executable} -s "$@"\n')
    other.chmod(0o755)
    patch = fix_script("s.py", like="numpy1", python=str(other))
    assert patch.refusal == f"the program fails with it in {other}"
    (folder / "s.py").write_text(
        "import sys, numpy as np\ny = np.uint8([3]) * 256 + sys.flags.no_user_site\n"
    )
    patch = fix_script("s.py", like="numpy1", python=str(other))
    assert patch.refusal.startswith(f"in {other} another result comes out than here")
