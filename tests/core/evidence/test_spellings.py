"""The table of spellings has a form for each recorded operation, and names nothing that is unknown."""

from __future__ import annotations

import pytest

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.evidence.recording_files import open_recording
from typelattice.core.evidence.spellings import spell_call, spelled_words
from typelattice.core.operations.operations import OPERATIONS, OPERATORS
from typelattice.core.registry.libraries import recordings

RECORDED = [name for name in recordings() if "@" not in name and open_recording(name)]
WITHOUT_FORM = {("triton", "result_type")}  # the compiler's own lookup, which no program can call


@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_operation_has_a_form(name: str) -> None:
    recording, forms = open_recording(name), spelled_words(name, of_dtype=False)
    assert recording is not None
    missing = {(name, op) for op in recording.operations if op not in OPERATORS and op not in forms}
    assert missing <= WITHOUT_FORM


@pytest.mark.parametrize("name", RECORDED)
def test_every_spelled_word_is_known(name: str) -> None:
    own = tl.system(name).custom_operations
    dtypes = {*DTYPES, *tl.system(name).custom_dtypes}
    assert {*spelled_words(name, of_dtype=False)} <= {*OPERATIONS, *own}
    assert {dtype.partition("(")[0] for dtype in spelled_words(name, of_dtype=True)} <= dtypes


def test_a_call_of_another_number_of_operands_keeps_the_name_of_the_operation() -> None:
    assert spell_call("c", "add", ["int8", "int8"]) == "signed char + signed char"
    assert spell_call("c", "add", ["int8"]) == "add(signed char)"
    assert spell_call("nothing", "add", ["int8:0d", "3"]) == "add(int8:0d, 3)"
