"""The page of promises states the bounds and the errors that there are; the public functions keep to it."""
from __future__ import annotations

import pickle
import pkgutil
import re
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import one_in

import typelattice as tl
from typelattice.show.cli import main as command_line
from typelattice.show.cli.commands import check, fix

PAGE = (Path(__file__).parents[2] / "docs" / "promises.md").read_text(encoding="utf-8")


def test_the_bounds_are_those_of_the_code() -> None:
    stated = re.findall(r"(?m)^\| .* \| ([\d,]+) \| `([\w.]+)` \|$", PAGE)
    assert len(stated) > 15
    for bound, where in stated:
        module, _, name = where.rpartition(".")
        assert getattr(import_module(f"typelattice.{module}"), name) == int(bound.replace(",", "")), where


def test_the_exit_statuses_are_those_of_the_code() -> None:
    stated = [int(status) for status in re.findall(r"(?m)^\| (\d+) \| ", PAGE)]
    m = command_line
    unusable = {check.LOSSY_STATUS, fix.REFUSED_STATUS}
    assert stated == [m.EXIT_ANSWERED, m.EXIT_DIFFERENT, m.EXIT_NO_ANSWER, *unusable, m.EXIT_INTERRUPTED]


def errors(base: type) -> set[type]:
    return {base}.union(*(errors(cls) for cls in base.__subclasses__()))


def test_every_error_is_on_one_of_the_pages() -> None:
    for module in pkgutil.walk_packages(tl.__path__, "typelattice."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # of a framework that is not installed
                import_module(module.name)
    ours = {e.__name__ for e in errors(tl.TypelatticeError) if e.__module__.startswith("typelattice.")}
    public = {name for name in tl.__all__ if name.endswith("Error")}
    listed = set(re.findall(r"(?m)^\| `(\w+Error)` \| ", PAGE))
    assert listed == ours - public


def test_public_errors_are_named_as_users_import_them() -> None:
    for name in tl.__all__:
        found = getattr(tl, name)
        if isinstance(found, type) and issubclass(found, Exception):
            assert (found.__module__, found.__qualname__) == ("typelattice", name)
            assert pickle.loads(pickle.dumps(found)) is found


class Odd:
    """An object whose every answer is an error."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("no words")

    __str__ = __repr__


class Pretender:
    """An object that says it is an array, and is none."""

    dtype, ndim = None, 0

    def __array_namespace__(self, **_: object) -> None:
        return None


class Hostile:
    """An object that raises an error of its own whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class HostileClass(type):
    """The class of a class that raises an error of its own whatever it is asked."""

    def __getattr__(cls, name: str) -> Any:
        raise RuntimeError(name)


class Mock:
    __class__ = int  # type: ignore[assignment]


class Liar(np.ndarray):  # type: ignore[misc]
    """An array whose dtype is none."""

    dtype = property(lambda self: "nope")


class Half:
    """An array of the standard that lacks what such an array has."""

    def __array_namespace__(self) -> None:
        return None


ODD = [
    Hostile(), HostileClass("Strange", (), {}), HostileClass("Strange", (), {})(), Mock(), Half(),
    np.ones(2).view(Liar), np.ndarray, np.array(5, object),
    np.ma.masked, np.zeros(2, "f4, i4")[0], np.array("int8"), np.longdouble(1), np.dtype(("i4", (2, 2))),
    None, Odd(), Odd, Pretender(), Pretender, b"int8", bytearray(b"x"), [], ["int8"], ("int8",), {}, {"a": 1},
    set(), object(), print, len, range(3), slice(3), ..., NotImplemented, Exception(), tl, str, type,
    type(None), 10**5_000, -(10**5_000), float("nan"), float("-inf"), complex("nan"), True, -0.0, np.ones(3),
    np.float32(1), np.dtype("int8"), np.array(["a"]), np.datetime64("2020-01-01"), np.ma.array([1]),
    np.dtype([("a", "i4")]),
    np.str_("int8"), tl.system("jax"), tl.dtype("int8"), tl.operand("int8:weak"), tl.Kind.BOOL,
]  # fmt: skip
GOOD = [
    "int8", "float", "int8:0d=1", "bool", "uint64:weak", "float8_e4m3fn", "300", "numpy", "jax", "numpy1",
    "add", "+", "where", "array", "0d", "scalar", "all", "a -> b", "i8 -> i16", "x + y", "x", "text",
    "json", "bits",
]  # fmt: skip
BROKEN = [
    "", " ", "\0", "\ud800", "\x1b[31m", "a" * 100_000, "9" * 5_000, "(" * 5_000, "x" + "+1" * 3_000,
    "/dev/zero",
]  # fmt: skip
texts = st.one_of(st.sampled_from(GOOD), st.sampled_from(BROKEN), st.text(max_size=20))
operands = st.one_of(st.sampled_from(ODD), texts, st.integers(), st.floats(), st.complex_numbers())

xp = tl.namespace("jax", np)
jax, numpy1, order = tl.system("jax"), tl.system("numpy1"), tl.Order.parse("a -> b -> d; a -> c -> d")
small = tl.table("jax", dtypes=["int8", "uint8"])
ASKED: dict[str, Callable[[object, object, str, str], object]] = {  # two operands, two texts
    "operand": lambda a, b, t, u: str(tl.operand(a)),
    "dtype": lambda a, b, t, u: tl.dtype(t),
    "loss": lambda a, b, t, u: tl.loss(tl.dtype(t), tl.dtype(u)),
    "system": lambda a, b, t, u: tl.system(t),
    "System.operand": lambda a, b, t, u: jax.operand(a),
    "System.result_type": lambda a, b, t, u: jax.result_type(a, b),
    "System.explain": lambda a, b, t, u: str(jax.explain(a, b, op=t)),
    "System.explain, value-based": lambda a, b, t, u: str(numpy1.explain(a, b)),
    "System.promote": lambda a, b, t, u: repr(numpy1.promote(a, b, op=t)),
    "implicit_cast": lambda a, b, t, u: tl.implicit_cast("jax", a, b, np.ones(2)),
    "namespace, asarray": lambda a, b, t, u: xp.asarray(a) + xp.asarray(b),
    "namespace, a number": lambda a, b, t, u: xp.ones(2, dtype="int8") + a,  # type: ignore[operator]
    "System.replace": lambda a, b, t, u: jax.replace(order=t, defaults={u: t}),
    "table": lambda a, b, t, u: str(tl.table("c", op=t, tier=u, dtypes=[a, b])),  # type: ignore[arg-type]
    "Table": lambda a, b, t, u: small[t, u],
    "diff": lambda a, b, t, u: str(tl.diff("c", "jax", op=t, tier=u, dtypes=[a, b])),  # type: ignore[arg-type]
    "consensus": lambda a, b, t, u: str(tl.consensus("c", "python", op=t, dtypes=[a, b])),
    "laws": lambda a, b, t, u: str(tl.laws("c", t, [a, b])),  # type: ignore[arg-type]
    "criteria": lambda a, b, t, u: str(tl.criteria("c", t, [a, b])),  # type: ignore[arg-type]
    "program": lambda a, b, t, u: tl.program(t, x=a, y=b).under(jax),
    "Order.parse": lambda a, b, t, u: tl.Order.parse(t),
    "Order": lambda a, b, t, u: (order.join(t, u), order.bounds(t), order.minimal_bounds(u)),
    "render": lambda a, b, t, u: tl.render(small, t),
    "render, no grid": lambda a, b, t, u: tl.render(a, "json"),  # type: ignore[arg-type]
    "design": lambda a, b, t, u: tl.design("jep9407-0", rules=[t], costs=[u], seconds=0.1),
}


@pytest.mark.parametrize("name", one_in(3, [*ASKED]))
@settings(derandomize=True, max_examples=100)
@given(operands, operands, texts, texts)
def test_whatever_is_asked_ends_in_an_answer_or_one_error(
    name: str, a: object, b: object, t: str, u: str
) -> None:
    try:
        ASKED[name](a, b, t, u)
    except tl.TypelatticeError as e:
        assert 0 < len(str(e)) < 2_000
    except KeyError as e:
        assert name == "Table" and "no cell" in str(e)  # as mappings have it
