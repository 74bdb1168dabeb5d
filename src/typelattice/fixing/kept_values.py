"""Values of a run that are kept for a comparison: values of names, and of files that the run saved."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

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
    """The value of an array or a number: its dtype's text, and its real and imaginary parts in turn."""

    dtype: str
    numbers: tuple[float, ...]


def list_bound_values(names: Mapping[str, Any]) -> dict[str, KeptValue]:
    """Keep the arrays and numbers among some names, lists and dictionaries included."""
    found: dict[str, KeptValue] = {}
    for name, value in names.items():
        if not name.startswith("_"):
            _keep_value(found, name, value, 0)
    return found


def _keep_value(values: dict[str, KeptValue], name: str, value: Any, depth: int) -> None:
    if len(values) >= MAX_KEPT_VALUES or isinstance(value, (ModuleType, type, str, bytes)):
        return
    if isinstance(value, (int, float, complex)) and not hasattr(value, "dtype"):
        if isinstance(value, (float, complex)):
            values[name] = KeptValue(type(value).__name__, tuple(_flatten_numbers(value)))
    elif isinstance(value, (list, tuple)) and depth < MAX_LIST_DEPTH:
        for i, item in enumerate(value[:MAX_KEPT_VALUES]):
            _keep_value(values, f"{name}[{i}]", item, depth + 1)
    elif isinstance(value, dict) and depth < MAX_LIST_DEPTH:
        for key, item in [*value.items()][:MAX_KEPT_VALUES]:
            _keep_value(values, f"{name}[{key!r}]", item, depth + 1)
    elif hasattr(value, "dtype") and hasattr(value, "tolist") and hasattr(value, "shape"):
        try:
            size = 1
            for length in value.shape:
                size *= length
            numbers = value.tolist() if size <= MAX_KEPT_NUMBERS else []
            values[name] = KeptValue(str(value.dtype).rpartition(".")[2], tuple(_flatten_numbers(numbers)))
        except (TypeError, ValueError, RuntimeError):
            return  # an array of objects, or one without data


def _flatten_numbers(value: Any) -> list[float]:
    """List the numbers in nested lists, real and imaginary parts in turn."""
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in _flatten_numbers(item)]
    if isinstance(value, complex):
        return [value.real, value.imag]
    number = float(value)
    return [number]


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
