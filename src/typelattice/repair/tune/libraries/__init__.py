"""How a library writes the dtypes that are tuned, one file for each library.

A file defines these:

- `MODULE`: the module that has the dtypes by their names.
- `DTYPES`: the float dtypes that its arrays may have.
- `CAST`: the cast that is written after an expression.
- `CREATORS`: functions that make an array, and take the keyword `dtype`.
- `ACCUMULATORS`: functions that accumulate, each with the keyword that says in which dtype.
- `DRAWS`: functions that draw random numbers. Another dtype draws other numbers, so these are cast
  afterwards. `DRAW_KEYWORD` then keeps the dtype of the draw itself, if the library could choose another.
- `SEEDED_FUNCTIONS`: functions whose first argument is a seed.
- `AGREEING_OPERATIONS`: operations that refuse operands of different dtypes.
- `WIDE_ENVIRONMENT`: variables of the environment without which the library has no float64.
- `SCALARS_WIDEN`: True if an array without dimensions widens an array with dimensions.
- `TAKES_NAMES`: True if it takes the name of a dtype as a text.
- `FORKS_AFTER_IMPORT`: True if a process that has imported the library, and computed nothing, may be forked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules


@dataclass(frozen=True, slots=True)
class TunedLibrary:
    """The data of one library's file."""

    name: str
    module: str
    dtypes: tuple[str, ...]
    cast: str
    creators: frozenset[str]
    accumulators: Mapping[str, str]
    draws: frozenset[str]
    draw_keyword: str
    seeded_functions: tuple[str, ...]
    agreeing_operations: frozenset[str]
    wide_environment: Mapping[str, str]
    scalars_widen: bool
    forks_after_import: bool
    takes_names: bool


@cache
def tuned_library(name: str) -> TunedLibrary | None:
    """Return the data of a library, or None if its dtypes are not tuned."""
    if name not in tuned_library_names():
        return None
    file = import_module(f"{__name__}.{name}")
    return TunedLibrary(
        name,
        file.MODULE,
        file.DTYPES,
        file.CAST,
        frozenset(file.CREATORS.split()),
        {function: keyword for keyword, names in file.ACCUMULATORS.items() for function in names.split()},
        frozenset(file.DRAWS.split()),
        file.DRAW_KEYWORD,
        file.SEEDED_FUNCTIONS,
        frozenset(file.AGREEING_OPERATIONS.split()),
        file.WIDE_ENVIRONMENT,
        file.SCALARS_WIDEN,
        file.FORKS_AFTER_IMPORT,
        file.TAKES_NAMES,
    )


@cache
def tuned_library_names() -> tuple[str, ...]:
    """Name the libraries whose dtypes are tuned."""
    return tuple(sorted(found.name for found in iter_modules(__path__)))
