"""The dtypes that a program is meant to have: of parameters, computation, outputs and state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DType, dtype
from typelattice.tracing.run_data.float_widths import dtype_width

KEEP = "keep"
DTYPE_KEYS = ("params", "compute", "output", "state")


class PolicyError(TypelatticeError, ValueError):
    """A policy that cannot be read."""

    __module__ = "typelattice"


@dataclass(frozen=True, slots=True)
class Policy:
    """The dtypes that are meant. None means that any dtype is.

    `keep` has patterns of names of parameters and buffers that stay float32, whatever `params` says.
    """

    params: DType | None = None
    compute: DType | None = None
    output: DType | None = None
    state: DType | None = None
    keep: tuple[str, ...] = ()

    def keeps(self, name: str) -> bool:
        """Return True if a parameter or a buffer has to stay float32."""
        return any(fnmatchcase(name, pattern) for pattern in self.keep)

    def __str__(self) -> str:
        parts = [f"{key}={x}" for key in DTYPE_KEYS if (x := getattr(self, key))]
        return ",".join([*parts, *(f"{KEEP}={pattern}" for pattern in self.keep)])


def read_policy(text: str, goal: str | None = None) -> Policy:
    """Read a policy, such as `params=float32,compute=bfloat16`. A goal is the dtype to compute in.

    Raises PolicyError if a key is unknown or occurs twice, or if a dtype is no float.

    >>> str(read_policy("params=float32,compute=bfloat16,keep=*.norm.*"))
    'params=float32,compute=bfloat16,keep=*.norm.*'
    >>> str(read_policy("", "bfloat16"))
    'compute=bfloat16'
    """
    policy = Policy(compute=read_float(goal)) if goal else Policy()
    for part in filter(None, (each.strip() for each in text.split(","))):
        key, equals, value = part.partition("=")
        known = [*DTYPE_KEYS, KEEP]
        if key not in known or not equals or not value:
            hint = spelling_hint(key, known)
            raise PolicyError(
                f"{quote_short(part)} is no part of a policy{hint}; write KEY=DTYPE with "
                f"{', '.join(DTYPE_KEYS)}, or {KEEP}=PATTERN"
            )
        if key == KEEP:
            policy = replace(policy, keep=(*policy.keep, value))
            continue
        if getattr(policy, key) is not None:
            raise PolicyError(f"the policy says {key} twice; leave one out")
        policy = _with_dtype(policy, key, read_float(value))
    return policy


def _with_dtype(policy: Policy, key: str, found: DType) -> Policy:
    """Return a policy with another dtype for a key."""
    dtypes = {name: getattr(policy, name) for name in DTYPE_KEYS} | {key: found}
    return Policy(dtypes["params"], dtypes["compute"], dtypes["output"], dtypes["state"], policy.keep)


def read_float(name: str) -> DType:
    """Read a float dtype. Raises PolicyError."""
    try:
        found = dtype(name.strip())
    except TypelatticeError as e:
        raise PolicyError(f"a policy names float dtypes: {e}") from None
    if dtype_width(found) is None:
        raise PolicyError(f"a policy names float dtypes, and {found} is none; give one such as bfloat16")
    return found
