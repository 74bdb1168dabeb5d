"""The casts of a system that may be folded, and how `laws` shows them."""

from __future__ import annotations

import json

import pytest
from command_line import refused, said

import typelattice as tl
from typelattice.core.system_files.reader import parse


def test_a_chain_that_rounds_twice_ends_in_floats_that_the_first_cast_can_hold() -> None:
    found = tl.cast_chains("numpy")
    assert found.rounded_twice
    for chain in found.rounded_twice:
        assert not chain.exact
        assert not tl.loss(chain.target, chain.through)
        assert chain.target.kind.category >= 2
    named = {(c.source.name, c.through.name, c.target.name) for c in found.rounded_twice}
    assert ("float64", "float32", "float16") in named
    exact = {(c.source.name, c.through.name, c.target.name) for c in found.exact_chains}
    assert ("float32", "float64", "float16") in exact and ("float64", "float32", "float16") not in exact


def test_only_the_dtypes_that_are_named_make_chains() -> None:
    found = tl.cast_chains("numpy", ["int8", "float32"])
    assert [[d.name for d in (c.source, c.through, c.target)] for c in found] == [
        ["int8", "float32", "int8"],
        ["float32", "int8", "float32"],
    ]
    assert [chain.exact for chain in found] == [True, False]


def test_a_dtype_of_unknown_values_makes_chains_of_unknown_outcome() -> None:
    posit = 'p = { kind = "float", bits = 8, values = "unknown" }'
    text = f'name = "m"\norder = "p -> f32 -> f64"\n[dtypes]\n{posit}'
    found = tl.cast_chains(parse(text))
    assert {c.exact for c in found if "p" in {c.source.name, c.through.name, c.target.name}} == {None}
    assert "are not known, as the values of a dtype are not" in "\n".join(found.section(3)[1])


def test_laws_shows_the_casts_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    line = ("laws", "numpy", "--dtypes", "float16,float32,float64", "--casts")
    assert "1 round twice" in said(capsys, *line)
    (judged,) = json.loads(said(capsys, *line, "--format", "json"))["systems"]
    assert len(judged["casts"]) == 12
    assert {"casts": ["float16", "float64", "float32"], "exact": True} in judged["casts"]
    assert "--casts needs one system" in refused(capsys, "laws", "numpy", "jax", "--casts")
