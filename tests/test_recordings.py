"""Every system gives the recorded answers of its library, but for the deviations that are listed with their reasons."""
from __future__ import annotations

from itertools import islice

import pytest

import typelattice as tl
from typelattice.conformance.compare import compare
from typelattice.conformance.deviations import FOLDER, deviations
from typelattice.conformance.recording import Recording, recorded

SYSTEMS = (
    "array-api", "arrow", "arrow-unify", "c", "c-llp64", "dask", "jax", "jax-lax", "jax-strict", "jax-x32", "keras",
    "keras-jax", "keras-tensorflow", "max", "mlx", "ndonnx", "numpy", "numpy-ml-dtypes", "numpy1", "polars", "tensorflow",
    "tensorflow-all", "tensorflow-legacy", "tensorflow-safe", "tinygrad", "torch", "triton",
)  # fmt: skip
EVERY = 11  # of the calls: all of them are for `make conform`


def mismatches(name: str, every: int) -> str:
    """What a system answers otherwise than its library, but for the listed deviations; by cause, in words."""
    found = compare(tl.system(name), islice(Recording.load(name).calls(), 0, None, every), deviations(name))
    assert found.compared > 100
    groups = found.groups().items()
    return "\n".join(f"{len(group)} × {cause}, e.g. {'; '.join(map(str, group[:3]))}" for cause, group in groups)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_answers_a_sample_as_its_library_did(name: str) -> None:
    assert mismatches(name, EVERY) == ""


@pytest.mark.live
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_answers_every_call_as_its_library_did(name: str) -> None:
    assert mismatches(name, 1) == ""


@pytest.mark.live
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_listed_deviation_is_met_as_often_as_it_says(name: str) -> None:
    for deviation, calls in compare(tl.system(name), Recording.load(name).calls(), deviations(name)).listed.items():
        assert len(calls) == deviation.count, deviation.calls
        assert deviation.reason
        assert deviation.source


def test_no_recording_and_no_list_of_deviations_is_left_out() -> None:
    assert set(SYSTEMS) == set(recorded())
    assert {path.stem for path in FOLDER.glob("*.toml")} <= set(SYSTEMS)
