"""The comparison of an implementation with what it imitates, for `compare` and its pytest helper."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from typelattice.conformance.chains import random_chains
from typelattice.conformance.implementation import check_name, implementation, implementations
from typelattice.conformance.implementation_differences import (
    ACCEPTS,
    AGREES,
    BREAKS,
    LEFT_OPEN,
    VALUE,
    Asked,
    Cause,
    Difference,
    answers_of_system,
    askable,
    calls_of_implementation,
    calls_of_system,
    causes,
    chain_differences,
    class_of,
    differences,
    has_values,
    questions_of_both,
    some_at_random,
    some_of_each_class,
)
from typelattice.conformance.in_process_library import Catalogue
from typelattice.conformance.library import UnknownLibraryError, versions, versions_of
from typelattice.conformance.process import CALL_SECONDS, LibraryProcess
from typelattice.conformance.questions import Question
from typelattice.conformance.snippet import first_snippet
from typelattice.conformance.stubs import Stubs
from typelattice.conformance.values import with_numbers
from typelattice.disk.read import FileError, read_bytes
from typelattice.engine.system import System
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.libraries import libraries, recordings
from typelattice.facts.releases import installed_release
from typelattice.facts.suggestions import nearest, short
from typelattice.files.reader import system as find_system
from typelattice.files.text import UnknownSystemError
from typelattice.recorded.sections import Call

PATIENCE = 6  # times the limit, for a call that is repeated
DRAWN = 10  # programs drawn for each compared one: a recording lacks some of their calls
LIMIT_BYTES = 1_000_000  # limit of a file of known differences


class ComparisonError(TypelatticeError, ValueError):
    """A comparison that cannot be made: nothing to compare with, no common calls, or a wrong file."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences of an implementation by root cause, and how many calls were compared.

    `classes` counts the calls of each class of operations by the sort of their difference, which is `AGREES`
    for equal answers. `vague` has the answers that leave the dtype open, such as a type of stubs; they are
    not differences. Only differences from an implementation or a library have programs that show them.
    """

    name: str
    versions: Mapping[str, str]
    against: str
    classes: Mapping[str, Mapping[str, int]]
    causes: Sequence[Cause]
    vague: Mapping[str, int]
    spellings: Mapping[str, str]
    has_programs: bool = True

    @property
    def about(self) -> str:
        """The line that says what was compared."""
        return f"{self.name} ({versions(self.versions)}) with {self.against}"

    @property
    def compared(self) -> int:
        return sum(sum(sorts.values()) for sorts in self.classes.values())

    def example(self, cause: Cause) -> tuple[Difference, str]:
        """Return the simplest difference that has a snippet, with the snippet, or the simplest and ""."""
        forms = implementations().get(self.name, {}) if self.has_programs else {}
        return first_snippet(forms, cause.differences, self.spellings) or (cause.differences[0], "")


def imitated(name: str) -> str | None:
    """Find what an implementation imitates: another implementation, or the system of the installed release.

    >>> imitated("dask-chunked")
    'dask-computed'
    """
    other: str | None = implementations().get(name, {}).get("with")
    if other is None or other in implementations():
        return other
    entry = libraries()[find_system(other).library.split()[0]]
    try:
        return installed_release(other, versions_of(entry.distribution))
    except PackageNotFoundError:
        return other


def compare_implementation(
    name: str, other: str | None = None, calls: int | None = None, seed: int = 0, limit: float = CALL_SECONDS,
    by_class: bool = False, by_value: bool = False, programs: int = 0,
) -> Comparison:  # fmt: skip
    """Compare an implementation with `other`, a system or another implementation.

    `other` is by default what the implementation imitates. `calls` is the number of random calls, with
    `by_class` as many of each class of operations; by default all are asked. `limit` is the number of seconds
    that a call may take. With `by_value` operands hold several numbers, and values are compared where dtypes
    are the same; a system's library is then asked now, as a recording has no values. `programs` is the number
    of random programs that are asked, too, each of two to four operations. Raises
    ComparisonError, UnknownLibraryError, UnknownSystemError, MissingLibraryError, CannotAskError.
    """
    check_name(name)
    entry = implementations().get(name, {})
    other = other or imitated(name)
    if other is None:
        what = f"{name} imitates nothing that is known here"
        raise ComparisonError(f"{what}; name a system or an implementation to compare it with")
    system = None if by_value and other in recordings() else _system(other)
    if by_value and system is not None:
        raise ComparisonError(f"{other} has rules and no values; compare values with another implementation")
    choose = partial(_choose, calls=calls, seed=seed, by_class=by_class)
    start = partial(start_implementation, tells_values=by_value)
    with ExitStack() as stack:
        asked = stack.enter_context(start(name, limit))
        has = asked.catalogue
        operations: Sequence[str] = has.operations
        if system is None:
            reference = stack.enter_context(start(other, limit))
            operations = [op for op in operations if op in reference.catalogue.operations]
            expected = _asked_now(reference, has, choose, by_value)
            expect = partial(calls_of_implementation, reference)
            against = f"{other} ({versions(reference.catalogue.versions)})"
            if by_value:
                _require_values(other, map(has_values, expected))
        else:
            expected = askable(calls_of_system(system, has), has)
            by_question = {(call.op, call.operands): call for call in expected}
            expected = [by_question[each] for each in choose([*by_question])] if calls else expected
            expect = partial(answers_of_system, system)
            against = f"{system.name} ({system.library})"
        answered = list(differences(asked, expected))
        drawn = programs * (1 if system is None else DRAWN)
        chains = random_chains(has.operands, operations, drawn, seed)
        answered += chain_differences(asked, expect, [*chains], programs)
    answered = _broken_again(partial(start, name), answered, limit)
    if not answered:
        raise ComparisonError(f"{name} and {other} have no call in common; compare it with another")
    if by_value:
        _require_values(name, (has_values(each.found if each else call) for call, each in answered))
    ignored = {LEFT_OPEN, ACCEPTS} if entry.get("lenient") else {LEFT_OPEN}
    differ = [each for _, each in answered if each and each.sort not in ignored]
    vague = Counter(each.cause for _, each in answered if each and each.sort == LEFT_OPEN)
    classes: dict[str, Counter[str]] = {}
    for call, each in answered:
        sort = each.sort if each and each.sort not in ignored - {LEFT_OPEN} else AGREES
        classes.setdefault(class_of(call.op), Counter())[sort] += 1
    imitates = other in (entry.get("with"), imitated(name))
    return Comparison(name, has.versions, against, classes, causes(differ), vague, has.spellings, imitates)


def _choose(questions: list[Question], calls: int | None, seed: int, by_class: bool) -> list[Question]:
    """Choose a number of questions at random, or return all."""
    if not calls:
        return questions
    return (some_of_each_class if by_class else some_at_random)(questions, calls, seed)


def _asked_now(
    reference: Asked, has: Catalogue, choose: Callable[[list[Question]], list[Question]], by_value: bool
) -> list[Call]:
    """Run another implementation on the calls of both, with numbers in the arrays if values are compared."""
    questions = list(questions_of_both(reference.catalogue, has))
    if by_value:
        questions = [*with_numbers(questions)]
        has = replace(has, operands=tuple({each for _, operands in questions for each in operands}))
    return askable(calls_of_implementation(reference, choose(questions)), has)


def _require_values(name: str, told: Iterable[bool]) -> None:
    """Raise ComparisonError if no answer has values."""
    if not any(told):
        raise ComparisonError(f"{name} tells no values; compare values of an implementation that computes")


def known_differences(path: str | Path) -> Mapping[str, int]:
    """Return the known differences of a file: cause → calls. Raises ComparisonError."""
    try:
        known = json.loads(read_bytes(Path(path), LIMIT_BYTES))
    except (ValueError, FileError) as e:
        raise ComparisonError(f"{path} cannot be read: {e}; write it with --update") from None
    counts = known.values() if isinstance(known, dict) else [None]
    if not all(type(number) is int and number >= 0 for number in counts):
        raise ComparisonError(f"{path} must be an object of causes and counts; write it with --update")
    return known  # type: ignore[no-any-return]


def causes_in_words(found: Comparison, new: Sequence[Cause]) -> Iterator[str]:
    """Describe causes: the number of calls, an example, and the program that shows it."""
    for cause in new:
        example, code = found.example(cause)
        yield f"  {len(cause.differences):6}  {cause.name}"
        yield f"          {example}"
        yield from (f"          | {line}" for line in code.splitlines())


def comparison_data(found: Comparison, new: Sequence[Cause]) -> dict[str, object]:
    """Write a comparison as plain data; docs/output.schema.json describes it."""
    causes = [
        {
            "sort": cause.sort,
            "cause": cause.cause,
            "calls": len(cause.differences),
            "classes": Counter(class_of(each.found.op) for each in cause.differences),
            "known": cause not in new,
            "example": {
                "op": example.found.op,
                "operands": list(example.found.operands),
                "expected": example.expected.answer,
                "found": example.found.answer,
                "message": example.message,
                **_values(example),
            },
            "snippet": code,
        }
        for cause in found.causes
        for example, code in [found.example(cause)]
    ]
    return {
        "about": found.about,
        "implementation": found.name,
        "versions": found.versions,
        "with": found.against,
        "compared": found.compared,
        "classes": found.classes,
        "vague": found.vague,
        "causes": causes,
    }


def _values(example: Difference) -> dict[str, object]:
    if example.sort != VALUE:
        return {}
    return {"values": {"expected": example.expected.message, "found": example.found.message}}


def _broken_again(
    start: Callable[[float], Asked], answered: Sequence[tuple[Call, Difference | None]], limit: float
) -> list[tuple[Call, Difference | None]]:
    """Repeat calls that broke down once, in a new process and with more time, before they are reported.

    A library may load modules at its first call, on a busy machine. That is not a hang.
    """
    broken = [call for call, each in answered if each and each.sort == BREAKS]
    if not broken:
        return [*answered]
    with start(PATIENCE * limit) as asked:
        again = dict(differences(asked, broken))
        return [(call, again.get(call) if call in broken else each) for call, each in answered]


def start_implementation(name: str, limit: float, tells_values: bool = False) -> Asked:
    """Start an implementation; a checker reads stubs, and their library lists its operations."""
    entry = implementations().get(name, {})
    if "checker" not in entry:
        return LibraryProcess(partial(implementation, name), limit, tells_values)
    of = LibraryProcess(partial(implementation, entry["stubs"]), limit)
    return Stubs(entry["checker"], of, entry, limit)


def _system(other: str) -> System | None:
    """Find the system to compare with, or None for an implementation. Raises UnknownSystemError."""
    if other in implementations() or ":" in other:
        return None
    try:
        return find_system(other)
    except UnknownSystemError:
        if near := nearest(other, implementations()):
            raise UnknownLibraryError(f"no system or implementation {short(other)}{near}") from None
        raise
