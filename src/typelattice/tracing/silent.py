"""A witness that says nothing, which a rewritten function has where it was unpickled in another process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Silent:
    """A witness that says nothing."""

    def told(self, *given: Any) -> Any:
        """What the operation gave."""
        return given[-1]

    binary = unary = in_place = item = attribute = given = told
    called_0 = called_1 = called_2 = called = told

    def put(self, value: Any, a: Any) -> Any:
        """What is assigned."""
        return value

    def forgotten(self, a: Any) -> Any:
        """The array."""
        return a

    def __reduce__(self) -> tuple[Callable[[], Silent], tuple[()]]:
        return silent, ()


def silent() -> Any:
    """A witness that says nothing."""
    return Silent()
