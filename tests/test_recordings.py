"""Every system gives the recorded answers of its library, but for the deviations that are listed with their reasons."""
from __future__ import annotations

from functools import cache

import pytest

import typelattice as tl
from typelattice.conformance.compare import Report, compare
from typelattice.conformance.deviations import FOLDER, deviations
from typelattice.conformance.recording import Recording, recorded

RECORDINGS = (
    "array-api", "arrow", "arrow-unify", "c", "c-llp64", "dask", "jax", "jax-lax", "jax-strict", "jax-x32", "keras", "keras-jax",
    "keras-tensorflow", "keras-torch", "max", "mlx", "ndonnx", "numpy", "numpy-ml-dtypes", "numpy1", "polars", "tensorflow",
    "tensorflow-all", "tensorflow-legacy", "tensorflow-safe", "tinygrad", "torch", "triton",
)  # fmt: skip
SYSTEMS = {"keras-torch": "keras-jax"}  # a recording of a system of another name


@cache
def report(name: str) -> Report:
    system = tl.system(SYSTEMS.get(name, name))
    return compare(system, Recording.load(name).calls(), deviations(name))


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_system_answers_as_its_library_did(name: str) -> None:
    found = report(name)
    assert found.compared > 100
    assert not found.mismatches, "\n".join(
        f"{len(group)} × {cause}, e.g. {'; '.join(map(str, group[:3]))}" for cause, group in found.groups().items()
    )


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_listed_deviation_is_met_as_often_as_it_says_and_has_a_reason(name: str) -> None:
    for deviation, calls in report(name).listed.items():
        assert len(calls) == deviation.count, deviation.calls
        assert deviation.reason
        assert deviation.source


def test_no_recording_and_no_list_of_deviations_is_left_out() -> None:
    assert set(RECORDINGS) == set(recorded())
    assert {path.stem for path in FOLDER.glob("*.toml")} <= set(RECORDINGS)
