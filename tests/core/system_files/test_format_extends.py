"""Files that extend others: what is replaced, what three dots stand for, what is taken away."""
from __future__ import annotations

from pathlib import Path

import pytest
from small_files import MINE, answers

import typelattice as tl
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.system_text import FormatError


def test_a_file_extends_one_beside_it_before_one_that_comes_along(tmp_path: Path) -> None:
    (tmp_path / "numpy.toml").write_text(MINE)
    (tmp_path / "mine.toml").write_text('name = "other"\nextends = "numpy"\n')
    s = tl.system(tmp_path / "mine.toml")
    assert s.name == "other"
    assert answers(s) == answers(parse(MINE))


def test_a_file_may_extend_its_namesake_that_comes_along(tmp_path: Path) -> None:
    (tmp_path / "jax.toml").write_text('name = "jax"\nextends = "jax.toml"\ndefaults = { float = "f32" }\n')
    assert tl.system(tmp_path / "jax.toml").explain(1.5).dtype is tl.dtype("float32")


def test_a_key_replaces_the_other_whole() -> None:
    s = parse('name = "mine"\nextends = "numpy"\ndefaults = { float = "f32" }\n')
    assert s.defaults == {tl.Kind.FLOAT: tl.dtype("float32")}
    assert s.title == tl.system("numpy").title
    assert answers(s) == answers(tl.system("numpy"))


def test_dots_stand_for_the_order_of_the_other() -> None:
    s = parse('name = "mine"\nextends = "numpy"\norder = """\nb -> bf16\n...\nbf16 -> f32\n"""\n')
    numpy = tl.system("numpy")
    assert {*s.order.nodes} == {*numpy.order.nodes, tl.dtype("bfloat16")}
    assert {pair: a for pair, a in answers(s).items() if "bfloat16" not in pair} == answers(numpy)
    assert s.result_type("bfloat16", "float16") is tl.dtype("float32")


def test_dots_stand_for_all_that_was_extended_so_far(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('name = "a"\norder = "i8 -> i16"\n')
    (tmp_path / "b.toml").write_text('name = "b"\nextends = "a"\norder = "...; i16 -> i32"\n')
    (tmp_path / "c.toml").write_text('name = "c"\nextends = "b"\norder = "...; i32 -> i64"\n')
    assert [str(n) for n in tl.system(tmp_path / "c.toml").order.nodes] == ["int8", "int16", "int32", "int64"]


def test_an_extension_of_a_text_finds_those_that_come_along() -> None:
    assert parse('name = "mine"\nextends = "torch"').combine == "fold"


def test_an_empty_entry_takes_away_what_the_other_file_says(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(
        'name = "base"\norder = "i8; f32"\n[ops]\n'
        'add = { kernels = "integer" }\nabs = { kernels = "integer" }\n'
    )
    more = 'name = "more"\nextends = "base.toml"\n[ops]\n"..." = true\n'
    (tmp_path / "more.toml").write_text(more + "add = {}\n")
    found = tl.system(tmp_path / "more.toml")
    assert {*found.ops} == {"abs"}
    assert found.result_type("float32") is found.explain("float32", "float32", op="add").dtype
    (tmp_path / "more.toml").write_text(more + "square = {}\n")
    with pytest.raises(FormatError, match="square does the same as in the standard"):
        tl.system(tmp_path / "more.toml")


def test_an_empty_table_of_an_operation_empties_that_of_its_class() -> None:
    numpy = tl.system("numpy").replace(
        ops={"maths": {"computes": {"integer": "f64"}, "kernels": "all"}, "sqrt": {"computes": {}}}
    )
    assert numpy.ops["sqrt"]["computes"] == {}
    assert tl.system("numpy").replace(ops={"multiply": {"fit": {}}}).ops["multiply"]["fit"] == {}


# -- the entries of another file's table


def test_three_dots_stand_for_the_other_files_entries() -> None:
    s = parse('name = "mine"\nextends = "numpy"\n[defaults]\n"..." = true\nfloat = "f32"\n')
    assert {str(d) for d in s.defaults.values()} == {"int64", "float32", "complex128"}
    alone = parse('name = "mine"\nextends = "numpy"\n[defaults]\nfloat = "f32"\n')
    assert {str(d) for d in alone.defaults.values()} == {"float32"}


def test_an_answer_names_the_file_that_states_the_entry() -> None:
    text = 'name = "mine"\nextends = "numpy"\n[ops]\n"..." = true\nfloor = { kernels = "float" }\n'
    mine = parse(text, "mine.toml")
    assert mine.explain("int8", op="floor").rule.file == "mine.toml"
    assert mine.explain("int8", op="sqrt").rule.file == "numpy.toml"


@pytest.mark.parametrize("value", ["false", "{}", '"numpy"'])
def test_three_dots_are_true_or_not_there(value: str) -> None:
    with pytest.raises(FormatError, match=r"ops: `\"\.\.\.\" = true` stands for the entries of the file"):
        parse(f'name = "mine"\nextends = "numpy"\n[ops]\n"..." = {value}\n')


def test_three_dots_need_a_file_that_is_extended() -> None:
    with pytest.raises(
        FormatError, match=r'`"\.\.\." = true` stands for the entries of the file that `extends` names'
    ):
        parse('name = "mine"\norder = "b"\n[sets]\n"..." = true\n')
