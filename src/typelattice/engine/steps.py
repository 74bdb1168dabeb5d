"""Steps: the decisions on the way from operands to an answer, one class for each sort of decision.

All have the same three fields, so they can be listed without telling them apart; explanations match on the
class.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typelattice.facts.dtypes import Node


@dataclass(frozen=True, slots=True)
class Step:
    """One decision: `nodes` became `node`, or were refused where that is None.

    `key` is the key of the system file that decides this sort of thing, `entry` the entry under it, if any.
    """

    nodes: tuple[Node, ...]
    node: Node | None
    entry: str | None = None
    key: ClassVar[str]


class Entered(Step):
    """A dtype counts as another on entry, as C's `short` counts as `int`."""

    key = "before"


class Hosted(Step):
    """Another library's array among the system's own, which counts as `node`; None where it is refused."""

    key = "guests"


class Counted(Step):
    """What has no dimensions counts as the smallest dtype that holds its value."""

    key = "combine"


class Joined(Step):
    """The least upper bound of the nodes; None where there is none."""

    key = "order"


class Tied(Step):
    """The recorded choice among several minimal bounds."""

    key = "ties"


class Overridden(Step):
    """A pair that the file sends elsewhere than the order would."""

    key = "overrides"


class Rejected(Step):
    """A pair that the file refuses outright."""

    key = "refusals"


class Incomparable(Step):
    """A join that is none of its operands, in a system where one operand has to hold the values of all."""

    key = "combine"


class Lowered(Step):
    """What an operand of a lower tier (nodes[1]) adds to one of a higher tier (nodes[0])."""

    key = "tiers"


class Replaced(Step):
    """A node that becomes another on the answer, as Keras makes 32 bits of 64."""

    key = "after"


class Defaulted(Step):
    """A node without a width that becomes the default dtype of its kind; None where there is no default."""

    key = "defaults"


class Widened(Step):
    """A Python scalar that counts as a further default dtype of its kind: the first does not hold it."""

    key = "defaults"


class Outgrown(Step):
    """A Python int that its array cannot hold, and that joins it as the least dtype that can.

    Beside a negative one the array's own dtype is such a step too, if it counts as a signed one.
    """

    key = "fit"


class Operated(Step):
    """What an operation makes of the dtypes that it gets; None where it does not take them."""

    key = "ops"


class Shaped(Step):
    """An operand without dimensions, which the operation takes in no library."""

    key = "ops"


class Unheld(Step):
    """A Python scalar whose value the library does not read, whatever it meets."""

    key = "holds"


class Misfit(Step):
    """A Python scalar whose value is out of range for the dtype that it should take."""

    key = "fit"


class RefusalError(Exception):
    """Ends a promotion inside the engine: the reason, what to do next, and the step that refuses."""

    def __init__(self, reason: str, remedy: str, step: Step) -> None:
        super().__init__(reason, remedy, step)
        self.reason, self.remedy, self.step = reason, remedy, step
