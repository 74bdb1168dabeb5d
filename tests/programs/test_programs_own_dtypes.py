"""Programs of dtypes that a file of one's own defines."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from expressions import answers, whole

import typelattice as tl
from typelattice.show.cli.main import main

MINE = """
name = "mine"
order = "f16, posit8 -> f32; f* -> f16, posit8; i8 -> f*"
tiers = ["array", "scalar"]
defaults = { float = "f32" }
[dtypes]
posit8 = { kind = "float", bits = 8, max = 64.0, precision = 5, min_exponent = 0, specials = "szn" }
"""


def test_names_may_be_bound_to_dtypes_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MINE, encoding="utf-8")
    assert whole("x + y", path, x="posit8", y="float16") == "float32"
    assert whole("x.astype(posit8) + x", str(path), x="float16") == "float32"
    with pytest.raises(tl.DTypeError, match="unknown dtype 'posit8'"):
        tl.program("x + x", x="posit8").under("numpy")
    with pytest.raises(tl.DTypeError, match=r"unknown dtype 'flout32' [(]did you mean float32\?[)]"):
        tl.program("x.astype(flout32)", x="int8").under("numpy")


def test_a_weak_result_stays_weak(tmp_path: Path) -> None:
    """Also where Python scalars are a tier of their own: an operand is what explain answered."""
    path = tmp_path / "mine.toml"
    path.write_text(MINE, encoding="utf-8")
    assert tl.system(path).explain("int8", 2.0).weak
    assert answers("x*2.0 + y", path, x="int8", y="posit8") == {
        "x*2.0": "float32*",
        "x*2.0 + y": "posit8",
    }


def test_two_files_may_mean_different_dtypes_by_one_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = MINE.replace("posit8 -> f32", "posit8 -> f32, f64").replace("max = 64.0", "max = 32.0")
    for name, text in (
        ("a", MINE),
        ("b", wide.replace("f32, f64; f*", "f64; f*").replace('"f32" }', '"f64" }')),
    ):
        (tmp_path / f"{name}.toml").write_text(text.replace('"mine"', f'"{name}"'), encoding="utf-8")
    files = [x for name in "ab" for x in ("--system", str(tmp_path / f"{name}.toml"))]
    assert main(["explain", "posit8", "--format", "json", *files]) == 0
    given = json.loads(capsys.readouterr().out)["answers"]
    assert [(a["system"], a["dtype"], a["reason"]) for a in given] == [
        ("a", "posit8", None),
        ("b", "posit8", None),
    ]
    assert main(["explain", "x + x", "x=posit8", "--format", "json", *files]) == 0
    assert [a["steps"][-1]["answer"] for a in json.loads(capsys.readouterr().out)["answers"]] == [
        "posit8",
        "posit8",
    ]
