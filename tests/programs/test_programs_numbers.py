"""Python's numbers in programs: among themselves they are Python's, beside arrays the system's."""
from __future__ import annotations

import pytest
from expressions import answers, whole

import typelattice as tl

np = pytest.importorskip("numpy")


def test_numbers_among_themselves_are_pythons() -> None:
    assert answers("a + (1 + True)*2.0", "jax", a="float16")["a + (1 + True)*2.0"] == "float16"
    for text, said in (("7 // 2", "Python int"), ("7 / 2", "Python float"), ("1 < 2", "Python bool")):
        assert whole(text) == said
        p = tl.program(f"a + ({text})", a="uint8")
        assert str(p.under("numpy")[1]) == said
    assert answers("a + -1", "array-api", a="uint8")["a + -1"] == "refused"
    assert answers("a + 1j", "numpy", a="float32")["a + 1j"] == "complex64"


def test_arithmetic_of_literals_is_pythons() -> None:
    for number in ("3*100", "(+300)", "300"):
        assert whole(f"a + {number}", a="uint8") == "refused"
    assert whole("a + 3*50", a="uint8") == "uint8"
    assert whole("a * 2**-1", a="int8") == "float64"
    assert whole("a * (-2)**0.5", a="float32") == "complex64"
    with pytest.raises(tl.ProgramError, match="division by zero"):
        tl.program("a * (1/0)", a="int8")
    assert whole("a * 2**9**9**9", a="int8") == "int8"  # and is not computed


@pytest.mark.parametrize("factor", [
    "2**-126", "10**-70", "2**-1", "2**64", "2**b", "(-8)**0.5", "2.0**-1100", "True**-1", "0**1", "7 // 2",
    "1 << 3", "6 & 3", "~True", "3 > 2", "-2**2", "+True", "5 % 3.0", "1e308*10", "b*b", "1j**2",
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["int8", "float16", "complex64"])
def test_python_computes_what_is_of_its_own_numbers(factor: str, dtype: str) -> None:
    b = -1
    number = eval(factor.replace("~True", "~1"), {"b": b})
    bound = {"b": str(b)} if "b" in factor else {}
    computed = tl.program(factor, **bound).under("numpy")[-1].operand
    assert computed is not None and (computed.value, type(computed.value)) == (number, type(number))
    try:
        with np.errstate(all="ignore"):
            expected = str((np.ones(2, dtype) + number).dtype)
    except OverflowError:
        expected = "refused"
    assert whole(f"x + ({factor})", x=dtype, **bound) == expected


def test_python_numbers_that_it_refuses_or_that_are_too_large() -> None:
    assert whole("(1j < 2)*x", x="int8") == "not reached"
    assert answers("(1j < 2)*x", "numpy", x="int8") == {"1j < 2": "refused", "(1j < 2)*x": "not reached"}
    assert whole("(1.5 & 2)*x", x="int8") == "not reached"
    assert answers("x + (1 << 5000)", "numpy", x="int8")["1 << 5000"] == "Python int"
    assert whole("2**(-2**1000)") == "Python float"
    with pytest.raises(tl.ProgramError, match="negative shift count"):
        tl.program("x + (1 << -1)", x="int8")


def test_functions_of_python_numbers_are_the_librarys() -> None:
    """An operator of Python numbers gives one, a function of them an array or a scalar of the library's."""
    bound = {"s": "float", "t": "float", "x": "float32"}
    x = np.ones(2, "float32")
    assert whole("multiply(s, t)*x", **bound) == str((np.multiply(2.0, 3.0) * x).dtype) == "float64"
    assert whole("s*t*x", **bound) == str((2.0 * 3.0 * x).dtype) == "float32"
    assert whole("negative(1.0)*x", x="float32") == str((np.negative(1.0) * x).dtype) == "float64"
    assert whole("np.add(1, 2)*x", x="int8") == str((np.add(1, 2) * np.ones(2, "int8")).dtype) == "int64"
    assert whole("jnp.multiply(2.0, 3.0)*x", "jax", x="float16") == "float16"  # JAX's is weak


def test_numbers_beside_arrays_in_a_list_take_the_default_dtype_in_programs_too() -> None:
    p = tl.program("np.asarray([x, 1.0])", x="float32:0d")
    assert str(p.under("numpy").dtype) == "float64"
    assert str(tl.program("jnp.asarray([x, 1.0])", x="float32:0d").under("jax").dtype) == "float32"
    chosen = tl.program("np.where(c, x, 1.0)", c="bool[3]", x="float32[3]")
    assert str(chosen.under("numpy").dtype) == "float32"
