"""Objects of the libraries of frames and of symbolic tensors, read as operands; and DTypes as theirs."""

from __future__ import annotations

import os
from typing import Any

import pytest

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES

os.environ.setdefault("KERAS_BACKEND", "numpy")  # read once, when Keras is imported
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
NO_NUMBERS = r"is in no promotion table; tables are of numbers: convert it first$"
NO_PART = "takes no part in promotion"
INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def given_back(namespace: Any) -> set[str]:
    """The dtypes that a library has, each given to it and read back as itself."""
    found = set()
    for d in DTYPES.values():
        try:
            theirs = tl.native(d, namespace)
        except tl.DTypeError as e:
            assert str(e).endswith(f" has no dtype {d}; cast to one that it has"), e
        else:
            assert tl.operand(theirs).dtype is d
            found.add(d.name)
    return found


def answers_agree(system: str, *objects: object) -> None:
    """The answer for objects is that for the operands that they are, also when it is remembered."""
    found = tl.system(system)
    for a in objects:
        for b in objects:
            expected = found.explain(tl.operand(a), tl.operand(b)).dtype
            for _ in range(2):
                try:
                    assert found.result_type(a, b) is expected
                except tl.PromotionError:
                    assert expected is None


# Polars


def test_series_data_types_and_literals_of_polars() -> None:
    pl = pytest.importorskip("polars")
    read = {
        "int64": pl.Series([1]),
        "int128": pl.Series([1], dtype=pl.Int128),
        "int8": pl.Int8,
        "uint16": pl.UInt16(),
        "bool": pl.Boolean,
        "1": pl.lit(1),
        "-1.5": pl.lit(-1.5),
        "bool:0d=True": pl.lit(True),
        "int8:0d=3": pl.lit(3, dtype=pl.Int8),
        "float32": pl.lit(pl.Series([1.0, 2.0], dtype=pl.Float32)),
    }
    assert [str(tl.operand(x)) for x in read.values()] == [*read]
    answers_agree("polars", *read.values(), 1, 1.5)
    answers_agree("polars-series", *(x for x in read.values() if isinstance(x, pl.Series)), 1, 1.5)


def test_who_asks_polars_about_a_series_is_told_which_system_speaks_of_it() -> None:
    pl = pytest.importorskip("polars")
    told = str(tl.system("polars").explain(pl.Series([1], dtype=pl.UInt8), 300, op="+"))
    assert told.splitlines()[1].startswith("Polars expressions; for Series ask polars-series")


def test_polars_has_a_data_type_for_each_of_its_own() -> None:
    pl = pytest.importorskip("polars")
    own = INTEGERS | {"bool", "int128", "uint128", "float16", "float32", "float64"}
    assert given_back(pl) == own
    assert pl.Series([1]).cast(tl.native("float32", pl)).dtype == pl.Float32


def test_what_is_no_number_in_polars() -> None:
    pl = pytest.importorskip("polars")
    for x in (pl.Series(["a"]), pl.Decimal(9, 2), pl.Date, pl.Datetime("us"), pl.Categorical, pl.lit("a")):
        with pytest.raises(tl.DTypeError, match=NO_NUMBERS):
            tl.operand(x)
    with pytest.raises(tl.DTypeError, match=r"^Polars's dtype 'Decimal\(precision=9, scale=2\)' is in no"):
        tl.operand(pl.Decimal(9, 2))
    for x in (pl.col("a"), pl.lit(1) + 1, pl.DataFrame({"a": [1]})):
        with pytest.raises(tl.OperandError, match=NO_PART):
            tl.operand(x)


# Arrow


def test_arrays_scalars_and_data_types_of_arrow() -> None:
    pa = pytest.importorskip("pyarrow")
    read = {
        "int8": pa.int8(),
        "bool": pa.bool_(),
        "float64": pa.array([1.5]),
        "int64": pa.chunked_array([[1]]),
        "int64:0d=3": pa.scalar(3),
        "float16:0d=1.5": pa.scalar(1.5, pa.float16()),
        "int16:0d": pa.scalar(None, pa.int16()),
    }
    assert [str(tl.operand(x)) for x in read.values()] == [*read]
    answers_agree("arrow", *read.values())


def test_arrow_has_a_data_type_for_each_of_its_own() -> None:
    pa = pytest.importorskip("pyarrow")
    assert given_back(pa) == INTEGERS | {"bool", "float16", "float32", "float64"}


def test_what_is_no_number_in_arrow() -> None:
    pa = pytest.importorskip("pyarrow")
    text = pa.array(["a"])
    for x in (text, text.dictionary_encode(), pa.decimal128(5, 2), pa.date32(), pa.timestamp("s"), pa.null()):
        with pytest.raises(tl.DTypeError, match=rf"^Arrow's dtype .* {NO_NUMBERS}"):
            tl.operand(x)
    with pytest.raises(tl.OperandError, match=NO_PART):
        tl.operand(pa.table({"a": [1]}))


# pandas


def test_series_of_pandas_by_what_is_behind_them() -> None:
    pd = pytest.importorskip("pandas")
    read = {
        "int64": "int64",
        "float16": "float16",
        "complex64": "complex64",
        "UInt8": "uint8",
        "Float32": "float32",
        "boolean": "bool",
        "int64[pyarrow]": "int64",
        "double[pyarrow]": "float64",
    }
    series = [pd.Series([1], dtype=dtype) for dtype in read]
    for objects in (series, [x.array for x in series], [x.dtype for x in series]):
        assert [str(tl.operand(x)) for x in objects] == [*read.values()]
    assert str(tl.operand(pd.Index([1.5]))) == "float64"
    answers_agree("numpy", *series, 1, 1.5)


def test_pandas_has_a_data_type_for_each_of_numpys_own() -> None:
    pd, np = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    own = INTEGERS | {"bool", "float16", "float32", "float64", "complex64", "complex128"}
    assert given_back(pd) >= own
    assert pd.Series([1]).astype(tl.native("float32", pd)).dtype == np.float32


def test_what_is_no_number_in_pandas() -> None:
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    dates = pd.to_datetime(["2020"])
    series = [
        pd.Series(["a"]),
        pd.Series(["a"], dtype="category"),
        pd.Series(dates),
        pd.Series(dates.tz_localize("UTC")),
        pd.Series(pd.interval_range(0, 2)),
        pd.Series([1], dtype="Sparse[int]"),
        pd.Series([1], dtype=object),
        pd.Series([1], dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
    ]
    for x in series:
        with pytest.raises(tl.DTypeError, match=NO_NUMBERS):
            tl.operand(x)
    with pytest.raises(tl.DTypeError, match=r"^pandas's dtype 'category' is in no"):
        tl.operand(series[1])
    for x in (pd.DataFrame({"a": [1]}), pd.Timestamp("2020"), pd.NA, pd.Series):
        with pytest.raises(tl.OperandError, match=NO_PART):
            tl.operand(x)


# xarray


def test_data_arrays_of_xarray_by_their_dtypes() -> None:
    xr, np = pytest.importorskip("xarray"), pytest.importorskip("numpy")
    x = xr.DataArray(np.ones(2, np.float32), dims="x")
    assert str(tl.operand(x)) == str(tl.operand(x.variable)) == "float32"
    assert x.astype(tl.native("float16", xr)).dtype == np.float16
    for other in (x.to_dataset(name="a"), xr.DataArray):
        with pytest.raises(tl.OperandError, match=NO_PART):
            tl.operand(other)


# tinygrad


def test_tensors_and_dtypes_of_tinygrad_are_read_and_never_computed() -> None:
    pytest.importorskip("tinygrad")
    from tinygrad import Tensor, dtypes
    from tinygrad.helpers import DEV

    DEV.value = "PYTHON"  # the one device that needs neither driver nor compiler
    read = {
        "int32": Tensor([1, 2]),
        "int32:0d:weak": Tensor(1),
        "float32:0d:weak": Tensor(1.5),
        "bool:0d": Tensor(True),
        "bfloat16:0d": Tensor([1.5], dtype="bfloat16").sum(),
        "float8_e4m3fn": dtypes.fp8e4m3,
        "float32:weak": dtypes.weakfloat,
    }
    assert [str(tl.operand(x)) for x in read.values()] == [*read]
    answers_agree("tinygrad", *read.values(), 1)
    with pytest.raises(tl.DTypeError, match=rf"^tinygrad's dtype 'void' {NO_NUMBERS}"):
        tl.operand(dtypes.void)


def test_tinygrad_has_a_dtype_for_each_of_its_own() -> None:
    tinygrad = pytest.importorskip("tinygrad")
    floats = {"float16", "bfloat16", "float32", "float64"}
    narrow = {f"float8_{name}" for name in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")}
    assert given_back(tinygrad) == INTEGERS | {"bool"} | floats | narrow


# ndonnx, array-api-strict


def test_arrays_with_and_without_values_and_dtypes_of_ndonnx() -> None:
    ndx, np = pytest.importorskip("ndonnx"), pytest.importorskip("numpy")
    read = {
        "int8": ndx.int8,
        "float64": ndx.asarray(np.ones(2)),
        "float16": ndx.argument(shape=(2,), dtype=ndx.float16),
        "bool:0d": ndx.argument(shape=(), dtype=ndx.bool),
    }
    assert [str(tl.operand(x)) for x in read.values()] == [*read]
    answers_agree("ndonnx", *read.values(), 1)
    assert given_back(ndx) == INTEGERS | {"bool", "float16", "float32", "float64"}
    for x in (ndx.utf8, ndx.nint8, ndx.DateTime64DType("s"), ndx.argument(shape=(2,), dtype=ndx.nint8)):
        with pytest.raises(tl.DTypeError, match=rf"^ndonnx's dtype .* {NO_NUMBERS}"):
            tl.operand(x)


def test_dtypes_of_array_api_strict() -> None:
    xp = pytest.importorskip("array_api_strict")
    assert given_back(xp) == INTEGERS | {"bool", "float32", "float64", "complex64", "complex128"}
    answers_agree("array-api", xp.int8, xp.ones(2, dtype=xp.int16), xp.ones((), dtype=xp.uint8), 1)


# Keras


def test_symbolic_tensors_and_variables_of_keras() -> None:
    keras, np = pytest.importorskip("keras"), pytest.importorskip("numpy")
    read = {
        "int8": keras.KerasTensor((2,), dtype="int8"),
        "bfloat16:0d": keras.KerasTensor((), dtype="bfloat16"),
        "float32": keras.Input((3,)),
        "float16": keras.Variable(np.ones(2), dtype="float16"),
        "float32:0d": keras.Variable(1.5),
    }
    assert [str(tl.operand(x)) for x in read.values()] == [*read]
    answers_agree("keras", *read.values(), 1)
    with pytest.raises(tl.DTypeError, match=rf"^Keras's dtype 'string' {NO_NUMBERS}"):
        tl.operand(keras.KerasTensor((2,), dtype="string"))
    for x in (keras.DTypePolicy("mixed_float16"), keras.layers.Dense(3)):
        with pytest.raises(tl.OperandError, match=NO_PART):
            tl.operand(x)


def test_dtypes_of_keras_are_names() -> None:
    keras = pytest.importorskip("keras")
    assert tl.native("bf16", keras) == "bfloat16"
    assert keras.KerasTensor((2,), dtype=tl.native("int8", keras)).dtype == "int8"
    with pytest.raises(tl.DTypeError, match=r"^Keras has no dtype int2; cast to one that it has$"):
        tl.native("int2", keras)
