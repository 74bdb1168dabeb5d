"""The registry of libraries: rooms look there, and a new library is a row and a file a room."""
from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from guide import ROOT, copied, files_in_the_guide, python
from kept import kept

import typelattice as tl
from typelattice.core.evidence.recording_files import recording_names
from typelattice.core.registry.libraries import file_of, libraries, recordings

PACKAGE = ROOT / "src" / "typelattice"
ROOMS = (
    "conformance/recording/libraries",
    "core/explanations/code_templates",
    "programs/namespaces/computing_libraries",
    "core/operands/adapters",
)
HEADING = "A library that we lack"
# Modules for several libraries.
NO_LIBRARY = {"__init__", "framework_base", "language_base", "sql_base", "computing_library", "array_api"}

GADGET = '''"""A made-up library, whose arrays have a dtype and nothing else."""


class Array:
    def __init__(self, dtype):
        self.dtype = dtype


def common(*arrays):
    return max((x.dtype for x in arrays), key=["int8", "int16", "float32"].index)


def add(x, y):
    return Array(common(x, y))
'''


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_files_of_registered_libraries_only(room: str) -> None:
    found = {path.stem for path in (PACKAGE / room).iterdir() if path.suffix in (".py", ".toml")}
    assert found - NO_LIBRARY <= {file_of(name) for name in libraries()}


def test_every_library_that_can_be_recorded_has_a_file_that_asks_it() -> None:
    folder = PACKAGE / "conformance" / "recording" / "libraries"
    files = {path.stem for path in folder.glob("*.py")} - NO_LIBRARY
    assert files == {file_of(entry.library) for entry in recordings().values()}


def test_every_registered_recording_that_is_a_system_is_kept_and_no_other() -> None:
    assert set(recording_names()) == set(recordings()) & set(tl.systems(versions=True, functions=True))


@pytest.mark.parametrize("name", tl.systems(versions=True))
def test_a_system_names_its_library_as_the_registry_does(name: str) -> None:
    library = tl.system(name).library
    assert not library or library.split()[0] in libraries()
    if name in recordings():
        assert library.split()[0] == recordings()[name].library


@pytest.mark.parametrize("name", recording_names())
def test_a_recording_is_of_the_versions_that_are_installed_to_record_it(name: str) -> None:
    """Those of its library, and of what else of the environment it names."""
    entry = recordings()[name]
    of_all = {library: known.packages.get(entry.environment, ()) for library, known in libraries().items()}
    installed = {library: dict(map(named, packages)) for library, packages in of_all.items()}
    # 2.13.0+cpu is a build of 2.13.0
    asked = {package: version.partition("+")[0] for package, version in kept(name).versions.items()}
    for packages in installed.values():
        assert {p: packages[p] for p in packages if p in asked}.items() <= asked.items()
    own = installed[entry.library]
    assert asked.keys() & own.keys() or not own  # a compiler is no package


def named(package: str) -> tuple[str, str]:
    """The name and the version of a package as pip is asked for it: `ml_dtypes`, of `jax[cpu]==0.9` `jax`."""
    name, _, version = re.sub(r"\[.*?\]", "", package).partition("==")
    return name, version


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its tools to which the made-up library was added as the guide says."""
    root = copied(tmp_path_factory.mktemp("house"), HEADING)
    (root / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "libraries.py", root / "tools")
    (root / "src" / "gadget.py").write_text(GADGET, encoding="utf-8")
    (root / "src" / "gadget-1.0.dist-info").mkdir()
    metadata = "Metadata-Version: 2.1\nName: gadget\nVersion: 1.0\n"
    (root / "src" / "gadget-1.0.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")
    return root


def run(house: Path, *arguments: str) -> str:
    """What Python prints in the copy."""
    done = python(house, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_guide_adds_rows_to_two_tables_and_one_file_a_room() -> None:
    assert list(files_in_the_guide(HEADING)) == [
        "src/typelattice/core/registry/libraries.txt",
        "src/typelattice/systems/gadget.toml",
        "src/typelattice/conformance/recording/libraries/gadget.py",
        "src/typelattice/core/operands/adapters/gadget.py",
        "src/typelattice/core/explanations/code_templates/gadget.toml",
        "src/typelattice/core/evidence/spellings.txt",
    ]
    assert files_in_the_guide(HEADING)["src/typelattice/core/registry/libraries.txt"].count("\n") == 1


def test_a_library_added_as_the_guide_says_is_a_system(house: Path) -> None:
    assert "gadget" in run(house, "-m", "typelattice", "systems").split()
    assert "int16" in run(house, "-m", "typelattice", "explain", "int8", "int16", "--system", "gadget")


def test_it_is_recorded_and_compared(house: Path) -> None:
    kept = "src/typelattice/core/evidence/recordings/gadget.jsonl"
    run(house, "-m", "typelattice", "record", "gadget", "-o", kept)
    head = (house / kept).read_text(encoding="utf-8").partition("\n")[0]
    assert json.loads(head)["versions"] == {"gadget": "1.0"}
    assert "0 mismatches" in run(house, "-m", "typelattice", "conform", "gadget")
    asked = run(house, "-m", "typelattice", "explain", "int8", "int16", "--system", "gadget")
    assert "asked as gadget.common(int8, int16)" in asked
    live = run(house, "-m", "typelattice", "conform", "gadget", "--live", "200")
    assert "200 calls compared, 0 mismatches" in live


def test_it_is_installed_and_asked_by_make_conform(house: Path) -> None:
    assert "gadget==1.0" in run(house, "tools/libraries.py", "packages", "live").splitlines()
    assert "gadget" in run(house, "tools/libraries.py", "recordings", "live").splitlines()


def test_its_code_is_shown(house: Path) -> None:
    program = (
        "import typelattice as tl; from typelattice.core.explanations.expression_terms import write_code; "
        "pair = (tl.operand('int8'), tl.operand('int16')); "
        "setup, (code,) = write_code(tl.system('gadget'), (pair,)); print(setup); print(code)"
    )
    assert run(house, "-c", program).splitlines() == [
        "import gadget",
        "gadget.add(gadget.Array('int8'), gadget.Array('int16'))",
    ]


def test_its_arrays_are_operands(house: Path) -> None:
    program = (
        "import typelattice as tl, gadget; x, y = gadget.Array('int8'), gadget.Array('int16'); "
        "print(tl.operand(x), tl.system('gadget').result_type(x, y), repr(tl.native('float32', gadget)))"
    )
    assert run(house, "-c", program) == "int8 int16 'float32'\n"


def test_nothing_of_it_is_imported_before_the_program_does(house: Path) -> None:
    program = (
        "import sys, typelattice as tl; "
        "tl.system('gadget').result_type('int8', 'int16'); tl.native('int8', 'gadget'); "
        "print('gadget' in sys.modules)"
    )
    assert run(house, "-c", program) == "False\n"
