"""Classes whose objects hold arrays without being arrays: one row a class, in the file of its package.

A row says which attributes have the arrays, which one states the dtype, and how an object is cast. Another
package gives its own rows as entry points of the group `typelattice.array_holders`. They are read as text, so
that no code of the package runs.

>>> find_row("astropy", "NDData").arrays
('_data', '_uncertainty._array')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

ENTRY_POINT_GROUP = "typelattice.array_holders"
NOTHING = "-"  # an empty column of a row
MAX_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class ArrayHolder:
    """The attributes of a class that hold arrays or state their dtype, and the cast of an object.

    - `arrays`: the attributes that hold them, dotted. A list or a dictionary on the way stands for its items.
    - `dtype`: the attribute in which an object states its dtype, or "".
    - `cast`: an expression that casts `{object}` to `{dtype}`, or "".
    """

    arrays: tuple[str, ...]
    dtype: str = ""
    cast: str = ""


def find_row(package: str, class_name: str) -> ArrayHolder | None:
    """Return the row of a class of a package, or None."""
    return rows_of_package(package).get(class_name)


def find_holder(cls: type) -> ArrayHolder | None:
    """Return the row of a class, or of the first of its bases that has one, or None."""
    package, _, class_name = name_row(cls).partition(".")
    return find_row(package, class_name)


def name_row(cls: type) -> str:
    """Name the package and the class of the row of a class, or of the first of its bases, or return "".

    >>> name_row(dict)
    ''
    """
    for each in type.__getattribute__(cls, "__mro__"):
        module = type.__getattribute__(each, "__module__")
        package = module.partition(".")[0] if type(module) is str else ""
        class_name = type.__getattribute__(each, "__qualname__")
        if package not in ("", "builtins") and find_row(package, class_name) is not None:
            return f"{package}.{class_name}"
    return ""


@cache
def rows_of_package(package: str) -> Mapping[str, ArrayHolder]:
    """Read the rows of a package's classes: those of its file here, or those of its entry points."""
    file = Path(__file__).with_name(f"{package}.txt")
    if package.isidentifier() and file.is_file():
        lines = (line.partition("#")[0] for line in file.read_text().splitlines())
        rows = (line.split(None, MAX_COLUMNS - 1) for line in lines if line.strip())
        return MappingProxyType({columns[0]: _read_row(columns) for columns in rows})
    return _read_entry_points().get(package, MappingProxyType({}))


def _read_row(columns: list[str]) -> ArrayHolder:
    """Read the columns of a row: the class, its arrays with commas, its dtype, its cast."""
    _, arrays, dtype, cast = [*columns, NOTHING, NOTHING][:MAX_COLUMNS]
    shown = [column if column.strip() != NOTHING else "" for column in (dtype, cast.strip())]
    return ArrayHolder(tuple(arrays.split(",")), *shown)


@cache
def _read_entry_points() -> Mapping[str, Mapping[str, ArrayHolder]]:
    """Read the entry points of installed packages, such as `"mypkg.Image" = "pixels:dtype"`."""
    from importlib import metadata  # takes a tenth of the start of a traced script

    found: dict[str, dict[str, ArrayHolder]] = {}
    for each in metadata.entry_points(group=ENTRY_POINT_GROUP):
        package, _, class_name = each.name.partition(".")
        arrays, _, dtype = each.value.partition(":")
        row = ArrayHolder((arrays.strip(),), dtype.partition("[")[0].strip())
        found.setdefault(package, {}).setdefault(class_name, row)
    return found
