"""The page of `typelattice explore`: it shows what the engine says, and runs nothing but its script."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from samples import one_in

import typelattice as tl
import typelattice.show.explorer.cached_document as kept_document
from typelattice.core.engine.promotion import DecidingLines
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.core.explanations.promotion_in_english import answer_text, explain_in_sections
from typelattice.core.explanations.recorded_answer_in_english import describe_recorded_answer
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.system_origin import SystemOrigin
from typelattice.show.cli.main import main
from typelattice.show.explorer.answer_encoding import COLUMN_NAMES, NO_CELL_NUMBER
from typelattice.show.explorer.cached_document import load_or_build_document
from typelattice.show.explorer.document import Document, build_document
from typelattice.show.explorer.page import page_html

SYSTEMS, OPS = ("numpy", "torch", "jax-x32", "numpy@2.4"), ("add", "divide", "sqrt")
HOSTILE = '</script><img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def shown() -> dict:
    return json.loads(build_document(SYSTEMS, OPS).to_json())


def cells(shown: dict, every: int) -> Iterator[tuple[tl.Promotion, dict]]:
    """Some of the cells of a document, each with the answer that the engine gives to the same operands."""
    pools = shown["pools"]
    for system in shown["systems"]:
        for op, table in system["tables"].items():
            rows = [pools["operands"][n][0] for n in table["rows"]]
            pairs = [(a, b) for a in rows for b in rows] if table["columns"] else [(a,) for a in rows]
            parts = {name: pools["columns"][table[name]] for name in COLUMN_NAMES}
            for i in range(0, len(pairs), every):
                if parts["answer"][i] != NO_CELL_NUMBER:
                    p = tl.system(system["name"]).explain(*pairs[i], op=op or None)
                    yield p, {name: column[i] for name, column in parts.items()}


def test_every_part_of_a_cell_is_what_the_engine_says(shown: dict) -> None:
    pools, seen = shown["pools"], 0
    for p, cell in cells(shown, every=7):
        seen += 1
        _, words, kind, weak, _, result = pools["answers"][cell["answer"]]
        assert words == answer_text(p) and weak == p.weak, p
        assert kind == (p.dtype.kind.value if p.dtype else "refused")
        assert (result == -1) == (p.dtype is None)
        told = [[heading, *lines] for heading, lines in explain_in_sections(p)]
        trail = [pools["sections"][n] for n in pools["trails"][cell["trail"]]]
        operation = [pools["sections"][cell["operation"]]] if p.op else []
        assert sorted([*trail, *operation]) == sorted(told), p
        evidence = describe_recorded_answer(p, find_recorded_answer(p))
        assert pools["evidence"][cell["evidence"]][2:] == evidence, p
    assert seen > 500


def test_the_line_shown_is_that_of_the_rule(shown: dict) -> None:
    asked = list(cells(shown, every=23))
    assert len(asked) > 200
    for p, cell in asked:
        place, *quoted = shown["pools"]["rules"][cell["rule"]]
        assert place == str(p.rule), p
        assert quoted == [f"{n}: {line}" for n, line in zip(p.rule.lines, p.rule.quoted, strict=False)]


def test_the_way_shown_leads_from_nodes_of_the_order_to_one_above_them(shown: dict) -> None:
    compared = 0
    for p, cell in cells(shown, every=11):
        nodes, to, lost = shown["pools"]["ways"][cell["way"]]
        order = {str(n): n for n in p.system.order.nodes}
        assert {*nodes, *lost} <= {*order}, p
        if to and not p.system.overrides and len(p.system.tiers) == 1:
            assert all(p.system.order.le(order[a], order[to]) for a in nodes), p
            compared += 1
    assert compared > 50


def test_a_cover_is_shown_with_the_line_that_states_it(shown: dict) -> None:
    text = Path(tl.__file__).parent / "systems" / "numpy.toml"
    lines = text.read_text(encoding="utf-8").split("\n")
    numpy = next(s for s in shown["systems"] if s["name"] == "numpy")
    assert len(numpy["covers"]) == sum(
        len(tl.system("numpy").order.covers(n)) for n in tl.system("numpy").order.nodes
    )
    for a, b, line in numpy["covers"]:
        codes = re.findall(r"\w+", lines[line - 1])
        assert tl.dtype(a).code in codes and tl.dtype(b).code in codes


def test_tables_that_are_alike_are_written_once(shown: dict) -> None:
    """NumPy 2.4 answers most of it as 2.5 does: the columns are the same, by their numbers."""
    numpy, older = (next(s for s in shown["systems"] if s["name"] == name) for name in ("numpy", "numpy@2.4"))
    assert numpy["tables"]["add"]["answer"] == older["tables"]["add"]["answer"]
    assert numpy["tables"]["add"]["evidence"] != older["tables"]["add"]["evidence"]


def test_the_reasons_for_answers_that_two_releases_share_are_found_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[tl.Promotion] = []
    find = SystemOrigin.rule_of_answer

    def counted(self: SystemOrigin, p: tl.Promotion) -> DecidingLines:
        found.append(p)
        return find(self, p)

    monkeypatch.setattr(SystemOrigin, "rule_of_answer", counted)
    build_document(["numpy", "numpy@2.4"], ops=["add"])
    assert {p.system.name for p in found} == {"numpy"}


@pytest.mark.parametrize(
    "first, second", one_in(3, [("numpy", "numpy@2.0"), ("numpy", "cupy"), ("c", "c-llp64")], 2)
)
def test_a_system_is_shown_beside_one_of_the_same_rules_as_it_is_alone(first: str, second: str) -> None:
    beside, alone = build_document([first, second], OPS).data, build_document([second], OPS).data
    assert spelled_out(beside, 1) == spelled_out(alone, 0)


def test_a_file_of_the_same_text_is_named_by_its_own_name(tmp_path: Path) -> None:
    for name in ("one.toml", "two.toml"):
        (tmp_path / name).write_text('name = "same"\norder = "i8 -> i16"\n', encoding="utf-8")
    data = build_document([tmp_path / "one.toml", tmp_path / "two.toml"], ops=[]).data
    rules = [{*map(str, spelled_out(data, i)["", "rule"])} for i in (0, 1)]
    assert all("one.toml" in rule for rule in rules[0] - {"None"})
    assert all("two.toml" in rule for rule in rules[1] - {"None"})


def spelled_out(data: dict, which: int) -> dict:
    """One system of a document, with what its numbers stand for."""
    pools, system = data["pools"], data["systems"][which]
    of = {"answer": "answers", "operation": "sections", "evidence": "evidence", "way": "ways"}
    of |= {"trail": "trails", "rule": "rules"}

    def shown(part: str, number: int) -> object:
        if number == NO_CELL_NUMBER:
            return None
        value = pools[of[part]][number]
        return [pools["sections"][n] for n in value] if part == "trail" else value[:5]

    return {
        (op, part): [shown(part, number) for number in pools["columns"][table[part]]]
        for op, table in system["tables"].items()
        for part in COLUMN_NAMES
    }


def test_a_page_holds_its_document_and_asks_no_network() -> None:
    made = build_document(["python"], ops=[])
    text = page_html(made)
    packed = re.search(r'id="document">([^<]*)<', text)
    assert packed and zlib.decompress(base64.b64decode(packed[1])).decode() == made.to_json()
    assert not re.search(r"<(?:link(?! rel=\"icon\" href=\"data:)|img|iframe|script[^>]*\ssrc)", text)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy and "default-src 'none'" in policy[1] and "connect-src" not in policy[1]
    script = re.search(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    assert script and base64.b64encode(sha256(script[1].encode()).digest()).decode() in policy[1]


def test_what_a_file_says_cannot_end_an_element_of_the_page() -> None:
    text = page_html(
        Document(build_document(["python"], ops=[]).data), {"file": "x", "text": HOSTILE, "changes": None}
    )
    assert HOSTILE not in text and "\\u003c/script>" in text


def test_a_file_that_is_no_system_is_shown_with_its_mistake(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('name = "bad"\norder = "i8 -> nowhere"\n', encoding="utf-8")
    (entry,) = build_document([file], ops=[]).data["systems"]
    assert entry["error"]["line"] == 2 and entry["error"]["cause"].startswith("unknown")
    assert entry["lines"][1] == 'order = "i8 -> nowhere"'


def test_a_system_of_a_program_is_shown() -> None:
    mine = parse('name = "mine"\norder = "i8 -> i16"', "mine.toml")
    (entry,) = json.loads(build_document([mine], ops=[]).to_json())["systems"]
    assert entry["covers"] == [["int8", "int16", 2]]


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "page.html"
    assert main(["explore", "--system", "python", "--op", "add", "-o", str(file)]) == 0
    size = file.stat().st_size
    assert capsys.readouterr().out == f"{file}: {size:,} bytes; open it in a browser\n"


@pytest.mark.parametrize(
    ("change", "times"),
    [
        (lambda rule, built: None, 1),
        (lambda rule, built: rule.with_name(".spare").write_text("of an editor"), 1),
        (lambda rule, built: rule.write_text("two"), 2),
        (lambda rule, built: rule.rename(rule.with_name("jax.toml")), 2),
        (lambda rule, built: built.write_bytes(built.read_bytes()[:-40]), 2),
        (lambda rule, built: built.unlink(), 2),
    ],
)
def test_a_document_is_built_once_and_again_after_a_change_of_the_package(
    change: Callable[[Path, Path], object], times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = tmp_path / "show" / "explorer" / "numpy.toml"
    rule.parent.mkdir(parents=True)
    rule.write_text("one")
    shown, built = build_document(["python"], ops=[]), []
    monkeypatch.setattr(kept_document, "build_document", lambda **_: built.append(shown) or shown)
    assert load_or_build_document(print, package=tmp_path) == shown
    (kept,) = {*rule.parent.iterdir()} - {rule}
    change(rule, kept)
    assert load_or_build_document(print, package=tmp_path).to_json() == shown.to_json()
    assert len(built) == times


def test_a_package_that_changes_while_its_document_is_built_keeps_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule, shown = tmp_path / "show" / "explorer" / "numpy.toml", build_document(["python"], ops=[])
    rule.parent.mkdir(parents=True)
    monkeypatch.setattr(kept_document, "build_document", lambda **_: rule.write_text("new") and shown)
    assert load_or_build_document(print, package=tmp_path) == shown
    assert [*rule.parent.iterdir()] == [rule]


def test_the_command_says_which_file_is_no_valid_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, written = tmp_path / "bad.toml", tmp_path / "page.html"
    file.write_text('name = "bad"\norder = "i8 -> nowhere"\n', encoding="utf-8")
    assert main(["explore", "--system", str(file), "--op", "add", "-o", str(written)]) == 0
    told = "bad.toml, line 2, order: unknown dtype 'nowhere'; no dtype and no set has this name"
    told += "; use another, or define it; the page shows it in its place\n"
    assert capsys.readouterr().err == f"typelattice: left out: {told}" and written.exists()


def test_a_dash_for_a_file_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explore", "--system", "python", "--op", "add", "-o", "-"]) == 0
    assert capsys.readouterr().out == page_html(build_document(["python"], ["add"])) + "\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words, says",
    [
        (["--op", "nothing"], "unknown operation 'nothing'"),
        (["--op", "lerp"], "lerp takes 3 operands, and a table has two"),
        (["--system", "nunpy"], "unknown system 'nunpy' (did you mean numpy or numpy1?)"),
        (["-o", "/nowhere/page.html"], "cannot write '/nowhere/page.html'"),
        (["--port", "70000", "--edit"], "'70000' is not a whole number from 0 to 65535"),
        (["--port", "8000"], "--port and --no-browser go with --edit"),
        (["--edit", "-o", "x.html"], "with --edit go --port, --no-browser and one --system to begin as"),
    ],
)
def test_bad_input_is_one_clear_line(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", *words]) == 2
    err = capsys.readouterr().err
    assert says in err and err.count("\n") == 1
