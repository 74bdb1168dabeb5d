"""The functions of books: each is recorded, and its system gives the recorded answers but for departures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from zlib import compress

import pytest

import typelattice as tl
from typelattice.conformance.recording.book_library import find_book, list_asked_results
from typelattice.conformance.recording.compare_with_system import compare_calls
from typelattice.core.books.read_book import SHARED_BOOK, book_names
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recording_files import (
    FUNCTIONS_FOLDER,
    RECORDINGS_FOLDER,
    calls_of_functions,
    open_recording,
)

BOOKS = sorted(path.stem for path in (Path(RECORDINGS_FOLDER) / FUNCTIONS_FOLDER).glob("*.jsonl"))
# Functions that recorders do not ask, by the reason.
NOT_ASKED: Mapping[str, Mapping[str, str]] = {
    "numpy": {"it returns nothing": "shuffle"},
    "jax": {
        "it takes a random key": "choice, permutation",
        "it takes a pair of an array and a bool": "cho_solve",
        "recorders do not find it": "rgamma",
    },
    "dask": {"it needs a range": "histogram.hist, histogram[0] as keeps, histogram[1]"},
    "torch": {
        "it takes arrays of different shapes": "grid_sample",
        "it takes a tuple of indices": "index_put",
    },
    "tensorflow": {
        "it takes a shape": "ensure_shape, scatter_nd",
        "it takes a range of values": "histogram_fixed_width",
        "it takes arrays without axes": "range as keeps",
        "it takes a dtype": "unique[0]",
        "TensorFlow ends the process for some dtypes": "conv2d",
        "it takes one number for each row": "segment_mean, segment_sum, unsorted_segment_sum",
    },
    "keras": {"it takes arrays of different shapes": "batch_normalization, segment_sum, slice"},
    "tinygrad": {
        "it takes arrays of different shapes": "batchnorm, linear as keeps, scaled_dot_product_attention",
        "it takes arrays of two dtypes": """assign, binary_crossentropy, binary_crossentropy_logits,
            cross_entropy, gather, scatter, sparse_categorical_crossentropy""",
        "it takes a shape": "shrink",
    },
    "mlx": {"it takes arrays of two dtypes": "put_along_axis"},
    "polars": {
        "it takes a column of bools": "filter, zip_with",
        "it takes a column": "append as keeps, extend, sort_by, over",
        "it is a method of a series": "implode, rechunk, rename, to_numpy",
        "it takes a word": "fill_null as keeps, rank as positions",
        "it continues when": "otherwise as keeps",
    },
}


@pytest.mark.parametrize("name", BOOKS)
def test_a_system_answers_each_function_as_its_library_did(name: str) -> None:
    departures = list_departures(name)
    report = compare_calls(tl.system(name), calls_of_functions(name), departures)
    assert [*map(str, report.mismatches)] == []
    assert report.unknown_operations == ()
    assert report.compared_count > 500


@pytest.mark.parametrize("name", BOOKS)
def test_each_row_has_a_recording_but_for_named_reasons(name: str) -> None:
    recording = open_recording(f"{FUNCTIONS_FOLDER}/{name}")
    assert recording is not None
    book = find_book(name)
    asked = {function for function, *_ in list_asked_results(book)}
    excused = {word for words in NOT_ASKED.get(book, {}).values() for word in re.split(r",\s+", words)}
    assert asked - {*recording.operations} == excused
    assert {*recording.operations} <= asked


def test_each_book_is_recorded() -> None:
    assert {*BOOKS} >= {*book_names()} - {SHARED_BOOK}


def test_the_recordings_take_a_tenth_of_a_megabyte_of_the_wheel() -> None:
    folder = Path(RECORDINGS_FOLDER) / FUNCTIONS_FOLDER
    assert sum(len(compress(path.read_bytes())) for path in folder.glob("*.jsonl")) < 100_000


def test_observed_names_the_function_that_was_asked() -> None:
    seen = tl.observed(tl.system("torch").explain("int8", op="elu"))
    assert seen is not None
    assert (seen.dtype, seen.departs) == (None, False)
    assert seen.error is not None
    assert seen.call.question == "elu(int8)"
