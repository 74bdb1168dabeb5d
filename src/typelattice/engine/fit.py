"""What becomes of a Python scalar's value in the dtype it adopts: it fits, or the system's policy says."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from typelattice.engine.joining import own_dtype
from typelattice.engine.operations import Op
from typelattice.engine.rules import Rules
from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.range import Value, fitted, nearest
from typelattice.operands.operand import Operand

JOIN = "join"
OUTCOMES = ("raise", "wrap", "inf", "saturate", "widen", "exact", JOIN)
BEYOND_FLOATS = 2**1024  # integers that Python's own float cannot hold
# Prefixes of an outcome. Raise first if even the default dtype of the value's kind cannot hold the value, or
# if a float dtype does not count integers one by one as far as the value, so that it might round it.
DEFAULT, COUNTED = "default", "counted"
PREFIXES = (DEFAULT, COUNTED)
BITS_OF_FEW_INTEGERS = 8  # of a float, which counts no further than 32


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether the dtype that a Python scalar is cast to holds its value, and what the system does if not.

    `outcome` is `fits`, one of OUTCOMES, or `unsaid` if the system says nothing. `becomes` is the value after
    wrapping or overflow, None where it stays what it is.
    """

    kind: Kind
    value: Value
    target: DType
    outcome: str
    becomes: Value | None


def fits(rules: Rules, operands: Sequence[Operand], to: DType, op: Op | None) -> Iterator[Fit]:
    """The fit of each Python scalar of known value in a dtype; `op` is the operation, if there is one."""
    # Beside some dtypes a scalar takes part as another (`stand-in`); its default dtype has to hold it then.
    stands = op is not None and bool(op.loops) and any(o.dtype in rules.beside for o in operands)
    own_policy = op.fit if op is not None and not (stands and not op.fit) else None
    policy = rules.fit if own_policy is None else own_policy
    first = rules.first and all(o.tier == "scalar" for o in operands)
    held = (rules.holds if op is None or op.holds is None else op.holds).get(to, ())
    for i, o in enumerate(operands):
        if o.weak and o.tier == "scalar" and o.value is not None:
            # A scalar that counts as an array, because it comes first, is made one by itself.
            alone = (stands and to in rules.beside) or (first and i == 0)
            own = own_dtype(rules, o) if alone or _asks(policy, o.kind, DEFAULT) else None
            bounds = [[own] if own else [], held if o.kind is Kind.SIGNED else []]
            beyond = next((b[-1] for b in bounds if b and not any(fitted(o.value, d)[0] for d in b)), None)
            if beyond is not None:
                yield Fit(o.kind, o.value, beyond, "raise", None)
            elif _asks(policy, o.kind, COUNTED) and not _counts(to, o.value):
                yield Fit(o.kind, o.value, to, "raise", None)
            else:
                yield _fit(o.kind, o.value, to, policy)


def _asks(policy: Mapping[str, str], kind: Kind, prefix: str) -> bool:
    """Whether the policy for a kind has a prefix."""
    return prefix in policy.get(kind.word, "").split()[:-1]


def _counts(to: DType, value: Value) -> bool:
    """Whether a float dtype counts integers one by one as far as a value; true of what is no float dtype.

    A float of 8 bits or less counts hardly any, so that it has to reach as far only.
    """
    if to.kind is not Kind.FLOAT or not isinstance(value, int):
        return True
    if to.precision is None or (to.bits or 0) <= BITS_OF_FEW_INTEGERS:
        return fitted(value, to)[0]
    limit: int = 2**to.precision
    return abs(value) <= limit


def _fit(kind: Kind, value: Value, to: DType, policy: Mapping[str, str]) -> Fit:
    """The fit of one value. The policy for the higher kind decides: an int beside floats is a float first."""
    held, becomes = fitted(value, to)
    if held:
        return Fit(kind, value, to, "fits", None)
    if isinstance(value, int) and to.precision is not None and abs(value) >= BEYOND_FLOATS:
        # Python itself cannot make a float of it, whatever the library would do with one.
        return Fit(kind, value, to, "raise", None)
    decides = kind if to.kind.rank <= kind.rank else to.kind
    outcome = policy.get(decides.word, "unsaid").split()[-1]
    if outcome == JOIN:  # and did not, as nothing holds it
        return Fit(kind, value, to, "unsaid", None)
    if outcome == "saturate":
        return Fit(kind, value, to, outcome, nearest(value, to))
    if outcome not in ("wrap", "inf"):
        return Fit(kind, value, to, outcome, None)
    # There is nothing that it could become: no infinity in an integer dtype, no imaginary part in a real one.
    return Fit(kind, value, to, "raise" if becomes is None else outcome, becomes)
