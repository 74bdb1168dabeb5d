"""Dictionaries and sets whose keys are values of arrays are read. NumPy runs each function as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import typelattice as tl

BEGINNING = "from collections import Counter, defaultdict\nimport numpy as np\n\ndef f(x):\n"
INPUTS = [np.ones(4, "float32"), np.zeros(4, "float32"), np.array([0, 1, 2, 1], "float32")]

READ = [  # lines of functions, and the dtypes that the program names
    ("d = {}\nfor i, v in enumerate(x.tolist()): d[int(v)] = i\nreturn x * d[int(x[0])]", "float32"),
    ("d = {int(v): v for v in x}\nreturn np.array([d[int(v)] for v in x])", "float32"),
    ("d = defaultdict(list)\nfor v in x: d[int(v)].append(v)\nreturn np.stack([*d.values()][0])", "float32"),
    ("d = {}\nfor v in x: d.setdefault(v, []).append(v)\nreturn x * sum(map(len, d.values()))", "float32"),
    ("d = {}\nfor v in np.unique(x): d[v] = x[x == v].mean()\nreturn np.array([*d.values()])",
     "float32 or float64"),  # there may be no values
    ("d = {}\nfor v in x.tolist(): d[v] = d.get(v, 0) + 1\nreturn max(d, key=d.get) * x", "float32"),
    ("d = {'a': x}\nd[int(x[0])] = x.astype(np.float64)\nreturn d['a']", "float32"),
    ("d = {0: x, 1: x}\nd[int(x[0])] = x.astype(np.float64)\nreturn d[1]", "float32 or float64"),
    ("d = {0: x}\nd[int(x[0])] = x.astype(np.float64)\nd[0] = x\nreturn d[0]", "float32"),
    ("d = {}\nk = int(x[0])\nif k not in d: d[k] = []\nd[k].append(x)\n"
     "del d[k]\nreturn x * len(d)", "float32"),
    ("d = dict(zip(x.tolist(), range(4)))\nreturn np.array([d[v] for v in x.tolist()])", "int64"),
    ("d = {(int(v), 0): v for v in x}\nd[(int(x[0]), 'a')] = 1j\nreturn d[(int(x[1]), 0)]",
     "Python complex or float32"),
    ("d = {int(v): v for v in x}\ne = {**d, 'k': x}\nreturn e['k'] * len({**e, **d})", "float32"),
    ("c = Counter(x.astype(int).tolist())\nreturn x * c.most_common(1)[0][0], len(c)", "float32"),
    ("c = Counter(x.tolist())\nreturn x * c[1.0]", "float32"),
    ("s = set(x.tolist())\nreturn np.array(sorted(s))", "float64"),
    ("s = set()\nfor v in x: s.add(int(v))\nreturn np.array(sorted(s | {1})), x * (1 in s)", "int64"),
    ("b = [[] for _ in range(3)]\nfor v in x: b[int(v)].append(v)\n"
     "return np.concatenate([np.array(e, x.dtype) for e in b])", "float32"),
    ("b = [[], []]\nb[int(x[0])].append(1j)\nreturn np.array(b[0] + [1])", "complex128 or int64"),
    ("b = {0: {}, 1: {}}\nb[int(x[0])]['k'] = x\nb[int(x[1])]['k'] = 1j * x\nreturn b[int(x[0])]['k']",
     "complex64 or float32"),
    ("b = [[1], [1]]\nb[int(x[0])].clear()\nreturn np.array(b[0] + [True])", "bool or int64"),
    ("d = {}\nd[int(x[0])] = 1\nd[int(x[0])] = 1j\nreturn x * d[int(x[0])]", "complex64 or float32"),
    ("d = defaultdict(float)\nd[int(x[0])] += 1\nreturn x * d[int(x[1])]", "float32"),
    ("import functools\n@functools.cache\ndef g(k): return k * 2\nreturn x * g(int(x[0]))", "float32"),
]  # fmt: skip


def _list_dtypes(text: str, lines: str) -> list[str]:
    """Return the dtype of the first result for each of the inputs with which the function runs."""
    names: dict[str, Any] = {}
    exec(compile(text, "function", "exec"), names)
    found = []
    for x in INPUTS:
        try:
            result = names["f"](x)
        except (KeyError, IndexError):
            continue
        found.append(str(np.asarray(result[0] if isinstance(result, tuple) else result).dtype))
    assert found, f"it runs with no input:\n{lines}"
    return found


@pytest.mark.parametrize(("lines", "dtypes"), READ)
def test_a_program_with_keys_of_values_is_read(lines: str, dtypes: str) -> None:
    text = BEGINNING + "".join(f"    {line}\n" for line in lines.split("\n"))
    result = str(tl.program(text, x="float32[4]").under("numpy").result)
    assert {*result.split(" or ")} == {*dtypes.split(" or ")}
    assert {*_list_dtypes(text, lines)} <= {*dtypes.split(" or ")}


UNDECIDED = [  # lines with a condition that is true for some values alone
    ("d = {int(v): 1 for v in x}", "len(d) == 1"), ("d = {int(v): 1 for v in x}", "1 in d"),
    ("d = {int(v): 1 for v in x}", "[*d] == [1]"), ("d = {int(v): 1 for v in x}", "d == {1: 1}"),
    ("d = {int(v): 1 for v in x}", "f'{d}' == '{1: 1}'"),
    ("d = {int(v): 1 for v in x}", "list(d.items())[0][0] == 1"),
    ("d = {int(x[0]): 0}\nd[1] = 1", "len(d) == 1"), ("s = {int(v) for v in x}", "len(s) == 1"),
    ("s = {int(v) for v in x}", "1 in s"), ("s = {int(v) for v in x}", "s == {1}"),
    ("s = {int(v) for v in x} & {1}", "len(s) == 1"), ("s = {1}\ns.discard(int(x[0]))", "len(s) == 0"),
    ("s = {1}\ns.discard(int(x[0]))", "1 not in s"), ("c = Counter(x.tolist())", "c[1.0] == 4"),
    ("d = {1: 0}\nd.pop(int(x[0]), None)", "1 not in d"), ("d = {1: 0}\nd.pop(int(x[0]), None)", "not d"),
    ("b = {0: [], 1: []}\nb[int(x[0])].append(1)", "len(b[1]) == 1"),
    ("a = []\nb = [[], a]\nb[int(x[0])].append(1)", "len(a) == 1"),
    ("a = {}\nb = {0: {}, 1: a}\nb[int(x[0])]['k'] = 1", "len(a) == 1"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "test"), UNDECIDED)
def test_a_branch_on_keys_of_values_is_not_decided(before: str, test: str) -> None:
    lines = [*before.split("\n"), f"return x * 1j if {test} else x"]
    text = BEGINNING + "".join(f"    {line}\n" for line in lines)
    try:
        result = str(tl.program(text, x="float32[4]").under("numpy").result)
    except tl.ProgramError as error:
        assert any(words in str(error) for words in ("the values of arrays", "the values of an array"))
        return
    assert result == "complex64 or float32"
    assert len({*_list_dtypes(text, before)}) > 1


def test_each_key_of_values_costs_the_same() -> None:
    """A step is one of at most eight others and of those joined before, however often a loop adds one."""
    text = BEGINNING + "    d = {}\n    for v in x.tolist(): d[v] = d.get(v, 0) + 1\n    return x * d[1.0]\n"
    steps = tl.program(text, x="float32[400]").steps
    assert max(len(step.inputs) for step in steps) <= 9


COVERED = [  # whatever is read of them has the dtypes of each run
    "b = [[], []]\nb[int(x[0])].append(1j)\nreturn np.array(b[1])",
    "b = [[], []]\nb[int(x[0])].extend([1j])\nreturn np.array(b[1])",
    "b = [[], []]\nb[int(x[0])].sort()\nb[int(x[0])].append(1j)\nreturn np.array(b[0])",
    "d = defaultdict(list)\nd[int(x[0])]\nd[int(x[1]) + 3].append(1j)\nreturn np.array(d[int(x[0])])",
    "d = {int(v): v for v in x if v > 0}\nreturn np.array([*{**d}.values()])",
    "d = {int(v): v for v in x if v > 0}\nreturn np.array([*dict(d).values()])",
    "d = {int(v): v for v in x if v > 0}\nreturn np.array([*(d | {}).values()])",
    "s = {int(v) for v in x if v > 0}\nreturn np.array(sorted(s | set()))",
    "s = set()\ns.update(int(v) for v in x if v > 0)\nreturn np.array(sorted(s))",
    "d = {'a': [x], 'b': [x]}\nd['a' if x[0] > 0 else 'b'].append(x * 1j)\nreturn d['a'][-1]",
    "d = {'a': {}, 'b': {'k': 1}}\nd['a' if x[0] > 0 else 'b']['k'] = 1j\n"
    "return np.array([*d['b'].values()])",
    "b = {0: {'k': 1}, 1: {'k': 1}}\nb[int(x[0]) % 2].pop('k')\nreturn x * (1j if 'k' in b[0] else 1)",
    "b = {0: {'k': 1}, 1: {}}\nreturn x * b[int(x[0]) % 2].setdefault('k', 1j)",
    "class P: pass\nd = {}\nd[int(x[0])] = P()\nd[int(x[0])].w = x\nd[int(x[0]) + 5] = P()\n"
    "d[int(x[0]) + 5].w = x * 1j\nreturn d[int(x[0])].w",
    "d = defaultdict(int)\nd[int(x[0])] += 1\nd[float(x[0]) + 0.5] += 1\nreturn np.array([*d])",
    "d = {(int(x[0]), 0): 1}\nd[(int(x[0]), 'a')] = 1j\nreturn x * d[(int(x[0]), 'a')]",
    "import heapq\nh = [3, 1, 2]\nheapq.heapify(h)\nreturn x * (1j if h[0] == 3 else 1)",
    "import heapq\nh = []\nfor v in (3, 1, 2): heapq.heappush(h, v)\nreturn x * (1j if h[0] == 3 else 1)",
    "import heapq\nh = [(float(v), 1) for v in x] + [(-1.0, 1j)]\nheapq.heapify(h)\nreturn x * h[0][1]",
    "import bisect, cmath\nl = [2, 3]\nbisect.insort(l, int(x[0]))\nreturn x * (1j if l[0] == 2 else 1)",
]


@pytest.mark.parametrize("lines", COVERED)
def test_what_is_read_has_the_dtypes_of_each_run(lines: str) -> None:
    text = BEGINNING + "".join(f"    {line}\n" for line in lines.split("\n"))
    found = {*_list_dtypes(text, lines)}
    try:
        result = str(tl.program(text, x="float32[4]").under("numpy").result)
    except tl.ProgramError as error:
        assert "arrays decide" in str(error) or "the values of an array" in str(error)
        return
    assert found <= {*result.split(" or ")}
