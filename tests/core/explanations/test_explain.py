"""`tl.explain`: the answers of all systems to one question, printed, drawn and looked up."""
from __future__ import annotations

import json

import numpy as np
import pytest

import typelattice as tl
from typelattice.show.cli.main import main


def test_it_prints_what_the_command_line_prints(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "int64", "float16"])
    printed = capsys.readouterr().out
    assert printed.startswith(str(tl.explain("int64", "float16")))
    assert repr(tl.explain("int64", "float16")) == str(tl.explain("int64", "float16"))


def test_it_is_a_function_after_explanations_were_printed() -> None:
    str(tl.system("numpy").explain("int8", "uint8"))
    assert callable(tl.explain)


def test_its_json_is_that_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "int64", "float16", "--format", "json"])
    rendered = tl.render(tl.explain("int64", "float16"), "json")
    assert json.loads(rendered) == json.loads(capsys.readouterr().out)


def test_arrays_and_operations_are_taken() -> None:
    found = tl.explain(np.ones(3, np.uint8), 300, op="add", systems=["numpy", "jax"])
    assert found["numpy"].reason == "300 is out of range for uint8"
    assert [p.system.name for p in found] == ["numpy", "jax"]


def test_a_system_that_was_not_asked_is_named_with_the_nearest() -> None:
    with pytest.raises(tl.UnknownSystemError, match=r"'numpi' was not asked [(]did you mean numpy"):
        tl.explain("int8", systems=["numpy"])["numpi"]


def test_no_systems_at_all_are_refused() -> None:
    with pytest.raises(tl.UnknownSystemError, match="no system was named"):
        tl.explain("int8", systems=[])


def test_the_example_is_a_system_that_people_know(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "int64", "float16"])
    assert "Why? Add --system torch\n" in capsys.readouterr().out


def test_systems_of_the_same_name_are_both_answered() -> None:
    numpy = tl.system("numpy")
    assert len(tl.explain("int8", "uint8", systems=[numpy, numpy])) == 2


def test_operands_of_one_dtype_are_said_to_be_so() -> None:
    assert "way up        every operand is int8\n" in str(tl.system("numpy").explain("int8", "int8"))
    assert "way up        int8 stays as it is\n" in str(tl.system("numpy").explain("int8"))


def test_a_scalar_whose_value_chose_a_dtype_is_not_said_to_add_nothing() -> None:
    printed = str(tl.system("polars").explain("uint8", 300, op="add"))
    assert "a Python int counts as uint16" in printed
    assert "tiers" not in printed


def test_what_is_no_dtype_is_refused_by_its_type_however_long_it_is() -> None:
    with pytest.raises(tl.DTypeError, match=r"^an object of type int is no DType"):
        tl.loss(10**5000, "int8")  # type: ignore[arg-type]


def test_a_shift_by_a_negative_number_is_not_advised_to_take_a_float() -> None:
    array_api = tl.system("array-api")
    assert array_api.explain("int8", -1, op="bitwise_left_shift").remedy == "use a value that it takes"
    assert array_api.explain("int8", -1, op="pow").remedy == "cast the left operand to a float"
