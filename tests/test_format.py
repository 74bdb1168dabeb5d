"""System files as a product: what a file may say, and what it then means."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import tomllib
from itertools import product
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.facts.dtypes import CODES, weak
from typelattice.files import text as source
from typelattice.files.reader import build, parse
from typelattice.files.spec import KEYS, read
from typelattice.files.spec import spec as read_spec
from typelattice.files.text import FormatError, Text
from typelattice.files.writer import system_file

FOLDER = Path(source.FOLDER)

POSITS = """
name     = "posits"
tiers    = ["array", "0d", "scalar"]
defaults = { int = "i16", float = "posit32" }
order = '''
u8, i8 -> i16 -> posit16 -> posit32   # posits hold the shorter integers
'''
sets = { posits = "posit16, p32" }
fit  = { float = "raise" }

[ops]
divide = { takes = "all", computes = { int = "p32" } }
sqrt   = { takes = "float", loops = "posits", own = "posit16" }

[dtypes.posit16]
kind = "float"
bits = 16
max  = 72057594037927936.0
values   = "unknown"
specials = "szn"

[dtypes.posit32]
kind = "float"
code = "p32"
bits = 32
max  = 1.329227995784916e36
values   = "unknown"
specials = "szn"
"""
MINE = 'name = "mine"\norder = "u8, i8 -> i16 -> f32 -> c64"\n'


def answers(s: tl.System) -> dict[tuple[str, str], str]:
    """What a system says of every two of its dtypes."""
    dtypes = [n for n in s.order.nodes if isinstance(n, tl.DType)]
    return {(str(a), str(b)): str(s.explain(a, b).dtype) for a, b in product(dtypes, repeat=2)}


# -- files that come with typelattice


@pytest.mark.parametrize("name", tl.systems())
def test_every_file_states_a_rule_in_at_most_80_lines(name: str) -> None:
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    s = tl.system(name)
    assert (s.name, repr(s)) == (name, f"<system {name}>")
    assert s.title
    assert s.source.startswith("https://") or "extends" in text


@pytest.mark.parametrize("name", tl.systems())
def test_every_file_is_loaded_once_by_name_and_anew_by_path(name: str) -> None:
    assert tl.system(name) is tl.system(name)
    by_path = tl.system(FOLDER / f"{name}.toml")
    assert by_path is not tl.system(name)
    assert tl.system(str(FOLDER / f"{name}.toml")).name == name
    assert tl.system(by_path) is by_path
    assert answers(by_path) == answers(tl.system(name))


@pytest.mark.parametrize("name", tl.systems())
def test_no_order_restates_what_is_implied(name: str) -> None:
    order = tl.system(name).order
    for a in order.nodes:
        for b in order.covers(a):
            between = [n for n in order.nodes if n not in (a, b) and order.le(a, n) and order.le(n, b)]
            assert not between, f"{a} -> {b} is implied by way of {between[0]}"


@pytest.mark.parametrize("name", tl.systems())
def test_every_key_that_a_file_gives_is_one_that_it_needs(name: str) -> None:
    """No key that says what the file it extends, or the default, says already."""
    values = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    base = read(FOLDER / f"{values['extends']}.toml").values if "extends" in values else {}
    about = ("title", "source", "library")
    assert [
        key for key, value in values.items() if key not in about and value == base.get(key, KEYS[key]())
    ] == []


def test_systems_are_sorted_and_each_has_a_file() -> None:
    names = {path.stem for path in FOLDER.glob("*.toml")}
    assert tl.systems() == tuple(sorted(name for name in names if "@" not in name))
    assert names <= {*tl.systems(versions=True)}


# -- what a file may say


@pytest.mark.parametrize("name", tl.systems(versions=True))
def test_what_a_shipped_file_says_of_operations_has_an_effect(name: str) -> None:
    """Whoever asks a shipped system reads the entries that are asked for only; here are all of them."""
    shipped = tl.system(name)
    whole = build(shipped.origin.spec)
    assert {op: {**said} for op, said in shipped.ops.items()} == {
        op: {**said} for op, said in whole.ops.items()
    }


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_a_shipped_file_is_as_good_as_anyones(path: Path) -> None:
    """A user who copies it, to change a rule, reads it whole and by its path."""
    assert tl.system(path).name == path.stem


def test_an_empty_entry_takes_away_what_the_other_file_says(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(
        'name = "base"\norder = "i8; f32"\n[ops]\nadd = { takes = "int" }\nabs = { takes = "int" }\n'
    )
    more = 'name = "more"\nextends = "base.toml"\n[ops]\n"..." = true\n'
    (tmp_path / "more.toml").write_text(more + "add = {}\n")
    found = tl.system(tmp_path / "more.toml")
    assert {*found.ops} == {"abs"}
    assert found.result_type("float32") is found.explain("float32", "float32", op="add").dtype
    (tmp_path / "more.toml").write_text(more + "square = {}\n")
    with pytest.raises(FormatError, match="square is said to do nothing else than the standard"):
        tl.system(tmp_path / "more.toml")


def test_an_idle_entry_is_refused_in_what_a_shipped_file_says() -> None:
    spec = tl.system("numpy").origin.spec
    idle = read_spec(Text("numpy.toml", spec.main.text + 'square = { first = true }\n'))
    with pytest.raises(FormatError, match="first says nothing of one operand"):
        build(idle)


def test_a_file_of_two_keys_is_enough() -> None:
    s = parse('name = "a"\norder = "i8"')
    assert (s.title, s.source, s.library) == ("", "", "")
    assert (s.combine, s.tiers, s.first, s.weak) == ("join", ("array",), False, "kind")
    assert not (
        s.ties
        or s.overrides
        or s.refusals
        or s.defaults
        or s.before
        or s.after
        or s.fit
        or s.ops
        or s.own_dtypes
    )
    assert s.result_type("int8", "int8") is tl.dtype("int8")


def test_comments_blank_lines_and_either_line_end_do_not_count() -> None:
    plain = parse('name = "a"\norder = "i8 -> i16; u8 -> i16"')
    assert answers(
        parse('name = "a"\norder = """\n\n# first\ni8 -> i16  # -> f32\n\n  ;; u8 -> i16;\n"""')
    ) == answers(plain)
    assert answers(parse('name = "a"\r\norder = """\r\ni8 -> i16\r\nu8 -> i16\r\n"""\r\n')) == answers(plain)
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
    assert [line for (_, line), _ in read_spec(Text("a", text)).order] == lines
    assert answers(parse(text)) == answers(parse('name = "a"\norder = "i8 -> i16; u8 -> i16"'))


def test_codes_and_names_mean_the_same() -> None:
    names = parse('name = "a"\norder = "uint8, int8 -> int16 -> float32 -> complex64"')
    assert answers(names) == answers(parse(MINE))


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
    assert s.order.le(CODES["i8"], CODES["i16"])


def test_an_unused_set_is_checked_alike() -> None:
    with pytest.raises(FormatError, match="unknown dtype 'i9'"):
        parse(f'{MINE}sets = {{ unused = "i9" }}')


# -- dtypes of one's own


def test_own_dtypes_take_part_as_ours_do() -> None:
    s = parse(POSITS)
    p16, p32 = s.own_dtypes["posit16"], s.own_dtypes["posit32"]
    assert s.result_type("uint8", "posit16") is p16
    assert s.result_type("posit16:0d", "int8") is p16
    assert s.explain("posit16:0d").operands[0].tier == "0d"
    assert s.result_type(p16, p32) is s.result_type("posit16", "p32") is p32
    assert s.result_type("int8", "uint8", "int16", "posit16", "int8") is p16
    assert s.result_type("posit16") is p16
    assert s.result_type("posit16", 2.5) is p16
    assert s.result_type("int8", 2.5) is p32
    assert s.promote("int8", "uint8", op="divide").dtype is p32
    assert s.promote("posit16", op="sqrt").dtype is p16
    fit = s.promote("posit16", 1e20).fits[0]
    assert (fit.outcome, fit.target) == ("raise", p16)
    with pytest.raises(tl.PromotionError, match=r"posits refuses posit16 with 1e\+20 in add"):
        s.promote("posit16", 1e20, op="add")


def test_own_dtypes_have_the_facts_that_the_file_gives() -> None:
    s = parse(POSITS)
    p16, p32 = s.own_dtypes["posit16"], s.own_dtypes["posit32"]
    assert (p16.name, p16.code, p32.code, s.own_dtypes["p32"]) == ("posit16", "posit16", "p32", p32)
    assert (p16.kind, p16.bits, p16.storage_bits) == ("float", 16, 16)
    assert (p16.max, p16.precision, p16.step, p16.values, p16.smallest) == (2.0**56, None, None, (), None)
    assert not p16.finite_only
    loss = tl.loss(tl.dtype("float64"), p16)
    assert loss.magnitude and loss.unknown
    assert parse(POSITS).own_dtypes["posit16"] is p16


def test_facts_that_are_left_out_follow_from_the_others() -> None:
    own = parse(
        f'{MINE.replace("c64", "c64; i12, u12, logical, word, f99")}[dtypes]\n'
        'i12 = { kind = "signed", bits = 12, storage_bits = 16 }\nu12 = { kind = "unsigned", bits = 12 }\n'
        'logical = { kind = "bool" }\nword = { kind = "unsigned" }\n'
        'f99 = { kind = "float", max = 3, precision = 2, min_exponent = 0 }\n'
    ).own_dtypes  # fmt: skip
    assert (own["i12"].min, own["i12"].max, own["i12"].storage_bits, own["i12"].specials) == (
        -2048,
        2047,
        16,
        "sz",
    )
    assert (own["u12"].min, own["u12"].max, own["u12"].storage_bits) == (0, 4095, 12)
    assert (own["word"].bits, own["word"].max, own["word"].min) == (None, None, 0)
    assert (own["logical"].bits, own["logical"].min, own["logical"].max) == (1, 0, 1)
    assert (own["f99"].specials, own["f99"].bits) == ("szmin", None)


def test_own_dtypes_are_known_in_their_own_system_only() -> None:
    parse(POSITS)
    with pytest.raises(tl.DTypeError):
        parse(MINE).result_type("posit16", "uint8")
    with pytest.raises(tl.DTypeError):
        tl.dtype("posit16")


def test_own_dtypes_stand_in_tables() -> None:
    text = str(tl.table(parse(POSITS)))
    assert "posit16" in text
    assert "p32" in text


# -- extending


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


# -- what nothing uses


@pytest.mark.parametrize("name", tl.systems())
def test_a_system_with_another_order_is_written_as_a_file_that_is_read(name: str) -> None:
    """What its ties and single pairs were for is left out, so that nothing in the file is without effect."""
    s = tl.system(name)
    again = parse(system_file(s, s.order, "again", s.title))
    assert again.order.nodes == tuple(dict.fromkeys(n for n in again.order.nodes if n in s.order))
    assert {*again.order.nodes} == {*s.order.nodes}
    assert (again.ties, again.overrides, again.refusals) == ({}, {}, {})
    assert {**again.ops} == {**s.ops}


def test_what_is_inherited_may_have_no_use_in_a_variant() -> None:
    base = (
        'order = "b -> few -> i16 -> f32"\ndefaults = { uint = "u8" }\n[sets]\nfew = "u8, i8"\n'
        '[ops]\nindex = { gives = "u*" }\nadd = { loops = "f32" }\n[stand-in]\nbeside = "u8"\nint = "u8"'
    )
    s = parse(f'name = "a"\n{base}')
    variant = s.replace(order="b -> u8, i8 -> i16 -> f32", ops={})
    assert (variant.ops, variant.stand_in) == ({}, s.stand_in)
    with pytest.raises(FormatError, match="few is used nowhere"):
        s.replace(order="b -> u8, i8 -> i16 -> f32", sets={"few": "u8"})


def test_a_key_that_needs_another_needs_it_in_some_operation_only() -> None:
    """`own` of a class is of use where one operation of it has loops."""
    s = parse(f'{MINE}[ops]\narithmetic = {{ own = "u8" }}\nadd = {{ loops = "f32" }}\n')
    assert [str(d) for d in s.ops["arithmetic"]["own"]] == ["uint8"]  # type: ignore[attr-defined]
    with pytest.raises(FormatError, match="own says nothing without `loops`"):
        parse(f'{MINE}[ops]\narithmetic = {{ own = "u8" }}\nsubtract = {{ loops = "f32" }}\n')


def test_an_empty_table_of_an_operation_empties_that_of_its_class() -> None:
    numpy = tl.system("numpy").replace(
        ops={"maths": {"computes": {"int": "f64"}, "takes": "all"}, "sqrt": {"computes": {}}}
    )
    assert numpy.ops["sqrt"]["computes"] == {}
    assert tl.system("numpy").replace(ops={"multiply": {"fit": {}}}).ops["multiply"]["fit"] == {}


# -- variants


def test_a_replaced_key_leaves_the_system_as_it_was() -> None:
    jax = tl.system("jax")
    variant = jax.replace(defaults={"float": "float32"})
    assert variant.explain(1.5).dtype is tl.dtype("float32")
    assert jax.explain(1.5).dtype is tl.dtype("float64")
    now = answers(variant)
    others = {pair: a for pair, a in answers(jax).items() if now[pair] != a}
    assert {*others.values()} == {"float64"}  # where the join is f*, as of int64 and uint64


def test_replaced_entries_mean_what_they_mean_in_a_file_that_extends(tmp_path: Path) -> None:
    """An empty one takes away what the other says, and of what is not given the lines of the other decide."""
    numpy = tl.system("numpy")
    path = tmp_path / "mine.toml"
    path.write_text('name = "numpy"\nextends = "numpy"\n[ops]\n"..." = true\nbitwise = {}\n')
    assert {*numpy.ops} - {*numpy.replace(ops={"bitwise": {}}).ops} == {"bitwise"}
    assert {*tl.system(path).ops} == {*numpy.replace(ops={"bitwise": {}}).ops}
    with pytest.raises(FormatError, match="where is said to do nothing else than the standard"):
        numpy.replace(ops={"where": {}})
    variant = numpy.replace(ops={"add": {"takes": "int"}})
    rule = numpy.explain("int8", "int8", op="divide").rule
    assert (variant.explain("int8", "int8", op="divide").rule, rule.file) == (rule, "numpy.toml")


def test_a_variant_has_variants() -> None:
    wide = {"kind": "float", "max": 1e308, "precision": 113, "min_exponent": -900}
    variant = tl.system("jax").replace(defaults={"float": "f32", "int": "i32"})
    variant = variant.replace(name="mine", order="...\nf64 -> f128x\n", dtypes={"f128x": wide})
    assert variant.name == "mine"
    assert variant.explain(1).dtype is tl.dtype("int32")
    assert str(variant.result_type("int8", "f128x")) == "f128x"


def test_what_was_given_may_change_afterwards() -> None:
    defaults, tiers = {"float": "f32"}, ["array", "scalar"]
    variant = tl.system("numpy").replace(defaults=defaults, tiers=tiers)
    defaults["float"] = "f64"
    tiers.append("0d")
    assert variant.explain(1.5).dtype is tl.dtype("float32")
    assert variant.tiers == ("array", "scalar")
    assert variant.replace(name="again").explain(1.5).dtype is tl.dtype("float32")


def test_a_system_does_not_change() -> None:
    s = tl.system("numpy-ml-dtypes")
    with pytest.raises(dataclasses.FrozenInstanceError):
        s.name = "mine"  # type: ignore[misc]
    fields = (
        "ties",
        "overrides",
        "refusals",
        "defaults",
        "before",
        "after",
        "fit",
        "ops",
        "stand_in",
        "dtypes",
        "entries",
    )
    for field in fields:
        with pytest.raises(TypeError):
            getattr(s, field)["x"] = 1
    with pytest.raises(TypeError):
        s.ops["arithmetic"]["takes"] = ()  # type: ignore[index]


@pytest.mark.parametrize("name", tl.systems())
def test_a_system_survives_a_pickle_and_a_copy(name: str) -> None:
    s = tl.system(name)
    for twin in (pickle.loads(pickle.dumps(s)), copy.copy(s), copy.deepcopy(s)):
        assert isinstance(twin, tl.System)
        assert twin.name == name
        assert answers(twin) == answers(s)


def test_own_dtypes_and_variants_survive_a_pickle() -> None:
    s = parse(POSITS).replace(name="variant")
    twin = pickle.loads(pickle.dumps(s))
    assert (twin.name, twin.own_dtypes["posit16"]) == ("variant", s.own_dtypes["posit16"])
    p = pickle.loads(pickle.dumps(s.explain("posit16", "int8")))
    assert (p.dtype, str(p.rule)) == (s.own_dtypes["posit16"], "text, line 6")


# -- operands


def test_one_operand_many_and_none() -> None:
    s = tl.system("numpy")
    assert s.result_type("int8") is tl.dtype("int8")
    assert s.result_type(*["int8"] * 200, "uint8") is tl.dtype("int16")
    with pytest.raises(tl.OperandError, match="nothing to promote under numpy: give at least one operand"):
        s.result_type()
    with pytest.raises(tl.OperandError, match="nothing to promote"):
        s.explain()


@pytest.mark.parametrize(
    ("name", "operands", "dtype"),
    [
        ("numpy", (int, int), "int64"),
        ("numpy", (int, float), "float64"),
        ("numpy", (True, True), "bool"),
        ("numpy", (1, 2.5, 3j), "complex128"),
        ("jax", (int, float), "float64"),
        ("jax-x32", (int, float), "float32"),
        ("torch", (1, 2.5), "float32"),
        ("python", (True, 1), "int64"),
    ],
)
def test_python_scalars_alone(name: str, operands: tuple[object, ...], dtype: str) -> None:
    assert str(tl.system(name).explain(*operands).dtype) == dtype


def test_a_scalar_alone_has_no_dtype_where_the_file_gives_none() -> None:
    s = tl.system("array-api")
    assert s.explain(1).reason == "a Python int alone has no dtype here"
    assert s.explain(1, 2.5).reason == "a Python float alone has no dtype here"
    assert s.explain("int8", 1).dtype is tl.dtype("int8")


def test_a_value_that_is_not_known_is_not_judged() -> None:
    s = tl.system("numpy")
    assert s.promote("uint8", int, op="add").fits == ()
    assert s.explain("uint8", 300, op="add").dtype is None
    assert s.promote("uint8", 30, op="add").fits[0].outcome == "fits"


def test_weak_nodes_are_one_object_each() -> None:
    s = parse('name = "a"\norder = "i* -> i32*"')
    assert weak(tl.Kind.SIGNED) in s.order
    assert weak(tl.Kind.SIGNED, tl.dtype("int32")) in s.order
