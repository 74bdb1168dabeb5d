"""Patterns of einops: each has the dtype and the shape that einops gives."""

from __future__ import annotations

import pytest

import typelattice as tl

HEAD = "import torch\nfrom einops import rearrange, reduce, repeat\n"


@pytest.mark.parametrize(
    ("call", "shape", "dtype"),
    [
        ("rearrange(x, 'b c t -> (b c) t')", (6, 4), "float16"),
        ("rearrange(x, 'b c t -> t b c')", (4, 2, 3), "float16"),
        ("rearrange(x, '... (h w) -> ... h w', h=2)", (2, 3, 2, 2), "float16"),
        ("rearrange(x, 'b c t -> b c t 1')", (2, 3, 4, 1), "float16"),
        ("rearrange([x, x], 'n b c t -> b (n c) t')", (2, 6, 4), "float16"),
        ("repeat(x, 'b c t -> b r (t c)', r=5)", (2, 5, 12), "float16"),
        ("reduce(x, 'b c t -> b t', 'mean')", (2, 4), "float16"),
        ("reduce(n, 'a b -> a 1', 'max')", (3, 1), "int8"),
        ("reduce(n, 'a b -> b', 'sum')", (2,), "int64"),
    ],
)
def test_a_pattern_has_the_shape_and_dtype_of_einops(call: str, shape: tuple[int, ...], dtype: str) -> None:
    inputs = {"x": "float16[2,3,4]", "n": "int8[3,2]"}
    program = tl.program(HEAD + call, **{name: o for name, o in inputs.items() if f"{name}," in call})
    assert program.steps[program.results[0]].shape == shape
    assert str(program.under("torch").dtype) == dtype


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("rearrange(x, 'a b -> b a')", "a pattern that does not fit an array of 3 axes"),
        ("rearrange(x, 'a (b d) c -> a b c d', b=2)", "a pattern that does not fit"),
        ("rearrange(x, 'a b c -> a b')", "an axis that is missing on the right side; use reduce"),
        ("rearrange(x, 'a b c -> a b z')", "a pattern that does not fit"),
        ("reduce(x, 'a b c -> a b', 'median')", "a reduction that is not known; give one of min, max, sum"),
    ],
)
def test_a_pattern_that_does_not_fit_is_refused(call: str, said: str) -> None:
    with pytest.raises(tl.ProgramError, match=said):
        tl.program(HEAD + call, x="float16[2,3,4]")
