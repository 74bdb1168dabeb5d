"""Explanations, expressions, tables, casts, namespaces and commands give one answer, under any file."""
from __future__ import annotations

import json
import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from drawn_files import ASKED, drawn_file
from samples import one_in

import typelattice as tl
from typelattice.core.operands.operand import operand_of_dtype
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.core.system_files.system_definition import TYPE_BY_KEY
from typelattice.show.cli.main import main

np = pytest.importorskip("numpy")
pytest.importorskip("array_api_compat")
pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")  # where a file says so
FILES, CALLS = 24, 45  # drawn files, and calls a file or system
NO_FUNCTION = ("result_type",)  # which no namespace calls as a function of arrays that gives an array
AS_IT_IS = ("exact", "widen", "unsaid")  # outcomes of numbers out of range that no array can hold
Answer = tuple[str | None, bool]  # the dtype, or None of a refusal, and whether it is weak


# -- calls, and the ways to ask


@dataclass(frozen=True)
class Call:
    """An operation, or promotion alone, of operands."""

    op: str | None
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.op or 'promotion'}({', '.join(self.operands)})"


def drawn_calls(dice: random.Random, system: tl.System) -> Iterator[Call]:
    dtypes = [d.name for d in system.dtypes]
    scalars = ["1", "2.5", "1j", "True", "300", "70000", "1e39"]
    tiers = ["", "", "", ":0d", ":weak"]
    for _ in range(CALLS):
        op = OPERATIONS[dice.choice(ASKED)] if dice.random() < 0.8 else None
        count = (
            dice.choice([1, 2, 2, 3]) if op is None else dice.randint(op.min_operands, op.max_operands or 3)
        )
        arrays = [dtype + tier for dtype in dtypes for tier in tiers] or scalars
        operands = [dice.choice(arrays if dice.random() < 0.8 else scalars) for _ in range(count)]
        if op and op.call_form == "indexed":
            operands[1:] = ["int64"] * len(operands[1:])
        if op and op.call_form == "choice":
            operands = ["bool", *operands[-2:]]
        yield Call(op and op.name, tuple(operands))


def explained(system: tl.System, call: Call) -> Answer:
    return _answer(system.explain(*call.operands, op=call.op))


def _answer(p: tl.Promotion) -> Answer:
    """The dtype, or the type of a Python number, and whether it is weak."""
    return (
        (f"Python {p.python_number_kind}", False)
        if p.python_number_kind
        else (p.dtype.name if p.dtype else None, p.weak)
    )


def promoted(system: tl.System, call: Call) -> Answer:
    try:
        p = system.promote(*call.operands, op=call.op)
    except tl.PromotionError as e:
        p = e.promotion
    return _answer(p)


def _outcome(o: Any) -> Answer:
    if o.operand is None:
        return None, False
    return (o.operand.dtype.name, o.operand.weak) if o.operand.dtype else (f"Python {o.operand.kind}", False)


def as_function(system: tl.System, call: Call) -> Answer | None:
    """In an expression, as a function of names."""
    if call.op is None:
        return None
    op = OPERATIONS[call.op]
    names = "abc"[: len(call.operands)]
    given = f"[{', '.join(names)}]" if op.call_form == "list" else ", ".join(names)
    text = f"xp.{op.name}({given})"  # `abs` alone is Python's of a Python number
    if op.call_form in ("choice", "indexed") and len(names) < (op.max_operands or 0):
        return None
    return _outcome(tl.program(text, **dict(zip(names, call.operands, strict=True))).under(system)[-1])


def as_operator(system: tl.System, call: Call) -> Answer | None:
    """In an expression, with the operator; where Python itself does not answer."""
    sign = OPERATIONS[call.op].operator if call.op else None
    if sign is None or all(_scalar(x) for x in call.operands):
        return None
    of_function, of_operator = (system.explain(*call.operands, op=op) for op in (call.op, sign))
    if (of_function.dtype, of_function.weak) != (of_operator.dtype, of_operator.weak):
        return None  # an operator that a file states otherwise is another question
    text = f"a {sign} b" if len(call.operands) == 2 else f"{sign.removesuffix('x')}a"
    return _outcome(tl.program(text, **dict(zip("ab", call.operands, strict=False))).under(system)[-1])


def in_a_table(system: tl.System, call: Call) -> Answer | None:
    op = OPERATIONS[call.op] if call.op else None
    if len(call.operands) != (1 if op and op.has_one_promoting_operand else 2) or (
        op and op.min_operands > 2
    ):
        return None
    shown = tl.table(system, call.op, dtypes=call.operands)
    return _answer(
        shown[call.operands[0], call.op if op and op.has_one_promoting_operand else call.operands[1]]
    )


def by_implicit_cast(system: tl.System, call: Call) -> Answer | None:
    """Of arrays of NumPy's, whose dtypes are strong."""
    if call.op or any(":weak" in x for x in call.operands) or not _over_numpy(call.operands):
        return None
    if all(_scalar(x) for x in call.operands):
        return None
    p = system.explain(*call.operands)
    try:
        cast = tl.implicit_cast(system, *map(_numpy, call.operands))
    except tl.PromotionError:
        return None, False
    except tl.NamespaceError as e:  # out of range, or a dtype that NumPy has not
        return None if _beyond(p) or "out of range" not in str(e) else (None, False)
    assert len({x.dtype for x in cast}) == 1
    assert not any(f.outcome in AS_IT_IS for f in p.fits), f"{call}: an array holds none of these numbers"
    return cast[0].dtype.name, p.weak


def in_a_namespace(system: tl.System, call: Call) -> Answer | None:
    """Over NumPy, where it has the function and a kernel for it."""
    xp = _namespace(system)
    op = OPERATIONS[call.op or "result_type"]
    known = call.op is None or (hasattr(xp, op.name) and op.name not in NO_FUNCTION)
    if not known or not _over_numpy(call.operands) or all(map(_scalar, call.operands)):
        return None
    if not _takes(op, call.operands):
        return None
    p = system.explain(*call.operands, op=call.op)
    if p.python_number_kind:
        return None  # a namespace has arrays alone
    arrays = [_of_namespace(xp, x) for x in call.operands]
    if call.op is None:
        return _of_result_type(xp, arrays, p.weak)
    try:
        with np.errstate(all="ignore"):
            result = getattr(xp, call.op)(*([arrays] if op.call_form == "list" else arrays))
    except tl.PromotionError:
        return None, False
    except tl.NamespaceError as e:
        return _not_computed(e, p)
    if any(f.outcome in AS_IT_IS for f in p.fits):  # and still there is an answer: that of Python's numbers
        assert (result.bare == _of_numbers(call)).all(), f"{call}: {result}"
    return result.dtype.name, result.weak


def _not_computed(e: tl.NamespaceError, *answers: tl.Promotion) -> Answer | None:
    """None where a namespace may refuse what the system answers, and says why; a refusal otherwise."""
    lacking = any(why in str(e) for why in ("cannot compute", "cannot hold", "no dtype in common to compute"))
    beyond = "is out of range for" in str(e) and any(map(_beyond, answers))
    return None if lacking or beyond else (None, False)


def _beyond(p: tl.Promotion) -> bool:
    """Whether no number of the dtype stands for one of the numbers: no array, and no library, has it."""
    return any(f.outcome in (*AS_IT_IS, "raise") for f in p.fits)


def _of_numbers(call: Call) -> object:
    """What Python answers to a comparison of numbers, or of what is true; arrays are of ones here."""
    op = OPERATIONS[str(call.op)]
    numbers = [_numpy(x) if _scalar(x) else 1 for x in call.operands]
    if op.operation_class == "logical":
        return getattr(np, op.name)(*map(bool, numbers))
    if op.name == "isclose":
        return np.isclose(*numbers)
    assert op.special_method, f"{call} computes with a number that the system does not say"
    return getattr(operator, op.special_method)(*numbers)


def _takes(op: Operation, operands: Sequence[str]) -> bool:
    """Whether a function of namespaces takes numbers, and arrays without dimensions, where these stand."""
    numbers, flat = any(map(_scalar, operands)), any(":0d" in x for x in operands)
    match op.call_form:
        case "list" | "indexed":
            return not numbers and not flat and len(operands) >= op.min_operands + (op.call_form == "indexed")
        case "along":
            return not flat
        case "choice":
            return not all(map(_scalar, operands[1:]))
        case "reduction" if op.name == "trapezoid" and flat:
            return False  # NumPy's has no axis to go along
    return not _scalar(operands[0]) or (len(operands) > 1 and op.name != "clip")


def _of_result_type(xp: Any, arrays: Sequence[Any], weak: bool) -> Answer | None:
    try:
        return xp.result_type(*arrays).name, weak
    except tl.PromotionError:
        return None, False
    except tl.NamespaceError:
        return None


@cache
def _namespace(system: tl.System) -> Any:
    return tl.namespace(system, np)


def _scalar(text: str) -> bool:
    return text[0].isdigit() or text == "True"


def _over_numpy(operands: Sequence[str]) -> bool:
    """Whether NumPy has the dtypes of all."""
    return all(_scalar(x) or x.partition(":")[0] in np.sctypeDict for x in operands)


def _numpy(text: str) -> Any:
    if _scalar(text):
        return {"True": True}.get(text) or complex(text) if "j" in text else json.loads(text.lower())
    name, _, tier = text.partition(":")
    return np.ones(() if tier == "0d" else 2, name)


def _of_namespace(xp: Any, text: str) -> Any:
    if _scalar(text):
        return _numpy(text)
    name, _, tier = text.partition(":")
    data = np.ones(() if tier == "0d" else 2, name) * (name != "int64")  # an index, for one
    return xp._context.wrap(data, tl.dtype(name), tier == "weak")


WAYS: Mapping[str, Callable[[tl.System, Call], Answer | None]] = {
    "promote": promoted, "an expression, as a function": as_function,
    "an expression, with an operator": as_operator, "a table": in_a_table,
    "implicit_cast": by_implicit_cast, "a namespace": in_a_namespace,
}  # fmt: skip


def disagreements(system: tl.System, calls: Sequence[Call]) -> list[str]:
    found = []
    for call in calls:
        right = explained(system, call)
        for way, ask in WAYS.items():
            answer = ask(system, call)
            if answer is not None and answer != right:
                found.append(f"{call}: explain says {right}, {way} {answer}")
    return found


def test_every_key_of_a_file_is_drawn() -> None:
    left = {*TYPE_BY_KEY} - {"source"}
    for seed in range(FILES):
        text = drawn_file(random.Random(seed))
        left = {key for key in left if f'"{key}" =' not in text}
        if not left:
            break
    assert left == set()


@pytest.mark.parametrize("name", one_in(3, tl.systems()))
def test_ways_agree_under_the_systems_that_come_along(name: str) -> None:
    system = tl.system(name)
    dice = random.Random(name)
    assert disagreements(system, [*drawn_calls(dice, system)]) == []
    assert [*chained(dice, system)] == []


def chained(dice: random.Random, system: tl.System) -> Iterator[str]:
    """Disagreements on `(a op b) op c`: answers of explain as operands, an expression, and a namespace."""
    calls = [*drawn_calls(dice, system)]
    for call in calls:
        op = OPERATIONS[call.op or "result_type"]
        signs = [op.operator or "", dice.choice(["+", "*", "=="])]
        last = dice.choice([x for c in calls for x in c.operands])
        if signs[0] in ("", "+=") or len(call.operands) != 2 or all(map(_scalar, call.operands)):
            continue
        if _scalar(call.operands[0]) and op.operation_class == "ordering":
            continue  # Python asks `x >= 300` where `300 <= x` is written
        p = system.explain(*call.operands, op=signs[0])
        made = "array" if any(o.tier == "array" for o in p.operands) else "0d"
        right: Answer = (None, False)
        if p.dtype:
            q = system.explain(operand_of_dtype(p.dtype, p.weak, made), last, op=signs[1])  # type: ignore[arg-type]
            right = (q.dtype.name if q.dtype else None), q.weak
        text = f"(a {signs[0]} b) {signs[1]} c"
        names = dict(zip("abc", (*call.operands, last), strict=True))
        answers = {"an expression": _outcome(tl.program(text, **names).under(system)[-1])}
        if p.dtype:
            answers["a namespace"] = _chained_in_a_namespace(system, names, text, p, q)
        for way, answer in answers.items():
            if answer not in (None, right):
                yield f"{text} of {names}: {right}, {way} {answer}"


def _chained_in_a_namespace(
    system: tl.System, names: Mapping[str, str], text: str, *answers: tl.Promotion
) -> Answer | None:
    xp = _namespace(system)
    if not _over_numpy([*names.values()]):
        return None
    try:
        with np.errstate(all="ignore"):
            result = eval(text, {name: _of_namespace(xp, x) for name, x in names.items()})
    except tl.PromotionError:
        return None, False
    except tl.NamespaceError as e:
        return _not_computed(e, *answers)
    return result.dtype.name, result.weak


@pytest.mark.parametrize("seed", one_in(3, range(FILES)))
def test_ways_agree_under_files_of_users(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(seed)
    path = tmp_path / "mine.toml"
    path.write_text(drawn_file(dice), encoding="utf-8")
    system = tl.system(path)
    calls = [*drawn_calls(dice, system)]
    assert disagreements(system, calls) == [], path.read_text(encoding="utf-8")
    assert [*chained(dice, system)] == [], path.read_text(encoding="utf-8")
    for call in calls[:5]:
        assert on_the_command_line(path, call, capsys) == explained(system, call), call


def on_the_command_line(path: Path, call: Call, capsys: pytest.CaptureFixture[str]) -> Answer:
    op = ["--op", call.op] if call.op else []
    assert main(["explain", *call.operands, "--system", str(path), "--format", "json", *op]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    return answer["dtype"], answer["weak"]
