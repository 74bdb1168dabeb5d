"""Nothing that looks at a list of unknown length takes its samples for all of its items."""

from __future__ import annotations

import pytest

import typelattice as tl

LIST = "l = [i for i in range(3) if x[i] > 0]"  # for ones it is [0, 1, 2]
TESTS = [  # each is true for that list, and false for a shorter one
    "max(l, default=0) == 2", "len(tuple(l)) == 3", "len(set(l)) == 3", "l == [0, 1, 2]", "len(l + [1]) == 4",
    "len(list(zip(l, l))) == 3", "len(list(enumerate(l))) == 3", "[*map(str, l)] == ['0', '1', '2']",
    "''.join(map(str, l)) == '012'", "f'{l}' == '[0, 1, 2]'",
    "str(l) == '[0, 1, 2]'",
    "len(list(itertools.chain(l, l))) == 6", "functools.reduce(lambda a, b: a + b, l) == 3", "sum(l) == 3",
    "sorted(l)[-1] == 2", "l[::-1][0] == 2", "2 in l", "any(i == 2 for i in l)", "l.count(2) == 1",
    "(lambda *a: len(a))(*l) == 3", "[*l, 1][-2] == 2", "min(l) == 0", "len(l.copy()) == 3", "l[2:] == [2]",
    "(1, l) == (1, [0, 1, 2])", "{'a': l} == {'a': [0, 1, 2]}", "[0, 1, 2] in [l]",
    "bool(l) and l[0] == 0",
    "{tuple(l): 1}.get((0, 1, 2)) == 1", "len({i: i for i in l}) == 3", "l.index(2) == 2",
    "len(list(l)) == 3",
]  # fmt: skip
LINES = [  # lines before, and a test after them
    ("a, b, c = l", "c == 2"), ("a, *b = l", "len(b) == 2"), ("n = 0\nfor i in l: n += 1", "n == 3"),
    ("a = [5]\na += l", "len(a) == 4"), ("a = [5]\na.extend(l)", "a[-1] == 2"), ("a = {*l}", "len(a) == 3"),
    ("a = [5, 6]\na[1:] = l", "len(a) == 4"), ("a = dict(zip(l, l))", "len(a) == 3"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "test"), [*(("pass", each) for each in TESTS), *LINES])
def test_a_branch_on_a_list_of_unknown_length_is_not_decided(before: str, test: str) -> None:
    lines = [LIST, *before.split("\n"), f"return x * 1j if {test} else x"]
    body = "\n".join(f"    {line}" for line in lines)
    text = f"import functools, itertools\nimport numpy as np\ndef f(x):\n{body}"
    try:
        result = str(tl.program(text, x="float32[3]").under("numpy").result)
    except tl.ProgramError as error:
        result = str(error)
        said = ("as the values of arrays decide", "the values of an array", "with the values of arrays")
        assert any(words in result for words in said)
        return
    assert result == "complex64 or float32"
