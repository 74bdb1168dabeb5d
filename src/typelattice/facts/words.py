"""What print shows of a value, where the room that has the words for it comes after the room that makes it.

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
