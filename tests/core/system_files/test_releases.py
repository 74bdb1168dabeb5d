"""Older releases as systems: which file states their rules, how they are named, which one is installed."""
from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.core.engine.rules import Rules
from typelattice.core.registry.releases import installed_release, list_releases, system_for_version
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.release_files import read_release
from typelattice.core.system_files.system_text import SYSTEMS_FOLDER
from typelattice.show.cli.main import main

OLDER = [name for name in tl.systems(versions=True) if "@" in name]
FILES = sorted(path.stem for path in Path(SYSTEMS_FOLDER).glob("*@*.toml"))


def where(system: str) -> object:
    """What `np.where(condition, x, 65536)` of an int16 array comes to: NumPy wrapped until 2.4."""
    return tl.system(system).explain("int16", 65536, op="where").dtype


def test_an_older_release_has_the_rules_of_its_time() -> None:
    assert str(where("numpy@2.4")) == "int16"
    assert where("numpy") is None


def test_a_release_that_changed_nothing_shares_the_file_of_the_next_one() -> None:
    assert "numpy@2.4" in FILES
    assert str(where("numpy@2.0")) == "int16"


def test_the_name_alone_is_the_newest_release() -> None:
    for name in tl.systems():
        if list_releases(name):
            assert tl.system(f"{name}@{list_releases(name)[-1]}") is tl.system(name)


@pytest.mark.parametrize("name", OLDER)
def test_an_older_release_says_its_name_and_its_library(name: str) -> None:
    plain, _, number = name.partition("@")
    system = tl.system(name)
    assert system.name == name
    assert system.library.split()[:2] == [tl.system(plain).library.split()[0], number]
    assert pickle.loads(pickle.dumps(system)).name == name


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_release_states_other_rules_than_the_next_newer_one(name: str) -> None:
    plain, _, number = name.partition("@")
    known = list_releases(plain)
    ours, theirs = tl.system(name), tl.system(f"{plain}@{known[known.index(number) + 1]}")
    about = {"name", "title", "source", "library", "entries", "order"}
    rules = [field.name for field in fields(Rules) if field.name not in about]
    differing = [rule for rule in rules if getattr(ours, rule) != getattr(theirs, rule)]
    assert differing or {*ours.order.nodes} != {*theirs.order.nodes}


def test_systems_are_listed_without_versions_unless_they_are_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not any("@" in name for name in tl.systems())
    assert main(["systems"]) == 0
    assert "numpy@2.4" not in capsys.readouterr().out
    assert main(["systems", "--versions"]) == 0
    assert "numpy@2.4" in capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("numpy@9", "unknown version '9' of numpy; there are 2.0, 2.4, 2.5"),
        ("numpy@", "unknown version '' of numpy; there are 2.0, 2.4, 2.5"),
        ("numpy@2.4@2", "unknown version '2.4@2' of numpy; there are 2.0, 2.4, 2.5"),
        ("python@3", "unknown version '3' of python; there are none of it; say python"),
        (
            "nunpy@2.4",
            "unknown system 'nunpy@2.4' (did you mean numpy or numpy1?); `typelattice systems` lists them",
        ),
    ],
)
def test_an_unknown_version_names_those_that_exist(name: str, told: str) -> None:
    with pytest.raises(tl.UnknownSystemError) as caught:
        tl.system(name)
    assert str(caught.value) == told


def test_the_command_line_takes_versions_wherever_it_takes_systems(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines: Sequence[str] = (
        "explain int16 65536 --op where --system numpy@2.4",
        "table --system numpy@2.4 --dtypes int8,uint8",
        "diff numpy@2.4 numpy --dtypes int8,uint8",
        "check numpy@2.0",
        "laws numpy@2.4 --dtypes int8,uint8",
        "consensus numpy@2.0 numpy@2.4 numpy",
    )
    for line in lines:
        assert main(line.split()) == 0, capsys.readouterr().err
        assert "numpy@2." in capsys.readouterr().out
    assert main(["explain", "int8", "--system", "numpy@3"]) == 2
    assert capsys.readouterr().err.endswith("unknown version '3' of numpy; there are 2.0, 2.4, 2.5\n")


def test_a_file_of_ones_own_extends_an_older_release() -> None:
    mine = parse('name = "mine"\nextends = "numpy@2.4"\n')
    assert str(mine.explain("int16", 65536, op="where").dtype) == "int16"
    older = parse('name = "mine"\nextends = "numpy@2.0"\n')
    assert str(older.explain("int16", op="floor").dtype) == "float32"
    with pytest.raises(tl.FormatError, match=r"extends: unknown version '7' of numpy; there are 2\.0"):
        parse('name = "mine"\nextends = "numpy@7"\n')


def test_what_a_file_extends_is_read_at_the_same_release() -> None:
    """A rule that changed in a library is stated once, for all the systems that build on it."""
    assert str(tl.system("numpy-ml-dtypes@2.4").explain("int16", 65536, op="where").dtype) == "int16"


def test_what_is_extended_is_read_at_the_next_release_where_its_own_was_not_recorded() -> None:
    assert "2.3" not in list_releases("numpy")
    assert read_release("numpy-ml-dtypes@2.3").stem("numpy") == "numpy@2.4"
    assert read_release("numpy-ml-dtypes@2.3").stem("numpy-ml-dtypes") == "numpy-ml-dtypes@2.4"
    assert read_release("jax@0.4").stem("numpy") == "numpy"


# -- the system of what is installed


def test_a_live_comparison_takes_the_system_of_the_installed_release() -> None:
    versions = ("1.26.4", "2.0.2", "2.3.1", "2.4.6", "2.5.5", "3.0.0rc1")
    known = [system_for_version("numpy", version) for version in versions]
    assert known == ["numpy@2.0", "numpy@2.0", "numpy@2.4", "numpy@2.4", "numpy", "numpy"]
    assert installed_release("numpy", {"numpy": "2.4.6", "ml_dtypes": "0.6.0"}) == "numpy@2.4"
    assert installed_release("numpy@2.0", {"numpy": "2.4.6"}) == "numpy@2.0"
    assert installed_release("mine:Library", {"mine": "1"}) == "mine:Library"


def test_the_installed_numpy_is_compared_with_its_own_release(capsys: pytest.CaptureFixture[str]) -> None:
    numpy = pytest.importorskip("numpy")
    system = system_for_version("numpy", numpy.__version__)
    assert main(["conform", "numpy", "--live", "300"]) == 0
    assert f"numpy against the system {system}:" in capsys.readouterr().out


def test_another_release_than_the_installed_one_cannot_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    numpy = pytest.importorskip("numpy")
    installed = system_for_version("numpy", numpy.__version__)
    other = next(name for name in OLDER if name.startswith("numpy@") and name != installed)
    assert main(["conform", other, "--live", "10"]) == 2
    told = capsys.readouterr().err
    assert f"{other} cannot be asked: numpy {numpy.__version__} is installed; pip install 'numpy==" in told
