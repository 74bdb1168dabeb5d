"""Dtypes that a file defines: they take part as ours do, in its system alone."""
from __future__ import annotations

import pytest
from small_files import MINE, POSITS

import typelattice as tl
from typelattice.core.system_files.reader import parse


def test_own_dtypes_take_part_as_ours_do() -> None:
    s = parse(POSITS)
    p16, p32 = s.custom_dtypes["posit16"], s.custom_dtypes["posit32"]
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
    p16, p32 = s.custom_dtypes["posit16"], s.custom_dtypes["posit32"]
    assert (p16.name, p16.code, p32.code, s.custom_dtypes["p32"]) == ("posit16", "posit16", "p32", p32)
    assert (p16.kind, p16.bits, p16.storage_bits) == ("float", 16, 16)
    assert (p16.max, p16.precision, p16.step, p16.values, p16.smallest) == (2.0**56, None, None, (), None)
    assert not p16.finite_only
    loss = tl.loss(tl.dtype("float64"), p16)
    assert loss.magnitude and loss.unknown
    assert parse(POSITS).custom_dtypes["posit16"] is p16


def test_facts_that_are_left_out_follow_from_the_others() -> None:
    own = parse(
        f'{MINE.replace("c64", "c64; i12, u12, logical, word, f99")}[dtypes]\n'
        'i12 = { kind = "signed", bits = 12, storage_bits = 16 }\nu12 = { kind = "unsigned", bits = 12 }\n'
        'logical = { kind = "bool" }\nword = { kind = "unsigned" }\n'
        'f99 = { kind = "float", max = 3, precision = 2, min_exponent = 0 }\n'
    ).custom_dtypes  # fmt: skip
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
