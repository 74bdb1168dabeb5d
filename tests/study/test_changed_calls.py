"""What changes from one system to another is counted over all operations, from what the libraries did."""

from __future__ import annotations

from pathlib import Path

import pytest
from kept import kept

import typelattice as tl
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.show.cli.main import main
from typelattice.study.tables.changed_calls import REFUSED_ANSWER, Changes, find_changes


@pytest.fixture(scope="module")
def nep50() -> Changes:
    """From NumPy 1 to NumPy 2."""
    return find_changes(tl.system("numpy1"), tl.system("numpy"))


@pytest.fixture(scope="module")
def none() -> Changes:
    """From NumPy 2 to itself."""
    return find_changes(tl.system("numpy"), tl.system("numpy"))


def test_the_best_known_changes_of_nep_50_are_there(nep50: Changes) -> None:
    found = {
        change.operands: (change.old_answer, change.new_answer)
        for change in nep50.changes_by_operation["add"]
    }
    assert found["float32:0d", "float"] == ("float64", "float32")
    assert found["uint8", "300"] == ("uint16", REFUSED_ANSWER)


def test_every_change_is_what_both_libraries_answered(nep50: Changes) -> None:
    assert nep50.is_recorded
    one, two = kept("numpy1"), kept("numpy")
    for op, found in nep50.changes_by_operation.items():
        for change in found[::50]:
            answers = [r.require_answer(op, *change.operands) for r in (one, two)]
            assert [REFUSED_ANSWER if a.startswith("!") else a for a in answers] == [
                change.old_answer,
                change.new_answer,
            ]
            assert answers[0] != answers[1]


def test_a_system_changes_nothing_beside_itself(none: Changes) -> None:
    assert not none.changes_by_operation and sum(none.call_counts.values()) > 20_000
    assert str(none).startswith("0 of ")


def test_without_a_recording_the_rule_answers_what_no_library_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\ntitle = "T"\norder = "i8 -> i16 -> i32 -> f32"\n')
    numpy, mine = tl.system("numpy"), tl.system(path)
    found = find_changes(numpy, mine)
    assert not found.is_recorded
    for change in found.changes_by_operation["add"]:
        p = numpy.explain(*change.operands, op="add")
        o = find_recorded_answer(p)
        assert change.old_answer == str((o.dtype if o else p.dtype) or REFUSED_ANSWER)
        assert change.new_answer == str(mine.explain(*change.operands, op="add").dtype or REFUSED_ANSWER)
    with pytest.raises(tl.DTypeError, match="jax and mine have no dtype in common"):
        path.write_text('name = "mine"\ntitle = "T"\norder = "c32"\n')
        find_changes(tl.system("jax"), tl.system(path))


def test_a_system_that_is_of_no_library_is_named_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\norder = "i8 -> i16"\n')
    assert main(["diff", "jax", str(path), "--op", "all"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == f"all operations: jax ({tl.system('jax').library}), then mine"


def test_the_command_counts_by_operation(nep50: Changes, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "numpy1", "numpy", "--op", "all"]) == 0
    shown = capsys.readouterr().out
    assert str(nep50) in " ".join(shown.split())
    first = max(nep50.changes_by_operation, key=lambda op: len(nep50.changes_by_operation[op]))
    assert f"\n {first} " in shown and f"{len(nep50.changes_by_operation[first]):,}" in shown


def test_options_that_choose_operands_do_not_go_with_all_operations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["diff", "numpy1", "numpy", "--op", "all", "--tier", "0d"]) == 2
    assert "--op all counts calls of all operands; leave out --dtypes" in capsys.readouterr().err


def test_systems_that_agree_on_every_call_are_said_to_in_a_line(
    none: Changes, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "numpy", "numpy", "--op", "all"]) == 0
    said = f"{none}: calls that both libraries were asked\n"
    assert capsys.readouterr().out.startswith(said)
