"""Operators in place: Python reads and writes the target in its own order, each part of it once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from followed import followed, followed_module

from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.report.html_report import write_pages
from typelattice.tracing.report.text_report import write_report

PLAIN = """
log = []

class Box:
    def __init__(self):
        self.items = {0: 1, 1: [1]}
    def __getitem__(self, key):
        log.append(("get", key))
        return self.items[key]
    def __setitem__(self, key, value):
        log.append(("set", key, value))
        self.items[key] = value

def told(x):
    log.append(x if isinstance(x, int) else type(x).__name__)
    return x

buffer = [1, 2]
old = buffer
def grown():
    globals()["buffer"] = [10, 20, 30]
    return 5
buffer[0] += grown()

box = Box()
told(box)[told(0)] += told(7)
told(box)[1] += [2]
told(box).count = 3
told(box).count **= told(2)

def given():
    total = [0]
    total[0] += yield
    total[0] += (yield)
    return total
sums = given()
next(sums), sums.send(10)
try:
    sums.send(20)
except StopIteration as e:
    sent = e.value

def nested():
    n = 0
    def inner():
        nonlocal n
        n += 1
        return n
    n += inner()
    return n

pair = 1, [2]
try:
    pair[1] += [3]
except TypeError as e:
    refused = str(e)
x = 1
x += 2; x -= 1; x *= 5; x //= 2; x %= 4; x <<= 3; x |= 1; x &= 9; x ^= 2; x >>= 1
rows = [[1, 2], [3, 4]]
rows[0][1] += (k := 5)
found = old, buffer, log, box.items, box.count, sent, nested(), pair, refused, x, rows, k
"""


def test_a_target_is_read_and_written_once_and_in_order() -> None:
    plain: dict[str, Any] = {}
    exec(compile(PLAIN, "code.py", "exec"), plain)
    scope, _ = followed_module(PLAIN)
    assert scope["found"] == plain["found"]
    assert scope["old"] == [6, 2] and scope["buffer"] == [10, 20, 30]


@pytest.mark.parametrize(
    "line",
    [
        "buffer[0] += y",
        "told(buffer)[0] += y",
        "box.rows[0] += y",
        "box.rows[1 - 1] *= y",
        "told(box).sum -= y",
    ],
)
def test_an_operator_in_place_is_followed_whatever_its_target_is(line: str) -> None:
    before = f"""
import numpy as np
from types import SimpleNamespace
def rebind():
    global buffer
    buffer = None
told = lambda x: x
y = np.ones(2, np.float32)
buffer = np.zeros((2, 2), np.float16)
box = SimpleNamespace(rows=buffer, sum=np.zeros(2))
{line}
"""
    _, run = followed("y", before)
    (step,) = [each for each in run.program.steps if each.text == line and each.op != "setitem"]
    assert step.op in ("iadd", "isub", "imul") and not run.mismatches


NARROW_AND_WIDE = """
import numpy as np
x, out = np.ones(3, np.float32), np.zeros(3, np.float32)
wide, whole = np.ones(3), np.ones(3, np.int32)
"""


@pytest.mark.parametrize(
    "line", ["x *= wide", "np.multiply(x, wide, out=x)", "np.add(wide, x, out)", "x[:2] -= whole[:2]"]
)
def test_what_is_computed_in_a_wider_float_than_it_is_written_in_widens_nothing(
    line: str, tmp_path: Path
) -> None:
    _, run = followed("x + out", f"{NARROW_AND_WIDE}{line}\n")
    found = collect_findings(run)
    assert not found.causes and not run.mismatches
    (place,) = found.cast_backs
    assert (run.program.steps[place.step].text, str(place.compute_dtype), str(place.written_dtype)) == (
        line, "float64", "float32",
    )  # fmt: skip
    told = " ".join("\n".join(write_report(run, ())).split())
    said = "1 place computes in a wider float than it writes: that widens nothing, but takes time"
    assert f"{said} code.py:5: {line}: computes in float64, writes float32" in told
    write_pages(run, (), tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "1 place computes in a wider float" in page
    assert ">No float was widened by another</h2>" in page and "0 places" not in page


@pytest.mark.parametrize(
    "line", ["x += x", "x *= 2.0", "np.add(wide, wide, out=out)", "x[:] = wide", "wide += x"]
)
def test_what_is_computed_as_wide_as_it_is_written_is_not_named(line: str) -> None:
    _, run = followed("x", f"{NARROW_AND_WIDE}{line}\n")
    assert not collect_findings(run).cast_backs


@pytest.mark.parametrize("name", ["concatenate", "vstack", "stack"])
def test_what_a_function_joins_in_the_dtype_asked_for_widens_nothing(name: str) -> None:
    for dtype, wide in (("float32", 0), ("float64", 1)):
        _, run = followed("x", f"{NARROW_AND_WIDE}y = np.{name}([x, wide], dtype=np.{dtype})\n")
        found = collect_findings(run)
        assert (len(found.causes), found.cast_backs) == (wide, ())


@pytest.mark.parametrize("line", ["np.add(x, x, out=wide)", "wide += x", "x = x * wide"])
def test_a_narrow_float_that_is_written_into_a_wide_array_is_widened(line: str) -> None:
    _, run = followed("x", f"{NARROW_AND_WIDE}{line}\n")
    assert [run.program.steps[cause.step].text for cause in collect_findings(run).causes] == [
        line.removeprefix("x = ")
    ]
