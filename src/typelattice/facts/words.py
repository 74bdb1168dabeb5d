"""What print and notebooks show of a value, where the room that can do so comes after its own.

Nothing is imported here, since `import typelattice` loads this.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Name of a class -> what loads the function that has the words.
WORDS: dict[str, Callable[[], Callable[[Any], str]]] = {}


def in_words(x: object) -> str:
    """What print shows of a value; its repr where no words are known for its class."""
    load = WORDS.get(type(x).__name__)
    return load()(x) if load else repr(x)


# "html" and "svg" -> what loads the function that shows a value so, or gives None for one that it cannot.
VIEWS: dict[str, Callable[[], Callable[[Any], str | None]]] = {}


class Viewed:
    """A value that notebooks show as HTML, and where only pictures are taken as SVG."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return VIEWS["html"]()(self) if "html" in VIEWS else None

    def _repr_svg_(self) -> str | None:
        return VIEWS["svg"]()(self) if "svg" in VIEWS else None
