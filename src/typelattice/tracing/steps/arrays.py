"""Reads what a call is given as arguments of steps, and makes the arrays of its shapes, bounds and lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from typelattice.calls.bind import call_function
from typelattice.calls.call_handlers import PYTHONS
from typelattice.calls.program_builder import ProgramBuilder
from typelattice.calls.step import AnyDType, Argument, DTypeOf, Excerpt, NamedDType, Ref, Slice
from typelattice.calls.table import FUNCTIONS
from typelattice.facts.errors import TypelatticeError
from typelattice.operands.objects import operand
from typelattice.operands.operand import SCALARS
from typelattice.tracing.libraries import dtype_text
from typelattice.tracing.run_data.array_classes import LONG, is_dtype
from typelattice.tracing.steps.arguments import UnknownCallError

WIDEST = 63  # bits of an integer in a list, past which libraries choose a dtype by its value


class ArrayMaker:
    """Adds the steps of arrays that are made; `part` gives the step of an array, None of anything else."""

    def __init__(self, builder: ProgramBuilder, part: Callable[[Any], int | None]) -> None:
        self.builder, self.part = builder, part

    def join(self, excerpt: Excerpt, name: str, entries: Sequence[Any]) -> Argument:
        """The step of `np.r_[x, 1:5, 2.0]`: arrays, slices that stand for such, and Python numbers.

        A number is cast to what all entries come to, as NumPy does. Raises UnknownCallError.
        """
        if entries and isinstance(entries[0], str):  # which says along which axes
            entries = entries[1:]
        found = [self.sliced(excerpt, x) if isinstance(x, slice) else self.argument(x) for x in entries]
        if all(type(x) in SCALARS for x in found):
            return self.builder.array_of(excerpt, listed(found), None)
        found = [self.builder.ref(excerpt, x) if isinstance(x, tuple) else x for x in found]
        if any(type(x) in SCALARS for x in found):
            common = DTypeOf(self.builder.call(excerpt, FUNCTIONS["result_type"], found).step)
            found = [self.builder.cast(excerpt, x, common) if type(x) in SCALARS else x for x in found]
        return self.builder.call(excerpt, FUNCTIONS[name], found)

    def sliced(self, excerpt: Excerpt, x: slice) -> Argument:
        """The numbers that a slice stands for in `np.r_`: `1:5` for four; `0:1:5j` for five from 0 to 1."""
        bounds = [0 if x.start is None else x.start, x.stop, 1 if x.step is None else x.step]
        name = "linspace" if isinstance(bounds[2], complex) else "arange"
        text = ":".join("" if each is None else str(each) for each in (x.start, x.stop, x.step))
        excerpt = Excerpt(text.removesuffix(":") if x.step is None else text, excerpt.location, excerpt.owner)
        given = list(map(self.argument, bounds[:2] if name == "linspace" else bounds))
        made = call_function(self.builder, excerpt, name, given, {})
        assert isinstance(made, Ref)
        return made

    def argument(self, x: Any) -> Argument:
        """Convert a value of the program to an argument of a step, which is `...` where no rule reads it."""
        if x is None or type(x) is str or type(x) in SCALARS:
            plain: Argument = x
            return plain
        number = self.part(x)
        if number is not None:
            return Ref(int(number))
        if isinstance(x, (list, tuple)):
            return self.listed(x)
        if isinstance(x, slice):
            return Slice(None, None, None)
        with suppress(UnknownCallError):
            return self.dtype(x) if isinstance(x, type) or is_dtype(type(x)) else ...
        return ...

    def listed(self, x: Sequence[Any]) -> Argument:
        """A list of arguments; of many Python numbers one of each type."""
        if len(x) > LONG:
            if not {*map(type, x)} <= SCALARS.keys():
                return ...
            x = [*{type(each): each for each in x}.values()]
        return listed(map(self.argument, x))

    def text(self, x: str) -> Argument:
        """A dtype that is given as text; any other text is itself."""
        with suppress(UnknownCallError):
            return self.dtype(x)
        return x

    def dtype(self, x: Any) -> AnyDType:
        """Convert a dtype that was asked for. Raises UnknownCallError."""
        if isinstance(x, type) and x in SCALARS:
            return NamedDType(x.__name__)
        if isinstance(x, str) and x in PYTHONS:
            return NamedDType(x)
        try:
            found = operand(dtype_text(x)) if isinstance(x, str) else operand(x)
        except (TypelatticeError, TypeError):
            raise UnknownCallError("it is given something that is no operand") from None
        if found.dtype is None:
            raise UnknownCallError("it is given something that is no dtype")
        return NamedDType(found.dtype.name)


def listed(items: Iterable[Argument]) -> tuple[Argument, ...]:
    """A list of arguments. Raises UnknownCallError for numbers that have no default dtype."""
    found = tuple(items)
    if any(type(x) is int and x.bit_length() > WIDEST for x in found):
        raise UnknownCallError("a number in a list is too wide for the default dtype")
    return found
