"""Tables that read an entry when it is first looked up."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    S = TypeVar("S")
    T = TypeVar("T")
else:
    T = object


class LazyTable(Mapping[str, T]):
    """A table that reads each entry when a program first looks it up: most programs need few of them.

    >>> lengths = LazyTable({"a": "one", "b": "three"}, lambda entry, text: len(text))
    >>> lengths["b"], [*lengths], lengths.values_read
    (5, ['a', 'b'], {'b': 5})
    """

    __slots__ = ("read", "sources", "values_read")

    def __init__(self, sources: Mapping[str, S], read: Callable[[str, S], T]):
        self.sources, self.read = sources, read
        self.values_read: dict[str, T] = {}

    def __getitem__(self, entry: str) -> T:
        try:
            return self.values_read[entry]
        except KeyError:
            return self.values_read.setdefault(entry, self.read(entry, self.sources[entry]))

    def __contains__(self, entry: object) -> bool:
        return entry in self.sources

    def __iter__(self) -> Iterator[str]:
        return iter(self.sources)

    def __len__(self) -> int:
        return len(self.sources)
