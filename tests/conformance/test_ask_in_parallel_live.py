"""The workers of a Dask cluster share a recording, and one that is killed loses nothing."""
from __future__ import annotations

import os
import signal
from pathlib import Path

import counting
import pytest
from counting import Counting

import typelattice
from typelattice.base.disk.journal import Journal
from typelattice.base.workers.pool import WorkersError
from typelattice.conformance.recording.recorder import record

pytestmark = pytest.mark.live
PATH = os.pathsep.join([str(Path(typelattice.__file__).parents[1]), str(Path(counting.__file__).parent)])


def test_a_killed_worker_loses_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", PATH)
    monkeypatch.setenv(counting.LOG, str(tmp_path / "log"))
    alone = record(Counting)
    monkeypatch.setenv(counting.SECONDS, "0.02")
    answers = tmp_path / "answers"
    rows: list[object] = []
    killed: list[int] = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        append = Journal.append

        def append_and_kill(journal: Journal, row: object) -> None:
            if not killed:  # the first task is done, and others are under way
                killed.extend([*client.run(os.getpid).values()][:1])
                os.kill(killed[0], signal.SIGKILL)
            append(journal, row)
            rows.append(row)

        monkeypatch.setattr(Journal, "append", append_and_kill)
        address = cluster.scheduler_address
        together = record(Counting, scheduler=address, journal=answers)
        assert killed
        assert not answers.exists()
        assert len(rows) == len({*map(str, rows)}) == len([*alone.calls()])
        assert (together.lines, together.messages) == (alone.lines, alone.messages)
        client.run(_set_version, "2.0")
        with pytest.raises(WorkersError, match=r"fails: counting is counting 2.0 on .* with a worker"):
            record(Counting, scheduler=address)


def _set_version(version: str) -> None:
    os.environ["COUNTING_VERSION"] = version
