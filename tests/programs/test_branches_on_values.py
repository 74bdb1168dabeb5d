"""A branch on the values of arrays is never read as one of its sides alone.

Each program runs with arrays of different values, which take different branches.
"""

from __future__ import annotations

import pytest
from everyday_programs import SHAPE, list_dtypes, list_programs, run_program

import typelattice as tl

np = pytest.importorskip("numpy")

PROGRAMS = list_programs("branches")
MAX_UNREAD = 44


def read_dtypes(text: str) -> list[list[str]] | None:
    """Return the dtypes that each result may have, or None if the program is not read."""
    try:
        replay = tl.program(f"{text}\n\ndef main(x):\n    return f(x)\n", x="int8[3,4]").under("numpy")
    except tl.ProgramError:
        return None
    return [str(replay.outcomes[i]).split(" or ") for i in replay.program.results]


@pytest.mark.parametrize("text", PROGRAMS)
def test_each_result_is_one_of_those_that_are_read(text: str) -> None:
    read = read_dtypes(text)
    for value in (1, 0, -1, 5) if read is not None else ():
        found = run_program(text, np.full(SHAPE, value, "int8"))
        if isinstance(found, Exception):
            continue
        dtypes = [*list_dtypes(found, lambda x: str(x.dtype))]
        assert len(dtypes) == len(read), (value, read)
        assert all(dtype in possible for dtype, possible in zip(dtypes, read, strict=True)), (value, read)


def test_most_branches_are_read() -> None:
    assert sum(read_dtypes(text) is None for text in PROGRAMS) <= MAX_UNREAD
