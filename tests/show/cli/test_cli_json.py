"""What commands judge, as JSON: what the words say."""
from __future__ import annotations

import json

import pytest
from command_line import said, sampled

import typelattice as tl
from typelattice.show.cli.main import main


@pytest.mark.parametrize(("argv", "keys"), [
    ("check numpy", {"system", "dtypes", "ties", "laws", "criteria", "repairs", "without_join"}),
    ("laws numpy jax", {"systems"}), ("conform c", {"library", "compared", "mismatches", "listed"}),
    ("design jep9407-0", {"proven", "completions", "written"}), ("design numpy --repair", {"repairs"}),
])  # fmt: skip
def test_what_is_judged_is_had_as_json(capsys: pytest.CaptureFixture[str], argv: str, keys: set[str]) -> None:
    assert keys <= json.loads(said(capsys, *argv.split(), "--format", "json")).keys()


def test_json_says_what_the_words_say(capsys: pytest.CaptureFixture[str]) -> None:
    laws = json.loads(said(capsys, "laws", "numpy", "--format", "json"))["systems"][0]["laws"]
    judged = tl.laws("numpy")
    held = {law.replace(" ", "_"): v.holds for law, v in judged.items()}
    assert {law: v["holds"] for law, v in laws.items()} == held
    found = json.loads(said(capsys, "design", "numpy", "--repair", "--format", "json"))["repairs"]
    assert [each["add"] for each in found] == [[["i32", "f16"]], [["i64", "f16"]]]
    assert found[0]["changed"][0] == {"operands": ["u16", "f16"], "before": "f32", "after": "f16"}
    python = json.loads(said(capsys, "laws", "python", "--dtypes", "int8", "--format", "json"))["systems"][0]
    assert "python has none of these dtypes" in python["not_judged"]


def test_a_comparison_with_mismatches_is_had_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled(monkeypatch)
    assert main(["conform", "numpy", "--system", "jax", "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert all(m["library"] != m["system"] for m in told["mismatches"])
    assert len(told["mismatches"]) > 100
