"""Calls as people write them: functions of two time and again, masks, lengths, and questions of dtypes."""

from __future__ import annotations

from typing import Any

import pytest

import typelattice as tl

np = pytest.importorskip("numpy")


@pytest.mark.parametrize(
    "text",
    [
        "t = x.copy()\nnp.add.at(t, [0, 1], 2)\nt",
        "t = x.copy()\nnp.add.at(t, [0, 1], -1)\nt",
        "np.maximum.accumulate(x)",
        "np.subtract.accumulate(x)",
        "np.hypot.reduce(x)",
        "np.add.reduceat(x, [0, 1])",
        "t = x.copy()\nt.fill(2)\nt",
        "np.apply_along_axis(np.sum, 0, x)",
        "np.abs(x, dtype=np.float64)",
        "np.piecewise(x, [x > 1], [2, 0])",
        "np.unwrap(x)",
        "np.polyfit(x, x, 1)",
        "np.ediff1d(x)",
        "t = x[x > 1]\nt.size * x",
        "t = np.flatnonzero(x)\nt.sum() / len(t)",
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "uint16"])
def test_a_call_has_the_dtype_that_numpy_gives(text: str, dtype: str) -> None:
    *lines, last = text.splitlines()
    scope: dict[str, Any] = {"np": np, "x": np.asarray([1, 2, 3, 4], dtype)}
    exec("\n".join(lines), scope)
    given = eval(last, scope)
    program = tl.program(f"import numpy as np\n{text}", x=f"{dtype}[4]")
    assert str(program.under("numpy").dtype) == str(given.dtype)


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        ("x > 1", (None,)),
        ("~(x > 1) & (x > 2)", (None,)),
        ("np.argsort(x)", (3,)),
        ("np.asarray([0, 2])", (2,)),
    ],
)
def test_a_mask_leaves_a_length_that_values_decide(index: str, shape: tuple[int | None]) -> None:
    program = tl.program(f"import numpy as np\nx[{index}]", x="int8[3]")
    assert program.steps[-1].shape == shape


def test_a_length_that_values_decide_is_a_python_number() -> None:
    program = tl.program("import numpy as np\nt = x[x > 1]\nlen(t), t.size, t.shape[0]", x="int8[3]")
    assert [str(program.under("numpy")[i]) for i in program.results] == ["Python int"] * 3
    listed = tl.program("t = x[x > 1]\n[x for i in range(len(t))]", x="int8[3]")
    assert str(listed.under("numpy").result) == "int8"  # each item of the list


def test_a_question_about_a_dtype_is_answered_by_each_system() -> None:
    program = tl.program("y = x / 2\ny * 2.5 if y.dtype == np.float32 else y.astype('int8')", x="int32")
    assert [str(program.under(s).dtype) for s in ("numpy", "torch")] == ["int8", "float32"]
    parted = program.divergences("numpy", "torch").step_divergences
    assert [d.step.text for d in parted] == ["x / 2", "y.dtype == np.float32"]


def test_a_slice_of_several_results_gives_some_of_them() -> None:
    program = tl.program("import torch\na, b = x.unbind(0)[:2]\nb", x="int8[3,2]")
    assert program.steps[-1].shape == (2,)


def test_the_shape_of_pytorchs_indices_is_that_of_the_values() -> None:
    program = tl.program("import torch\nvalues, indices = torch.max(x, 1)\nindices", x="bool[3,2]")
    assert program.steps[-1].shape == (3,)
    assert str(program.under("torch").dtype) == "int64"


def test_mlx_has_no_divmod_of_arrays() -> None:
    with pytest.raises(tl.ProgramError, match=r"arrays of mlx have no divmod; write mx\.divmod"):
        tl.program("import mlx.core as mx\ny = mx.abs(x)\ndivmod(y, 2)", x="int8")


@pytest.mark.parametrize(
    ("library", "lines", "dtype"),
    [
        ("mlx.core", "y = x; y += 1.5", "float32"),  # in MLX the array changes its dtype, by any name
        ("mlx.core", "z = y = x; z += 1.5", "float32"),
        ("mlx.core", "y = x; y = y + 1.5", "int8"),
        ("mlx.core", "y = x; x = x + 1; y += 1.5", "int8"),
        ("jax.numpy", "y = x; y += 1.5", "int8"),  # its arrays do not change
    ],
)
def test_an_array_that_is_changed_in_place_is_changed_by_all_its_names(
    library: str, lines: str, dtype: str
) -> None:
    program = tl.program(f"import {library} as xp\n{lines}\nx", x="int8[3]")
    assert str(program.under(library.partition(".")[0]).dtype) == dtype


def test_a_copy_is_no_other_name_of_an_array() -> None:
    for copied in ("x.copy()", "np.array(x)", "x"):
        program = tl.program(f"import numpy as np\ny = {copied}\ny += 1\nx * 2", x="int8[3]")
        assert (program.steps[-1].operands[0] == 0) is (copied != "x")
