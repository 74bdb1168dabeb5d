"""What a namespace shows of itself, and what it says to nonsense."""
from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from spaces import space

import typelattice as tl
from typelattice.core.registry.libraries import libraries

ROOM = Path(tl.__file__).parent / "programs" / "namespaces"


def listed() -> dict[str, set[str]]:
    """What the standard names, by the place in which it does."""
    text = (Path(__file__).parents[2] / "array_api" / "members-2025.12.txt").read_text("ascii")
    found = re.findall(r"^(\w+): ((?:.+\n)(?:  .+\n)*)", text, re.MULTILINE)
    return {place: {*names.split()} for place, names in found}


NONSENSE = {
    "tensordot takes an array": lambda xp: xp.tensordot(1, 2.5),
    "stack takes a list of arrays": lambda xp: xp.stack(xp.ones(2)),
    "out of range for int32; use a value within it": lambda xp: xp.asarray([1, 2**70], dtype=xp.int32),
    "numpy cannot carry out from_dlpack": lambda xp: xp.from_dlpack(1),
    "numpy cannot carry out ones": lambda xp: xp.ones("x"),
}


@pytest.mark.parametrize("path", [*ROOM.glob("*.py")], ids=lambda path: path.stem)
def test_what_is_particular_to_a_library_stands_in_its_file(path: Path) -> None:
    """Code outside of namespaces/libraries names no library; a docstring may, as an example."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            node.body[0] = ast.Pass()
    known = {name for each in libraries().values() for name in (each.name, *each.modules)}
    assert not (known - {"python", "max", "go"}) & {*re.findall(r"\w+", ast.unparse(tree))}


def test_what_it_says_of_itself() -> None:
    x = space("jax").asarray(1.5)
    assert repr(x) == "<float64, weak under jax over numpy: 1.5>"
    assert "<b>float64 (weak), shape ()</b>" in x._repr_html_()
    assert repr(x.__array_namespace__()) == "<namespace jax over numpy>"
    with pytest.raises(tl.NamespaceError, match="no version"):
        x.__array_namespace__(api_version="1999")


def test_html_is_escaped(tmp_path: Any) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\ntitle = "<script>"\ndefaults = { float = "f32" }\norder = "f32 -> f64"\n')
    assert "<script>" not in tl.namespace(file, np).ones(1)._repr_html_()


def test_what_does_not_go_together_is_refused() -> None:
    xp, other = space("jax"), space("numpy")
    x = xp.ones(2)
    for wrong, match in ((other.ones(2), "mixes"), *((x, "asarray") for x in (np.ones(2), "1", None, [1]))):
        with pytest.raises(tl.NamespaceError, match=match):
            xp.add(x, wrong)
    with pytest.raises(tl.NamespaceError, match="mixes"):
        x + other.ones(2)
    with pytest.raises(tl.NamespaceError, match="mixes"):
        xp.concat([x, other.ones(2)])
    with pytest.raises(tl.NamespaceError):
        np.ones(2) + x
    with pytest.raises(tl.PromotionError, match="array-api refuses int8 with float32"):
        space("array-api").ones(1, dtype="int8") + space("array-api").ones(1, dtype="float32")
    with pytest.raises(tl.NamespaceError, match="condition"):
        xp.where(x, x, x)
    with pytest.raises(tl.NamespaceError, match="one at least"):
        xp.concat([])
    with pytest.raises(tl.NamespaceError, match="cannot hold tensor_float32"):
        xp.ones(1, dtype="tensor_float32")
    with pytest.raises(tl.DTypeError, match="unknown dtype"):
        xp.ones(1, dtype="flout32")


def test_a_library_without_the_standard_is_refused() -> None:
    for library in (sys, ModuleType("nothing"), 3):
        with pytest.raises(tl.NamespaceError, match="no array library"):
            tl.namespace("jax", library)
    with pytest.raises(tl.UnknownSystemError):
        tl.namespace("jaxx", np)


def test_a_namespace_shows_what_the_standard_names_and_its_system() -> None:
    xp, names = space("numpy"), listed()
    more = {"system", "linalg", "fft", "__array_api_version__"}
    assert sorted(dir(xp)) == sorted(names["main"] | names["dtypes"] | more)
    assert sorted(dir(xp.linalg)) == sorted(names["linalg"])
    assert sorted(dir(xp.fft)) == sorted(names["fft"])
    assert all(hasattr(xp, name) for name in dir(xp))
    assert not any(hasattr(xp, name) for name in ("power", "iadd", "bfloat16", "wrap", "library", "recipes"))


@pytest.mark.live
def test_the_names_of_the_standard_are_those_of_array_api_strict() -> None:
    strict = pytest.importorskip("array_api_strict")
    names = listed()
    theirs = {name for name in strict.__all__ if not re.search("flags|Flags|Device|__version__", name)}
    assert theirs == names["main"] | names["dtypes"] | {"linalg", "fft", "__array_api_version__"}
    assert {*strict.linalg.__all__} <= names["linalg"]
    assert all(hasattr(strict.linalg, name) for name in names["linalg"])
    assert {*strict.fft.__all__} == names["fft"]


@pytest.mark.parametrize("said", NONSENSE)
def test_nonsense_has_one_error(said: str) -> None:
    with pytest.raises(tl.NamespaceError, match=said):
        NONSENSE[said](tl.namespace("jax", np))
