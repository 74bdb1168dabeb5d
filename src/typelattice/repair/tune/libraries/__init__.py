"""Ways of libraries to write the dtypes that are tuned, one TOML file for each library.

A file has these keys. Several names are separated by spaces.

- `module`: the module that has the dtypes by their names.
- `dtypes`: the float dtypes that its arrays may have.
- `cast`: the cast that is written after an expression.
- `tree_cast`: the text around a collection of arrays, `{tree}`, that casts those with a float dtype. `{root}`
  is the package, `{module}` the module with the dtypes. Without it such collections are not tuned.
- `creators`: functions that make an array, and take the keyword `dtype`.
- `accumulators`: keywords that say in which dtype a function accumulates, each with its functions.
- `after_cast`: keywords of a creation that its cast result must have, each with the method that is written.
- `draws`: functions that draw random numbers. Another dtype draws other numbers, so these are cast
  afterwards. `draw_keyword` then keeps the dtype of the draw itself, if the library could choose another.
- `like_draws`: functions that draw in the dtype of another array, unless the keyword `dtype` says otherwise.
- `seeded_functions`: functions whose first argument is a seed.
- `agreeing_operations`: operations that refuse operands of different dtypes.
- `wide_environment`: variables of the environment without which the library has no float64.
- `scalars_widen`: true if an array without dimensions widens an array with dimensions.
- `takes_names`: true if it takes the name of a dtype as a text.
- `forks_after_import`: true if a process that has imported the library, and computed nothing, may be forked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


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
    like_draws: frozenset[str]
    seeded_functions: tuple[str, ...]
    agreeing_operations: frozenset[str]
    wide_environment: Mapping[str, str]
    after_cast: Mapping[str, str]
    scalars_widen: bool
    forks_after_import: bool
    takes_names: bool
    tree_cast: str = ""

    @property
    def root(self) -> str:
        """The name of the package."""
        return self.module.partition(".")[0]


@cache
def tuned_library(name: str) -> TunedLibrary | None:
    """Return the data of a library, or None if its dtypes are not tuned."""
    if name not in tuned_library_names():
        return None
    data = tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))
    accumulators = {
        function: keyword for keyword, names in data["accumulators"].items() for function in names.split()
    }
    return TunedLibrary(
        name,
        data["module"],
        tuple(data["dtypes"].split()),
        data["cast"],
        frozenset(data["creators"].split()),
        accumulators,
        frozenset(data["draws"].split()),
        data["draw_keyword"],
        frozenset(data["like_draws"].split()),
        tuple(data["seeded_functions"].split()),
        frozenset(data["agreeing_operations"].split()),
        data["wide_environment"],
        data["after_cast"],
        data["scalars_widen"],
        data["forks_after_import"],
        data["takes_names"],
        data.get("tree_cast", ""),
    )


@cache
def tuned_library_names() -> tuple[str, ...]:
    """Name the libraries whose dtypes are tuned."""
    found = (file.name for file in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))
