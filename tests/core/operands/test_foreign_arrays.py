"""One library's arrays beside another's: what each counts as, why it is refused, what was recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import one_in

import typelattice as tl
from typelattice.conformance.recording.compare_with_system import compare_calls
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.evidence.recording_files import FOREIGN_FOLDER, RECORDINGS_FOLDER, load_recording
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.system_text import FormatError

np = pytest.importorskip("numpy")

COUNTING = """
name = "mine"
library = "mine 1"
order = "b -> i8 -> i16 -> i64 -> f32 -> f64"
tiers = ["array", "scalar"]
defaults = { int = "i64", float = "f32" }
"""
# Systems that refuse calls that the library answers, with a reason that says so: by NumPy's rules, which no
# rule of PyTorch can state, and in comparisons.
REFUSED_BUT_ANSWERED = {"torch": "NumPy computes", "cupy": "only a comparison takes one of shape ()"}
FILES = sorted((Path(RECORDINGS_FOLDER) / FOREIGN_FOLDER).glob("*.jsonl"))


def departs_of_its_own(system: str, call: RecordedCall) -> bool:
    """Whether the library departs from its rule in the same call of its own arrays alone."""
    own = [x.partition(":")[0] for x in call.operands]
    seen = tl.observed(tl.system(system).explain(*own, op=call.op))
    return seen is not None and seen.departs


@pytest.mark.parametrize("file", one_in(3, FILES), ids=lambda file: file.stem)
def test_a_system_answers_of_foreign_arrays_as_its_library_did(file: Path) -> None:
    recording = load_recording(file)
    report = compare_calls(tl.system(file.stem), recording.calls())
    assert report.compared_count > 800
    for m in report.mismatches:
        if not departs_of_its_own(file.stem, m.call):
            p = tl.system(file.stem).explain(*m.call.operands, op=m.call.op)
            assert p.dtype is None and REFUSED_BUT_ANSWERED.get(file.stem, "?") in str(p.reason), m
    for m in report.mismatches:  # a departure has the reason that it has without foreign arrays
        seen = tl.observed(tl.system(file.stem).explain(*m.call.operands, op=m.call.op))
        assert seen is not None and seen.departs
        assert (seen.reason is not None) is departs_of_its_own(file.stem, m.call), m


@pytest.mark.parametrize("name", ["keras", "mlx"])
def test_why_a_foreign_array_may_not_stand_at_the_left_of_an_operator_is_what_the_file_says(
    name: str,
) -> None:
    s = tl.system(name)
    refused = s.explain("float32:numpy", "float32", op="+")
    assert refused.reason == s.foreign["numpy"]["left"]
    assert s.explain("float32", "float32:numpy", op="+").dtype is tl.dtype("float32")
    assert s.explain("float32:numpy", "float32", op="add").dtype is tl.dtype("float32")


def test_a_bool_times_an_array_of_numpys_is_a_logical_and_in_tensorflow() -> None:
    for operands in (("bool", "bool:numpy"), ("bool", "float32:numpy")):
        p = tl.system("tensorflow").explain(*operands, op="*")
        seen = tl.observed(p)
        assert seen is not None and not seen.departs
        assert str(seen.dtype) == str(p.dtype) == "bool", operands


def test_what_was_recorded_of_foreign_arrays_is_said() -> None:
    for file in FILES:
        recording = load_recording(file)
        asked = [call for call in recording.calls() if call.answer != "!NotAsked"]
        for call in asked[:: len(asked) // 40]:
            found = tl.observed(tl.system(file.stem).explain(*call.operands, op=call.op))
            assert found is not None and found.call == call


def test_a_foreign_array_is_read_back_from_its_string() -> None:
    for text in ("int8:numpy", "int8:0d:numpy", "float64:numpy-scalar", "float64:numpy-scalar=2.5"):
        assert str(tl.operand(text)) == text
    assert (
        tl.operand("int8:numpy").foreign_library == "numpy" and tl.operand("int8:numpy-scalar").tier == "0d"
    )
    with pytest.raises(tl.OperandError, match="cannot read 'nunpy' in 'int8:nunpy'"):
        tl.operand("int8:nunpy")


def test_numpy_scalars_are_pythons_numbers_to_pytorch() -> None:
    torch = tl.system("torch")
    assert str(torch.result_type("int8", "float64:numpy-scalar")) == "float32"
    assert str(torch.result_type("int8", "int64:numpy-scalar")) == "int8"
    assert str(torch.result_type("int8", "bool:numpy-scalar")) == "float32"
    with pytest.raises(tl.PromotionError, match="NumPy computes tensor"):
        torch.result_type("int8", "float64:numpy")


def test_a_foreign_array_takes_the_dtype_of_the_others_in_tensorflow_and_mlx() -> None:
    for name in ("tensorflow", "mlx"):
        assert str(tl.system(name).promote("int8", "float64:numpy", op="maximum").dtype) == "int8"
    assert str(tl.system("mlx").promote("int8", "float64:numpy-scalar", op="maximum").dtype) == "float32"


def test_what_no_file_speaks_of_is_refused() -> None:
    with pytest.raises(tl.PromotionError, match="nothing is recorded of numpy's arrays beside its own"):
        tl.system("polars").result_type("int8", "int8:numpy")
    with pytest.raises(tl.PromotionError, match="nothing is recorded of torch's arrays beside its own"):
        tl.system("numpy").result_type("int8", "int8:torch")


def test_a_library_is_no_foreign_array_of_its_own() -> None:
    numpy = tl.system("numpy")
    assert numpy.result_type("int8:numpy", "int16") is numpy.result_type("int8", "int16")


def test_arrays_of_one_library_are_no_foreign_arrays_of_a_system() -> None:
    """What PyTorch would make of the dtypes of NumPy's arrays may be asked with these."""
    p = tl.system("torch").explain(np.ones(2, "float32"), np.float64(2), "int8")
    assert not any(o.foreign_library for o in p.operands)


def test_an_explanation_says_what_a_foreign_array_counts_as() -> None:
    told = str(tl.system("torch").explain("int8", "float64:numpy-scalar", op="add"))
    assert "float64:numpy-scalar counts as a Python float" in told
    p = tl.system("torch").explain("int8", "float64:numpy-scalar", op="add")
    assert tl.system("torch").replace(foreign={}).explain(*p.operands, op="add").dtype is None


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ('{ nunpy = "array" }', "unknown library 'nunpy' (did you mean numpy"),
        ('{ numpy = "arrays" }', "'arrays' is none of array, number, float, other, and no reason in words"),
        ("{ numpy = {} }", "says nothing of numpy; leave it out"),
        ("{ numpy = 3 }", "this should be a table, not a whole number"),
        ('{ numpy = { matrix = "array" } }', "unknown dtype 'matrix'"),
        ("{ numpy = { array = 1 } }", "this should be a string, not a whole number"),
        ("{ numpy = { made = 1 } }", "this should be a table, not a whole number"),
        ('{ numpy = { made = { f64 = "f23" } } }', "unknown dtype 'f23'"),
    ],
)
def test_what_a_file_cannot_say_of_foreign_arrays_is_refused(given: str, cause: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(f'name = "mine"\norder = "i8"\nforeign = {given}\n')
    assert cause in str(caught.value)


@pytest.mark.parametrize(("system", "dtype"), [("mlx", "float32"), ("torch", "float64")])
def test_a_library_may_make_an_array_of_another_dtype_of_a_foreign_one(system: str, dtype: str) -> None:
    """MLX has arrays of float64, and makes none of NumPy's."""
    for made in ("np.ones(3)", "np.arange(3) / 2"):
        assert str(tl.program(f"mx.array({made})").under(system)[-1]) == dtype
    assert str(tl.program("mx.array(x)", x="float64").under(system)[-1]) == "float64"


class Foreign:
    """An array of no library that is known."""

    shape, ndim, dtype = (2,), 1, np.dtype("int8")

    def __array_namespace__(self) -> object:
        return np


def test_arrays_that_no_library_owns_are_read_by_their_dtypes() -> None:
    assert str(tl.system("numpy").result_type(Foreign(), np.ones(2, "int16"))) == "int16"


def test_a_list_that_counts_as_a_number_has_dimensions_where_they_are_needed() -> None:
    """TensorFlow makes a tensor of a list: of the dtype of the other operand, or of the default dtype."""
    x = "float16[2]"
    assert str(tl.program("x + [1, 2]", x=x).under("tensorflow")[-1]) == "float16"
    assert str(tl.program("x @ [1.0, 2.0]", x=x).under("tensorflow")[-1]) == "float16"
    assert str(tl.program("mean([1.5, 2.5])").under("tensorflow")[-1]) == "float32"


def test_a_list_that_counts_as_a_number_is_one_beside_an_array_and_an_array_alone() -> None:
    s = parse(f"""{COUNTING}foreign = {{ python = "number" }}
[ops]
computing = {{ kernels = "all", scalars = "beside an array" }}
cumulative = {{ scalars = "none, nor 0d" }}
""")
    assert str(s.explain("int8", "float64:python", op="add").dtype) == "float32"  # floats' default
    assert str(s.explain("int8", "int64:python").dtype) == "int8"
    assert str(s.explain("int64:python", op="square").dtype) == "int64"  # where a number is refused
    assert s.explain(1, op="square").dtype is None
    assert str(s.explain("int64:python", op="cumsum").dtype) == "int64"


def test_what_is_said_of_a_foreign_array_that_is_assigned_holds_at_the_right_of_an_assignment_alone() -> None:
    s = parse(
        COUNTING + 'foreign = { numpy = { array = "it is refused here", assigned = "array" } }\n'
    )
    assert str(s.explain("int64", "int64:numpy", op="setitem").dtype) == "int64"
    assert s.explain("int64:numpy", "int64", op="setitem").reason == "it is refused here"


def test_a_foreign_array_keeps_its_dtype_where_the_operation_makes_arrays() -> None:
    ops = '[ops]\nadd = { counts-as = "array if first" }\nappend = { counts-as = "array" }\n'
    ops += '"+" = { counts-as = "itself" }\n'
    s = parse(f'{COUNTING}foreign = {{ numpy = "other" }}\n{ops}')
    both = ("int16:numpy", "int8"), ("int8", "int16:numpy")
    for op, dtypes in {"add": "int16 int8", "append": "int16 int16", "+": "int8 int8"}.items():
        assert [str(s.explain(*x, op=op).dtype) for x in both] == dtypes.split(), op


def test_a_system_that_is_no_librarys_takes_a_list_for_an_array() -> None:
    program = tl.program("x + [1, 2]", x="int8[2]")
    assert str(program.under("jep9407-1")[-1]) == str(tl.system("jep9407-1").result_type("int8", "int64"))
    assert program.under("arrow")[-1].reason == "nothing is recorded of Python's lists beside its own"


def test_a_scalar_of_numpy_beside_a_string_is_foreign() -> None:
    """PyTorch takes np.float64 for a Python float. C has no rule for it, and reads it as its own."""
    assert str(tl.system("torch").promote("int64", np.float64(2.5), op="add").dtype) == "float32"
    assert str(tl.system("mlx").promote("float16", np.float32(2), op="multiply").dtype) == "float16"
    assert str(tl.system("c").promote("int32", np.float64(2.5), op="add").dtype) == "float64"


@pytest.mark.parametrize(
    ("system", "expression", "dtype"),
    [
        ("torch", "torch.relu(x) * np.float64(2.5)", "float32"),
        ("torch", "torch.exp(x) / np.sqrt(64.)", "float32"),
        ("torch", "torch.relu(x) * np.array(2.5)", "float64"),  # an array without dimensions is no scalar
        ("jax", "jnp.exp(x) / np.sqrt(64.)", "float64"),
        ("mlx", "mx.exp(x) / np.sqrt(64)", "float32"),
        ("torch", "np.float64(2.5) * x", "float64"),  # NumPy's program: all arrays become tensors
    ],
)
def test_constants_of_numpy_in_another_librarys_program_stay_its_scalars(
    system: str, expression: str, dtype: str
) -> None:
    assert str(tl.program(expression, x="int16[3]").under(system).dtype) == dtype
