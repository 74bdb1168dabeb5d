"""Values of a run that are kept for a comparison: values of names, and of files that the run saved."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

from typelattice.tracing.library_traits import file_readers

MAX_KEPT_NUMBERS = 1 << 20  # numbers of one array that are kept for a comparison
MAX_KEPT_VALUES = 10_000
MAX_TEXT_BYTES = 1 << 24  # bytes of a saved text that is compared
MAX_LIST_DEPTH = 4  # lists within lists that are searched
TEXT_SUFFIXES = {".csv", ".tsv", ".txt", ".json", ".dat"}
NUMBER_PATTERN = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
DTYPE_PATTERN = re.compile(r"(?:b?float|complex|u?int)\d+")
IGNORED_FOLDERS = {"__pycache__", "node_modules"}


@dataclass(frozen=True, slots=True)
class KeptValue:
    """The value of an array or a number: its dtype's text, and its real and imaginary parts in turn.

    Of a large array only each `step`-th number is kept. It is 0 if no number can be read.
    """

    dtype: str
    numbers: tuple[float, ...]
    step: int = 1


def list_bound_values(names: Mapping[str, Any]) -> dict[str, KeptValue]:
    """Keep the arrays and numbers among some names, lists and dictionaries included, and arrays of objects.

    Numbers of objects are left out: many are times, counts or settings.
    """
    found: dict[str, KeptValue] = {}
    for name, value in names.items():
        if not name.startswith("_"):
            _keep_value(found, name, value, 0)
    return found


def _keep_value(values: dict[str, KeptValue], name: str, value: Any, depth: int) -> None:
    if len(values) >= MAX_KEPT_VALUES or isinstance(value, (ModuleType, type, str, bytes)):
        return
    if isinstance(value, (int, float, complex)) and not is_array(value):
        if isinstance(value, (float, complex)):
            values[name] = KeptValue(type(value).__name__, tuple(_flatten_numbers(value)))
    elif isinstance(value, (list, tuple)) and depth < MAX_LIST_DEPTH:
        for i, item in enumerate(value[:MAX_KEPT_VALUES]):
            _keep_value(values, f"{name}[{i}]", item, depth + 1)
    elif isinstance(value, dict) and depth < MAX_LIST_DEPTH:
        for key, item in [*value.items()][:MAX_KEPT_VALUES]:
            _keep_value(values, f"{name}[{key!r}]", item, depth + 1)
    elif is_array(value):
        values[name] = _read_array(value)
    elif depth < MAX_LIST_DEPTH and callable(getattr(type(value), "to_numpy", None)):  # a table
        try:
            array = value.to_numpy()
        except Exception:  # an error of its library
            values[name] = KeptValue(type(value).__name__, (), 0)
        else:
            _keep_value(values, name, array, depth + 1)
    elif depth < MAX_LIST_DEPTH:
        for key, item in [*list_attributes(value).items()][:MAX_KEPT_VALUES]:
            if not isinstance(item, (int, float, complex)) or is_array(item):
                _keep_value(values, f"{name}.{key}", item, depth + 1)


def is_array(value: Any) -> bool:
    """Return True if an object is an array or a scalar of an array library: its class has such attributes.

    No code of the object runs: its own attribute access may raise any error.
    """
    found = {name for cls in type(value).__mro__ for name in ("dtype", "shape") if name in vars(cls)}
    return len(found) == 2 and not isinstance(value, type)


def list_attributes(value: Any) -> Mapping[str, Any]:
    """Return the attributes that an object holds. None of its own code runs."""
    try:
        found: Mapping[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found


def _read_array(value: Any) -> KeptValue:
    """Keep the numbers of an array, or its dtype alone if they cannot be read."""
    dtype = str(value.dtype).rpartition(".")[2]
    try:
        if not hasattr(value, "tolist") and hasattr(value, "numpy"):
            value = value.numpy()
        step = max(1, -(-prod(map(int, value.shape)) // MAX_KEPT_NUMBERS))
        numbers = (value.reshape(-1)[::step] if step > 1 else value).tolist()
        return KeptValue(dtype, tuple(_flatten_numbers(numbers)), step)
    except Exception:  # an array of objects, or one without data: an error of its library
        return KeptValue(dtype, (), 0)


def _flatten_numbers(value: Any) -> list[float]:
    """List the numbers in nested lists, real and imaginary parts in turn."""
    if isinstance(value, (list, tuple)):
        if {*map(type, value)} <= {int, float, bool}:
            return [*map(float, value)]
        return [number for item in value for number in _flatten_numbers(item)]
    if isinstance(value, complex):
        return [value.real, value.imag]
    return [float(value)]


def describe_unread_values(values: Mapping[str, KeptValue]) -> Iterator[str]:
    """Say which values were not compared, or not whole."""
    for name, kept in [*values.items()][:MAX_KEPT_VALUES]:
        if kept.step > 1:
            yield f"of {name} 1 number in {kept.step} was compared"
        elif not kept.step:
            yield f"{name} was not compared: no number of it can be read"
    if len(values) >= MAX_KEPT_VALUES:
        yield f"only the first {MAX_KEPT_VALUES:,} values were compared"


def read_numbers(text: str) -> KeptValue:
    """Return the numbers of a text, except those in names of dtypes."""
    return KeptValue(
        "float32", tuple(float(found) for found in NUMBER_PATTERN.findall(DTYPE_PATTERN.sub("", text)))
    )


def is_left_out(folder: Path) -> bool:
    """Return True if a folder has no code of the user: hidden, a cache, or a virtual environment."""
    return folder.name.startswith(".") or folder.name in IGNORED_FOLDERS or (folder / "pyvenv.cfg").is_file()


def list_file_states(root: Path) -> dict[str, tuple[int, int]]:
    """Map the files in a folder to their times and sizes, so that later changes are noticed."""
    found: dict[str, tuple[int, int]] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not is_left_out(Path(folder, name))]
        found |= {path: file_state(path) for path in (os.path.join(folder, name) for name in names)}
    return found


def file_state(path: str) -> tuple[int, int]:
    """Return the time and the size of a file."""
    status = os.lstat(path)
    return status.st_mtime_ns, status.st_size


def list_saved_values(root: Path, old_states: Mapping[str, tuple[int, int]]) -> dict[str, KeptValue]:
    """Keep the arrays and numbers in files that are new or have changed: NumPy's files, or texts."""
    values: dict[str, KeptValue] = {}
    for path, state in sorted(list_file_states(root).items()):
        if old_states.get(path) != state:
            name = f"the file {Path(path).relative_to(root).as_posix()}"
            for key, value in _read_values(Path(path)):
                if isinstance(value, KeptValue):
                    values[name + key] = value
                else:
                    _keep_value(values, name + key, value, 0)
    return values


def _read_values(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each array in a file with its key. For a text file, yield its numbers."""
    np: Any = sys.modules.get("numpy")
    try:
        if path.suffix in TEXT_SUFFIXES and path.stat().st_size <= MAX_TEXT_BYTES:
            yield "", read_numbers(path.read_text(encoding="utf-8", errors="replace"))
        elif path.suffix == ".npy" and np is not None:
            yield "", np.load(path, allow_pickle=False)
        elif path.suffix == ".npz" and np is not None:
            with np.load(path, allow_pickle=False) as arrays:
                yield from ((f"[{key!r}]", arrays[key]) for key in arrays.files)
    except (OSError, ValueError, EOFError):
        return  # it holds objects, or is incomplete
    read = file_readers().get(path.suffix)
    if read is not None:
        with suppress(Exception):  # of the library, for a file that holds more than arrays
            yield "", read(path)
