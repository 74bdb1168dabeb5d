"""Departures from the dtypes that a program is meant to have, and the wide islands that are meant.

An island is an upcast whose results all end in a downcast, a loss, a reduction to one number, or no float. A
wide array that meets a narrow one and is never cast back escapes: the line where they meet departs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from typelattice.core.dtypes.dtypes import DTYPES, DType
from typelattice.tracing.run_data.float_widths import dtype_width
from typelattice.tracing.run_data.operation_log import (
    BUFFER,
    FORWARD,
    OFF,
    PARAMETER,
    STATE,
    OperationLog,
    Place,
    StoredTensor,
    Tally,
)
from typelattice.tracing.run_data.policy import Policy, read_float

REFUSED, ESCAPED, DEFAULT_DTYPE, WIDE_LAYER = "refused", "escaped", "default dtype", "wide layer"
OTHER_HALF, WIDE_BUFFER = "other half", "wide buffer"
REFUSED_LATER = "refused later"  # for what escaped before
STORED, OUTPUT = "stored", "output"
DEPARTURE_KINDS = (
    REFUSED, ESCAPED, REFUSED_LATER, WIDE_LAYER, OTHER_HALF, DEFAULT_DTYPE, WIDE_BUFFER, STORED, OUTPUT,
)  # fmt: skip
"""The sorts of departures, the worst first."""
ASKED, DEFAULT, BROUGHT_IN, COMPUTED = "asked", "default", "brought in", "computed"
COPY = "copy_"
LOSS_NAMES = ("loss", "cross_entropy")


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a wide array: a sort, such as a parameter or an upcast, its place, dtype and name.

    `is_created`: it was made of no array, as positions are.
    """

    kind: str
    place: Place
    dtype: str
    name: str = ""
    is_created: bool = False


@dataclass(frozen=True, slots=True)
class Departure:
    """A place that departs from the policy.

    `modules` are those that it ran for. `names` are the parameters or the states, if it is about them.
    `operation`, `narrow` and `wide` describe what met; `sources` say where the wide array comes from. `bytes`
    are those of the results, and `count` how many there were.
    """

    kind: str
    place: Place | None
    operation: str
    narrow: str
    wide: str
    sources: tuple[Source, ...] = ()
    modules: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    bytes: int = 0
    count: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Island:
    """A wide computation that is cast back: the place of its upcast, and what it takes."""

    place: Place
    dtype: str
    modules: tuple[str, ...]
    operations: int
    bytes: int


@dataclass(frozen=True, slots=True)
class BufferWrite:
    """A write into memory of another dtype: the place, both dtypes, and the place that made the memory."""

    place: Place
    written: str
    kept: str
    made_at: Place | None
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Departures:
    """The departures of a run from a policy, its islands and its writes into memory of another dtype.

    `policy` has the dtypes that were read from the program, too. `autocast` is the dtype of its autocast.
    """

    policy: Policy
    autocast: str
    departures: tuple[Departure, ...]
    islands: tuple[Island, ...]
    writes: tuple[BufferWrite, ...]


def find_departures(log: OperationLog, policy: Policy) -> Departures:
    """Find the departures of a run. If the policy has no dtype to compute in, it is that of autocast."""
    autocast = _autocast_of(log)
    if policy.compute is None and autocast:
        policy = Policy(policy.params, read_float(autocast), policy.output, policy.state, policy.keep)
    found: list[Departure] = []
    islands: list[Island] = []
    writes = [*_list_writes(log)]
    if policy.compute is not None:
        flow = _Flow(log, policy.compute, bool(autocast))
        found += [*flow.list_refused(), *flow.list_meetings(), *flow.list_wide_layers()]
        found += [*flow.list_other_halves(), *flow.list_wide_buffers()]
        islands = flow.list_islands()
    found += [*_list_stored(log, policy), *_list_outputs(log, policy)]
    order = {kind: i for i, kind in enumerate(DEPARTURE_KINDS)}
    found.sort(key=lambda each: (order[each.kind], -each.bytes))
    return Departures(policy, autocast, tuple(found), tuple(islands), tuple(writes))


def list_departing_lines(log: OperationLog, policy: Policy) -> frozenset[tuple[str, int]] | None:
    """List the file and the number of each line that departs from a policy, also of the user's own calls.

    Return None if no operation was logged.
    """
    if not log.operation_count:
        return None
    places = [each.place for each in find_departures(log, policy).departures if each.place is not None]
    found = (at for place in places for at in (place.location, place.caller))
    return frozenset((at.file, at.line) for at in found if at is not None)


def _autocast_of(log: OperationLog) -> str:
    """Return the dtype of the program's autocast, or "". One that casts nothing is turned off."""
    counts: dict[str, int] = {}
    casts = {(tally.place, tally.gives[0].dtype) for tally in log.tallies if tally.is_cast and tally.gives}
    for tally in log.tallies:
        is_product = tally.is_contraction and tally.place.phase == FORWARD
        if is_product and (tally.place, tally.uses_autocast) in casts:
            counts[tally.uses_autocast] = counts.get(tally.uses_autocast, 0) + tally.count
    return max(counts, key=lambda each: counts[each], default="")


def width_of(dtype: str) -> int:
    """Return the bits of a float, or 0 for any other dtype."""
    known = DTYPES.get(dtype)
    return (dtype_width(known) or 0) if known is not None else 0


class _Flow:
    """The flow of wide floats through the operations of the forward pass."""

    def __init__(self, log: OperationLog, compute: DType, is_mixed: bool) -> None:
        self.log, self.compute, self.is_mixed = log, compute.name, is_mixed
        # under autocast the parameters' own width is meant, too
        self.limit = max(dtype_width(compute) or 0, self._width_of_parameters() if is_mixed else 0)
        self.tallies = [t for t in log.tallies if t.place.phase == FORWARD]
        self.consumers: dict[Tally, list[tuple[int, Tally]]] = {}
        for tally in self.tallies:
            for i, producer in tally.producers:
                self.consumers.setdefault(producer, []).append((i, tally))
        # autocast casts where another operation runs, and a program's own cast stands alone
        busy = {t.place for t in self.tallies if not t.is_cast}
        self.own_casts = {t for t in self.tallies if t.is_cast and t.uses_autocast and t.place in busy}
        self.containment: dict[Tally, bool] = {}

    def _width_of_parameters(self) -> int:
        stored = [each for group in self.log.stored.values() for each in group]
        return max((width_of(each.dtype) for each in stored if each.category == PARAMETER), default=0)

    def is_wide(self, dtype: str) -> bool:
        return width_of(dtype) > self.limit

    def is_narrow(self, dtype: str) -> bool:
        return 0 < width_of(dtype) <= self.limit

    def gives_wide(self, tally: Tally) -> bool:
        return bool(tally.gives) and self.is_wide(tally.gives[0].dtype) and tally.gives[0].has_dimensions

    def wide_operands(self, tally: Tally) -> list[int]:
        return [i for i, x in enumerate(tally.takes) if x.has_dimensions and self.is_wide(x.dtype)]

    def is_meeting(self, tally: Tally) -> bool:
        """Return True if an operation widens a narrow array by a wide one."""
        if tally.target is not None or tally.is_cast or not self.gives_wide(tally):
            return False
        narrow = any(x.has_dimensions and self.is_narrow(x.dtype) for x in tally.takes)
        return narrow and bool(self.wide_operands(tally))

    @cached_property
    def meetings(self) -> list[Tally]:
        return [tally for tally in self.tallies if self.is_meeting(tally)]

    def is_contained(self, tally: Tally) -> bool:
        """Return True if the wide result of an operation always ends in something that is not wide."""
        found = self.containment.get(tally)
        if found is not None:
            return found
        self.containment[tally] = True  # of a loop, until another way says otherwise
        left, seen, result = [tally], {tally}, True
        while left and result:
            one = left.pop()
            after = [each for i, each in self.consumers.get(one, ()) if i in self._wide_or_written(each, i)]
            if not after and (self._gives_used_indices(one) or self._keeps_wide(one)):
                continue
            if not after or one.unread_count:
                result = False
            for each in after:
                if self.gives_wide(each) and not _is_loss(each) and each not in seen:
                    seen.add(each)
                    left.append(each)
        self.containment[tally] = result
        return result

    def _gives_used_indices(self, tally: Tally) -> bool:
        """Return True if an operation also gives what is no float, such as `topk`, and that is used."""
        used = {each.takes[i].dtype for i, each in self.consumers.get(tally, ()) if i < len(each.takes)}
        return any(x.dtype in used and not width_of(x.dtype) for x in tally.gives)

    def _keeps_wide(self, tally: Tally) -> bool:
        """Return True if an operation copies a wide array into wide memory, such as the state of a scan."""
        return tally.operation == COPY and len(self.wide_operands(tally)) == len(tally.takes)

    def _wide_or_written(self, consumer: Tally, operand: int) -> tuple[int, ...]:
        """Return the operand again if it is a wide array of its consumer."""
        taken = consumer.takes[operand] if operand < len(consumer.takes) else None
        return (operand,) if taken is not None and self.is_wide(taken.dtype) else ()

    def sources_of(self, tally: Tally, stop: Callable[[Tally], bool] = lambda tally: False) -> list[Source]:
        """Find where the wide operands of an operation come from, not looking beyond some operations."""
        found: dict[Source, None] = {}
        seen, left = {tally}, [tally]
        while left:
            one = left.pop()
            wide = self.wide_operands(one)
            stored = {i: (category, name) for i, category, name in one.stored}
            for i, producer in one.producers:
                if i not in wide:
                    continue
                if i in stored:
                    place = self._place_of_stored(stored[i][1]) or one.place
                    found[Source(stored[i][0], place, one.takes[i].dtype, stored[i][1])] = None
                elif producer in seen or stop(producer) or self._is_beside_array(one, i, producer):
                    continue
                elif producer.is_input:
                    found[Source(BROUGHT_IN, producer.place, one.takes[i].dtype, producer.operation)] = None
                elif self.wide_operands(producer):
                    seen.add(producer)
                    left.append(producer)
                else:
                    seen.add(producer)
                    found[self._source_at(producer)] = None
        return [*found]

    def _is_beside_array(self, tally: Tally, operand: int, producer: Tally) -> bool:
        """Return True for a number of the program that another operand has made wide."""
        if not producer.is_input or producer.gives[0].has_dimensions:
            return False
        others = [made for i, made in tally.producers if i != operand and self.is_wide(tally.takes[i].dtype)]
        return any(made.gives and made.gives[0].has_dimensions for made in others)

    def _place_of_stored(self, name: str) -> Place | None:
        stored = (each for group in self.log.stored.values() for each in group)
        return next((each.made_at for each in stored if each.name == name), None)

    def _source_at(self, producer: Tally) -> Source:
        """Describe an operation without a wide operand that gives a wide array."""
        dtype = producer.gives[0].dtype if producer.gives else ""
        if not producer.takes:
            kind = ASKED if producer.requested else DEFAULT
        else:
            kind = ASKED if any(width_of(x.dtype) for x in producer.takes) else COMPUTED
        return Source(kind, producer.place, dtype, producer.operation, not producer.takes)

    # -- departures

    def list_refused(self) -> Iterator[Departure]:
        """List the operations that the library refused for their dtypes."""
        for tally in self.log.refusals:
            kind = REFUSED_LATER if self.comes_from_meeting(tally) else REFUSED
            floats = sorted({x.dtype for x in tally.takes if width_of(x.dtype)}, key=width_of)
            yield Departure(
                kind, tally.place, tally.operation, floats[0], floats[-1],
                tuple(self.sources_of(tally)), _named(tally), count=1, detail=tally.error,
            )  # fmt: skip

    def comes_from_meeting(self, tally: Tally) -> bool:
        """Return True if a wide operand was made by a meeting, at any time before."""
        left, seen = [tally], {tally}
        while left:
            one = left.pop()
            wide = self.wide_operands(one)
            for i, producer in one.producers:
                if i in wide and producer not in seen:
                    if self.is_meeting(producer):
                        return True
                    seen.add(producer)
                    left.append(producer)
        return False

    def list_meetings(self) -> Iterator[Departure]:
        """List the places where a wide array widens a narrow one, and is not meant to."""
        escaping = {tally for tally in self.meetings if not self.is_contained(tally) or self.is_astray(tally)}
        groups: dict[object, list[tuple[Tally, list[Source]]]] = {}
        for tally in self.meetings:
            sources = self.sources_of(tally, escaping.__contains__)
            kind = ESCAPED if tally in escaping else DEFAULT_DTYPE
            # an upcast within one call of the library is its own matter
            sources = [each for each in sources if each.kind == BROUGHT_IN or each.place != tally.place]
            if kind == DEFAULT_DTYPE:
                sources = [each for each in sources if each.kind == DEFAULT]
            if sources:
                key = kind, tally.place.location, tally.place.caller
                groups.setdefault(key, []).append((tally, sources))
        for (kind, *_), group in groups.items():  # type: ignore[misc]
            first = group[0][0]
            yield Departure(
                kind, first.place, first.operation, self._narrow_of(first), first.gives[0].dtype,
                tuple(dict.fromkeys(source for _, sources in group for source in sources)),
                _named(*(tally for tally, _ in group)), (),
                sum(tally.bytes for tally, _ in group), sum(tally.count for tally, _ in group),
            )  # fmt: skip

    def is_astray(self, tally: Tally) -> bool:
        """Return True if a wide result goes on to widen others, or is float64 that nothing asked for.

        One that was asked for may widen in its own module, and in those that it is handed to: a norm, or the
        next layer of a residual stream. It may not in a module around its own. There, nothing but a cast or
        a loss may compute with wide arrays that were made of no array, such as positions.
        """
        sources, own = self.sources_of(tally), tally.place
        after = [each for each in self._wide_after(tally) if each is not tally]
        if any(source.kind == ASKED for source in sources):
            around = [each for each in after if self.is_around(each.place.module, own.module)]
            is_created = all(source.is_created for source in sources)
            computed = [each for each in around if not each.is_cast and not _is_loss(each)]
            return bool(computed) if is_created else any(map(self.is_meeting, around))
        if width_of(tally.gives[0].dtype) > 32:
            return True
        is_kept = all(source.kind == PARAMETER for source in sources)
        others = [each for each in after if is_kept or each.place.module != own.module]
        return any(self.is_meeting(each) and each.place.location != own.location for each in others)

    def is_around(self, outer: str, module: str) -> bool:
        """Return True if a module holds another one."""
        is_root = outer in self.log.roots and module not in self.log.roots
        return is_root or (outer != "" and module.startswith(f"{outer}."))

    def _narrow_of(self, tally: Tally) -> str:
        return next((x.dtype for x in tally.takes if x.has_dimensions and self.is_narrow(x.dtype)), "")

    def list_wide_layers(self) -> Iterator[Departure]:
        """List the products with parameters that are computed in a wider float, outside of islands."""
        groups: dict[object, list[Tally]] = {}
        goal = width_of(self.compute)
        for tally in self.tallies:
            wide = [x.dtype for x in tally.takes if width_of(x.dtype) > goal]
            stored = any(category == PARAMETER for _, category, _ in tally.stored)
            if not tally.is_contraction or not wide or not stored or tally.uses_autocast == OFF:
                continue
            if tally.place.declared in wide:
                continue
            if any(0 < width_of(x.dtype) <= goal for x in tally.takes):
                continue
            if bool(tally.uses_autocast) if self.is_mixed else self._ends_in_loss(tally):
                continue
            groups.setdefault((tally.place.location, tally.place.caller), []).append(tally)
        for group in groups.values():
            first = group[0]
            yield Departure(
                WIDE_LAYER, first.place, first.operation, self.compute, first.takes[0].dtype, (),
                _named(*group), (), sum(t.bytes for t in group), sum(t.count for t in group),
                "outside of autocast" if self.is_mixed else "",
            )  # fmt: skip

    def _ends_in_loss(self, tally: Tally) -> bool:
        """Return True if a result becomes a loss without further products."""
        left, seen = [tally], {tally}
        while left:
            for _, each in self.consumers.get(left.pop(), ()):
                if _is_loss(each):
                    return True
                if each not in seen and self.gives_wide(each) and not each.is_contraction:
                    seen.add(each)
                    left.append(each)
        return False

    def list_other_halves(self) -> Iterator[Departure]:
        """List the places that make a float as narrow as the intended one, but of another dtype."""
        groups: dict[object, list[Tally]] = {}
        for tally in self.tallies:
            given = tally.gives[0].dtype if tally.gives else ""
            if width_of(given) != width_of(self.compute) or given == self.compute or not tally.takes:
                continue
            if not any(x.dtype == given for x in tally.takes) and tally not in self.own_casts:
                groups.setdefault((tally.place.location, tally.place.caller, given), []).append(tally)
        for group in groups.values():
            first = group[0]
            yield Departure(
                OTHER_HALF, first.place, first.operation, self.compute, first.gives[0].dtype, (),
                _named(*group), (), sum(t.bytes for t in group), sum(t.count for t in group),
            )  # fmt: skip

    def list_wide_buffers(self) -> Iterator[Departure]:
        """List the writes of narrow arrays in modules into memory that is wide by default."""
        for tally in self.tallies:
            target = tally.target
            if target is None or not tally.place.module or not self.is_wide(target.dtype):
                continue
            written = [x.dtype for x in tally.takes[1:] if x.has_dimensions and self.is_narrow(x.dtype)]
            if written and not target.made.takes and not target.made.requested and not target.made.is_input:
                source = Source(DEFAULT, target.made.place, target.dtype, target.made.operation)
                yield Departure(
                    WIDE_BUFFER, tally.place, tally.operation, written[0], target.dtype, (source,),
                    _named(tally), (), target.bytes, tally.count,
                )  # fmt: skip

    def list_islands(self) -> list[Island]:
        """List the upcasts that are meant, with the bytes of all that is wide because of them.

        A place where a wide parameter or input meets a narrow array, and that is cast back, is one, too.
        """
        groups: dict[object, list[tuple[Tally, set[Tally]]]] = {}
        quiet = {tally for tally in self.meetings if self.is_contained(tally) and not self.is_astray(tally)}
        quiet = {t for t in quiet if {x.kind for x in self.sources_of(t)} <= {PARAMETER, BUFFER, BROUGHT_IN}}
        for tally in self.tallies:
            is_upcast = self.gives_wide(tally) and any(width_of(x.dtype) for x in tally.takes)
            is_start = is_upcast and not self.wide_operands(tally) and tally not in self.own_casts
            if is_start or tally in quiet:
                inner = self._wide_after(tally)
                if self.is_contained(tally) or all(_is_loss(each) or each is tally for each in inner):
                    key = tally.place.location, tally.place.caller
                    groups.setdefault(key, []).append((tally, inner))
        made = []
        for group in groups.values():
            inner = {each for _, inside in group for each in inside}
            first = group[0][0]
            modules = _named(*(tally for tally, _ in group))
            size = sum(each.bytes for each in inner)
            made.append(Island(first.place, first.gives[0].dtype, modules, len(inner), size))
        return sorted(made, key=lambda each: -each.bytes)

    def _wide_after(self, tally: Tally) -> set[Tally]:
        """Collect an operation and all later ones that are wide because of it."""
        left, seen = [tally], {tally}
        while left:
            for i, each in self.consumers.get(left.pop(), ()):
                if each not in seen and self.gives_wide(each) and self._wide_or_written(each, i):
                    seen.add(each)
                    left.append(each)
        return seen


def _is_loss(tally: Tally) -> bool:
    """Return True if an operation gives a loss, or one number."""
    is_number = bool(tally.gives) and not tally.gives[0].has_dimensions
    return is_number or any(name in tally.operation for name in LOSS_NAMES)


def _named(*tallies: Tally) -> tuple[str, ...]:
    """List the modules of operations, each once."""
    return tuple(dict.fromkeys(tally.place.module for tally in tallies if tally.place.module))


# -- what is stored, written and returned


def _list_stored(log: OperationLog, policy: Policy) -> Iterator[Departure]:
    """List the parameters and states that are not of their dtype, those of one line together."""
    wanted = {PARAMETER: policy.params, BUFFER: None, STATE: policy.state}
    groups: dict[tuple[str, str, str, object], list[StoredTensor]] = {}
    for each in (each for group in log.stored.values() for each in group):
        target: DType | None = wanted.get(each.category)
        if each.category in (PARAMETER, BUFFER) and policy.keeps(each.name):
            target = read_float("float32")
        if target is None or not width_of(each.dtype) or each.dtype == target.name:
            continue
        if each.category == STATE and _is_counter(each):
            continue
        location = each.made_at.location if each.made_at else None
        groups.setdefault((each.category, each.dtype, target.name, location), []).append(each)
    for (category, dtype, wanted_name, _), found in groups.items():
        yield Departure(
            STORED, found[0].made_at, category, wanted_name, dtype, names=tuple(each.name for each in found),
            bytes=sum(each.bytes for each in found), count=len(found),
        )  # fmt: skip


def _is_counter(each: StoredTensor) -> bool:
    """Return True for the number of steps that an optimizer keeps as a float."""
    return each.bytes <= 8 and each.name.endswith(".step")


def _list_outputs(log: OperationLog, policy: Policy) -> Iterator[Departure]:
    """List the floats that leave the outermost modules in another dtype than the output's."""
    if policy.output is None:
        return
    found: dict[Tally, None] = {}
    for tally in log.tallies:
        if tally.place.phase == FORWARD and not tally.place.module:
            producers = (made for _, made in tally.producers)
            found |= {made: None for made in producers if made.place.module and made.place.phase == FORWARD}
    for made in found:
        given = made.gives[0].dtype if made.gives else ""
        if width_of(given) and given != policy.output.name:
            yield Departure(
                OUTPUT, made.place, made.operation, policy.output.name, given, (), _named(made), (),
                made.bytes, made.count,
            )  # fmt: skip


def _list_writes(log: OperationLog) -> Iterator[BufferWrite]:
    """List the writes of floats into memory of another float, except those of an optimizer's own step."""
    for tally in log.tallies:
        target = tally.target
        if target is None or tally.place.phase != FORWARD or not width_of(target.dtype):
            continue
        others: Sequence[str] = [x.dtype for x in tally.takes if x.has_dimensions and width_of(x.dtype)]
        other = next((dtype for dtype in others if dtype != target.dtype), None)
        if other is not None and not _is_made_here(target.made, tally):
            made_at = None if target.made.is_input else target.made.place
            yield BufferWrite(tally.place, other, target.dtype, made_at, target.name, tally.count)


def _is_made_here(made: Tally, writer: Tally) -> bool:
    """Return True if one expression makes the memory and writes into it, as a conversion does."""
    return made.place == writer.place
