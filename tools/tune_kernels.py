"""Tunes the kernels of NPBench, and compares the search with others and with inputs that it had not seen.

    python tools/tune_kernels.py COPY                      # every kernel of a copy of the suite
    python tools/tune_kernels.py COPY gemm lenet           # these
    python tools/tune_kernels.py COPY --rows ROWS          # keep each row in a file, and continue from it
    python tools/tune_kernels.py COPY --rows ROWS --into PAGE  # put the table of all rows into a page

Each kernel has its smallest size, with a quarter of its lengths above 32 if one is above 64. It is tuned
with two inputs: that of the suite, and one whose float arrays are multiplied by random numbers between 1
and 1.1 along each axis. The accepted configuration then runs with three more inputs of that sort. Plain
delta debugging is the same search without the order by sensitivity. Exhaustive search tries float64 and
float32 for all groups of places, if there are few. Nothing of the suite is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir
from itertools import product
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from npbench import Kernel, kernels

from typelattice.base.errors.errors import TypelatticeError
from typelattice.repair.copies.program_to_run import TunedInput
from typelattice.repair.patch.workspace import FailedRun, SearchLimits, SearchTimeOverError, open_workspace
from typelattice.repair.tune.configuration_search import ConfigurationSearch
from typelattice.repair.tune.trial import ProgramInput, ProgramRunner, compare_results
from typelattice.repair.tune.tune_options import TuneOptions
from typelattice.repair.tune.tune_program import Tuner, make_script_tuner

DTYPES = ("float32", "float16")
LARGE_LENGTH, SMALL_LENGTH = 64, 32
SEEN, UNSEEN = ("0", "1"), ("2", "3", "4")
MARKS = "<!-- tuned kernels -->\n", "<!-- end of tuned kernels -->\n"
SCRIPT = """import sys
import numpy as np
from {module} import {function}
{imported}
np.random.seed(0)
number = int(sys.argv[1])
moves = np.random.default_rng(number)


def vary(x):
    if number and getattr(getattr(x, "dtype", None), "kind", "") in "fc" and getattr(x, "ndim", 0):
        factors = {{length: 1 + 0.1 * moves.random(length) for length in x.shape}}  # keep it symmetric
        for axis, length in enumerate(x.shape):
            x *= np.expand_dims(factors[length], [i for i in range(x.ndim) if i != axis]).astype(x.real.dtype)
    return x


{sizes}
{initialized}
result = {function}({arguments})
if result is None:
    result = [{arguments}]
"""


def write_script(kernel: Kernel) -> str:
    """Write the script that runs a kernel with the input of a number."""
    given = kernel.info["parameters"]["S"].items()
    limit = SMALL_LENGTH if any(is_length(value, LARGE_LENGTH) for _, value in given) else LARGE_LENGTH
    shrunk = {name: value // 4 if is_length(value, limit) else value for name, value in given}
    sizes = "\n".join(f"{name} = {value!r}" for name, value in shrunk.items())
    init, imported, initialized = kernel.info.get("init"), "", ""
    if init:
        imported = f"from {kernel.info['module_name']} import {init['func_name']}\n"
        names = ", ".join(init["output_args"])
        initialized = f"{names} = {init['func_name']}({', '.join(init['input_args'])})\n"
        initialized += "".join(f"vary({name})\n" for name in init["output_args"])
    return SCRIPT.format(
        module=kernel.module, function=kernel.info["func_name"], imported=imported, sizes=sizes,
        initialized=initialized, arguments=", ".join(kernel.info["input_args"]),
    )  # fmt: skip


def is_length(value: Any, limit: int) -> bool:
    """Return True for a length above a limit: a quarter of it is taken, so that a run is short.

    If one length is large, smaller ones are divided too: some kernels need more rows than columns.
    """
    return type(value) is int and value > limit


def make_tuner(
    kernel: Kernel, tolerance: float, seconds: float, is_ordered: bool, dtypes: Sequence[str]
) -> Tuner:
    """Make the tuner of a kernel's script in the current folder."""
    names = (*kernel.outputs, *([] if kernel.outputs else ["result"]))
    options = TuneOptions(tolerance, tuple(dtypes), results=names, seconds=seconds, is_ordered=is_ordered)
    tuner = make_script_tuner("run_kernel.py", (), options, limits=SearchLimits(seconds))
    tuner.inputs = tuple(ProgramInput((number,)) for number in SEEN)
    return tuner


def tune_kernel(kernel: Kernel, tolerance: float, seconds: float) -> dict[str, Any]:
    """Tune a kernel, and return its row."""
    started = time.monotonic()
    tuner = make_tuner(kernel, tolerance, seconds, True, DTYPES)
    found = tuner.run()
    row: dict[str, Any] = {
        "places": found.place_count, "groups": found.group_count, "runs": found.run_count,
        "ended": found.ended,
        "seconds": round(time.monotonic() - started, 1), "untuned": len(found.untuned),
    }  # fmt: skip
    assert tuner.tuned is not None
    row["tried"] = len(tuner.tuned.outcomes)
    own = next((p for p in found.points if "as it stands" in p.labels), None)
    best = found.narrowed
    if best is None or own is None:
        return {**row, "found": "nothing"}
    row |= {
        "error": best.error, "bytes": best.float_bytes, "own_bytes": own.float_bytes, "time": best.seconds,
        "own_time": own.seconds, "wide": len(found.wide_lines), "points": len(found.points),
        "found": "narrower" if found.saves else "nothing",
    }  # fmt: skip
    if found.saves:
        row["unseen"] = check_unseen(tuner, best.contents)
    return row


def check_unseen(tuner: Tuner, contents: Mapping[str, bytes]) -> list[float | None]:
    """Return the errors of a configuration for inputs that the search had not seen, None if not finite."""
    assert tuner.tuned is not None
    setup, errors = tuner.tuned.setup, list[float | None]()
    with open_workspace(setup.program, SearchLimits(60.0)) as workspace:
        runner = ProgramRunner(workspace, TunedInput())
        for number in UNSEEN:
            runner.put_contents(setup.true_contents)
            truth = runner.run(ProgramInput((number,)))
            runner.put_contents(contents)
            narrow = runner.run(ProgramInput((number,)))
            if isinstance(truth, FailedRun):
                continue
            if isinstance(narrow, FailedRun):
                errors.append(None)
                continue
            error = compare_results(truth, narrow, setup).error
            errors.append(error if error < inf else None)
    return errors


def count_plain_runs(kernel: Kernel, tolerance: float, seconds: float) -> int | None:
    """Return the trials of plain delta debugging, or None if its time was over."""
    tuner = make_tuner(kernel, tolerance, seconds, False, DTYPES)
    with ExitStack() as stack:
        tuner.open(stack)
        assert tuner.tuned is not None
        try:
            tuner.find_narrowest()
        except SearchTimeOverError:
            return None
        return len(tuner.tuned.outcomes)


def compare_exhaustively(kernel: Kernel, tolerance: float, seconds: float, most: int) -> dict[str, Any]:
    """Compare the search with all combinations of float64 and float32 over the groups, if they are few."""
    tuner = make_tuner(kernel, tolerance, seconds, True, ("float32",))
    with ExitStack() as stack:
        tuner.open(stack)
        tuned = tuner.tuned
        assert tuned is not None
        groups = tuned.graph.groups
        if len(groups) > most:
            return {}
        try:
            tuner.find_narrowest()
            runs = len(tuned.outcomes)
            assert isinstance(tuner.search, ConfigurationSearch)
            found, wide = tuned.graph.estimate_bytes(tuner.search.best), tuned.widest_configuration
            least = inf
            for chosen in product((False, True), repeat=len(groups)):
                narrow = {
                    p: "float32" for group, is_in in zip(groups, chosen, strict=True) if is_in for p in group
                }
                configuration = {**wide, **narrow}
                size = tuned.graph.estimate_bytes(configuration)
                if size < least and tuner.search.holds(tuned.evaluate(configuration)):
                    least = size
        except SearchTimeOverError:
            return {"exhaustive": "not finished"}
        same = "equal" if found == least else "better" if found < least else "worse"
        return {"exhaustive": same, "exhaustive_runs": 2 ** len(groups), "search_runs": runs}


def judge(kernel: Kernel, tolerance: float, args: argparse.Namespace) -> dict[str, Any]:
    """Return the row of a kernel at a tolerance, in a folder with its modules and a script."""
    with TemporaryDirectory() as name, chdir(name):
        folder = Path(os.path.realpath(name))
        for module in (f"{kernel.info['module_name']}.py", f"{kernel.module}.py"):
            if (kernel.folder / module).is_file():
                shutil.copy(kernel.folder / module, folder)
        (folder / "run_kernel.py").write_text(write_script(kernel), encoding="utf-8")
        try:
            row = tune_kernel(kernel, tolerance, args.seconds)
            if args.compare:
                row["plain"] = count_plain_runs(kernel, tolerance, args.seconds)
                row |= compare_exhaustively(kernel, tolerance, args.seconds, args.most)
        except TypelatticeError as e:
            row = {"found": "refused", "why": str(e)}
        return {"kernel": kernel.name, "tolerance": tolerance, **row}


def read_rows(path: Path | None) -> list[dict[str, Any]]:
    """Return the rows of a file, or none if there is no file yet."""
    if path is None or not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| kernel | tolerance | float arrays | error | stay wide | trials | plain | exhaustive | unseen |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in sorted(rows, key=lambda row: (row["kernel"], -row["tolerance"])):
        cells = [row["kernel"], f"{row['tolerance']:g}"]
        if row["found"] == "refused":
            yield f"| {' | '.join(cells)} | refused: {row['why'][:80]} | | | | | | |"
            continue
        if row.get("bytes") and row.get("own_bytes"):
            cells.append(f"{100 * row['bytes'] / row['own_bytes']:.0f} %")
        else:
            cells.append("not measured")
        cells += [
            f"{row['error']:.0e}" if "error" in row else "",
            str(row.get("wide", "")),
            str(row["tried"]),
        ]
        cells.append({None: "not finished"}.get(row.get("plain", ""), str(row.get("plain", ""))))
        cells.append(str(row.get("exhaustive", "")))
        unseen = row.get("unseen")
        limit = 3 * row["tolerance"]
        good = sum(error is not None and error <= limit for error in unseen or [])
        cells.append(f"{good} of {len(unseen)}" if unseen else "")
        if row.get("ended"):
            cells[0] += " (time over)"
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Tune the kernels, print a row for each, and put the table into a page if that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("copy", type=Path, metavar="COPY")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--tolerances", default="1e-3,1e-5,1e-7", metavar="LIST")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N")
    parser.add_argument("--most", type=int, default=8, metavar="N", help="groups of an exhaustive search")
    parser.add_argument(
        "--compare", action="store_true", help="also with plain delta debugging, and exhaustively"
    )
    parser.add_argument("--rows", type=Path, metavar="FILE")
    parser.add_argument("--into", type=Path, metavar="PAGE")
    args = parser.parse_args()
    args.copy = args.copy.resolve()
    rows = read_rows(args.rows)
    done = {(row["kernel"], row["tolerance"]) for row in rows}
    for tolerance in map(float, args.tolerances.split(",")):
        for kernel in kernels(args.copy, args.kernels):
            if (kernel.name, tolerance) in done:
                continue
            row = judge(kernel, tolerance, args)
            rows.append(row)
            print(json.dumps(row), flush=True)
            if args.rows:
                with args.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    if args.into:
        text = args.into.read_text(encoding="utf-8")
        before, _, rest = text.partition(MARKS[0])
        table = "\n".join(write_table(rows)) + "\n"
        after = rest.partition(MARKS[1])[2]
        args.into.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
