"""The words of the project: first words of docstrings, words that are no longer used, length of sentences."""
from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from parsed_sources import parse_source

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "typelattice"
NEVER_FIRST = {"What", "Whether", "Where", "Which", "Of", "That", "How"}
NO_LONGER_USED = re.compile(r"\b(it adds nothing|where they part)\b")
PRIVATE = re.compile(r"\b([Ss]o many|comes? along|anew|otherwise than|what came of|falls? short)\b")
LONGEST = 30  # words of a sentence
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def docstrings(path: Path) -> Iterator[str]:
    """The docstrings of a file."""
    for node in ast.walk(parse_source(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node) or ""


def prose(page: str) -> str:
    """The sentences of a page: neither code, tables, headings nor addresses."""
    page = re.sub(r"(?ms)^```.*?^```$", "", page)
    page = re.sub(r"(?m)^( {4}|\t|\||#|<|>>>|!\[).*$", "", page)
    page = re.sub(r"\]\([^)]*\)", "]", page)
    return re.sub(r"(?m)^\s*([-*]|\d+\.) ", "\n\n", page)


def long_sentences(page: str) -> list[str]:
    """The sentences of a page that have too many words."""
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", prose(page))]
    ends = r"(?<=[.!?:])[\"”)]?\s+(?=[A-Z`*<\[\d]|typelattice\b)"
    sentences = [s for each in paragraphs for s in re.split(ends, each)]
    return [s for s in sentences if len(s.split()) > LONGEST]


def problems(path: Path) -> list[str]:
    """The reasons why a file is not in plain English."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        private = [f"private words: {m[0]}" for m in PRIVATE.finditer(prose(text))]
        return [f"{len(s.split())} words: {s}" for s in long_sentences(text)] + private
    first = [doc for doc in docstrings(path) if doc.split(maxsplit=1)[:1] and doc.split()[0] in NEVER_FIRST]
    return [f"begins with {doc.split()[0]}: {doc.splitlines()[0]}" for doc in first] + [
        f"no longer used: {m[0]}" for m in NO_LONGER_USED.finditer(text)
    ]


def test_every_file_is_in_plain_english() -> None:
    found = {path.relative_to(ROOT).as_posix(): problems(path) for path in (*SOURCE.rglob("*.py"), *PAGES)}
    assert {name: each for name, each in found.items() if each} == {}


def test_private_words_of_pages_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Systems that come along\nare written anew.\n\n```\ncompiled anew\n```\n")
    assert problems(page) == ["private words: come along", "private words: anew"]


def test_long_sentences_are_found_and_code_is_not_counted() -> None:
    long = " ".join(["word"] * 40) + "."
    assert long_sentences(f"Short. {long.capitalize()} Short.") == [long.capitalize()]
    assert long_sentences(f"```console\n{long}\n```\n| {long} |\n") == []
