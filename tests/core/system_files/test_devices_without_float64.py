"""Files for devices without float64: their answers are the library's, except those that need float64."""
from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.study.designer import find_repairs

FILES = Path(__file__).parents[3] / "examples" / "systems"
WIDE = {tl.dtype("float64"), tl.dtype("complex128")}


@pytest.mark.parametrize(
    ("file", "name", "ops"),
    [("torch-mps", "torch", (None, "sum", "sqrt", "divide")), ("array-api-float32", "array-api", (None,))],
)
def test_a_device_without_float64_answers_as_others_do(
    file: str, name: str, ops: tuple[str | None, ...]
) -> None:
    device, whole = tl.system(str(FILES / f"{file}.toml")), tl.system(name)
    assert {*whole.dtypes} - {*device.dtypes} == WIDE
    assert "from documents" in device.title
    for op in ops:
        count = 1 if op in ("sum", "mean", "sqrt") else 2
        for operands in product(device.dtypes, repeat=count):
            found = whole.explain(*operands, op=op).dtype
            assert device.explain(*operands, op=op).dtype is (None if found in WIDE else found), operands


def test_operations_that_compute_in_float64_are_refused() -> None:
    device = tl.system(str(FILES / "torch-mps.toml"))
    assert device.explain("float32", "float32", op="float_power").dtype is None
    assert device.explain("int8", op="_weighted_count").dtype is None


def test_a_file_that_inherits_dtypes_it_lacks_can_be_repaired(tmp_path: Path) -> None:
    """The repaired file states what it inherited, and leaves out entries with other dtypes."""
    base = 'name = "base"\norder = "u8, i8 -> i16, f16 -> f32 -> f64"\n[ops]\n'
    base += '"mean, divide".computes = { integer = "f64" }\nsum = { kernels = "integer" }\n'
    (tmp_path / "base.toml").write_text(base, encoding="utf-8")
    short = 'name = "short"\nextends = "base.toml"\norder = "u8, i8 -> i16, f16 -> f32"\n'
    (tmp_path / "short.toml").write_text(short, encoding="utf-8")
    (found, *_) = find_repairs(tl.system(str(tmp_path / "short.toml")))
    assert "mean" not in found.text
    assert "sum" in found.text
