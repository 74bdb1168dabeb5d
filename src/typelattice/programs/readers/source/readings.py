"""Generators that read source, and the loop that runs them.

Generators replace recursion here. `run_reading` keeps them on a stack of its own, so that code may nest to
any depth. An expression without parts is read at once, and yielded as it is.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from types import GeneratorType
from typing import Any, TypeAlias

Reading: TypeAlias = Generator[Any, Any, Any]
ITERATION_END: Any = object()  # the next item of an iterator without one


@dataclass(frozen=True, slots=True)
class YieldedValue:
    """A value that a generator function of the source yields. Its reading stops there until it is resumed."""

    value: Any


@dataclass(slots=True)
class ReadingStack:
    """A reading that stops at each value that the source yields, and goes on from there."""

    stack: list[Reading] = field(default_factory=list)

    def resume(self, value: Any = None) -> Any:
        """Run until the source yields. Return the YieldedValue, or the result of the whole reading.

        The stack is empty at the end. An error goes through all readings, as through calls of functions.
        """
        stack, error = self.stack, None
        while stack:
            try:
                found = stack[-1].send(value) if error is None else stack[-1].throw(error)
            except StopIteration as done:
                stack.pop()
                value, error = done.value, None
                continue
            except Exception as e:
                stack.pop()
                if not stack:
                    raise
                error = e
                continue
            error = None
            if isinstance(found, GeneratorType):
                stack.append(found)
                value = None
            elif isinstance(found, YieldedValue):
                return found
            else:
                value = found
        return value


def run_reading(reading: Reading) -> Any:
    """Run a generator and each generator it yields, without recursion. Return the first one's result."""
    return ReadingStack([reading]).resume()
