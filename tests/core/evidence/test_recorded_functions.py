"""Functions of a package without arrays of its own: SciPy's, in the recording and in its system."""

from __future__ import annotations

from dataclasses import replace

import typelattice as tl
from typelattice.conformance.recording.compare_with_system import compare_calls
from typelattice.core.evidence.recording_files import load_recording
from typelattice.programs.replay.replay import system_of_function

SCIPY = tl.system("scipy")


def test_the_system_says_of_every_function_what_the_library_gave() -> None:
    recording = load_recording("scipy")
    report = compare_calls(SCIPY, recording.calls())
    assert (report.mismatches, report.unknown_operations, report.broken_count) == ((), (), 0)
    public = {name for name in SCIPY.custom_operations if not name.startswith("_")}
    public -= {*tl.system("numpy").custom_operations}  # which scipy.toml extends
    assert public <= {*recording.operations}
    changed = [replace(call, answer="int8") for call in recording.calls() if call.op == "special_gammaln"]
    assert len(compare_calls(SCIPY, changed).mismatches) == len(changed)


def test_the_recorded_answer_to_a_function_is_found() -> None:
    seen = tl.observed(SCIPY.explain("float16", op="special_gammaln"))
    assert seen is not None
    assert (str(seen.dtype), seen.departs) == ("float32", False)


def test_the_functions_follow_each_of_numpys_systems_and_no_list_has_them() -> None:
    assert "scipy" not in tl.systems()
    assert "scipy" in tl.systems(functions=True)
    for name, combine in (("numpy", "join"), ("numpy@2.4", "join"), ("numpy1", "value")):
        found = system_of_function(tl.system(name), "scipy.special", "numpy")
        assert found is not None
        assert found.combine == combine
        assert str(found.explain("int16", op="special_gammaln").dtype) == "float32"
    assert system_of_function(tl.system("jax"), "scipy.special", "numpy") is None
