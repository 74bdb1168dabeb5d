"""Where operands of a sort meet: each two of them, and what those come to, until nothing new comes up."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain, product
from typing import Literal

from typelattice.engine.system import System
from typelattice.explain.library_code import value
from typelattice.facts.dtypes import DType, DTypeError, Weak, place
from typelattice.operands.notation import parse
from typelattice.operands.operand import Operand, of

Standing = Literal["array", "0d", "scalar", "all"]  # which operands are asked
Key = tuple[DType | None, bool]  # what makes answers equal: the dtype and whether it is weak; no dtype is a refusal
TIERS = ("array", "0d", "scalar")
SCALARS = ("True", "int", "float", "complex")


def domain(system: System, tier: Standing = "array", dtypes: Iterable[object] | None = None) -> tuple[Operand, ...]:
    """The operands of a standing that a system takes, kind by kind from narrow to wide; without dtypes, Python's scalars.

    Raises DTypeError where it has none of the dtypes asked for.
    """
    have = sorted({n for n in (*system.order.nodes, *system.before) if isinstance(n, DType)}, key=place)
    if dtypes is not None:
        wanted = {system.operand(x).dtype for x in dtypes}
        have = [d for d in have if d in wanted]
        if not have:
            raise DTypeError(f"{system.name} has none of these dtypes; see `typelattice check {system.name}`")
    widths = sorted((n.dtype for n in system.order.nodes if isinstance(n, Weak) and n.dtype), key=place)
    scalars = [*(of(d, weak=True) for d in widths), *map(parse, SCALARS)]
    arrays = [of(d) for d in have]
    taken = tuple(o for o in scalars if any(system.explain(o, x).dtype for x in (*arrays, o)))
    if tier == "scalar" or not any(isinstance(n, DType) for n in system.order.nodes):
        return taken
    zero_d = [of(d, tier="0d") for d in have] if tier == "0d" or "0d" in system.tiers else []
    weak = [o for o in taken if o.weak]  # True is Python's bool, which a sum makes an int
    return {"array": (*arrays,), "0d": (*zero_d,), "all": (*arrays, *zero_d, *weak)}[tier]


class Joins:
    """Where each two of some operands meet, and where those meet again: all numbered, 0 a refusal, which absorbs."""

    def __init__(self, system: System, asked: Sequence[Operand]) -> None:
        self.system, self.asked = system, range(1, len(asked) + 1)
        self.mixed = len({o.tier for o in asked}) > 1
        self.members: list[Operand | None] = [None, *asked]
        self._number = {o: i for i, o in enumerate(self.members)}
        self._pairs: list[list[int]] = [[0] * len(self.members)]
        self._sets: dict[tuple[int, ...], int] = {}
        i = 1
        while i < len(self.members):  # grows while there are new answers
            self._pairs.append([0])
            for k in range(1, i):
                self._pairs[i].append(self._find(i, k))
                self._pairs[k].append(self._find(k, i))
            self._pairs[i].append(self._find(i, i))
            i += 1
        self._pairs[0] = [0] * len(self.members)
        self.keys = [key(system, o) for o in self.members]
        self.folds = system.combine in ("fold", "comparable")

    def __call__(self, *xs: int) -> int:
        """The number of where these meet, all at once."""
        if len(xs) == 2:
            return self._pairs[xs[0]][xs[1]]
        if self.folds and not self.system.before and not self.system.after:
            return reduce(self, xs)  # of one tier; see _equation
        if xs not in self._sets:
            self._sets[xs] = self._find(*xs)
        return self._sets[xs]

    def at_once(self, arity: int) -> Iterable[tuple[int, ...]]:
        """Combinations in which the order may matter.

        `join` takes the set. Folded pair by pair, each tier by itself, an order may matter from three operands of a tier
        on; if it does for no three then for no more, for neighbours can be swapped after whatever went before.
        """
        if arity > 2 and self.system.combine == "join":
            return ()
        if arity == 2 or self.system.combine == "value":
            return product(self.asked, repeat=arity)
        tiers = [[i for i in self.asked if (o := self.members[i]) and o.tier == tier] for tier in TIERS]
        return chain.from_iterable(product(tier, repeat=arity) for tier in tiers)

    def operands(self, *xs: int) -> tuple[Operand, ...]:
        """The operands of these numbers."""
        return tuple(o for i in xs if (o := self.members[i]))

    def size(self, x: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """How large a combination of operands is: its bits, then its place in the documents' order."""
        return sum(o.dtype.bits or 64 for o in self.operands(*x) if o.dtype), x

    def equal(self, i: int, k: int) -> bool:
        return i == k or self.keys[i] == self.keys[k]

    def _find(self, *xs: int) -> int:
        met = value(self.system, self.operands(*xs), python=self.mixed)
        if met not in self._number:
            self._number[met] = len(self.members)
            self.members.append(met)
        return self._number[met]


def key(system: System, o: Operand | None) -> Key:
    """What an operand is equal by; a Python scalar by what it comes to alone."""
    p = system.explain(o) if o and not o.dtype else None
    return (p.dtype, p.weak) if p else (o.dtype, o.weak) if o else (None, False)


def answered(key: Key) -> str:
    """An answer in two words."""
    return f"{key[0]}{' (weak)' * key[1]}" if key[0] else "refused"
