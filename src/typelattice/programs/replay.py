"""What each step of a program comes to under a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from typelattice.engine.answer import Promotion
from typelattice.engine.guests import index_refusal
from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, dtype
from typelattice.facts.operations import OPERATIONS, OpError
from typelattice.facts.range import fitted
from typelattice.operands.operand import BOOL, LISTS, SCALAR, WORDS, Operand, Tier, of, scalar
from typelattice.programs.python_numbers import computed
from typelattice.programs.results import result_of
from typelattice.programs.step import (
    WRITES,
    AnyDType,
    Call,
    Cast,
    Created,
    DTypeOf,
    Index,
    Input,
    Item,
    Number,
    Opaque,
    ProgramError,
    Shape,
    Step,
)  # fmt: skip

if TYPE_CHECKING:
    from typelattice.recorded.observed import Observed


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step comes to under a system: an operand, or None where it is refused or not reached.

    `reason` says why it is refused; a step that needs a refused one is not reached, and has none.
    """

    operand: Operand | None
    promotion: Promotion | None = None
    reason: str | None = None

    @property
    def refused(self) -> bool:
        """Whether this very step is refused."""
        return self.reason is not None

    @property
    def observed(self) -> Observed | None:
        """What the library did when it was asked; None if it never was, or if no rule decides the step."""
        from typelattice.recorded.observed import observed  # takes long to load, and few programs ask

        p = self.promotion
        return observed(p) if p and self.refused == (p.dtype is None) else None

    @property
    def departure(self) -> Observed | None:
        """What the library did, if that is not what its rule says; later steps go by the rule."""
        return seen if (seen := self.observed) and seen.departs else None

    def __str__(self) -> str:
        if self.operand is None:
            return "refused" if self.refused else "not reached"
        if self.operand.tier == "scalar":
            return f"Python {self.operand.kind.word}"
        return f"{self.operand.dtype}{'*' if self.operand.weak else ''}"


NOT_REACHED = Outcome(None)
Systems = Mapping[str, System]  # the system of each library that owns steps
Found = Sequence[Outcome] | Mapping[int, Outcome]  # what earlier steps have come to, by their numbers


def replay(steps: Sequence[Step], system: System | Systems) -> tuple[Outcome, ...]:
    """What each step comes to, under one system, or each under that of the library that owns it.

    Raises DTypeError or OperandError for an input that is no operand, ProgramError for a step that has no
    owner.
    """
    engine = engine_of(system, steps)
    found: list[Outcome] = []
    for step in steps:
        found.append(engine(step).outcome(step, found))
    return tuple(found)


def replay_singly(
    steps: Sequence[Step], engine: Engine, given: Sequence[Outcome | None]
) -> tuple[Outcome, ...]:
    """What each step comes to by itself, whatever the earlier ones come to.

    `given` has an outcome for each step, of which later steps are made; None for what it comes to by itself.
    Raises as `replay` does.
    """
    found: list[Outcome] = []
    taken: list[Outcome] = []
    for step, outcome in zip(steps, given, strict=True):
        found.append(engine(step).outcome(step, taken))
        taken.append(outcome if outcome and not _known(outcome, found[-1]) else found[-1])
    return tuple(found)


def _known(given: Outcome, found: Outcome) -> bool:
    """Whether what a step comes to by itself is what is given for it, and its value is known."""
    o, own = given.operand, found.operand
    return own is not None and own.value is not None and o == replace(own, value=None)


def engine_of(system: System | Systems, steps: Sequence[Step]) -> Engine:
    """The replay of each step: under the one system, or under that of the library that owns it."""
    if isinstance(system, System):
        one = _Replay(system)
        return lambda step: one
    owners = [step.owner for step in steps]
    engines = {name: _Replay(s, owners) for name, s in system.items()}
    return lambda step: _owner(engines, step)


def _owner(engines: Mapping[str, _Replay], step: Step) -> _Replay:
    """The replay under the system of a step's owner. Raises ProgramError."""
    if step.owner is not None and step.owner in engines:
        return engines[step.owner]
    if step.op is None and engines:
        return next(iter(engines.values()))  # what no rule decides is the same under each
    where = f" ({step.place})" if step.place else ""
    who = f"is {step.owner}'s, and no system is given for that" if step.owner else "is owned by no library"
    raise ProgramError(f"{step.text}{where} {who}; give one system for all, or one for each library")


class _Replay:
    """The steps of one program under one system; like questions are asked of it once.

    `owners` are the libraries of all steps where others have systems of their own.
    """

    def __init__(self, system: System, owners: Sequence[str | None] = ()) -> None:
        self.system, self.owners = system, owners
        self.known: dict[object, Outcome] = {}

    def outcome(self, step: Step, found: Found) -> Outcome:
        """What a step comes to, of what the earlier ones have come to."""
        for i in step.parts:
            if found[i].operand is None:
                return NOT_REACHED
        match step:
            case Call(name, _, _, operands):
                made = tuple([o for i in operands if (o := found[i].operand)])
                guests = self.guests(step, made)
                if guests:
                    beside = zip(operands, made, strict=True)
                    made = tuple([replace(o, guest=guests.get(i, o.guest)) for i, o in beside])
                asked = None if step.dtype is None else self.dtype(step.dtype, found)
                number = step.keywords[-1] if step.keywords else None
                key = name, made, step.operator, asked, number, _tier(step, made)
                known = self.known.get(key)
                if known is None:
                    known = self.known[key] = self.called(step, made, asked)
                return known
            case Number(value=value):
                return Outcome(self.system.operand(value))
            case Input(given=given) | Opaque(given=given):
                return Outcome(_shaped(self.system.operand(given), step.shape))
            case Index(source=source, lists=lists):
                o = found[source].operand
                assert o is not None
                if lists and (why := index_refusal(self.system, lists)):
                    return Outcome(None, None, why)
                return Outcome(replace(o, tier=_tier(step, (o,)), value=None))
            case Cast(source=source, to=to):
                o = found[source].operand
                assert o is not None
                return self.cast(o, self.dtype(to, found), _tier(step, (o,)))
            case Item(source=source):
                o = found[source].operand
                assert o is not None
                return Outcome(scalar(WORDS.get(o.kind.word, o.kind)))
            case Created():
                return self.created(step, found)
        raise TypeError(f"a {type(step).__name__} is no step")

    def guests(self, step: Call, operands: Sequence[Operand]) -> Mapping[int, str]:
        """The operands that are guests, by their steps: lists, and scalars of a library of which the system
        says what they count as, as np.float64(2) beside an array of MLX's.
        """
        found = dict.fromkeys(step.lists, LISTS)
        if self.owners and len(operands) > 1:
            for i, o in zip(step.operands, operands, strict=True):
                owner = self.owners[i]
                if owner and owner != step.owner and owner in self.system.guests and o.tier == "0d":
                    found[i] = owner + SCALAR
        return found

    def dtype(self, asked: AnyDType, found: Found) -> DType | Operand:
        """The dtype that is asked for; a Python scalar where one stands for its kind's default dtype."""
        if isinstance(asked, DTypeOf):
            o = found[asked.step].operand
            assert o is not None
            return o.dtype or o
        if asked.name == "bool":
            return BOOL
        if asked.name in WORDS:
            return scalar(WORDS[asked.name])
        return self.system.own_dtypes.get(asked.name) or dtype(asked.name)

    def cast(self, o: Operand, to: DType | Operand, tier: Tier) -> Outcome:
        """An operand of another dtype; the value of one without dimensions is kept where it fits."""
        if isinstance(to, Operand):
            p = self.system.explain(to)
            asked = self.system.instead.get(to.kind, p.dtype)
            if asked is None:
                return Outcome(None, p, p.reason)
            to = asked
        to = self.system.made(to)
        kept = tier == "0d" and o.value is not None and o.kind.rank <= to.kind.rank and fitted(o.value, to)[0]
        return Outcome(of(to, tier=tier, value=o.value if kept else None))

    def created(self, step: Created, found: Found) -> Outcome:
        """An array of the dtype asked for, or of a default one; weak if a Python number is so by itself."""
        like = found[step.like].operand if isinstance(step.like, int) else step.like
        tier: Tier = "0d" if step.shape == () else "array"
        assert like is not None
        if step.dtype is not None:
            return self.cast(like, self.dtype(step.dtype, found), tier)
        p = self.made(step, like)
        if p.dtype is None:
            return Outcome(None, p, p.reason)
        keeps = step.name == "full" or (step.name == "asarray" and tier == "0d")  # but no list's array
        return Outcome(of(p.dtype, p.weak and keeps, tier), p)

    def made(self, step: Created, like: Operand) -> Promotion:
        """What an array is made in that is asked to be of no dtype: by its operation, where that has a rule.

        Of whole numbers alone a library's linspace may be another than of others; what fills an array may
        count by its kind alone.
        """
        bounds = [x for x in step.args if isinstance(x, (bool, int, float, complex))][:2]
        if step.name == "linspace" and len(bounds) == 2:
            return self.system.explain(*bounds, op="linspace")
        return self.system.explain(like, op="full" if step.name == "full" else None)

    def called(self, step: Call, operands: Sequence[Operand], asked: DType | Operand | None) -> Outcome:
        """What an operation comes to: Python's of Python's numbers, else the system's."""
        if step.operator and all(o.tier == "scalar" for o in operands):
            made = computed(step.name, operands)
            return Outcome(made, reason=None if made else f"Python has no {step.name} of these numbers")
        tier = _tier(step, operands)
        if asked is not None:
            for o in operands:
                if o.guest and (p := self.system.explain(o)).dtype is None:
                    return Outcome(None, p, p.reason)
            return self.cast(replace(operands[0], value=None), asked, tier)
        name = step.name
        if name in WRITES:
            return self.in_place(name, operands, tier)
        asked_of = (OPERATIONS[name].operator or name) if step.operator else name
        try:
            p = self.system.explain(*operands, op=asked_of)
        except OpError as e:  # for indices that are integers under another system
            return Outcome(None, reason=str(e))
        if p.dtype is None:
            return Outcome(None, p, p.reason)
        given, why = result_of(self.system, p, step, operands, tier)
        return Outcome(given, p, why)

    def in_place(self, name: str, operands: Sequence[Operand], tier: Tier) -> Outcome:
        """What `x *= y` comes to; a Python number on the left is replaced, and nothing written into it."""
        rebound = operands[0].tier == "scalar"
        p = self.system.explain(*operands, op=OPERATIONS[WRITES[name]].operator if rebound else name)
        if p.dtype is None:
            return Outcome(None, p, p.reason)
        return Outcome(of(p.dtype, p.weak, tier), p)


Engine = Callable[[Step], _Replay]  # what answers for a step


def _tier(step: Step, operands: Sequence[Operand]) -> Tier:
    """The standing of a result: by its shape, or where that is unknown an array if an operand is one."""
    if step.shape is not None:
        return "array" if step.shape else "0d"
    return "array" if any(o.tier == "array" for o in operands) else "0d"


def _shaped(o: Operand, shape: Shape | None) -> Operand:
    """An operand that a string described as an array, and whose shape says that it has no dimensions."""
    return replace(o, tier="0d") if shape == () and o.tier == "array" else o
