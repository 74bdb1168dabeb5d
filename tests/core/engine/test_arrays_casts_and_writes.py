"""New arrays, explicit casts, indices and writes: the engine's answers, and those of the installed NumPy."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest
from small_systems import CHAIN, NUMPYLIKE, make

import typelattice as tl

NUMPY = tl.system("numpy")
NAMES = [d.name for d in NUMPY.dtypes if hasattr(np, d.name)]
NUMBERS = [0, 1, -1, 127, 300, -129, 2**31, 2**40, 2**63, -(2**63), 2**64, 1.5, 300.0, 1e300, 2j, True, False]


def answer_of_numpy(function: object, *args: object, **options: object) -> str | None:
    """The dtype of NumPy's result, or None for an error. An array of objects has no dtype that we know."""
    with np.errstate(all="ignore"):
        try:
            found = np.asarray(function(*args, **options)).dtype  # type: ignore[operator]
        except (TypeError, ValueError, OverflowError):
            return None
    return None if found is np.dtype(object) else found.name


def name(p: tl.Promotion) -> str | None:
    return p.dtype and p.dtype.name


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_numpy_makes_these_arrays_of_random_lists() -> None:
    draw = random.Random(7)
    for _ in range(3000):
        numbers: object = draw.choice(NUMBERS)
        if draw.random() < 0.7:
            numbers = [draw.choice(NUMBERS) for _ in range(draw.randint(0, 3))]
        requested = draw.choice([None, None, *NAMES])
        p = NUMPY.create(numbers, dtype=requested)
        if isinstance(p.reason, str) and "no dtype" in p.reason:
            continue  # NumPy makes an array of objects
        assert name(p) == answer_of_numpy(np.asarray, numbers, dtype=requested), (numbers, requested)


@pytest.mark.parametrize("function", ["zeros", "ones", "empty"])
@pytest.mark.parametrize("requested", [None, *NAMES, float, int, complex, bool])
def test_numpy_makes_these_arrays_of_a_shape(function: str, requested: object) -> None:
    made = getattr(np, function)((2,), *([requested] if requested else []))
    assert name(NUMPY.create(op=function, dtype=requested)) == made.dtype.name


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_numpy_casts_and_writes_alike() -> None:
    for source in NAMES:
        x = np.ones(2, source)
        assert name(NUMPY.index(source, [0])) == x[[0]].dtype.name
        assert name(NUMPY.index(source, "bool")) == x[np.array([True, False])].dtype.name
        for target in NAMES:
            y = np.ones(2, target)
            assert name(NUMPY.cast(source, target)) == x.astype(target).dtype.name
            written = np.ones(2, source)
            written[:] = y
            assert name(NUMPY.write(source, target)) == written.dtype.name
            by_out = answer_of_numpy(np.positive if target != "bool" else np.logical_not, y, out=x.copy())
            assert name(NUMPY.write(source, target, "out=")) == by_out, (source, target)
            by_operator = answer_of_numpy(np.ndarray.__iadd__, x.copy(), y)
            assert name(NUMPY.write(source, target, "+=")) == by_operator, (source, target)


def test_a_file_rules_over_casts() -> None:
    casts = {"f32 -> u8": "clamp", "f64 -> u8": "refused: f64 has no way to u8"}
    s = make(CHAIN, casts=casts)
    clamped, refused = s.cast("float32", "uint8"), s.cast("float64", "uint8")
    assert (name(clamped), clamped.rule.key, clamped.decision.entry) == ("uint8", "casts", "f32 -> u8")
    assert refused.dtype is None and refused.reason == "float64 is not cast to uint8: f64 has no way to u8"
    assert "values beyond the range become the nearest value" in str(clamped)
    assert "f64 has no way to u8" in str(refused)
    assert name(s.cast("float32", "float64")) == "float64"
    assert tl.program("x.astype(uint8)", x="float64").under(s)[-1].reason == refused.reason


def test_the_default_of_a_kind_and_a_replaced_request() -> None:
    s = make(CHAIN.replace("f32 -> c64 -> c128\n", ""), **NUMPYLIKE, requested={"c64": "c128"})
    found = [name(s.create(op="zeros", dtype=d)) for d in (None, "complex64", complex, float, "int16")]
    assert found == ["float64", "complex128", "complex128", "float64", "int16"]
    assert s.create(op="zeros", dtype="complex64").rule.key == "requested"
    assert name(s.cast("int8", "complex64")) == "complex128"


def test_only_a_lone_number_is_weak() -> None:
    jax = tl.system("jax")
    weak = [
        jax.create(1),
        jax.create(1, op="full"),
        jax.create([1]),
        jax.create(op="zeros"),
        jax.create(1, shape=(2,)),
    ]
    assert [p.weak for p in weak] == [True, True, False, False, False]
    assert jax.create(1, dtype="int8").weak is False
    assert jax.index("int8:weak", 0).weak is True


def test_what_a_library_does_not_take() -> None:
    assert tl.system("jax").write("int8", "int8").remedy == "write x = x.at[key].set(value)"
    assert "write where(mask, x, y)" in str(tl.system("mlx").index("int8", "bool").reason)
    assert "list" in str(tl.system("jax").index("int8", [0]).reason)
    assert tl.system("numpy").write("int8", "float64", "out=").rule.quoted


@pytest.mark.parametrize("numbers", ["[-(2**63), 2**63]", "[2**63, -(2**63)]"])
def test_the_larger_of_two_ints_of_one_magnitude_decides(numbers: str) -> None:
    """PyTorch has no integer for 2**63, and one for -2**63."""
    replay = tl.program(f"x * asarray({numbers})", x="int64[2]").under("torch")
    assert "has to lie within int64" in str(replay.refusals[0][1].reason)
    assert "has to lie within int64" in str(tl.system("torch").create(eval(numbers)).reason)
    with pytest.raises(tl.PromotionError, match="has to lie within int64"):
        tl.namespace("torch", np).asarray(eval(numbers))


def test_lists_in_a_list_are_an_index() -> None:
    assert name(NUMPY.index("int8", [[0, 1], [1, 0]])) == "int8"
    assert "list" in str(tl.system("jax").index("int8", [[0, 1], [1, 0]]).reason)
    assert tl.system("mlx").index("int8", [[True, False]]).dtype is None


def test_answers_are_values() -> None:
    p = NUMPY.create(op="zeros")
    assert pickle.loads(pickle.dumps(p)).dtype is p.dtype
    assert repr(NUMPY.cast("float64", "int8")) == "<int8: float64 cast to int8 under numpy>"
    with pytest.raises(
        tl.PromotionError, match="numpy refuses asarray of 300 as uint8\n  300 is out of range"
    ):
        raise tl.PromotionError(NUMPY.create(300, dtype="uint8"))


@pytest.mark.parametrize(("question", "error", "message"), [
    (lambda: NUMPY.create(op="zeroes"), tl.OpError, "did you mean zeros"),
    (lambda: NUMPY.create(1, op="zeros"), tl.OpError, "zeros takes no numbers here"),
    (lambda: NUMPY.create(op="full"), tl.OpError, "full makes an array of numbers; give one"),
    (lambda: NUMPY.create("int8", "int16"), tl.OperandError, "several arrays"),
    (lambda: NUMPY.create(1, dtype="flaot"), tl.DTypeError, "did you mean float"),
    (lambda: NUMPY.cast("int8", "flaot32"), tl.DTypeError, "did you mean float32"),
    (lambda: NUMPY.cast("int8", None), tl.OperandError, "None"),
    (lambda: NUMPY.index("int8", 0.5), tl.OperandError, "an index of floats"),
    (lambda: NUMPY.write("int8", "int8", "out"), tl.OpError, "out="),
    (lambda: NUMPY.write("int8", "int8", "add"), tl.OpError, "writes"),
    (lambda: NUMPY.create(object()), tl.OperandError, "takes no part"),
])  # fmt: skip
def test_nonsense_is_refused(question: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        question()  # type: ignore[operator]
