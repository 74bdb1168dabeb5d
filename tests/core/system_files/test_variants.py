"""Systems do not change: `replace` makes variants, and copies and pickles answer alike."""
from __future__ import annotations

import copy
import dataclasses
import pickle
from pathlib import Path

import pytest
from samples import one_in
from small_files import POSITS, answers

import typelattice as tl
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.system_text import FormatError


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
    with pytest.raises(FormatError, match="where does the same as in the standard"):
        numpy.replace(ops={"where": {}})
    variant = numpy.replace(ops={"add": {"kernels": "integer"}})
    rule = numpy.explain("int8", "int8", op="divide").rule
    assert (variant.explain("int8", "int8", op="divide").rule, rule.file) == (rule, "numpy.toml")


@pytest.mark.parametrize(
    ("name", "keys", "op", "operands", "rule"),
    [
        ("numpy", {"ops": {"add": {"kernels": "float"}}}, "add", ("int8", "int8"), "add of ops"),
        ("numpy", {"ops": {"sum": {"computes": {"integer": "i32"}}}}, "sum", ("int8",), "sum of ops"),
        ("torch", {"ops": {"add, sum": {"kernels": "float"}}}, "add", ("int8", "int8"), "add of ops"),
        ("torch", {"ops": {"add": {"kernels": "float"}}}, "add", ("int8", "int8"), "add of ops"),
        ("torch", {"refusals": {"i8 + i16": "no"}}, None, ("int8", "int16"), "i8 + i16 of refusals"),
        ("polars", {"overrides": {"u8 + i8": "f64"}}, None, ("int8", "uint8"), "u8 + i8 of overrides"),
        ("torch", {"fit": {"int": "raise"}}, "add", ("uint8", 300), "int of fit"),
        ("numpy", {"defaults": {"int": "i32"}}, None, (1,), "int of defaults"),
        ("numpy", {"defaults": {}}, None, (1,), "int of defaults"),
        ("jax", {"combine": "comparable"}, None, ("int8", "uint8"), "combine"),
    ],
)  # fmt: skip
def test_what_a_variant_replaces_is_named_where_it_decides(
    name: str, keys: dict[str, object], op: str | None, operands: tuple[object, ...], rule: str
) -> None:
    p = tl.system(name).replace(**keys).explain(*operands, op=op)
    assert str(p.rule) == f"{name}.toml with {', '.join(keys)} replaced, {rule}"
    assert str(p.rule) in str(p)


def test_a_variant_of_a_variant_names_the_one_that_decides() -> None:
    s = tl.system("numpy").replace(ops={"add": {"kernels": "float"}}).replace(defaults={"int": "i32"})
    assert str(s.explain("int8", "int8", op="add").rule) == "numpy.toml with ops replaced, add of ops"
    last = "numpy.toml with ops replaced with defaults replaced, int of defaults"
    assert str(s.explain(1).rule) == last
    assert s.explain("int8", "int16").rule.file == "numpy.toml"  # what decides stands on a line there


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


@pytest.mark.parametrize("name", one_in(4, tl.systems()))
def test_a_system_survives_a_pickle_and_a_copy(name: str) -> None:
    s = tl.system(name)
    for twin in (pickle.loads(pickle.dumps(s)), copy.copy(s), copy.deepcopy(s)):
        assert isinstance(twin, tl.System)
        assert twin.name == name
        assert answers(twin) == answers(s)


def test_own_dtypes_and_variants_survive_a_pickle() -> None:
    s = parse(POSITS).replace(name="variant")
    twin = pickle.loads(pickle.dumps(s))
    assert (twin.name, twin.custom_dtypes["posit16"]) == ("variant", s.custom_dtypes["posit16"])
    p = pickle.loads(pickle.dumps(s.explain("posit16", "int8")))
    assert (p.dtype, str(p.rule)) == (s.custom_dtypes["posit16"], "text, line 6")
