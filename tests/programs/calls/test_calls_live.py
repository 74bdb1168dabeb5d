"""Calls typed from documentation have the answers of the library that they are of, from tables and asked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ask_templates import compare_templates

TEMPLATES = Path(__file__).parent / "templates"
DTYPES = (
    "bool", "uint8", "int8", "int32", "int64", "uint16", "float16", "bfloat16", "float32", "float64",
    "complex64",
)  # fmt: skip
MOST_UNREAD = {"torch": 0.15}
"""The share of templates that the tables alone do not describe."""
# PyTorch 2.13 flips uint16, but not along the last axis, and the rule refuses it.
KNOWN_WRONG = {("torch.rot90(x)", "uint16")}
MOST_WRONG = 0.004
"""The share of answers that are wrong, all of them refusals that no table knows."""


@pytest.mark.live
@pytest.mark.parametrize("library", sorted(MOST_UNREAD))
def test_typed_calls_have_the_librarys_answers(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(library)
    monkeypatch.setenv("TYPELATTICE_ASK", "no")
    templates = (TEMPLATES / f"{library}.txt").read_text(encoding="utf-8").splitlines()
    found = [*compare_templates(library, templates, DTYPES)]
    unread = {c.template for c in found if c.ours.startswith("unread")}
    wrong = [c for c in found if not c.ours.startswith("unread") and c.ours != c.theirs]
    assert {(c.template, c.dtype) for c in wrong if c.theirs != "refused"} <= KNOWN_WRONG
    assert len(wrong) <= MOST_WRONG * len(found), wrong
    assert len(unread) <= MOST_UNREAD[library] * len(templates), unread
    asked = [*compare_templates(library, sorted(unread), DTYPES, asks=True)]
    assert {c.template for c in asked if c.ours.startswith("unread")} <= {"torch.vmap(torch.sin)(x)"}
    assert [c for c in asked if not c.ours.startswith("unread") and c.ours != c.theirs] == []


MADE_ARRAYS = Path(__file__).parent / "made_arrays"
# Answers that depend on values or on lengths, or that a list of departures names.
KNOWN_OF_MADE_ARRAYS = {
    "numpy": {("np.arange(4,dtype=x.dtype)", "bool")},
    "torch": {("torch.randint_like(x,2)", "bool")},
    "tensorflow": {("tf.where(x)", "float16"), *(("tf.constant(2.5,dtype=x.dtype)", d) for d in DTYPES)}
    | {("tf.constant(2,dtype=x.dtype)", "bool")},
    "mlx": {("mx.full((2,),2.5,dtype=x.dtype)", "complex64")},
    "jax": {("jnp.choose(x,[10,20,30],mode='clip')", "bool")},
}


@pytest.mark.live
@pytest.mark.parametrize("library", sorted(path.stem for path in MADE_ARRAYS.glob("*.txt")))
def test_arrays_are_made_of_the_dtypes_that_may_be_requested(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library)
    monkeypatch.setenv("TYPELATTICE_ASK", "no")
    templates = (MADE_ARRAYS / f"{library}.txt").read_text(encoding="utf-8").splitlines()
    found = [*compare_templates(library, templates, DTYPES)]
    wrong = {(c.template, c.dtype) for c in found if c.ours != c.theirs}
    assert wrong - KNOWN_OF_MADE_ARRAYS.get(library, set()) == set()
