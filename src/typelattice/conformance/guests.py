"""One library's arrays and scalars among another's own: what that makes of each, asked and recorded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import product
from platform import python_version

from typelattice.conformance.asker import Asker
from typelattice.conformance.library import Library
from typelattice.facts.libraries import library_of
from typelattice.operands.operand import SCALAR
from typelattice.recorded.answers import NOT_ASKED, TAKEN_OVER
from typelattice.recorded.messages import Messages
from typelattice.recorded.recording import Recording
from typelattice.recorded.rows import Square

CHOSEN = re.compile(r"bool|u?int8|int(32|64)|float(16|32|64)")
"""The dtypes that are asked: few, as a guest counts by its dtype or by its kind."""

OPERATIONS = ("add", "+", "*", "/", "<", "divide", "maximum")


class Host:
    """A library whose operands may be a guest's as well: `float32:numpy`."""

    def __init__(self, library: Library, guest: Library) -> None:
        self.library, self.guest = library, guest
        self.name, self.how = library.name, f"{library.how}; beside {guest.name}'s arrays and scalars"
        self.versions: Mapping[str, str] = {**library.versions, **guest.versions}

    def dtypes(self) -> Sequence[str]:
        return self.library.dtypes()

    def make(self, operand: str) -> object:
        """An array of the library's own; one of the guest's where the string ends with its name."""
        of_library, _, mark = operand.rpartition(":")
        if mark == self.guest.name:
            return self.guest.make(of_library)
        if mark == self.guest.name + SCALAR:
            return self.guest.make(f"{of_library}:scalar")
        return self.library.make(operand)

    def read(self, result: object) -> str:
        """What the library reads; of an array of the guest's, that it took the call over."""
        owner = library_of(type(result).__module__.partition(".")[0])
        return TAKEN_OVER if owner == self.guest.name else self.library.read(result)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        known = self.library.operations()
        return {name: known[name] for name in OPERATIONS if name in known}


def guests_of(library: Library, guest: Library) -> Recording:
    """The recording of what a library makes of a guest's arrays and scalars beside its own arrays.

    Calls of operands that are not one of each are not asked.
    """
    host = Host(library, guest)
    asker = Asker(host)
    own = [d for d in library.dtypes() if CHOSEN.fullmatch(d)]
    marks = (f":{guest.name}", f":0d:{guest.name}", f":{guest.name}{SCALAR}")
    guests = [d + mark for mark in marks for d in guest.dtypes() if CHOSEN.fullmatch(d)]
    operands = tuple(filter(asker.has, (*own, *guests)))
    answers = {NOT_ASKED: 0}
    messages = Messages()
    squares: dict[str, Square] = {}
    for op in host.operations():
        rows = [[0] * len(operands) for _ in operands]
        for (i, a), (j, b) in product(enumerate(operands), repeat=2):
            if (a in own) is not (b in own):
                kept = messages.kept(*asker.ask(op, (a, b)))
                rows[i][j] = answers.setdefault(kept, len(answers))
        squares[op] = Square(tuple(range(len(operands))), tuple(map(tuple, rows)))
    return Recording(
        library=host.name,
        versions=host.versions,
        python=python_version(),
        date=date.today().isoformat(),
        how=host.how,
        operands=operands,
        answers=tuple(answers),
        errors=messages.errors,
        binary=squares,
        unary={},
        nary=(),
        seed=0,
    )
