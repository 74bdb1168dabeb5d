"""Random programs: what each says is what a namespace, NumPy, and its explicit form give."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Collection
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import one_in

import typelattice as tl
from typelattice.conformance.agreement.random_programs import inputs, line

np = pytest.importorskip("numpy")
pytest.importorskip("array_api_compat")

STEPS = 18
SYSTEMS = ("numpy", "jax", "torch", "array-api", "tensorflow-all", "mlx")


def grown(
    dice: random.Random,
    name: str,
    among: Collection[str] | None = None,
    built: Callable[[tl.Program], object] = str,
    steps: int = STEPS,
) -> tuple[dict[str, str], list[str]]:
    """The lines of a program of which no step is refused; its inputs have dtypes `among` some, else any.

    A line is left out, too, if the program cannot be `built` with it.
    """
    system = tl.system(name)
    bound = inputs(dice, [d.name for d in system.dtypes] if among is None else [*among])
    known, kept = [*bound], list[str]()
    for i in range(steps):
        more = [*kept, line(dice, known, f"t{i}")]
        try:
            p = tl.program("\n".join(more), **_used(bound, more))
            if any(o.operand is None for o in p.under(system)):
                continue
            built(p)
        except tl.ProgramError:
            continue
        kept = more
        known.append(f"t{i}")
    return bound, kept


def _used(bound: dict[str, str], kept: list[str]) -> dict[str, str]:
    text = "\n".join(kept)
    names = {*"".join(c if c.isalnum() else " " for c in text).split()}
    return {name: x for name, x in bound.items() if name in names}


def whole(bound: dict[str, str], kept: list[str]) -> tl.Program | None:
    """The program, which gives the arrays of all its steps."""
    try:
        p = tl.program("\n".join(kept), **_used(bound, kept))
    except tl.ProgramError:
        return None  # a line that was left out had a name that is used
    return tl.Program(p.steps, tuple(range(len(p.steps))), p.source)


def listed(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def arrays(p: tl.Program, xp: Any) -> dict[str, Any]:
    """Ones for each input."""
    shapes = {step.text: step.shape or () for step in p.steps if step.text in p.inputs}
    return {
        name: xp.ones(shapes[name], dtype=str(given).partition(":")[0]) for name, given in p.inputs.items()
    }


def comparable(x: Any) -> Any:
    """An array as NumPy can compare it, which finds no common dtype for narrow complex numbers."""
    return x if x.dtype.kind in "biuf" else x.astype("complex128" if "complex" in str(x.dtype) else "float64")


@pytest.mark.parametrize("name", one_in(3, SYSTEMS))
@settings(derandomize=True, max_examples=8)
@given(st.integers(0, 2**32))
def test_a_program_says_what_a_namespace_gives(name: str, seed: int) -> None:
    bound, kept = grown(random.Random(seed), name)
    p = whole(bound, kept)
    if p is None:
        return
    xp = tl.namespace(name, np)
    said = p.under(name)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = listed(p.run(xp, **arrays(p, xp)))
        except tl.NamespaceError as lacking:  # a kernel that NumPy has not, a number that nothing is said of
            assert any(word in str(lacking) for word in ("cannot", "out of range", "has no")), str(lacking)
            return
        except ValueError as by_value:
            assert "negative integer powers" in str(by_value)
            return
    for step, outcome, x in zip(p.steps, said, made, strict=True):
        o = outcome.operand
        assert o is not None
        if o.tier == "scalar":
            assert not hasattr(x, "dtype"), step.text
        else:
            assert (str(x.dtype), x.weak) == (str(o.dtype), o.weak), (step.text, p.source, dict(bound))
            assert (x.ndim == 0) == (o.tier == "0d"), (step.text, p.source)


@settings(derandomize=True, max_examples=20)
@given(st.integers(0, 2**32))
def test_a_program_says_what_numpy_gives(seed: int) -> None:
    bound, kept = grown(random.Random(seed), "numpy")
    p = whole(bound, kept)
    if p is None:
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = listed(p.run(np, **arrays(p, np)))
        except ValueError as by_value:
            assert "negative integer powers" in str(by_value)
            return
    for step, outcome, x in zip(p.steps, p.under("numpy"), made, strict=True):
        if outcome.operand is not None and outcome.operand.tier != "scalar":
            assert str(x.dtype) == str(outcome.operand.dtype), (step.text, p.source, dict(bound))


@pytest.mark.parametrize("name", one_in(3, ["numpy", "jax", "torch"], 1))
@settings(derandomize=True, max_examples=8)
@given(st.integers(0, 2**32))
def test_the_explicit_program_has_the_same_dtypes_and_values(name: str, seed: int) -> None:
    bound, kept = grown(random.Random(seed), name)
    p = whole(bound, kept)
    if p is None:
        return
    try:
        explicit = p.explicit(name)
    except tl.ProgramError as refused:
        assert "out of range" in str(refused) or "compares with" in str(refused)
        return
    explicit.check()
    assert tl.Program.from_json(explicit.to_json()).steps == explicit.steps
    said, written = p.under(name), explicit.under("array-api")
    for i, j in zip(p.results, explicit.results, strict=True):
        before, after = said[i].operand, written[j].operand
        assert before is not None and after is not None
        assert before.dtype is after.dtype, (p.steps[i].text, p.source)
    xp = tl.namespace(name, np)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            values, again = listed(p.run(xp, **arrays(p, xp))), listed(explicit.run(xp, **arrays(p, xp)))
        except tl.NamespaceError:
            return
        except ValueError as by_value:
            assert "negative integer powers" in str(by_value)
            return
    for step, x, y in zip(p.steps, values, again, strict=True):
        if hasattr(x, "dtype"):
            given, expected = comparable(np.asarray(y.bare)), comparable(np.asarray(x.bare))
            np.testing.assert_allclose(given, expected, rtol=1e-2, err_msg=f"{step.text} in\n{p.source}")
