"""The box of the site: what it answers about pasted functions, without a browser."""

from __future__ import annotations

import doctest
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs" / "static"))
import annotate
import live


def test_the_docstrings_of_the_box_are_true() -> None:
    assert doctest.testmod(annotate).failed == 0


@pytest.mark.parametrize(("title", "source", "names", "systems"), live.EXAMPLES)
def test_each_example_of_the_box_shows_a_difference(
    title: str, source: str, names: str, systems: str
) -> None:
    found = annotate.annotate(source, names, systems)
    assert found["error"] is None
    assert [line["text"] for line in found["lines"]] == source.splitlines()
    assert any(line["first"] and line["differs"] for line in found["lines"]), title


def test_the_page_holds_the_answer_to_each_example() -> None:
    page = live.box(own=False)
    known = json.loads(page.partition('id="live-known">')[2].partition("</script>")[0])
    assert [one["asked"] for one in known] == [asked for _, *asked in live.EXAMPLES]
    assert all(one["answer"] == annotate.annotate(*one["asked"]) for one in known)
    assert "\n\n" not in page  # Markdown would end the raw HTML there


def test_a_loop_is_counted_and_a_departure_shows_what_the_library_gave() -> None:
    found = annotate.annotate("for i in range(3):\n    x = x + 1\nx", "x=int8", "numpy")
    assert [(step["text"], step["times"]) for step in found["lines"][1]["steps"]] == [("x + 1", 3)]
    found = annotate.annotate("(x + y) * 2", "x=int64 y=float16", "tensorflow numpy")
    assert found["lines"][0]["answers"] == ["refused", "float64"]
    found = annotate.annotate("x / y", "x=int8 y=float32", "ndonnx")
    assert found["lines"][0]["answers"] == ["float64"]
    assert "observed" in found["lines"][0]["steps"][0]["reasons"][0]


@pytest.mark.parametrize(
    ("source", "names", "systems", "line", "said"),
    [
        ("y = x + 1\ny.foo()", "x=int8", "numpy", 2, "unknown function 'foo'"),
        ("y = x + 1\n    y", "x=int8", "numpy", 2, "indent"),
        ("x + 1", "x", "numpy", None, "binds no name"),
        ("x + 1", "x=int88", "numpy", None, "did you mean int8"),
        ("x + 1", "x=int8", "nunpy", None, "did you mean numpy"),
        ("x + 1", "x=int8", "", None, "name one to 3"),
        ("x + 1", "x=int8", "numpy jax torch mlx", None, "name one to 3"),
        ("x + 1\n" * 41, "x=int8", "numpy", None, "at most 40 lines"),
        ("", "", "numpy", None, "nothing in it"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    source: str, names: str, systems: str, line: int | None, said: str
) -> None:
    found = annotate.annotate(source, names, systems)
    assert found["line"] == line
    assert said in found["error"]
