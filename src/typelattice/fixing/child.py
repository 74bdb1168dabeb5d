"""A program that is run and followed in a process of its own, and what is to be known of it afterwards."""

from __future__ import annotations

import io
import os
import pickle
import re
import runpy
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from typelattice.operands.adapters import native
from typelattice.tracing.front.function import trace
from typelattice.tracing.front.script import Ended, run_script
from typelattice.tracing.run_data.run import Run

MOST_NUMBERS = 1 << 20  # of one array that are kept for a comparison
MOST_VALUES = 10_000  # arrays and numbers that are kept
DEEPEST = 4  # lists within lists that are searched
WIDE = "float64"
WIDER = {b"float16": b"float64", b"float32": b"float64", b"complex64": b"complex128"}
NARROW = re.compile(rb"\b(?:" + b"|".join(WIDER) + rb")\b")
MODULE = "__typelattice_fix__"  # the name of a script's module when a function of it alone is called


@dataclass(frozen=True, slots=True)
class Kept:
    """The value of an array or a number: its dtype's text, and its real and imaginary parts in turn."""

    dtype: str
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A program to be run: a script, a module, a pytest run, or a function of a file with its arguments.

    `root` is the copied folder and `original` the folder that it is a copy of. `patched` has other contents
    for files that are not in the copy. `widen` asks for wide input: the arguments of the function, or the
    dtypes that the script itself names.
    """

    target: str
    argv: tuple[str, ...]
    packages: tuple[str, ...]
    as_module: bool
    root: Path
    original: Path
    function: str = ""
    module: str = ""
    args: bytes = b""
    widen: bool = False
    tests: bool = False
    patched: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunInChild:
    """The run of a program, its exit status, and its values by name.

    Of a pytest run, `tests` has the outcome of each test, and `failures` the message of each that failed.
    """

    run: Run
    status: int | None
    values: Mapping[str, Kept]
    tests: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def main(program: str, out: str) -> None:
    """Run a program that a file describes, and write the result into another file."""
    todo: Program = pickle.loads(Path(program).read_bytes())
    sys.path[:] = [path_in_copy(entry, todo.original, todo.root) for entry in sys.path]
    sys.dont_write_bytecode = True
    cache = Path(out).parent / "compiled"

    def leave(ended: Ended) -> None:
        Path(out).write_bytes(pickle.dumps(RunInChild(ended.run, ended.status, values_of(ended.names))))

    if todo.tests:
        from typelattice.tracing.front.pytest_run import run_tests  # which needs pytest

        run, found = run_tests(todo.argv, todo.packages, cache, todo.patched)
        warned = tuple(sorted(found.warnings))
        ran = RunInChild(run, 0, {}, found.outcomes, found.failures, warned)
        Path(out).write_bytes(pickle.dumps(ran))
    elif todo.function:
        function, args, named = _function(todo)
        traced = trace(function, *args, **named)
        leave(Ended(traced.run, 0, names={"result": traced.result}))
    else:
        patched = {**todo.patched, **(_wide_script(todo.target) if todo.widen else {})}
        given = todo.target, todo.argv, todo.packages, todo.as_module, cache
        leave(run_script(*given, leaving=leave, patched=patched))


def serve() -> None:
    """Run programs, each in a fork of this process, which has imported already what all of them need.

    A line on standard input names the files of the program, of what it gave, and of its two streams, and its
    folder. The answer is a line with the exit status. It ends with its input.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in io.FileIO(os.dup(0), closefd=True):
        program, out, printed, errors, folder, *modules = pickle.loads(bytes.fromhex(line.decode()))
        for module in modules:
            __import__(module)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 warns where a library has started threads
            pid = os.fork()
        if pid == 0:
            answers.close()
            for number, path in enumerate((os.devnull, printed, errors)):
                os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
            os.chdir(folder)
            main(program, out)
            return
        answers.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")


def path_in_copy(path: str, original: Path, root: Path) -> str:
    """Map a path in a folder to that of its copy."""
    whole = Path(os.path.abspath(path))
    return str(root / whole.relative_to(original)) if whole.is_relative_to(original) else path


def _function(todo: Program) -> tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]:
    """Import the function from the copy, and unpack its arguments."""
    sys.path.insert(0, str(Path(todo.target).parent))
    if todo.module == "__main__":
        found: Any = dict_as_module(runpy.run_path(todo.target, run_name=MODULE))
    else:
        found = __import__(todo.module, fromlist=["*"])
    for name in todo.function.split("."):
        found = getattr(found, name)
    args, named = pickle.loads(todo.args)
    if todo.widen:
        args, named = [widen_array(x) for x in args], {key: widen_array(x) for key, x in named.items()}
    return found, args, named


def _wide_script(path: str) -> dict[str, bytes]:
    """Write wide dtypes in the text of a script in place of the narrow ones that it names."""
    return {path: NARROW.sub(lambda found: WIDER[found[0]], Path(path).read_bytes())}


def has_wide_form(path: str) -> bool:
    """Tell whether a script names narrow dtypes."""
    return Path(path).is_file() and NARROW.search(Path(path).read_bytes()) is not None


def dict_as_module(names: Mapping[str, Any]) -> ModuleType:
    """Make a module of the names that a script bound."""
    module = ModuleType(MODULE)
    module.__dict__.update(names)
    for value in names.values():
        if isinstance(value, FunctionType) and value.__globals__.get("__name__") == MODULE:
            value.__globals__.update(names)  # run_path empties them
    return module


def widen_array(x: Any) -> Any:
    """Cast an array of narrower floats to float64; return anything else as it is."""
    if not str(getattr(x, "dtype", "")).rpartition(".")[2].startswith(("float", "bfloat")):
        return x
    cast = getattr(x, "astype", None) or getattr(x, "to", None)
    return x if cast is None else cast(native(WIDE, type(x).__module__.partition(".")[0]))


def values_of(names: Mapping[str, Any]) -> dict[str, Kept]:
    """Keep the arrays and numbers among some names, lists and dictionaries included."""
    found: dict[str, Kept] = {}
    for name, value in names.items():
        if not name.startswith("_"):
            _keep(found, name, value, 0)
    return found


def _keep(found: dict[str, Kept], name: str, value: Any, depth: int) -> None:
    if len(found) >= MOST_VALUES or isinstance(value, (ModuleType, type, str, bytes)):
        return
    if isinstance(value, (int, float, complex)) and not hasattr(value, "dtype"):
        if isinstance(value, (float, complex)):
            found[name] = Kept(type(value).__name__, tuple(_flat(value)))
    elif isinstance(value, (list, tuple)) and depth < DEEPEST:
        for i, item in enumerate(value[:MOST_VALUES]):
            _keep(found, f"{name}[{i}]", item, depth + 1)
    elif isinstance(value, dict) and depth < DEEPEST:
        for key, item in [*value.items()][:MOST_VALUES]:
            _keep(found, f"{name}[{key!r}]", item, depth + 1)
    elif hasattr(value, "dtype") and hasattr(value, "tolist") and hasattr(value, "shape"):
        try:
            size = 1
            for length in value.shape:
                size *= length
            numbers = value.tolist() if size <= MOST_NUMBERS else []
            found[name] = Kept(str(value.dtype).rpartition(".")[2], tuple(_flat(numbers)))
        except (TypeError, ValueError, RuntimeError):
            return  # an array of objects, or one that holds no data


def _flat(x: Any) -> list[float]:
    """List the numbers in nested lists, real and imaginary parts in turn."""
    if isinstance(x, (list, tuple)):
        return [number for item in x for number in _flat(item)]
    if isinstance(x, complex):
        return [x.real, x.imag]
    number = float(x)
    return [number]
