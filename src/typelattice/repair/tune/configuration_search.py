"""The search for the narrowest dtypes: delta debugging over groups of places, ordered by sensitivity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf, prod

from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.repair.tune.libraries import tuned_library
from typelattice.repair.tune.place_edits import width_of
from typelattice.repair.tune.places import ACCUMULATED, NUMBER, STORED, Place
from typelattice.repair.tune.site_graph import SiteGraph
from typelattice.repair.tune.trial import Outcome

Configuration = Mapping[Place, str]
Evaluate = Callable[[Configuration], Outcome]
Prefetch = Callable[[Sequence[Configuration]], None]
MIN_SAVED_SHARE = 0.02  # of all bytes, that a cast of a stored result must save to be tried
SMALL_BYTES, SMALL_SHARE = 64, 0.002  # no choice is made that saves less than both, such as that of a scalar
MAX_TIDIED = 8  # choices that are left out one by one
MAX_COMBINATIONS = 1024  # of dtypes over all groups, up to which they are listed
MAX_COMBINATION_RUNS = 24
MAX_EXCHANGES = 24  # runs in which a place that stays wide is tried in exchange for a narrow one


@dataclass(frozen=True, slots=True)
class Move:
    """A group of places, and the dtype that each gets. "" stands for no choice."""

    choices: tuple[tuple[Place, str], ...]
    target: str
    sensitivity: float = 0.0

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(place for place, _ in self.choices)

    def apply(self, configuration: Configuration) -> dict[Place, str]:
        """Return a configuration with the choices of the move."""
        found = {**configuration, **dict(self.choices)}
        return {place: dtype for place, dtype in found.items() if dtype}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A move that was refused at the end: it alone would miss the tolerance. `outcome` is that run."""

    move: Move
    outcome: Outcome


@dataclass(eq=False)
class ConfigurationSearch:
    """The search from the widest configuration down. `tolerance` is what an accepted run must keep.

    `is_ordered` tries groups in the order of their sensitivity, and none that a wider dtype has refused.
    Without it this is plain delta debugging. `best` is the narrowest configuration accepted so far.
    """

    graph: SiteGraph
    dtypes: Sequence[str]
    tolerance: float
    evaluate: Evaluate
    prefetch: Prefetch
    best: dict[Place, str]
    is_ordered: bool = True
    refusals: dict[tuple[tuple[Place, ...], str], Refusal] = field(default_factory=dict)
    accepted: list[dict[Place, str]] = field(default_factory=list)
    rejected: list[Configuration] = field(default_factory=list)  # those with a finite error

    def search(self) -> None:
        """Try each dtype of the ladder in turn, from the widest on, and leave `best` behind."""
        self.accepted.append(self.best)
        for dtype in self.dtypes:
            moves = self.list_moves(dtype)
            if moves:
                self.narrow(moves, dtype)
                self.relax(dtype)
        for dtype in self.dtypes:
            self.store(dtype)
        self.save_bytes()
        self.combine()
        self.tidy()
        self.confirm()

    def save_bytes(self) -> None:
        """Take the accepted configuration with the fewest bytes, and change single groups if that saves any.

        A cast makes an array of its own, so a narrow dtype does not always save bytes.
        """
        self.best = min(self.accepted, key=self.bytes_of, default=self.best)
        runs, again = 0, True
        while again:
            again = False
            for group in self.graph.groups:
                for dtype in ("", *self.dtypes):
                    choices = {place: dtype or place.dtype for place in group}
                    configuration = {**self.best, **choices}
                    if self.bytes_of(configuration) >= self.bytes_of(self.best) or runs >= MAX_EXCHANGES:
                        continue
                    runs += 1
                    again = self.keeps(configuration) or again

    def combine(self) -> None:
        """Try the combinations of few groups that make fewer bytes, the fewest first.

        What is nowhere wider than a configuration with too large an error is not tried.
        """
        groups = self.graph.groups
        ladders = [self.list_dtypes(group) for group in groups]
        if prod(map(len, ladders)) > MAX_COMBINATIONS:
            return
        followers = {place: dtype for place, dtype in self.best.items() if place.follows}
        found: list[tuple[float, int, dict[Place, str]]] = []
        for pinned in [{}, followers] if followers else [{}]:
            for chosen in product(*ladders):
                choices = {p: d for group, d in zip(groups, chosen, strict=True) for p in group}
                configuration = {**choices, **pinned}
                size = self.bytes_of(configuration)
                if size < self.bytes_of(self.best):
                    found.append((size, len(found), configuration))
        runs = 0
        for _, _, combination in sorted(found, key=lambda each: each[:2]):
            if runs >= MAX_COMBINATION_RUNS:
                return
            if not any(is_nowhere_wider(combination, each) for each in self.rejected):
                runs += 1
                if self.keeps(combination):
                    return

    def list_dtypes(self, group: tuple[Place, ...]) -> list[str]:
        """List the dtypes that a group may have, its widest first."""
        widest = self.accepted[0]
        narrower = [d for d in self.dtypes if all(self.is_narrower(p, d, widest) for p in group)]
        return [widest[group[0]], *narrower]

    def tidy(self) -> None:
        """Leave out choices that save next to nothing, so that the patch has only what it needs."""
        needless = []
        for group in self.graph.groups:
            back = Move(tuple((place, self.own_dtype(place)) for place in group), "")
            saved = self.bytes_of(back.apply(self.best)) - self.bytes_of(self.best)
            if back.apply(self.best) != self.best and 0 <= saved <= self.least_saving:
                needless.append(back)
        if not self.keeps(apply_all(self.best, needless)):
            for move in needless[:MAX_TIDIED]:
                self.keeps(move.apply(self.best))

    def own_dtype(self, place: Place) -> str:
        """Return the dtype of the program, or the widest one that is narrower: complex ones have no own."""
        return next((d for d in self.wide_dtypes if place.dtype_at(d) == place.dtype), self.wide_dtypes[0])

    def keeps(self, configuration: Configuration) -> bool:
        """Run a configuration, and keep it if the tolerance holds."""
        holds = self.holds(self.run(configuration))
        if holds:
            self.best = dict(configuration)
            self.accepted.append(self.best)
        return holds

    def confirm(self, accepts: bool = True) -> None:
        """Ask of each group that stays wide once more whether it may be narrower, and keep the refusals.

        The configuration may have changed since a group was refused. If this `accepts`, it may change again.
        """
        again = True
        while again:
            again = False
            self.refusals.clear()
            following = [p for p in self.best if p.sort in (ACCUMULATED, NUMBER)]
            least = self.least_saving
            for dtype in self.dtypes:
                moves = [Move(((p, dtype),), dtype) for p in following if self.is_narrower(p, dtype)]
                for move in (*self.list_moves(dtype), *moves):
                    configuration = move.apply(self.best)
                    outcome = self.run(configuration)
                    if not self.holds(outcome):
                        self.refusals[move.places, dtype] = Refusal(move, outcome)
                    elif accepts and self.bytes_of(configuration) < self.bytes_of(self.best) - least:
                        again = self.keeps(configuration) or again

    def list_moves(self, dtype: str) -> list[Move]:
        """List the groups that may become as narrow as a dtype, the least sensitive first."""
        found = []
        for group in self.graph.groups:
            choices = tuple((place, dtype) for place in group if self.is_narrower(place, dtype))
            if self.is_ordered and self.was_refused_wider(group, dtype):
                continue
            if choices and len(choices) == len(group):
                found.append(Move(choices, dtype, self.graph.sensitivity(group, dtype)))
        if self.is_ordered:
            found.sort(key=lambda move: move.sensitivity)
        return found

    def was_refused_wider(self, group: tuple[Place, ...], dtype: str) -> bool:
        """Return True if a dtype that holds each number of this one had too large an error already."""
        refused = (self.refusals.get((group, wider)) for wider in self.dtypes if holds_all(wider, dtype))
        return any(refusal is not None and refusal.outcome.error < inf for refusal in refused)

    def is_narrower(self, place: Place, dtype: str, configuration: Configuration | None = None) -> bool:
        """Return True if a dtype would narrow a place in a configuration, or else in the best one."""
        now = (self.best if configuration is None else configuration).get(place)
        library = tuned_library(place.library)
        if now is None or library is None or dtype not in library.dtypes:
            return False
        return width_of(place.dtype_at(dtype)) < width_of(place.dtype_at(now))

    def narrow(self, moves: Sequence[Move], dtype: str) -> None:
        """Narrow as many groups as the tolerance allows.

        Sums and other accumulations follow their operands. Groups that are refused so are tried once more
        with accumulations as wide as before.
        """
        parts = split_by_prediction(moves, self.tolerance) if self.is_ordered else (moves, *halves(moves))
        self.prefetch([apply_all(self.best, part) for part in parts])
        rejected = self.grow_in_order(moves) if self.is_ordered else self.grow([*moves])
        while rejected:  # until each of them alone is refused
            left = self.retry(rejected)
            if len(left) == len(rejected):
                break
            rejected = left
        self.exchange(rejected, [move for move in moves if move not in rejected])
        for part in [rejected, *([move] for move in rejected if len(rejected) > 1)]:
            self.accept_protected(part)

    def accept_protected(self, moves: Sequence[Move]) -> None:
        """Try moves with accumulations as wide as they are now, if that saves bytes."""
        followed = apply_all(self.best, moves)
        configuration = self.protect(followed)
        saved = self.bytes_of(self.best) - self.bytes_of(configuration)
        if configuration == followed or saved < MIN_SAVED_SHARE * self.bytes_of(self.best):
            return
        self.keeps(configuration)

    def protect(self, configuration: Configuration) -> dict[Place, str]:
        """Let each accumulation be as wide as in the best configuration, if its operands are narrower."""
        found = dict(configuration)
        before, after = self.graph.estimate_widths(self.best), self.graph.estimate_widths(configuration)
        for place in self.graph.places:
            if place.sort in (ACCUMULATED, NUMBER) and place not in found:
                was = max((before[i] for i in place.sites), default=0)
                if max((after[i] for i in place.sites), default=0) < was:
                    found[place] = next(
                        (d for d in self.wide_dtypes if width_of(d) == was), self.wide_dtypes[0]
                    )
        return found

    def relax(self, dtype: str) -> None:
        """Let accumulations follow their operands again, or be as narrow as a dtype, where possible."""
        wide = [place for place in self.best if place.sort in (ACCUMULATED, NUMBER)]
        moves = [Move(((place, ""),), dtype, self.graph.sensitivity([place], dtype)) for place in wide]
        refused = self.grow(sorted(moves, key=lambda move: move.sensitivity))
        places = [move.places[0] for move in refused if self.is_narrower(move.places[0], dtype)]
        for place in places:
            self.refusals.pop(((place,), dtype), None)
        self.grow([Move(((place, dtype),), dtype) for place in places])

    def store(self, dtype: str) -> None:
        """Cast results to a dtype where they are stored, if that makes arrays narrower."""
        moves = []
        for place in self.graph.places:
            library = tuned_library(place.library)
            if place.sort != STORED or place in self.best or library is None or dtype not in library.dtypes:
                continue
            move = Move(((place, dtype),), dtype, self.graph.sensitivity([place], dtype))
            saved = self.bytes_of(self.best) - self.bytes_of(move.apply(self.best))
            if saved >= MIN_SAVED_SHARE * self.bytes_of(self.best):
                moves.append(move)
        self.grow(sorted(moves, key=lambda move: move.sensitivity))
        for place in [p for p in self.best if p.sort == STORED and self.best[p] == dtype]:
            self.try_without([place])  # one that another cast has made needless

    def retry(self, moves: Sequence[Move]) -> list[Move]:
        """Try moves one by one, and return those that are refused."""
        return [move for move in moves if not self.accept([move])]

    def grow_in_order(self, moves: Sequence[Move]) -> list[Move]:
        """Accept what is predicted to keep the tolerance, then the others from the least sensitive on.

        Each of the others is tried alone, as each is asked alone at the end anyway. If the first is accepted,
        the prediction was too careful, and the rest is tried at once.
        """
        good, others = split_by_prediction(moves, self.tolerance)
        rejected = self.grow(good)
        if not others:
            return rejected
        first, *rest = others
        if self.accept([first]):
            return [*rejected, *self.grow(rest)]
        return [*rejected, first, *self.retry(rest)]

    def grow(self, moves: Sequence[Move]) -> list[Move]:
        """Accept moves in the largest parts that keep the tolerance. Return those that were refused."""
        if not moves or self.accept(moves):
            return []
        if len(moves) == 1:
            return [*moves]
        first, second = halves(moves)
        return [*self.grow(first), *self.grow(second)]

    def accept(self, moves: Sequence[Move]) -> bool:
        """Run the best configuration with some moves, and keep it if the tolerance holds."""
        configuration = apply_all(self.best, moves)
        if configuration == self.best:
            return True
        outcome = self.run(configuration)
        if self.holds(outcome):
            self.best = configuration
            self.accepted.append(configuration)
            return True
        if len(moves) == 1:
            self.refusals[moves[0].places, moves[0].target] = Refusal(moves[0], outcome)
        return False

    def run(self, configuration: Configuration) -> Outcome:
        """Run a configuration, and remember it if its error is too large."""
        outcome = self.evaluate(configuration)
        if self.tolerance < outcome.error < inf:
            self.rejected.append(configuration)
        return outcome

    def holds(self, outcome: Outcome) -> bool:
        return outcome.error <= self.tolerance

    def exchange(self, rejected: Sequence[Move], accepted: Sequence[Move]) -> None:
        """Try each refused group in place of an accepted one that saves less."""
        runs = 0
        for move in rejected:
            for other in accepted:
                if runs >= MAX_EXCHANGES:
                    return
                back = replace(other, choices=tuple((place, self.wide_of(place)) for place in other.places))
                configuration = apply_all(self.best, [back, move])
                if not all(self.best.get(p) == c for p, c in other.choices):
                    continue
                if self.bytes_of(configuration) >= self.bytes_of(self.best):
                    continue
                runs += 1
                if self.keeps(configuration):
                    break

    def wide_of(self, place: Place) -> str:
        """Return the dtype of a place before the present dtype of the ladder."""
        now = self.best.get(place, place.dtype)
        wider = [d for d in self.wide_dtypes if width_of(d) > width_of(now)]
        return min(wider, key=width_of, default=now)

    @property
    def wide_dtypes(self) -> Sequence[str]:
        return ("float64", *self.dtypes)

    @property
    def least_saving(self) -> float:
        """The bytes below which a choice is not worth a change of the program."""
        return min(SMALL_BYTES, SMALL_SHARE * self.bytes_of(self.best))

    def bytes_of(self, configuration: Configuration) -> float:
        return self.graph.estimate_bytes(configuration)

    def try_without(self, places: Iterable[Place]) -> bool:
        """Run without the choices of some places. Keep that if nothing is wider and the tolerance holds."""
        left = {*places}
        configuration = {place: dtype for place, dtype in self.best.items() if place not in left}
        if self.bytes_of(configuration) > self.bytes_of(self.best):
            return False
        return self.keeps(configuration)


def apply_all(configuration: Configuration, moves: Iterable[Move]) -> dict[Place, str]:
    """Return a configuration with the choices of some moves."""
    found = dict(configuration)
    for move in moves:
        found = move.apply(found)
    return found


def split_by_prediction(moves: Sequence[Move], tolerance: float) -> tuple[Sequence[Move], Sequence[Move]]:
    """Split sorted moves into those that are predicted to keep a tolerance, and others."""
    good = sum(move.sensitivity <= tolerance for move in moves)
    return moves[:good], moves[good:]


def is_nowhere_wider(first: Configuration, second: Configuration) -> bool:
    """Return True if each choice of a configuration is that of another, or a narrower one."""
    return all(
        place in second and (second[place] == dtype or holds_all(second[place], dtype))
        for place, dtype in first.items()
    )


def holds_all(wider: str, narrower: str) -> bool:
    """Return True if a dtype has each number of another: float32 has those of float16 and bfloat16."""
    a, b = DTYPES[wider], DTYPES[narrower]
    has_range = (a.max or inf) >= (b.max or inf)
    return wider != narrower and has_range and (a.precision or 0) >= (b.precision or 0)


def halves(moves: Sequence[Move]) -> tuple[Sequence[Move], Sequence[Move]]:
    middle = len(moves) // 2
    return moves[:middle], moves[middle:]


def error_text(error: float) -> str:
    """Write an error, or that there is none to measure."""
    return "no finite error" if error == inf else f"{error:.1e}"
