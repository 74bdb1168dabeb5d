"""Which answers leave the dtypes of a system, and which of its operations look like mistakes."""
from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from random import Random

import pytest
from command_line import said
from samples import one_in

import typelattice as tl
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.system_files.reader import parse
from typelattice.show.cli.main import main
from typelattice.study.tables.answers_outside_dtypes import find_escapes

CHIP = """
name = "chip"
order = "b -> i8 -> i32 -> f32; f8_e4m3fn -> bf16 -> f32"
tiers = ["array", "scalar"]
defaults = { bool = "b", int = "i32", float = "f32" }
[sets]
store = "f8_e4m3fn"
[ops]
computing = { accepts = "all but store" }
sum       = { computes = { i8 = "i32" } }
"""


def test_a_comparison_leaves_a_system_without_bool() -> None:
    found = find_escapes(parse('name = "m"\norder = "u8 -> i16; i8 -> i16"'))
    assert not found
    assert {e.dtype.name for e in found.escapes} == {"bool"}
    assert "equal of uint8 and uint8" in {e.question for e in found.escapes}
    assert find_escapes(parse('name = "m"\norder = "b -> u8 -> i16; i8 -> i16"')).escapes == ()


def test_dtypes_that_are_only_stored_and_sums_in_few_bits_are_named() -> None:
    found = find_escapes(parse(CHIP))
    assert [d.name for d in found.storage_dtypes] == ["float8_e4m3fn"]
    narrow = {(op, d.name) for op, d in found.narrow_accumulators}
    assert ("prod", "int8") in narrow
    assert ("matmul", "int8") in narrow
    assert ("sum", "int8") not in narrow
    stated = CHIP.replace('computes = { i8 = "i32" }', 'accumulates = { i8 = "i32" }')
    narrow = {(op, d.name) for op, d in find_escapes(parse(stated)).narrow_accumulators}
    assert ("sum", "int8") not in narrow and ("prod", "int8") in narrow
    assert not {op for op, _ in narrow} & {"outer", "kron", "cross"}


def test_operations_of_ones_own_and_accumulators_may_leave_the_dtypes() -> None:
    text = CHIP.replace("sum       =", 'scaled = { like = "matmul", gives = "i32" }\nsum       =')
    assert (
        find_escapes(parse(text)).operation_count
        == find_escapes(parse(CHIP)).operation_count + 1
    )
    wide = parse(text).replace(ops={"scaled": {"like": "matmul", "gives": "complex"}})
    found = [e for e in find_escapes(wide).escapes if e.question.startswith("scaled")]
    assert {e.part for e in found} == {"the result is"}


def test_accumulators_of_a_lower_kind_or_of_fewer_bits_have_a_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = 'name = "m"\ntiers = ["array"]\norder = "b -> i8 -> i16 -> i32 -> f16, bf16 -> f32"\n[ops]\n'
    rest = 'eigen.kernels = "none"\nfourier-in.kernels = "none"\n'
    for stated, found in {
        'products.accumulates = { f16 = "i32" }': "float16 in int32: matmul",
        'accumulate.accumulates = { i32 = "i8" }': "int32 in int8: sum",
        'accumulate.accumulates = { bf16 = "f16" }': "bfloat16 in float16: sum",
        'products.accumulates = { "i32 + f16" = "f16", f16 = "i32" }': "float16 in int32",
    }.items():
        path = tmp_path / "m.toml"
        path.write_text(f"{order}{stated}\n{rest}", encoding="utf-8")
        with pytest.raises(SystemExit) as e:
            main(["check", str(path), "--closed"])
        assert e.value.code == 3
        assert found in capsys.readouterr().out
    path.write_text(f'{order}products.accumulates = {{ f16 = "f32", i8 = "i32" }}\n{rest}', encoding="utf-8")
    assert main(["check", str(path), "--closed"]) == 0


@pytest.mark.parametrize("name", one_in(6, ["c", "arrow", "array-api", "jep9407-3", "numpy", "tinygrad"]))
def test_random_questions_find_no_other_dtype(name: str) -> None:
    """Operations of equal rules are asked once: what any other operation gives was found, too."""
    system, dice = tl.system(name), Random(9407)
    known = {*system.dtypes} | {e.dtype for e in find_escapes(system).escapes}
    operands = [*map(str, system.dtypes), *(o for o in ("int", "float") if system.tiers)]
    named = [
        o for o in OPERATIONS.values() if o.name not in system.missing_operations and o.min_operands <= 2
    ]
    for op, (a, b) in product(named, [dice.sample(operands, 2) for _ in range(6)]):
        given = (a,) if op.max_operands == 1 else (a, b)
        try:
            p = system.explain(*given, op=op.name)
        except (tl.OpError, tl.OperandError):
            continue
        assert p.dtype is None or {p.dtype, p.compute or p.dtype} <= known, (op.name, given)


def test_the_command_ends_with_1_if_a_system_is_not_closed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chip.toml"
    path.write_text(CHIP, encoding="utf-8")
    assert main(["check", str(path), "--closed"]) == 1
    shown = capsys.readouterr().out
    assert "never         no operation computes with float8_e4m3fn" in shown
    assert "results accumulate in int8:" in shown
    assert "✓ no result, accumulator, default or literal" in said(capsys, "check", "arrow", "--closed")
    data = json.loads(said(capsys, "check", "arrow", "--closed", "--format", "json"))
    assert data["closed"]["escapes"] == []
