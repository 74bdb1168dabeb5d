"""What a followed module costs is paid late: witnesses are made when their operations run, code is kept."""

from __future__ import annotations

import marshal
import threading
import time
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest

from typelattice.tracing.record import import_hook
from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.record.witness import FollowedModule, LazyWitness, Witness, WitnessBase

TEXT = b"""
def double(x):
    try:
        return x + x
    finally:
        kept = [x - each for each in (x, x)]

def never(x):
    return x * x
"""


def standing(code: CodeType) -> dict[int, Any]:
    """What stands at the operations of a module, by their numbers."""
    found = {}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found |= standing(each)
        elif isinstance(each, WitnessBase):
            found[each.number] = each
    return found


def compiled(recorder: Recorder, cache: Path | None = None) -> CodeType:
    code = ModuleCompiler(recorder, cache).compile_module("late", "late.py", TEXT)
    assert code is not None
    return code


def test_a_witness_is_made_when_its_operation_first_runs() -> None:
    code = compiled(recorder := Recorder())
    assert [type(x) for x in standing(code).values()] == [LazyWitness] * 3
    exec(code, scope := {"__name__": "late"})
    for _ in range(2):
        scope["double"](np.ones(2))
    assert {x.operation.name: type(x) for x in standing(code).values() if type(x) is Witness} == {
        "add": Witness,
        "subtract": Witness,
    }
    run = recorder.build_run()
    assert {step.text: seen.count for step, seen in run if step.op} == {"x + x": 2, "x - each": 4}


def test_threads_that_come_to_an_operation_at_once_make_one_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    fill = WitnessBase.fill_fields

    def slow(self: WitnessBase) -> None:
        made.append(self.number)
        time.sleep(0.02)  # so that the others come, too
        fill(self)

    monkeypatch.setattr(WitnessBase, "fill_fields", slow)
    exec(compiled(Recorder()), scope := {"__name__": "late"})
    x = np.ones(2)
    threads = [threading.Thread(target=scope["double"], args=(x,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == len({*made}) == 2


def test_code_is_read_from_a_cache_and_from_no_other_nor_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    original = import_hook.insert_copies

    def counted(*given: Any) -> CodeType:
        made.append(given)
        return original(*given)

    monkeypatch.setattr(import_hook, "insert_copies", counted)

    def rewritten() -> bool:
        """Whether the code had to be rewritten; it computes the same."""
        made.clear()
        exec(compiled(Recorder(), tmp_path), scope := {"__name__": "late"})
        assert scope["double"](np.ones(1)) == [2]
        return bool(made)

    assert rewritten() and not rewritten()
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    for at in (0, 3, 4, len(whole) // 2, len(whole) - 1):
        kept.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert rewritten() and not rewritten()
    for part in (b"", whole[:3], whole[:-1]):
        kept.write_bytes(part)
        assert rewritten() and not rewritten()
    for what in ("CACHE_VERSION", "MAGIC_NUMBER"):
        monkeypatch.setattr(import_hook, what, b"another")
        assert rewritten() and not rewritten()


def test_arrays_are_found_among_results_that_held_none_before() -> None:
    module = FollowedModule(Recorder(), "late.py", [marshal.dumps((1, 0, 1, 0, "", (), (), ()))])
    at, x = LazyWitness(module, 0), np.ones(2)

    def arrays(given: Any) -> list[Any]:
        return [each for each in at.list_results(given) if type(each) is np.ndarray]

    for _ in range(2):
        for without in ({"a": 1, "b": None}, [1], (1, None), (1, (None, [2])), [], [1] * 65 + [x]):
            assert arrays(without) == []
        for given in ({"a": 1, "b": x}, [1, x], (1, x), (None, [1, x]), [{"a": x}]):
            assert arrays(given) == [x]
