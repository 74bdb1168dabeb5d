"""Announcements by object: another object with the id of a deleted one has announced nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from typelattice.tracing.record.announced_calls import AnnouncedCalls, Announcement
from typelattice.tracing.record.recorder import Recorder


def double(x: Any) -> Any:
    return x * 2


def test_only_the_object_that_announced_is_compared() -> None:
    for owner, count in ((double, 1), (None, 0)):
        calls = AnnouncedCalls(Recorder())
        calls.recorder.excerpt_of = lambda at, library: SimpleNamespace(location=None, text="double(x)")
        witness = SimpleNamespace(operation=SimpleNamespace(constants=()))
        x = np.ones(2, np.float32)
        excerpt: Any = SimpleNamespace(location=None, text="announce(double, x)")
        key = id(double), "", (calls.argument_part(x),), ()
        calls.announcements[key] = Announcement(lambda owner=owner: owner, excerpt, {"": "float64"})
        calls.note_call(witness, double, (x, double(x)))
        assert len(calls.wrong) == count
