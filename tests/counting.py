"""A library that writes down each question; its answers depend on the operands, and one call ends it."""
from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from hostile import Sane

DTYPES = ("bool", "uint8", "int8", "int16", "float32", "float64")
LOG, SECONDS = "COUNTING_LOG", "COUNTING_SECONDS"
"""Variables of the environment: the file of questions, and the time that each call takes."""


class Counting(Sane):
    """Six dtypes, of which the later one wins; it is no lattice, as subtraction gives the earlier one."""

    name = "counting"
    versions: Mapping[str, str] = {"counting": os.environ.get("COUNTING_VERSION", "1.0")}

    def dtypes(self) -> Sequence[str]:
        return DTYPES

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {op: partial(answer, op) for op in ("result_type", "add", "subtract", "pow", "negative")}


def answer(op: str, *names: str) -> str:
    with open(os.environ[LOG], "a", encoding="ascii") as log:
        log.write(f"{op} {' '.join(names)}\n")
    time.sleep(float(os.environ.get(SECONDS, "0")))
    if (op, *names) == ("pow", "int8", "int16"):
        os._exit(1)
    if op == "pow" and "bool" in names:
        raise TypeError(f"no power of {names[0]} in {len(names)} operands")
    return (min if op == "subtract" else max)(names, key=DTYPES.index)


def questions_of(path: Path) -> Counter[str]:
    """Count how often each question was asked."""
    return Counter(path.read_text(encoding="ascii").splitlines())
