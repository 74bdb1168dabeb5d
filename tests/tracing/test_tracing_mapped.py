"""Functions of a library that `map` calls: what they give is counted and linked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from followed import followed, followed_module

from typelattice.programs.calls.steps import Opaque

MAPPED = """
import numpy as np
x, y = np.ones(2, np.float32), np.ones(2)
xs, ys = [x, x], [y, y]
"""


@pytest.mark.parametrize(
    ("code", "many"),
    [
        ("list(map(np.add, xs, ys))[0] + 1", 2),
        ("next(map(np.sqrt, ys)) + 1", 1),
        ("[z + 1 for z in map(np.add, xs, ys)][0]", 2),
        ("[*map(np.add, *[xs, ys])][0] + 1", 2),
        ("list(map(np.sum, ys))[0] + 1", 2),
    ],
)
def test_what_map_calls_is_a_counted_step_of_the_line_and_linked(code: str, many: int) -> None:
    _, run = followed(code, MAPPED)
    ((at, made, seen),) = [(i, s, n) for i, (s, n) in enumerate(run) if s.op == "map"]
    assert isinstance(made, Opaque) and made.location is not None and made.location.line == 5
    assert (str(seen.operand.dtype), seen.count) == ("float64", many) and made.text in code and made.inputs
    (last,) = {s.inputs[0] for s in run.program.steps if s.op == "add"}
    assert last == at and not run.mismatches


def test_what_map_calls_is_told_in_the_place_that_it_had() -> None:
    lines = (
        "import numpy as np, traceback, warnings",
        "made = map(np.sqrt, [np.float64(-1)])",
        "with warnings.catch_warnings(record=True) as caught:",
        "    warnings.simplefilter('always')",
        "    list(made)",
        "places = [(w.filename, w.lineno) for w in caught]",
        "try:",
        "    list(map(np.add, [np.ones(2)], [np.ones(3)]))",
        "except ValueError as e:",
        "    places += [(f.filename, f.lineno) for f in traceback.extract_tb(e.__traceback__)]",
        "kinds = type(made), [*map(lambda a: a, [1, 2])], [*map(len, ['a'])]",
    )
    scope, _ = followed_module("\n".join(lines))
    plain: dict[str, Any] = {}
    exec(compile("\n".join(lines), "code.py", "exec"), plain)
    tests = str(Path(__file__).parents[1])
    assert [p for p in scope["places"] if tests not in p[0]] == [
        p for p in plain["places"] if tests not in p[0]
    ]
    assert len(plain["places"]) > 1 and scope["kinds"] == plain["kinds"]
