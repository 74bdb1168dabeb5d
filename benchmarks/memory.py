"""What many calls of `result_type` keep of operands that are gone, in blocks of Python's allocator."""
from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from timing import Row, absent, measured

import typelattice as tl

ARRAYS, CLASSES = 1_000_000, 1_000
MAY_KEEP = 1_000  # blocks: at most one an operand class that is gone, and none an array


def memory() -> list[Row]:
    if absent("numpy"):
        return [Row("kept", "a million fresh arrays", "absent: no numpy")]
    np: Any = import_module("numpy")
    system, other = tl.system("numpy"), np.ones(3, "float32")

    def array(i: int) -> None:
        system.result_type(np.ones(3, "int32"), other)

    def of_a_fresh_class(i: int) -> None:
        system.result_type(np.ones(3, "int32").view(type(f"Array{i}", (np.ndarray,), {})), other)

    def a_fresh_number(i: int) -> None:
        system.result_type(type(f"Number{i}", (int,), {})(i % 100), other)

    asked = (
        ("fresh arrays", array, ARRAYS),
        ("fresh array classes", of_a_fresh_class, CLASSES),
        ("fresh classes of numbers", a_fresh_number, CLASSES),
    )
    return [
        measured("kept", f"{times:,} {what}", kept(call, times), MAY_KEEP, "blocks")
        for what, call, times in asked
    ]


def kept(call: Callable[[int], None], times: int) -> int:
    """The blocks that calls leave behind once the first hundred have filled what is remembered."""
    for i in range(100):
        call(-i)
    gc.collect()
    before = sys.getallocatedblocks()
    for i in range(times):
        call(i)
    gc.collect()
    return sys.getallocatedblocks() - before
