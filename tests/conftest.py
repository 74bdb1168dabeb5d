"""What every test run needs."""
from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from tiny import Tiny

from typelattice.conformance.recording.recorder import record
from typelattice.core.evidence.recording import Recording

# A machine that does other work besides is slow, and not wrong.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell that starts a run in the background has it ignore Ctrl-C, and so every process that a test starts.
# `nohup` does so with the end of a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Options for this run alone: processes that a test starts are tested for what they print without them.
os.environ.pop("PYTEST_ADDOPTS", None)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which modules whose names begin with `traced_` are imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("traced_")]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def tiny() -> Recording:
    """What a recorder finds when it asks a library three of whose calls go wrong."""
    return record(Tiny, limit=0.5, random_calls_per_operation=10)
