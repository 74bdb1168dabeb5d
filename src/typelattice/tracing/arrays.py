"""Reads what a call is given as arguments of steps, and makes the arrays of its shapes, bounds and lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from typelattice.facts.errors import TypelatticeError
from typelattice.operands.objects import operand
from typelattice.operands.operand import SCALARS, Operand, scalar
from typelattice.programs.draft import Draft
from typelattice.programs.functions import FUNCTIONS
from typelattice.programs.makers import PYTHONS
from typelattice.programs.site import Site
from typelattice.programs.step import AnyDType, Argument, DTypeOf, NamedDType, Ref, Slice
from typelattice.tracing.arguments import UnknownCallError
from typelattice.tracing.kinds import LONG
from typelattice.tracing.libraries import dtype_text

SHAPED = {  # what makes an array of a shape, which is not kept, with its arguments by position
    **dict.fromkeys(("zeros", "ones", "empty", "identity"), ("shape", "dtype")),
    "eye": ("shape", "columns", "offset", "dtype"),
    "full": ("shape", "fill_value", "dtype"),
}
SPACED = ("arange", "linspace")
MADE = ("asarray", "array", "asanyarray", "ascontiguousarray", "tensor", "as_tensor", "constant")
WIDEST = 63  # bits of an integer in a list, past which libraries choose a dtype by its value


class ArrayMaker:
    """Adds the steps of arrays that are made; `part` gives the step of an array, None of anything else."""

    def __init__(self, draft: Draft, part: Callable[[Any], int | None]) -> None:
        self.draft, self.part = draft, part

    def shaped(self, site: Site, name: str, given: Mapping[str, Any]) -> Argument:
        """An array of a shape, such as `zeros((2, 3))`; of `full` also of a value."""
        to = given.get("dtype")
        dtype = None if to is None or type(to) is int else self.dtype(to)  # a length, as in `ones(2, 3)`
        if name != "full":
            like: Operand | int = scalar(SCALARS[float])
            return self.draft.created(site, name, (), {}, like, dtype, None)
        filled = self.draft.ref(site, self.argument(given.get("fill_value")))
        return self.draft.created(site, "full", ((), filled), {}, filled.step, dtype, None)

    def spaced(self, site: Site, name: str, args: list[Any], named: dict[str, Any]) -> Argument:
        """Evenly spaced numbers, such as `arange(0, 10)`: between Python's numbers or a library's scalars."""
        if "start" in named or "stop" in named:
            args = [named[key] for key in ("start", "stop", "step") if key in named] + args
        bounds = args[:2] if name == "linspace" else args[:3]
        dtype = self.dtype(named["dtype"]) if "dtype" in named else None
        if name == "arange" and len(args) > 3:
            dtype = self.dtype(args[3])
        known = [self.argument(x) for x in bounds]
        if dtype is None and any(isinstance(x, Ref) for x in known):
            return self.draft.call(site, FUNCTIONS[name], known)
        kinds = [SCALARS[type(x)] for x in bounds if type(x) in SCALARS]
        least = SCALARS[float] if name == "linspace" else SCALARS[int]
        kind = max((least, *kinds), key=lambda k: k.rank)
        return self.draft.created(site, name, (), {}, Operand(None, kind, True, "scalar"), dtype, None)

    def of_list(self, site: Site, args: list[Any], named: dict[str, Any], result: Operand) -> Argument:
        """An array of a list: of Python's numbers, or of arrays, which are stacked."""
        to = named.get("dtype", args[1] if len(args) > 1 else None)
        dtype = None if to is None else self.dtype(to)
        leaves = _leaves(args[0])
        arrays = [x for x in leaves if self.part(x) is not None]
        if not arrays:
            if not all(type(x) in SCALARS for x in leaves):
                raise UnknownCallError("its list holds other things than numbers")
            like = Operand(None, result.kind, True, "scalar") if result.kind.rank else scalar(result.kind)
            return self.draft.created(site, "asarray", (), {}, like, dtype, None)
        if len(leaves) > LONG:
            raise UnknownCallError("its list is long")
        return self.draft.array_of(site, tuple(self.argument(x) for x in args[0]), dtype)

    def joined(self, site: Site, name: str, entries: Sequence[Any]) -> Argument:
        """The step of `np.r_[x, 1:5, 2.0]`: arrays, slices that stand for such, and Python numbers.

        A number is cast to what all entries come to, as NumPy does. Raises UnknownCallError.
        """
        if entries and isinstance(entries[0], str):  # which says along which axes
            entries = entries[1:]
        found = [self.sliced(site, x) if isinstance(x, slice) else self.argument(x) for x in entries]
        if all(type(x) in SCALARS for x in found):
            return self.draft.array_of(site, listed(found), None)
        found = [self.draft.ref(site, x) if isinstance(x, tuple) else x for x in found]
        if any(type(x) in SCALARS for x in found):
            common = DTypeOf(self.draft.call(site, FUNCTIONS["result_type"], found).step)
            found = [self.draft.cast(site, x, common) if type(x) in SCALARS else x for x in found]
        return self.draft.call(site, FUNCTIONS[name], found)

    def sliced(self, site: Site, x: slice) -> Argument:
        """The numbers that a slice stands for in `np.r_`: `1:5` for four; `0:1:5j` for five from 0 to 1."""
        bounds = [0 if x.start is None else x.start, x.stop, 1 if x.step is None else x.step]
        name = "linspace" if isinstance(bounds[2], complex) else "arange"
        text = ":".join("" if each is None else str(each) for each in (x.start, x.stop, x.step))
        site = Site(text.removesuffix(":") if x.step is None else text, site.place, site.owner)
        return self.spaced(site, name, bounds, {})

    def argument(self, x: Any) -> Argument:
        """What a step is given for an argument. Raises UnknownCallError."""
        if x is None or type(x) in (str, type(...)) or type(x) in SCALARS:
            plain: Argument = x
            return plain
        number = self.part(x)
        if number is not None:
            return Ref(int(number))
        if isinstance(x, (list, tuple)):
            if len(x) > LONG:
                raise UnknownCallError("a long list")
            return listed(map(self.argument, x))
        if isinstance(x, slice):
            return Slice(None, None, None)
        return self.dtype(x)

    def dtype(self, x: Any) -> AnyDType:
        """A dtype that was asked for. Raises UnknownCallError."""
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


def _leaves(x: Any) -> list[Any]:
    """The items of nested lists, as far as there are few; of many Python numbers one of each type."""
    if not isinstance(x, (list, tuple)):
        return [x]
    if len(x) > LONG and {*map(type, x)} <= SCALARS.keys():
        return [*{type(each): each for each in x}.values()]
    return [leaf for each in x[: LONG + 1] for leaf in _leaves(each)]
