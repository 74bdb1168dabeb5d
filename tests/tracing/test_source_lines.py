"""Lines are those of Python: a form feed, which splits pages of a source, ends no line."""

from __future__ import annotations

import ast

import pytest
from followed import followed_module
from hypothesis import given
from hypothesis import strategies as st

from typelattice.repair.patch.patch import write_diff
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.remedies.remedy import find_remedy
from typelattice.tracing.run_data.source_text import split_lines

ENDS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("end", ENDS)
def test_other_ends_of_lines_move_no_step(end: str) -> None:
    code = f'import numpy as np\nt = "{end}"\nx = np.ones(3, np.float32)\ny = x * np.zeros(3)\n'
    found = collect_findings(followed_module(code)[1])
    (cause,) = found.causes
    assert found.predicted_run.steps[cause.step].text == "x * np.zeros(3)"
    remedy = find_remedy(found.predicted_run, cause)
    assert remedy is not None
    assert "np.zeros(3, dtype=" in remedy.list_changed_lines()[0][2]


def test_a_page_break_leaves_a_comment_on_its_line() -> None:
    code = "import numpy as np\n\x0cx = np.ones(3, np.float32)\ny = x * np.zeros(3)  # typelattice: meant\n"
    assert not collect_findings(followed_module(code)[1]).causes


@given(st.lists(st.sampled_from(["a = 1", "'", "\n", "\r", "\r\n", *ENDS])).map("".join))
def test_lines_are_counted_as_python_counts_them(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    assert all(node.end_lineno is not None and node.end_lineno <= len(lines) for node in tree.body)


@pytest.mark.parametrize("end", [*ENDS, "\r"])
def test_a_diff_has_the_lines_of_git(end: str) -> None:
    diff = "".join(write_diff("a.py", f"x = 1{end}y = 2\nz = 3\n", f"x = 1{end}y = 3\nz = 3\n"))
    assert f"-x = 1{end}y = 2\n+x = 1{end}y = 3\n z = 3\n" in diff
