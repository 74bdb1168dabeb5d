"""The links of the documentation site are followed: those that lead nowhere are named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools" / "docs"


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    import links

    yield links.follow
    sys.modules.pop("links")


def written(folder: Path, **pages: str) -> Path:
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    return folder


def test_links_to_files_and_places_that_exist_are_followed(follow, tmp_path: Path) -> None:
    (tmp_path / "räume").mkdir()
    written(tmp_path / "räume", inner='<p id="größe">here</p><a href="../index.html#top">up</a>')
    written(
        tmp_path,
        index='<h1 id="top">one</h1> <a href="#top">top</a>'
        '<a href="r%C3%A4ume/inner.html#gr%C3%B6%C3%9Fe">in</a>'
        '<a name="old"></a><a href="index.html?q=1#old">old</a> <script src="a.js"></script>',
    )
    (tmp_path / "a.js").write_text("", encoding="utf-8")
    assert follow(tmp_path) == ([], [])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('<a href="gone.html">x</a>', "index.html: gone.html leads to no file"),
        ('<img src="gone.svg">', "index.html: gone.svg leads to no file"),
        ('<a href="sub/">x</a>', "index.html: sub/ leads to no file"),
        ('<a href="#gone">x</a>', "index.html: #gone leads to no place on that page"),
        ('<a href="other.html#gone">x</a>', "index.html: other.html#gone leads to no place on that page"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(follow, tmp_path: Path, body: str, says: str) -> None:
    (tmp_path / "sub").mkdir()
    written(tmp_path, index=body, other='<p id="here">')
    assert follow(tmp_path) == ([], [says])


def test_links_to_the_outside_are_listed_once_without_their_places(follow, tmp_path: Path) -> None:
    written(
        tmp_path,
        index='<a href="https://b.example/#one">1</a><a href="https://b.example/#two">2</a>',
        other='<a href="https://a.example/x">3</a><a href="mailto:somebody@example.org">4</a>'
        '<a href="//c.example/y">5</a>',
    )
    outside = ["//c.example/y", "https://a.example/x", "https://b.example/", "mailto:somebody@example.org"]
    assert follow(tmp_path) == (outside, [])
