"""A library made up for recorders, three of whose calls go wrong."""
from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from hostile import Sane

DTYPES = ("int8", "int16", "float32")


class Tiny(Sane):
    """Three dtypes, of which the later one wins."""

    name = "tiny"
    versions: Mapping[str, str] = {"tiny": "1.0"}

    def dtypes(self) -> Sequence[str]:
        return DTYPES

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"result_type": later, "add": later, "pow": power, "negative": later}


def later(*names: str) -> str:
    return max(names, key=DTYPES.index)


def power(x: str, y: str) -> str:
    match x, y:
        case "int8", "int16":
            raise ValueError("no\n  such power" + 300 * "!")
        case "int16", "int8":
            time.sleep(60)
        case "float32", "int8":
            os._exit(1)
    return later(x, y)
