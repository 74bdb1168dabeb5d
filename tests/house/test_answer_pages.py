"""The pages of single questions show recorded answers, mark what nobody asked, and lead to one another."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from html import unescape
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote

import pytest

import typelattice as tl
from typelattice.core.evidence.never_asked import is_never_asked
from typelattice.core.evidence.recorded_answer import find_recorded_answer

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs"))
import answers

ROOT = Path(__file__).parents[2]

ASKED = [
    answers.AnswerAddress("add", ("int64", "float16")),
    answers.AnswerAddress("add", ("uint8", "300")),
    answers.AnswerAddress("divide", ("int8", "int32")),
    answers.AnswerAddress("matmul", ("bfloat16", "uint64")),
]


def rows(page: str) -> dict[str, list[str]]:
    """The cells of each library's row, as text."""
    found = {}
    for row in page.partition("<tbody>")[2].split("<tr>")[1:]:
        cells = [unescape(re.sub("<[^>]*>", " ", cell)).split() for cell in row.split("<td>")]
        found[cells[0][0]] = [" ".join(cell) for cell in cells[1:]]
    return found


@pytest.mark.parametrize("question", ASKED, ids=lambda q: q.path)
def test_a_page_shows_what_was_recorded_and_marks_what_was_not(question: answers.AnswerAddress) -> None:
    asked = answers.asked(question)
    shown = rows(answers.page(question, asked))
    assert {*shown} == {*answers.libraries()}
    groups = [said for said, _ in groupby(asked[name][0].answer for name in shown)]
    assert len(groups) == len({*groups}), "systems with one answer stand together"
    assert "refused" not in groups[:-1], "refusals stand last"
    for name, (newest, _, behind) in shown.items():
        p = tl.system(name).explain(*question.operands, op=question.op)
        o = find_recorded_answer(p)
        dtype = o.dtype if o else p.dtype
        assert ("refused" if dtype is None else str(dtype)) in newest
        assert ("never asked" in newest) == (o is None and is_never_asked(p))
        assert ("departs" in newest) == (o is not None and o.departs)
        assert o is None or o.call.question in behind
        for cast in p.casts:
            lossy = cast.loss and not (o and o.departs)
            assert (f"{cast.source} to {cast.target}:" in behind) == bool(lossy)


def test_the_sentence_names_the_difference_and_who_was_never_asked() -> None:
    found = answers.asked(ASKED[0])
    assert answers.sentence(found) == "numpy gives float64; torch and jax give float16; tensorflow refuses."
    keras = {name: found[name] for name in ("keras", "numpy")}
    assert answers.sentence(keras).startswith("keras (never asked) gives float16")


def test_every_page_is_reached_and_is_small() -> None:
    every = [*answers.list_questions()]
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
    assert "<td>-" in overview and "-: refused" in overview
    rows = Counter(question.op for question in every).most_common(1)[0][1]
    assert rows * len(overview[overview.index("<tbody>") : overview.index("</tbody>")]) < 100_000


def test_text_of_libraries_is_no_markup() -> None:
    hostile = answers.Given("<b>", "<i>", "departs", '"<u>', "<script>", "&")
    page = answers.page(ASKED[0], {"numpy": [hostile, hostile]})
    badge = answers.badge(ASKED[0], {"numpy": [hostile]})
    for text in (page, badge):
        assert not re.search("<b>|<i>|<u>|<script>", text)


def test_a_page_names_who_answers_otherwise_in_the_other_order() -> None:
    found = answers.asked(answers.AnswerAddress("pow", ("uint8", "int8")))
    other = answers.AnswerAddress("pow", ("int8", "uint8"))
    told = answers.describe_differences(other, found)
    for name, (newest, *_) in found.items():
        given = answers._given(other, name, newest.release)
        differs = (given.answer, given.status) != (newest.answer, newest.status)
        assert (f" {name} {given.answer}" in told) == differs, name


def test_a_page_names_who_answers_otherwise_for_a_scalar() -> None:
    question = answers.AnswerAddress("add", ("float32", "2.5"))
    page = answers.page(question, answers.asked(question))
    assert "<li>float32:scalar + 2.5: numpy1 float64." in page
    assert "numpy float64" not in page
    alone = answers.AnswerAddress("sqrt", ("int8",))
    assert "<li>" not in answers.page(alone, answers.asked(alone))


def test_the_page_of_each_question_is_found_from_the_question() -> None:
    for question in answers.list_questions():
        assert answers.find_question(question.operands, question.op) == question
        assert answers.find_question(question.operands[::-1], question.op) == question


def test_a_card_shows_the_answers_of_the_page() -> None:
    found = answers.asked(ASKED[0])
    shown = answers.card(ASKED[0], found)
    assert "int64 + float16" in shown and ">numpy<" in shown and ">float64<" in shown


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(("typed", "page"), [
    ("int64 float16", "int64+float16.html"), ("float16 / int64", "divide/int64+float16.html"),
    ("int64+float16", "int64+float16.html"), ("np.sum(uint8)", "sum/uint8.html"),
    ("uint8 + 300", "uint8+300.html"), ("300*uint8", "multiply/uint8+300.html"),
    ("torch.divide(int8, flaot32)", "divide/int8+float32.html"), ("pow int8 int8", "pow/int8+int8.html"),
    ("divide", "divide.html"), ("uint8 ** -1", "pow/uint8+-1.html"), ("int8 + 1e5", "int8+1e5.html"),
    ("int8 - int16", "subtract/int8+int16.html"), ("int64 quaternion", ""), ("int8 sum int8", ""), ("", ""),
    ("def f(x): return x", ""), ("May I use float16 with int64 in PyTorch?", "int64+float16.html"),
    ("why is my sum float64", ""), ("in numpy", ""), ("max int8 uint8", ""),
    ("/int64+float16", "int64+float16.html"), ("/divide", "divide.html"), ("uint8 -1", "uint8+-1.html"),
    ("int4 int8", ""), ("complex32 int8", ""), ("what dtype has int64 + float16", "int64+float16.html"),
])  # fmt: skip
def test_the_box_finds_the_page_of_what_is_typed(typed: str, page: str) -> None:
    script = (ROOT / "tools" / "docs" / "static" / "answers.js").read_text(encoding="utf-8")
    browser = "const location = {search: ''}; const document = {getElementById: () => null};"
    pages = f"const ANSWER_PAGES = {json.dumps(answers.searched())};"
    ask = f"console.log(answerPage({json.dumps(typed)})?.path ?? '')"
    code = "\n".join((browser, pages, script.replace('"use strict";', ""), ask))
    found = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True).stdout.strip()
    assert unquote(found) == page
    assert not page or page in {q.path for q in answers.list_questions()} | {
        f"{op}.html" for op in answers.SIGN_BY_OPERATION
    }


def test_equal_answers_have_one_colour_and_others_another() -> None:
    page = answers.page(ASKED[0], answers.asked(ASKED[0]))
    classes: dict[str, set[str]] = {}
    for kind, said in re.findall(r'<span class="([^"]*)">([^<]*)</span>', page):
        classes.setdefault(said, set()).add(kind.split()[0])
    assert classes["refused"] <= {"refused", "unasked"}
    assert len(classes["float16"]) == len(classes["float64"]) == 1
    assert classes["float16"] != classes["float64"]
    assert re.search(r'<a href="../gallery/numpy.html#its-file">numpy.toml, [^<]*</a>', page)
