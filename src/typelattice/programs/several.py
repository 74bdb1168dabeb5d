"""Functions that give several arrays: each result that is used is a step, a call that has its number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from typelattice.facts.operations import Operation
from typelattice.programs.step import Argument, Call, Ref, Shape

RESULT = "result"  # the keyword of a call that says which of its results is meant
ITSELF, COMPUTED, OF_OPERAND = "itself", "computed", "(x)"
PARTS: Mapping[str, Mapping[str, str]] = {
    # What each result is called, and its dtype: that of the operation itself, that which it computes in, or
    # that of another operation on its result, such as the real part or a position; `mean(x)` on its operand.
    "svd": {"U": ITSELF, "S": "real", "Vh": ITSELF},
    "qr": {"Q": ITSELF, "R": ITSELF},
    "slogdet": {"sign": ITSELF, "logabsdet": "real"},
    "eigh": {"eigenvalues": ITSELF, "eigenvectors": COMPUTED},
    "eig": {"eigenvalues": ITSELF, "eigenvectors": ITSELF},
    "unique_all": {
        "values": ITSELF, "indices": "nonzero", "inverse_indices": "nonzero", "counts": "nonzero",
    },
    "unique_counts": {"values": ITSELF, "counts": "nonzero"},
    "unique_inverse": {"values": ITSELF, "inverse_indices": "nonzero"},
    "divmod": {"quotient": ITSELF, "remainder": ITSELF},
    "histogram": {"hist": ITSELF, "bin_edges": f"mean{OF_OPERAND}"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Several:
    """The results of a call, each of which becomes a step when it is asked for; `fields` are their names."""

    name: str
    count: int | None
    fields: tuple[str, ...]
    made: Callable[[int], Ref]
    known: dict[int, Ref]

    def __getitem__(self, i: int) -> Ref:
        """The result of a number, from 0. Raises IndexError."""
        if self.count is not None and i < 0:
            i += self.count
        if i < 0 or (self.count is not None and i >= self.count):
            many = "not known how many" if self.count is None else f"{self.count}"
            raise IndexError(f"of the arrays that {self.name} gives, which are {many}, none has this number")
        if i not in self.known:
            self.known[i] = self.made(i)
        return self.known[i]


def count_of(op: Operation, operands: int, shape: Shape | None, rest: Sequence[Argument]) -> int | None:
    """How many arrays an operation gives, None where that is not known.

    It is called with so many `operands`, the first of which has a shape, and `rest` is what follows them.
    """
    match op.name:
        case "meshgrid" | "broadcast_arrays":
            return operands
        case "nonzero":
            return None if shape is None else len(shape)
        case "unstack":
            at = rest[0] if rest else 0
            if shape is None or not isinstance(at, int) or not -len(shape) <= at < len(shape):
                return None
            return shape[at]
        case "split":
            return rest[0] if rest and isinstance(rest[0], int) else None
    return len(PARTS[op.name])


def gives_several(op: Operation) -> bool:
    """Whether an operation gives several arrays, as far as it is known what they are."""
    return op.form == "each" or op.name in PARTS or op.name in ("nonzero", "unstack", "split")


def dtype_from(op: str, keywords: Mapping[str, Argument]) -> str:
    """Where the dtype of the result that is meant comes from: ITSELF, COMPUTED, or an operation's name."""
    number = keywords.get(RESULT)
    fields = [*PARTS.get(op, {}).values()]
    return fields[number] if isinstance(number, int) and number < len(fields) else ITSELF


def arguments(step: Call) -> tuple[tuple[Argument, ...], dict[str, Argument], int | None]:
    """The arguments of a call as the function takes them, those by name, and the number of its result."""
    named = dict(step.keywords)
    number = named.pop(RESULT, None)
    if not isinstance(number, int):
        return step.args, named, None
    if step.name in ("meshgrid", "broadcast_arrays"):  # its own operand stands first in the step
        own, *others = step.args
        return (*others[:number], own, *others[number:]), named, number
    return step.args, named, number
