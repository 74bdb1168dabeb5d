"""Random functions behave under the tracer as they do without it."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from traced_modules import ended

from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder

NUMBERS = st.sampled_from(
    ["a", "b", "c", "1", "2.5", "True", "x[0]", "x[b]", "x[-1]", "d['k']", "f(a, *x, k=b)", "o.v"]
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """The body of a function: assignments of random expressions, in place and not."""

    def expression(depth: int) -> str:
        if depth == 0:
            return draw(NUMBERS)
        left, right = expression(depth - 1), expression(draw(st.integers(0, depth - 1)))
        forms = [
            "({} + {})", "({} * {})", "({} - {})", "({} / {})", "({} // {})", "({} % {})", "({} < {})",
            "({} == {})", "f({}, {})", "f({}, k={})", "(-{} if {} else 1)", "[{} for q in x if q < {}][0]",
            "(lambda q: q + {})({})", "f(*[{}], **{{'k': {}}})", "g({}).T + {}", "({} and {})",
            "(w := {}) + {}",
            "str({}) + str({})", "np.add({}, {})", "sum([{}, {}])", "max(({}, {}), key=str)",
        ]  # fmt: skip
        return draw(st.sampled_from(forms)).format(left, right)

    targets = [
        "a = ",
        "b += ",
        "x[0] = ",
        "x[0] += ",
        "o.v -= ",
        "d['k'] *= ",
        "c, e = 1, ",
        "x[:1] = x[1:2]; a = ",
    ]
    made = [
        draw(st.sampled_from(targets)) + expression(draw(st.integers(0, 3)))
        for _ in range(draw(st.integers(1, 6)))
    ]
    return "\n".join(f"    {line}" for line in made)


TEMPLATE = """
import numpy as np
class O:
    v = 3
    T = 2
def f(*a, k=0):
    return a[0] + len(a) + k
def g(x):
    return O()
def run(a, b):
    c, x, d, o = np.float32(2), [1, 2.0, a], {{"k": a}}, O()
{}
    return a, b, c, x, d, o.v, sorted(locals())
"""


@settings(max_examples=150)
@given(lines(), st.sampled_from([1, 0, -2.5, np.float64(2), np.ones(3, np.float32), np.arange(3)]))
def test_random_functions_behave_as_they_did(body: str, a: Any) -> None:
    text = TEMPLATE.format(body)
    outcomes = []
    recorder = Recorder()
    for rewritten in (False, True):
        scope: dict[str, Any] = {"__name__": "random_function"}
        compiled = (
            ModuleCompiler(recorder).compile_module("random_function", "random.py", text.encode())
            if rewritten
            else None
        )
        exec(compiled or compile(text, "random.py", "exec"), scope)
        with np.errstate(all="ignore"):
            outcomes.append(ended(scope["run"], copy(a), 1))
    assert outcomes[0] == outcomes[1]
    if "Error" not in outcomes[0]:
        assert not recorder.build_run().mismatches
