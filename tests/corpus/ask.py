"""Ask an installed library, and the program of the same text, for the dtype of calls as people write them.

`python ask.py torch` reads calls from its standard input, a line each: a template and two dtypes, as JSON.
It answers each in a line: what the library gave, and what typelattice says. The names of a template:

    x, y      arrays of 4 elements; y may have another dtype
    a, b      matrices of 4 rows and 4 columns; b has the dtype of y
    c, m      bool arrays of 4 elements and of 4 rows and 4 columns
    i, im     int64 indices of 4 elements and of 4 rows and 4 columns; i32, im32 the same as int32
    r, t, q4  arrays of the shapes (2, 3, 4), (2, 3, 4, 4) and (2, 4, 4, 8); t4 has the shape (2, 4, 4, 3)
    k         kernels of the shape (5, 3, 3, 3); k4 has the shape (3, 3, 3, 5), km the shape (5, 2, 2, 3)
    g         float32 points of the shape (2, 4, 4, 2)
    key       a random key of JAX
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import typelattice as tl
from typelattice.conformance.recording.library import versions_of
from typelattice.core.registry.releases import installed_release

SHAPES = {
    "x": (4,), "y": (4,), "a": (4, 4), "b": (4, 4), "r": (2, 3, 4), "t": (2, 3, 4, 4), "q4": (2, 4, 4, 8),
    "t4": (2, 4, 4, 3), "k": (5, 3, 3, 3), "k4": (3, 3, 3, 5), "km": (5, 2, 2, 3),
}  # fmt: skip
UNREAD, REFUSED, OTHER, ABSENT = "unread", "refused", "other", "absent"  # answers that are no dtype


@dataclass(frozen=True)
class Asked:
    """A library: its system, the names that templates use, and how it makes an array of NumPy's."""

    system: str
    names: Mapping[str, Any]
    array: Callable[[Any, str], Any]
    finished: Callable[[Any, Mapping[str, Any]], Any] = lambda made, given: made
    traced: Callable[[Callable[..., Any], Mapping[str, Any]], Any] | None = None  # where computing takes long
    of_columns: str = ""  # the system of expressions that name columns


def _numpy() -> Asked:
    system = installed_release("numpy1" if np.__version__.startswith("1.") else "numpy", versions_of("numpy"))
    return Asked(system, {"np": np}, lambda x, dtype: x.astype(dtype))


def _torch() -> Asked:
    import torch

    torch.set_num_threads(1)
    names = {"torch": torch, "F": torch.nn.functional}
    system = installed_release("torch", versions_of("torch"))
    return Asked(system, names, lambda x, dtype: torch.asarray(x).to(getattr(torch, dtype)))


def _jax() -> Asked:
    import jax
    import jax.scipy.linalg
    import jax.scipy.special
    import jax.scipy.stats

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_traceback_filtering", "off")
    names = {"jax": jax, "jnp": jax.numpy, "lax": jax.lax, "key": jax.random.key(0)}
    system = installed_release("jax", versions_of("jax"))
    return Asked(system, names, lambda x, dtype: jax.numpy.asarray(x.astype(dtype)), traced=jax.eval_shape)


def _tensorflow() -> Asked:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    return Asked("tensorflow", {"tf": tf}, lambda x, dtype: tf.constant(x.astype(dtype)))


def _keras() -> Asked:
    os.environ["KERAS_BACKEND"] = "jax"
    import keras

    system = installed_release("keras-jax", versions_of("keras"))
    return Asked(system, {"keras": keras}, lambda x, dtype: keras.KerasTensor(x.shape, dtype=dtype))


def _dask() -> Asked:
    import dask.array as da

    return Asked("dask", {"da": da}, lambda x, dtype: da.from_array(x.astype(dtype)))


def _mlx() -> Asked:
    import mlx.core as mx
    import mlx.nn as nn

    def array(x: Any, dtype: str) -> Any:
        return mx.array(x.astype(np.float32)).astype(getattr(mx, {"bool": "bool_"}.get(dtype, dtype)))

    return Asked(installed_release("mlx", versions_of("mlx")), {"mx": mx, "nn": nn}, array)


def _polars() -> Asked:
    import polars as pl

    def finished(made: Any, given: Mapping[str, Any]) -> Any:
        if not isinstance(made, pl.Expr):
            return made
        table = pl.DataFrame([given["x"].alias("x"), given["y"].alias("y")])
        return table.select(made.alias("made"))["made"]

    system = installed_release("polars-series", versions_of("polars"))
    columns = installed_release("polars", versions_of("polars"))
    return Asked(
        system, {"pl": pl}, lambda x, dtype: pl.Series(x.astype(dtype)), finished, of_columns=columns
    )


def _tinygrad() -> Asked:
    from tinygrad import Device, Tensor, dtypes, helpers

    if hasattr(helpers, "DEV"):
        helpers.DEV.value = "PYTHON"  # needs no compiler
    else:
        Device.DEFAULT = "PYTHON"
    names = {"Tensor": Tensor, "dtypes": dtypes}
    system = installed_release("tinygrad", versions_of("tinygrad"))
    return Asked(system, names, lambda x, dtype: Tensor(x.astype(dtype)))


def _array_api() -> Asked:
    import array_api_strict as xp

    system = installed_release("array-api", versions_of("array-api-strict"))
    return Asked(system, {"xp": xp}, lambda x, dtype: xp.asarray(x.astype(dtype)))


LIBRARIES: Mapping[str, Callable[[], Asked]] = {
    "numpy": _numpy, "torch": _torch, "jax": _jax, "tensorflow": _tensorflow, "keras": _keras, "dask": _dask,
    "mlx": _mlx, "polars": _polars, "tinygrad": _tinygrad, "array-api": _array_api,
}  # fmt: skip


def content(name: str) -> Any:
    """The numbers of an operand: small ones, no zero in what others are divided by, and matrices that have an
    inverse."""
    shape = SHAPES[name]
    if name in ("a", "b"):
        return np.eye(4) * 2
    return np.arange(1, math.prod(shape) + 1).reshape(shape) % 4 + (name == "y")


def operands(asked: Asked, text: str, dtype: str, other: str) -> dict[str, Any]:
    """Make the operands that a template names, new ones for each call, as some calls write into them."""
    indices = np.arange(4) % 4, np.arange(16).reshape(4, 4) % 4
    masks = indices[0] % 2 == 0, indices[1] % 2 == 0
    rest = {
        "c": (masks[0], "bool"), "m": (masks[1], "bool"), "i": (indices[0], "int64"),
        "im": (indices[1], "int64"), "i32": (indices[0], "int32"), "im32": (indices[1], "int32"),
        "g": (np.zeros((2, 4, 4, 2)), "float32"),
    }  # fmt: skip
    words = names_in(text) | ({"x", "y"} if has_columns(text) else set())
    given = {
        name: asked.array(content(name), other if name in ("y", "b") else dtype)
        for name in SHAPES
        if name in words
    }
    return given | {name: asked.array(*of) for name, of in rest.items() if name in words}


def names_in(text: str) -> set[str]:
    """The names that a text reads."""
    import ast

    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def is_column(name: str, text: str) -> bool:
    """Return True if a function of Polars names a column in a text: `pl.col("x")`, `pl.sum("x")`."""
    return re.search(rf'pl\.\w+\([^)]*"{name}"', text) is not None


def has_columns(text: str) -> bool:
    """Return True if a text names columns of a table, `pl.col("x")`, and not arrays."""
    return text.startswith(("pl.", "(pl."))


def said_by_library(asked: Asked, text: str, given: Mapping[str, Any]) -> str:
    """The dtype that the library gives, REFUSED, OTHER for a result without a dtype, ABSENT for no function.

    Where computing takes long the call is traced; linear algebra is computed, as it refuses dtypes late.
    """
    *lines, last = [part.strip() for part in text.split("; ")]
    found: list[str] = []

    def made(arrays: Mapping[str, Any]) -> None:
        names = {**asked.names, "np": np, "math": math, **arrays}
        for line in lines:
            exec(line, names)
        result = asked.finished(eval(last, names), arrays)
        try:
            found.append(described(tl.operand(result)))
        except Exception:
            found.append(OTHER)

    if asked.traced and "linalg" not in text:
        try:
            asked.traced(made, given)
            return found[-1]
        except Exception as error:
            if not any(word in type(error).__name__ for word in ("Tracer", "Concret")):
                return REFUSED
    try:
        made(given)
    except AttributeError as error:
        return ABSENT if isinstance(error.obj, ModuleType) else REFUSED
    except Exception:
        return REFUSED
    return found[-1]


def said_by_us(asked: Asked, text: str, given: Mapping[str, Any]) -> tuple[str, str]:
    """The dtype that a program of the text gives, or UNREAD and the error; and a departure that is listed."""
    bound = {name: x for name, x in given.items() if name in names_in(text) or is_column(name, text)}
    if "key" in names_in(text):
        bound["key"] = np.zeros(2, np.uint32)
    try:
        program = tl.program(text, **bound)
    except tl.ProgramError as error:
        return UNREAD, str(error)
    replay = program.under(asked.of_columns if has_columns(text) else asked.system)
    departs = "departs" if replay.departures else ""
    refusals = replay.refusals
    if replay.result.operand is None:
        return REFUSED, departs or str(refusals[0][1].reason if refusals else "")
    given = replay.result.operand
    if has_columns(text) and given.tier == "scalar":  # a table makes a column of it
        return str(tl.system(asked.of_columns).explain(given).dtype), departs
    return described(given), departs


def described(o: Any) -> str:
    """The name of an operand's dtype, or the kind of a Python number."""
    return f"Python {o.kind.python_name}" if o.tier == "scalar" else str(o.dtype)


def main() -> None:
    """Answer each line of the standard input."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    asked = LIBRARIES[sys.argv[1]]()
    for line in sys.stdin:
        text, dtype, other = json.loads(line)
        try:
            given = operands(asked, text, dtype, other)
        except Exception:
            print(json.dumps((OTHER, OTHER, "")), file=answers, flush=True)
            continue
        try:
            ours, why = said_by_us(asked, text, given)
        except Exception as error:  # an error of ours that is no ProgramError
            ours, why = f"raises {type(error).__name__}", str(error)
        real = said_by_library(asked, text, given)
        print(json.dumps((real, ours, why)), file=answers, flush=True)


if __name__ == "__main__":
    main()
