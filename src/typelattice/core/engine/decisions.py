"""The decisions on the way from operands to an answer, one class for each sort of decision.

All have the same three fields, so one loop can list them. Explanations match on the class.
"""
from __future__ import annotations

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


@frozen()
class Decision:
    """One decision: `nodes` became `node`, or were refused if that is None.

    `key` is the key of the system file that decides it, `entry` the entry under that key, if any.
    """

    nodes: tuple[Node, ...]
    node: Node | None
    entry: str | None = None
    key: ClassVar[str]


class ReplacedOnEntry(Decision):
    """A dtype that another replaces as the operand enters: C's `short` becomes `int`."""

    key = "before"


class ForeignArrayCounted(Decision):
    """Another library's array beside the system's own.

    It counts as `node`, or is refused if `node` is None.
    """

    key = "foreign"


class SizedByValue(Decision):
    """An operand without dimensions that counts as the smallest dtype that holds its value."""

    key = "combine"


class NodesJoined(Decision):
    """The least upper bound of the nodes, or None if they have no such bound."""

    key = "order"


class TieSettled(Decision):
    """The recorded choice among several minimal bounds."""

    key = "ties"


class PairOverridden(Decision):
    """A pair with an entry in `overrides`, which replaces the dtype of the order."""

    key = "overrides"


class RefusedPair(Decision):
    """A pair that `refusals` rejects, although the order may join it."""

    key = "refusals"


class RefusedJoin(Decision):
    """A refusal of two nodes that join at a third node, in a system that allows only one of the two."""

    key = "combine"


class TiersJoined(Decision):
    """The join of two tiers: nodes[0] belongs to the higher tier, nodes[1] to the lower one.

    The higher one stays unless the lower one is of a higher kind.
    """

    key = "tiers"


class ReplacedInAnswer(Decision):
    """A node that another replaces in the answer: Keras makes float32 of float64."""

    key = "after"


class DefaultTaken(Decision):
    """A node without a width that becomes the default dtype of its kind, or None if none exists."""

    key = "defaults"


class WidenedDefault(Decision):
    """A Python scalar that needs a later default dtype of its kind, since the first cannot hold it."""

    key = "defaults"


class JoinedByValue(Decision):
    """A Python int that the array beside it cannot hold: it joins as the smallest dtype that can.

    An unsigned array that counts as a signed one beside a negative int is also a decision of this class.
    """

    key = "fit"


class ParametersComputed(Decision):
    """The parameters of a dtype, computed from those of its operands, or None if no such dtype exists."""

    key = "dtypes"


class DTypeByOperation(Decision):
    """The dtype that an operation makes of its operands' dtypes, or None if it does not take them."""

    key = "ops"


class MissingDimensions(Decision):
    """A refusal of a 0-d array or Python scalar by an operation that needs dimensions, such as matmul."""

    key = "ops"


class MissingOperation(Decision):
    """An operation that the library does not have."""

    key = "ops"


class BeyondScalarLimits(Decision):
    """A Python scalar beyond the `limits` of the system, which the library refuses beside any operand."""

    key = "limits"


class OutOfTargetRange(Decision):
    """A Python scalar whose value is out of range for its target dtype."""

    key = "fit"


class RequestTaken(Decision):
    """The dtype of an array for a requested one: JAX's default mode makes float32 of float64."""

    key = "requested"


class CastByRule(Decision):
    """An explicit cast for which the system has a rule, from nodes[0] to nodes[1].

    `node` is None if the rule refuses the cast.
    """

    key = "casts"

    @property
    def dtypes(self) -> tuple[DType, DType]:
        """The dtypes that are cast from and to."""
        source, target = self.nodes
        assert isinstance(source, DType) and isinstance(target, DType)
        return source, target


class RefusalError(Exception):
    """Ends a promotion inside the engine: the reason, what to do next, and the decision that refuses."""

    def __init__(self, reason: str, remedy: str, decision: Decision) -> None:
        super().__init__(reason, remedy, decision)
        self.reason, self.remedy, self.decision = reason, remedy, decision
