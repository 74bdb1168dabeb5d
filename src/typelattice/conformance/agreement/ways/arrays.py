"""Arrays of a namespace, and the typed graph: both compute with the arrays of an installed library."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from typelattice.base.objects.frozen_classes import replace
from typelattice.conformance.agreement.way import (
    REFUSED,
    Answers,
    AskedProgram,
    missing_modules,
    no_answers,
    words_of,
)
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS, Domain
from typelattice.core.engine.promotion import PromotionError
from typelattice.core.engine.system import System
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.namespace import namespace
from typelattice.programs.program.program import Program

COMPUTING_LIBRARY = "numpy"
FIELDS_OF_RESULTS = ("gives", "accumulates", "weak_result", "overflow")  # of the rules of an operation
NEEDED_MODULES = (COMPUTING_LIBRARY, "ml_dtypes")


def prefix_of(asked: AskedProgram, count: int) -> Program:
    """Return the first steps of a program, all of them as results."""
    return Program(asked.program.steps[:count], tuple(range(count)), asked.program.source)


def arrays_of_ones(program: Program, make_ones: Callable[..., Any]) -> dict[str, Any]:
    """Make an array of ones for each input."""
    shapes = {step.text: step.shape or () for step in program.steps if step.text in program.inputs}
    dtypes = {name: str(given).partition(":")[0] for name, given in program.inputs.items()}
    return {name: make_ones(shapes[name], dtype=dtype) for name, dtype in dtypes.items()}


def run_quietly(
    asked: AskedProgram, run: Callable[[], object], found: list[str | None], places: Mapping[int, int]
) -> None:
    """Run a program, and write the dtype of each result at its place. Without a result, say why."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = run()
    except PromotionError as e:
        refused = next((i for i in places.values() if found[i] is None), len(found) - 1)
        found[refused] = f"{REFUSED} ({' '.join(str(e).split())[:120]})"
        return
    except Exception as e:  # a library has many classes of errors for values and for what it lacks
        asked.reason = f"{type(e).__name__}: {' '.join(str(e).split())[:160]}"
        return
    results = made if isinstance(made, tuple) else (made,)
    for place, x in zip(places.values(), results, strict=True):
        if hasattr(x, "dtype"):
            found[place] = words_of(getattr(x.dtype, "name", x.dtype), isinstance(x, Array) and x.weak)


class NamespaceArrays:
    """A namespace of the system, over the arrays of a library."""

    name = "namespace"

    @property
    def missing(self) -> str:
        return missing_modules(*NEEDED_MODULES)

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        xp = namespace(system, import_module(COMPUTING_LIBRARY))
        return [self._ask_program(xp, asked) for asked in programs]

    def _ask_program(self, xp: Any, asked: AskedProgram) -> Answers:
        found, whole = no_answers(asked), prefix_of(asked, asked.computable)
        places = {i: i for i in range(asked.computable)}
        run_quietly(asked, lambda: whole.run(xp, **arrays_of_ones(whole, xp.ones)), found, places)
        if not asked.reason and asked.computable == asked.reached and asked.ends_in_refusal:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[asked.reached] = self._ask_refused_step(xp, prefix_of(asked, asked.reached + 1))
        return found

    def _ask_refused_step(self, xp: Any, program: Program) -> str | None:
        try:
            program.run(xp, **arrays_of_ones(program, xp.ones))
        except PromotionError:
            return REFUSED
        except Exception:  # the namespace or the library refuses it, but for reasons of its own
            return None
        return "accepted"


class TypedGraph:
    """The typed graph, run by a library's own functions: all casts are written."""

    name = "graph"

    @property
    def missing(self) -> str:
        return missing_modules(*NEEDED_MODULES)

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        xp = namespace(_without_operand_rules(system), import_module(COMPUTING_LIBRARY))
        return [self._ask_program(system, xp, asked) for asked in programs]

    def _ask_program(self, system: System, xp: Any, asked: AskedProgram) -> Answers:
        found, whole = no_answers(asked), prefix_of(asked, asked.computable)
        try:
            graph = whole.explicit(system)
        except Exception as e:
            asked.reason = f"{type(e).__name__}: {' '.join(str(e).split())[:160]}"
            return found
        places = {i: i for i in whole.results}
        run_quietly(asked, lambda: graph.run(xp, **arrays_of_ones(whole, xp.ones)), found, places)
        return [
            None if each is None else strip_weak(each, word)
            for each, word in zip(found, asked.expected, strict=True)
        ]


def _without_operand_rules(system: System) -> System:
    """Return a system that takes all operands: the graph has cast them by the rules, which count once."""
    ops = {
        name: {field: value for field, value in said.items() if field.startswith(FIELDS_OF_RESULTS)}
        for name, said in system.ops.items()
    }
    kernels = Domain((*Kind,))
    every = {group: {**ops.get(group, {}), "kernels": kernels} for group in GROUP_BY_CLASS.values()}
    return replace(system, refusals={}, overrides={}, after={}, ops={**ops, **every})


def strip_weak(found: str, expected: str) -> str:
    """Return what was found, as weak as expected: a typed graph has no weak arrays."""
    return f"{found.removesuffix('*')}*" if expected == f"{found.removesuffix('*')}*" else found
