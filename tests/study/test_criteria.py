"""The criteria of JEP 9407, and what the document claims by them."""
from __future__ import annotations

from pathlib import Path

import pytest
from jep9407 import DOCUMENT

import typelattice as tl
from typelattice.core.dtypes.dtypes import Kind
from typelattice.show.cli.main import main
from typelattice.study.laws.jep9407_criteria import CRITERIA, Criteria, part_width
from typelattice.study.laws.laws_overview import laws_overview

OPTIONS = [f"jep9407-{n}" for n in range(4)]
INTS = (Kind.UNSIGNED, Kind.SIGNED)


def pairs(found: Criteria, name: str) -> set[frozenset[str]]:
    return {frozenset(map(str, p.operands)) for p in found[name]}


def kinds(p: tl.Promotion) -> set[Kind]:
    return {o.kind for o in p.operands}


def pair(text: str) -> frozenset[str]:
    return frozenset(text.split(" + "))


@pytest.mark.parametrize("name", tl.systems())
def test_counts_are_those_of_the_lists(name: str) -> None:
    found = tl.criteria(name)
    assert found.counts == {c: len(found[c]) for c in CRITERIA}
    assert all(len(p.operands) == 2 and p.operands[0] != p.operands[1] for ps in found.values() for p in ps)
    assert not found["dropped"], "no system drops an imaginary part"
    assert set(found["64 bits"]) <= set(found["wider"])


def test_jep_goals_numpy_makes_int32_and_float32_float64() -> None:
    assert pair("int32 + float32") in pairs(tl.criteria("numpy"), "64 bits")
    assert pair("int32 + float32") not in pairs(tl.criteria("jax"), "64 bits")


def test_jep_within_a_kind_64_bits_come_from_64_bits() -> None:
    for name in (*OPTIONS, "numpy", "jax"):
        assert not [p for p in tl.criteria(name)["64 bits"] if len(kinds(p)) == 1]


def test_jep_numpys_drawing_has_two_lowest_bounds_for_int8_and_uint8() -> None:
    found = {frozenset(map(str, p.operands)): p for p in tl.criteria("numpy")["several bounds"]}
    assert set(map(str, found[pair("int8 + uint8")].bounds)) == {"int16", "float16"}


def test_jep_uint64_with_signed_is_numpys_only_float_of_integers() -> None:
    numpy = tl.system("numpy")
    ints = [d for d in DOCUMENT if d.kind in INTS]
    floats = {
        frozenset((a.name, b.name)) for a in ints for b in ints if numpy.result_type(a, b).kind is Kind.FLOAT
    }
    assert floats == {frozenset(("uint64", d.name)) for d in ints if d.kind is Kind.SIGNED}


@pytest.mark.parametrize("name", OPTIONS)
def test_jep_every_option_stays_a_partial_lattice(name: str) -> None:
    """With the weak scalars too: commutative, associative, and no pair has several lowest bounds."""
    found = tl.laws(name, "all")
    assert all(
        found[law] for law in ("commutative", "associative", "unique bounds", "monotone", "order-free")
    )
    assert not tl.criteria(name)["several bounds"]


@pytest.mark.parametrize("name", [*OPTIONS, "jep9407-3-bf16"])
def test_jep_every_option_keeps_criteria_2_and_3_and_leaves_uint64_undefined(name: str) -> None:
    found = tl.criteria(name)
    assert not found["dropped"]
    assert not found["overflow"]
    assert pair("uint64 + int64") in pairs(found, "refused")


def test_jep_option_0_mixes_no_integers_with_floats() -> None:
    """"The downside would be the requirement for users to explicitly type-cast.\""""
    found = tl.criteria("jep9407-0")
    mixed = {
        frozenset((a.name, b.name))
        for a in DOCUMENT
        for b in DOCUMENT
        if a.kind in INTS and b.kind.category > 1
    }
    assert pairs(found, "refused") >= {m for m in mixed if "bfloat16" not in m}
    assert not found["precision"]


def test_jep_option_1_loses_no_precision() -> None:
    found = tl.criteria("jep9407-1")
    assert not found["precision"]
    assert not found["magnitude"]


def test_jep_option_1_leaves_64_bit_integers_undefined_and_uint32_too() -> None:
    """"It still leaves int64 and uint64 promotion undefined": as drawn, uint32 with any float as well."""
    refused = pairs(tl.criteria("jep9407-1"), "refused")
    inexact = [d.name for d in DOCUMENT if d.kind.category > 1 and d.name != "bfloat16"]
    assert {frozenset((i, f)) for i in ("int64", "uint64", "uint32") for f in inexact} <= refused
    assert refused == {pair for pair in refused if pair & {"int64", "uint64", "uint32"}}


def test_jep_option_1_makes_uint16_and_float16_float64() -> None:
    found = tl.criteria("jep9407-1")
    assert pair("uint16 + float16") in pairs(found, "64 bits")
    assert str(tl.system("jep9407-1").result_type("uint16", "float16")) == "float64"


def test_jep_option_1_relaxed_loses_precision(tmp_path: Path) -> None:
    """"Those links would run counter to the motivation": i64 -> f64 and u64 -> f64."""
    found = tl.criteria(extended(tmp_path, "jep9407-1", "i64 -> f64; u64 -> f64", drop="i32 -> f64"))
    assert not found["refused"]
    assert pair("int64 + float64") in pairs(found, "precision")


def test_jep_option_2_loses_precision_but_no_magnitude() -> None:
    """"These promotions will not mis-represent the magnitude of the result.\""""
    found = tl.criteria("jep9407-2")
    assert found["precision"]
    assert not found["magnitude"]
    assert str(tl.system("jep9407-2").result_type("int64", "float64")) == "float64"
    refused = pairs(found, "refused")
    assert refused == {pair for pair in refused if "uint64" in pair}


def test_jep_option_2_makes_float32_and_uint32_float64() -> None:
    found = tl.criteria("jep9407-2")
    assert pair("float32 + uint32") in pairs(found, "64 bits")
    assert len(found["wider"]) < len(tl.criteria("jep9407-1")["wider"])


@pytest.mark.parametrize(("option", "fits"), [("jep9407-1", "i8"), ("jep9407-2", "i16")])
def test_jep_options_1_and_2_have_no_place_for_bfloat16(tmp_path: Path, option: str, fits: str) -> None:
    """Where float16 stands, bfloat16 cannot stand too: an integer and a weak float then have two lowest
    bounds."""
    found = tl.laws(extended(tmp_path, option, f"f* -> bf16 -> f32; {fits} -> bf16"), "all")["unique bounds"]
    assert found.counterexample
    assert "float16 and bfloat16" in found.counterexample.note
    assert "float" in map(str, found.counterexample.operands)


def test_jep_option_3_has_a_place_for_bfloat16() -> None:
    assert tl.laws("jep9407-3-bf16", "all")["unique bounds"]


def test_jep_option_3_widens_nothing_outside_unsigned_integers() -> None:
    """"You can never get an f64 output without a 64-bit input, ... an f32 output without a 32-bit input.\""""
    for p in tl.criteria("jep9407-3")["wider"]:
        assert kinds(p) == {*INTS}, p
    # bfloat16 is the exception to the second half
    others = [p for p in tl.criteria("jep9407-3-bf16")["wider"] if kinds(p) != {*INTS}]
    assert [{str(o) for o in p.operands} for p in others] == [{"bfloat16", "float16"}]
    assert [str(p.dtype) for p in others] == ["float32"]


def test_jep_option_3_makes_most_of_int64_inf_in_float16() -> None:
    found = tl.criteria("jep9407-3")
    assert pair("int64 + float16") in pairs(found, "magnitude")
    i64, f16 = tl.dtype("int64"), tl.dtype("float16")
    assert i64.max and f16.max and f16.max / i64.max < 1e-13


def test_jep_jax_is_option_3_closed_at_uint64() -> None:
    """A true lattice: no pair without a join, none refused; the price is precision."""
    jax, option = tl.criteria("jax", dtypes=DOCUMENT), tl.criteria("jep9407-3-bf16")
    assert jax.counts["refused"] == jax.counts["no bound"] == jax.counts["several bounds"] == 0
    assert pairs(option, "precision") < pairs(jax, "precision")
    assert {p for p in pairs(jax, "precision") - pairs(option, "precision") if "uint64" not in p} == set()


def test_jep_accepts_no_loss_of_magnitude_yet_jax_loses_it() -> None:
    """"Potential loss of precision (but not loss of magnitude)": every integer past float16's range meets
    it."""
    found = tl.criteria("jax", dtypes=DOCUMENT)
    assert pairs(found, "magnitude") == {
        pair(f"{i} + float16") for i in ("uint16", "uint32", "uint64", "int32", "int64")
    }


def test_scalars_cost_as_their_default_dtypes() -> None:
    """int32 + 1.5 giving float32 under Option 3's cousin jax-x32; here: an int8 with a Python int loses
    magnitude."""
    found = tl.criteria("jax", "all", ["int8", "float16"])
    assert found.pair_count == 1 + 2 * 3
    assert [tuple(map(str, p.operands)) for p in found["overflow"]] == [("int8", "int")]
    assert ("float16", "float") in {tuple(map(str, p.operands)) for p in found["magnitude"]}
    assert not found["wider"]


def test_widths_are_of_parts() -> None:
    assert part_width(tl.dtype("complex128")) == part_width(tl.dtype("float64")) == 64
    assert pair("float32 + complex64") not in pairs(tl.criteria("numpy"), "wider")
    assert pair("int32 + complex64") in pairs(tl.criteria("numpy"), "64 bits")


def test_overflow_is_an_integer_that_wraps() -> None:
    assert pairs(tl.criteria("jax-x32"), "overflow") >= {pair("uint32 + int32")}
    assert not tl.criteria("numpy")["overflow"]


def test_survey_says_what_laws_and_criteria_say() -> None:
    names = ["numpy", "jax", "python"]
    grid = laws_overview(names, dtypes=["int8", "uint8", "float16"])
    for name, row in zip(names, grid.cells, strict=True):
        texts = [c.text for c in row]
        if name == "python":
            found = tl.laws(name)
            assert texts[0] == str(len(found.operands)) or set(texts) == {"-"}
        else:
            found, costs = (of(name, dtypes=["int8", "uint8", "float16"]) for of in (tl.laws, tl.criteria))
            expected = [
                "3",
                *("✓" if v else "✗" for v in found.values()),
                str(costs.pair_count),
                *map(str, costs.counts.values()),
            ]
            assert texts == expected


@pytest.mark.parametrize("argv", ["numpy", "torch", "jax-strict --tier all", "numpy jax torch --common"])
def test_command_keeps_to_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, argv: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["laws", *argv.split()]) == 0
    assert max(map(len, capsys.readouterr().out.split("\n"))) <= 80


def test_command_takes_the_dtypes_of_a_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["laws", "numpy", "jax", "--dtypes", "jep9407-3", "--format", "csv"]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    assert {row[1] for row in rows[1:]} == {"13"}


def test_check_says_which_laws_fail_and_what_it_costs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "numpy"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "not associative: (uint8 + int8) + float16 is float32, uint8 + (int8 + float16) is float16" in said
    counts = ", ".join(f"{name} {n}" for name, n in tl.criteria("numpy").counts.items() if n)
    assert f"of {tl.criteria('numpy').pair_count} pairs: {counts}" in said


def extended(folder: Path, name: str, order: str, drop: str = "") -> tl.System:
    """A system with more relations, and without some."""
    path = folder / "mine.toml"
    if drop:
        text = (Path(tl.__file__).parent / "systems" / f"{name}.toml").read_text(encoding="utf-8")
        path.write_text(text.replace(drop, order), encoding="utf-8")
    else:
        path.write_text(
            f'name = "mine"\nextends = "{name}"\norder = """\n...\n{order}\n"""\n', encoding="utf-8"
        )
    return tl.system(str(path))


def test_numbers_that_the_page_says_in_words() -> None:
    counts = {name: tl.criteria(name).counts for name in (*OPTIONS, "numpy")}
    assert (counts["jep9407-1"]["64 bits"], counts["jep9407-2"]["64 bits"]) == (9, 6)
    assert (counts["jep9407-3"]["magnitude"], tl.criteria("jax", dtypes=DOCUMENT).counts["magnitude"]) == (
        4,
        5,
    )
    assert counts["numpy"]["several bounds"] == 3
    assert (tl.laws("numpy")["associative"].failing_count, tl.laws("numpy")["associative"].case_count) == (
        28,
        2744,
    )
