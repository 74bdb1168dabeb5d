"""Consensus, the page for those who write the standard, and the audit by interval."""
from __future__ import annotations

from pathlib import Path

import pytest

import typelattice as tl
from typelattice.show.cli.main import main
from typelattice.study.tables.consensus import find_contradicted, find_undefined
from typelattice.study.tables.differing_integers import find_value_changes

ROOT = Path(__file__).parents[2]
FOUR = ("numpy", "jax", "torch", "tensorflow-all")


def test_the_sorts_of_pairs_are_told_apart() -> None:
    found = tl.consensus("numpy", "jax", "torch")
    assert found.by_answer("int8", "uint8") == {"int16": ("numpy", "jax", "torch")}
    assert found.classify("int64", "float32") == "contested"
    assert found.by_answer("uint16", "int8") == {"int32": ("numpy", "jax"), "-": ("torch",)}
    assert sum(len(found.pairs(sort)) for sort in ("agreed", "contested", "refused")) == len(found.answers)


def test_each_answer_is_the_systems_own() -> None:
    found = tl.consensus("numpy", "mlx", tier="0d", op="add")
    for (a, b), answers in found.answers.items():
        assert [p.dtype for p in answers] == [
            tl.system(p.system.name).explain(a, b, op="add").dtype for p in answers
        ]


def test_agreement_beyond_the_standard_is_58_cells() -> None:
    pairs = find_undefined(tl.system("array-api"), tl.consensus(*FOUR))
    assert ("int8", "float32") in pairs
    assert 2 * len(pairs) == 58


def test_mlx_contradicts_the_standard_in_two_cells() -> None:
    broken = find_contradicted(tl.system("array-api"), tl.system("mlx"))
    assert {tuple(sorted(map(str, p.operands))) for p, _ in broken} == {("complex64", "float64")}
    assert len(broken) == 2


def test_a_dtype_of_a_file_goes_by_its_name(tmp_path: Path) -> None:
    one, other, third = (tmp_path / f"{name}.toml" for name in ("one", "other", "third"))
    facts = 'kind = "float", bits = 8, max = {}, values = "unknown"'
    for path, most, up in ((one, 1e6, "f32"), (other, 1e6, "f64"), (third, 2e6, "f32")):
        dtypes = f"[dtypes]\nposit8 = {{ {facts.format(most)} }}"
        path.write_text(
            f'name = "{path.stem}"\norder = "posit8 -> {up}; {"f32; " * (up == "f64")}i8"\n{dtypes}'
        )
    found = tl.consensus(one, other, dtypes=["posit8", "float32", "int8"])
    assert found.by_answer("posit8", "float32") == {"float32": ("one",), "-": ("other",)}
    assert tl.consensus("numpy", one, dtypes=["posit8"]).by_answer("posit8", "posit8") == {
        "-": ("numpy",),
        "posit8": ("one",),
    }
    assert "posit8" in str(found)
    assert ("posit8", "float32") in tl.diff("numpy", one, dtypes=["posit8", "float32"]).differing
    with pytest.raises(
        tl.DTypeError, match="one and third mean different dtypes by 'posit8'; give one of them another name"
    ):
        tl.consensus(one, third, dtypes=["posit8"])


def test_a_consensus_needs_two_systems() -> None:
    with pytest.raises(tl.DTypeError, match="two systems"):
        tl.consensus("numpy")


def test_value_changes_name_every_interval_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tl.system("numpy1"), tl.system("numpy")
    parts = {(p.dtype, p.least, p.greatest): (p.old_dtype, p.new_dtype) for p in find_value_changes(one, two)}
    for value in (-(2**63), -129, -128, -1, 0, 1, 255, 256, 65536, 2**31, 2**63, 2**64 - 1):
        for d in ("uint8", "int8", "int64", "float16", "bool"):
            answers = tuple(s.explain(d, value, op="add").dtype for s in (one, two))
            inside = [ab for (dt, low, high), ab in parts.items() if str(dt) == d and low <= value <= high]
            assert inside == ([answers] if answers[0] is not answers[1] else [])
    assert main(["diff", "numpy1", "numpy", "--dtypes", "uint8"]) == 0
    assert "uint8 with 256 to 2**16-1: uint16 -> refused" in capsys.readouterr().out
