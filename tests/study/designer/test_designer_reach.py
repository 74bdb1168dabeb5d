"""How far the designer reaches: what is too large, what takes seconds, what stops it halfway."""
from __future__ import annotations

import sys

import pytest
from small_orders import DESIGNS, partial, split

from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.system_files.reader import parse
from typelattice.show.cli.main import main
from typelattice.study.designer import BeyondReachError, MissingSolverError, design, read_plan
from typelattice.study.designer.clingo_solver import solve
from typelattice.study.designer.solver_facts import build_problem

LOOSE = "; ".join(d.code for d in DTYPES.values() if d.bits and 8 <= d.bits <= 64)  # no arrow at all
HARD = (["lattice"], ["width", "precision", "relations"])  # rules and costs that take long to prove


def test_an_order_beyond_reach_is_refused_with_an_estimate() -> None:
    names = [f"d{i}" for i in range(300)]
    order, facts = "; ".join(names), 'kind = "float", max = 1.0, precision = 1, min_exponent = -1'
    dtypes = "\n".join(f"{name} = {{ {facts} }}" for name in names)
    wide = parse(f'name = "wide"\norder = "{order}"\n[dtypes]\n{dtypes}\n')
    with pytest.raises(BeyondReachError, match="300 nodes with about 1,012,500,000 constraints"):
        design(wide)
    every = partial("; ".join(d.code for d in DTYPES.values() if d.bits))
    assert build_problem(every, read_plan(["lattice"])).bounds, "every dtype that we know is within reach"


def test_the_nodes_of_jax_are_within_reach() -> None:
    found = design(DESIGNS / "jax-nodes.toml", limit=3)
    assert len(found[0].system.order.nodes) == 35
    assert found.is_proven
    assert found.costs["deference"] == 0
    assert all(arrow in found[0].arrows for arrow in ("u64 -> f*", "i64 -> f*"))


def test_an_interrupt_leaves_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at the keyboard after every moment, however fast the solver is."""
    monkeypatch.setattr("typelattice.study.designer.clingo_solver.POLL_SECONDS", 0.0)
    calls = []

    def stop(seconds: float, least: tuple[int, ...], best: tuple[int, ...] | None) -> None:
        calls.append(best)
        if best:
            raise KeyboardInterrupt

    found = design(partial(LOOSE), *HARD, progress=stop)
    assert calls[-1]
    assert not found.is_proven
    assert len(found) == 1
    assert not split(found[0].system.order)


def test_time_that_is_up_leaves_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that stands still until there is one."""
    monkeypatch.setattr("typelattice.study.designer.clingo_solver.POLL_SECONDS", 0.0)
    now = [0.0]
    monkeypatch.setattr("typelattice.study.designer.clingo_solver.monotonic", lambda: now[0])

    def pass_time(seconds: float, least: tuple[int, ...], best: tuple[int, ...] | None) -> None:
        now[0] = 2.0 if best else 0.0

    found = design(partial(LOOSE), *HARD, seconds=1.0, progress=pass_time)
    assert now == [2.0]
    assert not found.is_proven
    assert len(found) == 1
    assert not split(found[0].system.order)


def test_no_time_at_all_leaves_what_there_is_or_says_to_give_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether there is one at the first look depends on the machine."""
    monkeypatch.setattr("typelattice.study.designer.clingo_solver.POLL_SECONDS", 0.0)
    try:
        found = design(partial(LOOSE), *HARD, seconds=0.0)
    except TimeoutError as e:
        assert "give it more" in str(e)
    else:
        assert not found.is_proven


def test_a_missing_solver_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "clingo", None)
    with pytest.raises(MissingSolverError, match="pip install"):
        solve((), (), 1)
    assert main(["design", "jep9407-0"]) == 2
    said = "typelattice: the designer needs the solver clingo: pip install clingo\n"
    assert capsys.readouterr().err == said
