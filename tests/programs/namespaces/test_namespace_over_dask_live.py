"""Namespaces over Dask: what is announced is what worker processes compute."""
from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from samples import one_in

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def cluster() -> Any:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


def shared(system: str) -> list[tl.DType]:
    """The dtypes of a system that NumPy has, too, and holds in whole bytes."""
    return [d for d in tl.system(system).dtypes if (d.bits or 0) >= 8 and d in tl.system("numpy").order]


@pytest.mark.parametrize("system", one_in(8, [name for name in tl.systems() if shared(name)]))
def test_a_lazy_dtype_is_the_computed_one_chunk_by_chunk(system: str, cluster: Any) -> None:
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    xp = tl.namespace(system, da)
    common = [d for d in shared(system) if d in xp._context.dtypes.values()]
    pairs = [*product(common[::2], common[1::2]), *zip(common, common, strict=True)]
    lazy = []
    for op, (a, b) in product(("add", "divide", "less"), pairs):
        try:
            x, y = (xp.asarray(da.ones(4, chunks=2, dtype=str(d))) for d in (a, b))
            lazy.append(getattr(xp, op)(x, y))
        except (tl.PromotionError, tl.NamespaceError):
            continue
    for a in common:
        for op in ("sum", "mean", "max"):
            try:
                lazy.append(getattr(xp, op)(xp.asarray(da.ones(4, chunks=2, dtype=str(a)))))
            except (tl.PromotionError, tl.NamespaceError):
                continue
    assert len(lazy) > len(common)
    dice = lazy[:: max(1, len(lazy) // 30)]
    blocks = [block for x in dice for block in x.bare.to_delayed().ravel()]
    counts = [len(x.bare.to_delayed().ravel()) for x in dice]
    computed = iter(dask.compute(*blocks, scheduler=cluster))
    for x, n in zip(dice, counts, strict=True):
        for _ in range(n):
            assert next(computed).dtype == x.bare.dtype == tl.native(x.dtype, da)


def test_masked_arrays_of_dask_are_refused() -> None:
    da = pytest.importorskip("dask.array")
    masked = da.ma.masked_array(da.ones(3), [True, False, False])
    for library in (da, np):
        with pytest.raises(tl.NamespaceError, match="hides elements"):
            tl.namespace("dask", library).asarray(masked)


def test_an_assignment_puts_a_changed_copy_into_the_array() -> None:
    da = pytest.importorskip("dask.array")
    xp = tl.namespace("dask", da)
    x = xp.zeros(3, dtype="int32")
    y, bare = x, x.bare
    x[0] = 5
    x[1:] = xp.asarray([1.5, 2.5])
    assert x.bare.compute().tolist() == y.bare.compute().tolist() == [5, 1, 2]
    assert bare.compute().tolist() == [0, 0, 0]
    assert x.dtype is tl.dtype("int32")
