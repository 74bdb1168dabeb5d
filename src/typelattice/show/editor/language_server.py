"""A server of the Language Server Protocol: hints, diagnostics, patches and rules for the user's own file.

Opening a file runs nothing. Two actions run the file, and only when the user chooses them: one traces it, the
other finds the patch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from typelattice.base.errors.errors import TypelatticeError
from typelattice.show.editor.annotated_functions import list_steps_of_annotations
from typelattice.show.editor.known_steps import (
    ExpressionDType,
    find_step,
    list_findings_of_run,
    list_hints,
    list_steps_of_run,
)
from typelattice.show.editor.trace_and_patch import patch_file, trace_file
from typelattice.tracing.report.run_files import read_run

TRACE_COMMAND = "typelattice.trace"  # the command that runs a file
FIX_ACTION = "typelattice.fix"  # value in the data of an action that is to be resolved
SEVERITY_BY_FINDING_RULE = {"TL001": lsp.DiagnosticSeverity.Warning, "TL005": lsp.DiagnosticSeverity.Error}
EVENTS_THAT_REFRESH_DIAGNOSTICS = (
    lsp.TEXT_DOCUMENT_DID_OPEN,
    lsp.TEXT_DOCUMENT_DID_CHANGE,
    lsp.TEXT_DOCUMENT_DID_SAVE,
)


@dataclass
class KnownRuns:
    """The last traced run of each file, and the run document that the server was given.

    The document is read again when it has changed.
    """

    document_path: Path | None
    runs_by_file: dict[str, dict[str, Any]] = field(default_factory=dict)
    _read: tuple[float, dict[str, Any]] | None = None

    def find(self, path: str) -> dict[str, Any] | None:
        """Return the last run of a file, or None if no run can be read."""
        return self.runs_by_file.get(path) or self._read_run_document()

    def _read_run_document(self) -> dict[str, Any] | None:
        if self.document_path is None:
            return None
        try:
            changed = self.document_path.stat().st_mtime
            if self._read is None or self._read[0] != changed:
                self._read = changed, read_run(str(self.document_path))
        except (OSError, TypelatticeError):
            return None
        return self._read[1]


# Long: a handler for each request; all share the server and the runs
def build_server(document: Path | None, version: str) -> LanguageServer:
    """Build the server for `document`, a run that `typelattice trace --json` wrote or will write."""
    made = LanguageServer("typelattice", version)
    runs = KnownRuns(document)

    def known(uri: str) -> list[ExpressionDType]:
        """Return the steps of a file: of its lines that ran, and of other lines by their annotations."""
        text, path = made.workspace.get_text_document(uri).source, to_fs_path(uri) or ""
        run = runs.find(path)
        ran = [*list_steps_of_run(run, path, text.splitlines())] if run else []
        lines = {step.line for step in ran}
        return [*ran, *(step for step in list_steps_of_annotations(text) if step.line not in lines)]

    def publish(uri: str) -> None:
        """Send the findings of the last run to the editor."""
        lines = made.workspace.get_text_document(uri).source.splitlines()
        path = to_fs_path(uri) or ""
        run = runs.find(path)
        found = [
            lsp.Diagnostic(
                _lsp_range(f.line, f.start, f.end, lines[f.line]), f.message,
                severity=SEVERITY_BY_FINDING_RULE.get(f.rule, lsp.DiagnosticSeverity.Information),
                code=f.rule,
                source="typelattice",
            )
            for f in (list_findings_of_run(run, path, lines) if run else ())
        ]  # fmt: skip
        made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))

    def refresh(params: Any) -> None:
        publish(params.text_document.uri)

    for event in EVENTS_THAT_REFRESH_DIAGNOSTICS:
        made.feature(event)(refresh)

    @made.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        lines = made.workspace.get_text_document(params.text_document.uri).source.splitlines()
        wanted = range(params.range.start.line, params.range.end.line + 1)
        return [
            lsp.InlayHint(
                lsp.Position(line, _length_in_utf16(lines[line])), f"  {dtype}", kind=lsp.InlayHintKind.Type
            )
            for line, dtype in sorted(list_hints(known(params.text_document.uri)).items())
            if line in wanted
        ]

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        uri, at = params.text_document.uri, params.position
        lines = made.workspace.get_text_document(uri).source.splitlines()
        column = _column_of_units(lines[at.line], at.character) if at.line < len(lines) else 0
        step = find_step(known(uri), at.line, column)
        if step is None:
            return None
        return lsp.Hover(
            lsp.MarkupContent(lsp.MarkupKind.Markdown, _fence_code(step.hover_text)),
            _lsp_range(step.line, step.start, step.end, lines[step.line]),
        )

    @made.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix], resolve_provider=True),
    )
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        uri = params.text_document.uri
        ours = [d for d in params.context.diagnostics if d.source == "typelattice" and d.code == "TL001"]
        found = [
            lsp.CodeAction(
                "Keep these floats narrow: run the file, and patch it",
                kind=lsp.CodeActionKind.QuickFix, diagnostics=ours, data={"action": FIX_ACTION, "uri": uri},
            )
        ] if ours else []  # fmt: skip
        return [*found, lsp.Command("Run this file, and show its dtypes", TRACE_COMMAND, arguments=[uri])]

    @made.feature(lsp.CODE_ACTION_RESOLVE)
    @made.thread()
    def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        if not isinstance(action.data, dict) or action.data.get("action") != FIX_ACTION:
            return action
        uri = str(action.data["uri"])
        path = Path(to_fs_path(uri) or "")
        text = made.workspace.get_text_document(uri).source
        try:
            files = patch_file(path)["files"]
        except TypelatticeError as e:
            made.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, str(e)))
            return action
        mine = next((f for name, f in files.items() if Path(name).resolve() == path.resolve()), None)
        if mine is None or mine["before"] != text:
            why = "no change was proven" if mine is None else "save the file first"
            made.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, f"{path.name}: {why}"))
            return action
        action.edit = lsp.WorkspaceEdit({uri: list_edits(text, mine["after"])})
        return action

    @made.command(TRACE_COMMAND)
    @made.thread()
    def trace(uri: str) -> None:
        path = to_fs_path(uri) or ""
        try:
            runs.runs_by_file[path] = trace_file(Path(path))
        except TypelatticeError as e:
            made.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, str(e)))
            return
        publish(uri)
        made.workspace_inlay_hint_refresh(None)

    return made


def list_edits(old_text: str, new_text: str) -> list[lsp.TextEdit]:
    """Return the edits that turn one text into another, by whole lines.

    >>> edits = list_edits("a\\nb\\nc\\n", "a\\nB\\nc\\n")
    >>> [(e.range.start.line, e.range.end.line, e.new_text) for e in edits]
    [(1, 2, 'B\\n')]
    """
    old, new = old_text.splitlines(keepends=True), new_text.splitlines(keepends=True)
    return [
        lsp.TextEdit(lsp.Range(lsp.Position(a, 0), lsp.Position(b, 0)), "".join(new[c:d]))
        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def _lsp_range(line: int, start: int, end: int, text: str) -> lsp.Range:
    return lsp.Range(
        lsp.Position(line, _length_in_utf16(text[:start])), lsp.Position(line, _length_in_utf16(text[:end]))
    )


def _length_in_utf16(text: str) -> int:
    """Return the length of a text as the protocol counts it, in UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def _column_of_units(text: str, units: int) -> int:
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore"))


def _fence_code(text: str) -> str:
    """Return a text as a block of code. No line of the text can end the block."""
    ticks = "`" * (3 + max((len(run) for run in text.split() if set(run) == {"`"}), default=0))
    return f"{ticks}text\n{text}\n{ticks}"
