"""Calls of a recorded run as steps: which operation a function is, and what of its arguments takes part."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from typelattice.facts.dtypes import Kind
from typelattice.facts.libraries import library_of
from typelattice.facts.operations import Operation
from typelattice.operands.operand import SCALARS, Operand
from typelattice.programs.functions import FUNCTIONS, call_function, is_function
from typelattice.programs.methods import call_method
from typelattice.programs.names import meaning
from typelattice.programs.several import Several
from typelattice.programs.site import Site
from typelattice.programs.step import Argument, Ref
from typelattice.programs.ufuncs import POSITIONS, REDUCED
from typelattice.tracing.alike import ASSIGNED, alike, written
from typelattice.tracing.arguments import (
    JOINED,
    UnknownCallError,
    arguments,
    by_name,
    check_further,
    method_parameters,
    operand_count,
    parameters,
)  # fmt: skip
from typelattice.tracing.arrays import MADE, SHAPED, SPACED, ArrayMaker
from typelattice.tracing.kinds import is_dtype
from typelattice.tracing.libraries import has_rules
from typelattice.tracing.spot import Spot

KEPT = ("dtype", "min", "max", "a_min", "a_max", "axis", "ddof", "correction")  # those that a step keeps
ELSEWHERE = (".control_flow.", ".scimath")  # modules whose functions are others than their names say
ARRAY_SECOND = ("compress", "extract")  # functions whose array follows a condition; no methods
CASTING = ("to", "type", "type_as")  # methods that cast, to a dtype or to that of an array
BEYOND_RULES = {"eigen": Kind.FLOAT, "interp": Kind.COMPLEX}  # kinds of results that the values decide
STANDARDS_OWN = "array_api_compat"  # the package that gives libraries the functions of the standard


@dataclass(frozen=True, slots=True)
class Called:
    """A function that was called: its name, its library, and the array whose method it is."""

    name: str
    library: str | None
    owner: tuple[Any, ...] = ()
    takes: int | None = None  # arguments, of a ufunc; the others are written into
    parameters: Callable[[], Sequence[str]] = tuple  # names of its arguments by position, where known


class CallReader(ArrayMaker):
    """Reads calls as steps."""

    def step(
        self, site: Site, spot: Spot, function: Any, given: Sequence[Any], number: int, result: Operand
    ) -> Argument:
        """The step of a call and of one of its results. Raises UnknownCallError, ProgramError."""
        who = called(function)
        if who.library is None or not has_rules(who.library):
            raise UnknownCallError("it is no library's, or one's whose rules no system has")
        positional, named = arguments(spot, given)
        positional = [*who.owner, *positional]
        if meaning("second", who.name, who.library) == "yes" if who.owner else who.name in ARRAY_SECOND:
            positional[:2] = reversed(positional[:2])
        op = FUNCTIONS.get(alike(who.name, number, len(positional), who.library))
        count = operand_count(op)
        further = count is not None and len(positional) > count
        names = who.parameters() if further else ()  # which takes long to find out
        positional, named = by_name(names, count, positional, named)
        out = named.pop("out", None)
        if who.takes is not None and len(positional) > who.takes:
            out = tuple(positional[who.takes :])
            positional = positional[: who.takes]
        if who.name == "view" and ("dtype" in named or any(not _lengths(x) for x in positional[1:])):
            raise UnknownCallError("its bits are taken for those of another dtype")
        if op is not None:
            self.check(op, positional, named, result)
        name = who.name
        if who.owner and written(name):
            name, out = written(name), who.owner[0]
            if name in ASSIGNED:
                return self.draft.put(site, self.argument(out), None, self.argument(positional[1]))
        if who.owner and name in CASTING:
            return self.cast(site, name, positional, named)
        site = Site(site.text, site.place, who.library if who.library != STANDARDS_OWN else site.owner)
        if op is not None and op.of_class == "like" and who.owner:
            positional = positional[:1]  # a shape may follow, as in x.new_zeros(3)
        name = alike(name, number, len(positional), who.library)
        made = self.made(site, name, positional, named, number, result)
        if isinstance(out, tuple):
            out = out[number] if number < len(out) else None
        if out is None:
            return made
        return self.draft.put(site, self.argument(out), None, made)

    def check(self, op: Operation, given: Sequence[Any], named: Mapping[str, Any], result: Operand) -> None:
        """Raises UnknownCallError of a call of an operation whose dtype more than its rule decides."""
        count = operand_count(op)
        check_further(op, given[count or len(given) :], named, self.part)
        if result.kind is BEYOND_RULES.get(op.name, BEYOND_RULES.get(op.of_class)):
            raise UnknownCallError("its values decide of which kind its result is")
        if op.of_class == "quantile":
            shares = named.get("q", given[1] if len(given) > 1 else None)
            if type(shares) not in SCALARS:
                raise UnknownCallError("the shares that it is asked for are an array, and promote")
            if op.name == "quantile" and type(shares) is int:
                raise UnknownCallError("NumPy gives integers for a share of 0 or 1 that is one itself")

    def made(
        self,
        site: Site,
        name: str,
        positional: list[Any],
        named: dict[str, Any],
        number: int,
        result: Operand,
    ) -> Argument:
        """The step of the function of a name."""
        if positional and meaning("same", name, site.owner):
            return self.argument(positional[0])
        function = meaning("function", name, site.owner) or name
        own = SHAPED.get(name) or SHAPED.get(function)
        if own:
            return self.shaped(site, function, dict(zip(own, positional, strict=False)) | named)
        if name in SPACED:
            return self.spaced(site, name, positional, named)
        if function in MADE and positional and isinstance(positional[0], (list, tuple)):
            return self.of_list(site, positional, named, result)
        if not is_function(name, site.owner):
            raise UnknownCallError("no operation has its name")
        op = FUNCTIONS.get(name)
        if op is not None and op.form == "each":
            listed = meaning("listed", name, site.owner) and isinstance(positional[0], (list, tuple))
            several = positional[0] if listed else positional
            return self.draft.call(site, FUNCTIONS["reshape"], [self.argument(several[number])])
        if op is not None and op.of_class == "like":
            at = 2 if op.name == "full_like" else 1  # where NumPy's functions take a dtype by position
            named = dict(zip(("dtype",), positional[at : at + 1], strict=False)) | named
        if op is not None and op.form == "cases":
            if not isinstance(positional[1], (list, tuple)):
                raise UnknownCallError("its cases are in no list")
            choices = [*positional[1], named.get("default", positional[2] if len(positional) > 2 else 0)]
            return self.draft.call(site, op, [self.argument(x) for x in choices])
        args = [
            self.dtype(x) if op is None and isinstance(x, str) else self.argument(x)
            for x in positional[: operand_count(op)]
        ]
        for key in JOINED:
            if key in named:
                both = args[0], self.argument(named[key])
                args[:1] = [self.draft.call(site, FUNCTIONS["append"], both)]
        keywords = {
            key: self.dtype(value) if key == "dtype" else self.argument(value)
            for key, value in named.items()
            if key in KEPT
        }
        if op is not None and op.name != "clip":
            keywords = {key: value for key, value in keywords.items() if not isinstance(value, Ref)}
            keywords.pop("axis", None)
        found = call_function(self.draft, site, name, args, keywords)
        if not isinstance(found, Several):
            return found
        if found.count is not None and number >= found.count:
            raise UnknownCallError(f"{name} gave more arrays than are known of")
        return found[number]

    def cast(self, site: Site, name: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Argument:
        """What a method that casts gives: `x.to("cuda", float16)`, `x.type_as(y)`.

        What else it is given says where the array is to be, or how.
        """
        x, *given = (*positional, *named.values())
        asked = [self.argument(y) for y in given if is_dtype(type(y)) or self.part(y) is not None]
        source = self.argument(x)
        assert isinstance(source, Ref)
        made = call_method(self.draft, site, name, source, asked, {})
        assert not isinstance(made, Several)
        return made


def called(function: Any) -> Called:
    """What was called."""
    name = getattr(function, "__name__", "").lstrip("_")  # JAX's method sum is called _sum
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, (ModuleType, type)):
        cls = type(owner)
        library = _library(cls.__module__)
        if cls.__name__ == "ufunc":
            if name == "outer":
                return Called(owner.__name__, library)
            reduced = REDUCED.get(name, {}).get(owner.__name__, "")
            return Called(reduced, library, (), None, lambda: ("", *POSITIONS))
        if hasattr(cls, "dtype") and hasattr(cls, "shape"):
            libraries = filter(None, (_library(c.__module__) for c in cls.__mro__))
            own = next(libraries, None)
            return Called(name, own, (owner,), None, partial(method_parameters, function, own))
        return Called("", library)
    if owner is builtins:
        return Called(name, STANDARDS_OWN)
    cls = type(function)
    module = getattr(function, "__module__", None) if not isinstance(function, type) else function.__module__
    if isinstance(module, str) and any(each in module for each in ELSEWHERE):
        return Called("", _library(module))
    library = _library(module if isinstance(module, str) else "") or _library(cls.__module__)
    takes = function.nin if cls.__name__ == "ufunc" and hasattr(function, "nin") else None
    if type(takes) is int:
        return Called(name, library, (), takes)
    return Called(name, library, (), None, partial(parameters, function))


def _lengths(x: Any) -> bool:
    """Whether an argument is a shape, or one length of it."""
    return isinstance(x, int) or (isinstance(x, (tuple, list)) and all(isinstance(n, int) for n in x))


def _library(module: str) -> str | None:
    if STANDARDS_OWN in module.split("."):
        return STANDARDS_OWN
    return library_of(module.partition(".")[0])
