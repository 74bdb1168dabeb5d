"""The system files that come along are short, say nothing twice, and are read as anyone's."""
from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path

import pytest
from samples import one_in
from small_files import answers

import typelattice as tl
from typelattice.core.engine.operation_rules import entry_names
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.system_files import system_text as source
from typelattice.core.system_files.operation_entries import OPERATION_KEYS
from typelattice.core.system_files.reader import build_system, parse
from typelattice.core.system_files.system_definition import TYPE_BY_KEY, read_definition
from typelattice.core.system_files.system_definition import parse_definition as read_spec
from typelattice.core.system_files.system_text import FormatError, SystemText
from typelattice.core.system_files.writer import write_system_file

FOLDER = Path(source.SYSTEMS_FOLDER)


@pytest.mark.parametrize("name", tl.systems(functions=True))
def test_every_file_names_its_source_and_has_no_line_past_110_columns(name: str) -> None:
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    assert all(len(line) <= 110 or line.startswith("source") for line in text.splitlines())
    s = tl.system(name)
    assert (s.name, repr(s)) == (name, f"<system {name}>")
    assert s.title
    assert s.source.startswith("https://") or "extends" in text


@pytest.mark.parametrize("name", one_in(4, tl.systems(functions=True), 1))
def test_every_file_is_loaded_once_by_name_and_anew_by_path(name: str) -> None:
    assert tl.system(name) is tl.system(name)
    by_path = tl.system(FOLDER / f"{name}.toml")
    assert by_path is not tl.system(name)
    assert tl.system(str(FOLDER / f"{name}.toml")).name == name
    assert tl.system(by_path) is by_path
    assert answers(by_path) == answers(tl.system(name))


@pytest.mark.parametrize("name", tl.systems(functions=True))
def test_no_order_restates_what_is_implied(name: str) -> None:
    order = tl.system(name).order
    for a in order.nodes:
        for b in order.covers(a):
            between = [n for n in order.nodes if n not in (a, b) and order.le(a, n) and order.le(n, b)]
            assert not between, f"{a} -> {b} is implied by way of {between[0]}"


@pytest.mark.parametrize("name", tl.systems(functions=True))
def test_no_set_has_another_meaning_than_in_the_file_that_is_extended(name: str) -> None:
    """Inherited lines name sets, too: `floats` of another meaning would change what they say."""
    values = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    base = read_definition(FOLDER / f"{values['extends']}.toml") if "extends" in values else None
    inherits_operations = "..." in values.get("ops", {"...": True})
    inherited = base.entries_of_key("sets") if base and inherits_operations else {}
    own = {word: text for word, text in values.get("sets", {}).items() if word != "..."}
    assert {word: inherited.get(word, text) for word, text in own.items()} == own


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_every_heading_of_a_key_has_lines_below_it(path: Path) -> None:
    """A heading is a comment such as `# gives: the dtype of the result`."""
    headings = tuple(f"# {key}:" for key in OPERATION_KEYS)
    blocks = path.read_text(encoding="utf-8").rstrip().split("\n\n")
    headed = [block.split("\n") for block in blocks if block.startswith(headings)]
    assert [lines for lines in headed if all(line.startswith("#") for line in lines)] == []


@pytest.mark.parametrize("name", tl.systems(functions=True))
def test_every_key_that_a_file_gives_is_one_that_it_needs(name: str) -> None:
    """No key that says what the file it extends, or the default, says already."""
    values = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    base = read_definition(FOLDER / f"{values['extends']}.toml").values if "extends" in values else {}
    about = ("title", "source", "library")
    assert [
        key
        for key, value in values.items()
        if key not in about and value == base.get(key, TYPE_BY_KEY[key]())
    ] == []


def test_systems_are_sorted_and_each_has_a_file() -> None:
    names = {path.stem for path in FOLDER.glob("*.toml")}
    assert tl.systems(functions=True) == tuple(sorted(name for name in names if "@" not in name))
    assert names <= {*tl.systems(versions=True, functions=True)}


@pytest.mark.parametrize("name", tl.systems(versions=True))
def test_what_a_shipped_file_says_of_operations_has_an_effect(name: str) -> None:
    """Whoever asks a shipped system reads the entries that are asked for only; here are all of them."""
    shipped = tl.system(name)
    whole = build_system(shipped.origin.definition)
    assert {op: {**said} for op, said in shipped.ops.items()} == {
        op: {**said} for op, said in whole.ops.items()
    }


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_a_shipped_file_is_as_good_as_anyones(path: Path) -> None:
    """A user who copies it, to change a rule, reads it whole and by its path."""
    assert tl.system(path).name == path.stem


def test_an_idle_entry_is_refused_in_what_a_shipped_file_says() -> None:
    definition = tl.system("numpy").origin.definition
    idle = read_spec(SystemText("numpy.toml", definition.main.text + 'square = { counts-as = "array" }\n'))
    with pytest.raises(FormatError, match="counts-as has no effect"):
        build_system(idle)


@pytest.mark.parametrize("name", one_in(4, tl.systems(functions=True), 2))
def test_a_system_with_another_order_is_written_as_a_file_that_is_read(name: str) -> None:
    """Single pairs are left out, and ties that settle no pair, so that nothing in the file has no effect."""
    s = tl.system(name)
    again = parse(write_system_file(s, s.order, "again", s.title))
    assert again.order.nodes == tuple(dict.fromkeys(n for n in again.order.nodes if n in s.order))
    assert {*again.order.nodes} == {*s.order.nodes}
    assert (again.overrides, again.refusals) == ({}, {})
    assert again.ties == s.ties
    assert again.int_join_dtypes == s.int_join_dtypes
    assert {*again.ops} <= {*s.ops}
    idle = [entry for entry in s.ops if again.ops.get(entry, {}) != s.ops[entry]]
    assert all(again.ops.get(entry, {}).keys() <= s.ops[entry].keys() for entry in idle)
    numbers = (1, 1.5, 2**40) if "scalar" in s.tiers else ()
    # A variant may inherit keys that decide nothing in it. They are left out, and no answer changes.
    for op in OPERATIONS.values():
        if op.name in s.missing_operations or {*idle}.isdisjoint(entry_names(op)):
            continue
        for operands in product((*s.dtypes, *numbers), repeat=op.min_operands):
            p, q = s.explain(*operands, op=op.name), again.explain(*operands, op=op.name)
            assert (p.dtype, p.weak, p.compute, p.reason) == (q.dtype, q.weak, q.compute, q.reason), p
