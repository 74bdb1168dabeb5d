"""Causes: the places where a wide float made narrower floats wide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.programs.calls.steps import Created, Index, Input, Opaque
from typelattice.tracing.findings.predicted_run import PredictedRun, source_key
from typelattice.tracing.run_data.float_widths import dtype_width
from typelattice.tracing.steps.called_name import WRITING_OPERATION


@dataclass(frozen=True, slots=True)
class WideningCause:
    """A place where a wide float appeared and made narrower floats wide.

    - `origin_steps`: the steps at that place, with one source text and one dtype.
    - `widening_steps`: the steps that made a narrower float wide because of it, in order. They may be
      `origin_steps`.
    - `later_wide_steps`: the other steps that are wide because of it.
    - `following_steps`: the `later_wide_steps` that use a widened value, directly or through other steps.
      They ran `following_runs` times.
    - `result_names`: the names bound in the end to arrays that are wide because of it.
    - `is_default_dtype`: the wide dtype is the library's default float or wider, so a program gets it without
      a request.
    - `meant_step`: the step on a line with the comment `meant` that the wide float leaks from, or None.
    - `written_steps`: the wide steps of which no result leaves but into an array that decides by itself.
    - `extra_bytes`: how much more memory all these results took than narrow ones. It is 0 if the program
      requested the wide dtype.
    """

    origin_steps: tuple[int, ...]
    narrow_dtype: DType
    wide_dtype: DType
    widening_steps: tuple[int, ...]
    later_wide_steps: tuple[int, ...]
    following_steps: tuple[int, ...]
    following_runs: int
    extra_bytes: int
    is_default_dtype: bool
    result_names: tuple[str, ...] = ()
    meant_step: int | None = None
    written_steps: tuple[int, ...] = ()

    @property
    def step(self) -> int:
        """The step that names the cause: the first one where a float widened."""
        return self.widening_steps[0]


def find_causes(predicted_run: PredictedRun) -> tuple[WideningCause, ...]:
    """Return the causes in a run: first the causes of the usual dtype, then those from child processes.

    The cause that widens the most named results comes first, then the one that takes the most bytes.
    """
    causes_of = map_responsible_steps(predicted_run)
    widening: dict[int, list[int]] = {}
    for i, cause in causes_of.items():
        if narrow_operands(predicted_run, i):
            widening.setdefault(cause, []).append(i)
    groups: dict[object, list[int]] = {}
    for first, widened in widening.items():
        groups.setdefault(_cause_key(predicted_run, first, widened[0]), []).append(first)
    wide_steps: dict[int, list[int]] = {}
    for i, cause in causes_of.items():
        wide_steps.setdefault(cause, []).append(i)
    all_causes = [_make_cause(predicted_run, group, widening, wide_steps) for group in groups.values()]
    all_causes = _name_arrays_written(predicted_run, all_causes, wide_steps)
    sent = _list_sent_by_children(predicted_run, all_causes)
    return tuple(
        sorted(
            all_causes,
            key=lambda c: (
                not c.is_default_dtype,
                c in sent,
                -len(c.result_names),
                -c.extra_bytes,
                -c.following_runs,
                c.origin_steps,
            ),
        )
    )


def _list_sent_by_children(
    predicted_run: PredictedRun, all_causes: list[WideningCause]
) -> list[WideningCause]:
    """List the causes that may only pass on what a followed child process computed, as `pool.map` does.

    These are calls without a rule that gave no result, if a cause with a rule made the same dtype.
    """
    if not predicted_run.run.followed_process_count:
        return []
    opaque = [c for c in all_causes if isinstance(predicted_run.steps[c.origin_steps[0]], Opaque)]
    wide_dtypes = {c.wide_dtype for c in all_causes if c not in opaque and not c.result_names}
    return [c for c in opaque if c.wide_dtype in wide_dtypes]


def map_responsible_steps(predicted_run: PredictedRun) -> dict[int, int]:
    """Map each float step to the earliest step responsible for its width.

    A step is responsible itself if no operand is as wide, or if it would be as wide with narrower operands.
    Several operands may be as wide, each with its own responsible step. Then the first of these that has
    already widened a narrower float counts, or the first of all if none has.
    """
    responsible: dict[int, int] = {}
    guilty: set[int] = set()
    for i, parts in enumerate(predicted_run.inputs):
        step_width = predicted_run.widths[i]
        if step_width is None:
            continue
        wide = [responsible[p] for p in parts if p in responsible and predicted_run.widths[p] == step_width]
        if wide and predicted_run.is_always_wide(i):
            wide = []
        responsible[i] = next((cause for cause in wide if cause in guilty), wide[0] if wide else i)
        if narrow_operands(predicted_run, i):
            guilty.add(responsible[i])
    return responsible


def _name_arrays_written(
    predicted_run: PredictedRun, causes: Iterable[WideningCause], wide_steps: Mapping[int, Sequence[int]]
) -> list[WideningCause]:
    """Let an array stand for the causes whose wide floats are only written into it.

    `out[i] = np.interp(...)` casts the numbers to the dtype of `out`, which alone decides what comes after.
    """
    found: dict[object, WideningCause] = {}
    written: list[tuple[int, WideningCause]] = []
    for cause in causes:
        wide = {*cause.origin_steps, *cause.widening_steps, *cause.later_wide_steps}
        array = _find_only_array_written(predicted_run, wide)
        if array is None:
            found[cause.origin_steps] = cause
        else:
            written.append((array, cause))
    for array, cause in written:
        wide = {*cause.origin_steps, *cause.widening_steps, *cause.later_wide_steps}
        known = next((x for x in found.values() if array in x.origin_steps), None)
        if known is not None:
            inner = (*known.written_steps, *sorted(wide))
            found[known.origin_steps] = replace(known, written_steps=inner)
        else:
            later = [i for i in wide_steps.get(array, ()) if i != array]
            found[(array,)] = _make_cause_of_array(predicted_run, array, cause, sorted(wide), later)
    return [*found.values()]


def _make_cause_of_array(
    predicted_run: PredictedRun,
    array: int,
    cause: WideningCause,
    wide_steps: Sequence[int],
    later: Sequence[int],
) -> WideningCause:
    """Make the cause of an array from the one whose wide floats are written into it.

    `later` are the steps that are wide by the array.
    """
    writes = tuple(i for i in wide_steps if array in list_written_arrays(predicted_run, i))
    holding = {array, *later}
    result = predicted_run.result_of(array)
    assert result is not None and result.dtype is not None
    return replace(
        cause,
        origin_steps=(array,),
        wide_dtype=result.dtype,
        widening_steps=writes,
        later_wide_steps=tuple(later),
        following_steps=tuple(later),
        following_runs=sum(predicted_run.run.observations[i].count for i in later),
        extra_bytes=sum(_count_extra_bytes(predicted_run, i, cause.narrow_dtype) for i in sorted(holding)),
        result_names=tuple(name for name, i in predicted_run.run.results.items() if i in holding),
        written_steps=tuple(i for i in wide_steps if i not in writes),
    )


def _find_only_array_written(predicted_run: PredictedRun, wide_steps: Iterable[int]) -> int | None:
    """Find the new array that all of some wide steps are written into, or None if some are used elsewhere."""
    wide, named = {*wide_steps}, {*predicted_run.run.results.values()}
    arrays: set[int] = set()
    for i in wide:
        written = [*list_written_arrays(predicted_run, i)]
        if written:
            arrays.add(written[-1])
        elif i in named or not predicted_run.consumers[i] or not wide.issuperset(predicted_run.consumers[i]):
            return None
    if len(arrays) != 1 or not arrays.isdisjoint(wide):
        return None
    (array,) = arrays
    step = predicted_run.steps[array]
    return array if isinstance(step, Created) and step.dtype is None else None


def narrow_operands(predicted_run: PredictedRun, step_number: int) -> list[int]:
    """Return the operands of a step that are floats narrower than its result."""
    if step_number in predicted_run.separate_parts:
        return []
    step_width = predicted_run.widths[step_number] or 0
    return [p for p in predicted_run.inputs[step_number] if 0 < (predicted_run.widths[p] or 0) < step_width]


def _cause_key(predicted_run: PredictedRun, first_step: int, widened_step: int) -> object:
    """Return the key that steps of one cause share: source location, text, operation and dtypes.

    An input has no source location of its own, so the key has the location of the step that it widened.
    """
    step = predicted_run.steps[
        widened_step if isinstance(predicted_run.steps[first_step], Input) else first_step
    ]
    return (
        step.location,
        step.text,
        step.op,
        predicted_run.result_of(first_step),
        _widest_narrow_dtype(predicted_run, widened_step),
    )


def _widest_narrow_dtype(predicted_run: PredictedRun, widened_step: int) -> DType:
    """Return the widest dtype among the narrow float operands of a step that widened."""
    operands = [predicted_run.result_of(p) for p in narrow_operands(predicted_run, widened_step)]
    return max((o.dtype for o in operands if o and o.dtype), key=lambda d: dtype_width(d) or 0)


def _make_cause(
    predicted_run: PredictedRun,
    group: list[int],
    widening: dict[int, list[int]],
    later_of: dict[int, list[int]],
) -> WideningCause:
    widened = sorted(i for first in group for i in widening[first])
    wide_result, narrow_dtype = (
        predicted_run.result_of(group[0]),
        _widest_narrow_dtype(predicted_run, widened[0]),
    )
    assert wide_result is not None and wide_result.dtype is not None
    later_wide_steps = sorted(i for first in group for i in later_of[first] if i != first)
    costly = [*later_wide_steps, *(i for i in group if not isinstance(predicted_run.steps[i], Input))]
    following_steps = _find_following(predicted_run, widened, later_wide_steps)
    wide_steps = {*widened, *later_wide_steps}
    result_names = tuple(name for name, i in predicted_run.run.results.items() if i in wide_steps)
    default = predicted_run.default_dtype(widened[0], Kind.FLOAT)
    is_default_dtype = default is None or (dtype_width(wide_result.dtype) or 0) >= (dtype_width(default) or 0)
    return WideningCause(
        tuple(group), narrow_dtype, wide_result.dtype, tuple(widened), tuple(later_wide_steps),
        following_steps,
        sum(predicted_run.run.observations[i].count for i in following_steps),
        is_default_dtype * sum(_count_extra_bytes(predicted_run, i, narrow_dtype) for i in costly),
        is_default_dtype,
        result_names,
    )  # fmt: skip


def keep_widening_steps(
    predicted_run: PredictedRun, cause: WideningCause, widening_steps: Sequence[int], meant_step: int | None
) -> WideningCause:
    """Return a cause with some of its widening steps, and with what follows from these.

    If the wide float comes from a line that is meant, these steps are where it begins to be wide.
    """
    candidates = sorted({*cause.widening_steps, *cause.later_wide_steps})
    reached, _ = find_reached_steps(predicted_run, widening_steps, candidates)
    later = tuple(i for i in cause.later_wide_steps if i in reached and i not in widening_steps)
    following = _find_following(predicted_run, [*widening_steps], [*later])
    costly = {*widening_steps, *later}
    return replace(
        cause,
        origin_steps=cause.origin_steps if meant_step is None else (widening_steps[0],),
        widening_steps=tuple(widening_steps),
        later_wide_steps=later,
        following_steps=following,
        following_runs=sum(predicted_run.run.observations[i].count for i in following),
        extra_bytes=cause.is_default_dtype
        * sum(_count_extra_bytes(predicted_run, i, cause.narrow_dtype) for i in costly),
        result_names=tuple(name for name in cause.result_names if predicted_run.run.results[name] in costly),
        meant_step=meant_step,
    )


def _find_following(
    predicted_run: PredictedRun, widened_steps: list[int], later_wide_steps: list[int]
) -> tuple[int, ...]:
    """Find the later steps that use a widened value, directly or not, without steps of the same source text.

    An array counts as widened once a widened value was written into it.
    """
    reached, _ = find_reached_steps(predicted_run, widened_steps, sorted({*widened_steps, *later_wide_steps}))
    sources = {source_key(predicted_run.steps[i]) for i in widened_steps}
    return tuple(
        i for i in later_wide_steps if i in reached and source_key(predicted_run.steps[i]) not in sources
    )


def find_reached_steps(
    predicted_run: PredictedRun, first_steps: Iterable[int], candidates: Iterable[int]
) -> tuple[set[int], set[int]]:
    """Find the steps that use the values of some steps, directly or not, including these steps.

    `candidates` are the steps to search, in order. An array counts as using a value once the value was
    written into it.
    """
    reached: set[int] = set()
    holding: set[int] = set()
    start = {*first_steps}
    for i in candidates:
        if i in start or not (reached | holding).isdisjoint(predicted_run.inputs[i]):
            reached.add(i)
            holding |= {*list_written_arrays(predicted_run, i)}
    return reached, holding


def list_written_arrays(predicted_run: PredictedRun, step_number: int) -> Iterator[int]:
    """Yield the array that a step writes elements into, and then each array that it is a view of."""
    if predicted_run.steps[step_number].op == WRITING_OPERATION:
        p = predicted_run.inputs[step_number][0]
        yield p
        while isinstance(view := predicted_run.steps[p], Index):
            p = view.operand
            yield p


def list_arrays_that_stay_wide(predicted_run: PredictedRun, cause: WideningCause) -> list[int]:
    """List the new arrays that wide floats of a cause are written into, and that are wide without them."""
    wide = {*cause.origin_steps, *cause.widening_steps, *cause.later_wide_steps}
    arrays = (array for i in sorted(wide) for array in list_written_arrays(predicted_run, i))
    return [
        i
        for i in dict.fromkeys(arrays)
        if i not in wide and isinstance(predicted_run.steps[i], Created) and predicted_run.widths[i]
    ]


def _count_extra_bytes(predicted_run: PredictedRun, step_number: int, narrow_dtype: DType) -> int:
    """Return how many more bytes the result of a step takes than one of the narrower width."""
    step_width, narrow_width = predicted_run.widths[step_number], dtype_width(narrow_dtype)
    return (
        predicted_run.run.observations[step_number].bytes * (step_width - narrow_width) // step_width
        if step_width and narrow_width and narrow_width < step_width
        else 0
    )
