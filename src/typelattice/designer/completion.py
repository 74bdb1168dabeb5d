"""The best completions of a partial order under rules and costs, or the rules that conflict."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from typelattice.designer.clingo_solver import Answer, Progress, solve
from typelattice.designer.demands import DEMANDS, Demand, tally
from typelattice.designer.plan import ALWAYS, DROPPED, Plan, PlanError, plan
from typelattice.designer.problem import Problem, build_problem
from typelattice.engine.system import System
from typelattice.facts.display_hooks import Viewed
from typelattice.facts.dtypes import Node
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.suggestions import nearest, short
from typelattice.files.reader import parse
from typelattice.files.reader import system as find_system
from typelattice.files.writer import code, reduce_order, system_file

Pair = tuple[Node, Node]
Cap = tuple[Demand, int]  # a demand and its greatest allowed count
Regions = tuple[frozenset[Node], ...]
X = TypeVar("X")
MAX_CAP = 1_000_000_000  # greatest cap of a demand; the solver counts in 32 bits


@dataclass(frozen=True, slots=True)
class Completion(Viewed):
    """A completed order: its system, its file, the added arrows, and its count for each demand.

    `counts` has every word of DEMANDS and every demand of the plan.
    """

    system: System
    text: str
    covers: tuple[Pair, ...]
    counts: Mapping[str, int]

    @property
    def arrows(self) -> str:
        """The added arrows, as text."""
        return "; ".join(f"{code(a)} -> {code(b)}" for a, b in self.covers)

    def data(self) -> dict[str, object]:
        """Return the completion as JSON data."""
        return {
            "name": self.system.name,
            "covers": [[code(a), code(b)] for a, b in self.covers],
            "counts": dict(self.counts),
            "file": self.text,
        }


@dataclass(frozen=True, slots=True)
class Design(Viewed):
    """The best completions. `proven`: none is better; `complete`: no others are as good."""

    partial: System
    plan: Plan
    completions: tuple[Completion, ...]
    proven: bool
    complete: bool

    @property
    def costs(self) -> dict[str, int]:
        """Return the costs of the completions by name, the most important first."""
        return {d.name: self.completions[0].counts[d.name] for d in self.plan.costs}

    def data(self) -> dict[str, object]:
        """Return the completions as JSON data."""
        return {
            "system": self.partial.name,
            "rules": [d.name for d in self.plan.rules],
            "costs": self.costs,
            "proven": self.proven,
            "complete": self.complete,
            "completions": [completion.data() for completion in self.completions],
        }

    def __iter__(self) -> Iterator[Completion]:
        return iter(self.completions)

    def __len__(self) -> int:
        return len(self.completions)

    def __getitem__(self, i: int) -> Completion:
        return self.completions[i]


class ConflictError(TypelatticeError, ValueError):
    """No completion (or repair) satisfies all `rules` at once. Without any one of them, one exists.

    `verb` is `completes` or `repairs`.
    """

    def __init__(self, partial: System, rules: Sequence[str], verb: str = "completes") -> None:
        self.partial, self.rules, self.verb = partial, tuple(rules), verb
        instead = "drop one, or make it a cost" if verb == "completes" else "drop one"
        if ALWAYS in self.rules:
            instead += f" (`{DROPPED}` among the rules drops {ALWAYS}, which always holds; a tie meets it)"
        super().__init__(
            f"no order that {verb} {partial.name} keeps {' with '.join(self.rules)}; "
            f"without any one of these there is one: {instead}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return ConflictError, (self.partial, self.rules, self.verb)


def design(
    order: str | Path | System,
    rules: Sequence[str] | None = None,
    costs: Sequence[str] | None = None,
    limit: int = 10,
    plan_file: str | Path | Mapping[str, object] | None = None,
    at_most: Mapping[str, int] = {},
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Design:
    """Find the best ways to complete the partial order of a system, which is a name or a file.

    `rules` hold in all added relations. `costs` are minimised one after the other. Both are names of DEMANDS,
    or of the `demands` in `plan_file`, which is a file or its keys. `at_most` maps a demand to its highest
    allowed count over all pairs. All optima are returned, up to `limit`. On Ctrl-C, or after `seconds`, the
    result is the best so far.

    Raises ConflictError if no completion keeps the rules, and TimeoutError if none was found in time. Also
    raises BeyondReachError, PlanError and MissingSolverError.

    >>> import typelattice as tl
    >>> found = tl.design("jep9407-0", costs=["deference", "relations"])
    >>> found[0].arrows, found.costs, found.complete
    ('u64 -> f*; i64 -> f*', {'deference': 0, 'relations': 56}, True)
    """
    partial = find_system(order)
    chosen = plan(rules, costs, plan_file, partial.own_dtypes)
    caps = _caps(at_most, chosen)
    found = _solve(partial, chosen, caps, limit, seconds, progress)
    if found is None:
        parts: list[Demand | Cap] = [*chosen.rules, *caps]
        conflict = core(parts, lambda kept: _possible(partial, kept, chosen.regions))
        raise ConflictError(
            partial, [d.name if isinstance(d, Demand) else f"{d[0].name} <= {d[1]}" for d in conflict]
        )
    return found


def best(
    order: str | Path | System, rules: Sequence[str], costs: Sequence[str], at_most: Mapping[str, int]
) -> Completion | None:
    """Return one of the best completions of `design`, or None; report no conflicts."""
    partial, chosen = find_system(order), plan(rules, costs)
    found = _solve(partial, chosen, _caps(at_most, chosen), 1)
    return found[0] if found else None


def _solve(
    partial: System, chosen: Plan, caps: Sequence[Cap], limit: int,
    seconds: float | None = None, progress: Progress | None = None,
) -> Design | None:  # fmt: skip
    stated = build_problem(partial, chosen)
    facts = _facts(stated, chosen.costs, caps)
    answer = solve(_programs(chosen.rules), facts, max(1, limit), seconds, progress)
    if answer.found:
        return Design(
            partial, chosen, _completions(partial, stated, chosen, answer), answer.proven, answer.all
        )
    if not answer.all:
        raise TimeoutError(f"no completion of {partial.name} was found in {seconds:g} seconds; give it more")
    return None


def _possible(partial: System, parts: Sequence[Demand | Cap], regions: Regions) -> bool:
    """Return True if these rules and caps can be kept together."""
    rules = tuple(d for d in parts if isinstance(d, Demand))
    kept = build_problem(partial, Plan(rules, (), regions))
    caps = [part for part in parts if not isinstance(part, Demand)]
    return bool(solve(_programs(kept.plan.rules), _facts(kept, (), caps), 1).found)


def _programs(rules: Sequence[Demand]) -> tuple[str, ...]:
    """Return the programs for the solver, with one more if pairs may have several lowest bounds."""
    is_single = any(d.several or d.unjoined for d in rules)
    return ("complete", "lattice") if is_single else ("complete", "lattice", "several")


def _caps(at_most: Mapping[str, int], chosen: Plan) -> list[Cap]:
    """Return the capped demands. Raises PlanError for an unknown word, or an invalid number of cases."""
    known = {**DEMANDS, **{d.name: d for d in chosen.demands}}
    for word, most in at_most.items():
        if word not in known:
            raise PlanError(f"unknown word {short(word)}{nearest(word, known)}; these are {', '.join(known)}")
        if type(most) is not int or not 0 <= most <= MAX_CAP:
            raise PlanError(f"at most, for {word}, should be a whole number from 0 to {MAX_CAP:,}")
    return [(known[word], most) for word, most in at_most.items()]


def core(parts: Sequence[X], possible: Callable[[Sequence[X]], bool]) -> list[X]:
    """Reduce demands that cannot hold together to the fewest that still cannot."""
    kept = list(parts)
    for part in parts[::-1]:
        rest = [p for p in kept if p is not part]
        kept = kept if possible(rest) else rest
    return kept


def _facts(stated: Problem, costs: Sequence[Demand], caps: Sequence[Cap]) -> Iterator[str]:
    """Return all facts for the solver: rules by number, then costs, the most important first, then caps."""
    yield from stated.facts()
    rules = stated.plan.rules
    for i, d in enumerate(rules):
        yield f"must({i})."
        yield from stated.counts(i, d, rule=True)
    for i, d in enumerate(costs, len(rules)):
        yield f"cost({i},{len(rules) + len(costs) - i},{d.weight})."
        yield from stated.counts(i, d)
    for i, (d, most) in enumerate(caps, len(rules) + len(costs)):
        yield f"limit({i},{most - stated.count_settled(d)})."
        yield from stated.counts(i, d)


def _completions(partial: System, stated: Problem, chosen: Plan, answer: Answer) -> tuple[Completion, ...]:
    members = stated.members
    nodes = [m.node for m in members]
    of = dict(zip(nodes, members, strict=True))
    words = tuple({**DEMANDS, **{d.name: d for d in chosen.demands}}.values())
    orders = [
        reduce_order(nodes, [(nodes[a], nodes[b]) for _, a, b in sorted(found)]) for found in answer.found
    ]
    found = []
    for order in orders:
        covers = tuple((a, b) for a in nodes for b in order.covers(a) if not partial.order.le(a, b))
        found.append((covers, order, tally(words, order, partial.order, of, partial.ties)))
    found.sort(key=lambda f: ([code(n) for pair in f[0] for n in pair], f[0].__repr__()))
    completions = []
    for i, (covers, order, counts) in enumerate(found, 1):
        name = f"{partial.name[:40]}-complete{f'-{i}' if len(found) > 1 else ''}"
        text = system_file(partial, order, name, f"{partial.title[:120] or partial.name}, completed")
        completions.append(Completion(parse(text, f"{name}.toml"), text, covers, counts))
    return tuple(completions)
