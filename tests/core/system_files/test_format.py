"""What a file may say, how it may be written, and what is refused since nothing would use it."""
from __future__ import annotations

from pathlib import Path

import pytest
from small_files import MINE, answers

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPE_BY_CODE, weak_node
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.system_definition import parse_definition as read_spec
from typelattice.core.system_files.system_text import FormatError, SystemText


def test_a_file_of_two_keys_is_enough() -> None:
    s = parse('name = "a"\norder = "i8"')
    assert (s.title, s.source, s.library) == ("", "", "")
    assert (s.combine, s.tiers, s.first_is_array, s.weak_join) == ("join", ("array",), False, "kind")
    assert not (
        s.ties
        or s.overrides
        or s.refusals
        or s.defaults
        or s.before
        or s.after
        or s.fit
        or s.ops
        or s.custom_dtypes
    )
    assert s.result_type("int8", "int8") is tl.dtype("int8")


def test_comments_blank_lines_and_either_line_end_do_not_count() -> None:
    plain = parse('name = "a"\norder = "i8 -> i16; u8 -> i16"')
    assert answers(
        parse('name = "a"\norder = """\n\n# first\ni8 -> i16  # -> f32\n\n  ;; u8 -> i16;\n"""')
    ) == answers(plain)
    assert answers(parse('name = "a"\r\norder = """\r\ni8 -> i16\r\nu8 -> i16\r\n"""\r\n')) == answers(
        plain
    )
    assert answers(parse('name = "a"\norder = "i8 -> i16\\nu8 -> i16"')) == answers(plain)


def test_a_file_may_start_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "bom.toml").write_text(MINE, encoding="utf-8-sig")
    assert answers(tl.system(tmp_path / "bom.toml")) == answers(parse(MINE))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('name = "a"\norder = """\ni8 -> i16\n\nu8 -> i16"""', [3, 5]),
        ('name = "a"\r\norder = """\r\ni8 -> i16\r\nu8 -> i16"""', [3, 4]),
        ('name = "a"\norder = """i8 -> i16\nu8 -> i16"""', [2, 3]),
        ("order = '''\ni8 -> i16\nu8 -> i16'''\nname = 'a'", [2, 3]),
        ('name = "a"\norder = "i8 -> i16\\nu8 -> i16"', [2, 2]),
        ('name = "a"\norder = """\\\n  i8 \\\n -> i16\n\\\n u8 -> i16"""', [3, 6]),
        ('title = """u8 -> i16"""\nname = "a"\n"order" = """\ni8 -> i16\nu8 -> i16"""', [4, 5]),
        ('title = "order = i8"\n# order = 1\nname = "a"\n"ord\\u0065r" = "i8 -> i16; u8 -> i16"', [4, 4]),
    ],
)
def test_a_statement_of_the_order_stands_on_its_own_line(text: str, lines: list[int]) -> None:
    assert [of.line_of_row(row) for (of, row), _ in read_spec(SystemText("a", text)).order] == lines
    assert answers(parse(text)) == answers(parse('name = "a"\norder = "i8 -> i16; u8 -> i16"'))


def test_codes_and_names_mean_the_same() -> None:
    names = parse('name = "a"\norder = "uint8, int8 -> int16 -> float32 -> complex64"')
    assert answers(names) == answers(parse(MINE))


def test_weak_nodes_are_one_object_each() -> None:
    s = parse('name = "a"\norder = "i* -> i32*"')
    low, high = s.order.nodes
    assert low is weak_node(tl.Kind.SIGNED)
    assert high is weak_node(tl.Kind.SIGNED, tl.dtype("int32"))


# -- sets


def test_a_set_of_operations_means_the_same_as_its_members() -> None:
    head = 'name = "a"\norder = "b -> i8 -> i32 -> f16 -> f32"\n'
    named = parse(
        head + '[operation-sets]\nfloat_functions = """\nmaths,\nmean"""\n[ops]\n'
        '"float_functions, median".computes = { integer = "f32" }'
    )
    listed = parse(head + '[ops]\n"maths, mean, median".computes = { integer = "f32" }')
    for op in ("sqrt", "mean", "median", "sum"):
        for dtype in ("int8", "float16"):
            assert named.explain(dtype, op=op).dtype == listed.explain(dtype, op=op).dtype
    rule = named.explain("int8", op="sqrt").rule
    assert rule and rule.lines == (8,)


def test_sets_may_hold_sets_and_stand_wherever_a_list_may() -> None:
    s = parse(
        'name = "a"\ntiers = ["array", "scalar"]\norder = "b -> ints -> f32"\n'
        'ties = {}\n[sets]\nints = "small, i16"\nsmall = "u8, i8"\n'
        '[refusals]\n"ints" = "no two"\n"b + small" = "no truth"\n"i16 + f*" = "no fractions"\n'
    )  # fmt: skip
    assert len(s.refusals) == 3 + 2 + 1
    assert s.explain("uint8", "int16").reason == "no two"
    assert s.explain("int16", 1.5).reason == "no fractions"


def test_a_set_may_be_named_after_it_is_used() -> None:
    s = parse('name = "a"\nsets = { first = "second, u8", second = "i8" }\norder = "first -> i16"')
    assert s.order.le(DTYPE_BY_CODE["i8"], DTYPE_BY_CODE["i16"])


def test_an_unused_set_is_checked_alike() -> None:
    with pytest.raises(FormatError, match="unknown dtype 'i9'"):
        parse(f'{MINE}sets = {{ unused = "i9" }}')


# -- what nothing uses


def test_what_is_inherited_may_have_no_use_in_a_variant() -> None:
    base = (
        'order = "b -> few -> i16 -> f32"\ndefaults = { uint = "u8" }\n[sets]\nfew = "u8, i8"\n'
        '[ops]\narg-extreme = { gives = "default uint" }\nadd = { loops = "f32" }\n'
        '[stand-in]\nbeside = "u8"\nint = "u8"'
    )
    s = parse(f'name = "a"\n{base}')
    variant = s.replace(order="b -> u8, i8 -> i16 -> f32", ops={})
    assert (variant.ops, variant.stand_in) == ({}, s.stand_in)
    with pytest.raises(FormatError, match="few is used nowhere"):
        s.replace(order="b -> u8, i8 -> i16 -> f32", sets={"few": "u8"})
