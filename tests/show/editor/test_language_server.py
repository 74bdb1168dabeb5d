"""The language server, spoken to by a headless client: hints, findings, the patch, the rule."""
from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from forked import fork_searches, run_python

pytest.importorskip("pygls")
pytest.importorskip("numpy")
from lsprotocol import types as lsp
from pygls.lsp.client import BaseLanguageClient

from typelattice.repair.patch.patch_search import fix_script

SOURCE = """import numpy as np
from numpy.typing import NDArray

MEAN = np.array([0.48, 0.46, 0.41])


def normalized(image):
    scaled = image / 255.0
    return (scaled - MEAN).sum(axis=0)


def weighted(x: NDArray[np.float32], n: NDArray[np.int64]):
    return x * n


result = normalized(np.ones((32, 3), np.float32))
"""
SECONDS = 240  # on a busy machine a patch takes minutes
Talk = Callable[["Editor"], Awaitable[None]]


class Editor:
    """A client with one open file, which keeps what the server sends."""

    def __init__(self, client: BaseLanguageClient, uri: str) -> None:
        self.client, self.uri = client, uri
        self.found: asyncio.Queue[list[lsp.Diagnostic]] = asyncio.Queue()
        self.shown: asyncio.Queue[str] = asyncio.Queue()
        self.refreshed = asyncio.Event()

    async def open(self, text: str) -> list[lsp.Diagnostic]:
        item = lsp.TextDocumentItem(self.uri, "python", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.diagnostics()

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        return await asyncio.wait_for(self.found.get(), SECONDS)

    async def trace(self) -> None:
        params = lsp.ExecuteCommandParams("typelattice.trace", [self.uri])
        await asyncio.wait_for(self.client.workspace_execute_command_async(params), SECONDS)

    async def hints(self) -> dict[int, str]:
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(999, 0))
        params = lsp.InlayHintParams(lsp.TextDocumentIdentifier(self.uri), whole)
        found = await self.client.text_document_inlay_hint_async(params)
        return {hint.position.line: str(hint.label).strip() for hint in found or ()}

    async def hover(self, line: int, column: int) -> str:
        place = lsp.Position(line, column)
        params = lsp.HoverParams(lsp.TextDocumentIdentifier(self.uri), place)
        found = await self.client.text_document_hover_async(params)
        return found.contents.value if found else ""

    async def actions(self, diagnostics: list[lsp.Diagnostic]) -> list[Any]:
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(999, 0))
        context = lsp.CodeActionContext(diagnostics)
        params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(self.uri), whole, context)
        return list(await self.client.text_document_code_action_async(params) or ())

    async def resolve(self, action: lsp.CodeAction) -> lsp.CodeAction:
        return await asyncio.wait_for(self.client.code_action_resolve_async(action), SECONDS)


def talk(file: Path, conversation: Talk, *arguments: str) -> None:
    """Starts the server in the folder of a file as an editor does, and ends it."""

    async def session() -> None:
        client = BaseLanguageClient("headless", "1")
        editor = Editor(client, file.as_uri())

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            editor.found.put_nowait(list(params.diagnostics))

        @client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
        def refreshed(_: Any) -> None:
            editor.refreshed.set()

        @client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def shown(params: lsp.ShowMessageParams) -> None:
            editor.shown.put_nowait(params.message)

        await client.start_io(sys.executable, "-m", "typelattice", "lsp", *arguments, cwd=file.parent)
        await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=editor.uri))
        client.initialized(lsp.InitializedParams())
        try:
            await conversation(editor)
        finally:
            await asyncio.wait_for(client.shutdown_async(None), SECONDS)
            client.exit(None)
            await client.stop()

    asyncio.run(session())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "images.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def edited(text: str, edits: list[lsp.TextEdit]) -> str:
    lines = text.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda e: -e.range.start.line):
        lines[edit.range.start.line : edit.range.end.line] = [edit.new_text]
    return "".join(lines)


def test_a_file_runs_when_it_is_traced_and_has_hints_findings_the_rule_and_a_patch(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, it shows what its annotations say. The patch was run."""
    source = SOURCE + "open('ran', 'w').close()\n"
    file.write_text(source, encoding="utf-8")
    ran = file.parent / "ran"

    async def conversation(editor: Editor) -> None:
        assert await editor.open(source) == []
        assert await editor.hints() == {12: "float64"}
        assert "by the annotations, under numpy" in await editor.hover(12, 12)
        assert "rule" in await editor.hover(12, 12)
        assert await editor.hover(0, 3) == ""
        assert not ran.exists()
        await editor.trace()
        assert ran.exists()
        causes = [d for d in await editor.diagnostics() if d.code == "TL001"]
        await asyncio.wait_for(editor.refreshed.wait(), SECONDS)
        assert [(d.range.start.line, d.source) for d in causes] == [(8, "typelattice")]
        hints = await editor.hints()
        assert (hints[7], hints[8], hints[12]) == ("float32", "float64", "float64")
        said = await editor.hover(7, 14)
        assert "float32 in the last traced run" in said and "numpy.toml" in said
        fix, trace = await editor.actions(causes)
        assert fix.edit is None and trace.command == "typelattice.trace"
        patched = await editor.resolve(fix)
        after = edited(source, patched.edit.changes[editor.uri])
        assert "(scaled - MEAN.astype(np.result_type(scaled, 0.0)))" in after
        assert file.read_text(encoding="utf-8") == source
        file.write_text(after, encoding="utf-8")

    talk(file, conversation)
    monkeypatch.chdir(file.parent)
    fork_searches(monkeypatch)
    assert fix_script(file.name).progress.startswith("nothing to do")


def test_a_line_that_changed_since_the_run_has_no_hint_and_no_finding(file: Path) -> None:
    words = ("trace", "--json", "seen.json", file.name)
    assert run_python("typelattice", *words, folder=file.parent, variables={**os.environ}).returncode == 0

    async def conversation(editor: Editor) -> None:
        assert [d.range.start.line for d in await editor.open(SOURCE) if d.code == "TL001"] == [8]
        changed = SOURCE.replace("(scaled - MEAN)", "(scaled - 1)")
        identifier = lsp.VersionedTextDocumentIdentifier(version=2, uri=editor.uri)
        whole = [lsp.TextDocumentContentChangeWholeDocument(changed)]
        editor.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, whole))
        assert [d for d in await editor.diagnostics() if d.code == "TL001"] == []
        assert 8 not in await editor.hints()

    talk(file, conversation, "--run", "seen.json")


def test_a_file_that_fails_is_said_to_fail(file: Path) -> None:
    file.write_text("import numpy as np\n1 / 0\n", encoding="utf-8")

    async def conversation(editor: Editor) -> None:
        await editor.open(file.read_text(encoding="utf-8"))
        finding = lsp.Diagnostic(
            lsp.Range(lsp.Position(1, 0), lsp.Position(1, 5)), "", code="TL001", source="typelattice"
        )
        fix, _ = await editor.actions([finding])
        assert (await editor.resolve(fix)).edit is None
        assert "ZeroDivisionError" in await asyncio.wait_for(editor.shown.get(), SECONDS)

    talk(file, conversation)


def test_the_server_waits_for_nobody_at_a_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "typelattice", "lsp"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    said = "typelattice: lsp: an editor starts this command, and speaks with it on standard input\n"
    assert ended.stderr == said
