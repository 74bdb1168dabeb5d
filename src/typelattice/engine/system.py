"""A system: one library's promotion as data. Each tier combines its own operands; a lower one counts only by its kind."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import Any

from typelattice.engine.answer import Promotion, Refused, Rule, Step
from typelattice.engine.numpy1 import meet
from typelattice.engine.operate import operate
from typelattice.engine.operations import asked
from typelattice.facts.dtypes import DType, Kind, Node, weak
from typelattice.facts.order import Order
from typelattice.operands.notation import parse
from typelattice.operands.operand import BOOL, PLAIN, Operand, OperandError, operand


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class System:
    """Promotion data, loaded and checked by `typelattice.engine.system`. Immutable; the fields are the keys of the file."""

    name: str
    title: str
    source: str
    library: str
    order: Order[Node]
    ties: Mapping[frozenset[Node], Node]
    overrides: Mapping[frozenset[Node], Node]
    refusals: Mapping[frozenset[Node], str]
    combine: str
    tiers: Sequence[str]
    first: bool
    weak: str
    defaults: Mapping[Kind, DType]
    before: Mapping[Node, Node]
    after: Mapping[Node, Node]
    fit: Mapping[str, str]
    ops: Mapping[str, Mapping[str, object]]
    beside: frozenset[Node]
    stand_in: Mapping[Kind, DType]
    both_ways: frozenset[frozenset[Node]]
    dtypes: Mapping[str, DType]
    entries: Mapping[tuple[str, frozenset[Node]], str]  # what the file calls a tie, an override or a refusal
    where: Callable[[Promotion], Rule]
    replace: Callable[..., System]
    _pairs: dict[object, dict[Any, Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<system {self.name}>"

    def result_type(self, a: Any = None, b: Any = None, /, *more: object) -> DType:
        """The dtype at which operands meet; looked up where two were seen before. Raises PromotionError of a refusal.

        >>> from typelattice import system
        >>> system("jax").result_type("int8", "uint8")
        int16
        """
        cls, pairs = a.__class__, self._pairs
        try:
            if cls is DType and not more:
                return pairs[a][b]  # type: ignore[no-any-return]
            if cls in PLAIN and cls is b.__class__ and not more and a.ndim and b.ndim:
                pairs, a, b = pairs.setdefault(cls, {}), a.dtype, b.dtype
                return pairs[a][b]  # type: ignore[no-any-return]
        except (KeyError, TypeError):
            pass
        operands = self._read(*(x for x in (a, b, *more) if x is not None))
        met = tuple((o.dtype, o.kind, o.weak, o.tier) for o in operands)
        known = {} if self.combine == "value" else self._pairs.setdefault(None, {})
        found: DType = known.get(met) or known.setdefault(met, self.promote(*operands).result)
        if pairs is not self._pairs or (cls is b.__class__ is DType and not more):
            pairs.setdefault(a, {})[b] = found
        return found

    def promote(self, *operands: object, op: str | None = None) -> Promotion:
        """`explain`, raising PromotionError where the system refuses."""
        return self.explain(*operands, op=op).sure

    def explain(self, *operands: object, op: str | None = None) -> Promotion:
        """What becomes of these operands, alone or in an operation, and why; also of a refusal.

        Raises DTypeError, OperandError, OpError for what is none.
        """
        read = self._read(*operands)
        if not read:
            raise OperandError(f"nothing to promote under {self.name}: give at least one operand")
        trail: list[Step] = []
        promoting = read
        if op is not None:
            known = asked(op, read)
            op, promoting = known.name, read[known.promoting]
        try:
            found = operate(self, op, promoting, trail)
        except Refused as refused:
            reason, remedy, step = refused.args
            return Promotion(self, read, op, (*trail, step), reason=reason, remedy=remedy)
        return Promotion(self, read, op, tuple(trail), *found)

    def _read(self, *operands: object) -> tuple[Operand, ...]:
        return tuple(parse(x, self.dtypes) if isinstance(x, str) else operand(x) for x in operands)

    def meet(self, operands: Sequence[Operand], trail: list[Step], first: bool = False) -> tuple[Node, DType, bool]:
        """The node at which operands meet, its dtype, whether that is weak; `first`: a scalar that comes first is an array."""
        node, is_weak = self._meet(operands, trail, first)
        return node, *self._settle(node, is_weak, trail)

    def _meet(self, operands: Sequence[Operand], trail: list[Step], first: bool) -> tuple[Node, bool]:
        """The node at which operands meet, and whether all are weak and met at the dtypes they have or default to."""
        if all(o.weak for o in operands) and (self.weak == "width" or (len(operands) == 1 and operands[0].dtype)):
            own = [o.dtype or self.defaults.get(o.kind) for o in operands]
            if all(d in self.order for d in own):
                node = self._combine([d for d in own if d], trail)
                return node, node.kind is not Kind.BOOL or len(operands) == 1
        if self.combine == "value":
            return meet(operands, [self._enter(o, trail) for o in operands], lambda ns: self._join(ns, trail), trail), False
        first = first or (self.first and all(o.tier == "scalar" for o in operands))
        tiers: dict[str, list[Node]] = {}
        for i, o in enumerate(operands):
            tiers.setdefault(self._tier(o, first and i == 0), []).append(self._enter(o, trail))
        met = [self._combine(tiers[t], trail) for t in reversed(self.tiers) if t in tiers]
        return reduce(lambda low, high: self._over(low, high, trail), met), False

    def _tier(self, o: Operand, first: bool) -> str:
        """The operand's own tier where the file tells it apart, else the highest."""
        plain = o.kind is Kind.BOOL and o.tier == "scalar" and Kind.BOOL not in self.defaults
        return self.tiers[0] if plain or first or o.tier not in self.tiers else o.tier

    def _enter(self, o: Operand, trail: list[Step]) -> Node:
        """The operand's node: of its dtype; if weak, of its kind, its width, its default dtype, or none in the order."""
        if o.weak:
            own = o.dtype or self.defaults.get(o.kind)
            kind = Kind.SIGNED if o.kind is Kind.UNSIGNED and weak(o.kind) not in self.order else o.kind
            choices: tuple[Node, ...] = (weak(kind), *((weak(o.kind, own), own) if own else ()))
            return next((n for n in choices if n in self.order), choices[0])
        node = self.before.get(o.dtype or BOOL, o.dtype or BOOL)
        if node is not o.dtype:
            trail.append(Step("before", str(o.dtype), (o.dtype or BOOL,), node))
        if node not in self.order:
            raise Refused(f"{self.name} has no {node}", "cast it to a dtype that it has", Step("order", None, (node,), None))
        return node

    def _combine(self, nodes: Sequence[Node], trail: list[Step]) -> Node:
        """The operands of one tier."""
        bare = [n for n in nodes if n not in self.order]
        if len(bare) == len(nodes) and self.tiers[-1] == "scalar":
            return max(bare, key=lambda n: n.kind.rank)
        if bare:
            step = Step("order", None, tuple(nodes), None)
            raise Refused(f"nothing is said of a Python {bare[0].kind.word}", "cast it to a dtype", step)
        if self.combine != "join":
            one = self._join(nodes[:1], trail)
            return reduce(lambda a, b: self._said(a, b, trail) or self._join((a, b), trail), nodes[1:], one)
        for a, b in combinations(dict.fromkeys(nodes), 2):
            self._said(a, b, trail)
        return self._join(nodes, trail)

    def _said(self, a: Node, b: Node, trail: list[Step]) -> Node | None:
        """What the file says of this pair outright: an override, a refusal, or nothing."""
        pair = frozenset((a, b))
        node = self.overrides.get(pair)
        if pair in self.refusals:
            step = Step("refusals", self.entries["refusals", pair], (a, b), None)
            raise Refused(self.refusals[pair], "cast one operand", step)
        if node:
            trail.append(Step("overrides", self.entries["overrides", pair], (a, b), node))
        return node

    def _join(self, nodes: Sequence[Node], trail: list[Step]) -> Node:
        """The least upper bound of a set, or the recorded choice among its minimal bounds."""
        distinct = tuple(dict.fromkeys(nodes))
        bounds, node = self.order.minimal_bounds(*distinct), self.order.join(*distinct)
        tie, step = frozenset(bounds), Step("order", None, distinct, node)
        if node is None and tie in self.ties:
            step = Step("ties", self.entries["ties", tie], distinct, self.ties[tie])
        if not bounds:
            reason = f"nothing lies above {'both' if len(distinct) == 2 else 'all'}"
            raise Refused(reason, "cast one operand to the other's dtype", step)
        if step.node is None:
            above = f"{' and '.join(map(str, bounds))} {'both' if len(bounds) == 2 else 'all'} lie above"
            raise Refused(f"{above}, and no tie is recorded", f"cast one operand, e.g. to {bounds[0]}", step)
        if self.combine == "comparable" and step.node not in distinct:
            refusal = Step("combine", None, distinct, None)
            raise Refused("neither represents all values of the other", f"cast both, e.g. to {bounds[0]}", refusal)
        trail.append(step)
        return step.node

    def _over(self, low: Node, high: Node, trail: list[Step]) -> Node:
        """What a lower tier adds to a higher one: nothing, unless its kind is higher."""
        node = self._said(high, weak(low.kind), trail)
        if node:
            return node
        node = high if low.kind.rank <= high.kind.rank else None
        if not node and high.kind is Kind.FLOAT and high in self.order:
            above = [n for n in self.order.bounds(high) if n.kind is Kind.COMPLEX]
            node = min(above, key=lambda n: getattr(n, "bits", 0), default=None)
        if not node and low in self.order:
            node = self.order.join(high, low) or self.ties.get(frozenset(self.order.minimal_bounds(high, low)))
        step = Step("tiers", None, (high, low), node)
        if node is None:
            raise Refused(f"no rule takes {high} to a Python {low.kind.word}", f"cast the array to a {low.kind} dtype", step)
        trail.append(step)
        return node

    def _settle(self, node: Node, is_weak: bool, trail: list[Step]) -> tuple[DType, bool]:
        """The dtype of the answer, and whether it is weak: the map on the answer, then a kind's default dtype."""
        after = self.after.get(node, node)
        if after is not node:
            trail.append(Step("after", repr(node), (node,), after))
        if isinstance(after, DType):
            return after, is_weak
        found = after.dtype or (self.defaults.get(after.kind) if after in self.order else None)
        step = Step("defaults", after.kind.word, (after,), found)
        if found is None:
            raise Refused(f"a Python {after.kind.word} alone has no dtype here", "give an array or a dtype too", step)
        trail.append(step)
        return found, True
