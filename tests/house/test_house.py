"""The house: rooms import one way and in no circle, the engine needs nothing, no fact is stated twice."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest
from parsed_sources import parse_source

import typelattice
from typelattice.core.dtypes.dtypes import DTYPE_BY_CODE, DTYPES
from typelattice.core.registry.libraries import file_of, libraries

ROOT = Path(typelattice.__file__).parent
ROOMS_BY_WING = {  # each room imports only from itself and from what stands before it
    "base": "errors, objects, disk, workers, rendering",
    "core": "dtypes, registry, operations, losses, books, operands, engine, system_files, evidence,"
    " explanations",
    "programs": "namespaces, calls, readers/json, readers/onnx_import, replay, readers/source, targets,"
    " program, readers/symbols, entry_points",
    "study": "tables, laws, codegen, designer",
    "conformance": "lint, recording, imitations, pytest, agreement",
    "tracing": "source, run_data, library_traits, array_holders, rewrite, steps, models, compiled, findings,"
    " record, remedies, report, entry_points",
    "repair": "copies, proof, patch, tune, survey, port",
    "show": "drawings, explorer, editor, cli",
}
ROOMS = [  # the docstrings of wings import nothing
    *ROOMS_BY_WING, "programs/readers",
    *(f"{wing}/{room}" for wing, rooms in ROOMS_BY_WING.items() for room in rooms.split(", ")),
]  # fmt: skip
ROOMS.insert(ROOMS.index("show/cli"), "__init__")
ROOMS.append("__main__")
MAY_IMPORT_OTHERS = (  # what is not ours and not Python's
    "core/operands/adapters", "programs/namespaces/computing_libraries", "study/designer/clingo_solver",
    "conformance/recording/libraries", "conformance/imitations/alternative_implementations",
    "conformance/pytest", "programs/readers/onnx_import", "programs/targets",
    "tracing/entry_points/pytest_plugin", "tracing/entry_points/pytest_run", "show/explorer/server",
    "show/editor/language_server", "repair/survey/numpy_adapter", "base/workers/dask_pool",
)  # fmt: skip
# What recorders must not depend on: else they would prove nothing.
ENGINE = {"core/engine", "core/system_files", "core/explanations", "study/tables", "study/laws"}
NOT_NAMES = {"bool", "index", "address"}  # dtypes whose names are words of another meaning too

FILES = sorted(ROOT.rglob("*.py"))


def name(path: Path) -> str:
    """A file as it is called within the package: `core/engine/join`, and `core/engine` for its `__init__`."""
    return path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__")


def room(module: str) -> str:
    """The room of a module: `core/engine` of `core/engine/join`. A wing itself is one too."""
    return max((x for x in ROOMS if f"{module}/".startswith(f"{x}/")), key=len, default=module)


@cache  # five tests ask
def imports(path: Path) -> frozenset[str]:
    """The modules that a file imports, anywhere in it and for types only too, by their full names."""
    found = set()
    for node in ast.walk(parse_source(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {i for i in inner if (ROOT.parent / i.replace(".", "/")).with_suffix(".py").is_file()}
            found |= modules if len(modules) == len(inner) else {*modules, node.module or ""}
    return frozenset(found)


def own(path: Path) -> set[str]:
    """The modules of the package that a file imports; the package itself is `__init__`."""
    ours = (m for m in imports(path) if m.partition(".")[0] == "typelattice")
    return {m.removeprefix("typelattice").lstrip(".").replace(".", "/") or "__init__" for m in ours}


def test_every_room_and_file_that_is_named_here_exists() -> None:
    assert {room(name(path)) for path in FILES} == {*ROOMS}
    named = (*MAY_IMPORT_OTHERS, *COMPARE)
    assert not [path for path in named if not (ROOT / path).is_dir() and not (ROOT / f"{path}.py").is_file()]


def test_rooms_import_one_way() -> None:
    upward = [
        f"{name(path)} imports {module}, which stands after it"
        for path in FILES
        for module in sorted(own(path))
        if ROOMS.index(room(module)) > ROOMS.index(room(name(path)))
    ]
    assert upward == []


def test_nothing_imports_itself_in_a_circle() -> None:
    """Neither between packages nor within one, imports for types included."""
    needs = {name(path): own(path) - {name(path)} for path in FILES}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as e:
        pytest.fail(f"a circle: {' <- '.join(e.args[1])}")


def test_lines_that_ruff_does_not_read_end_where_those_of_python_do() -> None:
    top = ROOT.parents[1]
    limit = tomllib.loads((top / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["line-length"]
    folders = [top / name for name in ("src", "tools", "tests", "docs", ".ci")]
    others = {".js", ".css", ".html", ".sh", ""}  # a script of the shell has no ending
    files = [p for folder in folders for p in folder.rglob("*") if p.suffix in others and p.is_file()]
    assert len(files) > 20
    long = [
        f"{path.relative_to(top)}, line {number}"
        for path in [top / "Makefile", *files]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > limit
    ]
    assert long == []


def test_no_module_has_the_name_of_a_public_function() -> None:
    modules = {name(path).partition("/")[0] for path in FILES} - {"__init__", "__main__"}
    assert not modules & set(typelattice.__all__)


def test_frameworks_are_named_in_the_files_made_for_them() -> None:
    outside = [
        f"{name(path)} imports {module}"
        for path in FILES
        if not name(path).startswith(MAY_IMPORT_OTHERS)
        for module in sorted(imports(path))
        if module.split(".")[0] not in {*sys.stdlib_module_names, "typelattice"}
    ]
    assert outside == []


# These compare what a system says with what a library does, or state where the two differ.
COMPARE = (
    "conformance/lint/hand_written_tables",
    "conformance/recording/compare_with_system",
    "conformance/recording/composed_calls",
    "conformance/imitations/implementation_differences",
    "conformance/recording/compare_random_calls",
    "conformance/recording/propose_rows",
    "conformance/pytest",
    "conformance/recording/changes_since_recording",
    "conformance/imitations/compare_implementation",
    "core/evidence/departure",
    "core/evidence/departure_entries",
    "core/evidence/list_departures",
    "core/evidence/recorded_answer",
    "core/evidence/never_asked",
)
ASKING = ("core/evidence", "conformance/recording", "conformance/imitations", "conformance/lint")
RECORDERS = [
    path
    for path in FILES
    if room(name(path)) in ASKING
    and name(path) not in COMPARE
]


def test_recorders_do_not_depend_on_the_engine() -> None:
    assert len(RECORDERS) > 30
    depending = [name(path) for path in RECORDERS if {room(m) for m in own(path)} & ENGINE]
    assert depending == []


def run(program: str) -> str:
    """What a fresh interpreter prints."""
    path = f"import sys; sys.path.insert(0, {str(ROOT.parent)!r}); "
    command = [sys.executable, "-c", path + program]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_result_type_loads_little_and_the_standard_library_alone(
    record_property: Callable[[str, str], None],
) -> None:
    asked = "import typelattice as tl; tl.system('jax').result_type('int8', 'uint8'); "
    ours = "(m.__file__ for n, m in sys.modules.items() if n.startswith('typelattice'))"
    shown = run(f"{asked} print(*{ours}, sep='\\n')")
    files = [Path(line) for line in shown.splitlines()]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    record_property("shown", f"result_type loads {lines:,} lines in {len(files)} files")
    outside = {m.split(".")[0] for path in files for m in imports(path)} - set(sys.stdlib_module_names)
    assert outside == {"typelattice"}


# Each takes a third of a first answer or more, and no answer to strings needs one.
SLOW = {"typing", "tomllib", "pathlib", "dataclasses", "inspect", "datetime", "asyncio", "logging"}
# Without an operation no question needs the rules of operations. Texts are folded without textwrap.
ONLY_WITH_OPERATION = {
    "typelattice.core.operations.operations", "typelattice.core.engine.operation_rules",
    "typelattice.core.engine.numpy1", "typelattice.core.engine.evaluate_operation",
    "typelattice.core.system_files.operation_entries", "textwrap",
}  # fmt: skip
ONLY_TO_EXPLAIN = {"re", "json"}  # a dtype alone needs no positions in files and no recording


@pytest.mark.parametrize(
    ("asked", "slow"),
    [
        ("result_type('int8', 'uint8')", SLOW | ONLY_WITH_OPERATION | ONLY_TO_EXPLAIN),
        ("explain('int8', 'uint8')", SLOW | ONLY_WITH_OPERATION),
    ],
)
def test_a_first_answer_loads_nothing_slow(asked: str, slow: set[str]) -> None:
    loaded = f"before = {{*sys.modules}}; import typelattice as tl; str(tl.system('jax').{asked})"
    assert run(f"{loaded}; print(*sorted(({{*sys.modules}} - before) & {slow}))") == ""


FRAMEWORKS = {module for known in libraries().values() for module in known.modules}
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
    assert run(f"import typelattice as tl; {use}; print(*sorted({{*sys.modules}} & {FRAMEWORKS}))") == ""


def test_one_framework_is_imported_where_it_is_meant() -> None:
    asked = "import typelattice as tl, numpy; tl.operand(numpy.zeros(3)); "
    loaded = run(f"{asked} print(*sorted({{*sys.modules}} & {FRAMEWORKS}))")
    assert loaded.split() in (["numpy"], ["ml_dtypes", "numpy"])


def test_a_framework_that_the_program_did_not_import_is_left_alone() -> None:
    assert run("import typelattice as tl; tl.native('int8', 'jax'); print('jax' in sys.modules)") == "False"


def test_public_names_are_all_there_and_nothing_else_is_shown() -> None:
    assert sorted(dir(typelattice)) == sorted([*typelattice.__all__, "__version__"])
    assert all(getattr(typelattice, public) is not None for public in typelattice.__all__)


def stated(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """(line, dtypes named) of each literal: a string, or the strings right in a list, tuple, set or dict."""
    docs = {
        id(n.body[0].value)
        for n in ast.walk(tree)
        if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and n.body
        and isinstance(n.body[0], ast.Expr)
    }
    names = (set(DTYPES) | {c for c in DTYPE_BY_CODE if len(c) > 1}) - NOT_NAMES
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, [w for w in re.findall(r"\w+", node.value) if w in names]
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            items = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
            yield node.lineno, [i.value for i in items if isinstance(i, ast.Constant) and i.value in names]


TOLD_APART = [p for p in FILES if not name(p).startswith("conformance/recording/libraries")]


def test_code_holds_no_lists_of_dtypes() -> None:
    """Up to three names are an example or a rule; more are a list, which belongs into data."""
    lists = [
        f"{name(path)}, line {line}: {', '.join(names)}"
        for path in TOLD_APART
        for line, names in stated(parse_source(path))
        if len(set(names)) > 3
    ]
    assert lists == []


@pytest.mark.parametrize("library", ["jax", "tensorflow", "torch"])
def test_what_reads_the_compiled_code_of_a_library_is_named_after_it(library: str) -> None:
    """It is found by that name; without it, nothing inside is followed, and nothing fails."""
    assert find_spec(f"typelattice.tracing.compiled.{file_of(library)}")
