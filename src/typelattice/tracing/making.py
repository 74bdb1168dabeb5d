"""Adds what a witness sees to a draft: an operation of each sort, and its operands, as steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from typelattice.operands.operand import SCALARS
from typelattice.programs.draft import Draft
from typelattice.programs.functions import FUNCTIONS
from typelattice.programs.site import Site
from typelattice.programs.step import WRITES, Argument, Index, Ref
from typelattice.tracing.arguments import UnknownCallError
from typelattice.tracing.arrays import listed
from typelattice.tracing.links import StepNumber

Make = Callable[[Site, Sequence[Argument]], Argument]  # adds the steps of an operation on arguments


def argument(part: Any) -> Argument:
    """What a step is given for a part of a key: an earlier step, a Python number, a list of such.

    Raises UnknownCallError for what is no operand.
    """
    match part:
        case StepNumber():
            return Ref(int(part))
        case (cls, number) if cls in SCALARS:
            plain: Argument = number
            return plain
        case (cls, *items) if cls in (list, tuple):
            return listed(map(argument, items))
    raise UnknownCallError("it is no operand")


def operator(draft: Draft, name: str) -> Make:
    """An operator."""
    return lambda site, args: draft.operator(site, name, args)


def in_place(draft: Draft, name: str, same: bool) -> Make:
    """An operator such as `+=`, which gave the `same` array, or a new one in place of a scalar."""
    if not same or name not in WRITES.values():
        return operator(draft, name)
    return lambda site, args: draft.in_place(site, name, *args)


def item(draft: Draft, lists: str) -> Make:
    """An index: of an array, and of the arrays among the indices; `lists` says how lists stand there."""

    def made(site: Site, args: Sequence[Argument]) -> Argument:
        source, *others = args
        assert isinstance(source, Ref)
        return draft.add(
            Index(source.step, tuple(others), lists, text=site.text, place=site.place, owner=site.owner)
        )

    return made


def attribute(draft: Draft, name: str) -> Make:
    """An attribute that computes an array."""
    op = FUNCTIONS[name if name in ("real", "imag") else "permute_dims"]
    return lambda site, args: draft.call(site, op, args)


def put(draft: Draft) -> Make:
    """An assignment to elements."""
    return lambda site, args: draft.put(site, args[0], None, args[1])
