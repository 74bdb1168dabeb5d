"""The operations of functions that JAX compiled, in the log that a policy is compared with.

A jaxpr has no dtype promotion: JAX casts an operand, and the operation follows at the same place. Such a cast
is read as a part of the operation. Names come from `jax.named_scope`, which flax's modules use, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.run_data.operation_log import BACKWARD, FORWARD, OperationLog, Place, Tally, Tensor

CAST = "convert_element_type"
PRODUCTS = ("dot_general", "conv_general_dilated")
TRANSPOSED = "transpose("
SCOPE_PATTERN = re.compile(r"\w+\(|\)")
FIRST_PART = re.compile(r"^\w*(\[\d+\])*\.?")
MAX_EQUATIONS = 20_000
InnerJaxprs = Callable[[str, Mapping[str, Any], Sequence[Any]], Iterator[tuple[Any, Sequence[Any]]]]


@dataclass(slots=True, eq=False)
class _Value:
    """A value of a jaxpr: its type, the tally that made it, and the value that it is a cast of.

    `widens`: it decides the dtype of an operation with arrays. So does `jnp.float32(2)`, which has no
    dimensions, but no number of Python.
    """

    dtype: str
    has_dimensions: bool
    widens: bool
    bytes: int = 0
    made: Tally | None = None
    cast_of: _Value | None = None
    cast_at: SourceLocation | None = None


@dataclass(slots=True)
class JaxprLog:
    """Reads jaxprs into a log. `locate` finds the place of an equation, `inner` the jaxprs that it runs."""

    log: OperationLog
    locate: Callable[[Any], SourceLocation | None]
    inner: InnerJaxprs
    call: SourceLocation | None = None
    count: int = 0
    folded: list[Tally] = field(default_factory=list)  # casts that are parts of operations

    def read_call(self, closed: Any, call: SourceLocation | None) -> None:
        """Log the operations of a function for one set of argument types."""
        jaxpr, self.call = closed.jaxpr, call
        names = getattr(jaxpr.debug_info, "arg_names", None) or ()
        given = [self.add_input(v, str(name)) for v, name in zip(jaxpr.invars, names, strict=False)]
        given += [self.add_input(v, "") for v in jaxpr.invars[len(given) :]]
        results = self.read_jaxpr(jaxpr, given, ("",), [True] * len(jaxpr.outvars))
        paths = getattr(jaxpr.debug_info, "result_paths", None) or ("",) * len(results)
        states = {(_tail(x.made.operation), x.dtype) for x in given if x.made is not None}
        used = {made for tally in self.log.tallies for _, made in tally.producers}
        used |= {value.made for value in results if value.made is not None}
        for tally in self.folded:
            if tally not in used:
                tally.gives = ()  # else it would look like a wide result that nothing reads
        for value, path in zip(results, paths, strict=False):
            made = value.made
            tail = _tail(str(path))
            if made is not None and not made.is_input and not (tail and (tail, value.dtype) in states):
                made.unread_count += 1

    def add_input(self, variable: Any, name: str, location: SourceLocation | None = None) -> _Value:
        """Add an argument of the function or a constant, as data that comes in with its name."""
        value = self.value_of_aval(variable.aval)
        place = Place(location or self.call, None, "", FORWARD)
        tensor = Tensor(value.dtype, value.has_dimensions)
        value.made = Tally(-1, name, place, (), (tensor,), is_input=True)
        return value

    def value_of_aval(self, aval: Any) -> _Value:
        dtype = str(getattr(aval, "dtype", ""))
        shape = getattr(aval, "shape", ())
        size = getattr(aval, "size", 0) * getattr(getattr(aval, "dtype", None), "itemsize", 0)
        has_dimensions = len(shape) > 0
        widens = has_dimensions or not getattr(aval, "weak_type", False)
        return _Value(dtype, has_dimensions, widens, int(size))

    def read_jaxpr(
        self, closed: Any, given: Sequence[_Value], scopes: tuple[str, ...], needed: Sequence[bool]
    ) -> list[_Value]:
        """Log the equations of a jaxpr on some values. Return its results, of which some are `needed`."""
        jaxpr = getattr(closed, "jaxpr", closed)
        values: dict[Any, _Value] = dict(zip(jaxpr.invars, given, strict=False))
        for variable in (*jaxpr.invars[len(given) :], *jaxpr.constvars):
            values[variable] = self.add_input(variable, "a constant")
        forward = _find_forward(jaxpr, needed)
        for eqn in jaxpr.eqns:
            self.count += 1
            if self.count > MAX_EQUATIONS:
                self.log.note_not_seen("a jaxpr of too many equations")
                break
            takes = [self.value_of(v, values, eqn) for v in eqn.invars]
            wanted = [v in forward for v in eqn.outvars]
            values.update(zip(eqn.outvars, self.read_equation(eqn, takes, scopes, wanted), strict=False))
        return [self.value_of(v, values) for v in jaxpr.outvars]

    def value_of(self, variable: Any, values: Mapping[Any, _Value], eqn: Any = None) -> _Value:
        """Return the value of a variable, or of a number in the code, which comes in where it is used."""
        if not _is_variable(variable):
            return self.add_input(variable, "a constant", self.locate(eqn) if eqn is not None else None)
        found = values.get(variable)
        return self.value_of_aval(variable.aval) if found is None else found

    def read_equation(
        self, eqn: Any, takes: Sequence[_Value], scopes: tuple[str, ...], wanted: Sequence[bool]
    ) -> list[_Value]:
        """Log one equation, or the jaxprs that it runs. Return its results."""
        own = str(eqn.source_info.name_stack)
        inner = [*self.inner(eqn.primitive.name, eqn.params, takes)]
        if inner:
            made: list[_Value] = []
            for closed, given in inner:
                outputs = self.read_jaxpr(closed, given, (*scopes, own), wanted)
                made = made or outputs
            return [self.as_result(v, x) for v, x in zip(eqn.outvars, made, strict=False)]
        return self.add_operation(eqn, takes, (*scopes, own), any(wanted))

    def as_result(self, variable: Any, value: _Value) -> _Value:
        """Return an inner jaxpr's result as that of the equation, which may stack it."""
        found = self.value_of_aval(variable.aval)
        found.made = value.made
        return found

    def before_cast(self, value: _Value, location: SourceLocation | None) -> _Value:
        """Return the operand that JAX has cast for the operation at a location, or the value itself."""
        if value.cast_of is None or location is None or value.cast_at != location:
            return value
        if value.made is not None:
            self.folded.append(value.made)
        return value.cast_of

    def add_operation(
        self, eqn: Any, takes: Sequence[_Value], scopes: tuple[str, ...], is_forward: bool
    ) -> list[_Value]:
        """Add the tally of an equation. An operand that JAX has just cast for it is the one before."""
        location = self.locate(eqn)
        operands = [self.before_cast(x, location) for x in takes]
        whole = "/".join(filter(None, scopes))
        phase = FORWARD if is_forward and TRANSPOSED not in whole else BACKWARD
        place = Place(location or self.call, None, _plain_scope(whole), phase)
        gives = [self.value_of_aval(v.aval) for v in eqn.outvars]
        beside_array = any(x.has_dimensions for x in operands)
        name = eqn.primitive.name
        self.log.operation_count += 1
        tally = self.log.add_tally(
            (id(self), self.count, len(self.log.tallies)), name, place,
            [Tensor(x.dtype, x.widens if beside_array else x.has_dimensions) for x in operands],
            [Tensor(x.dtype, x.has_dimensions) for x in gives],
        )  # fmt: skip
        tally.is_cast, tally.is_contraction = name == CAST, name in PRODUCTS
        tally.requested = "new_dtype" in eqn.params or "dtype" in eqn.params
        tally.count, tally.bytes = tally.count + 1, tally.bytes + sum(x.bytes for x in gives)
        for i, x in enumerate(operands):
            if x.made is not None:
                tally.producers[i, x.made] = None
        for x in gives:
            x.made = tally
            if name == CAST and operands:
                x.cast_of, x.cast_at = operands[0], location
        return gives


def _find_forward(jaxpr: Any, needed: Sequence[bool]) -> set[Any]:
    """Find the variables that lead to a needed result by operations of the forward pass alone.

    Others are computed for the backward pass, even if its own operations come later.
    """
    found = {v for v, is_needed in zip(jaxpr.outvars, needed, strict=False) if is_needed and _is_variable(v)}
    for eqn in reversed(jaxpr.eqns):
        is_backward = TRANSPOSED in str(eqn.source_info.name_stack)
        if not is_backward and any(v in found for v in eqn.outvars):
            found.update(v for v in eqn.invars if _is_variable(v))
    return found


def _is_variable(x: Any) -> bool:
    return type(x).__name__ != "Literal"


def _plain_scope(scope: str) -> str:
    """Return the names of a scope without transformations: "jvp(mlp)/dense" is "mlp.dense"."""
    return ".".join(filter(None, SCOPE_PATTERN.sub("", scope).split("/")))


def _tail(path: str) -> str:
    """Return a path without its first part: "['w']" of "params['w']" and of "result[1]['w']"."""
    return FIRST_PART.sub("", path, count=1)
