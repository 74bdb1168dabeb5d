"""The pages of single questions show recorded answers, mark what nobody asked, and lead to one another."""
from __future__ import annotations

import re
import sys
from html import unescape
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.recorded.observed import observed
from typelattice.recorded.unasked import is_unasked

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs"))
import answers  # type: ignore[import-not-found]

ASKED = [
    answers.Question("add", ("int64", "float16")),
    answers.Question("add", ("uint8", "300")),
    answers.Question("divide", ("int8", "int32")),
    answers.Question("matmul", ("bfloat16", "uint64")),
]


def rows(page: str) -> dict[str, list[str]]:
    """The cells of each library's row, as text."""
    found = {}
    for row in page.partition("<tbody>")[2].split("<tr>")[1:]:
        cells = [unescape(re.sub("<[^>]*>", " ", cell)).split() for cell in row.split("<td>")]
        found[cells[0][0]] = [" ".join(cell) for cell in cells[1:]]
    return found


@pytest.mark.parametrize("question", ASKED, ids=lambda q: q.path)
def test_a_page_shows_what_was_recorded_and_marks_what_was_not(question: answers.Question) -> None:
    shown = rows(answers.page(question, answers.asked(question)))
    assert [*shown] == answers.libraries()
    for name, (newest, _, behind) in shown.items():
        p = tl.system(name).explain(*question.operands, op=question.op)
        o = observed(p)
        dtype = o.dtype if o else p.dtype
        assert ("refused" if dtype is None else str(dtype)) in newest
        assert ("never asked" in newest) == (o is None and is_unasked(p))
        assert ("departs" in newest) == (o is not None and o.departs)
        assert o is None or o.call.question in behind


def test_the_sentence_names_the_difference_and_who_was_never_asked() -> None:
    found = answers.asked(ASKED[0])
    assert answers.sentence(found) == "numpy gives float64; torch and jax give float16; tensorflow refuses."
    keras = {name: found[name] for name in ("keras", "numpy")}
    assert answers.sentence(keras).startswith("keras (never asked) gives float16")


def test_every_page_is_reached_and_is_small() -> None:
    every = [*answers.questions()]
    index = answers.index(every)
    for question in every:
        if question.op == "add":
            assert f'href="{question.path}"' in index
        else:
            shown = answers.overview(question.op, {question: {}})
            assert f'href="{question.path}"' in shown and f'href="{question.op}.html"' in index
    assert len(every) > 1000 and len({q.path for q in every}) == len(every)
    found = answers.asked(ASKED[0])
    assert len(answers.page(ASKED[0], found)) < 100_000
    overview = answers.overview("add", {ASKED[0]: {name: given[0] for name, given in found.items()}})
    assert "float16 ?" in overview and 'href="int64+float16.html"' in overview


def test_text_of_libraries_is_no_markup() -> None:
    hostile = answers.Given("<b>", "<i>", "departs", '"<u>', "<script>", "&")
    page = answers.page(ASKED[0], {"numpy": [hostile, hostile]})
    badge = answers.badge(ASKED[0], {"numpy": [hostile]})
    for text in (page, badge):
        assert not re.search("<b>|<i>|<u>|<script>", text)
