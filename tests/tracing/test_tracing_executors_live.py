"""Programs that compute with the executors of libraries print and return the same with the tracer."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from samples import one_in
from test_tracing_child_commands import counts, run
from test_tracing_scripts import both, ran

pytestmark = pytest.mark.live

HEAD = """
import sys
import numpy as np
def double(x):
    return x * np.float64(2)
def xs():
    return [np.full(2, i, np.float32) for i in range(4)]
"""
TAIL = """
if __name__ == "__main__":
    print(*[f"{np.asarray(each)} {np.asarray(each).dtype}" for each in main()])
    sys.exit(5)
"""
JOBLIB = """
def main():
    from joblib import Parallel, delayed
    return Parallel(n_jobs=2, backend="{}")(delayed(double)(x) for x in xs())
"""
DASK = """
def main():
    import dask
    return dask.compute(*map(dask.delayed(double), xs()), scheduler="{}")
"""
DISTRIBUTED = """
def main():
    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1, processes={}, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            return client.gather(client.map(double, xs()))
"""
DATA = """
import torch
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.as_tensor(double(np.full(2, i, np.float32)))
def main():
    how = "{}"
    workers = 2 if how else 0
    loader = torch.utils.data.DataLoader(Data(), num_workers=workers, multiprocessing_context=how or None)
    return [x[0] for x in loader]
"""
CLOUDPICKLE = """
THERE = '''
import pickle, sys
double, xs = pickle.load(sys.stdin.buffer)
assert "typelattice" not in sys.modules
sys.stdout.buffer.write(pickle.dumps([double(x) for x in xs]))
'''
def main():
    import cloudpickle, os, pickle, subprocess
    alone = {name: x for name, x in os.environ.items() if name != "PYTHONPATH"}
    sent = cloudpickle.dumps((double, xs()))
    words = ["/bin/sh", "-c", 'exec "$0" "$@"', sys.executable, "-c", THERE]  # a Python that is not followed
    ran = subprocess.run(words, input=sent, env=alone, stdout=subprocess.PIPE, check=True)
    return pickle.loads(ran.stdout)
"""
TESTS = """
import numpy as np
import pytest
from work import double
@pytest.mark.parametrize("i", range(4))
def test(i):
    assert double(np.full(2, i, np.float32)).dtype == "float64"
def test_that_fails():
    assert double(np.float32(1)) == 3
"""
PROGRAMS = {
    "joblib, loky": ("joblib", JOBLIB.replace("{}", "loky")),
    "joblib, threading": ("joblib", JOBLIB.replace("{}", "threading")),
    "joblib, multiprocessing": ("joblib", JOBLIB.replace("{}", "multiprocessing")),
    "dask, synchronous": ("dask", DASK.replace("{}", "synchronous")),
    "dask, threads": ("dask", DASK.replace("{}", "threads")),
    "dask, processes": ("dask", DASK.replace("{}", "processes")),
    "distributed, threads": ("distributed", DISTRIBUTED.replace("{}", "False")),
    "distributed, processes": ("distributed", DISTRIBUTED.replace("{}", "True")),
    "cloudpickle, another process": ("cloudpickle", CLOUDPICKLE),
    "DataLoader, no worker": ("torch", DATA.replace("{}", "")),
    "DataLoader, fork": ("torch", DATA.replace("{}", "fork")),
    "DataLoader, spawn": ("torch", DATA.replace("{}", "spawn")),
    "DataLoader, forkserver": ("torch", DATA.replace("{}", "forkserver")),
}


def needed(library: str) -> None:
    """Skip a test whose library is not installed, and say where it is listed."""
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed; tools/requirements-live.txt lists it")


@pytest.mark.parametrize("name", one_in(5, [*PROGRAMS]))
def test_an_executor_does_what_it_does_untraced(tmp_path: Path, name: str) -> None:
    library, main = PROGRAMS[name]
    needed(library)
    (tmp_path / "main.py").write_text(HEAD + main + TAIL, encoding="utf-8")
    plain, traced = both(tmp_path, "main.py", PYTHONWARNINGS="ignore")
    assert plain.returncode == traced.returncode == 5, traced.stderr
    assert plain.stdout == traced.stdout and plain.stdout.count("] float64") == 4
    if name != "cloudpickle, another process":
        assert "main.py:5: x * np.float64(2)" in traced.stderr, traced.stderr


@pytest.mark.whole  # a light test traces the workers of xdist
def test_pytest_in_two_processes_ends_as_it_does_untraced(tmp_path: Path) -> None:
    needed("xdist")
    (tmp_path / "work.py").write_text(HEAD, encoding="utf-8")
    (tmp_path / "test_work.py").write_text(TESTS, encoding="utf-8")
    words = ("-m", "pytest", "-n", "2", "-q", "-p", "no:cacheprovider", "test_work.py")
    plain, traced = both(tmp_path, *words)
    followed = ran(
        tmp_path, *words, "-p", "typelattice.tracing.entry_points.pytest_plugin", "--dtype-trace=work"
    )
    for each in (plain, traced, followed):
        assert each.returncode == 1, each.stdout + each.stderr
        assert "1 failed, 4 passed" in each.stdout
    assert "work.py:5: x * np.float64(2)" in followed.stdout


TRAINING = r"""
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
x, w = torch.ones(4), torch.linspace(0, 1, 4, dtype=torch.float64)
y = x * w
dist.all_reduce(y)
# One write, as both processes share the pipe.
print(f"{dist.get_rank()} {y.dtype} {y.sum().item()}\n", end="")
dist.destroy_process_group()
"""


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_the_processes_that_torchrun_starts_are_followed_and_merged(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING, encoding="utf-8")
    started = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "train.py")
    traced = run(tmp_path, "-m", "typelattice", "trace", "--json", "run.json", *started)
    assert sorted(traced.stdout.splitlines()) == ["0 torch.float64 4.0", "1 torch.float64 4.0"]
    assert "in 3 processes" in traced.stderr
    assert counts(tmp_path)["x * w"] == 2
