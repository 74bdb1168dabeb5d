"""The shapes of what programs compute, where those of their operands are known."""
from __future__ import annotations

import pytest

import typelattice as tl

np = pytest.importorskip("numpy")


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("xp.diff(m)", (3, 3)),
        ("xp.diff(m, axis=0, n=2)", (1, 4)),
        ("xp.tile(m, (2, 1))", (6, 4)),
        ("xp.repeat(m, 2)", (24,)),
        ("xp.linalg.diagonal(m)", (3,)),
        ("xp.linalg.outer(m[0, :], m[:, 0])", (4, 3)),
        ("xp.vecdot(m, m)", (3,)),
        ("xp.tensordot(m, m[0, :], axes=1)", (3,)),
        ("xp.swapaxes(m, 0, 1)", (4, 3)),
        ("xp.searchsorted(m[0, :], m)", (3, 4)),
    ],
)
def test_shapes_follow_from_those_of_operands(text: str, shape: tuple[int, ...]) -> None:
    p = tl.program(text, m="float32[3,4]")
    assert p.steps[-1].shape == shape
    compat = pytest.importorskip("array_api_compat.numpy")
    made = np.swapaxes(np.ones((3, 4)), 0, 1) if "swap" in text else p.run(compat, m=np.ones((3, 4)))
    assert made.shape == shape


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        ("[0, 2]", (2, 4)),
        ("[]", (0, 4)),
        ("..., [0, 2, 1]", (3, 3)),
        (":2, [3]", (2, 1)),
        ("None, [2, 0], 1:", (1, 2, 3)),
        ("[0, 2], 1", None),
        ("[0, 2], [1, 0]", None),
        ("[True, False, True]", None),
        ("[[0, 1], [1, 2]]", None),
        ("0, 2", ()),
    ],
)
def test_a_list_among_indices_is_as_long_as_its_axis(index: str, shape: tuple[int, ...] | None) -> None:
    step = tl.program(f"m[{index}]", m="float32[3,4]").steps[-1]
    assert step.shape == shape
    assert shape is None or eval(f"np.ones((3, 4))[{index}]", {"np": np}).shape == shape
    made = tl.program(f"m[{index}] * w", m="float64[3,4]", w="float32").under("torch")[-1]
    assert str(made) == ("float32" if shape == () else "float64")


SHAPES = [(3,), (2, 3), (2, 1, 3), (1,), ()]


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack", "stack", "concatenate"])
def test_what_is_joined_has_the_shape_that_numpy_gives_it(name: str) -> None:
    def written(shape: tuple[int, ...]) -> str:
        return f"float64[{','.join(map(str, shape))}]" if shape else "float64:0d"

    compared = 0
    for a in SHAPES:
        for b in SHAPES:
            try:
                made = getattr(np, name)([np.ones(a), np.ones(b)]).shape
            except ValueError:
                continue  # of shapes that do not go together
            p = tl.program(f"np.{name}([a, b])", a=written(a), b=written(b))
            assert p.steps[-1].shape == made
            compared += 1
    assert compared >= len(SHAPES) - 1
