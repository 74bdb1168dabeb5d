"""A namespace and a typed graph cast as the file says: each value to the value that its rule has for it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.core.losses.cast_rounding_and_overflow import (
    OVERFLOW_WORDS,
    PLAIN_CAST_RULE,
    ROUNDING_WORDS,
    STOCHASTIC,
    CastRule,
    impossible_cast_reason,
    without_defaults,
)
from typelattice.core.losses.cast_values import make_caster
from typelattice.core.losses.finite_values import INTEGER_SCALE, find_finite_values
from typelattice.core.losses.loss import loss
from typelattice.core.system_files.reader import parse

ml_dtypes = pytest.importorskip("ml_dtypes")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NUMBERS = [
    d
    for d in DTYPES.values()
    if d.kind in (Kind.UNSIGNED, Kind.SIGNED, Kind.FLOAT)
    and (d.name in ("float16", "float32", "float64") or hasattr(ml_dtypes, d.name) or hasattr(np, d.name))
    and d.name not in ("float128",)
]
PAIRS = [*itertools.permutations(NUMBERS, 2)]
RULES = [
    (rounding, beyond)
    for rounding in ("", *ROUNDING_WORDS)
    for beyond in ("", *OVERFLOW_WORDS)
    if (rounding or beyond) and rounding != STOCHASTIC
]


def sources_of(dtype: DType) -> Any:
    """All values of a narrow dtype; of others some at random, and those next to the bounds of each dtype."""
    own = tl.native(dtype, np)
    if dtype.kind is not Kind.FLOAT and (dtype.bits or 0) <= 8:
        return np.arange(int(dtype.min or 0), int(dtype.max or 0) + 1).astype(own)
    if dtype.storage_bits == 8:
        return np.arange(2 ** (dtype.bits or 8), dtype=np.uint8).view(own)
    size = (dtype.storage_bits or 0) // 8
    random = np.frombuffer(np.random.default_rng(9407).bytes(40 * size), f"u{size}").view(own)
    near = [float(b) + k for d in NUMBERS for b in (d.min or 0, d.max or 0) for k in (-1, -0.5, 0, 0.5, 1)]
    near += [x + half for x in (-2, -1, 0, 1, 2, 126, 127, 255, -128) for half in (0.0, 0.5)]
    if dtype.kind is Kind.FLOAT:
        floats = np.array([*near, -0.0]).astype(own)
        around = [np.nextafter(floats, np.array(end).astype(own)) for end in (np.inf, -np.inf)]
        return np.concatenate([random, floats, *around, np.array([np.inf, -np.inf, np.nan]).astype(own)])
    whole = [int(x) for x in near if abs(x) < 2**70]
    held = [x for x in (*whole, dtype.min, dtype.max) if (dtype.min or 0) <= x <= (dtype.max or 0)]
    return np.concatenate([random, np.array(held, dtype=object).astype(own)])


def scaled(x: Any, dtype: DType) -> int | str:
    """A value as the facts about casts have it: an integer, or the name of a special value."""
    if dtype.kind is not Kind.FLOAT:
        return int(x) * INTEGER_SCALE
    if np.isnan(x):
        return "nan"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    return "-0" if x == 0 and np.signbit(x) else int(Fraction(float(x)) * INTEGER_SCALE)


@pytest.mark.parametrize("number", one_in(12, range(24)))
def test_each_value_is_cast_as_the_rule_says(number: int) -> None:
    compared = 0
    for source, target in PAIRS[number::24]:
        if target.name == "float8_e8m0fnu":  # ml_dtypes rounds values near 2**-127 to a wrong one
            continue
        values = sources_of(source)
        for rounding, beyond in RULES:
            rule = CastRule(rounding, beyond)
            if impossible_cast_reason(rule, source, target) or not loss(source, target):
                continue
            if without_defaults(rule, source, target) == PLAIN_CAST_RULE:
                continue
            words = ", ".join(filter(None, (beyond, rounding)))
            entry = f'"{source.code} -> {target.code}" = "{words}"'
            system = parse(f'name = "drawn"\norder = "{source.code}; {target.code}"\n[casts]\n{entry}\n')
            xp = tl.namespace(system, np)
            x = xp.asarray(values)
            graph = None
            try:
                graph = tl.program(f"x.astype({target})", x=f"{source}[{len(values)}]").explicit(system)
                found = xp.astype(x, target)
            except (tl.NamespaceError, tl.ProgramError) as e:
                assert "a cast of" in str(e) and "that rounds" in str(e)
                with pytest.raises(tl.NamespaceError):
                    xp.astype(x, target)
                assert rounding == "nearest away" or target.kind is Kind.FLOAT
                continue
            assert found.dtype is target
            cast = make_caster(source, target, find_finite_values(target), rule)
            over_plain = graph.run(tl.namespace("numpy-ml-dtypes", np), x=x.bare)
            for value, own, plain in zip(values, found.bare, over_plain.bare, strict=True):
                expected = cast(scaled(value, source))
                if not isinstance(expected, tuple):  # an undefined result
                    assert scaled(own, target) == expected, (source, target, words, value)
                    if source.name != "float64":  # which ml_dtypes rounds twice
                        assert scaled(plain, target) == expected, (source, target, words, value)
                    compared += 1
    assert compared > 1000
