"""The log of a dispatcher: the operations that ran, by line and module, and the memory that they took.

A file of a library reports each operation to the log, with the memory of its operands and results. Equal
operations at one line, for one module, are one tally. The log holds no array and no module of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from typelattice.programs.calls.steps import SourceLocation

FORWARD, BACKWARD, OPTIMIZER = "forward", "backward", "optimizer"
PARAMETER, BUFFER, GRADIENT, STATE = "parameters", "buffers", "gradients", "optimizer state"
ACTIVATION, OTHER = "activations", "other tensors"
CATEGORIES = (PARAMETER, BUFFER, GRADIENT, STATE, ACTIVATION, OTHER)
"""The sorts of tensors in a table of memory, in its order."""
CATEGORY_BY_PHASE = {FORWARD: ACTIVATION, BACKWARD: "gradients of activations", OPTIMIZER: "of the optimizer"}
OFF = "off"  # autocast, within a block that turns it off
MAX_TALLIES = 100_000
MAX_REFUSALS = 20
MAX_LOSSES = 1_000
MAX_NAMED_MODULES = 1_000


@dataclass(frozen=True, slots=True)
class Place:
    """The source location of an operation, of the user's call that led to it, and the module it ran for.

    `location` is the innermost line outside of the library. `caller` is the user's own line, if it is
    another one. `module` is the name of the module, or "". `declared` is the dtype that the module itself
    says it computes in, or "".
    """

    location: SourceLocation | None
    caller: SourceLocation | None
    module: str
    phase: str
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """The dtype of an operand or a result, and whether it has dimensions."""

    dtype: str
    has_dimensions: bool


@dataclass(slots=True, eq=False)
class Memory:
    """The memory of a tensor, which its views share: its bytes, and the operations that made and wrote it.

    `last` is the tally that wrote it last. `name` is the full name of a parameter, a buffer, a gradient or a
    state. `is_read` is true after an operation of the forward pass has read it.
    """

    bytes: int
    dtype: str
    made: Tally
    last: Tally
    category: str = ""
    name: str = ""
    module: str = ""
    is_read: bool = False


@dataclass(slots=True, eq=False)
class Tally:
    """An operation at one place: its operands, results, how often it ran, and the bytes of its results.

    - `operation`: the library's name for it.
    - `producers`: the tallies that made its operands, each with the number of the operand. `stored` has the
      parameters and buffers among the operands, by their number.
    - `target`: the memory that it writes into.
    - `requested`: True if its call names a dtype.
    - `uses_autocast`: the dtype of autocast, "off" within a block that turns it off, or "".
    - `is_contraction`: True for products of matrices.
    - `error`: the message of a refused operation.
    - `unread_count`: the number of results that the program kept to its end, and that nothing in the forward
      pass read. The last state of a loop is often dropped unread.
    """

    number: int
    operation: str
    place: Place
    takes: tuple[Tensor, ...]
    gives: tuple[Tensor, ...]
    requested: bool = False
    is_cast: bool = False
    is_contraction: bool = False
    uses_autocast: str = ""
    count: int = 0
    bytes: int = 0
    producers: dict[tuple[int, Tally], None] = field(default_factory=dict, repr=False)
    stored: dict[tuple[int, str, str], None] = field(default_factory=dict, repr=False)
    target: Memory | None = field(default=None, repr=False)
    unread_count: int = 0
    is_input: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor that a model or an optimizer keeps: its sort, module, full name, dtype and bytes.

    `made_at` is the place that made its memory, if that was seen.
    """

    category: str
    module: str
    name: str
    dtype: str
    bytes: int
    made_at: Place | None = None


@dataclass(slots=True, eq=False)
class LoggedLoss:
    """A loss of values at a place: its rule, the first numbers that were lost, and how many runs lost some.

    `modules` maps the modules to how many runs lost values in each. `origin` is the place of the first
    infinite number, if a NaN comes from it.
    """

    rule: str
    place: Place
    operation: str
    lost_count: int
    total_count: int
    description: str
    origin: Place | None = None
    runs: int = 0
    modules: dict[str, int] = field(default_factory=dict)


class OperationLog:
    """The tallies so far, the memory that is alive, and the memory at the peak.

    `losses` are those of values, if values are checked. `unchecked` counts the results that were not, by the
    reason.
    """

    def __init__(self) -> None:
        self.checks_values = False
        self.losses: dict[object, LoggedLoss] = {}
        self.checked_count = 0
        self.unchecked: dict[str, int] = {}
        self.first_infinite: Place | None = None
        self.tallies: list[Tally] = []
        self.by_key: dict[object, Tally] = {}
        self.memories: dict[int, Memory] = {}
        self.alive_bytes = self.peak_bytes = 0
        self.peak: tuple[Memory, ...] = ()
        self.is_at_new_peak = False
        self.stored: dict[str, tuple[StoredTensor, ...]] = {}
        self.refusals: list[Tally] = []
        self.not_seen: dict[str, int] = {}
        self.roots = {""}  # the names of outermost modules
        self.notes: dict[str, None] = {}  # sentences on what a policy is not compared with
        self.operation_count = 0
        self.failure = ""

    def add_loss(
        self, tally: Tally, rule: str, lost: int, total: int, description: str, origin: Place | None = None
    ) -> None:
        """Add a loss of values to those of the operation at the same line."""
        place = tally.place
        key = rule, tally.operation, place.location, place.caller, place.phase
        found = self.losses.get(key)
        if found is None:
            if place.location is None or len(self.losses) >= MAX_LOSSES:
                what = "no line is known" if place.location is None else "too many places"
                self.note_unchecked(f"results that lost numbers, of which {what}")
                return
            found = LoggedLoss(rule, place, tally.operation, lost, total, description, origin)
            self.losses[key] = found
        found.runs += 1
        if place.module in found.modules or len(found.modules) < MAX_NAMED_MODULES:
            found.modules[place.module] = found.modules.get(place.module, 0) + 1

    def note_unchecked(self, reason: str) -> None:
        """Count a result whose values were not checked."""
        self.unchecked[reason] = self.unchecked.get(reason, 0) + 1

    def add_tally(self, key: object, operation: str, place: Place, takes: Sequence[Tensor],
                  gives: Sequence[Tensor]) -> Tally:  # fmt: skip
        """Add a tally. Beyond MAX_TALLIES, equal operations of all places are one."""
        if len(self.tallies) >= MAX_TALLIES:
            place = Place(None, None, "", place.phase)
            key = operation, tuple(takes), tuple(gives)
            if key in self.by_key:
                return self.by_key[key]
        made = Tally(len(self.tallies), operation, place, tuple(takes), tuple(gives))
        self.tallies.append(made)
        self.by_key[key] = made
        return made

    def add_memory(self, key: int, size: int, dtype: str, made: Tally) -> Memory:
        """Add memory that is alive from now on."""
        memory = Memory(size, dtype, made, made, module=made.place.module)
        self.memories[key] = memory
        self.alive_bytes += size
        if self.alive_bytes > self.peak_bytes:
            self.peak_bytes = self.alive_bytes
            self.is_at_new_peak = True
        return memory

    def free_memory(self, key: int) -> None:
        """Note that memory is free. Keep what was alive at the peak before."""
        if self.is_at_new_peak:
            self.keep_peak()
        memory = self.memories.pop(key, None)
        if memory is not None:
            self.alive_bytes -= memory.bytes

    def keep_peak(self) -> None:
        """Remember the memory that is alive now as that of the peak."""
        self.is_at_new_peak = False
        self.peak = tuple(self.memories.values())

    def end_phase(self, phase: str, category: str) -> None:
        """Give a category to the memory that was made in a phase, and outlives it."""
        for memory in self.memories.values():
            if not memory.category and memory.made.place.phase == phase:
                memory.category = category

    def finish(self) -> None:
        """Note what is alive in the end."""
        if self.is_at_new_peak:
            self.keep_peak()
        for memory in self.memories.values():
            memory.last.unread_count += not memory.is_read

    def list_files(self) -> set[str]:
        """List the files that operations ran for."""
        places = [tally.place for tally in (*self.tallies, *self.refusals)]
        found = (at for place in places for at in (place.location, place.caller))
        return {at.file for at in found if at is not None}

    def note_not_seen(self, what: str) -> None:
        """Count something that ran and was not looked into."""
        self.not_seen[what] = self.not_seen.get(what, 0) + 1

    def store(self, owner: str, tensors: Iterable[StoredTensor]) -> None:
        """Keep the tensors that a model or an optimizer keeps now, and its last gradients if it has none."""
        now = tuple(tensors)
        if not any(each.category == GRADIENT for each in now):
            now += tuple(each for each in self.stored.get(owner, ()) if each.category == GRADIENT)
        self.stored[owner] = now
