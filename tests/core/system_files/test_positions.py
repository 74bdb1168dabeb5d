"""The places of a TOML text: where a text was made to have them, and those of whatever tomllib reads."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from typelattice.core.system_files import system_text as source
from typelattice.core.system_files.positions import (
    MAX_KEY_PARTS,
    MAX_NESTING,
    KeyPath,
    Position,
    find_positions,
)

FOLDER = FilePath(source.SYSTEMS_FOLDER)


def walk(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Every key path that tomllib finds, with its value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key), inner
        yield from walk(inner, (*path, key))


def agrees_with_tomllib(text: str) -> None:
    """Every path that tomllib finds has a place, no other has one, and each string as many rows as lines."""
    found, expected = find_positions(text), dict(walk(tomllib.loads(text)))
    assert {*found.key_offsets} == {*expected}
    assert (found.repeated, found.too_deep) == (None, None)
    for path, value in expected.items():
        assert len(found.lines_of_rows(*path)) == (len(value.split("\n")) if isinstance(value, str) else 0)


# -- texts that were made so that their places are known

BLANK = st.sampled_from(["", " ", "\t", "  "])
NAMES = st.one_of(
    st.text("abzAZ09_-", min_size=1, max_size=3),
    st.text(st.characters(codec="utf-8", exclude_characters="\r", exclude_categories=["Cs"]), max_size=3),
    st.sampled_from(['"', "'", "\\", "a.b", "#", "=", "[x]", "\n", " "]),
)
GAPS = st.sampled_from(["", "\n", "# = [ { \" '''\n", "  \n\t\n", "\n # \\\n"])


@dataclass
class Written:
    """A text as it is written, and where in it the paths come to stand."""

    text: str = ""
    places: dict[KeyPath, Position] = field(default_factory=dict)
    rows: dict[KeyPath, tuple[int, ...]] = field(default_factory=dict)

    def put(self, path: KeyPath) -> None:
        self.places[path] = Position(self.text.count("\n") + 1, len(self.text) - self.text.rfind("\n"))


def spelled(draw: st.DrawFn, name: str) -> str:
    """A part of a key in one of the ways to write it."""
    ways = ['"' + "".join(f"\\U{ord(c):08x}" for c in name) + '"']
    ways += [json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")]
    ways += [name] if name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name) else []
    ways += [f"'{name}'"] if name.isprintable() and "'" not in name else []
    return draw(st.sampled_from(ways))


def write_key(draw: st.DrawFn, to: Written, table: KeyPath, parts: tuple[str, ...]) -> None:
    for n, part in enumerate(parts):
        if n:
            to.text += f"{draw(BLANK)}.{draw(BLANK)}"
        to.put((*table, *parts[: n + 1]))
        to.text += spelled(draw, part)


def write_string(draw: st.DrawFn, to: Written, path: KeyPath) -> None:
    """A string of some lines, in one of the ways to write it."""
    pieces = st.sampled_from(["", "a", '"', '""', "\\", "'", "#", "i8 -> i16  ", "é", "\t"])
    lines = draw(st.lists(pieces, min_size=1, max_size=4))
    way = draw(st.sampled_from(["one line", "long", "long after a line end", "literal"]))
    if way == "literal" and not any("'" in line for line in lines):
        to.text += "'''\n"
        first = to.text.count("\n") + 1
        to.text += "\n".join(lines) + "'''"
        to.rows[path] = tuple(range(first, first + len(lines)))
        return
    escaped = [json.dumps(line)[1:-1] for line in lines]
    if way in ("one line", "literal"):
        to.rows[path] = (to.text.count("\n") + 1,) * len(lines)
        to.text += '"' + "\\n".join(escaped) + '"'
        return
    to.text += '"""' + ("\n" if way == "long after a line end" or not lines[0] else "")
    rows = []
    for n, line in enumerate(escaped):
        if n:
            to.text += draw(st.sampled_from(["\n", "\\n"])) if rows else "\n"
        if line and draw(st.booleans()):
            to.text += draw(st.sampled_from(["\\\n", "\\  \n\t\n  "]))  # what a backslash hides
            line = "-" + line.lstrip(" ")
        rows.append(to.text.count("\n") + 1)
        to.text += line
    to.rows[path] = tuple(rows)
    to.text += '"""'


def write_value(draw: st.DrawFn, to: Written, path: KeyPath, depth: int) -> None:
    what = draw(st.sampled_from(["string", "scalar", *(["list", "table"] if depth < 3 else [])]))
    if what == "string":
        write_string(draw, to, path)
    elif what == "scalar":
        to.text += draw(
            st.sampled_from(["1", "-0.5e+3", "true", "1979-05-27 07:32:00", "inf", "0x1F", "[ ]", "{ }"])
        )
    elif what == "list":
        to.text += "["
        for n in range(draw(st.integers(0, 3))):
            to.text += ("," if n else "") + draw(GAPS)
            to.put((*path, n))
            write_value(draw, to, (*path, n), depth + 1)
        to.text += draw(GAPS) + "]"
    else:
        to.text += "{ "
        for n, name in enumerate(draw(st.lists(NAMES, unique=True, max_size=3))):
            to.text += ", " if n else ""
            inner = draw(st.lists(NAMES, max_size=1))
            write_key(draw, to, path, (name, *inner))
            to.text += " = "
            write_value(draw, to, (*path, name, *inner), depth + 1)
        to.text += "}"


@st.composite
def documents(draw: st.DrawFn) -> Written:
    """A text of keys, dotted keys, tables and lists of tables, in either line end."""
    to = Written()
    for table in [(), *((f"t{name}",) for name in draw(st.lists(NAMES, unique=True, max_size=3)))]:
        path: KeyPath = table
        for n in range(draw(st.integers(1, 2)) if table and draw(st.booleans()) else 0):  # a list of tables
            to.text += f"{draw(BLANK)}[[{draw(BLANK)}"
            if n == 0:
                to.put(table)
            path = (*table, n)
            to.put(path)
            to.text += f"{spelled(draw, table[0])}{draw(BLANK)}]]\n"
        if table and path == table:
            to.text += f"{draw(BLANK)}[{draw(BLANK)}"
            to.put(table)
            to.text += f"{spelled(draw, table[0])}{draw(BLANK)}]{draw(BLANK)}# a table\n"
        for name in draw(st.lists(NAMES.map(lambda name: "-" + name), unique=True, max_size=3)):
            inner = draw(st.lists(NAMES, max_size=2))
            to.text += draw(GAPS) + draw(BLANK)
            write_key(draw, to, path, (name, *inner))
            to.text += f"{draw(BLANK)}={draw(BLANK)}"
            write_value(draw, to, (*path, name, *inner), 0)
            to.text += f"{draw(BLANK)}\n"
    return to


@given(documents(), st.booleans())
def test_every_place_is_where_it_was_written(written: Written, windows: bool) -> None:
    text = written.text.replace("\n", "\r\n") if windows else written.text
    agrees_with_tomllib(text)
    found = find_positions(text)
    assert {path: found.find_position(*path) for path in written.places} == written.places
    assert {path: found.lines_of_rows(*path) for path in written.rows} == written.rows


# -- whatever tomllib reads, and what it does not

PIECES = st.sampled_from([
    "a", "b", "a", "b", ".", ".", "=", "=", " = 1\n", " = 1\n", " = {}\n", "\n", "\n", "[", "]", "[a]\n",
    "[b]\n", "[a.b]\n", "[[a]]\n", "[[a.b]]\n", "{", "}", ",", " ", '"', "'", '"""', "'''", "\\", "#",
    "a.b = 1\n", "b.a = 1\n",
    "1", "true", '"a"', "\r\n", "é",
])  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
@example("[a]\n[a")
@example("[[a]]\n[a.b]\nc = 1\n[[a]]\n[a.b]\nc = 1\n")
@example("a.b = { c = 1 }\na.d = 1\n")
@example("[a.b.c]\n[a]\nb.d = 1\n")
@example("[a.b.c]\n[a]\nb.d = 1\n[a.b]\n")
@example("[a]\n[[a]]\n")
@example("[[a]]\n[a]\n")
@example('a = """a"""""\n')
@example("a = '''a'''''\n")
@example('a = """\\\n\n  b"""\n')
@example('"a\\u0062" = 1\n')
def test_places_agree_with_tomllib_on_any_text_and_repeated_keys_are_found(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        if str(e).startswith(("Cannot", "Duplicate")):
            assert find_positions(text).repeated
    else:
        agrees_with_tomllib(text)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_every_key_of_our_files_has_its_place(path: FilePath) -> None:
    agrees_with_tomllib(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "path", "lines"),
    [
        ("a = 1\nb = 2\na = 3\n", ("a",), (1, 3)),
        ("[a]\nb = 1\n[c]\n[a]\n", ("a",), (1, 4)),
        ("[a]\nb = 1\n\nb = 1\n", ("a", "b"), (2, 4)),
        ("a = { b = 1 }\n[a.c]\n", ("a",), (1, 2)),
        ("a.b = 1\n[a]\n", ("a",), (1, 2)),
        ("[[a]]\nb = 1\n[[a]]\nb = 1\nb = 2\n", ("a", 1, "b"), (4, 5)),
        ("a = []\n[[a]]\n", ("a",), (1, 2)),
        ("a = { b = 1,\tb = 2 }\n", ("a", "b"), (1, 1)),
        ('a = 1\n"a" = 2\n', ("a",), (1, 2)),
    ],
)
def test_a_repeated_key_has_a_name_and_two_places(text: str, path: KeyPath, lines: tuple[int, int]) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    repeated = find_positions(text).repeated
    assert repeated
    assert (repeated[0], (repeated[1].line, repeated[2].line)) == (path, lines)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "a",
        "a =",
        "a = [",
        "a = {",
        'a = "',
        "a = '''",
        "[",
        "[a",
        "[[a]",
        "= 1",
        "a..b = 1",
        'a = """""',
        "\\",
        "a = 1 b",
        '"\\q" = 1',
    ],
)
def test_what_is_no_toml_ends_the_scan_in_silence(text: str) -> None:
    assert find_positions(text).repeated is None


def test_what_is_too_deep_has_a_place_and_ends_the_scan() -> None:
    key = ".".join("a" * (MAX_KEY_PARTS + 1))
    nested = "[" * (MAX_NESTING + 1)
    assert find_positions(f"x = 1\n{key} = 1\nb = 1\n").too_deep == Position(2, 1)
    assert find_positions(f"[{key}]\n").too_deep == Position(1, 2)
    assert find_positions(f"x = {nested}").too_deep == Position(1, 5 + MAX_NESTING)
    assert find_positions("x = " + "{ x = " * (MAX_NESTING + 1)).too_deep == Position(1, 5 + 6 * MAX_NESTING)
    assert find_positions(f"{key[2:]} = {nested[1:]}{']' * MAX_NESTING}\n").too_deep is None


def test_deep_keys_and_values_are_not_read_to_their_end() -> None:
    """What they cost must not grow with their depth squared, nor end in a RecursionError."""
    for text in (".".join("a" * 200_000) + " = 1", "a = " + "[" * 200_000, "a = " + "{a=" * 200_000):
        assert find_positions(text).too_deep


def test_a_search_ends_after_the_value_of_a_key() -> None:
    text = 'a = 1\norder = """\nx -> y\ny -> z\n"""\nb = [2'
    found = find_positions(text, until=("order",))
    assert found.lines_of_rows("order") == find_positions(text).lines_of_rows("order") == (3, 4, 5)
    assert found.find_position("b") is None and find_positions(text).find_position("b") == Position(6, 1)
