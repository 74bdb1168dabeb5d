"""Older releases: which file states their rules, how they are named, how their recordings are kept."""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from kept import kept

import typelattice as tl
from typelattice.cli.main import main
from typelattice.engine.rules import Rules
from typelattice.facts.libraries import libraries, recordings
from typelattice.facts.releases import installed_release, release_of, releases
from typelattice.files.reader import parse
from typelattice.files.releases import release
from typelattice.files.text import FOLDER
from typelattice.recorded.answers import NOT_ASKED
from typelattice.recorded.lookup import look_up
from typelattice.recorded.reading import Reader
from typelattice.recorded.recording import RECORDINGS, Recording, base_of, recorded
from typelattice.recorded.rows import RecordingError

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import releases as tool

OLDER = [name for name in tl.systems(versions=True) if "@" in name]
FILES = sorted(path.stem for path in Path(FOLDER).glob("*@*.toml"))


def where(system: str) -> object:
    """What `np.where(condition, x, 65536)` of an int16 array comes to: NumPy wrapped until 2.4."""
    return tl.system(system).explain("int16", 65536, op="where").dtype


# -- systems of older releases


def test_an_older_release_has_the_rules_of_its_time() -> None:
    assert str(where("numpy@2.4")) == "int16"
    assert where("numpy") is None


def test_a_release_that_changed_nothing_shares_the_file_of_the_next_one() -> None:
    assert "numpy@2.4" in FILES
    assert str(where("numpy@2.0")) == "int16"


def test_the_name_alone_is_the_newest_release() -> None:
    for name in tl.systems():
        if releases(name):
            assert tl.system(f"{name}@{releases(name)[-1]}") is tl.system(name)


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
    known = releases(plain)
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
            "unknown system 'nunpy@2.4'; did you mean numpy or numpy1?; `typelattice systems` lists them",
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
    assert "2.3" not in releases("numpy")
    assert release("numpy-ml-dtypes@2.3").stem("numpy") == "numpy@2.4"
    assert release("numpy-ml-dtypes@2.3").stem("numpy-ml-dtypes") == "numpy-ml-dtypes@2.4"
    assert release("jax@0.4").stem("numpy") == "numpy"


# -- the entries of another file's table


def test_three_dots_stand_for_the_other_files_entries() -> None:
    s = parse('name = "mine"\nextends = "numpy"\n[defaults]\n"..." = true\nfloat = "f32"\n')
    assert {str(d) for d in s.defaults.values()} == {"int64", "float32", "complex128"}
    alone = parse('name = "mine"\nextends = "numpy"\n[defaults]\nfloat = "f32"\n')
    assert {str(d) for d in alone.defaults.values()} == {"float32"}


def test_an_answer_names_the_file_that_states_the_entry() -> None:
    text = 'name = "mine"\nextends = "numpy"\n[ops]\n"..." = true\nfloor = { takes = "float" }\n'
    mine = parse(text, "mine.toml")
    assert mine.explain("int8", op="floor").rule.file == "mine.toml"
    assert mine.explain("bool", op="negative").rule.file in ("numpy.toml", "standard.txt")


@pytest.mark.parametrize("value", ["false", "{}", '"numpy"'])
def test_three_dots_are_true_or_not_there(value: str) -> None:
    with pytest.raises(tl.FormatError, match=r"ops: `\"\.\.\.\" = true` stands for the entries of the file"):
        parse(f'name = "mine"\nextends = "numpy"\n[ops]\n"..." = {value}\n')


def test_three_dots_need_a_file_that_is_extended() -> None:
    with pytest.raises(
        tl.FormatError, match=r'`"\.\.\." = true` stands for the entries of the file that `extends` names'
    ):
        parse('name = "mine"\norder = "b"\n[sets]\n"..." = true\n')


# -- the system of what is installed


def test_a_live_comparison_takes_the_system_of_the_installed_release() -> None:
    known = [
        release_of("numpy", version) for version in ("1.26.4", "2.0.2", "2.3.1", "2.4.6", "2.5.5", "3.0.0rc1")
    ]
    assert known == ["numpy@2.0", "numpy@2.0", "numpy@2.4", "numpy@2.4", "numpy", "numpy"]
    assert installed_release("numpy", {"numpy": "2.4.6", "ml_dtypes": "0.6.0"}) == "numpy@2.4"
    assert installed_release("numpy@2.0", {"numpy": "2.4.6"}) == "numpy@2.0"
    assert installed_release("mine:Library", {"mine": "1"}) == "mine:Library"


def test_the_installed_numpy_is_compared_with_its_own_release(capsys: pytest.CaptureFixture[str]) -> None:
    numpy = pytest.importorskip("numpy")
    system = release_of("numpy", numpy.__version__)
    assert main(["conform", "numpy", "--live", "300"]) == 0
    assert f"numpy against the system {system}:" in capsys.readouterr().out


def test_another_release_than_the_installed_one_cannot_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    numpy = pytest.importorskip("numpy")
    other = next(
        name for name in OLDER if name.startswith("numpy@") and name != release_of("numpy", numpy.__version__)
    )
    assert main(["conform", other, "--live", "10"]) == 2
    told = capsys.readouterr().err
    assert f"{other} cannot be asked: numpy {numpy.__version__} is installed; pip install 'numpy==" in told


# -- recordings of older releases


@pytest.mark.parametrize("name", [name for name in recorded() if "@" in name])
def test_a_recording_of_an_older_release_answers_the_same_questions(name: str) -> None:
    recording, base = kept(name), kept(name.partition("@")[0])
    assert recording.operands == base.operands
    for ours, theirs in ((recording.unary, base.unary), (recording.binary, base.binary)):
        assert {op: asked.operands for op, asked in ours.items()} == {
            op: asked.operands for op, asked in theirs.items()
        }
    assert [call[:2] for call in recording.nary] == [call[:2] for call in base.nary]
    version = next(iter(recording.versions.values()))
    assert release_of(name.partition("@")[0], version) == name


@pytest.mark.parametrize("name", recorded())
def test_a_recording_is_of_the_versions_that_the_registry_installs(name: str) -> None:
    entry, versions = recordings()[name], kept(name).versions
    compared = 0
    for known in libraries().values():
        for package in known.packages.get(entry.environment, ()):
            package_of, _, version = re.sub(r"\[.*\]", "", package).partition("==")
            if package_of in versions:  # of an environment, a recording names what it rests on
                assert versions[package_of].partition("+")[0] == version  # 2.13.0+cpu is a build of 2.13.0
                compared += 1
    assert compared or name in ("c", "c-llp64")  # which a compiler answers, and no package


BASES = {
    name: base_of(Reader(name, json.loads((RECORDINGS / f"{name}.json").read_text()))) for name in recorded()
}
RESTING = {name: base for name, base in BASES.items() if base is not None}


def test_recordings_of_older_releases_rest_on_the_newest() -> None:
    assert {name: RESTING[name] for name in recorded() if "@" in name} == {
        name: name.partition("@")[0] for name in recorded() if "@" in name
    }


def test_what_a_recording_rests_on_may_rest_on_a_third_and_ends_at_a_whole_one() -> None:
    assert BASES["keras-tensorflow@3.12"] == "keras-tensorflow"
    assert BASES["keras-tensorflow"] == "keras-jax"
    for name in RESTING:
        beneath = [name]
        while (base := BASES[beneath[-1]]) is not None:
            assert base not in beneath
            beneath.append(base)


@pytest.mark.parametrize("name", RESTING)
def test_a_recording_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    recording = kept(name)
    recording.save_changes(tmp_path / "again.json", RESTING[name])
    assert (tmp_path / "again.json").read_text() == (RECORDINGS / f"{name}.json").read_text()
    recording.save(tmp_path / "whole.json")
    assert Recording.load(tmp_path / "whole.json") == recording


def test_what_a_release_lacks_is_stated_once_and_no_call_of_it_was_asked() -> None:
    document = json.loads((RECORDINGS / "mlx@0.29.json").read_text(encoding="utf-8"))
    assert "positive" in document["lacks"]["operations"]
    answers = [call.answer for call in Recording.load("mlx@0.29").calls() if call.op == "positive"]
    assert {*answers} == {NOT_ASKED}
    assert tl.observed(tl.system("mlx@0.29").explain("int8", op="positive")) is None
    assert tl.observed(tl.system("mlx").explain("int8", op="positive")) is not None


def test_an_exception_says_what_it_said_in_the_older_release() -> None:
    newer, older = (look_up(name, "ceil", ("complex64",)) for name in ("mlx", "mlx@0.29"))
    assert newer is not None and older is not None
    assert newer.answer == older.answer
    assert "[ceil]" in newer.message and "[floor]" in older.message
    assert older in [*Recording.load("mlx@0.29").calls()]


DAMAGE: dict[str, Callable[[dict[str, object]], object]] = {
    r"base: 'nothing' is no recording that comes along": lambda d: d.update(base="nothing"),
    r"base: 'numpy@2.4' is no recording that comes along": lambda d: d.update(base="numpy@2.4"),
    r"base: 1 is not a string": lambda d: d.update(base=1),
    r"format: is 1, this version reads \d": lambda d: d.update(format=1),
    r"digest: the recording numpy that it rests on is another by now": lambda d: d.update(digest="0"),
    r"unary.floor, entry 1: is no \[row, its numbers\]": lambda d: d.update(
        unary={"floor": {"rows": [["!"]]}}
    ),
    r"unary.floor, entry 1, entry 1: there is no operand 1": lambda d: d.update(
        unary={"floor": {"rows": [["!", [1]]]}}
    ),
    r"unary.mine: is no operation of the recording": lambda d: d.update(unary={"mine": {"rows": []}}),
    r"unary.floor, entry 1, column 2: '~' is no answer": lambda d: d.update(
        unary={"floor": {"rows": [[" ~", [0]]]}}
    ),
    r"unary.floor: 9999 answers, not \d+": lambda d: d.update(unary={"floor": {"rows": [["!" * 9999, [0]]]}}),
    r"binary.add, entry 1, entry 1: there is no operand 9999": lambda d: d.update(
        binary={"add": {"rows": [["!", [9999]]]}}
    ),
    r"nary, entry 1: is no \[number of a call, answer\]": lambda d: d.update(nary=[[1]]),
    r"answers, entry 1: 1 is not a string": lambda d: d.update(answers=[1]),
    r"reworded\.!MyError#1: is no exception of the recording that it rests on": lambda d: d.update(
        reworded={"!MyError#1": "no"}
    ),
    r"lacks: is not an object": lambda d: d.update(lacks=[]),
    r"lacks\.operations, entry 1: the base was not asked of 'mine'": lambda d: d.update(
        lacks={"operations": ["mine"], "operands": []}
    ),
    r"lacks\.operands, entry 2: the base was not asked of 'mine'": lambda d: d.update(
        lacks={"operations": [], "operands": ["int8", "mine"]}
    ),
}


@pytest.mark.parametrize("told", DAMAGE)
def test_a_damaged_recording_of_changes_is_refused_by_its_place(told: str, tmp_path: Path) -> None:
    document = json.loads((RECORDINGS / "numpy@2.0.json").read_text(encoding="utf-8"))
    DAMAGE[told](document)
    (tmp_path / "damaged.json").write_text(json.dumps(document))
    with pytest.raises(RecordingError, match=told):
        Recording.load(tmp_path / "damaged.json")


# -- the environments of older releases


def test_an_environment_is_made_again_once_the_registry_names_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[object, ...]] = []
    finds = tmp_path / "tools" / "find-python"
    finds.parent.mkdir()
    finds.write_text("#!/bin/sh\necho python\n")
    finds.chmod(0o755)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "packages", lambda environment: [f"{environment}==1.0"])

    def run(*command: object) -> None:
        made.append(command)
        (tmp_path / ".venv-mine").mkdir(exist_ok=True)

    monkeypatch.setattr(tool, "run", run)
    for _ in range(2):
        assert tool.installed("mine", tmp_path)[1] is None
    assert [command[-1] for command in made] == [tmp_path / ".venv-mine", "mine==1.0"]
    monkeypatch.setattr(tool, "packages", lambda environment: [f"{environment}==1.1"])
    assert tool.installed("mine", tmp_path)[1] is None
    assert made[-1][-1] == "mine==1.1"
