"""A report as data: chapters of entries. Text, HTML, JSON and annotations are written from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

from typelattice.core.evidence.never_asked import NEVER_ASKED_MARK
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_text import systems
from typelattice.programs.calls.steps import Opaque, SourceLocation
from typelattice.programs.program.program import Replay
from typelattice.tracing.findings.check_scope import CheckScope
from typelattice.tracing.findings.divergences_from_run import DIVERGENCE_COSTS, RunDivergence
from typelattice.tracing.findings.findings import Findings
from typelattice.tracing.findings.met_operands import find_met_operands
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.models.departures import Departure
from typelattice.tracing.models.memory_table import make_memory_table
from typelattice.tracing.report.departure_sentences import (
    CodeReader,
    departure_message,
    departure_sections,
    departures_heading,
    describe_model_scope,
    describe_source,
    list_names,
    memory_heading,
    memory_sections,
)
from typelattice.tracing.report.formatting import (
    count_text,
    describe_how_to_follow,
    location_text,
    package_path,
    size_text,
)
from typelattice.tracing.report.scope_sentences import (
    describe_rule_scope,
    describe_scope,
    describe_unseen_floats,
    describe_value_scope,
    describe_wide_results,
)
from typelattice.tracing.report.sentences import (
    cast_back_heading,
    cause_message,
    cause_sections,
    describe_announced_call,
    describe_announcement,
    describe_cast_back,
    describe_island,
    describe_mismatch,
    describe_operands,
    divergence_lines,
    list_changed_lines,
)
from typelattice.tracing.run_data.model_run import ModelRun
from typelattice.tracing.run_data.run import (
    LOST_DIGITS,
    LOST_FRACTION,
    NO_CHANGE,
    NOT_FINITE,
    ROUNDED_CONSTANT,
    SATURATED,
    UNDERFLOW,
    WRAPPED,
    LocatedLoss,
    WeaknessChange,
    is_operation,
)
from typelattice.tracing.steps.called_name import name_in_source

FINDING_RULES = {
    "TL001": "A wide float widened a narrower one.",
    "TL002": "A narrow float met a wider one of a dtype that the program asked for.",
    "TL003": "A place computes in a wider float than it writes.",
    "TL004": "The library departs from its own rule here, as it is known to.",
    "TL005": "The library contradicts typelattice's rules: please report it.",
    "TL006": "A function is compiled anew: an argument is weak and then strong, or has another dtype.",
    "TL007": "A tensor departs from the dtypes that were meant.",
    "TL008": "An array was computed with another dtype than it had announced.",
    WRAPPED: "An integer wrapped: it did not fit into its dtype.",
    NOT_FINITE: "A finite number became infinite or NaN.",
    LOST_FRACTION: "A float lost its fraction in an integer.",
    LOST_DIGITS: "A sum of narrow floats, or an integer in one, lost digits.",
    NO_CHANGE: "An update changed nothing: the dtype has too few digits.",
    UNDERFLOW: "Numbers became 0 in a narrow float.",
    SATURATED: "Numbers became the largest of a narrow float.",
    ROUNDED_CONSTANT: "A number in the code is another one in the dtype: 0, 1, infinite or another integer.",
    **{
        f"TL{number}": f"Another system {what} here."
        for number, what in zip(
            range(101, 106),
            ("refuses the operation", "loses values", "gives a wider dtype", "gives a narrower dtype",
             "gives another kind of dtype"),
            strict=True,
        )
    },
}  # fmt: skip
"""The stable ids of findings, each with its meaning. The last five are DIVERGENCE_COSTS in their order."""

DIVERGENCE_RULES = dict(
    zip(DIVERGENCE_COSTS, [rule for rule in FINDING_RULES if rule.startswith("TL1")], strict=True)
)
MISTAKE_RULES = ("TL004", "TL005")
MAX_NAMED_MODULES = 2
"""The most unfollowed modules and functions that a report names. More are counted by their reasons."""


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """A finding at one step: its rule, its source location and code, one sentence, and details on demand.

    An entry of a report. `sections` builds headings with lines. An entry of one sentence has none.
    `other_places` belong to the same finding, each with a sentence. `change_lines` builds the lines as the
    remedy changes them, each with its file and number. `extra_bytes` is what the finding costs, if known.
    `package` is the installed package of all its lines, or "" if one of them is the user's own.
    """

    rule: str
    step: int
    location: SourceLocation | None
    code: str
    message: str
    sections: Callable[[], Iterator[tuple[str, Sequence[str]]]] = field(default=lambda: iter(()), repr=False)
    other_places: tuple[tuple[SourceLocation, str], ...] = ()
    change_lines: Callable[[], Sequence[tuple[str, int, str]]] = field(default=lambda: (), repr=False)
    extra_bytes: int = 0
    package: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """Entries of one sort under a heading, with notes below the heading, and tables: headings with lines."""

    name: str
    heading: str
    entries: tuple[ReportEntry, ...]
    brief: bool = False
    notes: tuple[str, ...] = ()
    tables: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def describe_rest(self, shown: int) -> str:
        """Describe the entries from a number on that are not shown."""
        left = self.entries[shown:]
        if left[0].rule in MISTAKE_RULES:
            return f"{len(left):,} more"
        costs = _count_costs(left)
        return f"{count_text(len(left), 'place')} more{f': {costs}' if costs else ''}"


@dataclass(frozen=True, slots=True)
class TraceReport:
    """A report: sentences on what ran, and chapters. `is_empty` is true if nothing computed with an array."""

    summary: tuple[str, ...]
    chapters: tuple[Chapter, ...]
    is_empty: bool

    @property
    def scope(self) -> Iterator[Chapter]:
        """The chapters with notes on what was looked at and what was not."""
        yield from (chapter for chapter in self.chapters if chapter.notes)

    @property
    def entries(self) -> Iterator[ReportEntry]:
        """All entries, chapter by chapter."""
        for chapter in self.chapters:
            yield from chapter.entries


def make_report(findings: Findings, everything: bool = False) -> TraceReport:
    """Build the report of findings. If `everything` is True, the summary names all that was not followed."""
    run = findings.predicted_run.run
    empty = not run.operations and not run.opaque and not (run.model and run.model.log.operation_count)
    if not empty:
        chapters = tuple(_make_chapters(findings, everything))
    else:  # a program of lazy frames alone has announced dtypes, and no operation of arrays
        chapters = (_make_announcements_chapter(findings),) if findings.announced_calls else ()
    return TraceReport(tuple(summarise_run(findings, everything)), chapters, not chapters)


def summarise_run(findings: Findings, everything: bool = False) -> Iterator[str]:
    """Say what ran, what has no rule, and what was not followed, in sentences."""
    run = findings.predicted_run.run
    under = " and ".join(dict.fromkeys(run.systems.values()))
    ran = [
        s.location.file
        for s in findings.predicted_run.steps
        if s.location and (is_operation(s) or isinstance(s, Opaque))
    ]
    files = count_text(len({*ran}), "file")
    processes = (
        f" in {count_text(run.followed_process_count + 1, 'process', 'processes')}"
        if run.followed_process_count
        else ""
    )
    where = f"{files}{f' under {under}' if under else ''}{processes}"
    if run.operations or run.model is None:
        yield f"{count_text(run.operations, 'operation')} ran in {where}"
    if run.opaque and run.model is None:  # a dispatcher has seen what those calls did
        results = count_text(run.opaque, "array comes", "arrays come")
        share = f"{run.opaque_share:.1%} of those that are computed with"
        yield f"{results} from calls of which no rule is known ({share}): taken as seen"
    left = [*_describe_not_followed(findings, everything)]
    if left:
        yield f"not followed: {'; '.join(left)}"
    if findings.excused_count:
        yield f"{count_text(findings.excused_count, 'finding')} not shown: a comment says that it is meant"
    yield from findings.omissions
    yield from run.summaries


def _describe_not_followed(findings: Findings, everything: bool) -> Iterator[str]:
    """Name the modules and functions that were not followed, or count them by their reasons."""
    run = findings.predicted_run.run
    left = sorted(run.unfollowed_code, key=lambda each: each.reason)
    for reason, those in groupby(left, key=lambda each: each.reason):
        names = [each.name for each in those]
        if everything or len(names) <= MAX_NAMED_MODULES:
            yield f"{', '.join(names)}: {reason}"
        else:
            yield f"{count_text(len(names), 'function or module', 'functions or modules')}: {reason}"
    if run.unfollowed_process_count:
        shown = run.commands if everything else run.commands[:MAX_NAMED_MODULES]
        more = f" and {len(run.commands) - len(shown)} more" if len(run.commands) > len(shown) else ""
        which = f": {', '.join(shown)}{more}" if shown else ""
        children = count_text(run.unfollowed_process_count, "child process", "child processes")
        yield f"{children} that the program started, and that left no run{which}"


def _make_chapters(findings: Findings, everything: bool) -> Iterator[Chapter]:
    scope = findings.scope
    model = findings.predicted_run.run.model
    if findings.departures is None:
        yield _make_causes_chapter(findings, scope)
    if model is not None:
        yield from _make_model_chapters(findings, model, everything)
    if findings.value_losses is not None:
        yield _make_values_chapter(findings.value_losses, scope)
    if findings.cast_backs:
        entries = tuple(
            _make_entry(findings.predicted_run, "TL003", each.step, describe_cast_back(each))
            for each in findings.cast_backs
        )
        yield Chapter("cast-back", cast_back_heading(len(entries)), entries, brief=True)
    if findings.wrong_announcements or findings.announced_calls:
        yield _make_announcements_chapter(findings)
    if findings.weakness_changes:
        yield _make_weakness_chapter(findings.weakness_changes)
    for system, divergences in findings.divergences.items():
        yield _make_divergences_chapter(findings.predicted_run, system, divergences, findings.replays[system])
    departures = findings.predicted_run.departures
    if departures:
        many = count_text(len(departures), "step")
        heading = f"{many} came out as the library is known to, and not as its rule says"
        entries = _make_other_entries(findings.predicted_run, "TL004", [*departures], departures)
        yield Chapter("known-departures", heading, entries, brief=True)
    wrong = findings.predicted_run.mismatches
    many = count_text(len(wrong), "mismatch", "mismatches")
    other = " other" if departures else ""
    heading = (
        f"{many}: our rules say otherwise than was observed; please report it"
        if wrong
        else f"every{other} dtype is the one that its library's rules predict"
    )
    entries = _make_other_entries(findings.predicted_run, "TL005", wrong, {})
    yield Chapter("mismatches", heading, entries, brief=True, notes=tuple(describe_rule_scope(scope)))


def _make_model_chapters(findings: Findings, model: ModelRun, everything: bool) -> Iterator[Chapter]:
    """Make the chapters of departures from a policy, and of memory."""
    code, found = CodeReader(findings.predicted_run.run.sources), findings.departures
    notes = tuple(describe_model_scope(found, model.log, code))
    if found is not None:
        entries = tuple(_make_departure_entry(each, code) for each in found.departures)
        yield Chapter("departures", departures_heading(found), entries, notes=notes)
    if model.questions.memory:
        table = make_memory_table(model.log)
        tables = tuple(memory_sections(table, everything))
        yield Chapter(
            "memory", memory_heading(table), (), notes=notes if found is None else (), tables=tables
        )


def _make_departure_entry(departure: Departure, code: CodeReader) -> ReportEntry:
    place = departure.place
    return ReportEntry(
        "TL007", -1, place.location if place else None, code.code_at(place.location if place else None),
        departure_message(departure), partial(departure_sections, departure, code),
        tuple(
            (each.place.location, describe_source(each, code))
            for each in departure.sources if each.place.location is not None
        ),
        extra_bytes=departure.bytes,
    )  # fmt: skip


def _make_values_chapter(losses: Sequence[LocatedLoss], scope: CheckScope) -> Chapter:
    """Make the chapter of lost values, with the results that were not checked. Wrapped values come first."""
    checked = scope.value_scope.checked_count if scope.value_scope is not None else 0
    looked_at = count_text(checked, "checked result")
    dispatched = scope.value_scope.dispatched_count if scope.value_scope is not None else 0
    if dispatched:
        looked_at += f" of lines, and {dispatched:,} of operations inside of models"
    checked += dispatched
    entries = tuple(
        ReportEntry(each.loss.rule, -1, each.location, each.text, _describe_loss(each))
        for each in sorted(losses, key=_loss_order)
    )
    heading = f"values were lost at {count_text(len(entries), 'place')}, in {looked_at}"
    if not entries:
        heading = f"no value was lost in {looked_at}" if checked else "no values were checked"
    return Chapter("values", heading, entries, brief=True, notes=tuple(describe_value_scope(scope)))


def _loss_order(place: LocatedLoss) -> tuple[str, str, int, str]:
    return place.loss.rule, place.location.file, place.location.line, place.text


def _describe_loss(place: LocatedLoss) -> str:
    loss, times = place.loss, f", in {place.runs:,} runs" if place.runs > 1 else ""
    what = f"{loss.lost_count:,} of {count_text(loss.total_count, 'number')} {loss.description}{times}"
    if place.modules:
        what += f"; in {list_names(place.modules)}"
    if place.caller is not None:
        what += f"; called at {location_text(place.caller)}"
    return what


def _make_announcements_chapter(findings: Findings) -> Chapter:
    """Make the chapter of arrays with another dtype, when they were computed, than they had announced."""
    steps = findings.predicted_run.steps
    entries = tuple(
        replace(
            _make_entry(findings.predicted_run, "TL008", each.step, describe_announcement(each, steps)),
            other_places=tuple(
                (at, f"announces {each.announced}, and {each.computed} was computed")
                for at in (steps[number].location for number in each.sources) if at is not None
            ),
        )
        for each in findings.wrong_announcements
    )  # fmt: skip
    entries += tuple(
        ReportEntry(
            "TL008", -1, each.location, each.text, describe_announced_call(each),
            other_places=((each.computing_location, f"computes {each.computed}"),)
            if each.computing_location is not None else (),
        )
        for each in findings.announced_calls
    )  # fmt: skip
    heading = f"{count_text(len(entries), 'array')} computed with another dtype than announced"
    return Chapter("announcements", heading, entries, brief=True)


def _make_weakness_chapter(changes: Sequence[WeaknessChange]) -> Chapter:
    """Make the chapter of arguments that make functions compile again."""
    entries = tuple(
        ReportEntry("TL006", -1, each.location, each.text, _describe_weakness(each)) for each in changes
    )
    what = "argument of another dtype" if all(each.new_dtype for each in changes) else "weak argument"
    plural = "arguments of another dtype" if what[0] == "a" else "weak arguments"
    if len({bool(each.new_dtype) for each in changes}) > 1:
        plural = "arguments, which are weak or of another dtype"
    heading = f"functions are compiled anew for {count_text(len(entries), what, plural)}"
    return Chapter("weak-arguments", heading, entries, brief=True)


def _describe_weakness(change: WeaknessChange) -> str:
    if change.new_dtype:
        first, later = location_text(change.weak_call), location_text(change.strong_call)
        where = f"at {first}" if first == later else f"at {first}, and {later}"
        what = f"`{change.argument}` of {change.function} goes in as {change.dtype} and comes back as"
        advice = f"; cast it here, or begin with {change.new_dtype}"
        return f"{what} {change.new_dtype} ({where}){_describe_unfollowed_origin(change) or advice}"
    calls = (
        f"in one call at {location_text(change.weak_call)}, and a strong one in another"
        if change.weak_call == change.strong_call
        else f"at {location_text(change.weak_call)}, and a strong one at {location_text(change.strong_call)}"
    )
    advice = _describe_unfollowed_origin(change) or "; give it a dtype here"
    return f"`{change.argument}` of {change.function} is a weak {change.dtype} {calls}{advice}"


def _describe_unfollowed_origin(change: WeaknessChange) -> str:
    """Say that the line is in a package that was not followed, or nothing."""
    follow = describe_how_to_follow(change.package)
    return f"; not followed: the line of {change.package} that made it{follow}" if follow else ""


def _make_causes_chapter(findings: Findings, scope: CheckScope) -> Chapter:
    causes = findings.causes
    # 0 if the program requests the wide dtype, or if no size is known
    more = sum(c.extra_bytes for c in causes)
    took = f", which took {size_text(more)} more" if more else ""
    heading = f"floats were widened from {count_text(len(causes), 'place')}{took}"
    made = (_make_cause_entry(findings.predicted_run, cause) for cause in causes)
    entries = tuple(sorted(made, key=lambda entry: bool(entry.package)))  # the user's own lines come first
    islands = [describe_island(findings.predicted_run, each) for each in findings.islands[:MAX_NAMED_MODULES]]
    if len(findings.islands) > MAX_NAMED_MODULES:
        islands.append(f"and {len(findings.islands) - MAX_NAMED_MODULES:,} more such places")
    if not causes:
        none = "no other float was widened" if findings.omitted_causes else "no float was widened by another"
        notes = (*describe_scope(scope), *describe_wide_results(scope), *islands)
        return Chapter("causes", none, entries, notes=notes)
    notes = (*describe_unseen_floats(scope), *describe_wide_results(scope), *islands)
    return Chapter("causes", heading, entries, notes=notes)


def _make_cause_entry(predicted_run: PredictedRun, cause: WideningCause) -> ReportEntry:
    rule = "TL001" if cause.is_default_dtype else "TL002"
    entry = _make_entry(
        predicted_run,
        rule,
        cause.step,
        cause_message(predicted_run, cause),
        partial(cause_sections, predicted_run, cause),
    )
    return replace(
        entry,
        other_places=_list_other_places(predicted_run, cause),
        change_lines=partial(list_changed_lines, predicted_run, cause),
        extra_bytes=cause.extra_bytes,
        package=_name_package(predicted_run, cause),
    )


def _name_package(predicted_run: PredictedRun, cause: WideningCause) -> str:
    """Name the installed package of the lines of a cause, or return "" if one is the user's own."""
    places = [predicted_run.steps[i].location for i in (cause.step, cause.origin_steps[0])]
    paths = [package_path(place.file) if place is not None else None for place in places]
    return paths[0].parts[0] if paths[0] is not None and None not in paths else ""


def _list_other_places(
    predicted_run: PredictedRun, cause: WideningCause
) -> tuple[tuple[SourceLocation, str], ...]:
    """List the lines where the wide float comes from, and those where it widens another float."""
    first = predicted_run.steps[cause.step].location
    head = f"{location_text(first)} widens {cause.narrow_dtype}"
    found: dict[SourceLocation, str] = {}
    for steps, text in (
        (cause.origin_steps, f"the {cause.wide_dtype} comes from here; {head}"),
        (cause.widening_steps, f"the {cause.wide_dtype} also widens a float here; {head} first"),
        (find_met_operands(predicted_run, cause), f"an operand of {location_text(first)} is made here"),
    ):
        for i in steps:
            at = predicted_run.steps[i].location
            if at is not None and at != first:
                found.setdefault(at, text)
    return tuple(found.items())


def _make_divergences_chapter(
    predicted_run: PredictedRun, system: str, divergences: Sequence[RunDivergence], replayed: Replay
) -> Chapter:
    entries = tuple(_make_divergence_entry(predicted_run, each) for each in divergences)
    heading = f"under {system} {count_text(len(entries), 'place')} would differ: {_count_costs(entries)}"
    same = f"under {system} every step has the same dtype"
    notes = (*_describe_mode(system), *_describe_never_asked(predicted_run, system, replayed))
    return Chapter(f"under-{system}", heading if entries else same, entries, notes=notes)


def _count_costs(entries: Sequence[ReportEntry]) -> str:
    """Count the divergences among entries by their costs, the worst first."""
    rules = [entry.rule for entry in entries]
    return ", ".join(f"{n} {cost}" for cost, rule in DIVERGENCE_RULES.items() if (n := rules.count(rule)))


def _describe_mode(system: str) -> Iterator[str]:
    """Say which mode a system describes, if its title names the system of another mode."""
    title = find_system(system).title if system in systems() else ""
    others = {word.strip("(),;:") for word in title.split()} - {system}
    if not others.isdisjoint(systems()):
        yield f"{system}: {title}"


def _describe_never_asked(predicted_run: PredictedRun, system: str, replayed: Replay) -> Iterator[str]:
    """Say how many operations only a rule predicts for a system, and how they are marked."""
    known: dict[int, bool] = {}  # steps of equal operands share one outcome
    unasked = operations = 0
    for step, outcome in zip(predicted_run.steps, replayed, strict=True):
        if is_operation(step):
            operations += 1
            unasked += known.setdefault(id(outcome), outcome.is_unrecorded)
    if unasked:
        of = f"{unasked:,} of {count_text(operations, 'step')}"
        yield f"no answer of {system} is recorded for {of}; {NEVER_ASKED_MARK} marks what its rule predicts"


def _make_divergence_entry(predicted_run: PredictedRun, divergence: RunDivergence) -> ReportEntry:
    def sections() -> Iterator[tuple[str, Sequence[str]]]:
        yield divergence.cost, [*divergence_lines(predicted_run, divergence)]

    message = f"under {divergence.system}: {next(divergence_lines(predicted_run, divergence))}"
    return _make_entry(
        predicted_run, DIVERGENCE_RULES[divergence.cost], divergence.steps[0], message, sections
    )


def _make_other_entries(
    predicted_run: PredictedRun, rule: str, steps: Sequence[int], reasons: Mapping[int, str]
) -> tuple[ReportEntry, ...]:
    """Make the entries of steps that contradict a rule."""
    return tuple(
        _make_entry(
            predicted_run, rule, i,
            f"{name_in_source(predicted_run.steps[i])} of {describe_operands(predicted_run, i)} "
            f"{describe_mismatch(predicted_run, i, reasons)}",
        )
        for i in steps
    )  # fmt: skip


def _make_entry(
    predicted_run: PredictedRun,
    rule: str,
    step_number: int,
    message: str,
    sections: Callable[[], Iterator[tuple[str, Sequence[str]]]] = lambda: iter(()),
) -> ReportEntry:
    step = predicted_run.steps[step_number]
    return ReportEntry(rule, step_number, step.location, step.text, message, sections)
