"""Which step made an array is known as long as the array lives; what repeats is counted."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from traced_modules import followed, texts

from typelattice.programs.calls.steps import Input
from typelattice.tracing.run_data.producing_steps import MAX_STEPS_PER_OPERATION, ArrayLinks, StepNumber
from typelattice.tracing.run_data.run import Run


def looped(folder: Path, *lines: str) -> Run:
    """The run of a loop of a thousand passes over an array `x` of float32."""
    text = """
        import numpy as np

        def run():
            x = np.ones(4, np.float32)
            for _ in range(1000):
    """
    return followed(folder, text.rstrip() + "".join(f"\n{16 * ' '}{line}" for line in lines))[1]


def test_what_is_repeated_is_counted(package: Path) -> None:
    run = looped(package, "y = x + 1", "z = y * y")
    assert texts(run)["y * y"] == ("multiply", "float32", 1000)
    assert len(run.program.steps) < 10
    assert not run.summaries


def test_a_chain_without_end_is_summarised_and_the_run_says_so(package: Path) -> None:
    run = looped(package, "x = x + 1")
    added = [seen.count for step, seen in run if step.op == "add"]
    assert sum(added) == 1000 and len(added) <= MAX_STEPS_PER_OPERATION + 1
    assert run.summaries and "are counted with an earlier run of the same line" in run.summaries[0]


def test_numpys_scalars_are_linked_though_they_take_no_weak_reference(package: Path) -> None:
    text = """
        import numpy as np

        def run():
            s = np.ones(3, np.float32).sum()
            return s * s
    """
    _, run = followed(package, text)
    *_, step = run.program.steps
    assert [run.program.steps[i].text for i in step.inputs] == ["np.ones(3, np.float32).sum()"] * len(
        step.inputs
    )


def test_a_scalar_that_a_function_hands_through_is_the_step_that_made_it(package: Path) -> None:
    text = """
        import numpy as np

        def total(x):
            return np.sum(x)

        class Half:
            def of(self, s):
                return s

        def run():
            return Half().of(total(np.ones(3, np.float32))) / 2
    """
    _, run = followed(package, text)
    assert [step.op for step in run.program.steps if step.op] == ["ones", "sum", "divide"]
    assert run.opaque == 0


def test_steps_and_what_was_seen_of_them_stay_together_where_a_call_is_no_operation(package: Path) -> None:
    text = """
        import numpy as np

        def run(x, y, z, many):
            both = [np.float32(1), [x, y]]
            np.piecewise(*(z, [z > 0], [1.0, lambda q: q]))
            np.lexsort(*[(x, y)])
            np.einsum("i,i", *[x, y], order="K")
            np.clip(3.0, *[x, z])
            np.block([x + 0 for _ in range(20)] + many)
            return np.block([[2.0, x], [1, y]]), np.select([z > 0, x > 0], (x, 2.5), default=y), both
    """
    arrays = "np.ones(3, np.int8), np.ones(3, np.float32), np.ones(3)"
    many = "[np.ones(3, np.int16) for _ in range(20)]"
    _, run = followed(package, text, f"run({arrays}, {many})")
    assert len(run.observations) == len(run.program.steps)
    for step, seen in run:
        if isinstance(step, Input) and seen.count:
            assert step.fixed_result == seen.operand
    assert not run.mismatches


def test_links_are_let_go_where_too_many_arrays_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typelattice.tracing.run_data.producing_steps.MAX_LINKS", 10)
    links = ArrayLinks()
    arrays = [np.ones(1) for _ in range(12)]
    for x in arrays:
        links.link_array(x, StepNumber(0), True)
    links.forget_deleted()
    assert len(links.by_weak_reference) == 7 and links.forgotten == 5
    assert id(arrays[-1]) in links.by_weak_reference


def test_an_array_that_is_given_other_contents_is_the_step_of_those(package: Path) -> None:
    text = """
        import numpy as np

        class Held(np.ndarray):
            @property
            def values(self):
                return None
            @values.setter
            def values(self, x):
                self.now = x

        def run():
            x = np.ones(3, np.float32).view(Held)
            wide = np.linspace(0, 1, 3)
            x.values = wide
            return x * 2
    """
    _, run = followed(package, text)
    steps = run.program.steps
    assert [steps[i].text for i in steps[-1].inputs][:1] == ["np.linspace(0, 1, 3)"]
