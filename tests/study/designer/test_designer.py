"""What the designer gives: files that are systems, counts, plain data, what the command prints."""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from small_orders import DESIGNS, partial, split

import typelattice as tl
from typelattice.show.cli.main import main
from typelattice.study.designer import design, find_repairs
from typelattice.study.designer.pareto_front import place_on_front
from typelattice.study.laws.jep9407_criteria import criteria


@pytest.mark.parametrize("name", ["jep9407-0", "numpy", "jax", "array-api", DESIGNS / "jax-nodes.toml"])
def test_completions_are_files_that_check_accepts(
    name: str | Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = design(name, limit=2)
    for c in found:
        assert not split(c.system.order)
        assert c.counts["lattice"] == 0
        path = tmp_path / f"{c.system.name}.toml"
        path.write_text(c.text, encoding="utf-8")
        assert main(["check", str(path)]) == 0
        again = tl.system(path)
        assert all({*again.order.bounds(n)} == {*c.system.order.bounds(n)} for n in again.order.nodes)
        assert re.search(r"(?m)^no join +0 of ", capsys.readouterr().out)


def test_counts_are_the_criteria_of_the_system() -> None:
    """Of arrays; the criteria count pairs of a system, the designer those of an order."""
    same = {"lattice": "refused", "overflow": "overflow", "magnitude": "magnitude", "precision": "precision"}
    same |= {"width": "wider", "width64": "64 bits"}
    arrays = partial(
        "u8 -> u16 -> u32 -> u64; i8 -> i16 -> i32 -> i64; u8 -> i16; u16 -> i32; u32 -> i64; "
        "f16 -> f32 -> f64"
    )
    for costs in (["width", "precision"], ["precision", "width"]):
        c = design(arrays, costs=costs)[0]
        counts = criteria(c.system).counts
        assert {word: c.counts[word] for word in same} == {word: counts[name] for word, name in same.items()}


def test_order_and_system_count_alike() -> None:
    """A completion, asked for its answers as any system is, counts what the designer says."""
    for c in design("jep9407-0", costs=["width", "covers"], limit=3):
        counts = place_on_front(c.system, "jep9407-0").counts
        assert {"lattice", "precision", "width"} <= counts.keys()
        assert counts == {word: c.counts[word] for word in counts}


def test_values_give_plain_data() -> None:
    found, fixed = design("jep9407-0"), find_repairs("numpy")
    assert json.loads(tl.render(found, "json")).items() >= found.data().items()
    assert found.data()["completions"][0]["covers"] == [["u64", "f*"], ["i64", "f*"]]  # type: ignore[index]
    assert json.loads(tl.render(fixed, "json")).items() >= fixed.data().items()
    added: Any = fixed.data()["repairs"]
    assert [r["add"] for r in added] == [[["i32", "f16"]], [["i64", "f16"]]]


def test_the_command_shows_completions_and_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["design", "jep9407-0", "-o", str(tmp_path)]) == 0
    assert "u64 -> f*; i64 -> f*" in capsys.readouterr().out
    written = tl.system(tmp_path / "jep9407-0-complete.toml")
    assert written.result_type("int64", "float16") is tl.dtype("float16")


def test_the_command_shows_repairs_where_there_is_something_to_repair(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["design", "numpy", "--repair"]) == 0
    assert "add i32 -> f16" in capsys.readouterr().out
    assert main(["design", "jax", "--repair"]) == 0
    assert "nothing to repair" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("--rules lattice,kind,overflow", "keeps lattice with kind with overflow"),
        ("--at-most width", "--at-most 'width'; write WORD=N with one of lattice, "),
        ("--at-most widht=3", "--at-most 'widht=3' (did you mean width or width64?); write WORD=N"),
        ("--costs wide", "unknown word 'wide' among the costs (did you mean width?)"),
        ("--repair --costs width", "--repair takes --rules only"),
    ],
)
def test_what_the_command_cannot_design_is_one_line(
    wrong: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["design", "jep9407-0", *wrong.split()]) == 2
    told = capsys.readouterr().err
    assert why in told
    assert told.count("\n") == 1
