"""Operations that search a loop to which every operand casts."""
from __future__ import annotations

from small_systems import CHAIN, NUMPYLIKE, make, said, steps

import typelattice as tl

LOOPS = {"add": {"kernels": "all", "loops": {"search": "i16, f32", "own": "u8"}}}


def test_loops_of_a_class_may_be_taken_away() -> None:
    looped = {"kernels": "all", "loops": "f32"}
    s = make(CHAIN, ops={"products": looped, "vecdot": {"loops": ""}})
    assert [said(s, "int8", "int8", op=op) for op in ("tensordot", "vecdot")] == ["float32", "int8"]


def test_an_operation_with_loops_takes_the_first_to_which_every_operand_casts() -> None:
    s = make(f"{CHAIN}\nu1; bf16", ops=LOOPS, both_ways=["u1 + i16", "bf16, f32"], refusals={"b + f32": "no"})
    assert said(s, "int8", "uint8", op="add") == "int16"
    assert said(s, "uint8", "uint8", op="add") == "uint8"  # its own loop, before all
    assert said(s, "int8", "int8", op="add") == "int16"
    assert said(s, "int32", "int8", op="add") == "float32"
    assert said(s, "uint1", "int8", op="add") == "int16"
    assert said(s, "uint1", "uint1", op="add") == "int16"
    assert said(s, "bfloat16", "int32", op="add") == "float32"
    assert said(s, "bfloat16", "bool", op="add") == "- add takes no bfloat16 with bool"
    assert said(s, "float64", "int8", op="add") == "- add takes no float64"
    assert said(s, "bool", "bool", op="add") == "int16"
    assert s.explain("int8", "uint8", op="add").node is None
    assert steps(s, "int8", "uint8", op="add") == [("ops", "add", ("int8", "uint8"), "int16")]
    assert said(s, "int8", "bfloat16") == "- nothing lies above both"


def test_a_number_beside_several_arrays_has_no_say_in_the_search_for_a_loop() -> None:
    found = {"like": "sigmoid", "operands": "x, y, z", "kernels": "all", "loops": "f32, f64"}
    s = tl.system("numpy").replace(ops={"f": found})
    assert said(s, "uint16", "int8", "int8", op="f") == "float32"  # though the two meet at int32
    assert said(s, "uint16", "int8", 1, op="f") == "float32"
    assert said(s, "uint16", "int8", 1.0, op="f") == "float64"


def test_kernels_are_of_the_loop_and_accepts_is_of_each_operand() -> None:
    looped = {"loops": "i16, f32"}
    by_kernels, by_accepts = (
        make(CHAIN, ops={"add": {key: "integer", **looped}}) for key in ("kernels", "accepts")
    )
    assert said(by_kernels, "bool", "int8", op="add") == "int16"  # the dtype computed in has a kernel
    assert said(by_kernels, "float32", "int8", op="add") == "- add takes no float"
    assert said(by_accepts, "bool", "int8", op="add") == "- add takes no bool"


def test_scalars_meet_the_arrays_before_a_search_or_stand_in() -> None:
    s = make(
        f"{CHAIN}\nu1",
        **NUMPYLIKE,
        ops=LOOPS,
        both_ways=["u1 + i8, i16"],
        stand_in={"beside": "u1", "int": "i8"},
    )
    assert said(s, "int8", 1, op="add") == "int16"
    assert said(s, "uint8", 1, op="add") == "uint8"
    assert said(s, "uint1", 1, op="add") == "int16"
    assert s.explain("uint1", 1, op="add").node is None
    assert said(s, "uint1", 1.5, op="add") == "- no rule takes uint1 to a Python float"
