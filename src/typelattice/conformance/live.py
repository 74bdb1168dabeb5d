"""A system against the installed library: random calls, tiers mixed, up to five operands, a mismatch made small."""
from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from typelattice.conformance.asking import EDGES, KINDS, TIERS
from typelattice.conformance.compare import PROMOTION, Mismatch, Report, compare
from typelattice.conformance.functions import JOINED, PAIRS
from typelattice.conformance.library import BINARY, NOT_ASKED, Library, NoSuchOperandError, NotAskedError
from typelattice.conformance.record import asked
from typelattice.engine.system import System
from typelattice.facts.operations import NAMES
from typelattice.recorded.departures import Departure
from typelattice.recorded.recording import Call

MOST = 5  # operands a call
ARRAYS_ONLY = ("concat", "matmul")
LIMIT = 10.0  # seconds a call


class Asker:
    """A library to which calls are put; the objects that operand strings name are made once.

    With a limit, in seconds, what takes longer is answered `!hang`: in the main thread, where there are alarms, which are
    then its own, and if the library heeds them.
    """

    def __init__(self, library: Library, limit: float | None = None) -> None:
        self.library, self.functions, self.limit = library, library.operations(), limit
        self.made: dict[str, object] = {}

    def has(self, operand: str) -> bool:
        """Whether the library has such an operand."""
        try:
            if operand not in self.made:
                self.made[operand] = self.library.make(operand)
        except NoSuchOperandError:
            return False
        return True

    def ask(self, op: str, operands: Sequence[str]) -> Call:
        """The call with the library's answer."""
        try:
            with _limited(self.limit):
                answer = self.library.read(self.functions[op](*(self.made[o] for o in operands)))
        except _Hang:
            answer = "!hang"
        except KeyboardInterrupt:
            raise
        except NotAskedError:
            answer = NOT_ASKED
        except BaseException as e:  # whatever the library raises is its answer; a Rust panic, for one, is no Exception
            answer = f"!{type(e).__name__}"
        return Call(op, tuple(operands), answer)


class _Hang(BaseException):
    """A call has taken too long."""


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raises _Hang in what takes longer."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGALRM, _hang)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _hang(*_: object) -> None:
    raise _Hang


def check(
    library: Library,
    system: System,
    calls: int,
    seed: int,
    listed: Sequence[Departure] = (),
    progress: Callable[[int, int, str], None] = lambda done, of, op: None,
) -> Report:
    """The report of so many random calls; each mismatch is shrunk, and the same one is kept once."""
    asker = Asker(library, LIMIT)
    report = compare(system, _random_calls(asker, calls, seed, progress), listed)
    small = {str(m): m for m in (shrink(asker, system, m, listed) for m in report.mismatches[:200])}
    return replace(report, mismatches=tuple(small.values()) + report.mismatches[200:])


def _random_calls(asker: Asker, calls: int, seed: int, progress: Callable[[int, int, str], None]) -> Iterator[Call]:
    rng = random.Random(seed)
    operands = [f"{d}{tier}" for d in asker.library.dtypes() for tier in TIERS if asker.has(f"{d}{tier}")]
    scalars = [s for s in (*KINDS, *EDGES) if asker.has(s)]
    several = [op for op in getattr(asker.library, "nary", ("result_type",)) if op in asker.functions]
    pairs = [op for op in asker.functions if op in NAMES and op in (*BINARY, *PAIRS, *JOINED) and op not in PROMOTION]
    named = (*operands, *scalars)
    further = {op: [named[i] for i in asked(op, named)] for op in pairs if op not in BINARY}
    for done in range(calls):
        op = rng.choice(several) if several and (rng.random() < 0.5 or not pairs) else rng.choice(pairs)
        pool = further.get(op) or ([o for o in operands if ":" not in o] if op in ARRAYS_ONLY else operands)
        chosen = rng.choices(pool, k=rng.randint(2, MOST) if op in several else 2)
        if scalars and op not in ARRAYS_ONLY and op not in further:
            chosen = [rng.choice(scalars) if rng.random() < 0.2 else o for o in chosen]
        progress(done + 1, calls, op)
        yield asker.ask(op, chosen)


def shrink(asker: Asker, system: System, m: Mismatch, listed: Sequence[Departure] = ()) -> Mismatch:
    """The smallest call that is a mismatch, and no listed one: operands left out, then made plain arrays."""
    while True:
        ops = m.call.operands
        fewer = [ops[:i] + ops[i + 1 :] for i in range(len(ops))] if m.call.op in PROMOTION and len(ops) > 2 else []
        plainer = [(*ops[:i], ops[i].partition(":")[0], *ops[i + 1 :]) for i in range(len(ops)) if ":" in ops[i]]
        for operands in fewer + plainer:
            if all(map(asker.has, operands)):
                found = compare(system, [asker.ask(m.call.op, operands)], listed).mismatches
                if found:
                    m = found[0]
                    break
        else:
            return m
