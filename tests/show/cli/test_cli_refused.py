"""Bad command lines get one line that says why, and no file that is read is written over."""
from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from command_line import refused, said

import typelattice as tl
from typelattice.core.registry.releases import installed_release
from typelattice.show.cli.main import main


@pytest.mark.parametrize(("argv", "why"), [
    ("explain", "required: OPERAND"), ("exlpain", "did you mean explain?); typelattice --help lists"),
    ("explain int8 --sys jax", "unrecognized arguments"),
    ("explain int8 --systme jax", "unrecognized arguments: --systme jax (did you mean --system?); see"),
    ("table --op add jax", "named by --system: type typelattice table --op add --system jax; see"),
    ("explore jax a.toml", "type typelattice explore --system jax --system a.toml; see"),
    ("table jax torch", "unrecognized arguments: jax torch; see"), ("table tier", "arguments: tier; see"),
    ("table jax add", "and an operation is named by --op: type typelattice table --system jax --op add; see"),
    ("diff jax torch add", "; an operation is named by --op: type typelattice diff jax torch --op add; see"),
    ("explain int8 i16 add", "no operand; type typelattice explain int8 i16 --op add"),
    ("emit jax --lang rust -o out/jax.rs", "a file, and several are written into a folder; type -o jax"),
    ("table jax --system torch", "unrecognized arguments: jax; see"),
    ("explain in8", "did you mean int8"), ("explain i4", "int4"), ("explain int8:1d", "cannot read '1d'"),
    ("explain int8 --system numpi", "did you mean numpy or numpy1?"),
    ("explain int8 --system no/file.toml", "cannot read"),
    ("explain int8 --op ad", "unknown operation 'ad'"), ("table --tier 1d", "invalid choice: '1d'"),
    ("table --system jax --system=numpy", "argument --system: given more than once; name one; see"),
    ("trace --json a --json b s.py", "argument --json: given more than once; name one; see"),
    ("table --dtypes ,", "no dtypes at all"),
    ("diff numpy", "required: OTHER"), ("check .", "unknown system"),
    ("check pyproject.toml.toml", "cannot read"),
    ("--nonsense", "no command"),
    ("table --format jsn", "'jsn' (did you mean json?); choose"), ("table --format pdf", "invalid choice"),
    ("emit numpy --lang rst -o x", "'rst' (did you mean rust?); choose from"),
    ("emit numpy --lang c++ -o x", "invalid choice: 'c++' (did you mean cpp17?); choose from"),
    ("--verison", "no command '--verison' (did you mean --version?); typelattice --help lists"),
    ("version", "no command 'version' (did you mean --version?)"),
    ("trace -o x s.py", "unrecognized arguments: -o (did you mean --only-script or --output?); see"),
    ("draw torch int32 uint16", "int32 is an operand, and no system; to show its ways, type typelattice"),
    ("draw torch int8", "type typelattice draw torch --highlight int8"),
    ("draw torch jax numpy", "numpy is a third system; draw two at a time"),
    ("draw torch jaxx", "unknown system 'jaxx' (did you mean jax"),
    ("help explian", "no command 'explian' (did you mean explain?)"),
    ("help explain table", "no command 'explain table'"),
    ("emit numpy --langauge rust -o x", "unrecognized arguments: --langauge (did you mean --lang?); see"),
    ("explain int8:0d=300", "cannot hold 300"),
    ("systems nothing.toml", "cannot read"),
    ("consensus numpy jax --standard nothing", "unknown system 'nothing'"),
    ("design jep9407-0 --every", "--every needs --repair; to complete an order, put lattice among the rules"),
    ("conform nothing", "there is no recording 'nothing'; there are"),
    ("explain INT8", "unknown dtype 'INT8' (did you mean int8?)"),
    ("explain str int8", "unknown dtype 'str'; dtypes have names such as int8, float16 and bfloat16"),
    ("explain decimal(10,2) int8 --system numpy",
     "numpy has no 'decimal(10,2)'; ask a system that has it: datafusion, duckdb"),
    ("explain a+1 a=decimal(9,2) --system jax --system c", "jax and c have no 'decimal(9,2)'"),
    ("explain sqrt(int8", "'sqrt(int8' is no program: '(' was never closed"),
    ("explain a*2.0+*b", "'a*2.0+*b' is no program: invalid syntax at column 7, '*b'; give operators"),
    ("explain x+", "'x+' is no program: invalid syntax at its end; give operators, functions"),
    ("explain <i4", "unknown dtype '<i4'"),
])  # fmt: skip
def test_bad_input_gets_one_line(capsys: pytest.CaptureFixture[str], argv: str, why: str) -> None:
    assert why in refused(capsys, *argv.split())


@pytest.mark.parametrize(
    "words", [("float32", "+", "int64"), ("x", "+=", "y"), ("-", "x"), ("a", "*", "b", "@", "c")]
)
def test_an_expression_without_quotes_is_told_them(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    told = f"explain: an expression is one argument: typelattice explain '{' '.join(words)}'"
    assert refused(capsys, "explain", "--", *words) == f"typelattice: {told}\n"


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
        "watch numpy --recording RELEASE.jsonl -o .",
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


def test_an_error_line_has_a_thousand_characters_at_most(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise tl.TypelatticeError("x" * 2_000)

    monkeypatch.setattr("typelattice.show.cli.main.run", fail)
    assert main([]) == 2
    assert len(capsys.readouterr().err.rstrip("\n")) == 1_000
