"""The text of an explicit program reads back as a program that computes the same values."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from library_programs import LibraryProgram, library_of, run_program
from samples import one_in
from test_programs_random import comparable, listed

import typelattice as tl

np = pytest.importorskip("numpy")
pytest.importorskip("array_api_compat")

SEEDS = range(4)
MADE = [run_program(library_of("numpy"), seed, most=10) for seed in SEEDS]


def computed(program: tl.Program, system: str, made: LibraryProgram) -> tuple[Any, ...]:
    """The results of a program under a system, computed by NumPy."""
    xp = tl.namespace(system, np)
    given: dict[str, Any] = {}
    for name in program.inputs:
        what = made.inputs[name]
        dtype, _, lengths = what.removesuffix(":0d").rstrip("]").partition("[")
        shape = tuple(int(n) for n in lengths.split(",") if n)
        values = np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape)
        given[name] = float(what) if what[0].isdigit() else xp.asarray(values, dtype=dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return listed(program.run(xp, **given))


def explicit_programs(system: str, made: LibraryProgram) -> list[tuple[tl.Program, tuple[Any, ...]]]:
    """The explicit program of the lines that a system takes and NumPy computes, line by line."""
    kept, found, used = ["import numpy as np"], [], set[str]()
    for line in made.lines:
        if line.error:
            continue
        text = "\n".join([*kept, line.text, f"({', '.join(sorted(line.made))},)"])
        bound = {name: x for name, x in made.inputs.items() if name in used | line.used}
        try:
            explicit = tl.program(text, **bound).explicit(system)
            found.append((explicit, computed(explicit, system, made)))
        except (tl.TypelatticeError, ArithmeticError, LookupError, TypeError, ValueError):
            continue  # refused, or not computed by this namespace
        kept.append(line.text)
        used |= line.used
    return found


@pytest.mark.parametrize("system", one_in(3, tl.systems(), 1))
def test_an_explicit_program_reads_back_with_its_values(system: str) -> None:
    for made in MADE:
        for explicit, values in explicit_programs(system, made)[-1:]:
            again = tl.program(str(explicit))
            if ".empty" in str(explicit):  # whose values are any
                continue
            for x, y in zip(values, computed(again, system, made), strict=True):
                assert type(x) is type(y), str(explicit)
                if hasattr(x, "dtype"):
                    assert x.dtype is y.dtype, str(explicit)
                    expected, got = comparable(np.asarray(x.bare)), comparable(np.asarray(y.bare))
                    np.testing.assert_array_equal(got, expected, err_msg=str(explicit))


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("s = x.sum()\ns /= 2\ns", "float64"),  # a scalar of NumPy, which the operator replaces
        ("np.flatnonzero(x) * 2.5", "float64"),  # a function that stands for one of several results
    ],
)
def test_calls_that_a_program_keeps_a_note_of_read_back(text: str, dtype: str) -> None:
    explicit = tl.program(text, x="int16[3]").explicit("numpy")
    assert str(tl.program(str(explicit)).under("array-api").dtype) == dtype


@pytest.mark.parametrize(
    ("text", "value"),
    [("float(x.sum()) / 2", 3.0), ("int(x[0]) + 1", 2), ("bool(x[0])", True), ("math.sqrt(x[3])", 2.0)],
)
def test_a_python_number_of_an_array_reads_back(text: str, value: float) -> None:
    explicit = tl.program(text, x="int8[4]").explicit("numpy")
    again, x = tl.program(str(explicit)), np.asarray([1, 2, -1, 4], "int8")
    assert again.run(np, x=x) == explicit.run(np, x=x) == value


@pytest.mark.parametrize("text", ["x << 1", "x >> y"])
def test_a_shift_by_another_dtype_is_a_typed_graph(text: str) -> None:
    bound = {"x": "int32[2]", **({"y": "int64[2]"} if "y" in text else {})}
    explicit = tl.program(text, **bound).explicit("go")
    explicit.check()
    again = tl.program(str(explicit))
    again.check()
    assert str(again.under("numpy").dtype) == "int32"


@pytest.mark.parametrize(("into", "dtype"), [("float32", "float32"), ("int32", None)])
def test_out_refuses_the_same_after_reading_back(into: str, dtype: str | None) -> None:
    """np.add writes no float64 into integers, though `z[...] = x` does."""
    program = tl.program("np.add(x, y, out=z)", x="float64", y="float64", z=into)
    again = tl.program(str(program))
    assert str(again) == str(program)
    for read in (program, again):
        found = read.under("numpy")[-1].operand
        assert (found and str(found.dtype)) == dtype


def test_most_lines_are_computed() -> None:
    ran = sum(len(explicit_programs("numpy", made)) for made in MADE)
    assert ran > 6 * len(MADE)
