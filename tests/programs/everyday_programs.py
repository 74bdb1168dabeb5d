"""Programs of everyday Python, each with a function `f(x)` of an array of 3 rows and 4 columns.

The files in `everyday` hold them. `python.txt` has one for each construct that the reader knows. The other
files were written by somebody who had seen neither the reader nor its tables.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typelattice as tl

FOLDER = Path(__file__).parent / "everyday"
SHAPE = (3, 4)


@dataclass(frozen=True)
class Verdict:
    """How a program was read: right, unread, open (the values of arrays decide), or wrong."""

    word: str
    number: int
    detail: str


def list_programs(name: str) -> list[str]:
    """Return the programs of a file."""
    return [text.strip("\n") for text in (FOLDER / f"{name}.txt").read_text().split("\n====\n")]


def run_program(text: str, x: Any) -> Any:
    """Return the result of a program, or the error that it raises."""
    scope: dict[str, Any] = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(text, scope)
            return scope["f"](x)
        except Exception as error:
            return error


def list_dtypes(result: Any, name_dtype: Callable[[Any], str]) -> Iterator[str]:
    """Yield the dtypes of the arrays and numbers in a result."""
    if isinstance(result, dict):
        result = [*result.values()]
    if isinstance(result, (list, tuple, set)):
        for each in result:
            yield from list_dtypes(each, name_dtype)
    elif type(result) in (bool, int, float, complex):
        yield f"Python {type(result).__name__}"
    elif hasattr(result, "dtype"):
        yield name_dtype(result)
    elif hasattr(result, "__dict__"):
        yield from list_dtypes(vars(result), name_dtype)


def judge(
    number: int, text: str, x: Any, dtype: str, system: str, name_dtype: Callable[[Any], str]
) -> Verdict:
    """Compare what a program gives with what is read of it. A program that raises has no dtypes."""
    real = run_program(text, x)
    rows, columns = SHAPE
    try:
        program = tl.program(f"{text}\n\ndef main(x):\n    return f(x)\n", x=f"{dtype}[{rows},{columns}]")
        replay = program.under(system)
    except tl.TypelatticeError as error:
        return Verdict("unread", number, str(error))
    found = [replay.outcomes[i] for i in replay.program.results]
    if isinstance(real, Exception):
        return Verdict("raises", number, repr(real))
    expected, texts = [*list_dtypes(real, name_dtype)], [str(each) for each in found]
    if texts == expected:
        return Verdict("right", number, "")
    is_open = len(texts) != len(expected) or all(
        a == b or b in a.split(" or ") for a, b in zip(texts, expected, strict=True)
    )
    return Verdict("open" if is_open else "wrong", number, f"{dtype}: {texts} in place of {expected}")
