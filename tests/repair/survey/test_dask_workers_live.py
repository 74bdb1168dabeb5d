"""The workers of a Dask cluster share a survey, and one that is killed loses nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from typelattice.base.disk.journal import Journal
from typelattice.base.workers.pool import WorkersError
from typelattice.repair.survey import survey_packages as module
from typelattice.repair.survey.survey_packages import survey_packages

pytestmark = pytest.mark.live
FUNCTIONS = 12
SLOW = """
import os
import time
import numpy as np
"""
FUNCTION = '''
def f{number}(x):
    """Take a while.

    >>> f{number}(np.ones(2))
    """
    time.sleep(0.2)
    return x {times}
'''


def test_a_killed_worker_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(Path(module.__file__).parents[2])]))
    monkeypatch.setattr(module, "FUNCTIONS_PER_WORKER_TASK", 3)
    (tmp_path / "planted").mkdir()
    functions = [
        FUNCTION.format(number=i, times="* np.float64(2)" if i % 2 else "* 2") for i in range(FUNCTIONS)
    ]
    (tmp_path / "planted" / "__init__.py").write_text(SLOW + "".join(functions), encoding="utf-8")
    rows = tmp_path / "rows.jsonl"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        killed: list[int] = []
        append = Journal.append

        def append_and_kill(journal: Journal, row: object) -> None:
            if not killed:  # the first task is done, and others are under way
                killed.extend([*client.run(os.getpid).values()][:1])
                os.kill(killed[0], signal.SIGKILL)
            append(journal, row)

        monkeypatch.setattr(Journal, "append", append_and_kill)
        (package,) = survey_packages(["planted"], rows, limit=20.0, scheduler=cluster.scheduler_address)
        assert killed
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "unshared.py").write_text("def f(x): return x", encoding="utf-8")
        monkeypatch.syspath_prepend(str(elsewhere))
        monkeypatch.setenv("PYTHONPATH", str(elsewhere), prepend=os.pathsep)
        with pytest.raises(WorkersError, match="a worker of the cluster fails: unshared cannot be imported"):
            [*survey_packages(["unshared"], limit=20.0, scheduler=cluster.scheduler_address)]
    verdicts = {name: row["verdict"] for name, row in package.rows.items()}
    assert verdicts == {f"planted.f{i}": "wide" if i % 2 else "kept" for i in range(FUNCTIONS)}
    assert len(rows.read_text().splitlines()) == FUNCTIONS + 1
