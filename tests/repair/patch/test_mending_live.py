"""Programs of PyTorch and JAX: operations that refuse dtypes are mended, and patched functions are proved."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import one_in

import typelattice as tl
from typelattice.repair.patch.patch import Patch
from typelattice.repair.patch.patch_search import fix_script
from typelattice.repair.patch.workspace import SearchLimits

pytestmark = pytest.mark.live


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(tl.__file__).parents[1]))
    return tmp_path


def mended(folder: Path, code: str, start: str) -> tuple[Patch, list[str]]:
    """Return the patch of a script, and the lines that it adds."""
    path = folder / "s.py"
    path.write_text(f"{start}{code}\n", encoding="utf-8")
    patch = fix_script("s.py")
    before, after = (text.decode().splitlines() for text in patch.contents[path])
    return patch, [line for line in after if line not in before]


REFUSED = {
    "conv = torch.nn.Conv2d(3, 4, 3).to(torch.bfloat16)\nout = conv(torch.ones(1, 3, 8, 8))": (
        "out = conv(torch.ones(1, 3, 8, 8).to(conv.weight.dtype))"
    ),
    "a = torch.ones(4, 4).half()\nb = torch.ones(4, 4)\ny = torch.matmul(a, b)": (
        "y = torch.matmul(a, b.to(a.dtype))"
    ),
    "acc = torch.zeros(4, 2)\nacc.index_add_(0, torch.tensor([0, 1]), torch.ones(2, 2).half())": (
        "acc.index_add_(0, torch.tensor([0, 1]), torch.ones(2, 2).half().to(acc.dtype))"
    ),
    "ema = torch.zeros(4)\nnew = torch.ones(4).half()\nema.lerp_(new, 0.1)": (
        "ema.lerp_(new.to(ema.dtype), 0.1)"
    ),
    "out = torch.zeros(2, 5).half()\nsrc = torch.ones(2, 3)\ni = torch.tensor([[0, 1, 2], [0, 1, 4]])\n"
    "out = out.scatter(1, i, src)": "out = out.scatter(1, i, src.to(out.dtype))",
    "q = torch.ones(1, 2, 4, 8).half()\nv = torch.ones(1, 2, 4, 8)\n"
    "o = torch.nn.functional.scaled_dot_product_attention(q, q, v)": (
        "o = torch.nn.functional.scaled_dot_product_attention(q, q, v.to(q.dtype))"
    ),
    "a = torch.eye(3).half()\nb = torch.linalg.inv(a)": (
        "b = torch.linalg.inv(a.to(torch.float32)).to(a.dtype)"
    ),
    "i = torch.tensor([0.0, 2.0])\ny = torch.ones(3)[i]": "y = torch.ones(3)[i.to(torch.int64)]",
    "e = torch.nn.Embedding(5, 3)\ni = torch.ones(2)\ny = e(i)": "y = e(i.to(torch.int64))",
    "cache = torch.zeros(4, 8)\nk = torch.ones(2, 8).half()\ncache[torch.tensor([0, 2])] = k": (
        "cache[torch.tensor([0, 2])] = k.to(cache.dtype)"
    ),
}


@pytest.mark.parametrize("code", one_in(3, [*REFUSED]))
def test_a_refused_operation_of_torch_runs_with_a_cast_of_the_odd_operand(folder: Path, code: str) -> None:
    assert mended(folder, code, "import torch\n")[1] == [REFUSED[code]]


def test_a_refused_operation_of_scipy_runs_in_a_wider_float_and_gives_the_dtype_back(folder: Path) -> None:
    pytest.importorskip("scipy")
    start = "import numpy as np\nfrom scipy import ndimage\n"
    code = "a = np.ones((8, 8), np.float16)\ny = ndimage.gaussian_filter(a, 1.0)"
    expected = "y = ndimage.gaussian_filter(a.astype(np.float32), 1.0).astype(a.dtype)"
    assert mended(folder, code, start)[1] == [expected]


def test_a_refused_operation_of_lax_runs_with_a_cast_of_the_odd_operand(folder: Path) -> None:
    start = "import jax.numpy as jnp\nfrom jax import lax\n"
    code = "a = jnp.ones(3)\nb = jnp.ones(3, jnp.bfloat16)\ny = lax.add(a, b)"
    assert mended(folder, code, start)[1] == ["y = lax.add(a.astype(b.dtype), b)"]


def test_a_refused_operation_of_tensorflow_runs_with_a_cast(folder: Path) -> None:
    code = "w = tf.ones((4, 2))\nx = tf.constant(np.ones((2, 4)))\ny = tf.matmul(x, w)"
    path = folder / "s.py"
    path.write_text(f"import numpy as np\nimport tensorflow as tf\n{code}\n", encoding="utf-8")
    patch = fix_script("s.py", limits=SearchLimits(600))  # its import takes long
    assert [each.after for each in patch.kept_changes] == ["y = tf.matmul(tf.cast(x, w.dtype), w)"]


TORCH_FUNCTION = """
def scaled(x):
    w = torch.linspace(0, 1, 3, dtype=torch.float64)
    return x * w
y = scaled(torch.ones(3))
"""
JAX_FUNCTION = """
def scaled(x):
    return x * WEIGHTS
y = scaled(jnp.ones(3, jnp.float32))
"""


def test_a_patched_function_is_proved_with_tensors_of_each_dtype(folder: Path) -> None:
    patch, (line,) = mended(folder, TORCH_FUNCTION, "import torch\n")
    assert "scaled: as before in" in patch.kept_changes[0].proof and "float32" in str(patch)
    names: dict[str, object] = {}
    exec((folder / "s.py").read_bytes(), names)
    patch.write()
    new: dict[str, object] = {}
    exec((folder / "s.py").read_bytes(), new)
    import torch

    for dtype in (torch.int32, torch.float64, torch.bool, torch.uint8):
        old, now = (each["scaled"](torch.ones(3, dtype=dtype)) for each in (names, new))  # type: ignore[operator]
        assert old.dtype is now.dtype and torch.equal(old, now), line


def test_a_patched_function_is_proved_with_arrays_of_jax(folder: Path) -> None:
    start = "import jax\njax.config.update('jax_enable_x64', True)\nimport jax.numpy as jnp\n"
    patch, _ = mended(folder, JAX_FUNCTION, f"{start}WEIGHTS = jnp.linspace(0, 1, 3)\n")
    assert "scaled: as before in" in patch.kept_changes[0].proof


def test_a_carry_of_a_loop_is_mended_where_its_float_became_wide(folder: Path) -> None:
    start = "import jax\njax.config.update('jax_enable_x64', True)\nimport jax.numpy as jnp\n"
    start += "import numpy as np\n"
    code = "half = np.float64(0.5)\ndef body(c):\n    return c * half\n"
    code += "r = jax.lax.while_loop(lambda c: c > 1, body, jnp.float32(8))"
    assert mended(folder, code, start)[1] == ["    return c * float(half)"]
