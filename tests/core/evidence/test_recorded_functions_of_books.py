"""The functions of books: each is recorded, and its system gives the recorded answers but for departures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zlib import compress

import pytest

import typelattice as tl
from typelattice.conformance.recording.book_functions import (
    find_book,
    list_asked_results,
    list_composed_results,
)
from typelattice.conformance.recording.compare_with_system import compare_calls
from typelattice.conformance.recording.composed_calls import is_call, read_call
from typelattice.core.books.read_book import SHARED_BOOK, book_names
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recording_files import (
    FUNCTIONS_FOLDER,
    RECORDINGS_FOLDER,
    calls_of_functions,
    open_recording,
)
from typelattice.programs.calls import compositions

BOOKS = sorted(path.stem for path in (Path(RECORDINGS_FOLDER) / FUNCTIONS_FOLDER).glob("*.jsonl"))
# Functions that recorders do not ask, by the reason.
NOT_ASKED: Mapping[str, Mapping[str, str]] = {
    "numpy": {
        "it returns nothing": "shuffle",
        "it takes another parameter as well": """
            beta as random_numbers, binomial as counts_of_trials, binomial as random_counts,
            dirichlet, f as random_numbers, hypergeometric as counts_of_trials,
            negative_binomial as random_counts, triangular as random_numbers, vonmises as random_numbers,
            wald as random_numbers""",
        "it takes a tuple of arrays": "ravel_multi_index as flat_positions",
        "it takes bytes alone": "unpackbits",
    },
    "jax": {
        "it takes a random key": """
            bernoulli as trials, categorical, choice, fold_in, multivariate_normal, permutation""",
        "it takes a pair of an array and a bool": "cho_solve",
        "it writes into its argument, unless it is told not to": """
            fill_diagonal, place, put, put_along_axis""",
        "recorders find jax.lax.linalg.lu by its name": "lu[0], lu[1], lu[2]",
        "recorders do not find it": "rgamma",
        "recorders find no arguments for it": """
            dct, dctn, fftconvolve, idct, idctn, map_coordinates, resize as resized, scale_and_translate,
            split as keeps""",
    },
    "dask": {
        "it takes the number of a moment": "moment",
        "it takes conditions": "piecewise",
        "it needs a range": "histogram.hist, histogram[0] as keeps, histogram[1]",
        "recorders find no arguments for it": """
            histogram2d[1], histogram2d[2], overlap, svd_compressed[0], svd_compressed[2]""",
    },
    "torch": {
        "it takes arrays of different shapes": "grid_sample",
        "it takes a tuple of indices": "index_put",
        "it takes the means of each row": "batch_norm as affine_norms",
        "it takes lengths": "CTCLoss, ctc_loss",
        "it takes classes": "one_hot",
        "it takes a sparse tensor": "coalesce",
        "recorders do not find it": """
            constant_, dirac_, eye_, kaiming_normal_, kaiming_uniform_, ones_, orthogonal_, sparse_,
            trunc_normal_, xavier_normal_, xavier_uniform_, zeros_""",
        "it takes a bound": "randint_like as random_integers",
        "recorders find no arguments for it": """
            addbmm, addmv, affine_grid, diagonal_scatter, index_reduce, median.indices, median.values,
            nanmedian.indices, nanmedian.values, select_scatter""",
    },
    "tensorflow": {
        "it takes a shape": "ensure_shape, scatter_nd",
        "it takes a range of values": "histogram_fixed_width",
        "it takes arrays without axes": "range as keeps",
        "it takes a dtype": "unique[0]",
        "TensorFlow ends the process for some dtypes": "conv2d",
        "it takes one number for each row": """
            segment_mean, segment_sum, unsorted_segment_prod as sums_of_segments, unsorted_segment_sqrt_n,
            unsorted_segment_sum as sums_of_segments""",
        "its row is newer than the recording": """
            in_top_k, one_hot as categories, psnr,
            resize as resized_images, rfft as spectra_of_floats, sequence_mask as masks_of_lengths,
            slogdet.log_abs_determinant, slogdet.sign, stateless_categorical as draws, unique.idx,
            unique_with_counts.count, unique_with_counts.idx""",
        "recorders find no arguments for it": """
            adjust_hue, adjust_saturation, assign, batch_to_space, check_numerics, conv1d,
            conv2d_transpose, conv3d, cross as cross_products, depthwise_conv2d, dynamic_partition,
            fake_quant_with_min_max_args, grayscale_to_rgb, hsv_to_rgb, invert_permutation,
            reverse_sequence, rgb_to_grayscale, rgb_to_hsv, segment_max, segment_min, segment_prod,
            set_diag, space_to_batch, unsorted_segment_max, unsorted_segment_mean,
            unsorted_segment_min""",
    },
    "keras": {
        "it takes arrays of different shapes": "batch_normalization, segment_sum, slice",
        "recorders find no arguments for it": """
            L1, L2, crop_images, gelu as keeps, hsv_to_rgb, huber, map_coordinates,
            rgb_to_grayscale, rgb_to_hsv, separable_conv, shuffle, svd as keeps, take as keeps""",
    },
    "tinygrad": {
        "it takes arrays of different shapes": "scaled_dot_product_attention",
        "it takes arrays of two dtypes": """
            assign, binary_crossentropy, gather, scatter, sparse_categorical_crossentropy""",
        "it takes a shape": "shrink",
        "recorders find no arguments for it": "rearrange, scatter_reduce as keeps",
            },
    "mlx": {
        "it takes arrays of two dtypes": "put_along_axis",
        "recorders find no arguments for it": "quantize[0], quantize[1], quantize[2], slice, slice_update",
    },
    "polars": {
        "it takes a column of bools": "filter, zip_with",
        "it takes a column": "extend, sort_by, over",
        "it is a method of a series": "rechunk, rename, to_numpy",
        "it takes a word": "fill_null as keeps, interpolate as elements_by_place, rank as positions",
        "it continues when": "otherwise as keeps",
        "recorders find no arguments for it": """
            clip_min, concat_list, get, index_of, item, new_from_index, repeat_by, replace_strict as
            keeps, rolling_corr, rolling_cov, rolling_max_by, rolling_mean_by, rolling_min_by,
            rolling_sum_by, scatter, set, shift as supertypes, shrink_dtype, suffix""",
    },
}


@pytest.mark.parametrize("name", BOOKS)
def test_a_system_answers_each_function_as_its_library_did(name: str) -> None:
    departures = list_departures(name)
    report = compare_calls(tl.system(name), calls_of_functions(name), departures)
    assert [*map(str, report.mismatches)] == []
    assert report.unknown_operations == ()
    assert report.compared_count > 500


# Functions whose rows are compositions, and that recorders do not ask, by the reason.
COMPOSITIONS_NOT_ASKED: Mapping[str, Mapping[str, str]] = {
    "numpy": {
        "it takes a dtype": "logspace, geomspace",
        "it takes arrays or numbers": "linspace",
        "its flags are given by position, which another row takes": "unique",
        "it takes an array with an inverse": """
            tensorinv, linalg.tensorinv, tensorsolve, linalg.tensorsolve""",
        "it takes a function": "apply_over_axes",
        "it takes a tuple of arrays": "ravel_multi_index",
        "it takes coefficients": """
            polynomial.polyval, chebyshev.chebval, legendre.legval, hermite.hermval, hermite_e.hermeval,
            laguerre.lagval""",
    },
    "jax": {
        "it takes numbers": "arange, geomspace, logspace",
        "its flags are given by position, which another row takes": "unique",
        "it takes a dtype": """
            dot, einsum, lax.argmax, lax.argmin, lax.dot_general, linspace, matmul, nn.one_hot""",
        "it gives a tuple": "nonzero, where",
        "it takes a list": "lax.concatenate, nanpercentile, nanquantile, percentile, quantile",
        "it takes a word": "linalg.norm",
        "one of its results is of a class": "lax.top_k",
        "recorders find no arguments for it": """
            lax.conv, lax.conv_general_dilated, lax.dynamic_update_slice, lax.pad""",
    },
    "dask": {
        "its flags are given by position, which another row takes": "unique",
        "it takes numbers": "insert",
        "of complex numbers it announces no dtype, and no error": "fix",
        "it takes a tuple of arrays": "ravel_multi_index",
        "it needs a range": "histogram",
        "it makes arrays of those of another library": "array_safe, from_array",
        "recorders find no arguments for it": "linalg.svd_compressed",
    },
    "torch": {
        "it takes numbers": "arange, eye, linspace, randint_like",
        "it takes a dtype": "rand_like, randn_like, logspace",
        "it takes a word": "gelu",
        "it takes positions": "embedding",
        "it takes a list": "quantile, nanquantile, linalg.multi_dot, rnn.pad_sequence",
        "it takes lists as well": "FloatTensor, DoubleTensor, LongTensor, IntTensor, BoolTensor",
        "it gives a tuple": "nonzero, nn.LSTM",
        "recorders find no arguments for it": "linalg.lu_solve, linalg.solve_triangular, stft",
    },
    "tensorflow": {
        "it takes a dtype": """
            argmax, argmin, convert_image_dtype, count_nonzero, one_hot, saturate_cast, sequence_mask, shape,
            size, unique""",
        "it takes a list": """
            accumulate_n, clip_by_global_norm, concat, dynamic_stitch, global_norm, polyval""",
        "it writes into a variable": "assign_add, assign_sub",
        "it takes arrays without axes": "range",
        "it takes an array and a number": "divide",
        "it takes numbers of copies": "tile",
        "recorders find no arguments for it": "svd",
        "its row is newer than the recording": """
            approx_max_k, bincount, confusion_matrix, embedding_lookup, gather, image.ssim,
            is_non_decreasing, is_strictly_increasing, linalg.lu, norm, per_image_standardization,
            random.stateless_categorical, rank, read_value, searchsorted,
            signal.irfft, unsorted_segment_prod, unsorted_segment_sum, zero_fraction""",
    },
    "keras": {
        "it takes numbers": "arange, logspace",
        "it takes a dtype": "one_hot, saturate_cast, Variable",
        "it takes a pair of arrays": "fft, fft2, ifft2, irfft",
        "it takes labels and predictions": """
            binary_accuracy, categorical_accuracy, sparse_categorical_accuracy,
            top_k_categorical_accuracy""",
        "recorders find no arguments for it": "istft, layers.Discretization, random.categorical",
    },
    "tinygrad": {
        "it takes numbers": "arange, linspace",
        "it takes a dtype": "Tensor, linear",
        "it takes a number of classes": "one_hot",
        "it takes arrays of different shapes": "batchnorm, nll_loss",
    },
    "mlx": {
        "it takes numbers": "arange",
        "it takes a dtype": "full, view",
        "it takes the weights of each row": "layer_norm, rms_norm",
        "recorders find no arguments for it": "nn.Bilinear",
    },
    "polars": {
        "it takes a list": "concat, Series, cum_sum_horizontal",
        "it is newer than the release": "rolling_rank",
        "it takes a dtype": "cast, lit",
        "it takes values to find": "replace, replace_strict",
        "it is part of when": "when, then, otherwise",
        "it takes a number": "repeat",
    },
}


@pytest.mark.parametrize("name", BOOKS)
def test_each_row_has_a_recording_but_for_named_reasons(name: str) -> None:
    of_book = [each for each in BOOKS if find_book(each) == find_book(name)]
    recordings = [open_recording(f"{FUNCTIONS_FOLDER}/{each}") for each in of_book]
    recorded = {
        operation
        for each in recordings
        if each is not None
        for operation in each.operations
        if not is_call(operation)
    }
    asked = {function for function, *_ in list_asked_results(find_book(name))}
    not_asked = NOT_ASKED.get(find_book(name), {})
    lists = [" ".join(words.split()) for words in not_asked.values()]
    excused = {word for words in lists for word in words.split(", ")}
    assert asked - recorded == excused
    assert recorded <= asked


@pytest.mark.parametrize("book", sorted({find_book(name) for name in BOOKS}))
def test_each_composition_is_asked_but_for_named_reasons(book: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[tuple[int, int]] = []
    build = compositions._ResultBuilder.build

    def note(builder: compositions._ResultBuilder) -> object:
        rows.append((builder.composition.row.number, builder.number))
        return build(builder)

    monkeypatch.setattr(compositions._ResultBuilder, "build", note)
    asked = set()
    for name in (name for name in BOOKS if find_book(name) == book):
        recording = open_recording(f"{FUNCTIONS_FOLDER}/{name}")
        assert recording is not None
        for call in filter(is_call, recording.operations):
            rows.clear()
            read_call.__wrapped__(call)
            assert rows, f"{call} is no composition; record it again"
            asked.add(rows[0])
    not_asked = {
        row.function
        for row, number, _ in list_composed_results(book)
        if row.book == book and (row.number, number) not in asked
    }
    reasons = COMPOSITIONS_NOT_ASKED.get(book, {})
    excused = {word for words in reasons.values() for word in " ".join(words.split()).split(", ")}
    assert not_asked == excused


def test_each_book_is_recorded() -> None:
    assert {*BOOKS} >= {*book_names()} - {SHARED_BOOK}


def test_the_recordings_take_a_fifth_of_a_megabyte_of_the_wheel() -> None:
    folder = Path(RECORDINGS_FOLDER) / FUNCTIONS_FOLDER
    assert sum(len(compress(path.read_bytes())) for path in folder.glob("*.jsonl")) < 200_000


def test_observed_names_the_function_that_was_asked() -> None:
    seen = tl.observed(tl.system("torch").explain("int8", op="elu"))
    assert seen is not None
    assert (seen.dtype, seen.departs) == (None, False)
    assert seen.error is not None
    assert seen.call.question == "elu(int8)"
