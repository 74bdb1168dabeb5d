"""The search for a patch of a program that fails by its dtypes: it is right if the program runs."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from typelattice.base.disk.read import FileError, read_bytes
from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.core.registry.libraries import libraries
from typelattice.repair.copies.refused_calls import (
    ITEM_NAME,
    Failure,
    RefusedCall,
    RefusedOperand,
    Span,
    WorkingCast,
)
from typelattice.repair.copies.source import FixError, open_source
from typelattice.repair.patch.patch import MAX_SOURCE_BYTES, KeptChange, Patch
from typelattice.repair.patch.workspace import (
    FailedRun,
    FinishedRun,
    PlainRun,
    PrintedFailure,
    SearchTimeOverError,
    Workspace,
)
from typelattice.repair.proof.function_proof.function_proofs import FunctionProofs
from typelattice.repair.proof.function_proof.proof_process import ProofRequest
from typelattice.repair.proof.function_proof.verdicts import read_verdicts
from typelattice.repair.proof.value_comparison import ValueDifference
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.library_traits import cast_text
from typelattice.tracing.remedies.change import Change
from typelattice.tracing.remedies.remedy import order_changes
from typelattice.tracing.remedies.step_node import list_library_aliases
from typelattice.tracing.report.formatting import count_text
from typelattice.tracing.run_data.float_widths import dtype_width
from typelattice.tracing.run_data.run import Run
from typelattice.tracing.source.source_file import Edit, SourceFile

MAX_FAULTS = 6  # places of one program that fail one after the other
MAX_RUNS_PER_FAULT = 12
MAX_CHANGES_PER_CAUSE = 6  # that keep a float narrow before the failure
MAX_CHANGES_PER_FAULT = 60  # most of them are refuted without a run


@dataclass(frozen=True, slots=True)
class _Mending:
    """Changes after which the program runs further: their files, the last run, and the changes themselves."""

    sources: Mapping[str, SourceFile]
    outcome: PlainRun | PrintedFailure
    kept_changes: tuple[KeptChange, ...] = ()


def mend_program(workspace: Workspace, failed_run: FailedRun, widest_dtype: DType) -> Patch:
    """Find casts with which a failing program runs to its end. Raises FixError if there are none.

    Casts to floats that are wider than `widest_dtype` come last.
    """
    search = _MendSearch(workspace, failed_run, dtype_width(widest_dtype) or 0)
    try:
        with suppress(SearchTimeOverError):
            return search.find_patch()
    finally:
        search.proofs.close()
    raise FixError(f"{search.explain_failure()}; no cast was found in {workspace.limits.seconds:g} s")


class _MendSearch:
    """The search for the casts with which one program runs."""

    def __init__(self, workspace: Workspace, failed_run: FailedRun, widest: int) -> None:
        self.workspace, self.failed_run, self.widest = workspace, failed_run, widest
        program = workspace.program
        self.root, self.original = program.copy_folder, program.original_folder
        self.files = failed_run.followed_files or ((program.target,) if program.function else ())
        self.original_contents: dict[str, bytes] = {}
        self.proofs: FunctionProofs = workspace.make_proofs()
        self.reasons: list[str] = []

    def explain_failure(self) -> str:
        """Say that the program fails, and why the last cast did not help."""
        tried = f"; {self.reasons[-1]}" if self.reasons else ""
        return f"the program fails without any change: {self.failed_run.reason}{tried}"

    def find_patch(self) -> Patch:
        """Mend one fault after the other. Raises FixError if a cast does not lead to the end."""
        sources = self.read_sources()
        outcome = self.workspace.run_and_read_failure(tuple(sources))
        if not isinstance(outcome, PrintedFailure):
            raise FixError(self.explain_failure())
        before = outcome
        mending = _Mending(sources, outcome)
        for _ in range(MAX_FAULTS):
            found = self.mend_fault(mending, before)
            if found is None:
                break
            mending = found
            if isinstance(mending.outcome, PlainRun):
                return self.make_patch(mending, before, mending.outcome)
        raise FixError(self.explain_failure())

    def read_sources(self) -> dict[str, SourceFile]:
        """Read the followed files. Files that cannot be changed are left out."""
        found: dict[str, SourceFile] = {}
        for file in self.files:
            with suppress(FixError, FileError, SyntaxError):
                source = open_source(Path(file), read_bytes(file, MAX_SOURCE_BYTES))
                source.check_syntax()
                found[file], self.original_contents[file] = source, source.content
        return found

    def mend_fault(self, mending: _Mending, before: PrintedFailure) -> _Mending | None:
        """Return the first change after which the program ends, or else one after which it runs further."""
        assert isinstance(mending.outcome, PrintedFailure)
        failure, further, runs = mending.outcome.failure, None, 0
        is_first = not mending.kept_changes and failure.is_by_dtype
        traced_run = self.failed_run.run if is_first else None
        proposed = propose_mending_changes(failure, mending.sources, traced_run, self.widest)
        changes = islice(proposed, MAX_CHANGES_PER_FAULT)
        for change in dict.fromkeys(changes):
            source = mending.sources[change.file]
            patched = source.edited(change.edits)
            content = patched.content
            with suppress(SyntaxError, ValueError):
                patched.check_syntax()
                sources = {**mending.sources, change.file: patched}
                line = source.line_of_byte(change.edits[0].start)
                old, new = (_line_text(text, line) for text in (source.content, content))
                proof = self.prove_functions(mending.sources, change.file, content)
                if proof[0]:
                    self.reasons.append(f"tried {new!r}: {proof[0]}")
                    continue
                runs += 1
                if runs > MAX_RUNS_PER_FAULT:
                    break
                outcome = self.run_with(sources)
                reason = self.why_rejected(outcome, before)
                if reason:
                    self.reasons.append(f"tried {new!r}: {reason}")
                    continue
                assert outcome is not None
                kept = KeptChange(self.original_path(change.file), line, old, new, proof[1])
                found = _Mending(sources, outcome, (*mending.kept_changes, kept))
                if isinstance(outcome, PlainRun):
                    return found
                self.reasons.append(f"tried {new!r}: {self.clip(outcome.failure.reason)}")
                if further is None and _is_further(outcome.failure, failure):
                    further = found
        self.put_contents(mending.sources)
        return further

    def why_rejected(self, outcome: PlainRun | PrintedFailure | None, before: PrintedFailure) -> str:
        """Say why a run is no better than the failure, or return ""."""
        if outcome is None:
            return "it fails elsewhere, or takes too long"
        if not outcome.printed.startswith(before.printed):
            return "it prints other words before the failure"
        return ""

    def run_with(self, sources: Mapping[str, SourceFile]) -> PlainRun | PrintedFailure | None:
        """Run the program with these sources."""
        self.put_contents(sources)
        self.workspace.doing = "casts with which the program runs"
        return self.workspace.run_and_read_failure(tuple(sources))

    def put_contents(self, sources: Mapping[str, SourceFile]) -> None:
        for file, source in sources.items():
            self.workspace.put_content(file, source.content)

    def prove_functions(
        self, sources: Mapping[str, SourceFile], file: str, content: bytes
    ) -> tuple[str, str]:
        """Prove that calls which did not fail stay as they are. Return a difference, and the proof."""
        if self.workspace.seconds_left <= 0:
            raise SearchTimeOverError
        current = {name: source.content for name, source in sources.items()}
        files = {
            name: (before, content if name == file else current[name])
            for name, before in self.original_contents.items()
            if name == file or current[name] != before
        }
        request = ProofRequest(files, current, None, mends_failure=True)
        proof = read_verdicts(self.proofs.prove(request, [*self.original_contents]))
        return proof.difference, proof.text

    def make_patch(self, mending: _Mending, before: PrintedFailure, outcome: PlainRun) -> Patch:
        """Make the patch. Raises FixError if the program fails when it is traced."""
        finished_run = self.workspace.run()
        if not isinstance(finished_run, FinishedRun):
            raise FixError(f"{self.explain_failure()}; traced: {finished_run.reason}")
        new = [name for name in outcome.values if name not in before.failure.bound_names]
        contents = {
            self.original_path(file): (self.original_contents[file], source.content)
            for file, source in mending.sources.items()
            if source.content != self.original_contents[file]
        }
        results = count_text(len(new), "result is new", "results are new")
        checks = f": check {_short(new)} yourself" if new else ""
        mended = f"the program failed before, and runs to its end now; {results}{checks}"
        return Patch(
            mending.kept_changes, (), contents, f"it failed with {self.clip(before.failure.reason)}",
            ValueDifference(), mended=mended,
            run_count=self.workspace.run_count, notes=(*self.workspace.notes,),
        )  # fmt: skip

    def original_path(self, file: str) -> Path:
        """Map a file of the copy to the user's file."""
        path = Path(file)
        return self.original / path.relative_to(self.root) if path.is_relative_to(self.root) else path

    def clip(self, reason: str) -> str:
        """Return the first line of a reason, without the folder of the copy."""
        return reason.replace(f"{self.root}{os.sep}", "").strip().partition("\n")[0][:300]


def _line_text(content: bytes, line: int) -> str:
    return content.splitlines()[line - 1].decode("utf-8").strip()


def _short(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def _is_further(new: Failure, old: Failure) -> bool:
    """Return True if a program fails at another line than before, again by its dtypes."""
    if not new.is_by_dtype or new.place is None or old.place is None:
        return False
    return (new.place[0], new.place[1][0]) != (old.place[0], old.place[1][0]) or new.reason != old.reason


def propose_mending_changes(
    failure: Failure, sources: Mapping[str, SourceFile], traced_run: Run | None, widest: int
) -> Iterator[Change]:
    """Yield changes with which a refused call runs, then casts where its operands are made.

    Between them are the changes that keep floats narrow in the traced run, which ended at the failure. A
    compiled loop refuses a carry of another dtype, and only the lines before tell what widened it. Casts to
    floats of more than `widest` bits come after them.
    """
    for call in failure.calls:
        for span, text in call.rewrites:
            source = sources[call.file]
            edit = source.make_replacement_edit(_find_expression(source, span), text)
            yield Change(call.file, span[0], (edit,))
    yield from _cast_operands(failure, sources, lambda bits: bits <= widest)
    yield from _keep_narrow(traced_run, sources) if traced_run is not None else ()
    yield from _cast_operands(failure, sources, lambda bits: bits > widest)
    for call in failure.calls:
        for operand in call.operands:
            taken = [name for other in call.operands for name in other.dtypes]
            for target in sorted(call.targets, key=lambda name: name not in taken):
                yield from _change_where_made(sources[call.file], call, operand, target)


def _cast_operands(
    failure: Failure, sources: Mapping[str, SourceFile], accepts: Callable[[int], bool]
) -> Iterator[Change]:
    """Yield the casts of operands with which a refused call runs, if their width in bits is accepted."""
    for call in failure.calls:
        source = sources[call.file]
        for cast in (each for each in call.casts if accepts(dtype_width(DTYPES[each.dtype]) or 0)):
            for dtype, test in _list_dtype_forms(source, call, cast):
                edits = [_cast_operand(source, call.operands[i], dtype, test) for i in cast.operands]
                if cast.casts_back and not test:
                    edits += _cast_result_back(source, call, call.operands[cast.operands[0]])
                yield Change(call.file, call.span[0], tuple(edits))


def _keep_narrow(run: Run, sources: Mapping[str, SourceFile]) -> Iterator[Change]:
    """Yield the first changes for each float that a run widened, up to a failure."""
    findings = collect_findings(run)
    for cause in findings.causes:
        changes = order_changes(findings.predicted_run, cause, sources)
        yield from islice((each for each in changes if each.file in sources), MAX_CHANGES_PER_CAUSE)


def _list_dtype_forms(source: SourceFile, call: RefusedCall, cast: WorkingCast) -> Iterator[tuple[str, str]]:
    """Yield the texts of a dtype, the idiomatic ones first, each with a condition for the cast or "".

    The last condition holds for the failing dtypes only, so it changes nothing for other callers.
    """
    first = call.operands[cast.operands[0]]
    literal = _literal_dtype(source, first.library, cast.dtype)
    if cast.like:
        yield f"{cast.like}.dtype", ""
    if not literal:
        return
    yield literal, ""
    if len({*first.dtypes}) == 1 and not first.is_list:
        test = _test_dtype(first.text, _literal_dtype(source, first.library, first.dtypes[0]))
        yield literal, test
        if cast.like:
            yield literal, f"{test} and {_test_dtype(cast.like, literal)}"


def _test_dtype(array: str, dtype: str) -> str:
    return f'getattr({array}, "dtype", None) == {dtype}'


def _literal_dtype(source: SourceFile, library: str, dtype: str) -> str:
    """Write a dtype as the file names it, such as `np.float32`, or "" if it does not import the library."""
    alias = _alias(source, library)
    return f"{alias}.{dtype}" if alias else ""


def _alias(source: SourceFile, library: str) -> str:
    """Return the file's name for a library, or "" if it does not import it."""
    modules = libraries()[library].modules if library in libraries() else ()
    others = (name for name, whole in source.import_aliases if whole in modules)
    return next(iter([*list_library_aliases(source, library), *others]), "")


def _cast_operand(source: SourceFile, operand: RefusedOperand, dtype: str, test: str) -> Edit:
    """Return the edit that casts an operand, or each array of a list."""
    node = _find_expression(source, operand.span)
    text, alias = operand.text, _alias(source, operand.library)
    if operand.is_list:
        cast = f"[{cast_text(operand.library, ITEM_NAME, dtype, alias)} for {ITEM_NAME} in {text}]"
    else:
        cast = cast_text(operand.library, source.operand_text(node), dtype, alias)
    return source.make_replacement_edit(node, f"({cast} if {test} else {text})" if test else cast)


def _cast_result_back(source: SourceFile, call: RefusedCall, operand: RefusedOperand) -> list[Edit]:
    """Return the edit that casts the result of a call to an operand's dtype, if a cast can follow a call."""
    literal = _literal_dtype(source, operand.library, operand.dtypes[0])
    is_path = all(part.isidentifier() for part in operand.text.split("."))
    dtype = f"{operand.text}.dtype" if is_path else literal
    cast = cast_text(operand.library, "result", dtype, _alias(source, operand.library))
    if not dtype or not cast.startswith("result"):
        return []
    _, end = source.find_span(_find_expression(source, call.span))
    return [Edit(end, end, cast.removeprefix("result"))]


def _find_expression(source: SourceFile, span: Span) -> ast.expr:
    """Find the expression at a span. It is there, as the span was read from this content."""
    return next(
        node for node in ast.walk(source.tree)
        if isinstance(node, ast.expr)
        and (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == span
    )  # fmt: skip


def _change_where_made(
    source: SourceFile, call: RefusedCall, operand: RefusedOperand, target: str
) -> Iterator[Change]:
    """Yield a cast of what is assigned to an operand's name before the call, or to an attribute anywhere.

    An integer array is made a float only if the call writes into it.
    """
    if {*operand.dtypes} == {target} or operand.is_list or DTYPES[target].kind is Kind.COMPLEX:
        return
    is_float = any(DTYPES[name].kind.category >= Kind.FLOAT.category for name in operand.dtypes)
    if not is_float and not (operand.is_written or len(call.operands) == 1 or not call.casts):
        return
    literal = _literal_dtype(source, operand.library, target)
    try:
        at = _find_expression(source, operand.span)
    except StopIteration:  # the target of an assignment
        return
    scope = source.find_scope(at)
    assigned = [
        node.value for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and any(source.text(x) == operand.text for x in node.targets)
        and ("." in operand.text or (source.find_scope(node) is scope and node.lineno < at.lineno))
    ]  # fmt: skip
    if not assigned or not literal:
        return
    value = assigned[-1]
    keywords = value.keywords if isinstance(value, ast.Call) else []
    asked = next((k.value for k in keywords if k.arg == "dtype"), None)
    edit = (
        source.make_replacement_edit(asked, literal)
        if asked is not None
        else source.make_replacement_edit(
            value,
            cast_text(operand.library, source.operand_text(value), literal, _alias(source, operand.library)),
        )
    )
    yield Change(call.file, value.lineno, (edit,))
