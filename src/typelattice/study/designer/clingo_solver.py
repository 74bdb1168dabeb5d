"""The only module that knows the solver: a program and facts in, the best answers out."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from typelattice.base.errors.errors import TypelatticeError

Atom = tuple[str, int, int]
# seconds, least costs possible, best found
SearchReporter = Callable[[float, tuple[int, ...], tuple[int, ...] | None], None]
POLL_SECONDS = 0.2  # seconds between looks at the clock and the keyboard


class MissingSolverError(TypelatticeError, ImportError):
    """The solver is not installed."""

    __module__ = "typelattice"


@dataclass(frozen=True, slots=True)
class SolverResult:
    """The best answers, as atoms. `is_proven`: none is better; `is_complete`: no other is as good."""

    models: tuple[frozenset[Atom], ...]
    is_proven: bool
    is_complete: bool


def solve(
    programs: Iterable[str],
    facts: Iterable[str],
    limit: int,
    seconds: float | None = None,
    progress: SearchReporter | None = None,
) -> SolverResult:
    """Find the best answers, up to a limit.

    When the time is up, or on Ctrl-C, return the best answers so far. If there are no models and
    `is_complete` is true, no answer exists. Raises KeyboardInterrupt on Ctrl-C if there is no answer yet.
    """
    try:
        import clingo
    except ImportError:
        raise MissingSolverError("the designer needs the solver clingo: pip install clingo") from None

    start, best, proven = monotonic(), list[frozenset[Atom]](), False
    cost: tuple[int, ...] | None = None
    least: tuple[int, ...] = ()

    def model(m: clingo.Model) -> None:
        nonlocal cost, proven
        if cost != tuple(m.cost) or (m.optimality_proven and not proven):
            best.clear()
        cost, proven = tuple(m.cost), m.optimality_proven
        best.append(
            frozenset((s.name, s.arguments[0].number, s.arguments[1].number) for s in m.symbols(shown=True))
        )

    def bound(lower: Iterable[int]) -> None:
        nonlocal least
        least = tuple(lower)

    def run(mode: str, models: int) -> bool:
        """Run a search; return True if it was exhaustive."""
        configuration: Any = control.configuration.solve
        configuration.opt_mode, configuration.models = mode, models
        with control.solve(on_model=model, on_unsat=bound, async_=True) as handle:
            try:
                while not handle.wait(POLL_SECONDS):
                    if progress:
                        progress(monotonic() - start, least, cost or None)
                    if seconds is not None and monotonic() - start > seconds:
                        break
            finally:
                handle.cancel()
            return bool(handle.get().exhausted)

    control = clingo.Control(["--opt-strategy=usc", "--warn=none"])
    text = "\n".join(
        [*(Path(__file__).with_name(f"{p}.lp").read_text(encoding="ascii") for p in programs), *facts]
    )
    ended = False
    try:
        control.add("base", [], text)
        control.ground([("base", [])])
        ended = run("ignore", 1)  # one answer, to have one to show
        if best:
            best, first, cost = [], best, None
            ended = run("optN", limit + 1)
            best = best or first
    except KeyboardInterrupt:
        if not best:
            raise
    done = proven or cost == ()
    return SolverResult(tuple(best[: limit if done else 1]), done, ended and len(best) <= limit)
