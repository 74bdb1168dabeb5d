"""Departures from a policy, and the memory of a model, in logs that are written by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl
from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.models.departures import (
    DEFAULT_DTYPE,
    ESCAPED,
    STORED,
    WIDE_LAYER,
    find_departures,
)
from typelattice.tracing.models.memory_table import make_memory_table
from typelattice.tracing.run_data.operation_log import (
    FORWARD,
    GRADIENT,
    PARAMETER,
    OperationLog,
    Place,
    StoredTensor,
    Tally,
    Tensor,
)
from typelattice.tracing.run_data.policy import read_policy

NARROW, WIDE, NUMBER = Tensor("bfloat16", True), Tensor("float32", True), Tensor("float32", False)


class Model:
    """A log of operations, one a line."""

    def __init__(self) -> None:
        self.log = OperationLog()

    def run(self, operation: str, gives: Tensor, *takes: Tally, module: str = "m", **facts: Any) -> Tally:
        line = len(self.log.tallies) + 1
        place = Place(SourceLocation("m.py", line), None, module, FORWARD)
        made = self.log.add_tally(line, operation, place, [t.gives[0] for t in takes], [gives])
        made.count, made.bytes = 1, 8
        made.producers = dict.fromkeys(enumerate(takes))
        for name, value in facts.items():
            setattr(made, name, value)
        return made

    def kinds(self, policy: str = "compute=bfloat16") -> list[tuple[str, int]]:
        found = find_departures(self.log, read_policy(policy)).departures
        places = [each.place.location if each.place else None for each in found]
        return [(each.kind, at.line if at else 0) for each, at in zip(found, places, strict=True)]

    def islands(self) -> list[int]:
        found = find_departures(self.log, read_policy("compute=bfloat16")).islands
        return [each.place.location.line for each in found if each.place.location]


def test_an_upcast_that_is_cast_back_is_an_island() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    wide = model.run("_to_copy", WIDE, x, is_cast=True)
    square = model.run("pow", WIDE, wide)
    model.run("_to_copy", NARROW, square, is_cast=True)
    assert model.kinds() == [] and model.islands() == [2]


def test_a_wide_array_that_meets_a_narrow_one_and_is_never_cast_back_escapes() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    wide = model.run("_to_copy", WIDE, x, is_cast=True)
    met = model.run("mul", WIDE, wide, x)
    model.run("tanh", WIDE, met)
    assert model.kinds() == [(ESCAPED, 3)]


def test_a_wide_array_that_was_asked_for_and_widens_the_module_around_escapes() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    weights = model.run("softmax", WIDE, x, module="moe", requested=True)
    mixed = model.run("mul", WIDE, x, weights, module="moe")
    added = model.run("add", WIDE, x, mixed, module="")
    model.run("_to_copy", NARROW, added, is_cast=True)
    assert model.kinds() == [(ESCAPED, 3)]


def test_a_norm_after_a_layer_in_float32_widens_nothing_around_it() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    stream = model.run("add", WIDE, x, model.run("_to_copy", WIDE, x, is_cast=True), module="b.layers.0")
    normed = model.run("mul", WIDE, x, stream, module="b.norm")
    model.run("_to_copy", NARROW, normed, is_cast=True)
    assert model.kinds() == []


def test_positions_that_widen_what_the_module_around_computes_escape() -> None:
    for user, kinds in (("", [(ESCAPED, 3)]), ("positions", []), ("positions.norm", [])):
        model = Model()
        x = model.run("randn", NARROW, requested=True)
        made = model.run("arange", WIDE, requested=True)
        met = model.run("add", WIDE, x, made, module="positions")
        model.run("_to_copy", NARROW, model.run("tanh", WIDE, met, module=user), is_cast=True)
        assert model.kinds() == kinds


def test_a_residual_stream_that_was_asked_for_may_go_through_all_layers() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    stream = model.run("_to_copy", WIDE, x, is_cast=True)
    line = SourceLocation("m.py", 99)
    for layer in ("layers.0", "layers.1"):
        place = Place(line, None, layer, FORWARD)
        made = model.log.add_tally(layer, "add", place, [NARROW, WIDE], [WIDE])
        made.count, made.producers = 1, dict.fromkeys(enumerate((x, stream)))
        stream = made
    model.run("_to_copy", NARROW, stream, is_cast=True)
    assert model.kinds() == []


def test_a_wide_array_of_which_only_indices_are_used_is_an_island() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    scores = model.run("_to_copy", WIDE, x, is_cast=True)
    biased = model.run("add", WIDE, scores, x)
    indices = Tensor("int64", True)
    place = Place(SourceLocation("m.py", 50), None, "m", FORWARD)
    top = model.log.add_tally("topk", "topk", place, [WIDE], [WIDE, indices])
    top.producers, top.unread_count = {(0, biased): None}, 1
    chosen = model.log.add_tally("gather", "gather", place, [NARROW, indices], [NARROW])
    chosen.producers = {(0, x): None, (1, top): None}
    assert model.kinds() == []


def test_a_wide_state_that_is_copied_into_a_wide_cache_does_not_escape() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    decay = model.run("_to_copy", WIDE, x, is_cast=True)
    met = model.run("mul", WIDE, decay, x)
    kept = model.run("copy_", WIDE, model.run("zeros", WIDE, requested=True), met)
    kept.unread_count = 1
    model.run("_to_copy", NARROW, met, is_cast=True)
    assert model.kinds() == []


def test_a_layer_may_declare_the_wide_dtype_that_it_computes_in() -> None:
    for declared, kinds in (("float32", []), ("bfloat16", [WIDE_LAYER])):
        model = Model()
        place = Place(SourceLocation("m.py", 1), None, "head", FORWARD, declared)
        made = model.log.add_tally("mm", "mm", place, [WIDE, WIDE], [WIDE])
        made.is_contraction, made.stored = True, {(1, PARAMETER, "head.weight"): None}
        assert [kind for kind, _ in model.kinds()] == kinds


def test_autocast_that_casts_nothing_is_turned_off() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    model.run("mm", NARROW, x, is_contraction=True, uses_autocast="bfloat16")
    assert find_departures(model.log, read_policy("")).autocast == ""


def test_only_the_first_of_several_meetings_is_a_finding() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    met = model.run("add", WIDE, model.run("ones", WIDE), x)
    model.run("add", WIDE, met, x)
    assert model.kinds() == [(ESCAPED, 3)]


def test_a_loss_and_one_number_end_an_island() -> None:
    for operation, gives in (("nll_loss_forward", WIDE), ("sum", NUMBER)):
        model = Model()
        x = model.run("randn", NARROW, requested=True)
        wide = model.run("_to_copy", WIDE, x, is_cast=True)
        model.run(operation, gives, model.run("mul", WIDE, wide, x))
        assert model.kinds() == [], operation


def test_a_wide_array_by_default_is_a_finding_though_it_is_cast_back() -> None:
    for requested, kinds in ((False, [(DEFAULT_DTYPE, 3)]), (True, [])):
        model = Model()
        x = model.run("randn", NARROW, requested=True)
        mask = model.run("full", WIDE, requested=requested)
        model.run("_to_copy", NARROW, model.run("add", WIDE, x, mask), is_cast=True)
        assert model.kinds() == kinds


def test_a_result_that_nothing_reads_is_not_cast_back() -> None:
    model = Model()
    x = model.run("randn", NARROW, requested=True)
    wide = model.run("_to_copy", WIDE, x, is_cast=True)
    met = model.run("mul", WIDE, wide, x)
    model.run("_to_copy", NARROW, met, is_cast=True)
    assert model.kinds() == []
    met.unread_count = 1  # in another turn of a loop
    assert model.kinds() == [(ESCAPED, 3)]


def test_parameters_are_compared_with_the_policy_by_name() -> None:
    model = Model()
    weight = StoredTensor(PARAMETER, "a", "a.weight", "bfloat16", 4)
    model.log.store("model", [weight, StoredTensor(PARAMETER, "b", "b.sinks", "float32", 8)])
    assert model.kinds("params=float32") == [(STORED, 0)]
    assert model.kinds("params=bfloat16,keep=*sinks") == []
    assert model.kinds("keep=a.*") == [(STORED, 0)]


def test_the_last_gradients_stay_in_the_table() -> None:
    log = OperationLog()
    gradient = StoredTensor(GRADIENT, "a", "a.weight", "float32", 4)
    log.store("model", [gradient])
    log.store("model", [])
    assert [(row.category, row.bytes) for row in make_memory_table(log).kept] == [(GRADIENT, 4)]


def test_the_peak_is_what_was_alive_when_most_was() -> None:
    model = Model()
    made = [model.run("ones", WIDE, module=name) for name in "ab"]
    model.log.add_memory(1, 100, "float32", made[0])
    model.log.add_memory(2, 50, "float32", made[1])
    model.log.free_memory(1)
    model.log.add_memory(3, 60, "float32", made[1])
    model.log.finish()
    table = make_memory_table(model.log)
    assert table.peak_bytes == 150 == sum(row.bytes for row in table.peak)
    assert [(row.module, row.bytes) for row in table.peak] == [("a", 100), ("b", 50)]


@pytest.mark.parametrize(
    ("text", "goal", "message"),
    [
        ("param=float32", None, "'param=float32' is no part of a policy (did you mean params?); write"),
        ("compute=float32", "bfloat16", "the policy says compute twice; leave one out"),
        ("", "int8", "a policy names float dtypes, and int8 is none; give one such as bfloat16"),
        ("", "bfloat", "a policy names float dtypes: "),
    ],
)
def test_a_policy_that_cannot_be_read_is_refused(text: str, goal: str | None, message: str) -> None:
    with pytest.raises(tl.PolicyError) as e:
        read_policy(text, goal)
    assert str(e.value).startswith(message)


def test_a_goal_that_nothing_was_compared_with_is_not_called_fine(tmp_path: Path) -> None:
    script = tmp_path / "numpy_only.py"
    script.write_text("import numpy as np\ny = np.ones(3, np.float32) * np.ones(3)\n")
    done = subprocess.run(
        [sys.executable, "-m", "typelattice", "trace", "--goal", "bfloat16", "--exit-code", str(script)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    report = " ".join(done.stderr.split())
    assert "nothing departs" not in report
    assert "not checked: compute=bfloat16, which is compared with the operations of torch" in report
    assert "the policy was not checked" in report
    assert "floats were widened from 1 place" in report
    assert done.returncode == 3
