"""Every file in malformed/ is refused, with the message that its first line expects, whole.

An expectation that ends in `not TOML` leaves the rest to tomllib, whose words differ among Pythons. What is
no text, or has no room for a comment, is in malformed/expected.json.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.dtypes import DTYPE_BY_CODE
from typelattice.core.system_files import system_text as source
from typelattice.core.system_files.order_entries import MAX_COVERS, MAX_STATEMENTS
from typelattice.core.system_files.reader import build_system, parse, system
from typelattice.core.system_files.system_definition import MAX_EXTENDED_FILES, parse_definition
from typelattice.core.system_files.system_text import (
    MAX_SYSTEM_FILE_BYTES,
    FormatError,
    SystemText,
    UnknownSystemError,
)
from typelattice.core.system_files.value_reader import MAX_ENTRIES, MAX_NODES, Vocabulary

FOLDER = Path(source.SYSTEMS_FOLDER)

FILES = (Path(__file__).parents[2] / "malformed")
SIDECAR = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))
SEVERAL = {  # files with more mistakes than the one that their first line expects
    "extends-and-drops-a-set": 8, "extends-and-takes-dtypes-away": 8, "key-order-inside-table": 2,
    "raw-blank": 2, "raw-empty": 2,
}  # fmt: skip
MINE = 'name = "mine"\n'


def expectation(path: Path) -> str:
    if path.name in SIDECAR:
        return str(SIDECAR[path.name])
    return path.read_bytes().partition(b"\n")[0].decode().removeprefix("# expect: ").rstrip("\r")


def refusal(path: Path) -> FormatError:
    with pytest.raises(FormatError) as caught:
        system(path)
    return caught.value


def well_formed(e: FormatError) -> bool:
    """Whether an error has bounded lines made of its own fields and a caret, and survives a pickle."""
    line = f", line {e.line}" if e.line else ""
    key = f", {e.key}" if e.key else ""
    whole = e.summary == f"{e.file}{line}{key}: {e.cause}" and str(e) == str(pickle.loads(pickle.dumps(e)))
    first, *shown = str(e).split("\n")
    marked = not e.mark or (shown[0].startswith(f"{e.line:>6} | ") and shown[1].strip(" |^") == "")
    bounded = all(len(each) < 600 and each.isprintable() for each in (first, *shown))
    return whole and first == e.summary and marked and bounded and bool(e.file and e.cause)


@pytest.mark.parametrize("path", sorted(FILES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_malformed_file_is_refused_with_its_message(path: Path) -> None:
    expected = expectation(path)
    assert expected
    e = refusal(path)
    assert well_formed(e)
    assert len(e.mistakes) == SEVERAL.get(path.stem, 1), str(e)
    said = e.summary.removeprefix(path.name).removeprefix(", ").removeprefix(": ")
    if expected.endswith("not TOML"):
        assert said.startswith(f"{expected}: ")
    else:
        assert said == expected


def test_the_format_page_says_what_cures_real_refusals() -> None:
    """Each message of its table is part of the message of a malformed file."""
    page = (FILES.parents[1] / "docs/format.md").read_text(encoding="utf-8")
    table = page.partition("### Why is my key refused?")[2]
    messages = re.findall(r"(?m)`([^`]+)`(?=[^|\n]*\|)", re.sub(r"(?m)^(\| [^|]*\|).*", r"\1", table))
    expected = [expectation(path) for path in FILES.glob("*.toml")]
    expected.append((Path(__file__).parent / "whole_mistakes.txt").read_text(encoding="utf-8"))
    assert len(messages) > 10
    assert [said for said in messages if not any(said in each for each in expected)] == []


def test_there_are_enough_of_them_and_the_sidecar_names_none_that_is_gone() -> None:
    assert len(list(FILES.glob("*.toml"))) >= 220
    assert all((FILES / name).exists() for name in SIDECAR)


def test_every_message_names_a_line_unless_there_is_none_to_name() -> None:
    """What is missing is on no line; of a number that Python refuses to read, tomllib says none."""
    without = {path.stem for path in FILES.glob("*.toml") if refusal(path).line is None}
    missing = {"name-missing", "order-missing", "extends-without-order-of-its-own", "raw-empty", "raw-blank"}
    assert without == missing | {"toml-huge-number"}


ALL_WRONG = """\
name = "mine"
tiers = ["array", "scalr"]
defualts = { int = "i32" }
defaults = { float = "f33", int = "i32" }
order = '''
b -> i8 -> i99
i8 -> q8 -> f32   # q8 is broken below, and no mistake here
'''
ties = { "i8, u8" = "i8" }
fit = { int = "warp" }
[dtypes]
q8 = { kind = "floaty" }
[sets]
small = "u8, q8"
big = "u64, i46"
tiny = "u8, i8"
[ops]
add = { takse = "all", gives = "tiny" }
"mean, medain" = { kernels = "integer, rael" }
divide = { computes = { integer = "f23" } }
"""


def test_all_mistakes_of_a_file_are_reported_in_order_and_marked() -> None:
    with pytest.raises(FormatError) as caught:
        parse(ALL_WRONG)
    lines = ALL_WRONG.split("\n")
    found = [
        (e.line, e.key, lines[e.mark.line - 1][e.mark.column - 1 :][: e.mark.width])
        for e in caught.value.mistakes
        if e.mark
    ]
    assert found == [
        (2, "tiers", "scalr"), (3, "defualts", "defualts"), (4, "defaults", "f33"), (6, "order", "i99"),
        (10, "fit", "warp"), (12, "dtypes", "floaty"), (15, "sets", "i46"), (18, "ops", "takse"),
        (18, "ops", "tiny"), (19, "ops", "medain"), (19, "ops", "rael"), (20, "ops", "f23"),
    ]  # fmt: skip
    assert len(found) == len(caught.value.mistakes)
    assert all(well_formed(e) for e in caught.value.mistakes[1:])


FACTS_WRONG = """\
name = "mine"
order = "b -> i8"
[dtypes.q8]
kind = "flot"
bits = "x"
valuse = 3
[dtypes.q9]
kind = "float"
values = [0, 1, 1]
[dtypes.q7]
kind = "float"
min = 1
max = 2
step = 0.3
[ops.add]
computes = { i8 = "i*" }
"""


def test_every_mistake_in_the_facts_of_a_dtype_is_reported_on_its_line() -> None:
    with pytest.raises(FormatError) as caught:
        parse(FACTS_WRONG)
    lines = FACTS_WRONG.split("\n")
    found = [
        (e.line, lines[e.mark.line - 1][e.mark.column - 1 :][: e.mark.width])
        for e in caught.value.mistakes
        if e.mark
    ]
    assert found == [(4, "flot"), (5, "bits"), (6, "valuse"), (9, "values"), (14, "step"), (16, "i*")]
    assert len(found) == len(caught.value.mistakes)


def test_a_wrong_word_in_a_file_that_is_read_on_demand_is_an_error_with_its_place() -> None:
    """A file that comes with typelattice is read so; its mistake is no bare ValueError."""
    text = f'{MINE}order = "i8 -> i16"\n[ops]\nadd = {{ kernels = "all" }}\nsub = {{ kernels = "al" }}\n'
    found = build_system(parse_definition(SystemText("mine.toml", text)), shipped=True)
    assert found.explain("int8", "int16", op="add").dtype is DTYPE_BY_CODE["i16"]
    with pytest.raises(FormatError) as caught:
        _ = found.ops["sub"]
    assert caught.value.summary.startswith("mine.toml, line 5, ops: unknown operation or class 'sub'")
    assert well_formed(caught.value)


def test_an_error_shows_twenty_mistakes_and_counts_the_others() -> None:
    entries = "\n".join(f's{i} = "x{i}"' for i in range(30))
    with pytest.raises(FormatError) as caught:
        parse(f'{MINE}order = "u8"\n[sets]\n{entries}\n')
    assert len(caught.value.mistakes) == 30
    assert str(caught.value).endswith("\ntext: 10 more mistakes")


def test_a_long_line_and_tabs_are_shown_around_the_caret() -> None:
    long = ", ".join(["u8", *(f"i{n}" for n in (8, 16, 32)), "f32"]) + " " * 200
    with pytest.raises(FormatError) as caught:
        parse(f'{MINE}order = "\t{long} -> q9"\n')
    _, shown, caret = str(caught.value).split("\n")
    assert len(shown) < 120
    assert shown[caret.index("^") :].startswith("q9")


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "huge.toml"
    path.write_text(MINE + 'order = "i8 -> i16"\n' + "# nothing\n" * (MAX_SYSTEM_FILE_BYTES // 10))
    e = refusal(path)
    assert well_formed(e)
    assert str(e) == "huge.toml: larger than 200,000 bytes; a system file states a rule"
    with pytest.raises(FormatError, match="larger than 200,000 bytes"):
        parse(path.read_text())


def test_a_pipe_or_a_device_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    """In a process of its own: one that waits would wait for ever."""
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    program = "import sys; from typelattice.core.system_files.reader import system; system(sys.argv[1])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for path in (str(pipe), "/dev/zero", "/dev/ptmx"):
        done = subprocess.run(
            [sys.executable, "-c", program, path], capture_output=True, text=True, timeout=120, env=env
        )
        why = "it is a pipe or a device, and no regular file"
        said = f"cannot read {path!r}: {why}; give the path of a .toml file"
        assert done.stderr.splitlines()[-1].endswith(f".UnknownSystemError: {said}")


def own_dtypes(n: int) -> str:
    return "[dtypes]\n" + "".join(f'd{i} = {{ kind = "bool" }}\n' for i in range(n))


def nodes_file(n: int) -> str:
    """A file whose order has so many nodes, each alone."""
    nodes = "\n".join(f"d{i}" for i in range(n))
    return f'{MINE}order = """\n{nodes}\n"""\n{own_dtypes(n)}'


def test_too_many_nodes(tmp_path: Path) -> None:
    path = tmp_path / "nodes.toml"
    path.write_text(nodes_file(MAX_NODES))
    assert len(system(path).order.nodes) == MAX_NODES
    path.write_text(nodes_file(MAX_NODES).replace("d0\n", "d0; u8\n", 1))
    said = f"nodes.toml, line 2, order: more than {MAX_NODES:,} nodes; a system file states a rule"
    assert refusal(path).summary == said


def test_too_many_covers(tmp_path: Path) -> None:
    """Counted before they are made; as many as so many nodes can have are taken."""
    path = tmp_path / "covers.toml"
    half = MAX_NODES // 2
    low, high = (", ".join(f"d{i}" for i in span) for span in (range(half), range(half, 2 * half)))
    path.write_text(MINE + f'order = "{low} -> {high}"\n' + own_dtypes(2 * half))
    order = system(path).order
    assert sum(len(order.covers(n)) for n in order.nodes) == MAX_COVERS
    path.write_text(MINE + f'order = """\nu8 -> d0\n{low} -> {high}\n"""\n' + own_dtypes(2 * half))
    said = f"covers.toml, line 4, order: more than {MAX_COVERS:,} covers; a system file states a rule"
    assert refusal(path).summary == said


def test_too_many_statements(tmp_path: Path) -> None:
    path = tmp_path / "statements.toml"
    side = 23
    covers = [f"d{i} -> d{side + k}" for i in range(side) for k in range(side)]
    assert len(covers) > MAX_STATEMENTS
    for taken in (MAX_STATEMENTS - 1, MAX_STATEMENTS):
        lines = "\n".join(covers[:taken])
        lone = f"d{side - 1}; {lines}"  # whose covers come last
        path.write_text(f'{MINE}order = """\n{lone}\n"""\n{own_dtypes(2 * side)}')
        if taken == MAX_STATEMENTS - 1:
            assert len(system(path).order.nodes) == 2 * side
    line = MAX_STATEMENTS + 2
    said = f"line {line}, order: more than {MAX_STATEMENTS:,} statements; a system file states a rule"
    assert refusal(path).summary == f"statements.toml, {said}"


def test_too_many_entries() -> None:
    sets = "\n".join(f's{i} = "u8"' for i in range(MAX_ENTRIES + 1))
    with pytest.raises(FormatError) as caught:
        parse(f'{MINE}order = "u8"\n[sets]\n{sets}\n')
    said = f"text, line 3, sets: more than {MAX_ENTRIES:,} entries; a system file states a rule"
    assert caught.value.summary == said


def test_a_list_that_sets_make_too_long_is_refused_before_it_is_made() -> None:
    sets = "\n".join(f's{i} = "{", ".join([f"s{i + 1}"] * 100)}"' for i in range(7))
    with pytest.raises(FormatError) as caught:
        parse(f'{MINE}order = "s0"\n[sets]\n{sets}\ns7 = "u8"\n')
    said = f"text, line 4, sets: a list of more than {MAX_NODES:,}; a system file states a rule"
    assert caught.value.summary == said


def test_a_set_is_spelled_out_once_however_often_it_is_named() -> None:
    """Each of many sets names a long one; what they cost together must not be their product."""
    long = ", ".join(f"d{i}" for i in range(MAX_NODES))
    u8 = DTYPE_BY_CODE["u8"]
    words = Vocabulary({f"d{i}": replace(u8, name=f"d{i}", code=f"d{i}") for i in range(MAX_NODES)})
    words.sets = {"long": long, **{f"s{i}": "long" for i in range(MAX_ENTRIES - 1)}}
    first = words.read_set("s0")
    assert len(first) == MAX_NODES
    del words.sets["long"]  # it is not read again
    words.sets["long"] = "unknown"
    assert [words.read_set(f"s{i}") for i in range(MAX_ENTRIES - 1)] == [first] * (MAX_ENTRIES - 1)


def test_files_that_extend_one_another_too_deep(tmp_path: Path) -> None:
    for i in range(MAX_EXTENDED_FILES + 2):
        (tmp_path / f"n{i}.toml").write_text(f'name = "n{i}"\nextends = "n{i + 1}"\n')
    (tmp_path / f"n{MAX_EXTENDED_FILES + 2}.toml").write_text('name = "n"\norder = "i8"\n')
    assert system(tmp_path / "n2.toml").name == "n2"
    e = refusal(tmp_path / "n1.toml")
    assert e.summary == "n9.toml, line 2, extends: more than 8 files deep; extend a nearer one"


def test_a_message_names_the_file_that_is_wrong_and_the_one_that_extends_it(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('name = "base"\norder = "i8 -> i99"\n')
    (tmp_path / "mine.toml").write_text('name = "mine"\nextends = "base"\n')
    e = refusal(tmp_path / "mine.toml")
    assert (e.file, e.line, e.key) == ("base.toml", 2, "order")
    cause = "unknown dtype 'i99'; no dtype and no set has this name; use another, or define it"
    assert e.cause == f"{cause} (mine.toml extends it)"


@pytest.mark.parametrize(
    ("which", "message"),
    [
        (
            "pyhton",
            "unknown system 'pyhton' (did you mean python?); "
            "`typelattice systems` lists them; a file of your own ends in .toml",
        ),
        ("", "unknown system ''; `typelattice systems` lists them; a file of your own ends in .toml"),
        (
            "n" * 500,
            f"unknown system '{'n' * 37}...'; `typelattice systems` lists them; "
            "a file of your own ends in .toml",
        ),
        (
            "a\nb",
            "unknown system 'a\\nb'; `typelattice systems` lists them; a file of your own ends in .toml",
        ),
        ("none.toml", "cannot read 'none.toml': No such file or directory; give the path of a .toml file"),
        ("none/none", "cannot read 'none/none': No such file or directory; give the path of a .toml file"),
        (
            "a\0b.toml",
            "cannot read 'a\\x00b.toml': a path has no null characters; give the path of a .toml file",
        ),
        (Path("numpy"), "cannot read 'numpy': No such file or directory; give the path of a .toml file"),
        (3, "an object of type int is no system; give a name such as 'jax' or the path of a .toml file"),
        (
            None,
            "an object of type NoneType is no system; give a name such as 'jax' or the path of a .toml file",
        ),
    ],
)
def test_what_is_no_system_or_cannot_be_read(which: str | Path, message: str) -> None:
    with pytest.raises(UnknownSystemError) as caught:
        system(which)
    assert str(caught.value) == message


def test_a_folder_a_long_name_and_a_locked_file_cannot_be_read(tmp_path: Path) -> None:
    locked = tmp_path / "locked.toml"
    locked.touch(0)
    paths = [tmp_path, Path("n" * 5000 + ".toml"), Path("x" * 90 + "/") / ("\n" * 50)]
    for path in paths if os.access(locked, os.R_OK) else [*paths, locked]:
        with pytest.raises(UnknownSystemError) as caught:
            system(path)
        assert str(caught.value).startswith("cannot read ")
        assert len(str(caught.value)) < 600
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"defualts": {}}, "defualts: unknown key (did you mean defaults?)"),
        ({"tiers": ("array",)}, "tiers: should be a list, not a tuple"),
        (
            {"extends": "jax"},
            "extends: is read from files only; replace other keys, or write a file that extends this one",
        ),
        ({"defaults": {"float": 64}}, "defaults: this should be a string, not a whole number"),
        ({"order": "...\nu8 -> u16"}, "line 2, order: the arrow uint8 -> uint16 is stated twice; remove one"),
        (
            {"order": "i8 -> i99"},
            "line 1, order: unknown dtype 'i99'; no dtype and no set has this name; "
            "use another, or define it",
        ),
    ],
)
def test_replacing_keys_of_a_system_is_checked_alike(keys: dict[str, object], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        system("numpy").replace(**keys)
    assert caught.value.summary == f"numpy.toml with {', '.join(keys)} replaced, {message}"
    assert well_formed(caught.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"ops": {"add": {1: "all"}}}, "ops: the entries of a table are strings, not a whole number"),
        ({"defaults": {None: "f32"}}, "defaults: the entries of a table are strings, not a NoneType"),
        ({"defaults": {"int": 10**5000}}, "defaults: this should be a string, not a whole number"),
        (
            {"combine": "join\0" * 1000},
            "combine: should be one of join, fold, comparable, value, not 'join\\x00join",
        ),
    ],
)
def test_what_only_a_program_can_say_is_refused_alike(keys: dict[str, object], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        system("jax").replace(**keys)
    assert well_formed(caught.value)
    assert str(caught.value).startswith(f"jax.toml with {', '.join(keys)} replaced, {message}")


def test_tables_within_tables_without_end_are_refused() -> None:
    endless: dict[str, object] = {}
    endless["add"] = endless
    with pytest.raises(FormatError, match="ops: nested too deep: more than 16 lists and tables"):
        system("jax").replace(ops=endless)


def test_an_error_in_a_list_names_the_line_of_the_element() -> None:
    with pytest.raises(
        FormatError,
        match=r"^text, line 4, both-ways: unknown dtype 'i9'; no dtype and no set has this name; ",
    ):
        parse(f'{MINE}order = "i8, i16"\nboth-ways = ["i8, i16",\n  "i8, i9"]\n')


def test_what_does_not_go_with_a_replaced_key_is_named_where_it_stands() -> None:
    with pytest.raises(FormatError) as caught:
        system("numpy").replace(order="i8 -> i16")
    line = 1 + (FOLDER / "numpy.toml").read_text().splitlines().index(
        'ties = { "i16, f16" = "i16", "i32, f32" = "i32" }'
    )
    cause = (
        "float16 is not in the order; add it to `order`, or name another"
        " (numpy.toml with order replaced extends it)"
    )
    assert caught.value.summary == f"numpy.toml, line {line}, ties: {cause}"


def test_an_error_shows_no_more_than_a_line_of_what_it_is_given() -> None:
    e = FormatError("f" * 300 + "\n", 3, "k\x1b" * 300, "<script>\n" * 500)
    assert well_formed(e)
    assert (e.line, e.key[:6], e.cause[:10]) == (3, "k\\x1bk", "<script>\\n")
