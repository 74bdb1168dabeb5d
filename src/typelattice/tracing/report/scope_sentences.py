"""Sentences on the scope of checks: what they looked at, and what they did not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from typelattice.tracing.findings.check_scope import CheckScope, UnseenWidening, WideResult
from typelattice.tracing.library_traits.checked_call import (
    COMPLEX_SUM,
    FINITE_ONLY,
    IN_DISPATCHER,
    NO_CHECKS,
    NO_RESULT,
    NO_VALUES,
    OPTIONS,
    OTHER_PACKAGE,
    OVERWRITTEN,
    OWN_CLASS,
    SEVERAL_RESULTS,
    TOO_LARGE,
    UNKNOWN_DTYPE,
    UNKNOWN_OPERATION,
    WHILE_COMPILING,
)
from typelattice.tracing.report.formatting import (
    count_text,
    describe_how_to_follow,
    shown_path,
    size_text,
)
from typelattice.tracing.run_data.run import HeldArray, UncheckedResults

MAX_NAMED_FILES = 3
MAX_SHOWN_WIDE_FLOATS = 3
"""The most wide floats out of sight that are shown. The rest are counted."""
MAX_SHOWN_WIDE_RESULTS = 3
MAX_NAMED_SUBJECTS = 3
SENTENCE_BY_REASON = {
    TOO_LARGE: "{results} of large arrays; the largest has {size}",
    NO_CHECKS: "{results} of {subjects}, for which typelattice has no checks of values",
    WHILE_COMPILING: "{results} that {subjects} computed while it compiled a function",
    UNKNOWN_DTYPE: "{results} of {subjects}, which no check reads",
    COMPLEX_SUM: "{results} of sums in {subjects}, for lost digits",
    NO_VALUES: "{results} without numbers that can be read, such as texts, or abstract or sparse arrays",
    UNKNOWN_OPERATION: "{results} of {subjects}, for which there is no check",
    FINITE_ONLY: "{results} of {subjects}, but for infinite numbers and NaN",
    OPTIONS: "{results} of {subjects}, with arguments that no check reads",
    OVERWRITTEN: "{results} of {subjects} in place, which overwrote the numbers before",
    OWN_CLASS: "{results} with objects of {subjects}, which may compute in another way",
    OTHER_PACKAGE: "{results} of {subjects}, which no array library defines",
    SEVERAL_RESULTS: "{results} of {subjects}, which gives several",
    IN_DISPATCHER: "{count} {subjects}",
    NO_RESULT: "{calls} of {subjects}, which returns nothing and may write into arrays",
}


def describe_scope(scope: CheckScope, name_file: Callable[[str], str] = shown_path) -> Iterator[str]:
    """Say which operations were searched for wide floats, and which wide floats are out of sight."""
    yield f"looked at {_describe_operations(scope, name_file)}"
    yield from describe_unseen_floats(scope, name_file)


def describe_unseen_floats(scope: CheckScope, name_file: Callable[[str], str] = shown_path) -> Iterator[str]:
    """Name the wide floats that come from calls without a rule, and those in objects."""

    lines = [
        f"{_describe_call(each, name_file)} returned {each.dtype}; no rule of it is known"
        f"{describe_how_to_follow(each.package)}"
        for each in scope.unseen_widenings
    ]
    lines += [describe_held_array(each, name_file) for each in scope.held_arrays]
    yield from (f"not seen: {line}" for line in lines[:MAX_SHOWN_WIDE_FLOATS])
    if len(lines) > MAX_SHOWN_WIDE_FLOATS:
        yield f"not seen: {count_text(len(lines) - MAX_SHOWN_WIDE_FLOATS, 'more wide float')} of such calls"


def describe_wide_results(
    scope: CheckScope, name_file: Callable[[str], str] = shown_path
) -> Iterator[str]:
    """Name the wide floats that are results and widened nothing, the largest first."""
    for each in scope.wide_results[:MAX_SHOWN_WIDE_RESULTS]:
        yield f"wide result: {_describe_result(each, name_file)}"
    more = scope.wide_results[MAX_SHOWN_WIDE_RESULTS:]
    if more:
        size = size_text(sum(each.bytes for each in more))
        yield f"wide result: {count_text(len(more), 'more array')} of {size}"


def _describe_result(wide: WideResult, name_file: Callable[[str], str]) -> str:
    """Describe a result by its name, its dtype, its size and the line that made it."""
    size = f" ({size_text(wide.bytes)})" if wide.bytes else ""
    at = f"{name_file(wide.location.file)}:{wide.location.line}: " if wide.location is not None else ""
    what = f"{wide.name} is {wide.dtype}{size} from {at}{wide.text}, and widened nothing"
    if wide.integers is not None and (place := wide.integers.location) is not None:
        line = f"{name_file(place.file)}:{place.line}: {wide.integers.text}"
        what += f"; {wide.narrow_dtype} became its integers at {line}"
    return what


def describe_held_array(held: HeldArray, name_file: Callable[[str], str] = shown_path) -> str:
    """Say which call returned an object that holds a float array, and where the array is."""
    article = "an" if held.holder[:1].upper() in "AEIOU" else "a"
    what = f"{article} {held.holder} that holds {held.dtype} in {held.path}"
    if held.announced_dtype not in (None, held.dtype):
        what += f", and says {held.announced_dtype}"
    return f"{_describe_call(held, name_file)} returned {what}{describe_how_to_follow(held.package)}"


def _describe_call(call: UnseenWidening | HeldArray, name_file: Callable[[str], str]) -> str:
    """Name a call by its place and text, and the float that it took."""
    took = f" took {call.narrow_dtype} and" if call.narrow_dtype is not None else ""
    return f"{name_file(call.location.file)}:{call.location.line}: {call.text}{took}"


def describe_rule_scope(scope: CheckScope) -> Iterator[str]:
    """Say how many operations were compared with rules, and how many results were not."""
    yield f"compared {count_text(scope.operation_count, 'operation')}"
    if scope.opaque_count:
        yield f"not compared: {count_text(scope.opaque_count, 'result')} of calls without a rule"


def describe_value_scope(scope: CheckScope) -> Iterator[str]:
    """Name the results whose values were not checked, by the reason."""
    if scope.value_scope is None:
        return
    ordered = sorted(scope.value_scope.unchecked, key=lambda each: (each.reason, -each.count, each.subject))
    groups = [
        part
        for reason, group in groupby(ordered, key=attrgetter("reason"))
        for part in ([[each] for each in group] if reason == IN_DISPATCHER else [[*group]])
    ]
    for group in sorted(groups, key=lambda group: -sum(each.count for each in group)):
        yield f"not checked: {_describe_unchecked(group)}"


def _describe_unchecked(group: Sequence[UncheckedResults]) -> str:
    """Describe results that were not checked for one reason."""
    names = [_name_subject(each) for each in group if each.subject]
    shown = ", ".join(names[:MAX_NAMED_SUBJECTS])
    more = len(names) - MAX_NAMED_SUBJECTS
    count = sum(each.count for each in group)
    return SENTENCE_BY_REASON[group[0].reason].format(
        results=count_text(count, "result"),
        calls=count_text(count, "call"),
        count=f"{count:,}",
        size=size_text(max(each.largest_bytes for each in group)),
        subjects=f"{shown} and {more:,} more" if more > 0 else shown or "further functions",
    )


def _name_subject(unchecked: UncheckedResults) -> str:
    return unchecked.subject.removesuffix("=")


def _describe_operations(scope: CheckScope, name_file: Callable[[str], str]) -> str:
    files = [name_file(file) for file in scope.files]
    where = ", ".join(files) if len(files) <= MAX_NAMED_FILES else count_text(len(files), "file")
    of = f" of {' and '.join(scope.libraries)}" if scope.libraries else ""
    return f"{count_text(scope.operation_count, 'operation')}{of}{f' in {where}' if where else ''}"
