"""New arrays and writes of PyTorch and JAX: the engine's answers are those of the libraries."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")

REAL = ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
DTYPES = ["bool", *REAL, "complex64", "complex128"]
NUMBERS = [0, 1, -1, 127, 300, -129, 2**31, 2**40, 2**63, -(2**63), 1.5, 300.0, 1e300, 2j, True]
# JAX refuses ints beyond int64 as bfloat16, which ml_dtypes takes no larger ones for.
BEYOND_INT64 = 2**63


def answer(make: Callable[[], Any]) -> str | None:
    """The dtype of a result, with a star if it is weak, or None for an error."""
    try:
        found = make()
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None
    return f"{str(found.dtype).removeprefix('torch.')}{'*' * getattr(found, 'weak_type', False)}"


def rule(p: tl.Promotion) -> str | None:
    return p.dtype and f"{p.dtype}{'*' * p.weak}"


def draw_arrays(seed: int) -> list[tuple[Any, str | None]]:
    draw = random.Random(seed)
    found = []
    for _ in range(1500):
        many = [draw.choice(NUMBERS) for _ in range(draw.randint(0, 3))]
        found.append(
            (draw.choice(NUMBERS) if draw.random() < 0.4 else many, draw.choice([None, None, *DTYPES]))
        )
    return found


@pytest.mark.parametrize(("system", "array", "full", "dtype_of"), [
    ("torch", torch.tensor, torch.full, lambda name: getattr(torch, name)),
    ("jax", lambda x, dtype: jax.numpy.asarray(x, dtype=dtype), jax.numpy.full, lambda name: name),
])  # fmt: skip
def test_a_library_makes_these_arrays(system: str, array: Any, full: Any, dtype_of: Any) -> None:
    s, counted = tl.system(system), 0
    with jax.enable_x64(True):
        for numbers, requested in draw_arrays(11):
            listed = numbers if isinstance(numbers, list) else [numbers]
            if system == "jax" and BEYOND_INT64 in listed and requested in ("bfloat16", None):
                continue
            to = requested and dtype_of(requested)
            made = answer(lambda numbers=numbers, to=to: array(numbers, dtype=to))
            assert rule(s.create(numbers, dtype=requested)) == made, (numbers, requested)
            if not isinstance(numbers, list):
                made = answer(lambda numbers=numbers, to=to: full((2,), numbers, dtype=to))
                assert rule(s.create(numbers, op="full", dtype=requested)) == made, (numbers, requested)
            counted += 1
    assert counted > 1000


def test_pytorch_casts_and_writes_alike() -> None:
    s = tl.system("torch")
    for left in DTYPES:
        x = torch.ones(2, dtype=getattr(torch, left))
        assert rule(s.index(left, "bool")) == answer(lambda x=x: x[torch.tensor([True, False])])
        for right in DTYPES:
            y = torch.ones(2, dtype=getattr(torch, right))
            assert rule(s.cast(left, right)) == answer(lambda x=x, y=y: x.to(y.dtype))

            def assign(x: Any = x, y: Any = y) -> Any:
                found = x.clone()
                found[:] = y
                return found

            assert rule(s.write(left, right)) == answer(assign), (left, right)
            added = answer(lambda x=x, y=y: x.clone().add_(y))
            assert rule(s.write(left, right, "+=")) == added, (left, right)
            by_out = answer(lambda x=x, y=y: torch.maximum(y, y, out=x.clone()))
            if "complex" not in right:
                assert rule(s.write(left, right, "out=")) == by_out, (left, right)
