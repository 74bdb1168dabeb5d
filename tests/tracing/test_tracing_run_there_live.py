"""Functions traced under NumPy and replayed under another library's rules, and really run there.

The functions are random, and their lines are chosen without a look at any table of ours.
"""

from __future__ import annotations

import ast
import random
import warnings
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
import pytest

from typelattice.core.operands.read_objects import operand
from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder

pytestmark = pytest.mark.live

FUNCTIONS = [50, pytest.param(200, marks=pytest.mark.whole)]  # the first of the same
MOST_WRONG = 0.001
NO_DTYPES = ("immutable", "single memory location")  # refusals of writing, whatever the dtypes are
DTYPES = ("bool", "uint8", "int8", "int32", "int64", "float32", "float64")
LINES = (
    "{t} = {a} + {b}", "{t} = {a} * {b}", "{t} = {a} - {n}", "{t} = {n} * {a}", "{t} = {a} / {b}",
    "{t} = {a} / 2", "{t} = {a} // 3", "{t} = {a} > {b}", "{t} = {a} == {n}", "{t} = -{a}",
    "{t} = abs({a})", "{t} = xp.sqrt(xp.abs({a}))", "{t} = xp.exp({a})",
    "{t} = xp.where({a} > {b}, {a}, {b})", "{t} = xp.where({a} > 1, {a}, 0.5)", "{t} = {a}.sum()",
    "{t} = {a}.mean()", "{t} = {a}.max()", "{t} = xp.cumsum({a}.reshape(-1), 0)", "{t} = {a}[1:]",
    "{t} = {a}[0]", "{t} = {a}.argmax()", "{t} *= {n}", "{t} += {a}", "{t} /= 2",
    "{t} = xp.stack([{a}, {b}])", "{t} = xp.maximum({a}, {b})",
    "{t} = xp.asarray({a}, dtype=xp.float64)", "{t} = xp.asarray({a}, dtype=xp.float32)",
    "{t} = {a}.std()", "{t} = {a}[{a} > 0]", "{t} = {a} ** 2", "{t} = xp.zeros_like({a}) + {b}",
    "{t} = xp.sin({a})", "{t}, {u} = {a}.sum(), {b}.max()", "{t}, {u} = {a}, {b}",
    "{t}, {u} = {a} / 2, {a} * {n}", "{t}, {u} = xp.meshgrid({a}.reshape(-1), {a}.reshape(-1))",
    "{t} = {a}.min(); {u} = {a} - {t}", "h = {a} / 2; {t} = xp.asarray(h, dtype=xp.float64)",
    "h = {a} * 2; {t} = xp.asarray(h, dtype=xp.float32)", "{t} = xp.zeros(3); {t}[0] = {n}",
    "{t} = xp.zeros_like({a}); {t}[:] = {b}", "{t}[0] = {n}", "{t} = xp.ones(3) * {a}; {t}[1:] = 2",
    "{t}[{t} > 1] = 0", "{t}[0] += {n}", "{t} = {a} * 1; {t}[{t} > 0] *= 2", "{t} -= {a}", "{t} **= 2",
    "{t} //= 2", "{t} = {a}.sum(); {t} /= 2", "{t} = {a}.max(); {t} += {b}.max()",
    "{t} = {a}.mean(); {t} *= {n}", "{t} = {a}[0]; {t} += {n}", "{t} = {a}[{b} > 0]",
    "{t} = ({a} > 0) & ({b} > 1)", "{t} = ~({a} > 0)", "{t} = ({a} > 0).sum()", "{t} = ({a} > 0) * {b}",
    "{t} = {a}[xp.argsort({a})]", "{t} = xp.full((3,), {n})", "{t} = xp.arange(3) * {a}",
    "{t} = float({a}.sum()) * {b}", "{t} = len({a}) * {a}", "{t} = {a}.reshape(-1)[None]",
    "{t} = xp.linspace(0, 1, 3) + {a}", "{t} = ({a} - {a}.mean()) / ({a}.std() + 1)",
    "{t} = 0; {t} += {a}.sum()", "{t} = 0.0; {t} += {a}", "{t} = xp.clip({a}, 0, 2)",
    "{t} = xp.prod({a})",
)  # fmt: skip


def lines_that_run(pick: random.Random, values: dict[str, Any]) -> list[str]:
    """Random lines that NumPy runs on the values."""
    known: dict[str, Any] = {**values, "xp": np}
    found: list[str] = []
    for i in range(40):
        names = [name for name in known if name != "xp"]
        fresh = f"t{i}"
        template = pick.choice(LINES)
        target = pick.choice(names) if "=" in template.split()[1][:-1] else pick.choice([fresh, *names])
        a, b, n = pick.choice(names), pick.choice(names), pick.choice(["2", "-1", "0.5", "3.5"])
        line = template.format(t=target, u=f"u{i}", a=a, b=b, n=n)
        trial = {k: copy(v) if k != "xp" else v for k, v in known.items()}
        try:
            with np.errstate(all="ignore"):
                exec(line, {}, trial)
        except Exception:
            continue
        if np.size(trial[target]) == 0:
            continue
        known, found = trial, [*found, line]
        if len(found) == 8:
            break
    return found


def outcomes_here(lines: list[str], values: dict[str, Any], system: str) -> dict[int, str]:
    """The last result at each line of a run under NumPy, replayed under another system.

    A number that is written into elements is no step; a line that ends with that has none.
    """
    recorder = Recorder()
    code = ModuleCompiler(recorder).compile_module("lines", "lines.py", "\n".join(lines).encode())
    assert code is not None
    with np.errstate(all="ignore"):
        exec(code, {"__name__": "lines", "xp": np, **{k: v.copy() for k, v in values.items()}})
    run = recorder.build_run()
    replayed = zip(run.program.steps, run.under(system), strict=True)
    last = {s.location.line: (s.op, str(o).removesuffix("*")) for s, o in replayed if s.op and s.location}
    return {n: o for n, (op, o) in last.items() if op == "setitem" or not writes_elements(lines[n - 1])}


def last_target(line: str) -> Any:
    """The last target of a line's assignments."""
    last: Any = ast.parse(line).body[-1]
    return last.target if isinstance(last, ast.AugAssign) else last.targets[0]


def writes_elements(line: str) -> bool:
    """Tell whether a line's last assignment is one to elements."""
    return isinstance(last_target(line), ast.Subscript)


def last_name(line: str) -> str:
    """The name that a line binds last, or into whose elements it writes last."""
    to = last_target(line)
    while not isinstance(to, ast.Name):
        to = to.elts[-1] if isinstance(to, ast.Tuple) else to.value
    name: str = to.id
    return name


def outcomes_there(lines: list[str], values: dict[str, Any], xp: Any) -> Iterator[tuple[int, str]]:
    """The dtype of each line's result where the lines really run, up to the first that is refused."""
    scope = {"xp": xp, **{name: xp.asarray(value.copy()) for name, value in values.items()}}
    for number, line in enumerate(lines, 1):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(line, scope)
        except Exception as e:
            if not any(words in str(e) for words in NO_DTYPES):
                yield number, "refused"
            return
        yield number, str(operand(scope[last_name(line)]).dtype)


def xp_of(system: str) -> Any:
    """The library of a system, with 64 bits."""
    if system == "torch":
        return pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return pytest.importorskip("jax.numpy")


@pytest.mark.parametrize("functions", FUNCTIONS)
@pytest.mark.parametrize("system", ["torch", "jax"])
def test_a_replay_comes_out_as_the_library_does(system: str, functions: int) -> None:
    xp, pick = xp_of(system), random.Random(1)
    right, wrong = 0, []
    for _ in range(functions):
        values = {f"x{i}": np.arange(3).astype(pick.choice(DTYPES)) for i in range(3)}
        lines = lines_that_run(pick, values)
        here = outcomes_here(lines, values, system)
        for number, there in outcomes_there(lines, values, xp):
            own = here.get(number)
            if own is None:  # a line without an operation
                continue
            if own == "not reached":
                break
            right += own == there
            if own != there:
                given = {name: str(x.dtype) for name, x in values.items()}
                wrong.append(f"{lines[:number]} of {given}: {own} here, {there} there")
                break
    print(f"{system}: {right} right, {len(wrong)} wrong", *wrong, sep="\n")
    assert len(wrong) <= MOST_WRONG * (right + len(wrong)), "\n".join(wrong)
