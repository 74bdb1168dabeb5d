"""Namespaces over several libraries: the dtypes are the system's, and what a library lacks is said."""
from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
SYSTEMS = ("array-api", "numpy", "jax", "torch")


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("library", ["torch", "jax.numpy", "dask.array"])
def test_a_product_is_what_the_system_says(system: str, library: str) -> None:
    module = pytest.importorskip(library)
    if library == "jax.numpy":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    xp, known, computed = tl.namespace(system, module), tl.system(system), 0
    names = ("bool", "uint8", "uint16", "int8", "int32", "float32", "complex64")
    dtypes = [d for d in xp._context.dtypes.values() if d.name in names]
    for a, b, shape in product(dtypes, dtypes, ((2,), ())):
        p = known.explain(a, f"{b}:0d" if shape == () else b, op="multiply")
        try:
            result = xp.ones(2, dtype=a) * xp.ones(shape, dtype=b)
        except tl.PromotionError:
            assert p.dtype is None
        except tl.NamespaceError as e:
            assert "cannot" in str(e)
        else:
            assert result.dtype is p.dtype
            assert result.bare.dtype == xp._context.library.native_dtype(result.dtype)
            computed += 1
    assert computed > 20


OUT_OF_RANGE = [
    (system, library)
    for system in ("jep9407-1", "keras-jax", "polars", "tinygrad", "c")
    for library in ("torch", "jax.numpy", "dask.array", "numpy")
]


@pytest.mark.parametrize(("system", "library"), OUT_OF_RANGE)
def test_a_number_out_of_range_is_never_computed_with(system: str, library: str) -> None:
    """Where a file says nothing of it, or that it knows no limit: refused, over every library."""
    pytest.importorskip("jax").config.update("jax_enable_x64", True)
    xp = tl.namespace(system, pytest.importorskip(library))
    x = xp.asarray([1, 2], dtype="uint8")
    for number in (300, -1, 2**70):
        p = tl.system(system).explain("uint8", number, op="add")
        try:
            found = x + number
        except (tl.PromotionError, tl.NamespaceError) as e:
            assert "out of range" in str(e) or "cannot hold int128" in str(e)  # which C makes of 2**70
        else:
            assert (p.dtype, np.asarray(found.bare).tolist()) == (found.dtype, [1 + number, 2 + number])
    assert bool(np.asarray((x < 300).bare).all())


@pytest.mark.parametrize("number", [-1, 300, [1, -1], 2**63])
@pytest.mark.parametrize("library", ["torch", "jax.numpy", "dask.array"])
def test_numbers_out_of_range_make_no_array(library: str, number: Any) -> None:
    """PyTorch makes 255 of [-1]: under its own rules it may."""
    module = pytest.importorskip(library)
    with pytest.raises(tl.NamespaceError, match=r"is out of range for uint8; use a value within it"):
        tl.namespace("numpy", module).asarray(number, dtype="uint8")
    if library == "torch":
        assert tl.namespace("torch", module).asarray([-1], dtype="uint8").bare.tolist() == [255]


def test_what_a_library_lacks_is_said() -> None:
    torch = pytest.importorskip("torch")
    xp = tl.namespace("numpy", torch)
    with pytest.raises(tl.NamespaceError, match=r"torch cannot compute unique_all of uint64"):
        xp.unique_all(xp.ones(2, dtype="uint64"))
    x = tl.namespace("numpy", pytest.importorskip("dask.array")).ones(2)
    with pytest.raises(tl.NamespaceError, match="mixes"):
        x + xp.ones(2)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
@pytest.mark.parametrize("system", ["jax", "torch", "numpy"])
def test_what_others_wrote_against_the_standard_runs(system: str, library: str) -> None:
    xpx = pytest.importorskip("array_api_extra")
    pytest.importorskip("jax").config.update("jax_enable_x64", True)
    xp = tl.namespace(system, pytest.importorskip(library))
    x = xp.asarray([[1.0, 2.0, 4.0], [3.0, 5.0, 1.0]], dtype="float32")
    i = xp.asarray([3, 1, 2])
    made = [
        xpx.cov(x), xpx.kron(i, i), xpx.pad(i, 2), xpx.sinc(x), xpx.isclose(x, x), xpx.at(x)[0, 0].add(1.5),
        xpx.nunique(i), xpx.one_hot(i, 4), xpx.setdiff1d(i, i[:1]), xpx.argpartition(i, 1),
        xpx.create_diagonal(i), xpx.nan_to_num(x),
        xpx.apply_where(x > 2, x, lambda each: each * 2, lambda each: each - 1), xpx.isin(i, i[:1]),
        xpx.union1d(i, i),
    ]  # fmt: skip
    assert {type(each) for each in made} == {xp._context.Array}
    assert made[5].dtype is made[-3].dtype is tl.dtype("float32")
