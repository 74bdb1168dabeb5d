"""Arrays of a namespace, and the typed graph: both compute with the arrays of an installed library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from typelattice.conformance.agreement.parts import single_part
from typelattice.conformance.agreement.way import REFUSED, Answers, AskedProgram, words_of
from typelattice.conformance.agreement.ways.runs import Run, as_weak_as_expected, inputs_of
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS
from typelattice.core.engine.promotion import PromotionError
from typelattice.core.engine.system import System
from typelattice.programs.calls.steps import Call, Cast
from typelattice.programs.namespaces.namespace import namespace
from typelattice.programs.program.program import Program
from typelattice.programs.targets.graph_rules import graph_rules

COMPUTING_LIBRARY = "numpy"
VALUES = (None, "real")  # of operations whose results are values of the dtype that they compute in
INTEGER_KINDS = (Kind.UNSIGNED, Kind.SIGNED)
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
        self._xp = namespace(graph_rules(system), import_module(COMPUTING_LIBRARY))
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
        every_step = Program(graph.steps, tuple(range(len(graph.steps))), graph.source)
        try:
            values = _run(every_step, self._xp, given)
            own = {name: self._rules._context.wrap(x._data, x.dtype, x.weak) for name, x in given.items()}
            by_rules = _run(program, self._rules, own)
        except (IndexError, ValueError):  # NumPy refuses the drawn values: an index, a power of integers
            return words
        first_undefined = _first_undefined_step(graph, values)
        for i, (number, expected) in enumerate(zip(graph.results, by_rules, strict=True)):
            if number >= first_undefined:
                break
            if not _is_same(values[number], expected):
                words[i] += OTHER_VALUES
        return words


def _run(program: Program, xp: Any, given: dict[str, Any]) -> Sequence[Any]:
    made = program.run(xp, **given)
    return made if isinstance(made, tuple) else (made,)


def _is_same(x: Any, y: Any) -> bool:
    """Return True if two arrays have the same values, nan included."""
    numpy = import_module(COMPUTING_LIBRARY)
    a, b = (numpy.asarray(each.bare) for each in (x, y))
    return bool(a.shape == b.shape and ((a == b) | ((a != a) & (b != b))).all())


def _first_undefined_step(graph: Program, values: Sequence[Any]) -> int:
    """Return the first step whose values no rule defines, or the number of steps.

    It casts infinities, nan or floats out of range to integers, or an operation on integers gives floats by
    itself, or the other way round.
    """
    for i, step in enumerate(graph.steps):
        to = getattr(values[i], "dtype", None)
        if to is None:
            continue
        is_integer = to.kind in INTEGER_KINDS
        if isinstance(step, Cast) and is_integer and not _is_in_range(values[step.operand], to):
            return i
        if isinstance(step, Call) and STANDARD_RULES_BY_CLASS[step.operation.operation_class].gives in VALUES:
            given = [getattr(values[x], "dtype", to).kind in INTEGER_KINDS for x in step.operands]
            if (not is_integer) in given:
                return i
    return len(graph.steps)


def _is_in_range(x: Any, to: DType) -> bool:
    """Return True if a cast to integers keeps the whole part of each float. An integer may wrap."""
    if not hasattr(x, "dtype") or x.dtype.kind not in (Kind.FLOAT, Kind.COMPLEX):
        return True
    numpy = import_module(COMPUTING_LIBRARY)
    real = numpy.asarray(x.bare).real.astype(float)
    return bool((numpy.isfinite(real) & (numpy.trunc(real) >= to.min) & (numpy.trunc(real) <= to.max)).all())


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
