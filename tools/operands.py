"""Writes the tables of docs/operands.md: the objects that are read, and what foreign arrays count as.

The first table has the first lines of the docstrings in operands/adapters, the second the systems' `foreign`.
"""
from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from generated import write_pages
from laws import filled_in

import typelattice as tl

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "operands.md"
ADAPTERS = ROOT / "src" / "typelattice" / "core" / "operands" / "adapters"
WORDS = {
    "array": "an array of its dtype", "number": "a Python number", "float": "a Python float",
    "other": "an array of the tensor's dtype",
}  # fmt: skip
PARTS = {"left": "at the left of an operator", "assigned": "assigned to elements"}
INDICES = {"index": "`x[[0, 2]]`", "indices": "`x[:, [0, 2]]`"}


def adapters() -> str:
    """The table of libraries whose objects are read."""
    rows = ["| library | operands |", "|---|---|"]
    for path in sorted(ADAPTERS.glob("[!_]*.py")):
        library, colon, operands = _first_line(path).rstrip(".").partition(": ")
        assert colon, f"{path}: the docstring begins with the library, a colon and what is read"
        rows.append(f"| {library} | {operands} |")
    return "\n".join(rows)


def _first_line(path: Path) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return (doc or "").partition("\n")[0]


def foreign() -> str:
    """The table of what foreign arrays and lists count as beside the arrays of each library."""
    rows = [
        "| library | NumPy's array | NumPy's scalar | a list | a list as an index |",
        "|---|---|---|---|---|",
    ]
    for library, forms in _forms().items():
        numpy, lists = forms.get("numpy", {}), forms.get("python", {})
        cells = [
            *("-" if library == "numpy" else _cell(numpy, form) for form in ("array", "scalar")),
            _cell(lists, "array"),
            "; ".join(f"{text} refused" for form, text in INDICES.items() if form in lists) or "taken",
        ]  # fmt: skip
        rows.append(f"| {library} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _forms() -> Mapping[str, Mapping[str, Mapping[object, str]]]:
    """Map each library to the foreign objects of the system that has its name, or of its first system."""
    found: dict[str, Mapping[str, Mapping[object, str]]] = {}
    for name in tl.systems():
        system = tl.system(name)
        library = system.library.partition(" ")[0]
        if system.foreign and (name == library or library not in found):
            found[library] = system.foreign
    return found


def _cell(forms: Mapping[object, str], form: str) -> str:
    """Write what a foreign object counts as in one form, with the exceptions that belong to it."""
    if form not in forms:
        return "refused"
    return "; ".join([_word(forms[form]), *_exceptions(forms, form)])


def _exceptions(forms: Mapping[object, str], form: str) -> Iterator[str]:
    for other, word in forms.items():
        if isinstance(other, tl.DType) and form == "scalar":
            yield f"{other}: {_word(word)}"
        elif other in PARTS and form == "array":
            yield f"{PARTS[str(other)]}: {_word(word)}"


def _word(word: str) -> str:
    return WORDS.get(word, "refused")


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    write_pages({PAGE: filled_in(text, {"adapters": adapters, "foreign": foreign})})
