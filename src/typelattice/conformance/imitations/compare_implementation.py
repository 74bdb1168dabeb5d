"""The comparison of an implementation with what it imitates, for `compare` and its pytest helper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.conformance.imitations.difference_reproducer import first_snippet
from typelattice.conformance.imitations.implementation import check_name, implementations, load_implementation
from typelattice.conformance.imitations.implementation_differences import (
    ACCEPTS_REFUSED,
    AGREES_WORD,
    BREAKS_DOWN,
    OTHER_VALUE,
    VAGUE_ANSWER,
    Difference,
    DifferenceCause,
    answers_of_system,
    calls_of_implementation,
    calls_of_system,
    chain_differences,
    class_name_of,
    find_differences,
    group_by_cause,
    has_values,
    operands_of_system,
    questions_of_both,
    select_askable,
    some_at_random,
    some_of_each_class,
)
from typelattice.conformance.imitations.stub_implementation import StubImplementation
from typelattice.conformance.recording.ask_in_parallel import AnswerProcess, AnswerProcessPool, AnswerSource
from typelattice.conformance.recording.chains import random_chains
from typelattice.conformance.recording.compared_values import fill_with_numbers
from typelattice.conformance.recording.in_process_library import Catalogue
from typelattice.conformance.recording.library import (
    ParsedOperandString,
    UnknownLibraryError,
    sort_dtype_names,
    versions_of,
    versions_text,
)
from typelattice.conformance.recording.library_process import CALL_SECONDS, LibraryProcess
from typelattice.conformance.recording.questions import Question
from typelattice.core.engine.system import System
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.registry.libraries import libraries, recordings
from typelattice.core.registry.releases import installed_release
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_text import UnknownSystemError, systems

RETRY_TIME_FACTOR = 6  # a call that broke may only have been slow, so it gets more time
# A recording lacks some calls of random programs, so more programs are drawn than are compared.
DRAWN_CHAINS_PER_PROGRAM = 10


_QuestionChooser = Callable[[list[Question]], list[Question]]


class ComparisonError(TypelatticeError, ValueError):
    """A comparison that cannot be made: nothing to compare with, no common calls, a file of other things."""


@dataclass(frozen=True, slots=True)
class OmittedDTypes:
    """Dtypes of one side that were not asked, since the other side lacks them."""

    had_by: str
    lacked_by: str
    dtypes: Sequence[str]

    def __str__(self) -> str:
        return f"not asked: {', '.join(self.dtypes)} of {self.had_by}, which {self.lacked_by} lacks"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences of an implementation by root cause, and how many calls were compared.

    `counts_by_class` counts the calls of each class of operations by the sort of their difference, or by
    `AGREES_WORD` if there is none. `vague_answers` has the answers that leave the dtype open, such as
    a type that stubs give, by what they say. They are no differences. `forms` says how programs
    write the calls; it is empty if nothing says so. `omitted_dtypes` names the dtypes that one side
    alone has. `resumed_count` counts the answers that were kept in files.
    """

    name: str
    versions: Mapping[str, str]
    against: str
    counts_by_class: Mapping[str, Mapping[str, int]]
    causes: Sequence[DifferenceCause]
    vague_answers: Mapping[str, int]
    spellings: Mapping[str, str]
    forms: Mapping[str, Any]
    omitted_dtypes: Sequence[OmittedDTypes] = ()
    resumed_count: int = 0

    @property
    def subject_line(self) -> str:
        """The line that says what was compared."""
        return f"{self.name} ({versions_text(self.versions)}) with {self.against}"

    @property
    def compared_count(self) -> int:
        return sum(sum(sorts.values()) for sorts in self.counts_by_class.values())

    def find_example(self, cause: DifferenceCause) -> tuple[Difference, str]:
        """Return the simplest difference that has a snippet, with the snippet, or the simplest and ""."""
        return first_snippet(self.forms, cause.differences, self.spellings) or (cause.differences[0], "")


def find_imitated(name: str) -> str | None:
    """Find what an implementation imitates: another implementation, or the system of the installed release.

    >>> find_imitated("dask-chunked")
    'dask-computed'
    """
    other: str | None = implementations().get(name, {}).get("with")
    if other is None or other in implementations():
        return other
    entry = libraries()[find_system(other).library.split()[0]]
    try:
        return installed_release(other, versions_of(entry.distribution))
    except ModuleNotFoundError:
        return other


def compare_implementation(
    name: str, reference_name: str | None = None, calls: int | None = None, seed: int = 0, limit: float =
    CALL_SECONDS, by_class: bool = False, by_value: bool = False, programs: int = 0, jobs: int = 1, scheduler:
    str = "", answers_folder: Path | None = None,
) -> Comparison:  # fmt: skip
    """Compare an implementation with a reference: a system or another implementation.

    The reference is by default what the implementation imitates. `calls` is the number of random calls, with
    `by_class` as many of each class of operations; by default all are asked. `limit` is the number of seconds
    that a call may take. With `by_value` operands hold several numbers, and values are compared where dtypes
    are the same; a system's library is then asked now, as a recording has no values. `programs` is the number
    of random programs that are asked, too, each of two to four operations. `jobs` processes ask, or the
    workers of the Dask cluster whose address is `scheduler`. Answers are kept in `answers_folder`, in a
    file for each side, from which a second run goes on. Raises ComparisonError, UnknownLibraryError,
    UnknownSystemError, MissingLibraryError, CannotAskError, WorkersError, JournalError, FileError.
    """
    check_name(name)
    entry = implementations().get(name, {})
    reference_name = reference_name or find_imitated(name)
    if reference_name is None:
        what = f"{name} imitates nothing that is known here"
        raise ComparisonError(f"{what}; name a system or an implementation to compare it with")
    system = None if by_value and reference_name in recordings() else _find_compared_system(reference_name)
    if by_value and system is not None:
        raise ComparisonError(
            f"{reference_name} has rules and no values; compare values with another implementation"
        )
    choose = partial(_choose_questions, calls=calls, seed=seed, by_class=by_class)
    about = {"limit of a call": f"{limit:g} s", "values": by_value}

    def start(other_side: str) -> AnswerProcessPool:
        journal = answers_folder / f"{other_side.replace(':', '.')}.answers" if answers_folder else None
        start_process = partial(start_implementation, other_side, limit, by_value)
        return AnswerProcessPool(start_process, jobs, scheduler, journal, about)

    with ExitStack() as stack:
        asked = stack.enter_context(start(name))
        catalogue, resumed = asked.catalogue, asked.resumed_count
        if system is None:
            reference = stack.enter_context(start(reference_name))
            resumed += reference.resumed_count
            other_side = _implementation_side(reference_name, reference, catalogue, choose, by_value)
        else:
            other_side = _system_side(system, catalogue, choose)
        answered = list(find_differences(asked, other_side.expected))
        chain_count = programs * (1 if system is None else DRAWN_CHAINS_PER_PROGRAM)
        chains = random_chains(catalogue.operands, other_side.operations, chain_count, seed)
        answered += chain_differences(asked, other_side.expect, [*chains], programs)
    restart = partial(start_implementation, name, RETRY_TIME_FACTOR * limit, by_value)
    answered = _repeat_broken_calls(restart, answered)
    if not answered:
        raise ComparisonError(f"{name} and {reference_name} have no call in common; compare it with another")
    if by_value:
        _require_values(name, (has_values(each.found if each else call) for call, each in answered))
    forms = entry if reference_name in (entry.get("with"), find_imitated(name)) else catalogue.forms
    left_out = _find_omitted_dtypes(
        name, catalogue.operands, system.name if system else reference_name, other_side.operands
    )
    lenient = bool(entry.get("lenient"))
    classes, differ, vague = _classify_answers(answered, lenient)
    return Comparison(
        name, catalogue.versions, other_side.title, classes, group_by_cause(differ), vague,
        catalogue.spellings, forms, [*left_out], resumed,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Reference:
    """The other side of a comparison: its title, operands and operations, and expected answers."""

    title: str
    operands: Sequence[str]
    operations: Sequence[str]
    expected: Sequence[RecordedCall]
    expect: Callable[[Sequence[Question]], Iterable[RecordedCall]]


def _implementation_side(
    other_name: str, reference: AnswerSource, catalogue: Catalogue, choose: _QuestionChooser, by_value: bool
) -> _Reference:
    """Return another implementation to compare with. Raises ComparisonError if it has no values."""
    other_catalogue = reference.catalogue
    expected = _ask_now(reference, catalogue, choose, by_value)
    if by_value:
        _require_values(other_name, map(has_values, expected))
    return _Reference(
        f"{other_name} ({versions_text(other_catalogue.versions)})",
        other_catalogue.operands,
        tuple(op for op in catalogue.operations if op in other_catalogue.operations),
        expected,
        partial(calls_of_implementation, reference),
    )


def _system_side(system: System, catalogue: Catalogue, choose: _QuestionChooser) -> _Reference:
    """Return a system to compare with."""
    by_question = {
        (call.op, call.operands): call
        for call in select_askable(calls_of_system(system, catalogue), catalogue)
    }
    return _Reference(
        f"{system.name} ({system.library})",
        operands_of_system(system, catalogue),
        catalogue.operations,
        [by_question[each] for each in choose([*by_question])],
        partial(answers_of_system, system),
    )


def _classify_answers(
    answered: Sequence[tuple[RecordedCall, Difference | None]], lenient: bool
) -> tuple[dict[str, Counter[str]], list[Difference], Counter[str]]:
    """Return the sorts of answers by class of operations, the differences to report, and vague answers."""
    ignored = {VAGUE_ANSWER, ACCEPTS_REFUSED} if lenient else {VAGUE_ANSWER}
    # A program may differ for the call that was asked itself.
    reported = [*dict.fromkeys(each for _, each in answered if each and each.difference_type not in ignored)]
    vague = Counter(each.cause for _, each in answered if each and each.difference_type == VAGUE_ANSWER)
    classes: dict[str, Counter[str]] = {}
    for call, each in answered:
        sort = (
            each.difference_type
            if each and each.difference_type not in ignored - {VAGUE_ANSWER}
            else AGREES_WORD
        )
        classes.setdefault(class_name_of(call.op), Counter())[sort] += 1
    return classes, reported, vague


def _find_omitted_dtypes(
    name: str, own_operands: Sequence[str], other_name: str, other_operands: Sequence[str]
) -> Iterator[OmittedDTypes]:
    """Yield the dtypes of the operands of each side that the other one lacks."""
    our_dtypes, their_dtypes = (
        {read.dtype for read in map(ParsedOperandString.parse, side) if read.dtype and read.tier != "list"}
        for side in (own_operands, other_operands)
    )
    if their_dtypes - our_dtypes:
        yield OmittedDTypes(other_name, name, sort_dtype_names(their_dtypes - our_dtypes))
    if our_dtypes - their_dtypes:
        yield OmittedDTypes(name, other_name, sort_dtype_names(our_dtypes - their_dtypes))


def _choose_questions(
    questions: list[Question], calls: int | None, seed: int, by_class: bool
) -> list[Question]:
    """Choose a number of questions at random, or return all."""
    if not calls:
        return questions
    return (some_of_each_class if by_class else some_at_random)(questions, calls, seed)


def _ask_now(
    reference: AnswerSource, catalogue: Catalogue, choose: _QuestionChooser, by_value: bool
) -> list[RecordedCall]:
    """Run another implementation on the calls of both, with numbers in the arrays if values are compared."""
    questions = list(questions_of_both(reference.catalogue, catalogue))
    if by_value:
        questions = [*fill_with_numbers(questions)]
        catalogue = replace(
            catalogue, operands=tuple({each for _, operands in questions for each in operands})
        )
    return select_askable(calls_of_implementation(reference, choose(questions)), catalogue)


def _require_values(name: str, have_values: Iterable[bool]) -> None:
    """Raise ComparisonError if no answer has values."""
    if not any(have_values):
        raise ComparisonError(f"{name} tells no values; compare values of an implementation that computes")


def describe_causes(comparison: Comparison, new: Sequence[DifferenceCause]) -> Iterator[str]:
    """Describe causes: the number of calls, an example, and the program that shows it."""
    for cause in new:
        example, code = comparison.find_example(cause)
        yield f"  {len(cause.differences):6}  {cause.name}"
        yield f"          {example}"
        yield from (f"          | {line}" for line in code.splitlines())
    if new and not comparison.forms and comparison.name not in implementations():
        name = comparison.name
        yield f"  no programs: {name} has no attribute `forms`, which says how they write its calls"


def comparison_data(comparison: Comparison, new: Sequence[DifferenceCause]) -> dict[str, object]:
    """Write a comparison as plain data; docs/output.schema.json describes it."""
    unknown = {cause.name for cause in new}
    causes = [
        {
            "sort": cause.difference_type,
            "cause": cause.description,
            "calls": len(cause.differences),
            "classes": Counter(class_name_of(each.found.op) for each in cause.differences),
            "known": cause.name not in unknown,
            "example": {
                "op": example.found.op,
                "operands": list(example.found.operands),
                "expected": example.expected.answer,
                "found": example.found.answer,
                "message": example.message,
                **_example_values(example),
            },
            "snippet": code,
        }
        for cause in comparison.causes
        for example, code in [comparison.find_example(cause)]
    ]
    return {
        "about": comparison.subject_line,
        "implementation": comparison.name,
        "versions": comparison.versions,
        "with": comparison.against,
        "compared": comparison.compared_count,
        "classes": comparison.counts_by_class,
        "vague": comparison.vague_answers,
        "not_asked": [
            {"of": each.had_by, "lacked_by": each.lacked_by, "dtypes": [*each.dtypes]}
            for each in comparison.omitted_dtypes
        ],
        "causes": causes,
    }


def _example_values(example: Difference) -> dict[str, object]:
    if example.difference_type != OTHER_VALUE:
        return {}
    return {"values": {"expected": example.expected.message, "found": example.found.message}}


def _repeat_broken_calls(
    start: Callable[[], AnswerSource], answered: Sequence[tuple[RecordedCall, Difference | None]]
) -> list[tuple[RecordedCall, Difference | None]]:
    """Repeat calls that broke down, in a new process that has more time, before they are reported.

    A library may load modules at its first call, on a busy machine. That is not a hang.
    """
    broken_calls = [call for call, each in answered if each and each.difference_type == BREAKS_DOWN]
    if not broken_calls:
        return [*answered]
    with start() as asked:
        repeated = dict(find_differences(asked, broken_calls))
        return [(call, repeated.get(call) if call in broken_calls else each) for call, each in answered]


def start_implementation(name: str, limit: float, tells_values: bool = False) -> AnswerProcess:
    """Start an implementation. A checker reads stubs, and their library lists its operations."""
    entry = implementations().get(name, {})
    if "checker" not in entry:
        return LibraryProcess(partial(load_implementation, name), limit, tells_values)
    library_process = LibraryProcess(partial(load_implementation, entry["stubs"]), limit)
    return StubImplementation(entry["checker"], library_process, entry, limit)


def _find_compared_system(other_name: str) -> System | None:
    """Find the system to compare with, or None for an implementation. Raises UnknownSystemError."""
    if other_name in implementations() or ":" in other_name:
        return None
    try:
        return find_system(other_name)
    except UnknownSystemError:
        if near := spelling_hint(other_name, (*implementations(), *systems())):
            raise UnknownLibraryError(
                f"no system or implementation {quote_short(other_name)}{near}"
            ) from None
        raise
