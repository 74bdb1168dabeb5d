"""The libraries that typelattice knows: names, modules, packages, recordings, as in libraries.txt."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from typelattice.base.objects.frozen_classes import field, frozen
from typelattice.base.objects.lazy_tables import LazyTable

LIBRARIES_TABLE_PATH = __file__.rpartition(".")[0] + ".txt"
EMPTY_COLUMN = "-"


@frozen()
class RecordingEntry:
    """One recording: the library to record, and its environment.

    `max_calls` is the largest number of calls that `make conform` makes, or None if the library is fast.
    """

    library: str
    environment: str
    max_calls: int | None = None


@frozen()
class LibraryEntry:
    """One library: the root modules of its objects, and the packages of each environment that has it.

    >>> libraries()["jax"].modules
    ('jax', 'jaxlib')
    """

    name: str
    modules: tuple[str, ...] = ()
    packages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def distribution(self) -> str:
        """The name of the library for pip, or an empty string if pip does not install it.

        >>> libraries()["dask"].packages["live"], libraries()["dask"].distribution
        (('dask[array]==2026.8.0',), 'dask')
        """
        requirement = next(iter(self.packages.values()), ("",))[0]
        return requirement.partition("==")[0].partition("[")[0]


def file_of(library: str) -> str:
    """Return the name of a library's file in a room, which is a valid name of a Python module.

    >>> file_of("array-api-strict")
    'array_api_strict'
    """
    return library.replace("-", "_")


def library_of(module: str) -> str | None:
    """Return the library of the objects from a root module.

    >>> library_of("jaxlib"), library_of("os")
    ('jax', None)
    """
    return _libraries_by_module().get(module)


@cache
def libraries() -> Mapping[str, LibraryEntry]:
    """Every library, by its name."""
    found: dict[str, LibraryEntry] = {}
    for name, modules, environment, packages, *_ in _table_rows():
        entry = found.get(name, LibraryEntry(name))
        installed = dict(entry.packages)
        if environment != EMPTY_COLUMN:
            installed[environment] = installed.get(environment, ()) + _split_words(packages)
        found[name] = LibraryEntry(name, entry.modules + _split_words(modules), installed)
    return found


@cache
def recordings() -> Mapping[str, RecordingEntry]:
    """Every recording that can be made, by its name.

    >>> recordings()["jax-x32"].library
    'jax'
    """
    found: dict[str, tuple[str, str, str]] = {}
    for library, _, environment, _, *recorded in _table_rows():
        for name, _, most in (word.partition("=") for word in recorded if word != EMPTY_COLUMN):
            found[name] = (library, environment, most)
    return LazyTable(found, lambda _, row: RecordingEntry(*row[:2], int(row[2]) if row[2] else None))


@cache
def _libraries_by_module() -> Mapping[str, str]:
    return {module: known.name for known in libraries().values() for module in known.modules}


@cache
def _table_rows() -> Sequence[list[str]]:
    with open(LIBRARIES_TABLE_PATH, encoding="utf-8") as rows:
        return [row.split() for row in rows if not row.startswith("#")]


def _split_words(words: str) -> tuple[str, ...]:
    """Return the words between commas."""
    return () if words == EMPTY_COLUMN else tuple(words.split(","))
