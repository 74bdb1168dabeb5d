"""Patches calls of installed packages that give float64 for float32, and counts what came of it.

    python tools/patches.py                   # every call of tools/patches.txt
    python tools/patches.py scipy.linalg      # those of a module

It needs the packages, and typelattice. Nothing is written: the packages are patched in the runs alone.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from typelattice.base.errors.errors import TypelatticeError
from typelattice.repair.patch.patch_search import fix_script
from typelattice.repair.patch.workspace import SearchLimits

CASES = Path(__file__).with_suffix(".txt")
SECONDS = 600
SCRIPT = """import warnings
import numpy as np
import {module}
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
x = rng.random(64).astype(np.float32)
t = np.arange(8, dtype=np.float32)
a = (rng.random((4, 4)) / 8).astype(np.float32)
q = np.eye(4, dtype=np.float32)
s = (a @ a.T + q).astype(np.float32)
m = rng.normal(size=(20, 4)).astype(np.float32)
im = rng.random((8, 8)).astype(np.float32)
im16 = rng.random((16, 16)).astype(np.float32)
rgb = rng.random((8, 8, 3)).astype(np.float32)
result = {module}.{call}
results = result if isinstance(result, tuple) else (result,)
assert not any(str(getattr(x, "dtype", "")) in ("float64", "complex128") for x in results)
"""


class SlowError(Exception):
    """A search for a patch that takes too long."""


def main() -> None:
    """Patch the calls one by one, and print a line for each and the counts."""
    signal.signal(signal.SIGALRM, stop)
    counts: Counter[str] = Counter()
    for module, call in cases(sys.argv[1:]):
        started = time.monotonic()
        outcome = patched(module, call)
        counts[outcome.partition(":")[0]] += 1
        print(f"{time.monotonic() - started:6.1f} s  {module}.{call}: {outcome}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))


def stop(number: int, frame: FrameType | None) -> None:
    raise SlowError


def cases(modules: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the module and the call of each case, of some modules or of all."""
    for line in CASES.read_text(encoding="utf-8").splitlines():
        module, _, call = line.partition("|")
        if not line.startswith("#") and (not modules or module in modules):
            yield module, call


def patched(module: str, call: str) -> str:
    """Say what came of a case: narrow, if the assertion of its script holds with the patch."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path("case.py").write_text(SCRIPT.format(module=module, call=call), encoding="utf-8")
        signal.alarm(SECONDS)
        try:
            patch = fix_script(os.path.realpath("case.py"), packages=[module], limits=SearchLimits(SECONDS))
        except SlowError:
            return f"slow: more than {SECONDS} s"
        except TypelatticeError as e:
            return f"refused: {e}"
        finally:
            signal.alarm(0)
    if patch.assertions_outcome == "they hold":
        where = ", ".join(f"{each.file.name}:{each.line}" for each in patch.kept_changes)
        return f"narrow: {where}; relative error {patch.difference.relative_error:.1e}"
    return f"wide: {patch.unfixed_causes[0] if patch.unfixed_causes else 'no cause was found'}"


if __name__ == "__main__":
    main()
