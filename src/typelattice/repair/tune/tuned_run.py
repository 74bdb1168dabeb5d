"""A plain run of a program that is tuned: its results, its seconds, and the peak memory of its process."""

from __future__ import annotations

import importlib
import inspect
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from typelattice.repair.copies.kept_values import (
    KeptValue,
    is_array,
    list_bound_values,
    list_file_states,
    list_saved_values,
)
from typelattice.repair.copies.measured_run import MeasuredRun, peak_bytes, run_target
from typelattice.repair.copies.program_to_run import TunedInput, load_function, read_program

METRIC_NAME = "the metric"
RESULT_NAME = "result"
PLAIN_RESULTS = (int, str, bytes, list, tuple, dict, set, type(None))
"""Results of a function that hide no array: a status, a name, or a container, whose items are read."""
PYTHON_SEEDED_FUNCTIONS = ("random.seed", "random.Random")


class MetricError(Exception):
    """A metric that cannot be computed from what the program binds."""


def main(program_file: str, result_file: str) -> None:
    """Run a program that one file describes. Write its results into another file."""
    todo = read_program(program_file)
    tuned = todo.tuned or TunedInput()
    files = list_file_states(todo.copy_folder)
    if tuned.seed_shift:
        shift_seeds(tuned)
    names: dict[str, Any] = {}
    if todo.function:
        function, args, named = load_function(todo)
        started = perf_counter()
        names[RESULT_NAME] = function(*args, **named)
        seconds = perf_counter() - started
        names |= {f"argument {i + 1}": x for i, x in enumerate(args) if is_array(x)}
        names |= {f"argument {key}": x for key, x in named.items() if is_array(x)}
        found_metric = function.__globals__.get(tuned.metric)
    else:
        started = perf_counter()
        with suppress(SystemExit):
            run_target(todo, names)
        seconds = perf_counter() - started
        found_metric = names.get(tuned.metric)
    peak = peak_bytes()
    if tuned.metric:
        values = list_bound_values({METRIC_NAME: compute_metric(tuned.metric, found_metric, names)})
    else:
        kept = names if tuned.kept_names is None else {n: names[n] for n in tuned.kept_names if n in names}
        saved = list_saved_values(todo.copy_folder, files)
        bound = list_bound_values(kept)
        unread = {**mark_unread_result(kept, bound), **mark_unread_files(todo.copy_folder, files, saved)}
        values = {**bound, **saved, **unread}
    Path(result_file).write_bytes(pickle.dumps(MeasuredRun(seconds, peak, values)))


def mark_unread_files(
    root: Path, old_states: Mapping[str, tuple[int, int]], saved: Mapping[str, KeptValue]
) -> dict[str, KeptValue]:
    """Return a value without numbers for each file that the run has saved and nobody can read."""
    names = (
        f"the file {Path(path).relative_to(root).as_posix()}"
        for path, state in list_file_states(root).items() if old_states.get(path) != state
    )  # fmt: skip
    return {n: KeptValue("", (), 0) for n in names if not any(key.startswith(n) for key in saved)}


def mark_unread_result(names: Mapping[str, Any], bound: Mapping[str, KeptValue]) -> dict[str, KeptValue]:
    """Return a value without numbers if a function returns an object that holds no array: a figure."""
    result = names.get(RESULT_NAME)
    if isinstance(result, PLAIN_RESULTS) or any(key.startswith(RESULT_NAME) for key in bound):
        return {}
    return {RESULT_NAME: KeptValue(type(result).__name__, (), 0)}


def compute_metric(name: str, function: object, names: Mapping[str, Any]) -> object:
    """Call a metric. Each parameter gets what the program binds to its name, a lone one the result."""
    if not callable(function):
        raise MetricError(f"the program defines no function {name}; name one that it defines")
    parameters = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    if len(parameters) == 1 and parameters[0] not in names and RESULT_NAME in names:
        return function(names[RESULT_NAME])
    missing = next((each for each in parameters if each not in names), None)
    if missing is not None:
        raise MetricError(f"{name} takes {missing}, to which the program binds nothing; rename the parameter")
    return function(*(names[each] for each in parameters))


def shift_seeds(tuned: TunedInput) -> None:
    """Move each constant seed that is given to a seeded function of the libraries."""
    for path in (*PYTHON_SEEDED_FUNCTIONS, *tuned.seeded_functions):
        module_name, _, name = path.rpartition(".")
        module = importlib.import_module(module_name)
        old = getattr(module, name)
        if isinstance(old, type):
            setattr(module, name, _shifted_class(old, tuned.seed_shift))
        else:
            setattr(module, name, _shifted_function(old, tuned.seed_shift))


def _shifted_function(old: Callable[..., Any], shift: int) -> Callable[..., Any]:
    def seeded(*args: Any, **named: Any) -> Any:
        return old(*_shift_first(args, shift), **{key: _shift(x, shift) for key, x in named.items()})

    return seeded


def _shifted_class(old: type, shift: int) -> type:
    class Seeded(old):  # type: ignore[misc]
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*_shift_first(args, shift), **{k: _shift(x, shift) for k, x in named.items()})

        def __new__(cls, *args: Any, **named: Any) -> Any:
            return super().__new__(cls, *_shift_first(args, shift))

    Seeded.__name__ = Seeded.__qualname__ = old.__name__
    return Seeded


def _shift_first(args: tuple[Any, ...], shift: int) -> tuple[Any, ...]:
    return (_shift(args[0], shift), *args[1:]) if args else args


def _shift(seed: Any, shift: int) -> Any:
    return seed + shift if type(seed) is int else seed
