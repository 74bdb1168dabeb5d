"""All ways to ask a system agree, and a way that lies is found with a program of few lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import refused
from random_systems import random_system
from samples import one_in

import typelattice as tl
from typelattice.conformance.agreement import agree as agreement
from typelattice.conformance.agreement.agree import WAYS, agree
from typelattice.conformance.agreement.random_programs import RandomProgram, random_programs
from typelattice.conformance.agreement.way import Answers, AskedProgram
from typelattice.conformance.agreement.ways import arrays, emitted
from typelattice.conformance.agreement.ways.engine import Explanation, TableOfSystem
from typelattice.core.engine.system import System
from typelattice.show.cli.main import main

EXAMPLE = Path(tl.__file__).parents[2] / "examples/systems/compiler.toml"
BY_NAME = {way.name.partition(" ")[0]: way for way in WAYS}
LIGHT = ("explanation", "table", "namespace", "graph", "python")


def differing(system: System, count: int, names: Sequence[str], seed: int = 0) -> list[str]:
    found = [*agree(system, count, seed, [BY_NAME[name] for name in names])]
    assert all(result.missing or result.failure or result.step_count for result in found)
    return [str(each) for result in found for each in result.differences]


SHIPPED = ("jax", "numpy", "torch", "tensorflow", "max", "mlx")


@pytest.mark.parametrize(  # to emit code of all operations takes longest
    ("name", "ways"), one_in(5, [("jax", LIGHT[:-1]), *((name, LIGHT) for name in SHIPPED)])
)
def test_ways_agree_under_a_shipped_system(
    name: str, ways: Sequence[str], pytestconfig: pytest.Config
) -> None:
    pytest.importorskip("ml_dtypes")
    count = 2 * int(pytestconfig.getoption("programs"))
    assert differing(tl.system(name), count, ways) == []


def test_ways_agree_under_the_example_of_a_compiler() -> None:
    pytest.importorskip("ml_dtypes")
    system = tl.system(EXAMPLE)
    assert len(system.dtypes) == 17
    assert len(system.custom_operations) == 4
    assert differing(system, 12, LIGHT) == []
    programs = [str(p) for p in random_programs(system, 40, 0, 8)]
    assert all(any(f"{name}(" in p for p in programs) for name in system.custom_operations)


def test_ways_agree_under_random_systems(pytestconfig: pytest.Config) -> None:
    for seed in range(pytestconfig.getoption("systems")):
        assert differing(random_system(seed), 5, LIGHT, seed) == []


@pytest.mark.parametrize(
    ("seed", "draw"),
    [
        (1, 1),  # replaces answers: an array cast to its own dtype keeps it
        (11, 11),  # replaces answers: so does `ones_like`
        (28, 28),  # `+=` joins other pairs than `+`
        (93, 93),  # accepts operands only: a graph computes in another dtype
        (43, 1043),  # `+=` gives another dtype than `+`, and a graph has the function with no rules
        (93, 770093),  # powers of int4 give floats, by no rule
        (158, 1158),  # no default integer: a rule gives the dtype of indices
        (191, 1191),  # products out of range, whose integers no rule defines
    ],
)
def test_arrays_and_graphs_agree_under_odd_systems(seed: int, draw: int) -> None:
    pytest.importorskip("ml_dtypes")
    assert differing(random_system(seed), 20, ("namespace", "graph"), draw) == []


def test_code_agrees_where_only_numbers_of_an_operation_have_no_table() -> None:
    """By this system's `**`, two Python numbers give float64, which no operand has."""
    assert differing(random_system(127), 20, ("python",), 127) == []


class Liar(TableOfSystem):
    """A table that has bool for every second sum of arrays."""

    name = "liar"

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        return [
            [
                "bool" if p is not None and p.op in ("add", "+") and found is not None else found
                for found, p in zip(answers, map(asked.promotions().get, range(len(answers))), strict=True)
            ]
            for asked, answers in zip(programs, super().ask(system, programs), strict=True)
        ]


def test_a_way_that_lies_is_found_with_few_lines() -> None:
    (result,) = agree(tl.system("jep9407-3"), 60, ways=[Liar()])
    assert result.difference_count
    for difference in result.differences:
        assert len(difference.program.lines) <= 2  # the second if it uses the first
        assert difference.found == "bool" and difference.expected != "bool"
        assert "+" in difference.step or "add" in difference.step


def test_a_mistake_in_emitted_code_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = emitted.emit_files

    def wrong(*given: object, **options: object) -> dict[str, str]:
        files = right(*given, **options)  # type: ignore[arg-type]
        code = files["jep9407_3_dtypes.py"]
        files["jep9407_3_dtypes.py"] = re.sub(r"\d+(?=,.*# int(16|32)$)", "1", code, flags=re.MULTILINE)
        return files

    monkeypatch.setattr(emitted, "emit_files", wrong)
    (result,) = agree(tl.system("jep9407-3"), 12, ways=[BY_NAME["python"]])
    assert result.differences


def test_other_values_in_a_graph_are_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """A way that clamps where the namespace wraps has the same dtypes."""
    pytest.importorskip("ml_dtypes")
    right = arrays.TypedGraph.compute

    def wrong(way: Any, system: System, program: tl.Program) -> Sequence[str]:
        plain = system.replace(casts={"float -> integer": "wrap"})
        way._rules = tl.namespace(plain, pytest.importorskip("numpy"))
        return right(way, system, program)

    monkeypatch.setattr(arrays.TypedGraph, "compute", wrong)
    (result,) = agree(tl.system(EXAMPLE), 100, ways=[BY_NAME["graph"]])
    assert result.differences
    assert all("with other values than the namespace" in each.found for each in result.differences)


def test_a_step_that_cannot_be_computed_leaves_out_no_other() -> None:
    lines = ("t0 = xp.asarray([1, 2**40, 3])", "t1 = a + a", "t2 = quantize(a)", "t3 = t2 * t2")
    program = RandomProgram(tl.system(EXAMPLE), lines, (("a", "float32[3,3]"),))
    asked = AskedProgram(program.system, program.build())
    (found,) = BY_NAME["namespace"].ask(program.system, [asked])
    texts = [step.text for step in asked.program.steps]
    answers = {texts[i]: found[i] for i in asked.asked_steps}
    assert answers["a + a"] == "float32" and answers["t2 * t2"] == "int8"
    reasons = {texts[i]: reason for i, reason in asked.reasons.items()}
    assert "is out of range" in reasons["xp.asarray([1, 2**40, 3])"]
    assert reasons["quantize(a)"] == "the file's own operations"


def test_a_stated_dtype_is_refused_as_the_rules_refuse_it() -> None:
    np = pytest.importorskip("numpy")
    system = tl.system(EXAMPLE)
    xp = tl.namespace(system, np, operations={})
    x = np.asarray([300.5, -300.5, 2.5], "float32")
    for source, expected in (("sum(x, dtype=int8)", 1), ("asarray(x, dtype=int8)", [127, -128, 2])):
        p = tl.program(source, x="float32[3]")
        graph = p.explicit(system).run(xp, x=x)
        assert np.asarray(p.run(xp, x=x).bare).tolist() == np.asarray(graph.bare).tolist() == expected
    assert np.asarray(xp.asarray(x, dtype=xp.int8).bare).tolist() == [127, -128, 2]
    refused_by_rules = tl.program("prod(x, dtype=int4)", x="float32[3]")
    assert refused_by_rules.under(system)[-1].is_refused
    with pytest.raises(tl.TypelatticeError, match="float32 is not cast to int4 under compiler: it needs"):
        refused_by_rules.run(xp, x=x)


def test_programs_have_refusals_casts_and_scalars() -> None:
    texts = [str(p) for p in random_programs(tl.system("torch"), 60, 1, 8)]
    asked = [AskedProgram(p.system, p.build()) for p in random_programs(tl.system("torch"), 60, 1, 8)]
    assert any("astype" in text for text in texts) and any(" 2.5" in text for text in texts)
    assert sum(any(o.operand is None for o in each.replay) for each in asked) > 5
    assert texts == [str(p) for p in random_programs(tl.system("torch"), 60, 1, 8)]


def test_the_command_names_ways_that_are_missing_and_ends_with_a_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("agree", "jep9407-3", "--programs", "3", "--ways", "explanation,rust")
    monkeypatch.setattr(type(BY_NAME["rust"]), "missing", "apt-get install rustc")
    assert main(line) == 0
    shown = capsys.readouterr().out
    assert "explanation: " in shown and ", none differs\n" in shown
    assert "rust: not installed, not asked: apt-get install rustc\n" in shown
    monkeypatch.setattr(Explanation, "ask", Liar().ask)
    assert main(("agree", "jep9407-3", "--programs", "60", "--ways", "explanation")) == 1
    assert "is bool, and " in capsys.readouterr().out
    assert "no way 'tabel' (did you mean table?); these are" in refused(capsys, *line[:-1], "tabel")
    assert "unknown system 'jxa'" in refused(capsys, "agree", "jxa")
    assert agreement.STEPS > 3
