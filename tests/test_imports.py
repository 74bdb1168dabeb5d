"""The house: imports run one way, the spine is small and needs nothing, and no fact is stated twice."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import typelattice
from typelattice.dtypes import CODES, DTYPES

ROOT = Path(typelattice.__file__).parent
HOUSE = [  # each imports only what stands before it
    "nearest", "order", "dtypes", "loss", "operand", "ops", "fit", "strings", "promotion", "values", "operation", "system",
    "source", "where", "words", "departures", "format",
    "adapters", "explanation", "expression", "render", "table", "consensus", "audit",
    "joins", "literals", "formulas",
    "laws", "criteria", "survey", "designer", "namespaces", "graph", "tracer", "conformance", "__init__", "explorer",
    "commands", "cli",
    "__main__",
]  # fmt: skip
SPINE = ["order", "dtypes", "loss", "operand", "ops", "system"]
ENGINE = {"order", "ops", "system", "format", "table"}  # what recordings must not depend on
FOREIGN = (  # may import what is not ours
    "adapters", "conformance/libraries", "conformance/testing", "designer/solver", "namespaces",
)  # fmt: skip
NOT_NAMES = {"bool", "index", "address"}  # dtypes whose names are words of another meaning too

FILES = sorted(p for p in ROOT.rglob("*.py"))


def name(path: Path) -> str:
    """A file as it is called within the package: `render/html`."""
    return path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__")


def place(module: str) -> str:
    """The floor of the house that a module stands on."""
    return module.partition("/")[0]


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING`."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield from running(child)


def imports(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it, by their full names."""
    found = set()
    for node in running(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {i for i in inner if (ROOT.parent / i.replace(".", "/")).with_suffix(".py").is_file()} or {
                node.module or ""
            }
    return found


def own(path: Path) -> set[str]:
    """The modules of the package that a file imports: `render/html`; the package itself is `__init__`."""
    names = (
        m.removeprefix("typelattice").lstrip(".").replace(".", "/") for m in imports(path) if m.split(".")[0] == "typelattice"
    )
    return {n or "__init__" for n in names}


def test_every_module_has_its_place_in_the_house() -> None:
    assert {place(name(p)) for p in FILES} <= set(HOUSE)


@pytest.mark.parametrize("path", FILES, ids=name)
def test_imports_run_one_way(path: Path) -> None:
    here = place(name(path))
    upward = {m for m in own(path) if place(m) != here and HOUSE.index(place(m)) > HOUSE.index(here)}
    assert not upward, f"{name(path)} imports {', '.join(upward)}, which stands after it"


def test_no_module_imports_itself_in_a_circle() -> None:
    needs = {name(p): own(p) for p in FILES}
    done: set[str] = set()
    while ready := {m for m in needs if m not in done and needs[m] <= done | {m}}:
        done |= ready
    assert not set(needs) - done, "what is left imports itself"


def test_spine_is_at_most_800_lines() -> None:
    lines = {m: len((ROOT / f"{m}.py").read_text(encoding="utf-8").splitlines()) for m in SPINE}
    assert sum(lines.values()) <= 800, lines


@pytest.mark.parametrize("path", [p for p in FILES if not name(p).startswith(FOREIGN)], ids=name)
def test_only_adapters_and_recorders_import_frameworks(path: Path) -> None:
    outside = {m.split(".")[0] for m in imports(path)} - set(sys.stdlib_module_names) - {"typelattice", "__future__"}
    assert not outside, f"{name(path)} imports {', '.join(outside)}"


RECORDERS = [
    p
    for p in FILES
    if name(p).startswith("conformance/libraries")
    or name(p) in ("conformance/library", "conformance/functions", "conformance/record", "conformance/recording")
]


@pytest.mark.parametrize("path", RECORDERS, ids=name)
def test_recordings_do_not_depend_on_the_engine(path: Path) -> None:
    """Else they would prove nothing of it."""
    assert not {place(m) for m in own(path)} & ENGINE


def run(program: str) -> str:
    """What a fresh interpreter prints."""
    path = f"import sys; sys.path.insert(0, {str(ROOT.parent)!r}); "
    return subprocess.run(
        [sys.executable, "-c", path + program], capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()


FRAMEWORKS = [
    "numpy",
    "ml_dtypes",
    "jax",
    "torch",
    "tensorflow",
    "keras",
    "dask",
    "cupy",
    "tinygrad",
    "mlx",
    "polars",
    "pyarrow",
    "triton",
    "ndonnx",
    "max",
]
USES = [
    "pass",
    "tl.systems()",
    "[tl.system(s) for s in tl.systems()]",
    "tl.system('jax').explain('int8', 'uint8', op='add').rule",
    "tl.system('numpy').result_type('uint8', 3, True)",
    "str(tl.table('jax', op='add'))",
    "tl.loss(tl.dtype('int64'), tl.dtype('float64'))",
]


@pytest.mark.parametrize("use", USES)
def test_no_framework_is_imported(use: str) -> None:
    assert run(f"import typelattice as tl; {use}; print(*sorted({{*sys.modules}} & {set(FRAMEWORKS)}))") == ""


def test_one_framework_is_imported_where_it_is_meant() -> None:
    loaded = run(
        f"import typelattice as tl, numpy; tl.operand(numpy.zeros(3)); print(*sorted({{*sys.modules}} & {set(FRAMEWORKS)}))"
    )
    assert loaded.split() in (["numpy"], ["ml_dtypes", "numpy"])


def test_a_framework_that_the_program_did_not_import_is_left_alone() -> None:
    assert run("import typelattice as tl; tl.native('int8', 'jax'); print('jax' in sys.modules)") == "False"


LATER = [n for n in typelattice.__all__ if n.islower() and n in typelattice.LATER]


@pytest.mark.parametrize("function", LATER)
def test_a_function_is_not_hidden_by_its_module(function: str) -> None:
    module = f"typelattice.{typelattice.LATER[function]}"
    before = run(f"import typelattice as tl, sys; print({module!r} in sys.modules, callable(tl.{function}))")
    after = run(f"import {module}, typelattice as tl; print(callable(tl.{function}), {function!r} in dir(tl))")
    assert (before, after) == ("False True", "True True")


def stated(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """(line, dtypes named) of each literal that names any: a string, or the strings right in a list, tuple, set or dict."""
    docs = {
        id(n.body[0].value)
        for n in ast.walk(tree)
        if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef)) and n.body and isinstance(n.body[0], ast.Expr)
    }
    names = (set(DTYPES) | {c for c in CODES if len(c) > 1}) - NOT_NAMES
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, [w for w in re.findall(r"\w+", node.value) if w in names]
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            items = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
            yield node.lineno, [i.value for i in items if isinstance(i, ast.Constant) and i.value in names]


@pytest.mark.parametrize(
    "path", [p for p in FILES if name(p) != "dtypes" and not name(p).startswith("conformance/libraries")], ids=name
)
def test_code_holds_no_lists_of_dtypes(path: Path) -> None:
    """Up to three names are an example or a rule; more are a list, which belongs into data."""
    lists = [(line, names) for line, names in stated(ast.parse(path.read_text(encoding="utf-8"))) if len(set(names)) > 3]
    assert not lists, f"{name(path)}, line {lists[0][0]}: {', '.join(lists[0][1])}"
