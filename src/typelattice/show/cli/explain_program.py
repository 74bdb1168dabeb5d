"""The output of the command `explain` for a program: the result of each step, and the divergences."""

from __future__ import annotations

import importlib.util
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import typelattice as tl
from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.rendering.json import json_document
from typelattice.base.rendering.terminal_output import terminal_layout
from typelattice.core.evidence.never_asked import NEVER_ASKED_MARK, NEVER_ASKED_NOTE
from typelattice.core.explanations.promotion_in_english import (
    describe_cast,
    describe_explicit_cast,
    describe_fit,
)
from typelattice.core.explanations.recorded_answer_in_english import (
    describe_recorded_answer,
    recorded_result_text,
)
from typelattice.core.operands.notation import parse_operand
from typelattice.core.registry.libraries import libraries
from typelattice.core.registry.system_headings import LIBRARIES_HEADING, heading_of
from typelattice.programs.calls.steps import Input, ProgramError, Step
from typelattice.programs.entry_points.make_program import program_file, read_program
from typelattice.programs.program.outcome_data import replay_data, steps_data
from typelattice.programs.program.program import Program, Replay
from typelattice.programs.readers.source.read_source import PartlyReadError
from typelattice.programs.replay.divergences import (
    Divergences,
    StepDivergence,
    find_divergences,
    list_shared_steps,
)
from typelattice.programs.replay.outcome import Outcome
from typelattice.show.cli.bindings import split_bindings
from typelattice.show.cli.command import DifferencesFound, Paragraphs, UsageError
from typelattice.show.cli.link_option import program_link

SOURCE_WITHOUT_FILE = "<source>"  # the file of the steps of a program that is given as text
ParagraphParts = TypeVar("ParagraphParts", bound=tuple[object, ...])


def explain_program(
    args: Namespace,
    systems: Sequence[tl.System],
    custom_dtypes: Sequence[Mapping[str, tl.DType]],
    site: str | None,
) -> Paragraphs:
    """Print a program with its inputs: in full under named systems, or in brief under all.

    `site` is the address of the site. If it is given, the output ends with a link to the page there that
    computes the program. Of a program with a result that is not known, print the steps that were read, and
    raise its PartlyReadError then.
    """
    if args.op:
        raise ProgramError("--op goes with operands; write the operation into the program, as in: sqrt(x)")
    text, bound = split_bindings(args.operands)
    source = load_function(text) if args.run else text
    partly_read: PartlyReadError | None = None
    try:
        made = tl.program(source, *systems, **bound)
    except PartlyReadError as e:
        if args.format == "json":
            raise
        partly_read = e
        made = read_program(replace(e.source, keeps_unknown_results=True), text)
    p = replace(made, source=text.strip())
    page = [] if site is None else [f"{site}/{program_link(p.source, bound, args.system)}"]
    replays = [_parse_inputs(p, known).under(s) for s, known in zip(systems, custom_dtypes, strict=True)]
    if args.format == "json":
        answers = [replay_data(replay, p) for replay in replays]
        asked = {"program": p.source, "operands": bound, "steps": steps_data(p)}
        if p.unread:
            asked["unread"] = [*map(str, p.unread)]
        yield json_document("replays", {**asked, "answers": answers, **({"link": page[0]} if page else {})})
        page = []
    elif args.system:
        for i, replayed in enumerate(replays):
            yield from ["", ""] if i else []
            yield from _describe_in_full(replayed.program, bound, replayed)
        if len(replays) > 1:
            yield from _print_divergences(_find_divergences(replays), _own_file(p))
            yield from _print_results(replays)
    else:
        yield from _describe_briefly(p, bound, replays)
    if args.format != "json":
        yield from _list_unread(p)
    if page:
        yield f"\n{page[0]}"
    if partly_read is not None:
        raise partly_read
    if args.exit_code and _systems_disagree(replays):
        raise DifferencesFound


def load_function(text: str) -> Callable[..., object]:
    """Import a file and return its function: `FILE.py:function`. The code of the file is executed.

    Raises UsageError if the text names no function of a file, or if the file cannot be imported.
    """
    file = program_file(text)
    if file is None:
        raise UsageError("explain: --run goes with a function of a file: FILE.py:function x=float32")
    path, name = Path(file).resolve(), text.rpartition(":")[2]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"explain: there is no file {quote_short(file)}; give the path of a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"explain: {path.name} cannot be imported: {why}; mend it, or leave out --run"
        ) from None
    finally:
        sys.path.remove(str(path.parent))
    found = getattr(module, name, None)
    if not callable(found):
        near = spelling_hint(name, [key for key, value in vars(module).items() if callable(value)])
        raise UsageError(f"explain: {path.name} has no function {quote_short(name)}{near}")
    return found  # type: ignore[no-any-return]


def _find_divergences(replays: Sequence[Replay]) -> Divergences:
    """Return the divergences between replays of a program."""
    return find_divergences([r.program.steps for r in replays], [r.name for r in replays], replays)


def _systems_disagree(replays: Sequence[Replay]) -> bool:
    """Return True if two systems differ at a step, or one refuses a step."""
    refused = any(replayed.refusals for replayed in replays)
    diverging = _find_divergences(replays)
    return refused or diverging.first_divergence is not None


def _parse_inputs(program: Program, custom_dtypes: Mapping[str, tl.DType]) -> Program:
    """Parse the inputs that are still text; `custom_dtypes` holds the dtypes that system files define.

    A program that each system reads by itself is left as it is.
    """
    if program.readings is not None:
        return program
    steps = [
        replace(step, fixed_result=parse_operand(step.fixed_result, custom_dtypes))
        if isinstance(step, Input) and isinstance(step.fixed_result, str) else step
        for step in program.steps
    ]  # fmt: skip
    return replace(program, steps=tuple(steps))


def _program_heading(program: Program, bound: Mapping[str, str]) -> str:
    """Write a program on one line, with its inputs."""
    lines = program.source.splitlines()
    source = lines[0] if len(lines) == 1 else f"{lines[0]} ..."
    return f"{source} with {', '.join(f'{name}={x}' for name, x in bound.items())}" if bound else source


def _step_title(step: Step, own_file: str) -> str:
    """Write a step, after its line number if the program has several lines, and after another file's name."""
    if step.location is None:
        return step.text
    file = "" if step.location.file in ("", own_file) else f"{step.location.file}:"
    return f"{file}{step.location.line}: {step.text}"


def _own_file(program: Program) -> str:
    """Return the name of the file of a program, as its steps have it."""
    file = program_file(program.source)
    return SOURCE_WITHOUT_FILE if file is None else Path(file).name


def _describe_briefly(program: Program, bound: Mapping[str, str], replays: Sequence[Replay]) -> Paragraphs:
    """Print each step with its results; mark divergences between libraries, other systems aside."""
    page = terminal_layout()
    yield page.bold(_program_heading(program, bound))
    of_libraries = [r for r in replays if r.name in libraries() and heading_of(r.name) == LIBRARIES_HEADING]
    diverging = _find_divergences(of_libraries)
    marks = {
        d.step_number: _divergence_mark(d, d is diverging.first_divergence)
        for d in diverging.step_divergences
    }
    paragraphs = []
    for i, step, having in list_shared_steps([r.program.steps for r in replays]):
        if step.op is None:
            continue
        groups: dict[str, list[str]] = {}
        for replayed in (replays[k] for k in having):
            answer_text, name = _result_text(replayed[i], replayed.name)
            groups.setdefault(answer_text, []).append(name)
        answer_columns = max(map(len, groups)) + 8
        ranked = sorted(groups.items(), key=lambda g: (g[0] in ("refused", "not reached"), -len(g[1])))
        lines = []
        for answer, names in ranked:
            systems = ["every system" if len(names) == len(replays) else ", ".join(names)]
            lines.append(
                page.join_columns(
                    f"  {answer.ljust(answer_columns - 8)}{len(names):4}", systems, answer_columns
                )
            )
        mark = marks.get(i, "") if len(having) == len(replays) else ""
        paragraphs.append((_step_title(step, _own_file(program)), mark, tuple(lines)))
    for (title, mark, lines_), times in _join_repeated(paragraphs):
        yield ""
        yield page.fold_line(f"{title}{times}{mark}")
        yield from lines_
    if len(paragraphs) > 1:
        yield from _first_refusals(program, replays)
    outcomes = [o for made in replays for o in made]
    if notes := [*_mark_notes(outcomes)]:
        yield ""
        yield from map(page.fold_line, notes)


def _list_unread(program: Program) -> Paragraphs:
    """Print the lines that were not read. No step depends on them."""
    if program.unread:
        page = terminal_layout()
        yield ""
        yield page.bold("not read")
        for line in program.unread:
            yield page.fold_line(str(line), margin=2)


def _first_refusals(program: Program, replays: Sequence[Replay]) -> Paragraphs:
    """Print the systems that refuse the program, by the first step that each refuses."""
    page = terminal_layout()
    refusing = [(replayed.refusals[0][0], replayed.name) for replayed in replays if replayed.refusals]
    if refusing:
        yield ""
        yield page.bold("first refusals")
    for step in dict.fromkeys(first for first, _ in refusing):
        if names := [name for first, name in refusing if first == step]:
            yield page.fold_line(_location_text(step, _own_file(program)), margin=2)
            yield page.join_columns(f"  {len(names):4}", [", ".join(names)], 8)


def _location_text(step: Step, own_file: str) -> str:
    """Write a step, after the words "line 7" if the program has several lines."""
    if step.location is None:
        return step.text
    file = "" if step.location.file in ("", own_file) else f"{step.location.file}, "
    return f"{file}line {step.location.line}, {step.text}"


def _result_text(outcome: Outcome, name: str) -> tuple[str, str]:
    """Return the result of a step and its system's name; if the library departs, the observed result."""
    if seen := outcome.recorded_departure:
        answer = f"{seen.dtype}{'*' * seen.weak}" if seen.dtype else recorded_result_text(seen)
        return answer, f"{name} (by rule {outcome})"
    return str(outcome), f"{name}{NEVER_ASKED_MARK}" if outcome.is_unrecorded else name


def _mark_notes(outcomes: Sequence[Outcome]) -> Paragraphs:
    """Explain the marks among the results."""
    if any(o.operand and o.operand.dtype and o.operand.weak for o in outcomes):
        yield "* is weak: beside an array it adopts the array's width"
    if any(o.is_unrecorded for o in outcomes):
        yield NEVER_ASKED_NOTE
    if any(o.recorded_departure for o in outcomes):
        yield "after a step where a library departs from its rule, later steps follow the rule"


def _divergence_mark(divergence: StepDivergence, is_first: bool) -> str:
    """Mark a step where the libraries diverge."""
    if divergence.inherited_from:
        return ""
    return " <- the libraries diverge here" if is_first else " <- they diverge again"


def _describe_in_full(program: Program, bound: Mapping[str, str], replayed: Replay) -> Paragraphs:
    """Print each step under one system, with its result and its implicit casts."""
    page = terminal_layout()
    results = ", ".join(str(replayed[i]) for i in program.results) or "its result is not known"
    yield page.bold(f"{_program_heading(program, bound)} under {replayed.name}: {results}")
    yield ""
    steps, own_file = zip(program.steps, replayed, strict=True), _own_file(program)
    paragraphs = [
        (_step_title(step, own_file), o.text_with_mark, tuple(explain_outcome(o)))
        for step, o in steps
        if step.op is not None
    ]
    for (title, marked, lines), times in _join_repeated(paragraphs):
        yield page.fold_line(f"{title}{times}: {marked}")
        for line in lines:
            yield page.fold_line(line, margin=2)


def explain_outcome(outcome: Outcome) -> Sequence[str]:
    """Explain a step that casts or refuses operands, and name the rule."""
    p = outcome.promotion
    if outcome.cast is not None:
        words = describe_explicit_cast(outcome.cast.source, outcome.cast.target, outcome.cast.cast_rule)
        return [outcome.reason or words, f"rule: {outcome.cast.rule}"]
    if p is None:
        return [each for each in (outcome.reason, outcome.asked) if each]
    casts = [f"casts {describe_cast(c)}" for c in p.casts if isinstance(c.source, tl.DType)]
    refused = (
        [f"{outcome.reason}: {p.remedy}" if p.remedy and outcome.reason == p.reason else outcome.reason]
        if outcome.reason
        else []
    )
    sums = [f"accumulates in {p.accumulator}"] if p.accumulator else []
    said = [*(refused or casts), *sums, *map(describe_fit, p.fits)]
    keeps_dtype = p.op is not None and all(operand.dtype is p.dtype for operand in p.promoting_operands)
    if said or not keeps_dtype:
        said.append(f"rule: {p.rule}")
    seen = outcome.recorded_answer
    if (seen is None or seen.departs) and (observed_words := describe_recorded_answer(p, seen)):
        said.append(f"observed: {'; '.join(observed_words)}")
    return said


def _print_divergences(diverging: Divergences, own_file: str) -> Paragraphs:
    """Print the divergences between the named systems."""
    page = terminal_layout()
    yield ""
    yield ""
    if not diverging.step_divergences:
        yield page.bold(f"{' and '.join(diverging.systems)} agree on every step")
        return
    yield page.bold("divergences")
    yield ""
    paragraphs = [
        (_step_title(d.step, own_file), "" if d.inherited_from else " <- here", d.answers(diverging.systems))
        for d in diverging.step_divergences
    ]
    for (title, mark, answers), times in _join_repeated(paragraphs):
        yield page.fold_line(f"{title}{times}{mark}")
        yield page.fold_line(answers, margin=2)
    if diverging.has_unrecorded_calls:
        yield ""
        yield page.fold_line(NEVER_ASKED_NOTE)


def _print_results(replays: Sequence[Replay]) -> Paragraphs:
    """Print the results of the program under each system, or the first step that it refuses."""
    page = terminal_layout()
    stub = max(len(replayed.name) for replayed in replays) + 2
    yield ""
    yield ""
    yield page.bold("results")
    yield ""
    for replayed in replays:
        result = ", ".join(replayed[i].text_with_mark for i in replayed.program.results)
        if refusals := replayed.refusals:
            step, outcome = refusals[0]
            where = _location_text(step, _own_file(replayed.program))
            result = f"refused at {where}: {outcome.reason}"
        yield page.join_columns(replayed.name, [result], stub)


def _join_repeated(paragraphs: Iterable[ParagraphParts]) -> Iterator[tuple[ParagraphParts, str]]:
    """Join equal paragraphs, such as those of an unrolled loop, and say how often each occurs."""
    yield from (
        (paragraph, f" ({times} times)" if times > 1 else "")
        for paragraph, times in Counter(paragraphs).items()
    )
