"""What `explain` tells: of all systems by their answers, of one in full."""
from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from email.message import Message
from pathlib import Path

import pytest
from command_line import MINE, own_file, said

import typelattice as tl
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.core.operations.missing_operations import find_missing_operations
from typelattice.core.registry.system_headings import heading_of, list_headings
from typelattice.show.cli.main import main


def test_explain_takes_the_name_that_a_library_has_for_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "explain", "int8", "float32", "--op", "jax.lax.add", "--system", "jax")
    assert shown.startswith("add of int8 and float32 under jax-lax: refused")
    shown = said(capsys, "explain", "int8", "float32", "--op", "np.add", "--system", "numpy")
    assert shown.startswith("add of int8 and float32 under numpy: float32")


def test_explain_groups_all_systems_by_what_libraries_do_under_their_headings(
    capsys: pytest.CaptureFixture[str]
) -> None:
    shown = said(capsys, "explain", "int64", "float16", "--op", "matmul")
    parts = re.split(r"(?m)^(\w+)$", shown.partition("\n\n")[2])
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert [*found] == [*list_headings()]
    for heading, text in found.items():
        names = [s for s in tl.systems() if heading_of(s) == heading]
        counts = {answer: int(n) for answer, n in re.findall(r"(?m)^  (\S.*?) +(\d+)  ", text)}
        answers = []
        for name in names:
            p = tl.system(name).explain("int64", "float16", op="matmul")
            o = find_recorded_answer(p)
            answers.append(str((o.dtype if o else p.dtype) or "refused"))
            mark = rf" \(by rule {p.dtype or 'refused'}\)" if o and o.departs else r"\??"
            assert re.search(rf"[ ,]{name}{mark}[,\n]", text), name
        assert counts == {d: answers.count(d) for d in answers}
        ranked = [n for answer, n in counts.items() if answer != "refused"]
        assert ranked == sorted(ranked, reverse=True)
    assert "? predicted by the rule; the library was never asked" in shown


def test_explain_marks_what_no_library_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "explain", "int8", "int8", "--op", "hypot")
    for name in (name for name in tl.systems() if tl.system(name).library):
        p = tl.system(name).explain("int8", "int8", op="hypot")
        unasked = find_recorded_answer(p) is None and (p.dtype or tl.dtype("int8") in tl.system(name).dtypes)
        unasked = unasked and "hypot" not in find_missing_operations(name)
        assert bool(re.search(rf"[ ,]{name}\?[,\n]", shown)) is bool(unasked), name


def test_several_systems_are_compared_before_each_is_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "explain", "int64", "float16", "--system", "numpy", "--system", "jax")
    assert re.match(r"int64 with float16\n\n  float64 +1  numpy\n  float16 +1  jax\n\n\n", shown)
    in_full = [str(tl.system(name).explain("int64", "float16")) for name in ("numpy", "jax")]
    assert shown.endswith("\n\n\n".join(in_full) + "\n")


def test_explain_says_what_becomes_of_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "explain", "uint8", "300")
    assert re.search(r"300 out of range, it wraps to 44: [^:]*jax", shown, re.DOTALL)
    assert re.search(r"300 out of range, an error: [^:]*numpy", shown, re.DOTALL)


def test_explain_says_weak(capsys: pytest.CaptureFixture[str]) -> None:
    assert "float64 (weak)" in said(capsys, "explain", "int8", "float")


def test_explain_in_full_tells_the_way_the_bounds_the_tie_and_the_rule(
    capsys: pytest.CaptureFixture[str]
) -> None:
    shown = said(capsys, "explain", "int64", "float16", "--system", "jax")
    assert shown.startswith("int64 with float16 under jax: float16\n")
    assert "int64 -> f* -> float16" in shown
    assert "float16 is the lowest: all others lie above it" in shown
    assert "values beyond 65504 become inf; integers above" in shown
    shown = said(capsys, "explain", "int8", "uint8", "--system", "numpy")
    assert "int16 and float16 are the lowest, and neither lies below the other" in shown
    assert "the file chooses int16; float16 lost" in shown
    p = tl.system("numpy").explain("int8", "uint8")
    line = (Path(tl.__file__).parent / "systems" / p.rule.file).read_text().split("\n")[p.rule.lines[0] - 1]
    assert f"{p.rule.lines[0]}: {line}" in shown


@pytest.mark.parametrize("operands", [("int8", "uint8"), ("int32", "uint16"), ("uint8", "300")])
@pytest.mark.parametrize("name", ["numpy", "torch", "numpy1"])
def test_print_of_a_promotion_is_what_the_command_line_says(
    capsys: pytest.CaptureFixture[str], name: str, operands: tuple[str, ...]
) -> None:
    p = tl.system(name).explain(*operands)
    assert f"{p}\n" == said(capsys, "explain", *operands, "--system", name)
    assert repr(p).startswith(f"<{p.dtype or 'refused'}: {operands[0]} with {operands[1]} under {name}")


def test_a_promotion_has_words_whatever_was_imported_first() -> None:
    asked = "from typelattice.core.system_files.reader import system; print(system('jax').explain('int8'))"
    env = {**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, env=env)
    assert done.stdout == f"{tl.system('jax').explain('int8')}\n"


def test_a_refusal_has_its_cause_and_a_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "explain", "int32", "uint16", "--system", "torch")
    p = tl.system("torch").explain("int32", "uint16")
    assert f"refused       {p.reason}\ninstead       {p.remedy}\n" in shown


def test_explain_reads_own_files_and_their_dtypes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shown = said(capsys, "explain", "int8", "posit8", "--system", own_file(tmp_path), "--system", "jax")
    assert "int8 -> int16 -> int32 -> posit8" in shown
    assert "jax has no posit8" in shown


def test_two_systems_that_define_a_dtype_differently_each_read_their_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mine = own_file(tmp_path)
    other = Path(mine).with_name("other.toml")
    other.write_text(MINE.replace('"mine"', '"other"').replace("max = 16777216.0", "max = 100.0"))
    shown = said(capsys, "explain", "int32", "posit8", "--system", mine, "--system", str(other))
    assert "values beyond 1.678e+07 " in shown
    assert "values beyond 100 " in shown


def test_explain_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    parts = json.loads(said(capsys, "explain", "bool", "1e400", "uint8", "--op", "where", "--format", "json"))
    assert [a["system"] for a in parts["answers"]] == [*tl.systems()]
    for a in parts["answers"]:
        p = tl.system(a["system"]).explain("bool", float("inf"), "uint8", op="where")
        assert (a["dtype"], a["reason"]) == (p.dtype and p.dtype.name, p.reason)
        assert a["rule"]["lines"] == list(p.rule.lines)
        o = find_recorded_answer(p)
        assert (a["observed"] is None) == (o is None)
        assert o is None or a["observed"]["asked"] == o.call.question


SITE = "https://docs.example.org/tl"


@pytest.mark.parametrize(("words", "page"), [
    (("int64", "float16"), "answers/int64+float16.html"), (("uint8", "300"), "answers/uint8+300.html"),
    (("float16", "int64", "--op", "/"), "answers/divide/int64+float16.html"),
    (("int8", "--op", "np.sum"), "answers/sum/int8.html"),
    (("int8:0d", "float16"), "live.html#code=a+%2B+b&names=a%3Dint8%3A0d+b%3Dfloat16"),
    (("uint8", "int8", "--op", "+="), "live.html#code=a+%2B%3D+b&names=a%3Duint8+b%3Dint8"),
    (("x * 2", "x=int8", "--system", "jax"), "live.html#code=x+%2A+2&names=x%3Dint8&systems=jax"),
])  # fmt: skip
def test_explain_links_to_the_page_of_its_question(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], page: str
) -> None:
    assert said(capsys, "explain", *words, "--link", f"{SITE}/").splitlines()[-1] == f"{SITE}/{page}"
    assert json.loads(said(capsys, "explain", *words, "--format", "json", "--link", SITE))["link"] == (
        f"{SITE}/{page}"
    )


def test_the_address_of_the_site_is_that_of_the_installed_distribution(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = Message()
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: stated)
    assert main(["explain", "int8", "uint8", "--link"]) == 2
    assert "states no address of its site" in capsys.readouterr().err
    stated["Project-URL"] = "Repository, https://example.org/code"
    stated["Project-URL"] = f"Documentation, {SITE}"
    assert said(capsys, "explain", "int8", "uint8", "--link").endswith(f"\n{SITE}/answers/uint8+int8.html\n")
    assert main(["explain", "--link", "int8", "uint8"]) == 2
    assert "'int8' is no address; put --link last" in capsys.readouterr().err
    assert main(["explain", "\n".join(["x + 1"] * 41), "x=int8", "--link"]) == 2
    assert "at most 40 lines" in capsys.readouterr().err
