"""Compares calls that people typed from a library's documentation with the library itself.

A template is an expression of an array `x` of three axes. It is computed by the library, for arrays of each
dtype, and read by the tables alone. Nothing here knows the tables.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import typelattice as tl
from typelattice.conformance.recording.load_library import load_library
from typelattice.core.registry.releases import installed_release
from typelattice.programs.calls.library_questions import FORBID_VARIABLE

SHAPE = (2, 2, 2)
ALIASES = {
    "numpy": {"np": "numpy"}, "torch": {"torch": "torch", "F": "torch.nn.functional", "nn": "torch.nn"},
    "jax": {"jax": "jax", "jnp": "jax.numpy", "lax": "jax.lax"}, "tensorflow": {"tf": "tensorflow"},
    "keras": {"keras": "keras", "ops": "keras.ops"}, "mlx": {"mx": "mlx.core", "nn": "mlx.nn"},
    "tinygrad": {"Tensor": "tinygrad:Tensor", "dtypes": "tinygrad:dtypes"}, "dask": {"da": "dask.array"},
    "polars": {"pl": "polars"}, "cupy": {"cp": "cupy"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the library and the tables say of a template for one dtype; `ours` is "unread" without a row."""

    template: str
    dtype: str
    theirs: str
    ours: str


def compare_templates(
    library_name: str, templates: Sequence[str], dtypes: Sequence[str], asks: bool = False
) -> Iterator[Comparison]:
    """Yield a comparison of each template for each dtype with which the library computes it or refuses it.

    A template that fails for every dtype is left out: it is mistyped. With `asks` the library may be asked.
    """
    os.environ[FORBID_VARIABLE] = "yes" if asks else "no"
    library: Any = load_library(library_name)
    system = tl.system(installed_release(library_name, library.versions))
    names: dict[str, Any] = {}
    for alias, module in ALIASES[library_name].items():
        module_name, _, attribute = module.partition(":")
        found = importlib.import_module(module_name)
        names[alias] = getattr(found, attribute) if attribute else found
    known = [d for d in dtypes if d in library.dtypes()]
    for template in templates:
        answers = {d: _compute(library, template, d, names) for d in known}
        if all(answer.startswith("!") for answer in answers.values()):
            continue
        for d, answer in answers.items():
            theirs = "refused" if answer.startswith("!") else answer
            yield Comparison(template, d, theirs, _read(template, d, system))


def _compute(library: Any, template: str, dtype: str, names: dict[str, Any]) -> str:
    """Compute a template with an array of a dtype. Return the answer, or `!` and an error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                x = library.make_of_shape(SHAPE, library.native_dtypes[dtype], 1)
            except tl.TypelatticeError:
                x = library.make(dtype)
            return str(library.read(eval(template, {**names, "x": x})))
    except BaseException as e:
        return f"!{type(e).__name__}"


def _read(template: str, dtype: str, system: tl.System) -> str:
    """Return what the tables say: a dtype, "refused", or "unread" and the reason."""
    try:
        p = tl.program(template, system, x=f"{dtype}[{','.join(map(str, SHAPE))}]")
        replay = p.under(system)
    except tl.TypelatticeError as e:
        return f"unread: {e}"
    outcome = replay[p.results[0]]
    if outcome.operand is None or replay.refusals:
        return "refused"
    if outcome.operand.tier == "scalar":
        return f"py:{outcome.operand.kind.python_name}"
    return f"{outcome.operand.dtype}{'*' if outcome.operand.weak else ''}"
