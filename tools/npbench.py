"""Fixes the kernels of NPBench to float32, and compares values, time and memory with those in float64.

    python tools/npbench.py COPY                 # every kernel of a copy of the suite, in its smallest size
    python tools/npbench.py COPY gemm lenet      # these
    python tools/npbench.py COPY --into PAGE     # put the table into a page, between its marks

Each kernel runs with float32 input. `typelattice fix` patches what becomes wide, in a copy of its files. Then
the kernel runs with float64 input as it was, and with float32 input and the patch: three times each, without
typelattice. On Linux the peak of memory is that of the kernel, with its input. Nothing of the suite is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.repair.patch.patch_search import fix_script
from typelattice.repair.patch.workspace import SearchLimits
from typelattice.repair.survey.time_limit import TimeLimitError, time_limit
from typelattice.tracing.report.formatting import size_text

RUNS = 3
SECONDS = 240
MARKS = "<!-- kernels -->\n", "<!-- end of kernels -->\n"
SCRIPT = """import sys
from time import perf_counter
import numpy as np
from {module} import {function}
{imported}
np.random.seed(0)
KINDS = {{"f": np.float32, "c": np.complex64}}


def narrow(x):
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    return x.astype(KINDS[kind], copy=False) if kind in KINDS else x


{sizes}
{initialized}
try:
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew: without the arrays that were cast
except OSError:
    pass
_started = perf_counter()
result = {function}({arguments})
_seconds = perf_counter() - _started
"""
MEASURED = """
from typelattice.repair.copies.measured_run import peak_bytes
peak = peak_bytes()
found = {f"result{i}": x for i, x in enumerate(result if isinstance(result, (tuple, list)) else [result])}
found |= {name: globals()[name] for name in OUTPUTS}
arrays = {name: np.asarray(x) for name, x in found.items() if x is not None}
np.savez(sys.argv[1], seconds=_seconds, peak=peak, **arrays)
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel: its name and its entry in the suite, and the folder of its modules."""

    name: str
    info: Mapping[str, Any]
    folder: Path

    @property
    def module(self) -> str:
        return f"{self.info['module_name']}_numpy"

    def script(self, narrow: bool) -> str:
        """Write the script that runs it, with float32 input or with that of the suite."""
        sizes = "\n".join(f"{name} = {value!r}" for name, value in self.info["parameters"]["S"].items())
        init, imported, initialized = self.info.get("init"), "", ""
        if init:
            imported = f"from {self.info['module_name']} import {init['func_name']}\n"
            names = ", ".join(init["output_args"])
            initialized = f"{names} = {init['func_name']}({', '.join(init['input_args'])})\n"
            if narrow:
                initialized += "".join(f"{name} = narrow({name})\n" for name in init["output_args"])
        return SCRIPT.format(
            module=self.module, function=self.info["func_name"], imported=imported, sizes=sizes,
            initialized=initialized, arguments=", ".join(self.info["input_args"]),
        )  # fmt: skip

    @property
    def outputs(self) -> list[str]:
        """The arrays into which it writes its results."""
        return [name for name in self.info["output_args"] if name in self.info["input_args"]]


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    kernel: str
    patch: str
    error: str = ""
    seconds: str = ""
    memory: str = ""

    def __str__(self) -> str:
        return f"| {self.kernel} | {self.patch} | {self.error} | {self.seconds} | {self.memory} |"


def kernels(copy: Path, names: Sequence[str]) -> Iterator[Kernel]:
    """Yield the kernels of a copy of the suite, all or some. Raises SystemExit for a folder that is none."""
    files = sorted((copy / "bench_info").glob("*.json"))
    if not files:
        sys.exit(f"no copy of NPBench in {copy}: bench_info/*.json is missing")
    for file in files:
        info = json.loads(file.read_text(encoding="utf-8"))["benchmark"]
        if not names or file.stem in names:
            yield Kernel(file.stem, info, copy / "npbench" / "benchmarks" / info["relative_path"])


def measure(kernel: Kernel, folder: Path, narrow: bool) -> dict[str, Any]:
    """Run a kernel some times; return its values, and the least of its seconds and of its peaks."""
    import numpy as np

    end = f"\nOUTPUTS = {kernel.outputs!r}{MEASURED}"
    path, out = folder / "measured.py", folder / "measured.npz"
    path.write_text(kernel.script(narrow) + end, encoding="utf-8")
    runs = []
    for _ in range(RUNS):
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", path, out], capture_output=True, text=True, timeout=SECONDS
        )
        if ran.returncode:
            raise RuntimeError((ran.stderr.strip().splitlines() or ["it failed"])[-1])
        with np.load(out, allow_pickle=False) as arrays:
            runs.append({key: arrays[key] for key in arrays.files})
    least = {key: min(run.pop(key).item() for run in runs) for key in ("seconds", "peak")}
    return {**runs[0], **least}


def largest_error(wide: Mapping[str, Any], narrow: Mapping[str, Any]) -> str:
    """Compare the values of two runs: the largest error relative to the largest number of its array."""
    import numpy as np

    worst = 0.0
    for name in wide.keys() - {"seconds", "peak"}:
        a, b = np.asarray(wide[name]), np.asarray(narrow[name])
        if a.shape != b.shape:
            return "another shape"
        if a.dtype.kind in "fc" and a.size:
            if not (np.isfinite(b) == np.isfinite(a)).all():
                return "not finite"
            apart = np.abs(np.where(np.isfinite(a), a - b, 0)).max()
            worst = max(worst, float(apart / (np.abs(a[np.isfinite(a)]).max() or 1)))
        elif a.size and (a != b).any():
            return "other integers"
    return f"{worst:.0e}" if worst else "none"


def judge(kernel: Kernel) -> Row:
    """Fix a kernel, and measure it in float64 and in float32."""
    with TemporaryDirectory() as name, chdir(name):
        folder = Path(os.path.realpath(name))
        for module in (f"{kernel.info['module_name']}.py", f"{kernel.module}.py"):
            if (kernel.folder / module).is_file():
                shutil.copy(kernel.folder / module, folder)
        wide = measure(kernel, folder, narrow=False)
        script = folder / "run_kernel.py"
        script.write_text(kernel.script(narrow=True), encoding="utf-8")
        try:
            patch = fix_script(str(script), packages=[kernel.module], limits=SearchLimits(SECONDS))
        except TypelatticeError as e:
            return Row(kernel.name, f"refused: {e}")
        for path, (_, after) in patch.contents.items():
            path.write_bytes(after)
        lines = ", ".join(map(str, sorted(each.line for each in patch.kept_changes)))
        said = f"line{'s' * (len(patch.kept_changes) > 1)} {lines}" if patch.kept_changes else "not needed"
        if patch.unfixed_causes:
            left = "; ".join(f"line {each.line}" for each in patch.unfixed_causes)
            said = f"{said}; stays wide: {left}" if patch.kept_changes else f"stays wide: {left}"
        narrow = measure(kernel, folder, narrow=True)
    times, peaks = ([run[key] for run in (wide, narrow)] for key in ("seconds", "peak"))
    return Row(
        kernel.name, said, largest_error(wide, narrow), " → ".join(f"{s:.3g} s" for s in times),
        " → ".join(map(size_text, peaks)),
    )  # fmt: skip


def main() -> None:
    """Judge the kernels, print a row for each, and put them into a page if that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("copy", type=Path, metavar="COPY")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--into", type=Path, metavar="PAGE")
    args = parser.parse_args()
    rows = []
    for kernel in kernels(args.copy, args.kernels):
        try:
            with time_limit(SECONDS):
                row = judge(kernel)
        except TimeLimitError:
            row = Row(kernel.name, f"more than {SECONDS} s")
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            row = Row(kernel.name, f"fails as it is: {e}")
        rows.append(row)
        print(row, flush=True)
    if args.into:
        text = args.into.read_text(encoding="utf-8")
        before, _, rest = text.partition(MARKS[0])
        head = "| kernel | patch | largest error | time | peak memory |\n|---|---|---|---|---|\n"
        table = head + "".join(f"{row}\n" for row in rows)
        after = rest.partition(MARKS[1])[2]
        args.into.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
