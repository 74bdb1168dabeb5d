"""Namespaces and arrays in threads, in pickles and copies, and in memory."""
from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spaces import own_file, space

import typelattice as tl
from typelattice.programs.namespaces.namespace import RECENT_NAMESPACES

SOURCE = Path(tl.__file__).parents[1]


def test_threads_share_a_namespace() -> None:
    xp = space("jax")
    pairs = [*product((d for d in xp._context.dtypes.values() if (d.bits or 0) >= 8), repeat=2)] * 3

    def add(pair: tuple[Any, Any]) -> str:
        try:
            return str((xp.ones(3, dtype=pair[0]) + xp.ones(3, dtype=pair[1])).dtype)
        except tl.PromotionError:
            return "refused"

    with ThreadPoolExecutor(8) as pool:
        threaded = [*pool.map(add, pairs)]
    assert threaded == [*map(add, pairs)]


def test_arrays_are_copied_and_pickled() -> None:
    xp = tl.namespace("jax", np)
    weak, x = xp.asarray(2.0), xp.asarray([1, 2], dtype="int8")
    for again in (copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        assert again(xp) is xp
        y = again(x)
        assert (y.dtype, type(y)) == (x.dtype, type(x))
        assert y._type is x._type  # and so has the recipes that are there
        assert (y + x).bare.tolist() == [2, 4]
        assert again(weak).weak
    assert not np.shares_memory(copy.deepcopy(x).bare, x.bare)


def test_a_system_of_ones_own_is_pickled_with_its_arrays(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\ntitle = "Mine"\ntiers = ["array", "scalar"]\norder = "i8 -> i16 -> f32"\n'
    )
    xp = tl.namespace(path, np)
    x, y = pickle.loads(pickle.dumps([xp.asarray([1], dtype="int8"), xp.asarray([2], dtype="int16")]))
    assert (x + y).dtype is tl.dtype("int16")


def test_threads_that_ask_first_get_one_namespace(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\ntitle = "Mine"\norder = "i8 -> i16"\n')
    system = tl.system(path)
    with ThreadPoolExecutor(8) as pool:
        assert len({id(xp) for xp in pool.map(lambda _: tl.namespace(system, np), range(64))}) == 1
    assert tl.namespace(system, np).__array_namespace_info__().default_dtypes().keys() == {
        "integral",
        "indexing",
    }


def test_one_file_is_one_namespace(tmp_path: Path) -> None:
    """Read again, in other threads and from a pickle; a file that says something else is another."""
    path = own_file(tmp_path)
    xp = tl.namespace(path, np)
    assert (
        tl.namespace(str(path), np)
        is tl.namespace(tl.system(path), np)
        is pickle.loads(pickle.dumps(xp))
        is xp
    )
    x, y = pickle.loads(pickle.dumps(xp.ones(2, dtype="uint8"))), xp.ones(2, dtype="int16")
    assert (x + y).dtype is tl.dtype("int16")
    with ThreadPoolExecutor(16) as pool:
        assert {*pool.map(lambda _: tl.namespace(path, np), range(64))} == {xp}
    other = tl.namespace(own_file(tmp_path, order="b -> u8 -> i64 -> f64"), np)
    assert other is not xp
    with pytest.raises(tl.NamespaceError, match="mixes"):
        other.ones(1) + xp.ones(1)


def test_results_of_workers_go_together(tmp_path: Path) -> None:
    path = own_file(tmp_path)
    program = (
        "import sys, pickle, numpy, typelattice as tl; xp = tl.namespace(sys.argv[1], numpy);"
        "found = xp.unique_all(xp.asarray([int(sys.argv[2])] * 2, dtype='uint8'));"
        "sys.stdout.buffer.write(pickle.dumps(found))"
    )
    program = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); {program}"
    commands = [[sys.executable, "-c", program, path, n] for n in "12"]
    done = [subprocess.run(c, capture_output=True, check=True, timeout=60).stdout for c in commands]
    one, two = map(pickle.loads, done)
    assert (one.values + two.values).bare.tolist() == [3]
    assert (one.counts * two.counts).bare.tolist() == [4]
    assert type(one).__name__ == "UniqueAllResult"


def test_namespaces_that_nobody_holds_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After many files that say different things, there are no more than the last few.

    Those of this test are told by their source: other tests of the same process hold namespaces of their own.
    """
    assert RECENT_NAMESPACES.maxlen
    held = deque(RECENT_NAMESPACES, maxlen=8)
    monkeypatch.setattr(sys.modules["typelattice.programs.namespaces.namespace"], "RECENT_NAMESPACES", held)
    for n in range(2 * 8):
        path = own_file(tmp_path, f'source = "that nobody holds, {n}"\n')
        tl.namespace(path, np).ones(1)
        tl.implicit_cast(path, np.ones(1), 1)
    gc.collect()
    spaces = (each for each in gc.get_objects() if isinstance(each, tl.Namespace))
    assert sum("that nobody holds" in each.system.source for each in spaces) == 8
