"""The decisions on the way from operands to an answer, one class for each sort of decision.

All have the same three fields, so one loop can list them; explanations match on the class.
"""
from __future__ import annotations

from typelattice.facts.dtypes import Node
from typelattice.facts.frozen_classes import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


@frozen()
class Decision:
    """One decision: `nodes` became `node`, or were refused where that is None.

    `key` is the key of the system file that decides this sort of thing, `entry` the entry under it, if any.
    """

    nodes: tuple[Node, ...]
    node: Node | None
    entry: str | None = None
    key: ClassVar[str]


class Entered(Decision):
    """A dtype counts as another on entry, as C's `short` counts as `int`."""

    key = "before"


class Hosted(Decision):
    """Another library's array among the system's own, which counts as `node`; None where it is refused."""

    key = "foreign"


class Counted(Decision):
    """An operand without dimensions that counts as the smallest dtype that holds its value."""

    key = "combine"


class Joined(Decision):
    """The least upper bound of the nodes; None if there is none."""

    key = "order"


class Tied(Decision):
    """The recorded choice among several minimal bounds."""

    key = "ties"


class Overridden(Decision):
    """A pair that the file sends elsewhere than the order would."""

    key = "overrides"


class Rejected(Decision):
    """A pair that the file refuses outright."""

    key = "refusals"


class Incomparable(Decision):
    """A refusal of two nodes whose join is a third, by a system that needs it to be one of them."""

    key = "combine"


class Lowered(Decision):
    """The effect of an operand of a lower tier (nodes[1]) on one of a higher tier (nodes[0])."""

    key = "tiers"


class Replaced(Decision):
    """A node that becomes another on the answer, as Keras makes 32 bits of 64."""

    key = "after"


class Defaulted(Decision):
    """A node without a width that becomes the default dtype of its kind; None where there is no default."""

    key = "defaults"


class Widened(Decision):
    """A Python scalar that counts as a further default dtype of its kind: the first does not hold it."""

    key = "defaults"


class Outgrown(Decision):
    """A Python int that its array cannot hold, so that it joins the array as the smallest dtype that can.

    If an unsigned array counts as a signed one beside a negative int, that is a step of this class too.
    """

    key = "fit"


class Parameterized(Decision):
    """The parameters of a dtype, computed from those of the operands; None if there is no such dtype."""

    key = "dtypes"


class Operated(Decision):
    """The dtype that an operation turns its dtypes into; None if it does not take them."""

    key = "ops"


class Shaped(Decision):
    """A refusal of a 0-d array or Python scalar by an operation that takes none anywhere, as matmul."""

    key = "ops"


class Absent(Decision):
    """An operation that the library does not have."""

    key = "ops"


class Unheld(Decision):
    """A Python scalar whose value the library does not read, whatever it meets."""

    key = "holds"


class Misfit(Decision):
    """A Python scalar whose value is out of range for the dtype that it should take."""

    key = "fit"


class RefusalError(Exception):
    """Ends a promotion inside the engine: the reason, what to do next, and the step that refuses."""

    def __init__(self, reason: str, remedy: str, step: Decision) -> None:
        super().__init__(reason, remedy, step)
        self.reason, self.remedy, self.step = reason, remedy, step
