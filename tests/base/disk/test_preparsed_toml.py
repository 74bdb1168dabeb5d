"""TOML files that come with typelattice, parsed beforehand: rows are right, and not believed if stale."""
from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from typelattice.base.disk import preparsed_toml
from typelattice.base.disk.preparsed_toml import PREPARSED_TABLE_FILE, parse_toml, row_of
from typelattice.core.evidence.departure_files import DEPARTURES_FOLDER
from typelattice.core.system_files.system_text import SYSTEMS_FOLDER


@pytest.mark.parametrize(
    "folder", [SYSTEMS_FOLDER, DEPARTURES_FOLDER], ids=lambda folder: Path(folder).name
)
def test_every_row_is_what_the_file_says_now(folder: str) -> None:
    """`make pages` writes them."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.toml"))}
    rows = (Path(folder) / PREPARSED_TABLE_FILE).read_text(encoding="ascii").splitlines(keepends=True)
    assert rows == [row_of(name, text, tomllib.loads(text)) for name, text in texts.items()]


@pytest.mark.parametrize(
    "folder", [SYSTEMS_FOLDER, DEPARTURES_FOLDER], ids=lambda folder: Path(folder).name
)
def test_rows_keep_what_toml_says(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stated = {str(path): path.read_text(encoding="utf-8") for path in Path(folder).resolve().glob("*.toml")}
    expected = {path: repr(tomllib.loads(text)) for path, text in stated.items()}
    monkeypatch.setattr(tomllib, "loads", None)
    assert {path: repr(parse_toml(path, text)) for path, text in stated.items()} == expected


def test_a_row_holds_every_sort_of_value() -> None:
    values = {"a": {"b": [1, -2.5, True, "x\ny", []], "é": {}}, "c": ""}
    _, _, parts = row_of("mine.toml", "", values).rstrip("\n").split("\t", 2)
    assert repr(preparsed_toml._read_value(iter(parts.split("\t")))) == repr(values)


@pytest.mark.parametrize("value", ["a\tb", "a\\nb", {"a\nb": 1}, date(2026, 1, 1)])
def test_a_row_is_not_written_for_a_value_that_it_would_change(value: object) -> None:
    with pytest.raises(ValueError, match=r"mine\.toml|invalid literal|could not convert"):
        row_of("mine.toml", "", {"a": value})


def test_a_text_that_has_changed_is_parsed_anew() -> None:
    path = Path(SYSTEMS_FOLDER) / "jax.toml"
    text = path.read_text(encoding="utf-8") + "\n# changed\n[new]\n"
    assert parse_toml(str(path), text)["new"] == {}


def test_a_file_of_ones_own_has_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparsed_toml, "REAL_PACKAGE_FOLDER", str(tmp_path / "package"))
    for folder in (tmp_path, tmp_path / "package2"):  # the second begins as the package does
        folder.mkdir(exist_ok=True)
        (folder / PREPARSED_TABLE_FILE).write_text(row_of("mine.toml", "a = 1", {"a": 2}), encoding="ascii")
        assert parse_toml(str(folder / "mine.toml"), "a = 1") == {"a": 1}
    assert parse_toml(None, "a = 1") == {"a": 1}


def test_a_folder_of_the_package_may_have_no_rows() -> None:
    path = Path(preparsed_toml.REAL_PACKAGE_FOLDER) / "base" / "disk" / "mine.toml"
    assert parse_toml(str(path), "a = 1") == {"a": 1}


def test_values_are_as_fresh_as_those_of_tomllib() -> None:
    """A caller may change what it was given."""
    path = Path(SYSTEMS_FOLDER) / "jax.toml"
    text = path.read_text(encoding="utf-8")
    parse_toml(str(path), text).clear()
    assert parse_toml(str(path), text)["name"] == "jax"
