"""Every public function refuses nonsense with an error of ours, whatever an object raises when asked."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import typelattice as tl


class RaisingClass:
    @property
    def __class__(self) -> type:
        raise RuntimeError("class")


class RaisingHash:
    def __hash__(self) -> int:
        raise RuntimeError("hash")


class RaisingAttributes:
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


class WithoutHash:
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")


class RaisingRepr:
    def __repr__(self) -> str:
        raise RuntimeError("repr")


class RaisingDtype:
    @property
    def dtype(self) -> object:
        raise RuntimeError("dtype")


STRANGE = (RaisingClass, RaisingHash, RaisingAttributes, WithoutHash, RaisingRepr, RaisingDtype, object, list)
CALLS: dict[str, Callable[[Any], object]] = {
    "operand": tl.operand, "dtype": tl.dtype, "DType": tl.DType, "system": tl.system, "table": tl.table,
    "draw": tl.draw, "trace": tl.trace, "why": tl.why, "program": tl.program, "fix": tl.fix,
    "observed": tl.observed, "laws": tl.laws, "render": tl.render, "explain": lambda x: tl.explain(x, "int8"),
    "first of result_type": lambda x: tl.system("jax").result_type(x, "int8"),
    "second of result_type": lambda x: tl.system("numpy").result_type("int8", x),
    "operation": lambda x: tl.system("jax").explain("int8", op=x), "diff": lambda x: tl.diff("jax", x),
    "native": lambda x: tl.native("int8", x), "namespace": lambda x: tl.namespace("jax", x),
    "a bound operand": lambda x: tl.program("a + 1", a=x), "order": tl.Order.parse,
    "implicit_cast": lambda x: tl.implicit_cast("jax", x, 1),
    "implicit_cast_type": lambda x: tl.implicit_cast_type("jax", x, "int8"),
    "result of why": lambda x: tl.why(tl.trace(doubled, np.ones(2)), x),
}  # fmt: skip


def doubled(x: Any) -> Any:
    return x + x


@pytest.mark.parametrize("call", CALLS)
def test_strange_objects_are_refused_with_an_error_of_ours(call: str) -> None:
    for cls in STRANGE:
        with pytest.raises(tl.TypelatticeError) as refusal:
            CALLS[call](cls())
        assert len(str(refusal.value)) < 1_000 and str(refusal.value).isprintable()


@pytest.mark.parametrize(("call", "why"), [
    (lambda: tl.why(3), "an object of type int is no traced call; give what tl.trace(f, x) returns"),
    (lambda: tl.DType("flaot8"), "unknown dtype 'flaot8' (did you mean float64 or float32?)"),
    (lambda: tl.DType("int8"), "DType makes a dtype of all its facts; write typelattice.dtype('int8')"),
    (lambda: tl.system(RaisingClass()), "an object of RaisingClass raises RuntimeError; give a name such as"),
])  # fmt: skip
def test_the_refusal_says_what_to_give(call: Callable[[], object], why: str) -> None:
    with pytest.raises(tl.TypelatticeError) as refusal:
        call()
    assert str(refusal.value).startswith(why)


def test_a_copied_system_is_the_system() -> None:
    jax, changed = tl.system("jax"), tl.system("jax").replace(defaults={"float": "float32"})
    for system in (jax, changed, tl.system("numpy@2.4")):
        for same in (pickle.loads(pickle.dumps(system)), copy.deepcopy(system), copy.copy(system)):
            assert same is system and same.origin is system.origin
    assert jax != changed and jax != "jax" and len({jax, changed}) == 2
    assert pickle.loads(pickle.dumps(jax.origin)) is jax.origin
