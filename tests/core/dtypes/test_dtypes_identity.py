"""A dtype is one object for equal facts, equal to itself alone, as long as it is in use."""
from __future__ import annotations

import copy
import gc
import pickle
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Barrier

import ml_dtypes
import numpy as np
import pytest

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, intern_dtype, weak_node
from typelattice.core.system_files.reader import parse


@pytest.mark.parametrize("d", DTYPES.values(), ids=repr)
def test_copies_and_pickles_are_the_same_object(d: DType) -> None:
    assert copy.copy(d) is d
    assert copy.deepcopy(d) is d
    assert all(
        pickle.loads(pickle.dumps(d, protocol)) is d for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    )


def test_weak_nodes_are_the_same_object_after_a_copy() -> None:
    for node in (weak_node(Kind.SIGNED), weak_node(Kind.SIGNED, tl.dtype("int32"))):
        assert weak_node(node.kind, node.dtype) is node
        assert copy.deepcopy(node) is node
        assert pickle.loads(pickle.dumps(node)) is node


def test_a_copied_system_answers_as_the_original() -> None:
    jax = tl.system("jax")
    for again in (copy.deepcopy(jax), pickle.loads(pickle.dumps(jax))):
        assert again.result_type("int8", 1) is jax.result_type("int8", 1)
        assert again.result_type("int8", "uint8") is jax.result_type("int8", "uint8")


def test_a_dtype_is_a_key() -> None:
    assert {tl.dtype("int8"): 1}[tl.dtype("int8")] == 1
    assert hash(tl.dtype("int8")) == hash(pickle.loads(pickle.dumps(tl.dtype("int8"))))


# -- comparing: what is equal has one hash, and what a user may mean to be equal is not false without a word


def test_a_dtype_equals_itself_alone() -> None:
    for a, b in product(DTYPES.values(), repeat=2):
        assert (a == b) is (a is b)
        assert (a != b) is (a is not b)


@pytest.mark.parametrize(
    "other", [None, 8, 1.5, "mine", "dtype", (), object(), *Kind, weak_node(Kind.SIGNED), object, dict]
)
def test_what_names_no_dtype_is_another_thing(other: object) -> None:
    d = tl.dtype("int8")
    assert d != other
    assert other != d
    assert not d == other  # noqa: SIM201


@pytest.mark.parametrize("other", ["float32", "f32", "int8", np.float32, ml_dtypes.bfloat16])
def test_a_dtype_compared_with_what_names_one_is_unequal_and_warns(other: object) -> None:
    d = tl.dtype("float32")
    how = "typelattice.dtype(...)" if isinstance(other, str) else "typelattice.operand(...).dtype"
    for compare, found in ((lambda: d == other, False), (lambda: d != other, True)):
        with pytest.warns(UserWarning, match="is no DType, and so never equal to one; compare with") as w:
            assert compare() is found
        assert f"{how}, a namespace's own dtype, or compare names: str(d)" in str(w[0].message)
        assert str(w[0].message).startswith("float32 is compared with ")
        assert w[0].filename == __file__


def test_python_types_stand_beside_dtypes_in_sets_and_dicts() -> None:
    d = tl.dtype("float32")
    assert d not in (bool, int, float, complex)
    assert {int: 1, d: 2, float: 3}[d] == 2
    assert [int, float, d].index(d) == 2
    assert len({d, int, float, np.dtype("float64"), tl.dtype("float64")}) == 5


def test_numpys_own_dtype_on_the_right_compares_as_numpy_does() -> None:
    d = tl.dtype("float32")
    assert d == np.dtype("float32")
    assert d != np.dtype("int8")
    assert d != np.dtype("U5")


def test_numpys_own_dtype_on_the_left_compares_as_numpy_does() -> None:
    """It asks for `__numpy_dtype__`, and never asks us."""
    assert np.dtype("float32") == tl.dtype("float32")
    assert np.dtype("float32") != tl.dtype("int8")


def test_the_ways_to_compare_that_the_error_names() -> None:
    d = tl.dtype("float32")
    assert d == tl.dtype("float32")
    assert d == tl.operand(np.float32).dtype == tl.operand(np.dtype("float32")).dtype
    assert d == tl.namespace("jax", np).float32
    assert str(d) == "float32"


# -- one object for equal facts, as long as it is in use


def made(n: int) -> DType:
    """A dtype that no other test makes."""
    return intern_dtype(f"own{n}", f"own{n}", Kind.SIGNED, 8, 8, -128, 127, None, None, 1, (), "sz")


def test_equal_facts_are_one_object_and_unequal_ones_are_not() -> None:
    d = made(0)
    assert made(0) is d
    assert made(1) is not d
    assert pickle.loads(pickle.dumps(d)) is d
    facts = ("own", "own", Kind.FLOAT, None, None, None, 1, None, None, None, (), "sz")
    whole, fraction = intern_dtype(*facts), intern_dtype(*(1.0 if fact == 1 else fact for fact in facts))
    assert whole is not fraction
    assert [type(x.max) for x in (whole, fraction)] == [int, float]


def test_threads_that_first_define_a_dtype_get_one_object() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads meet within the definition
    try:
        with ThreadPoolExecutor(8) as pool:
            for n in range(100, 200):
                start = Barrier(8)

                def one(n: int = n, start: Barrier = start) -> tuple[DType, object]:
                    start.wait()
                    d = made(n)
                    return d, weak_node(Kind.SIGNED, d)

                found = list(pool.map(lambda _: one(), range(8)))
                assert all(d is found[0][0] and w is found[0][1] for d, w in found)
    finally:
        sys.setswitchinterval(interval)


def test_a_dtype_that_nobody_uses_is_gone() -> None:
    """So that a program may read files of its own for ever."""
    d = made(2)
    node = weak_node(Kind.SIGNED, d)
    gone = [weakref.ref(d), weakref.ref(node)]
    assert all(ref() is not None for ref in gone)
    del d, node
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_two_dtypes_of_one_name_are_two() -> None:
    """The files that define them are not mixed up."""
    narrow, wide = (
        parse(
            f'name = "{bits}"\norder = "mine -> f64"\n'
            f'dtypes = {{ mine = {{ kind = "signed", bits = {bits} }} }}'
        )
        for bits in (8, 16)
    )
    a, b = narrow.result_type("mine", "mine"), wide.result_type("mine", "mine")
    assert (str(a), str(b), a == b) == ("mine", "mine", False)
    assert [tl.loss(d, tl.dtype("int8")).magnitude for d in (a, b)] == [False, True]
    assert narrow.explain(b, "float64").reason == "8 has no mine"
    assert [pickle.loads(pickle.dumps(d)) for d in (a, b)] == [a, b]
