"""The best completions of a partial order under rules and costs, or the rules that conflict."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.core.dtypes.dtypes import Node
from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.writer import node_code, reduce_order, write_system_file
from typelattice.study.designer.clingo_solver import SearchReporter, SolverResult, solve
from typelattice.study.designer.plan_file import DROP_IMPLIED_RULE, IMPLIED_RULE, Plan, PlanError, read_plan
from typelattice.study.designer.solver_facts import Problem, build_problem
from typelattice.study.designer.standard_demands import DEMANDS, Demand, count_violations

NodePair = tuple[Node, Node]
CappedDemand = tuple[Demand, int]  # a demand and its greatest allowed count
NodeRegions = tuple[frozenset[Node], ...]
X = TypeVar("X")
MAX_DEMAND_CAP = 1_000_000_000  # greatest cap of a demand; the solver counts in 32 bits


@dataclass(frozen=True, slots=True)
class Completion(NotebookDisplay):
    """A completed order: its system, its file, the added arrows, and its count for each demand.

    `counts` has every word of DEMANDS and every demand of the plan.
    """

    system: System
    text: str
    added_covers: tuple[NodePair, ...]
    counts: Mapping[str, int]

    @property
    def arrows(self) -> str:
        """The added arrows, as text."""
        return "; ".join(f"{node_code(a)} -> {node_code(b)}" for a, b in self.added_covers)

    def data(self) -> dict[str, object]:
        """Return the completion as JSON data."""
        return {
            "name": self.system.name,
            "covers": [[node_code(a), node_code(b)] for a, b in self.added_covers],
            "counts": dict(self.counts),
            "file": self.text,
        }


@dataclass(frozen=True, slots=True)
class Design(NotebookDisplay):
    """The best completions. `is_proven`: none is better; `is_complete`: no others are as good."""

    system: System
    plan: Plan
    completions: tuple[Completion, ...]
    is_proven: bool
    is_complete: bool

    @property
    def costs(self) -> dict[str, int]:
        """Return the costs of the completions by name, the most important first."""
        return {d.name: self.completions[0].counts[d.name] for d in self.plan.costs}

    def data(self) -> dict[str, object]:
        """Return the completions as JSON data."""
        return {
            "system": self.system.name,
            "rules": [d.name for d in self.plan.rules],
            "costs": self.costs,
            "proven": self.is_proven,
            "complete": self.is_complete,
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

    __module__ = "typelattice"

    def __init__(self, partial: System, rules: Sequence[str], verb: str = "completes") -> None:
        self.partial, self.rules, self.verb = partial, tuple(rules), verb
        instead = "drop one, or make it a cost" if verb == "completes" else "drop one"
        if IMPLIED_RULE in self.rules:
            drops = f"`{DROP_IMPLIED_RULE}` among the rules drops {IMPLIED_RULE}"
            instead += f" ({drops}, which always holds; a tie meets it)"
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
    progress: SearchReporter | None = None,
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
    >>> found[0].arrows, found.costs, found.is_complete
    ('u64 -> f*; i64 -> f*', {'deference': 0, 'relations': 56}, True)
    """
    partial = find_system(order)
    chosen = read_plan(rules, costs, plan_file, partial.custom_dtypes)
    caps = _read_caps(at_most, chosen)
    found = _solve_completion(partial, chosen, caps, limit, seconds, progress)
    if found is None:
        parts: list[Demand | CappedDemand] = [*chosen.rules, *caps]
        conflict = smallest_conflict(parts, lambda kept: _is_possible(partial, kept, chosen.regions))
        raise ConflictError(
            partial, [d.name if isinstance(d, Demand) else f"{d[0].name} <= {d[1]}" for d in conflict]
        )
    return found


def best_completion(
    order: str | Path | System, rules: Sequence[str], costs: Sequence[str], at_most: Mapping[str, int]
) -> Completion | None:
    """Return one of the best completions of `design`, or None; report no conflicts."""
    partial, chosen = find_system(order), read_plan(rules, costs)
    found = _solve_completion(partial, chosen, _read_caps(at_most, chosen), 1)
    return found[0] if found else None


def _solve_completion(
    system: System, plan: Plan, caps: Sequence[CappedDemand], limit: int,
    seconds: float | None = None, progress: SearchReporter | None = None,
) -> Design | None:  # fmt: skip
    problem = build_problem(system, plan)
    facts = _list_facts(problem, plan.costs, caps)
    answer = solve(_find_programs(plan.rules), facts, max(1, limit), seconds, progress)
    if answer.models:
        return Design(
            system,
            plan,
            _make_completions(system, problem, plan, answer),
            answer.is_proven,
            answer.is_complete,
        )
    if not answer.is_complete:
        raise TimeoutError(f"no completion of {system.name} was found in {seconds:g} seconds; give it more")
    return None


def _is_possible(system: System, parts: Sequence[Demand | CappedDemand], regions: NodeRegions) -> bool:
    """Return True if these rules and caps can be kept together."""
    rules = tuple(d for d in parts if isinstance(d, Demand))
    kept = build_problem(system, Plan(rules, (), regions))
    caps = [part for part in parts if not isinstance(part, Demand)]
    return bool(solve(_find_programs(kept.plan.rules), _list_facts(kept, (), caps), 1).models)


def _find_programs(rules: Sequence[Demand]) -> tuple[str, ...]:
    """Return the programs for the solver, with one more if pairs may have several lowest bounds."""
    is_single = any(d.counts_unsettled or d.counts_unjoined for d in rules)
    return ("complete", "lattice") if is_single else ("complete", "lattice", "several")


def _read_caps(at_most: Mapping[str, int], plan: Plan) -> list[CappedDemand]:
    """Return the capped demands. Raises PlanError for an unknown word, or an invalid number of cases."""
    known = {**DEMANDS, **{d.name: d for d in plan.demands}}
    for word, most in at_most.items():
        if word not in known:
            raise PlanError(
                f"unknown word {quote_short(word)}{spelling_hint(word, known)}; these are {', '.join(known)}"
            )
        if type(most) is not int or not 0 <= most <= MAX_DEMAND_CAP:
            raise PlanError(f"at most, for {word}, should be a whole number from 0 to {MAX_DEMAND_CAP:,}")
    return [(known[word], most) for word, most in at_most.items()]


def smallest_conflict(parts: Sequence[X], possible: Callable[[Sequence[X]], bool]) -> list[X]:
    """Reduce demands that cannot hold together to the fewest that still cannot."""
    kept = list(parts)
    for part in parts[::-1]:
        rest = [p for p in kept if p is not part]
        kept = kept if possible(rest) else rest
    return kept


def _list_facts(problem: Problem, costs: Sequence[Demand], caps: Sequence[CappedDemand]) -> Iterator[str]:
    """Return all facts for the solver: rules by number, then costs, the most important first, then caps."""
    yield from problem.list_facts()
    rules = problem.plan.rules
    for i, d in enumerate(rules):
        yield f"must({i})."
        yield from problem.demand_facts(i, d, is_rule=True)
    for i, d in enumerate(costs, len(rules)):
        yield f"cost({i},{len(rules) + len(costs) - i},{d.weight})."
        yield from problem.demand_facts(i, d)
    for i, (d, most) in enumerate(caps, len(rules) + len(costs)):
        yield f"limit({i},{most - problem.count_violations_of_given_order(d)})."
        yield from problem.demand_facts(i, d)


def _make_completions(
    system: System, problem: Problem, plan: Plan, answer: SolverResult
) -> tuple[Completion, ...]:
    members = problem.nodes
    nodes = [m.node for m in members]
    facts_of_node = dict(zip(nodes, members, strict=True))
    demands = tuple({**DEMANDS, **{d.name: d for d in plan.demands}}.values())
    orders = [
        reduce_order(nodes, [(nodes[a], nodes[b]) for _, a, b in sorted(found)]) for found in answer.models
    ]
    found = []
    for order in orders:
        covers = tuple((a, b) for a in nodes for b in order.covers(a) if not system.order.le(a, b))
        found.append(
            (covers, order, count_violations(demands, order, system.order, facts_of_node, system.ties))
        )
    found.sort(key=lambda f: ([node_code(n) for pair in f[0] for n in pair], f[0].__repr__()))
    completions = []
    for i, (covers, order, counts) in enumerate(found, 1):
        name = f"{system.name[:40]}-complete{f'-{i}' if len(found) > 1 else ''}"
        text = write_system_file(system, order, name, f"{system.title[:120] or system.name}, completed")
        completions.append(Completion(parse(text, f"{name}.toml"), text, covers, counts))
    return tuple(completions)
