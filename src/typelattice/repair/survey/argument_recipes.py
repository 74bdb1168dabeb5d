"""Calls by recipe: the names and types of a function's parameters suggest the arguments."""

from __future__ import annotations

import inspect
import itertools
import random
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from typelattice.repair.survey.example_calls import ExampleCall
from typelattice.repair.survey.numpy_adapter import make_array

ARGUMENT_RECIPES = tomllib.loads(
    Path(__file__).with_name("argument_recipes.toml").read_text(encoding="ascii")
)
# a line such as `x, y : array_like`
PARAMETER_LINE_PATTERN = re.compile(r"(?m)^ *\**(\w+(?: ?, ?\**\w+)*) ?: ?(.+)$")
QUOTED_CHOICE_PATTERN = re.compile(r"['\"]([\w-]+)['\"]")
MAX_TRIES = 60
MAX_PARAMETERS = 7
UNKNOWN_ARITIES = (1, 2, 3)
"""Numbers of arguments that are tried if a function does not tell its parameters."""

Choices = Sequence[Any]


def recipe_calls(function: Callable[..., Any]) -> Iterator[ExampleCall]:
    """Yield calls of a function, the likeliest first: all arrays of one kind, then one array with scalars.

    >>> import statistics
    >>> [len(call.args) for call in recipe_calls(statistics.mean)][:2]
    [1, 1]
    """
    for names, by_name in _yield_parameters(function):
        if len(names) + len(by_name) <= MAX_PARAMETERS:
            types = _documented_types(function)
            listed = [_parameter_choices(name, types.get(name, "")) for name in (*names, *by_name)]
            for made in _drop_duplicates(itertools.islice(_yield_combinations(listed), 4 * MAX_TRIES)):
                values = [*map(_make_value, made)]
                named = dict(zip(by_name, values[len(names) :], strict=True))
                yield ExampleCall("a recipe", tuple(values[: len(names)]), named)


def _yield_parameters(function: Callable[..., Any]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the parameters to fill: those passed by their place, and those passed by name.

    These are the required ones, or if none is required, the first optional ones.
    """
    count = getattr(function, "nin", None)
    if isinstance(count, int):
        yield ["x"] * count, ()
        return
    found: list[inspect.Parameter] | None = None
    with suppress(ValueError, TypeError):
        found = [*inspect.signature(function).parameters.values()]
    if found is not None:
        by_place = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        by_name = [p for p in found if p.kind is p.KEYWORD_ONLY]
        needed = [[p.name for p in each if p.default is p.empty] for each in (by_place, by_name)]
        if any(needed):
            yield needed[0], needed[1]
        elif any(p.kind is p.VAR_POSITIONAL for p in found):
            yield ["x"], ()
            yield ["x", "y"], ()
        elif by_place:
            yield [by_place[0].name], ()
        elif by_name:
            yield (), [by_name[0].name]
        return
    word = getattr(function, "__name__", "")
    called = re.search(rf"\b{re.escape(word)}\(([^()]*)", str(getattr(function, "__doc__", "") or ""))
    if called:
        listed = [part.strip() for part in called[1].split("[")[0].split(",")]
        names = [part.split(":")[0].strip() for part in listed if part and "=" not in part]
        if names and all(each.isidentifier() for each in names):
            yield names, ()
            return
    for arity in UNKNOWN_ARITIES:
        yield ["x"] * arity, ()


def _documented_types(function: Callable[..., Any]) -> dict[str, str]:
    """Map parameters to their types in the docstring, or to their annotations."""
    types = {
        name: str(each) for name, each in getattr(function, "__annotations__", {}).items() if name != "return"
    }
    for names, text in PARAMETER_LINE_PATTERN.findall(str(getattr(function, "__doc__", "") or "")):
        for name in names.split(","):
            types[name.strip(" *")] = text
    return types


@cache
def _compile_patterns(table: str) -> Sequence[tuple[re.Pattern[str], Choices]]:
    return [(re.compile(pattern), choices) for pattern, choices in ARGUMENT_RECIPES[table].items()]


def _parameter_choices(name: str, type_: str) -> Choices:
    """Return the values to try for a parameter, the likeliest first. A documented scalar beats its name."""
    by_type: Choices = next(
        (each for pattern, each in _compile_patterns("types") if pattern.search(type_)), ()
    )
    by_name: Choices = next(
        (each for pattern, each in _compile_patterns("names") if pattern.fullmatch(name)), ()
    )
    found = [*by_type, *by_name] if type_ else [*by_name, *ARGUMENT_RECIPES["any"]]
    words: Choices = [{"text": word} for word in QUOTED_CHOICE_PATTERN.findall(type_)[:3]] or ["linear"]
    choices: list[Any] = []
    for each in found or ARGUMENT_RECIPES["any"]:
        choices += words if each == "@text" else [each]
    return choices


def _yield_combinations(listed: Sequence[Choices]) -> Iterator[tuple[Any, ...]]:
    """Yield a choice for each parameter: the same for all first, then random ones."""
    yield tuple(choices[0] for choices in listed)
    for kind in ARGUMENT_RECIPES["any"]:
        yield tuple(kind if _is_array(choices[0]) else choices[0] for choices in listed)
    for kind, scalar in itertools.product(ARGUMENT_RECIPES["any"], ARGUMENT_RECIPES["scalars"]):
        if len(listed) > 1:
            yield (kind, *(scalar if _is_array(choices[0]) else choices[0] for choices in listed[1:]))
    rng = random.Random(0)
    for _ in range(MAX_TRIES):
        yield tuple(rng.choice(choices) for choices in listed)


def _drop_duplicates(combinations: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    seen: set[str] = set()
    for each in combinations:
        floats = any(_is_array(x) or isinstance(x, float) for x in each)
        if floats and repr(each) not in seen and len(seen) < MAX_TRIES:
            seen.add(repr(each))
            yield each


def _is_array(choice: Any) -> bool:
    return isinstance(choice, str) and choice.startswith("@") and choice != "@callable"


def _make_value(choice: Any) -> Any:
    if choice == "@callable":
        return lambda x, *others: x * x
    if _is_array(choice):
        return make_array(choice[1:])
    if isinstance(choice, dict):
        return choice["text"]
    return tuple(choice) if isinstance(choice, list) else choice
