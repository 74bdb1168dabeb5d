"""The fit of a Python scalar's value in the dtype it adopts: it fits, or the system's policy decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.decisions import BeyondScalarLimits, RefusalError
from typelattice.core.engine.join_one_tier import dtype_or_default
from typelattice.core.engine.rules import Rules
from typelattice.core.losses.range_and_overflow import (
    PythonNumber,
    is_in_range,
    nearest_in_dtype,
    overflow_result,
)
from typelattice.core.operands.operand import Operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.core.engine.operation_rules import OperationRules

LEAST_DTYPE_OUTCOME = "least dtype"
FIT_OUTCOMES = ("raise", "wrap", "inf", "saturate", "widen", "exact", LEAST_DTYPE_OUTCOME)
WRAP_NEGATIVES_OUTCOME = "wrap negatives"  # a C compiler also reads -1 as an unsigned number
FIT_OUTCOMES_OF_DTYPE = (
    "raise",
    "wrap",
    "inf",
    "saturate",
    "exact",
    WRAP_NEGATIVES_OUTCOME,
)  # outcomes for a single dtype
# integers that Python's own float cannot hold: they round to 2**1024
LEAST_INT_BEYOND_FLOATS = 2**1024 - 2**970
# Three conditions that may follow an outcome. RAISE_BEYOND_DEFAULT: raise first if even the default dtype
# cannot hold the value. RAISE_IF_DEFAULT_TAKEN: the same, but only if all other operands are of a lower kind.
# RAISE_IF_INEXACT: raise if the float dtype cannot hold every integer up to the value, or if an integer dtype
# would cut off a fraction.
RAISE_BEYOND_DEFAULT, RAISE_IF_DEFAULT_TAKEN, RAISE_IF_INEXACT = FIT_CONDITIONS = (
    "raise beyond default dtype", "raise beyond default dtype beside bools", "raise if inexact",
)  # fmt: skip
BITS_OF_FEW_INTEGERS = 8  # a float with so few bits holds the integers up to 32 or fewer


@frozen()
class ValueFit:
    """The fit of a Python scalar's value in the dtype it is cast to, and the policy if it does not fit.

    `outcome` is `fits`, one of FIT_OUTCOMES, or `unsaid` if the system has no rule. `becomes` is the value
    after wrapping, overflow or saturation, or None if it does not change.
    """

    kind: Kind
    value: PythonNumber
    target: DType
    outcome: str
    becomes: PythonNumber | None

    @property
    def misfit(self) -> str:
        """Why the value does not fit, such as `is out of range for int8`."""
        if not is_in_range(self.value, self.target):
            return f"is out of range for {self.target}"
        if isinstance(self.value, int):
            return f"lies beyond the range in which {self.target} holds every integer"
        return f"has a fraction, which {self.target} cannot hold"


def check_scalar_limits(limits: Mapping[DType | Kind, Sequence[DType]], operands: Iterable[Operand]) -> None:
    """Raise RefusalError for a Python scalar beyond the limits of the system, with any other operand."""
    for o in operands:
        allowed_dtypes = limits.get(o.kind) if o.tier == "scalar" else None
        if (
            allowed_dtypes
            and o.value is not None
            and not any(is_in_range(o.value, d) for d in allowed_dtypes)
        ):
            decision = BeyondScalarLimits(tuple(allowed_dtypes), None, o.kind.python_name)
            allowed_text = " or ".join(map(str, allowed_dtypes))
            reason = f"a Python {o.kind.python_name} has to lie within {allowed_text}, and {o.value} does not"
            raise RefusalError(reason, "use a value within it", decision)


def fit_values(
    rules: Rules, operands: Sequence[Operand], target: DType, operation_rules: OperationRules | None
) -> Iterator[ValueFit]:
    """Yield the fit in the dtype `target` of each Python scalar of known value.

    `operation_rules` is the operation, if the question names one. It may have its own policy.
    """
    # If another dtype stands in for the scalar (`stand-in`), the scalar's default dtype must hold the value.
    has_stand_in = (
        operation_rules is not None
        and bool(operation_rules.loops)
        and any(o.dtype in rules.stand_in_beside for o in operands)
    )
    own_policy = (
        operation_rules.fit
        if operation_rules is not None and not (has_stand_in and not operation_rules.fit)
        else None
    )
    policy = rules.fit if own_policy is None else own_policy
    first_counts_as_array = rules.first_is_array and all(o.tier == "scalar" for o in operands)
    limit_dtypes = (
        rules.limits if operation_rules is None or operation_rules.limits is None else operation_rules.limits
    ).get(target, ())
    for i, o in enumerate(operands):
        if o.weak and o.tier == "scalar" and o.value is not None:
            # A first scalar that counts as an array must fit its default dtype before it meets others.
            must_fit_default = (has_stand_in and target in rules.stand_in_beside) or (
                first_counts_as_array and i == 0
            )
            must_fit_default = must_fit_default or _has_to_fit_default(policy, i, operands)
            default_dtype = dtype_or_default(rules, o, len(operands) == 1) if must_fit_default else None
            bounds = [[default_dtype] if default_dtype else [], limit_dtypes if o.kind is Kind.SIGNED else []]
            yield _fit_within_bounds(o.kind, o.value, target, policy, bounds)


def _has_to_fit_default(policy: Mapping[str, str], position: int, operands: Sequence[Operand]) -> bool:
    """Return True if the default dtype of a scalar, the operand at a position, must hold its value."""
    kind = operands[position].kind
    if _has_condition(policy, kind, RAISE_BEYOND_DEFAULT):
        return True
    others = (*operands[:position], *operands[position + 1 :])
    return _has_condition(policy, kind, RAISE_IF_DEFAULT_TAKEN) and all(
        o.kind.category < kind.category for o in others
    )


def _fit_within_bounds(
    kind: Kind,
    value: PythonNumber,
    target: DType,
    policy: Mapping[str, str],
    bounds: Sequence[Sequence[DType]],
) -> ValueFit:
    """Return the fit of a value. A value is refused unless each of `bounds` has a dtype that holds it."""
    for dtypes in bounds:
        if dtypes and not any(is_in_range(value, d) for d in dtypes):
            return ValueFit(kind, value, dtypes[-1], "raise", None)
    if _has_condition(policy, kind, RAISE_IF_INEXACT) and not _holds_integers_up_to(target, value):
        return ValueFit(kind, value, target, "raise", None)
    return _fit_value(kind, value, target, policy)


def _has_condition(policy: Mapping[str, str], kind: Kind, condition: str) -> bool:
    """Return True if the policy for a kind has a condition."""
    return condition in policy.get(kind.python_name, "").split(", ")[1:]


def _holds_integers_up_to(target: DType, value: PythonNumber) -> bool:
    """Return True if a float dtype counts integers one by one up to a value.

    A float counts in an integer dtype if it has no fraction. Return True for all other pairs. A float of 8
    bits or less counts hardly any integers, so it only has to have the value within its range.
    """
    if isinstance(value, float) and target.kind.category < Kind.FLOAT.category:
        return value.is_integer()
    if target.kind is not Kind.FLOAT or not isinstance(value, int):
        return True
    if target.precision is None or (target.bits or 0) <= BITS_OF_FEW_INTEGERS:
        return is_in_range(value, target)
    limit: int = 2**target.precision
    return abs(value) <= limit


def _fit_value(kind: Kind, value: PythonNumber, target: DType, policy: Mapping[str, str]) -> ValueFit:
    """Return the fit of one value. The policy of the higher kind decides: an int beside floats is a float."""
    if is_in_range(value, target):
        return ValueFit(kind, value, target, "fits", None)
    if isinstance(value, int) and target.precision is not None and abs(value) >= LEAST_INT_BEYOND_FLOATS:
        # Python itself cannot convert it to a float, whatever the library would do.
        return ValueFit(kind, value, target, "raise", None)
    deciding_kind = kind if target.kind.category <= kind.category else target.kind
    outcome = (policy.get(target.name) or policy.get(deciding_kind.python_name, "unsaid")).partition(", ")[0]
    if outcome == WRAP_NEGATIVES_OUTCOME:
        wraps = isinstance(value, int) and value < 0 and is_in_range(-value, target)
        outcome = "wrap" if wraps else "raise"
    if outcome == LEAST_DTYPE_OUTCOME:  # no dtype holds the value, so it did not join
        return ValueFit(kind, value, target, "unsaid", None)
    if outcome == "saturate":
        return ValueFit(kind, value, target, outcome, nearest_in_dtype(value, target))
    if outcome not in ("wrap", "inf"):
        return ValueFit(kind, value, target, outcome, None)
    becomes = overflow_result(value, target)
    # No value is left for it: an integer dtype has no infinity, and a real one no imaginary part.
    return ValueFit(kind, value, target, "raise" if becomes is None else outcome, becomes)
