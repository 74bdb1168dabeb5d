"""Operations that a library does not have, and assignment to the elements of arrays that do not change."""

from __future__ import annotations

import pytest

import typelattice as tl
from typelattice.core.evidence.never_asked import is_never_asked
from typelattice.core.evidence.recording_files import open_recording
from typelattice.core.operations.missing_operations import find_missing_operations
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.registry.libraries import recordings
from typelattice.core.system_files.reader import parse

IMMUTABLE = (
    "tensorflow", "tensorflow-all", "tensorflow-safe", "tensorflow-legacy", "keras", "polars", "triton",
    "max",
)  # fmt: skip


@pytest.mark.parametrize("system", ["dask", "tinygrad", "ndonnx", "polars", "triton", "c", "go"])
def test_an_operation_that_a_library_lacks_is_refused_by_name(system: str) -> None:
    p = tl.system(system).explain("float32", op="eigh")
    assert p.dtype is None
    assert p.reason == f"{system} has no eigh"
    assert tl.program("eigh(x)[0]", x="float32[2,2]").under(system).dtype is None


@pytest.mark.parametrize(
    ("system", "op"), [("dask", "heaviside"), ("mlx", "gcd"), ("tinygrad", "interp"), ("tensorflow", "diff")]
)
def test_what_was_looked_up_in_vain_is_refused_everywhere(system: str, op: str) -> None:
    """An answer, a program and a namespace refuse it, and the rule is the row that lists it."""
    operands = ["float32"] * OPERATIONS[op].min_operands
    p = tl.system(system).explain(*operands, op=op)
    assert (p.reason, p.remedy) == (f"{system} has no {op}", "write it with operations that it has")
    assert p.rule.file == "missing_operations.txt" and p.rule.quoted[0].split()[0] == op
    assert "it has no function of that name" in str(p) and "takes" not in str(p)
    call = f"{op}({', '.join('x' for _ in operands)})"
    replay = tl.program(call, x="float32[3]").under(system)
    assert [outcome.reason for _, outcome in replay.refusals] == [p.reason]
    assert not replay[-1].is_unrecorded


def test_what_a_language_was_not_asked_is_not_missing() -> None:
    for system, op in (("octave", "reshape"), ("fortran", "matmul"), ("c", "sqrt")):
        p = tl.system(system).explain(*["float32"] * OPERATIONS[op].min_operands, op=op)
        assert str(p.dtype) == "float32" and is_never_asked(p)


def test_a_namespace_refuses_what_its_library_lacks() -> None:
    np = pytest.importorskip("numpy")
    x = tl.namespace("torch", np).asarray([1.0])
    with pytest.raises(tl.PromotionError, match="torch has no append"):
        tl.namespace("torch", np).append(x, x)


def test_no_listed_operation_was_asked() -> None:
    """A recorded answer of a library shows that it has the operation."""
    for name in recordings():
        page = open_recording(name)
        if page:
            lacks, _ = page.missing_in_release
            assert not [
                op for op in find_missing_operations(name) if op not in lacks and any(page.answers_of(op))
            ], name


def test_a_variant_of_ones_own_has_what_it_describes() -> None:
    text = 'extends = "dask"\nname = "mine"\nops = { gcd = { kernels = "integer" } }'
    assert str(parse(text).explain("int8", "int8", op="gcd").dtype) == "int8"


@pytest.mark.parametrize("system", IMMUTABLE)
def test_elements_of_arrays_that_do_not_change_are_not_assigned(system: str) -> None:
    assert tl.system(system).explain("float32", "float32", op="setitem").reason == f"{system} has no setitem"
    assert tl.program("x[0] = 5\nx", x="int8[2]").under(system).dtype is None


def test_jax_replaces_elements_in_a_copy_only() -> None:
    for system in ("jax", "jax-x32", "jax-strict"):
        refused = tl.program("x[0] = 5\nx", x="int8[2]").under(system)
        ((_, outcome),) = refused.refusals
        assert outcome.reason and outcome.reason.endswith("write x = x.at[key].set(value)")
        copied = tl.program("x.at[0].set(5) + y", x="int8[2]", y="int8[2]")
        assert str(copied.under(system).dtype) == "int8"
        again = tl.program(str(copied).partition("\n")[2].replace("return ", ""), x="int8[2]", y="int8[2]")
        assert str(again.under(system).dtype) == "int8"


@pytest.mark.parametrize(("system", "value"), [("mlx", "float32"), ("mlx", "1.5"), ("polars-series", "1.5")])
def test_mlx_and_series_cast_what_is_assigned(system: str, value: str) -> None:
    assert str(tl.system(system).explain("int8", value, op="setitem").dtype) == "int8"


def test_mlx_refuses_an_int_that_the_array_does_not_hold() -> None:
    assert tl.system("mlx").explain("int8", 300, op="setitem").reason == "300 is out of range for int8"
