"""Command lines, and what they print."""
from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from typelattice.conformance.recording import recorder
from typelattice.core.evidence.recording import Recording
from typelattice.show.cli.main import main

MINE = """
name  = "mine"
title = "My own"
order = "u8 -> i16 -> i32 -> posit8; i8 -> i16; u16 -> i32; i8, u8 -> f16"
[dtypes]
posit8 = { kind = "float", bits = 8, max = 16777216.0, values = "unknown", specials = "szn" }
"""


def own_file(folder: Path) -> str:
    path = folder / "mine.toml"
    path.write_text(MINE)
    return str(path)


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """What a good command line prints."""
    code = main(argv)
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The line that a bad command line gets; for the mistakes of a system file several."""
    code = main(argv)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("typelattice")
    assert err.count("\n") == 1 or ".toml, line " in err.partition("\n")[0]
    return err


def sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings of some of their calls, and recorders that ask some: all are for the tests of recordings."""
    calls, ask = Recording.calls, recorder._record_new_answers
    monkeypatch.setattr(Recording, "calls", lambda recording: islice(calls(recording), 0, None, 29))
    monkeypatch.setattr(
        recorder, "_record_new_answers",
        lambda asked, operands, questions, *how: ask(asked, operands, questions[::29], *how),
    )  # fmt: skip
