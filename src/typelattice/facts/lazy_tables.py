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


class Later(Mapping[str, T]):
    """A table that reads each entry when a program first looks it up: most programs need few of them.

    >>> lengths = Later({"a": "one", "b": "three"}, lambda entry, text: len(text))
    >>> lengths["b"], [*lengths], lengths.found
    (5, ['a', 'b'], {'b': 5})
    """

    __slots__ = ("found", "given", "read")

    def __init__(self, given: Mapping[str, S], read: Callable[[str, S], T]):
        self.given, self.read = given, read
        self.found: dict[str, T] = {}

    def __getitem__(self, entry: str) -> T:
        try:
            return self.found[entry]
        except KeyError:
            return self.found.setdefault(entry, self.read(entry, self.given[entry]))

    def __contains__(self, entry: object) -> bool:
        return entry in self.given

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)
