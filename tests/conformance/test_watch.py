"""Watching a library: what has changed since it was recorded, what is proposed, and how it ends."""
from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from forked import fork_libraries

from typelattice.conformance.recording.library import MissingLibraryError
from typelattice.conformance.recording.load_library import load_library
from typelattice.core.evidence.recording_files import load_recording
from typelattice.show.cli.main import main

# A made-up library, at a release: its dtypes, what adding an int8 and an int16 gives, what else it can do.
MODULE = '''
from typelattice.conformance.recording.library import NoSuchOperandError, ParsedOperandString

RELEASE, DTYPES, SUM, FURTHER = {facts!r}


def add(x, y):
    if "refused" in SUM and x != y:
        raise TypeError("no")
    return x if x == y else SUM


class Fake:
    name, how, versions = "fake", "made up", {{"fake": RELEASE}}

    def dtypes(self):
        return DTYPES

    def make(self, operand):
        parsed = ParsedOperandString.parse(operand)
        if parsed.dtype is None or parsed.tier != "array":
            raise NoSuchOperandError(operand)
        return parsed.dtype

    def read(self, result):
        return result

    def operations(self):
        return {{"add": add, **{{op: add for op in FURTHER}}}}
'''
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a release of the made-up library where it can be imported."""
    monkeypatch.chdir(tmp_path)
    fork_libraries(monkeypatch)

    def put(
        release: str,
        dtypes: tuple[str, ...] = ("int8", "int16"),
        added: str = "int16",
        further: tuple[str, ...] = (),
    ) -> None:
        (tmp_path / "fake.py").write_text(MODULE.format(facts=(release, dtypes, added, further)))

    put("1.0")
    assert main(["record", "fake:Fake", "-o", "fake.jsonl"]) == 0
    return put


def watch(*options: str) -> int:
    return main(["watch", "fake:Fake", "--recording", "fake.jsonl", *options])


def test_nothing_has_changed(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("1.0.1")
    capsys.readouterr()
    assert watch() == 0
    told = capsys.readouterr().out
    assert told.startswith("fake:Fake: fake 1.0.1 answers as fake 1.0 did on ")
    assert told.endswith("(4 calls)\n")


def test_a_changed_answer_is_told_as_diff_tells_it(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("2.0.0", added="float32")
    capsys.readouterr()
    assert watch() == 1
    told = capsys.readouterr().out
    assert "fake:Fake: fake 2.0.0 has changed since fake 1.0 was recorded on " in told
    assert "all operations: fake:Fake (recorded), then fake 2.0.0 (installed)" in told
    assert "add | 2      4  int8, int16: int16 -> float32" in told
    assert "2 of 4 calls differ, in 1 of 1 operations" in told


def test_a_new_refusal_is_a_change(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("2.0.0", added="refused")
    capsys.readouterr()
    assert watch() == 1
    assert "int8, int16: int16 -> refused" in capsys.readouterr().out


def test_dtypes_and_operations_come_and_go(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("2.0.0", dtypes=("int8", "float8_e5m2"), added="int8", further=("maximum",))
    capsys.readouterr()
    assert watch() == 1
    told = capsys.readouterr().out
    assert "gone: int16\n" in told
    assert "new: float8_e5m2, maximum\n" in told
    assert "differ of" not in told  # what both were asked is the same


def test_the_proposed_recording_takes_the_place_of_the_old_one(
    install: Install, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    install("2.0.0", dtypes=("int8", "int16", "float32"), added="float32", further=("maximum",))
    (tmp_path / "proposed").mkdir()
    capsys.readouterr()
    assert watch("-o", "proposed") == 1
    proposed = tmp_path / "proposed" / "fake.Fake.jsonl"
    assert f"proposed recording: {proposed.relative_to(tmp_path)}\n" in capsys.readouterr().out
    recording = load_recording(proposed)
    assert recording.versions == {"fake": "2.0.0"}
    assert recording.require_answer("maximum", "int8", "float32") == "float32"
    assert main(["watch", "fake:Fake", "--recording", str(proposed)]) == 0


def test_nothing_is_proposed_if_nothing_has_changed(install: Install, tmp_path: Path) -> None:
    (tmp_path / "proposed").mkdir()
    assert watch("-o", "proposed") == 0
    assert not [*(tmp_path / "proposed").iterdir()]


def test_news_as_json(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("2.0.0", added="float32")
    capsys.readouterr()
    assert watch("--format", "json") == 1
    (told,) = json.loads(capsys.readouterr().out)["libraries"]
    assert told["installed"] == {"fake": "2.0.0"} and told["recorded"]["versions"] == {"fake": "1.0"}
    assert told["compared"] == 4 and told["gone"] == told["new"] == [] and told["proposed"] is None
    assert told["changed"] == [
        {"op": "add", "operands": ["int8", "int16"], "before": "int16", "after": "float32"},
        {"op": "add", "operands": ["int16", "int8"], "before": "int16", "after": "float32"},
    ]


@pytest.mark.whole
def test_the_installed_numpy_answers_as_its_release_was_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    numpy = pytest.importorskip("numpy")
    if not numpy.__version__.startswith(("2.4.", "2.5.")):
        pytest.skip(f"no recording is of NumPy {numpy.__version__}")
    assert main(["watch", "numpy"]) == 0, capsys.readouterr().out
    assert f"numpy {numpy.__version__} answers as numpy 2." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("watch nunpy", "no library is recorded as 'nunpy' (did you mean numpy or numpy1?)"),
        ("watch fake:Fake", "watch: fake:Fake has no built-in recording; make one with"),
        ("watch fake:Fack --recording fake.jsonl", "fake:Fack cannot be made"),
        ("watch --recording fake.jsonl", "--recording compares one library; name only that library"),
        ("watch fake:Fake numpy --recording fake.jsonl", "--recording compares one library"),
        ("watch fake:Fake --recording no.jsonl", "no.jsonl"),
        ("watch fake:Fake --recording fake.jsonl -o nowhere", "nowhere"),
        ("watch numpy@1.0", "no library is recorded as 'numpy@1.0' (did you mean"),
    ],
)
def test_bad_input_ends_with_two(
    install: Install, line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(line.split()) == 2
    shown = capsys.readouterr()
    assert told in shown.err and shown.err.startswith("typelattice: ") and shown.err.count("\n") == 1
    assert not shown.out


def test_of_two_libraries_one_of_which_cannot_be_asked_nothing_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside an error stands no part of an answer, not even the whole of the first."""

    def news(name: str, _: object) -> tuple[bool, None]:
        return (False, None) if name == "numpy" else load_library(name)  # type: ignore[return-value]  # it raises

    monkeypatch.setattr("typelattice.show.cli.commands.watch._find_library_changes", news)
    as_it_was = lambda name, found, proposed: [f"{name}: as it was"]  # noqa: E731
    monkeypatch.setattr("typelattice.show.cli.commands.watch._describe_news", as_it_was)
    no_data = lambda name, found, proposed: {}  # noqa: E731
    monkeypatch.setattr("typelattice.show.cli.commands.watch._changes_as_data", no_data)
    assert main(["watch", "numpy"]) == 0
    assert capsys.readouterr().out == "numpy: as it was\n"
    assert main(["watch", "numpy", "nothing"]) == 2
    assert capsys.readouterr().out == ""


def test_watching_where_no_library_is_installed_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job whose installation failed must not end as if nothing had changed."""
    monkeypatch.setattr("typelattice.show.cli.commands.watch.find_spec", lambda name: None)
    assert main(["watch"]) == 2
    assert "no library that was recorded is installed" in capsys.readouterr().err


def test_a_library_that_is_installed_and_cannot_be_imported_is_an_error(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Leaving it out would end a broken job as if nothing had changed."""
    (tmp_path / "triton.py").write_text("raise ImportError('no such symbol')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    monkeypatch.setattr("typelattice.show.cli.commands.watch.recording_names", lambda: ("triton",))
    assert main(["watch"]) == 2
    told = capsys.readouterr().err
    assert "triton cannot be asked: no such symbol; pip install 'triton==" in told and "left out" not in told


def test_what_is_left_out_is_one_bounded_line(
    install: Install, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def news(name: str, _: object) -> None:
        raise MissingLibraryError("many\nlines\n" * 1_000)

    monkeypatch.setattr("typelattice.show.cli.commands.watch._find_library_changes", news)
    monkeypatch.setattr("typelattice.show.cli.commands.watch._find_installed", lambda: ("triton",))
    capsys.readouterr()
    assert main(["watch"]) == 2
    left_out, nothing = capsys.readouterr().err.splitlines()
    assert len(left_out) <= 1_000 and left_out.startswith("typelattice: left out: many")
    assert "nothing was asked" in nothing
