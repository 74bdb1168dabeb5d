"""Small programs over each library, run once and followed: every step comes out as its system says."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import pytest
from followed import followed
from samples import one_in

import typelattice as tl
from typelattice.core.registry.releases import system_for_version
from typelattice.repair.patch.patch_search import fix_script
from typelattice.tracing.library_traits import library_version, own_system

pytestmark = pytest.mark.live

LINES = """
a + b; a / 3; i * 2; i / 2; a ** 2; i // 2; i % 2; i / i; 2.5 * a; 1 - i; k + i; k * 2; a - i; i << 1; k & i
x = a[1:]; x = a[0] + b[1]; -a; abs(i); ~i; a < b; (a < b) & (a > 0); a @ b; a.T; i > 2.5; a == i; i @ k
xp.sum(i); xp.mean(a); xp.mean(i); xp.std(a); xp.var(b); xp.prod(i); xp.max(a); xp.argmax(a); xp.any(a > 0)
xp.where(a > 0, a, b); xp.where(a > 0, a, 0); xp.concat([a, b]); xp.concatenate([i, a]); xp.stack([a, b])
xp.exp(a); xp.sqrt(i); xp.maximum(a, b); xp.minimum(i, 3); xp.abs(i); xp.square(i); xp.floor(a); xp.round(a)
xp.astype(i, a.dtype); i.astype(a.dtype); xp.reshape(a, (-1, 1)); xp.sort(a); xp.clip(a, 0, 1)
xp.clip(i, 0, 1); xp.zeros_like(a) + 1; xp.ones(3) + a; xp.arange(3) + i; xp.linspace(0, 1, 3) * a
xp.sum(a > 0); xp.full((3,), 2) + a
xp.isnan(a); xp.tanh(a) + xp.log(b); xp.tensordot(a, b, axes=1); xp.logical_and(a < b, a > 0)
xp.sum(a, dtype=b.dtype)
xp.cumulative_sum(i); xp.cumsum(a); xp.outer(a, i); xp.asarray([1, 2.5, 3]) + a
xp.asarray([1, 2, 3]) + i; xp.hypot(a, b)
x = a + 0; x += 1; x *= 2.5; x = i + 0; x += k; x += 1; x = xp.asarray(a)
xp.zeros(3, dtype=i.dtype) - i; xp.power(a, i)
a + [1, 2, 3]; [1.5, 2, 3] * i; xp.add([1, 2, 3], a); xp.concatenate([i, [1, 2]]); xp.stack([a[0], 1.0])
xp.asarray([a[0], 1.0]); xp.array([a[0], 1]); xp.tensor([a[0], 1.0]); xp.append(a, 1.0)
xp.where(a > 0, [1, 2, 3], a); xp.r_[a, 1.0, i]; xp.r_[0:3, a]; xp.c_[a, i]; xp.hstack([a, 1.0])
"""


def program() -> Any:
    """A function of all the lines, each of which is left out where the library refuses it."""
    lines = [line.strip() for line in LINES.replace("\n", ";").split(";") if line.strip()]
    body = "".join(f"    try: {line}\n    except Exception: pass\n" for line in lines)
    return f"def run(xp, a, b, i, k):\n    x = a\n{body}"


MODULES = {
    "array-api-strict": ("array_api_strict", ("float32", "float64")),
    "array-api-compat over torch": ("array_api_compat.torch", ("float32", "float64")),
    "dask": ("dask.array", ("float32", "float64")),
    "jax": ("jax.numpy", ("float16", "float32")),
    "ndonnx": ("ndonnx", ("float32", "float64")),
    "mlx": ("mlx.core", ("float16", "float32")),
    "numpy": ("numpy", ("float16", "float64")),
    "torch": ("torch", ("float16", "float32")),
}

OTHERWISE = {  # array-api-compat casts for PyTorch, which refuses these; that is no rule of PyTorch's
    "array-api-compat over torch": ("xp.minimum(i, 3)", "xp.tensordot(a, b, axes=1)"),
}


@pytest.mark.parametrize("name", MODULES)
def test_every_step_comes_out_as_the_librarys_system_says(name: str, tmp_path: Any) -> None:
    module, floats = MODULES[name]
    xp = pytest.importorskip(module)
    path = tmp_path / "traced_program.py"
    path.write_text(program(), encoding="utf-8")
    spec = import_module("importlib.util").spec_from_file_location("traced_program", path)
    made = import_module("importlib.util").module_from_spec(spec)
    spec.loader.exec_module(made)
    operations = 0
    cases = [*zip(floats, reversed(floats), ("int8", "uint8"), strict=True)]
    for a, b, i in cases[:1] if name == "jax" else cases:  # JAX compiles each operation
        arrays = [xp.ones(3, dtype=getattr(xp, d, d)) for d in (a, b, i, "int16")]
        run = tl.trace(made.run, xp, *arrays).run
        wrong = [
            f"{m.step.text} of {[str(run.observations[p].operand) for p in m.step.inputs]}: "
            f"{m.observation.operand.dtype}"
            for m in run.mismatches
            if m.step.text not in OTHERWISE.get(name, ())
        ]
        assert not wrong, "\n".join(wrong)
        operations += run.operations
    assert operations > 50


def test_a_librarys_own_system_is_that_of_its_own_dtypes() -> None:
    pytest.importorskip("torch")
    head = "import numpy as np, torch\nx, t = np.ones(3), torch.ones(3, dtype=torch.bfloat16)\n"
    assert followed("t + t", head)[1].systems["numpy"].partition("@")[0] == "numpy"
    pytest.importorskip("ml_dtypes")
    head = "import numpy as np, ml_dtypes\nx = np.ones(3, ml_dtypes.bfloat16)\n"
    assert followed("x + x", head)[1].systems["numpy"].partition("@")[0] == "numpy-ml-dtypes"


@pytest.mark.parametrize("library", ["mlx", "tinygrad", "numpy", "dask"])
def test_a_run_goes_by_the_release_that_is_installed(library: str) -> None:
    """MLX and tinygrad have no __version__."""
    module = pytest.importorskip(library)
    found = own_system(library, ())
    installed = metadata.version(module.__name__)
    assert library_version(library) == installed
    assert found == system_for_version(found.partition("@")[0], installed)


def test_a_scalar_of_numpys_beside_an_array_of_mlxs_counts_as_mlx_says() -> None:
    pytest.importorskip("mlx.core")
    run = followed("x * n", "import numpy as np, mlx.core as mx\nx, n = mx.ones(3), np.float64(2)\n")[1]
    *_, (step, seen) = run
    assert (step.text, str(seen.operand.dtype)) == ("x * n", "float32")
    assert not run.mismatches
    assert str(run.under("mlx").result) == "float32"  # NumPy's scalar stays one under MLX's rules alone


def test_what_pandas_computes_is_taken_as_seen() -> None:
    """No system has its rules."""
    pytest.importorskip("pandas")
    lines = "import numpy as np, pandas as pd\ni, s = pd.Index([1, 2]), pd.Series([1.5, 2.5])\n"
    run = followed("s.to_numpy() + 1", f"{lines}i.append([i]); i[[0, 1]]; s * 2; s.mean()\n")[1]
    assert not run.mismatches and not run.unfollowed_code and run.opaque >= 4
    assert [step.op for step, seen in run if step.op and seen.count][-1] == "add"


def test_an_array_of_pandas_whose_dtype_only_its_subclass_states_is_no_step() -> None:
    """`ExtensionArray.dtype` raises, and the code of the subclass must not run for us."""
    pytest.importorskip("pandas")
    subclass = "class Places(pd.api.extensions.ExtensionArray):\n    dtype, shape = 'place', (2,)\n"
    lines = f"import numpy as np, pandas as pd\n{subclass}Places(); abs(np.float32(1)); repr(Places)\n"
    run = followed("np.ones(2) + 1", lines)[1]
    assert not run.mismatches and not run.unfollowed_code
    assert any("Places" in sentence for sentence in run.summaries)


@pytest.mark.whole  # the light tests patch such a program of NumPy
def test_a_wide_data_array_of_xarray_is_patched_where_it_meets_a_narrow_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No system has its rules: what it computes is taken as seen, and each change is run."""
    pytest.importorskip("xarray")
    monkeypatch.chdir(tmp_path)
    lines = "x = xr.DataArray(np.ones(3, np.float32), dims='x')\n"
    code = f"import numpy as np, xarray as xr\n{lines}y = x * xr.DataArray([0.1, 0.2, 0.3], dims='x')\n"
    (tmp_path / "s.py").write_text(code, encoding="utf-8")
    (change,) = fix_script("s.py").kept_changes
    assert ".astype(" in change.after and "xr.float" not in change.after


def test_a_library_whose_functions_give_anothers_arrays_has_its_system_too() -> None:
    """Keras's functions give arrays of its backend."""
    pytest.importorskip("keras")
    run = followed("keras.ops.add(x, 1)", "import keras\nx = keras.ops.ones(3)\n")[1]
    assert "keras" in run.systems and not run.mismatches


def of_keras(backend: str, lines: str, show: str) -> str:
    """What a run of lines with Keras shows, in a process of its own: Keras reads its backend on import."""
    program = (
        "from followed import followed\n"
        f"run = followed({lines!r}, 'import keras, numpy\\n')[1]\n"
        f"print(run.systems['keras'], [*run.mismatches], {show})"
    )
    folders = os.pathsep.join([str(Path(tl.__file__).parents[1]), str(Path(__file__).parents[1])])
    env = {**os.environ, "PYTHONPATH": folders, "KERAS_BACKEND": backend}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    return done.stdout or done.stderr


@pytest.mark.parametrize(
    ("backend", "dtype"), one_in(3, [("jax", "float32"), ("numpy", "float32"), ("torch", "float64")], 2)
)
def test_arrays_of_keras_go_by_the_system_of_their_backend(backend: str, dtype: str) -> None:
    for library in ("keras", backend):
        pytest.importorskip(library)
    lines = "h = keras.ops.array(numpy.ones(3)); keras.ops.add(keras.ops.sqrt(h), 1)"
    shown = of_keras(backend, lines, "run.observations[-1].operand.dtype")
    assert shown == f"keras-{backend}-computed [] {dtype}\n"


def test_symbolic_tensors_of_keras_go_by_their_own_system() -> None:
    """On NumPy exp of a float64 array is float32, and that of a symbolic tensor float64."""
    pytest.importorskip("keras")
    lines = "keras.ops.exp(keras.KerasTensor((3,), 'float64')); keras.ops.exp(keras.ops.array(numpy.ones(3)))"
    shown = of_keras("numpy", lines, "[str(seen.operand.dtype) for step, seen in run if step.op == 'exp']")
    assert shown == "keras-numpy-computed [] ['float64', 'float32']\n"


def test_jax_goes_by_its_third_mode_where_that_is_set() -> None:
    jax = pytest.importorskip("jax")
    if not hasattr(jax.config, "jax_explicit_x64_dtypes"):
        pytest.skip("this JAX has two modes")
    program = (
        "from followed import followed\n"
        "head = 'import jax, jax.numpy as jnp\\n'\n"
        "head += 'jax.config.update(\"jax_explicit_x64_dtypes\", \"allow\")\\n'\n"
        "run = followed('x = jnp.ones(3, \"float64\"); x + jnp.ones(3); jnp.zeros(2) + 1', head)[1]\n"
        "print(run.systems['jax'].partition('@')[0], [*run.mismatches])"
    )
    folders = os.pathsep.join([str(Path(tl.__file__).parents[1]), str(Path(__file__).parents[1])])
    env = {**os.environ, "PYTHONPATH": folders}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert done.stdout == "jax-explicit-x64 []\n", done.stderr
