"""`typelattice compare`: planted mistakes are found, each cause once; agreeing calls give no alarm."""
from __future__ import annotations

import importlib.metadata
import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from forked import fork_libraries
from jsonschema import Draft202012Validator
from planted import Faithful

import typelattice as tl
from typelattice.conformance.imitations.compare_implementation import find_imitated
from typelattice.conformance.imitations.difference_reproducer import write_snippet
from typelattice.conformance.imitations.implementation import implementations, load_implementation
from typelattice.conformance.imitations.implementation_differences import (
    ACCEPTS_REFUSED,
    OTHER_DTYPE,
    REFUSES_ACCEPTED,
    Difference,
    calls_of_system,
    group_by_cause,
    some_of_each_class,
)
from typelattice.conformance.imitations.known_differences import (
    known_differences_json,
    read_known_differences,
    select_unknown,
)
from typelattice.conformance.pytest import imitation_tests
from typelattice.conformance.recording.in_process_library import Catalogue
from typelattice.conformance.recording.library import MissingLibraryError
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.registry.libraries import libraries
from typelattice.show.cli.main import main

HERE = Path(__file__).parents[1]
PLANTED = ["compare", "planted:Planted", "--with", "numpy", "--limit", "0.3"]
SOME = Catalogue("some", {}, "", "", ("int8",), ("int8", "float16:0d"), ("add",), (), ())


@pytest.fixture(autouse=True)
def beside_the_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    monkeypatch.syspath_prepend(str(HERE))
    fork_libraries(monkeypatch)


def reported(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    main([*words, "--format", "json"])
    return json.loads(capsys.readouterr().out)


def test_every_planted_mistake_is_found_once_and_none_is_invented(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLANTED, "--format", "json"]) == 1
    told = capsys.readouterr().out
    assert "noise" not in told
    found = json.loads(told)
    assert found["compared"] > 1000
    assert {(cause["sort"], cause["cause"], cause["calls"]) for cause in found["causes"]} == {
        ("breaks down", "real-maths: the process died", 1),
        ("breaks down", "real-maths: no answer within the time limit", 1),
        ("refuses what is accepted", "ValueError: bool has no kernel …", 37),
        (
            "accepts what is refused",
            "TypeError: ufunc … not supported for the input types, and the inputs could not be safely "
            "coerced to any supported types according to the casting rule …safe…",
            2,
        ),
        ("another dtype", "arithmetic: a narrower signed", 4),
    }
    examples = [cause["example"] for cause in found["causes"]]
    assert ["+", ["int8", "uint8"]] in [[e["op"], e["operands"]] for e in examples]


def test_a_call_that_takes_all_memory_costs_that_call(capsys: pytest.CaptureFixture[str]) -> None:
    (cause,) = reported(capsys, "compare", "planted:Leaking", "--with", "numpy")["causes"]
    assert (cause["cause"], cause["calls"]) == ("arithmetic: the process died", 1)
    assert cause["example"]["operands"] == ["int8", "int8"]


def test_classes_that_read_one_table_have_one_cause(capsys: pytest.CaptureFixture[str]) -> None:
    found = reported(capsys, "compare", "planted:OneEntry", "--with", "numpy")
    assert sorted(cause["cause"] for cause in found["causes"]) == [
        "accumulate: unsigned for signed",
        "arithmetic, extreme, merge: a narrower signed",
    ]


def test_differences_that_one_wrong_rule_explains_have_one_cause(capsys: pytest.CaptureFixture[str]) -> None:
    found = reported(capsys, "compare", "planted:LeftOperand", "--with", "numpy")
    assert [cause["cause"] for cause in found["causes"]] == ["division: the first operand's dtype"]
    assert found["causes"][0]["calls"] > 20
    assert main(["compare", "planted:LeftOperand", "--with", "numpy"]) == 1
    assert "/(bool, bool) = bool, expected float64" in capsys.readouterr().out


def test_a_test_of_an_imitation_fails_with_new_causes_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imitation_tests("planted:Faithful", "numpy", calls=300)()
    known = tmp_path / "known.json"
    assert main(["compare", "planted:OneEntry", "--with", "numpy", "--known", str(known), "--update"]) == 0
    imitation_tests("planted:OneEntry", "numpy", known)()
    name = "another dtype: accumulate: unsigned for signed"
    known.write_text(json.dumps({key: n for key, n in json.loads(known.read_text()).items() if key != name}))
    with pytest.raises(AssertionError, match="unsigned for signed") as failed:
        imitation_tests("planted:OneEntry", "numpy", known)()
    assert "narrower" not in str(failed.value)


def test_a_thousand_agreeing_calls_give_no_alarm(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "planted:Faithful", "--with", "numpy", "--calls", "1000", "--seed", "3"]
    found = reported(capsys, *words)
    assert (found["compared"], found["causes"]) == (1000, [])


def test_dtypes_that_one_side_lacks_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "planted:Faithful", "--with", "tiny:Tiny", "--limit", "1"]
    found = reported(capsys, *words)
    assert found["not_asked"] == [
        {"of": "tiny:Tiny", "lacked_by": "planted:Faithful", "dtypes": ["int16"]},
        {"of": "planted:Faithful", "lacked_by": "tiny:Tiny", "dtypes": ["bool", "uint8", "float16"]},
    ]
    schema = json.loads((HERE.parent / "docs" / "output.schema.json").read_text(encoding="utf-8"))
    assert not [*Draft202012Validator(schema).iter_errors(found)]
    main(words)
    assert capsys.readouterr().out.splitlines()[1:3] == [
        "not asked: int16 of tiny:Tiny, which planted:Faithful lacks",
        "not asked: bool, uint8, float16 of planted:Faithful, which tiny:Tiny lacks",
    ]
    found = reported(capsys, "compare", "planted:Faithful", "--with", "numpy", "--calls", "9")
    (only,) = found["not_asked"]
    assert (only["of"], only["lacked_by"]) == ("numpy", "planted:Faithful")
    assert {*only["dtypes"], *Faithful().dtypes()} == {*map(str, tl.system("numpy").dtypes)}


def test_a_rule_answers_for_dtypes_that_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It refuses them, so only those are left out that the implementation lacks."""
    (tmp_path / "mine.toml").write_text('name = "mine"\ntitle = "Mine"\norder = "i8 -> i16 -> f32"\n')
    words = ["compare", "planted:Faithful", "--with", str(tmp_path / "mine.toml"), "--calls", "9"]
    only = {"of": "mine", "lacked_by": "planted:Faithful", "dtypes": ["int16"]}
    assert reported(capsys, *words)["not_asked"] == [only]


def test_random_calls_come_from_each_class_alike() -> None:
    questions = [("add", (f"{n}",)) for n in range(90)] + [("sin", (f"{n}",)) for n in range(10)]
    chosen = some_of_each_class(questions, 30, seed=1)
    assert [op for op, _ in chosen].count("sin") == 10 and len({*chosen}) == 30
    assert chosen != some_of_each_class(questions, 30, seed=2)
    assert sorted(some_of_each_class(questions, 1000, seed=1)) == sorted(questions)
    rare = [
        ("+", ("1.5", "int8")), ("+", ("int8", "1.5")), ("add", ("int8", "1.5")),
        ("linalg_own", ("int8",)), ("linalg_other", ("int8",)),
    ]  # fmt: skip
    assert {*rare} <= {*some_of_each_class([*questions, *rare], 7, seed=1)}


def test_an_implementation_is_compared_with_the_installed_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "2.13.0+cpu")
    assert (find_imitated("torch-meta"), find_imitated("dask-chunked")) == ("torch@2.13", "dask-computed")
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "99")
    assert find_imitated("torch-meta") == "torch"


def test_one_implementation_is_compared_with_another(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "planted:Faithful", "--with", "planted:Faithful", "--calls", "300"]) == 0
    assert main(["compare", "planted:OneEntry", "--with", "planted:Faithful"]) == 1
    assert "planted:OneEntry (faithful 1.0) with planted:Faithful (faithful 1.0)" in capsys.readouterr().out


def test_what_is_wrong_in_programs_alone_is_found_by_its_smallest_part(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--calls", "60", "--programs", "150"]
    assert main(["compare", "planted:Faithful", "--with", "numpy", *words]) == 0
    assert main(["compare", "planted:Fusing", "--with", "numpy"]) == 0
    capsys.readouterr()
    found = reported(capsys, "compare", "planted:Fusing", "--with", "numpy", *words)["causes"]
    assert [(cause["sort"], cause["cause"]) for cause in found] == [
        ("another dtype", "arithmetic in programs: always float32")
    ]
    assert found[0]["example"]["op"] == "add then multiply"
    assert main(["compare", "planted:Fusing", "--with", "planted:Faithful", *words]) == 1
    assert main(["compare", "planted:Counting", "--with", "numpy", *words]) == 2
    assert "counting has no method ask_chain(operations, operands); add it" in capsys.readouterr().err


def test_a_wrong_call_within_a_program_is_reported_as_that_call(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--with", "numpy", "--calls", "1", "--seed", "1", "--programs", "200"]
    found = reported(capsys, "compare", "planted:LeftOperand", *words)["causes"]
    assert [cause["cause"] for cause in found] == ["division: the first operand's dtype"]
    assert found[0]["example"]["op"] == "/"


@pytest.mark.parametrize("asked", [(), ("--programs", "150"), ("--programs", "150", "--calls", "1")])
def test_a_mistake_is_one_cause_of_calls_and_of_programs(
    asked: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    found = reported(capsys, "compare", "planted:WrongBesideWeak", "--with", "planted:Weakening", *asked)
    (cause,) = found["causes"]
    assert cause["sort"] == "another dtype"
    assert cause["cause"] in ("arithmetic: a wider float", "arithmetic: always float32")


def test_an_own_implementation_says_how_programs_write_its_calls(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "planted:Written", "--with", "numpy", "--calls", "60"]) == 1
    shown = [line.partition("| ")[2] for line in capsys.readouterr().out.splitlines() if "| " in line]
    assert shown[0] == "import numpy" and shown[-1].startswith("print(x.dtype) ")
    assert shown[-2].startswith("print((x / ")
    assert main(["compare", "planted:LeftOperand", "--with", "numpy", "--calls", "60"]) == 1
    assert "no programs: planted:LeftOperand has no attribute `forms`" in capsys.readouterr().out
    assert main(["compare", "planted:Faithful", "--with", "numpy", "--calls", "60"]) == 0
    assert "no programs" not in capsys.readouterr().out


def test_a_program_that_differs_for_a_call_does_not_count_it_twice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["compare", "planted:WrongBesideWeak", "--with", "planted:Weakening"]
    calls, both = (
        reported(capsys, *words, *more)["causes"][0]["calls"] for more in ([], ["--programs", "60"])
    )
    assert calls == both > 10


def test_other_values_are_found_and_rounding_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--with", "planted:Counting", "--values"]
    assert main(["compare", "planted:Counting", *words]) == 0
    assert "0 calls differ" in capsys.readouterr().out
    found = reported(capsys, "compare", "planted:Miscounting", *words)
    assert {(cause["sort"], cause["cause"]) for cause in found["causes"]} == {
        ("another value", "add: signed"),
        ("another value", "floor_divide: signed"),
        ("another value", "floor_divide: unsigned"),
        ("another value", "floor_divide: float"),
    }
    first = next(cause["example"] for cause in found["causes"] if cause["cause"] == "add: signed")
    assert (first["operands"], first["values"]) == (
        ["int8=100", "int8=100"], {"expected": "-56", "found": "127"},
    )  # fmt: skip
    assert main(["compare", "planted:Miscounting", *words[:2], "--calls", "30"]) == 0  # not asked for
    assert main(["compare", "planted:Miscounting", *words]) == 1
    assert "add(int8=100, int8=100) = int8: 127, expected -56" in capsys.readouterr().out


def test_known_differences_may_only_shrink(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "known.json"
    words = ["compare", "planted:OneEntry", "--with", "numpy", "--known", str(file)]
    assert main([*words, "--update"]) == 0
    known = json.loads(file.read_text())
    assert len(known) == 4  # a cause of several classes is known by each
    assert known["another dtype: extreme: a narrower signed"] == {
        "maximum, minimum": ["int8 int8:0d, uint8 uint8:0d", "uint8 uint8:0d, int8 int8:0d"]
    }
    assert main(words) == 0
    name = "another dtype: merge: a narrower signed"
    shorter = {"concat": ["int8, uint8"]}
    file.write_text(json.dumps(known | {name: shorter, "another dtype: of old: gone": {"add": ["int8"]}}))
    capsys.readouterr()
    assert main([*words, "--update"]) == 1
    shown = capsys.readouterr().out
    assert "1 another dtype: arithmetic, extreme, merge: a narrower signed" in " ".join(shown.split())
    assert json.loads(file.read_text()) == known | {name: shorter}


def test_a_difference_that_came_is_no_known_one_that_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "known.json"
    words = ["compare", "planted:OneEntry", "--with", "numpy", "--known", str(file)]
    assert main([*words, "--update"]) == 0
    known = file.read_text()
    file.write_text(known.replace("int8 int8:0d, uint8 uint8:0d", "int8 int8:0d, uint8 float32"))
    capsys.readouterr()
    assert main(words) == 1  # as many calls as were known, and other ones
    assert "(int8, uint8:0d) = int8, expected int16" in capsys.readouterr().out
    assert main([*words, "--update"]) == 1
    assert "float32" not in file.read_text()
    file.write_text('{"another dtype: arithmetic: a narrower signed": 4}')
    assert main(words) == 2
    assert "must be an object of causes and their calls; remove it" in capsys.readouterr().err


def test_calls_of_several_operands_are_known_one_by_one(tmp_path: Path) -> None:
    def differ(*operands: str) -> Difference:
        return Difference(RecordedCall("concat", operands, "int8"), RecordedCall("concat", operands, "int16"))

    calls = [("int8",), ("uint8",), *product(("int8", "bool"), ("int8",), ("uint8", "bool"))]
    found = group_by_cause(differ(*operands) for operands in calls)
    file = tmp_path / "known.json"
    file.write_text(known_differences_json(found))
    assert json.loads(file.read_text()) == {
        "another dtype: merge: a wider signed": {"concat": ["bool int8, int8, bool uint8", "int8 uint8"]}
    }
    known = read_known_differences(file)
    assert not select_unknown(found, known)
    (new,) = select_unknown(group_by_cause([*found[0].differences, differ("int8", "bool", "bool")]), known)
    assert [each.found.operands for each in new.differences] == [("int8", "bool", "bool")]


@pytest.mark.parametrize(
    "words, told",
    [
        (["planted:Planted"], "planted:Planted imitates nothing that is known here; name a system"),
        (["planted:Nothing", "--with", "numpy"], "has neither the method ask nor those of a library"),
        (["planted:NoTiers", "--with", "numpy"], "tiers must be a list of array, 0d, scalar, weak, not ("),
        (["planted:HalfWritten", "--with", "numpy"], "forms must be a dictionary with setup, array"),
        (["planted:OneName", "--with", "numpy"], "operations must be a list, not 'add'"),
        (["planted:Planted", "--with", "nosystem"], "nosystem"),
        (["planted:Planted", "--with", "torch-mota"], "'torch-mota' (did you mean torch-meta or torch-aot?)"),
        (["torch-mota"], "unknown implementation 'torch-mota' (did you mean torch-meta or torch-aot?)"),
        (["zzz"], "unknown implementation 'zzz'; built in: torch-eager"),
        (["planted:Faithful", "--with", "numpy", "--update"], "name it with --known"),
        (["planted:Faithful", "--with", "numpy", "--known", "planted.py"], "cannot be read"),
        (["planted:Counting", "--with", "planted:Silent", "--values"], "planted:Silent tells no values"),
        (["planted:Silent", "--with", "planted:Counting", "--values"], "planted:Silent tells no values"),
        (["planted:Counting", "--with", "jep9407-0", "--values"], "jep9407-0 has rules and no values"),
    ],
)
def test_a_mistake_of_the_caller_is_one_line(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *words]) == 2
    output = capsys.readouterr()
    assert told in output.err and output.err.count("\n") == 1 and not output.out


@pytest.mark.parametrize("missing", ["numpy", "torch"])
def test_what_is_missing_is_named_with_the_command_that_installs_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(
        sys.modules, "typelattice.conformance.imitations.alternative_implementations.torch", raising=False
    )
    monkeypatch.setitem(sys.modules, missing, None)
    told = rf"torch-meta cannot be asked: .*{missing}.*; pip install .*'{missing}=="
    with pytest.raises(MissingLibraryError, match=told):
        load_implementation("torch-meta")


def test_a_system_without_a_recording_answers_by_its_rules(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\norder = "i8 -> f16"\n')
    calls = calls_of_system(tl.system(file), SOME)
    assert RecordedCall("add", ("int8", "float16:0d"), "float16") in calls


def test_a_cause_is_named_without_dtypes_and_operations() -> None:
    def refused(op: str, dtype: str) -> Difference:
        message = f'"{op}_cpu" not implemented for \'{dtype}\''
        return Difference(
            RecordedCall(op, (dtype,), dtype), RecordedCall(op, (dtype,), "!NotImplementedError", message)
        )

    (cause,) = group_by_cause([refused("exp", "float16"), refused("sin", "int8"), refused("sin", "float16")])
    assert cause.name == f"{REFUSES_ACCEPTED}: NotImplementedError: … not implemented for …"
    assert str(cause.differences[0].found) == "sin(int8) = !NotImplementedError"
    other = Difference(
        RecordedCall("add", ("int8", "int"), "int8"), RecordedCall("add", ("int8", "int"), "float32")
    )
    assert (other.difference_type, other.cause) == (
        OTHER_DTYPE,
        "arithmetic with Python numbers: float for signed",
    )
    taken = Difference(RecordedCall("add", ("int8",), "-"), RecordedCall("add", ("int8",), "int8"))
    assert (taken.difference_type, taken.cause) == (ACCEPTS_REFUSED, "by rule: arithmetic")


FUNCTIONS = {"add": "space.add", "inv": "space.linalg.inv", "concat": "space.concatenate"}


@pytest.mark.parametrize("name", implementations())
def test_an_implementation_has_a_library_a_system_and_a_snippet(name: str) -> None:
    entry = implementations()[name]
    assert entry["library"] in libraries()
    other = entry.get("with")
    assert other is None or other in implementations() or tl.system(other)

    def written(op: str, *operands: str) -> str:
        difference = Difference(RecordedCall(op, operands, "int8"), RecordedCall(op, operands, "float32"))
        return write_snippet(entry, difference, FUNCTIONS)

    for op in ("+", "add", "concat"):
        lines = written(op, "int8", "float32").splitlines()
        assert len(lines) == 5
        compile("\n".join(lines), name, "exec")
        assert lines[3].endswith("  # int8, expected")
        assert lines[4].endswith("  # float32, found")
    assert written("*=", "int8", "int8") == written("multiply", "int8", "int8") == ""
    assert bool(written("inv", "float32")) == ("matrix" in entry)


def test_a_snippet_prints_the_values() -> None:
    expected, found = (
        RecordedCall("+", ("int8=100", "int8=-7"), "int8", values) for values in ("93 93", "0 0")
    )
    written = write_snippet(implementations()["tf-xla"], Difference(expected, found), {})
    assert written.splitlines()[1:4] == [
        "x = tensorflow.constant(100, 'int8', (2,))",
        "y = tensorflow.constant(-7, 'int8', (2,))",
        "print((x + y))  # 93 93, expected",
    ]
    assert written.endswith("lambda x, y: x + y, jit_compile=True)(x, y))  # 0 0, found")


def test_a_snippet_ends_with_the_refusal() -> None:
    operands = ("int8", "float32")
    refused = Difference(RecordedCall("+", operands, "!TypeError"), RecordedCall("+", operands, "float32"))
    *_, first, last = write_snippet(implementations()["torch-meta"], refused, {}).splitlines()
    assert first == "print((x.to('meta') + y.to('meta')).dtype)  # float32, found"
    assert last == "print((x + y).dtype)  # TypeError, expected"
    assert write_snippet({}, refused, {}) == ""
