"""Docstrings tell the truth: a name in backticks is one of the code, and an error that is raised exists."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from parsed_sources import parse_source

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "tools", "benchmarks")
FILES = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py"))]
DATA = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".toml", ".txt", ".lp")]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NAME = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)(?:\(\))?`(?!`)")
RAISED = re.compile(r"\bRaises (?:an? )?((?:[A-Z]\w+)(?:(?:, | and | or )[A-Z]\w+)*)")
FILE_SUFFIX = re.compile(r"\.(?:py|txt|toml|md|jsonl?|lp|sh|xz|1)$")
# Names of others, and examples of names that the code puts together.
FOREIGN = {
    "PyThreadState_SetAsyncExc", "ExtensionArray", "fptosi", "sat", "__x", "_Class__x", "x_int8",
    "special_zeta", "equal_operator",
}  # fmt: skip


def list_docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring, without the code of its examples."""
    for node in list_documented(tree):
        if text := ast.get_docstring(node):
            yield getattr(node, "lineno", 1), re.sub(r"(?m)^\s*(?:>>>|\.\.\.) .*$", "", text)


def list_documented(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what may have a docstring: the module, its classes and functions, and those within them."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, DOCUMENTED):
            yield node
        if not isinstance(node, ast.expr):
            waiting += ast.iter_child_nodes(node)


def list_names(path: Path) -> Iterator[str]:
    """Yield each word of a file outside of docstrings and comments."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for node in list_documented(parse_source(path)):
        if ast.get_docstring(node, clean=False):
            text = node.body[0]
            lines[text.lineno - 1 : text.end_lineno] = [""] * (text.end_lineno - text.lineno + 1)
    yield from re.findall(r"\w+", re.sub(r"(?m)(^|  )# .*$", "", "\n".join(lines)))


@cache
def known_names() -> frozenset[str]:
    """All names of the code and of the data, and the names of files and folders."""
    of_code = {name for path in FILES for name in list_names(path)}
    of_data = {word for path in DATA for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    parts = {part for path in FILES for part in path.relative_to(ROOT).with_suffix("").parts}
    return frozenset({*dir(builtins), *of_code, *of_data, *parts, *FOREIGN})


def find_untrue_names(docstring: str) -> Iterator[str]:
    """Yield each name in backticks that looks like one of code, and each error, that nothing has."""
    for name in NAME.findall(docstring):
        looks_like_code = "_" in name.strip("_") or "." in name or re.search("[a-z][A-Z]", name)
        parts = {*name.strip(".").split(".")}
        if looks_like_code and not FILE_SUFFIX.search(name) and not parts <= known_names():
            yield name
    for errors in RAISED.findall(docstring):
        named = re.findall(r"[A-Z]\w+", errors)
        yield from (f"Raises {error}" for error in named if error not in known_names())


def test_names_that_nothing_has_are_found() -> None:
    name, error = "nowhere_there"[::-1], "AbsentNamed"[::-1].title() + "Error"
    text = f"Like `order.{name}()` and `find_untrue_names`. Raises {error} or ValueError."
    assert [*find_untrue_names(text)] == [f"order.{name}", f"Raises {error}"]


def test_each_name_in_a_docstring_exists() -> None:
    untrue = [
        f"{path.relative_to(ROOT)}, line {line}: {name}"
        for path in FILES
        for line, text in list_docstrings(parse_source(path))
        for name in find_untrue_names(text)
    ]
    assert untrue == []
