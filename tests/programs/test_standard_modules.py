"""Functions with modules of Python's standard library are read as NumPy runs them, and shapes are checked."""

from __future__ import annotations

import numpy as np
import pytest
from everyday_programs import list_dtypes

import typelattice as tl

BEGINNING = (
    "import bisect, cmath, heapq, json, random, statistics\nfrom collections import OrderedDict\n"
    "import numpy as np\n\ndef f(x):\n"
)
PROGRAMS = [
    "h = [(float(v), i) for i, v in enumerate(x[:, 0])]\n"
    "heapq.heapify(h)\nd, i = heapq.heappop(h)\nreturn x[i] * d",
    "h = [3, 1, 2]\nheapq.heapify(h)\nreturn x * heapq.heappop(h), np.array(h)",
    "h = []\nfor v in x.ravel(): heapq.heappush(h, v)\nreturn np.array([heapq.heappop(h) for _ in range(5)])",
    "return np.array(heapq.nlargest(2, [1, 2.5, 3])), heapq.nsmallest(1, x.ravel().tolist())[0]",
    "l = [1.0, 3.0]\nbisect.insort(l, float(x[0, 0]))\nreturn np.array(l)",
    "return x[bisect.bisect_left([0, 0.5, 2], 1)] * bisect.bisect([0, 1], x[0, 0])",
    "return x * statistics.median(x.ravel().tolist()), x - statistics.mean([1, 2, 4])",
    "return x * cmath.exp(1j), cmath.sqrt(float(x[0, 0])), cmath.phase(1j)",
    "l = [x, x * 2]\nrandom.shuffle(l)\nreturn l[0], l[1] * random.choice([1, 3])",
    "return x[random.sample(range(3), 2)]",
    "c = json.loads('{\"scale\": 2.5, \"shift\": 1}')\nreturn x * c['scale'] + c['shift']",
    "d = OrderedDict(a=x, b=x * 1j)\nd.move_to_end('a')\nreturn [*d.values()][0]",
    "best, arg = float('-inf'), None\nfor i in range(3):\n"
    "  s = float(x[i].sum())\n  if s > best: best, arg = s, i\nreturn x[arg]",
    "for i in np.ndindex(*x.shape): x[i] = x[i] + i[0]\nreturn x",
    "return np.array([v * i for (i, j), v in np.ndenumerate(x)])",
    "try: y = x.reshape(5, 5) * 1j\nexcept ValueError: y = x.reshape(-1)\nreturn y",
    "try: y = np.broadcast_to(x, (2, 3, 4)) * 1j\nexcept ValueError: y = x\nreturn y",
    "try: y = np.concatenate([x, x[:, 1:]]) * 1j\nexcept ValueError: y = x\nreturn y",
    "try: y = np.concatenate([x, x[:, 1:]], axis=1) * 1j\nexcept ValueError: y = x\nreturn y",
    "try: y = np.stack([x, x[1:]]) * 1j\nexcept ValueError: y = x\nreturn y",
]


@pytest.mark.parametrize("lines", PROGRAMS)
def test_a_program_is_read_as_it_runs(lines: str) -> None:
    text = BEGINNING + "".join(f"    {line}\n" for line in lines.split("\n"))
    replay = tl.program(text, x="float32[3,4]").under("numpy")
    read = [str(replay.outcomes[i]).split(" or ") for i in replay.program.results]
    names: dict[str, object] = {}
    exec(compile(text, "function", "exec"), names)
    found = [*list_dtypes(names["f"](np.ones((3, 4), "float32")), lambda x: str(x.dtype))]
    assert len(found) == len(read)
    assert all(dtype in possible for dtype, possible in zip(found, read, strict=True)), (found, read)


@pytest.mark.parametrize("call", ["fractions.Fraction(1)", "statistics.quantiles(x)", "decimal.Decimal(1)"])
def test_a_function_of_python_is_none_of_arrays(call: str) -> None:
    text = f"import decimal, fractions, statistics\ndef f(x):\n    return x * {call}\n"
    with pytest.raises(tl.ProgramError, match="is of Python's standard library"):
        tl.program(text, x="float32[3]")


@pytest.mark.parametrize(
    ("library", "call", "count"),
    [
        ("numpy", "split(x, 3)", 3), ("numpy", "split(x, [1, 3])", 3), ("torch", "split(x, 2)", 3),
        ("torch", "split(x, [1, 5])", 2), ("torch", "split(x, 3, dim=1)", 2), ("torch", "split(x, 3, 1)", 2),
    ],
)  # fmt: skip
def test_the_parts_of_a_split_are_counted_as_the_library_counts_them(
    library: str, call: str, count: int
) -> None:
    text = f"import {library}\ndef f(x):\n    return {library}.ones(len({library}.{call}))\n"
    program = tl.program(text, x="float32[6,4]")
    assert program.steps[program.results[0]].shape == (count,)
