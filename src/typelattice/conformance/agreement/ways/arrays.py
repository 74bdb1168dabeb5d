"""Arrays of a namespace, and the typed graph: both compute with the arrays of an installed library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from typelattice.base.objects.frozen_classes import replace
from typelattice.conformance.agreement.parts import single_part
from typelattice.conformance.agreement.way import REFUSED, Answers, AskedProgram, words_of
from typelattice.conformance.agreement.ways.runs import Run, as_weak_as_expected, inputs_of
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS, Domain
from typelattice.core.engine.promotion import PromotionError
from typelattice.core.engine.system import System
from typelattice.programs.namespaces.namespace import namespace
from typelattice.programs.program.program import Program

COMPUTING_LIBRARY = "numpy"
FIELDS_OF_RESULTS = ("gives", "joins_of_pairs", "accumulates", "weak_result", "overflow")  # of operations
UNSAID = "unsaid"  # a system need not say what becomes of a number out of range
OTHER_VALUES = " with other values than the namespace"
NEEDED_MODULES = (COMPUTING_LIBRARY, "ml_dtypes")


class NamespaceArrays(Run):
    """A namespace of the system, over the arrays of a library. Refused steps are asked, too."""

    name = "namespace"
    modules = NEEDED_MODULES

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        self._xp = namespace(system, import_module(COMPUTING_LIBRARY))
        answers = super().ask(system, programs)
        return [self._ask_refusals(asked, found) for asked, found in zip(programs, answers, strict=True)]

    def compute(self, system: System, program: Program) -> Sequence[str]:
        made = _run(program, self._xp, _arrays_of_ones(self._xp, program))
        return [words_of(x.dtype, x.weak) for x in made]

    def _ask_refusals(self, asked: AskedProgram, found: Answers) -> Answers:
        """Ask the steps that the rules refuse: the namespace must refuse them, too."""
        answers = [*found]
        for i in asked.asked_steps:
            if not asked.is_refused_by_rules(i) or asked.is_custom(i):
                continue
            part = single_part(asked, i)
            made = None if part is None else self._try(asked.system, part)
            if made is not None and not isinstance(made, Exception):
                answers[i] = "accepted"
            elif isinstance(made, PromotionError):
                answers[i] = REFUSED  # any other error is of the namespace or the library, for other reasons
        return answers


class TypedGraph(Run):
    """The typed graph, run by a library's own functions: all casts are written.

    Its values must be those of the namespace, too.
    """

    name = "graph"
    modules = NEEDED_MODULES

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        self._xp = namespace(_without_operand_rules(system), import_module(COMPUTING_LIBRARY))
        self._rules = namespace(system, import_module(COMPUTING_LIBRARY))
        return as_weak_as_expected(super().ask(system, programs), programs)

    def compute(self, system: System, program: Program) -> Sequence[str]:
        graph = program.explicit(system)
        found = _run(graph, self._xp, _arrays_of_ones(self._xp, graph))
        words = [words_of(x.dtype) for x in found]
        if self._rules._context.recipes.is_own_system:  # the library computes there, and may round elsewhere
            return words
        promotions = [o.promotion for o in program.under(system) if o.promotion is not None]
        if any(fit.outcome == UNSAID for p in promotions for fit in p.fits):
            return words
        given = _drawn_arrays(self._xp, graph)
        try:
            values = _run(graph, self._xp, given)
            own = {name: self._rules._context.wrap(x._data, x.dtype, x.weak) for name, x in given.items()}
            by_rules = _run(program, self._rules, own)
        except (IndexError, ValueError):  # NumPy refuses the drawn values: an index, a power of integers
            return words
        for i, (x, expected) in enumerate(zip(values, by_rules, strict=True)):
            if not _is_same(x, expected):
                words[i] += OTHER_VALUES
            if not _is_finite(expected):  # a later cast of it to an integer has no defined value
                break
        return words


def _run(program: Program, xp: Any, given: dict[str, Any]) -> Sequence[Any]:
    made = program.run(xp, **given)
    return made if isinstance(made, tuple) else (made,)


def _is_same(x: Any, y: Any) -> bool:
    """Return True if two arrays have the same values, nan included."""
    numpy = import_module(COMPUTING_LIBRARY)
    a, b = (numpy.asarray(each.bare) for each in (x, y))
    return bool(a.shape == b.shape and ((a == b) | ((a != a) & (b != b))).all())


def _is_finite(x: Any) -> bool:
    """Return True if an array has neither infinities nor nan."""
    numpy = import_module(COMPUTING_LIBRARY)
    return bool(numpy.isfinite(numpy.asarray(x.bare)).all())


def _arrays_of_ones(xp: Any, program: Program) -> dict[str, Any]:
    """Make an array of ones for each input, as weak as it is."""
    return _make_inputs(xp, program, lambda shape, dtype: xp.ones(shape, dtype=dtype))


def _drawn_arrays(xp: Any, program: Program) -> dict[str, Any]:
    """Make an array for each input, of numbers that casts to other dtypes round, wrap or clamp."""
    numpy = import_module(COMPUTING_LIBRARY)
    dice = numpy.random.default_rng(9407)

    def draw(shape: tuple[int, ...], dtype: Any) -> Any:
        numbers = numpy.round(dice.normal(size=shape) * 10.0 ** dice.integers(0, 4, size=shape), 1)
        return xp.astype(xp.asarray(numbers), dtype)

    return _make_inputs(xp, program, draw)


def _make_inputs(xp: Any, program: Program, make: Callable[[tuple[int, ...], Any], Any]) -> dict[str, Any]:
    found = {}
    for x in inputs_of(program):
        o = xp.system.operand(x.fixed_result)
        shape = tuple(length or 0 for length in x.shape or ())
        made = make(shape, xp._context.read_dtype(str(o.dtype)))
        found[x.text] = xp._context.wrap(made._data, o.dtype, o.weak)
    return found


def _without_operand_rules(system: System) -> System:
    """Return a system that takes all operands: the graph has cast them by the rules, which count once.

    A pair that joins at a dtype of its own keeps it, since no other rule counts for its result.
    """
    ops = {
        name: {field: value for field, value in said.items() if field.startswith(FIELDS_OF_RESULTS)}
        for name, said in system.ops.items()
    }
    kernels = Domain((*Kind,))
    every = {group: {**ops.get(group, {}), "kernels": kernels} for group in GROUP_BY_CLASS.values()}
    return replace(system, refusals={}, overrides={}, after={}, ops={**ops, **every})
