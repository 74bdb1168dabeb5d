"""The command line: what it prints, and that nothing makes it fall over."""

from __future__ import annotations

import gc
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl
from typelattice.cli.main import COMMANDS, command, main
from typelattice.facts.headings import heading_of, headings
from typelattice.facts.releases import installed_release
from typelattice.recorded.observed import observed
from typelattice.recorded.recording import Recording
from typelattice.rendering import FORMATS
from typelattice.study.tables import Table, table

SYSTEMS = tl.systems()
MINE = """
name  = "mine"
title = "My own"
order = "u8 -> i16 -> i32 -> posit8; i8 -> i16; u16 -> i32; i8, u8 -> f16"
[dtypes]
posit8 = { kind = "float", bits = 8, max = 16777216.0, values = "unknown", specials = "szn" }
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    return str(path)


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """What a good command line prints."""
    code = main(argv)
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The line that a bad command line gets."""
    code = main(argv)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("typelattice")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    "words", [("float32", "+", "int64"), ("x", "+=", "y"), ("-", "x"), ("a", "*", "b", "@", "c")]
)
def test_an_expression_without_quotes_is_told_them(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    told = f"explain: an expression is one argument: typelattice explain '{' '.join(words)}'"
    assert refused(capsys, "explain", "--", *words) == f"typelattice: {told}\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--version") == f"typelattice {tl.__version__}\n"


@pytest.mark.parametrize("argv", [[], ["--help"]])
def test_help_shows_a_command(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    assert "\n  typelattice explain " in said(capsys, *argv)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_examples_of_it(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert f"\nexamples:\n  typelattice {name}" in said(capsys, name, "--help")


def sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings of some of their calls: what comparisons of all find is for the tests of recordings."""
    calls = Recording.calls
    monkeypatch.setattr(Recording, "calls", lambda recording: islice(calls(recording), 0, None, 29))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("typelattice.cli.explore.serve", lambda at, port, ready: None)  # it would never end
    if name == "conform":
        sampled(monkeypatch)
    for example in map(shlex.split, command(name).examples):
        if name in ("conform", "record", "watch", "trace"):  # the library or the script may be absent
            status, told = main([name, *example]), capsys.readouterr()
            assert status in (0, 1, 2) and len(told.err.splitlines()) == (status == 2)
            assert told.err or told.out
        else:
            said(capsys, name, *example)


@pytest.mark.parametrize("argv", [
    "", "systems", "explain int64 float16", "explain uint8 300 1e39 2j float64:0d=1.5",
    *(f"explain uint8 int64 float --system {name}" for name in SYSTEMS),
    *(f"explain bool uint16 bfloat16 --op where --system {name}" for name in SYSTEMS),
    *(f"table --small --codes names --system {name}" for name in SYSTEMS),
    *(f"diff jax {name}" for name in SYSTEMS if name != "python"),
    *(f"check {name}" for name in SYSTEMS), *(f"{name} --help" for name in COMMANDS),
])  # fmt: skip
def test_lines_keep_to_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, argv: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, said(capsys, *argv.split()).split("\n"))) <= 80


def test_systems_are_listed_with_own_files(capsys: pytest.CaptureFixture[str], mine: str) -> None:
    lines = said(capsys, "systems", mine).split("\n")
    assert [line.split()[0] for line in lines if line and line[0] != " "] == [*SYSTEMS, "mine"]


def test_explain_groups_all_systems_by_what_libraries_do_under_their_headings(
    capsys: pytest.CaptureFixture[str]
) -> None:
    shown = said(capsys, "explain", "int64", "float16", "--op", "matmul")
    parts = re.split(r"(?m)^(\w+)$", shown.partition("\n\n")[2])
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert [*found] == [*headings()]
    for heading, text in found.items():
        names = [s for s in SYSTEMS if heading_of(s) == heading]
        counts = {answer: int(n) for answer, n in re.findall(r"(?m)^  (\S.*?) +(\d+)  ", text)}
        answers = []
        for name in names:
            p = tl.system(name).explain("int64", "float16", op="matmul")
            o = observed(p)
            answers.append(str((o.dtype if o else p.dtype) or "refused"))
            mark = rf" \(by rule {p.dtype or 'refused'}\)" if o and o.departs else r"\??"
            assert re.search(rf"[ ,]{name}{mark}[,\n]", text), name
        assert counts == {d: answers.count(d) for d in answers}
        ranked = [n for answer, n in counts.items() if answer != "refused"]
        assert ranked == sorted(ranked, reverse=True)
    assert "? the library was never asked this" in shown


def test_explain_marks_what_no_library_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "explain", "int8", "int8", "--op", "hypot")
    for name in (name for name in SYSTEMS if tl.system(name).library):
        p = tl.system(name).explain("int8", "int8", op="hypot")
        unasked = observed(p) is None and (p.dtype or tl.dtype("int8") in tl.system(name).dtypes)
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
    assert "float16 is the least: every other one lies above it" in shown
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
    asked = "from typelattice.files.reader import system; print(system('jax').explain('int8'))"
    env = {**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, env=env)
    assert done.stdout == f"{tl.system('jax').explain('int8')}\n"


def test_two_systems_that_define_a_dtype_differently_each_read_their_own(
    capsys: pytest.CaptureFixture[str], mine: str
) -> None:
    other = Path(mine).with_name("other.toml")
    other.write_text(MINE.replace('"mine"', '"other"').replace("max = 16777216.0", "max = 100.0"))
    shown = said(capsys, "explain", "int32", "posit8", "--system", mine, "--system", str(other))
    assert "values beyond 1.678e+07 " in shown
    assert "values beyond 100 " in shown


@pytest.mark.parametrize(("argv", "keys"), [
    ("check numpy", {"system", "dtypes", "ties", "laws", "criteria", "repairs", "without join"}),
    ("laws numpy jax", {"systems"}), ("conform c", {"library", "compared", "mismatches", "listed"}),
    ("design jep9407-0", {"proven", "completions", "written"}), ("design numpy --repair", {"repairs"}),
])  # fmt: skip
def test_what_is_judged_is_had_as_json(capsys: pytest.CaptureFixture[str], argv: str, keys: set[str]) -> None:
    assert keys <= json.loads(said(capsys, *argv.split(), "--format", "json")).keys()


def test_json_says_what_the_words_say(capsys: pytest.CaptureFixture[str]) -> None:
    laws = json.loads(said(capsys, "laws", "numpy", "--format", "json"))["systems"][0]["laws"]
    judged = tl.laws("numpy")
    assert {law: v["holds"] for law, v in laws.items()} == {law: v.holds for law, v in judged.items()}
    found = json.loads(said(capsys, "design", "numpy", "--repair", "--format", "json"))["repairs"]
    assert [each["add"] for each in found] == [[["i32", "f16"]], [["i64", "f16"]]]
    assert found[0]["changed"][0] == {"operands": ["u16", "f16"], "before": "f32", "after": "f16"}
    python = json.loads(said(capsys, "laws", "python", "--dtypes", "int8", "--format", "json"))["systems"][0]
    assert "python has none of these dtypes" in python["not judged"]


def test_a_comparison_with_mismatches_is_had_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled(monkeypatch)
    assert main(["conform", "numpy", "--system", "jax", "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert all(m["library"] != m["system"] for m in told["mismatches"])
    assert len(told["mismatches"]) > 100


def test_a_refusal_has_its_cause_and_a_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "explain", "int32", "uint16", "--system", "torch")
    p = tl.system("torch").explain("int32", "uint16")
    assert f"refused       {p.reason}\ninstead       {p.remedy}\n" in shown


def test_explain_reads_own_files_and_their_dtypes(capsys: pytest.CaptureFixture[str], mine: str) -> None:
    shown = said(capsys, "explain", "int8", "posit8", "--system", mine, "--system", "jax")
    assert "int8 -> i16 -> i32 -> posit8".replace("i16", "int16").replace("i32", "int32") in shown
    assert "jax has no posit8" in shown


def test_explain_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    parts = json.loads(said(capsys, "explain", "bool", "1e400", "uint8", "--op", "where", "--format", "json"))
    assert [a["system"] for a in parts["answers"]] == list(SYSTEMS)
    for a in parts["answers"]:
        p = tl.system(a["system"]).explain("bool", float("inf"), "uint8", op="where")
        assert (a["dtype"], a["reason"]) == (p.dtype and p.dtype.name, p.reason)
        assert a["rule"]["lines"] == list(p.rule.lines)
        o = observed(p)
        assert (a["observed"] is None) == (o is None)
        assert o is None or a["observed"]["asked"] == o.call.question


@pytest.mark.parametrize("argv", [
    "explain float32 -1e39", "explain -- float32 -1e39", "explain float32 --system jax -- -1e39",
])  # fmt: skip
def test_negative_numbers_are_operands(capsys: pytest.CaptureFixture[str], argv: str) -> None:
    assert "-1e+39" in said(capsys, *argv.split())


def test_options_may_stand_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    orders = ("int8 --system jax uint8", "--system jax int8 uint8", "int8 uint8 --system jax")
    assert len({said(capsys, "explain", *argv.split()) for argv in orders}) == 1


@pytest.mark.parametrize(("argv", "why"), [
    ("explain", "required: OPERAND"), ("exlpain", "did you mean explain?"),
    ("explain int8 --sys jax", "unrecognized arguments"),
    ("table --op add jax", "named by --system: type typelattice table --op add --system jax (see"),
    ("explore jax a.toml", "type typelattice explore --system jax --system a.toml (see"),
    ("table jax torch", "unrecognized arguments: jax torch (see"), ("table tier", "arguments: tier (see"),
    ("table jax --system torch", "unrecognized arguments: jax (see"),
    ("explain in8", "did you mean int8"), ("explain i4", "int4"), ("explain int8:1d", "cannot read '1d'"),
    ("explain int8 --system numpi", "did you mean numpy or numpy1?"),
    ("explain int8 --system no/file.toml", "cannot read"),
    ("explain int8 --op ad", "unknown operation 'ad'"), ("table --tier 1d", "invalid choice: '1d'"),
    ("table --system jax --system=numpy", "argument --system: given more than once; name one (see"),
    ("trace --json a --json b s.py", "argument --json: given more than once; name one (see"),
    ("table --dtypes ,", "no dtypes at all"),
    ("diff numpy", "required: B"), ("check .", "unknown system"),
    ("check pyproject.toml.toml", "cannot read"),
    ("--nonsense", "no command"),
    ("table --format pdf", "invalid choice"), ("explain int8:0d=300", "cannot hold 300"),
    ("systems nothing.toml", "cannot read"),
    ("consensus numpy jax --standard nothing", "unknown system 'nothing'"),
    ("design jep9407-0 --every", "--every goes with --repair; without it lattice among the rules says so"),
    ("conform nothing", "there is no recording 'nothing'; there are"),
    ("explain INT8", "unknown dtype 'INT8'; did you mean int8 or uint8?"),
    ("explain str int8", "unknown dtype 'str'; a dtype is named as int8, float16 or bfloat16 are"),
    ("explain sqrt(int8", "'sqrt(int8' is no program: '(' was never closed"),
    ("explain x+", "'x+' is no program: invalid syntax; give operators, functions"),
    ("explain <i4", "unknown dtype '<i4'"),
])  # fmt: skip
def test_bad_input_gets_one_line(capsys: pytest.CaptureFixture[str], argv: str, why: str) -> None:
    assert why in refused(capsys, *argv.split())


@pytest.mark.parametrize(
    "toml",
    ["order = 3", "name = [", 'name = "x"\norder = "a\\u001b -> b"', 'name = "a\\nb"\norder = "u8 -> u8"'],
)
@pytest.mark.parametrize(
    "argv", [["check"], ["explain", "int8", "--system"], ["table", "--system"], ["diff", "jax"], ["systems"]]
)
def test_bad_files_get_one_line_that_names_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, argv: list[str], toml: str
) -> None:
    (tmp_path / "bad.toml").write_text(toml)
    assert "bad.toml" in refused(capsys, *argv, str(tmp_path / "bad.toml"))


@pytest.mark.parametrize(
    "argv",
    [
        "draw mine.toml -o mine.toml --format svg",
        "draw numpy mine.toml -o ./mine.toml --format dot",
        "draw numpy mine.toml -o link.toml --heat agreement --format text",
        "draw upon.toml -o mine.toml --format svg",
        "draw numpy --program script.py:f x=int8 -o script.py --format svg",
        "explore --system numpy --system mine.toml -o mine.toml",
        "trace --system mine.toml --json mine.toml script.py",
        "trace --json script.py script.py",
        "design mine-complete.toml -o .",
        "design mine.toml --plan mine-complete.toml -o .",
        "watch numpy --recording RELEASE.json -o .",
    ],
)
def test_what_is_read_is_never_overwritten(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, argv: str
) -> None:
    monkeypatch.chdir(tmp_path)
    release = installed_release("numpy", {"numpy": version("numpy")})
    texts = {
        "mine.toml": 'name = "mine"\norder = "i8 -> i16"\n',
        "mine-complete.toml": 'name = "mine"\norder = "i8 -> i16"\n' if "--plan" not in argv else "",
        "upon.toml": 'name = "upon"\nextends = "mine"\n',
        "script.py": "print('ran')\n",
        f"{release}.json": "{}",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    Path("link.toml").symlink_to("mine.toml")
    told = refused(capsys, *argv.replace("RELEASE", release).split())
    assert "is a file that this command reads; name another to write" in told
    assert {name: Path(name).read_text() for name in texts} == texts
    assert len([*tmp_path.iterdir()]) == len(texts) + 1


@pytest.mark.parametrize(
    "argv",
    [
        ("explore", "--system", "\0", "--op", "add"),
        ("explore", "-o", "\0"),
        ("draw", "\0", "-o", "x.svg"),
        ("draw", "numpy", "-o", "\0.svg"),
        ("trace", "--system", "/\0", "--json", "a.json", "x.py"),
    ],
)
def test_a_name_with_a_null_character_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, argv: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert r"\x00" in refused(capsys, *argv)
    assert [*tmp_path.iterdir()] == []


def test_a_name_of_a_system_is_no_file_that_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("numpy").write_text("")
    assert said(capsys, "draw", "numpy", "-o", "numpy", "--format", "svg").strip() == "wrote numpy"


@pytest.mark.parametrize("format", FORMATS)
def test_table_in_every_format(capsys: pytest.CaptureFixture[str], format: str) -> None:
    dtypes = ("--dtypes", "int8,uint8 float", "--codes", "names")
    shown = said(capsys, "table", "--system", "jax", "--format", format, *dtypes)
    assert "int16" in shown


def test_byte_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert re.search(r" i1 +\| +i1 +i2", said(capsys, "table", "--codes", "bytes", "--dtypes", "int8,uint8"))


def test_diff_shows_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "diff", "numpy", "jax", "--dtypes", "int64,float32")
    assert "f64|f32" in shown
    assert "2 of 4 cells differ: 2 another dtype" in shown


@pytest.mark.parametrize("name", SYSTEMS)
def test_check_counts_the_pairs_without_a_join(capsys: pytest.CaptureFixture[str], name: str) -> None:
    from itertools import combinations

    order = tl.system(name).order
    pairs = list(combinations(order.nodes, 2))
    none = sum(order.join(*pair) is None for pair in pairs)
    assert f"no join       {none} of {len(pairs)} pairs" in said(capsys, "check", name)


def test_what_the_stream_cannot_encode_is_escaped(monkeypatch: pytest.MonkeyPatch, mine: str) -> None:
    Path(mine).write_text(MINE.replace("My own", "Ünïcødé"), encoding="utf-8")
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii", errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["check", mine]) == 0
    stream.flush()
    assert b"\\xdcn\\xefc\\xf8d\\xe9" in written.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    for name, value in {"NO_COLOR": "", "TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main(["diff", "numpy", "jax"]) == 0
    assert ("\x1b[" in sys.stdout.getvalue()) == coloured  # type: ignore[attr-defined]


def test_the_project_file_names_the_command() -> None:
    project = Path(__file__).parents[1] / "pyproject.toml"
    scripts = tomllib.loads(project.read_text())["project"]["scripts"]
    assert scripts == {"typelattice": "typelattice.cli.main:main"}


@pytest.mark.parametrize("enabled", [True, False])
def test_a_table_is_made_without_the_garbage_collector_which_then_is_as_it_was(
    monkeypatch: pytest.MonkeyPatch, enabled: bool
) -> None:
    def uncollected(system: str, **options: Any) -> Table:
        assert not gc.isenabled()
        return table(system, **options)

    monkeypatch.setattr(tl, "table", uncollected)
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        assert main(["table"]) == 0
        assert gc.isenabled() == enabled
        assert main(["table", "--system", "nowhere"]) == 2
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
