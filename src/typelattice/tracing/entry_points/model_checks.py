"""Checks for tests: a model keeps to a policy of dtypes, and an update keeps the dtypes of its state."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

from typelattice.base.errors.errors import TypelatticeError
from typelattice.tracing.models import jax as jax_file
from typelattice.tracing.models.departures import Departures, find_departures
from typelattice.tracing.models.watches import ModelWatches
from typelattice.tracing.record.user_code import UserCode, find_project_folder
from typelattice.tracing.report.departure_sentences import (
    CodeReader,
    departure_message,
    departures_heading,
    describe_source,
)
from typelattice.tracing.run_data.policy import Policy, PolicyError, read_float

Function = TypeVar("Function", bound=Callable[..., Any])


class DTypePolicyError(TypelatticeError, AssertionError):
    """A model, or the state of an update, that departs from the dtypes that are meant."""

    __module__ = "typelattice"


class DTypePolicy:
    """A policy for a model, which is checked in two ways.

    `check` looks at the parameters and buffers now, and a `with` block at all that runs in it.
    """

    def __init__(self, model: object, policy: Policy) -> None:
        folder = find_project_folder(os.getcwd())
        self.watches = ModelWatches(UserCode((), folder).owns_file)
        self.model, self.policy = model, policy
        self.watch = self.watches.open(model)
        if self.watch is None:
            raise PolicyError("dtype_policy takes a model of PyTorch; give a torch.nn.Module")

    def check(self) -> None:
        """Compare the parameters and buffers with the policy. Raises DTypePolicyError."""
        assert self.watch is not None
        self.watch.add_model(self.model)
        self._raise_departures(find_departures(self.watches.log, replace(self.policy, compute=None)))

    def __enter__(self) -> DTypePolicy:
        assert self.watch is not None
        self.watch.start()
        self.watch.add_model(self.model)
        return self

    def __exit__(
        self, cls: type[BaseException] | None, e: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self.watch is not None
        self.watch.stop()
        if e is not None:
            return  # the test has failed by itself
        log = self.watches.log
        if log.failure:
            raise DTypePolicyError(f"our log failed, so nothing was checked: {log.failure}; please report it")
        if not log.tallies:
            raise DTypePolicyError("nothing was checked: no operation of PyTorch ran in the block")
        self._raise_departures(find_departures(log, self.policy))

    def _raise_departures(self, found: Departures) -> None:
        if not found.departures:
            return
        code, lines = CodeReader({}), [departures_heading(found)]
        for each in found.departures:
            lines.append(f"  {code.place_text(each.place)}: {departure_message(each)}")
            lines += [f"    {describe_source(source, code)}" for source in each.sources[:2]]
        raise DTypePolicyError("\n".join(lines))


def dtype_policy(
    model: object,
    *,
    params: str | None = None,
    compute: str | None = None,
    output: str | None = None,
    state: str | None = None,
    keep: Sequence[str] = (),
) -> DTypePolicy:
    """Make a policy for a model of PyTorch, as a context that checks what runs in it.

    The dtypes are those of the parameters, of the computation, of the model's output, and of the optimizer's
    state. `keep` has patterns of the names of parameters and buffers that stay float32. A block
    `with dtype_policy(model, compute="bfloat16"):` raises DTypePolicyError at its end if anything departs.
    `dtype_policy(model, params="float32").check()` looks only at the parameters and buffers.

    Raises PolicyError if a dtype is no float, or if the model is not one of PyTorch.

    >>> from typelattice import dtype_policy
    >>> dtype_policy(3, compute="bfloat16")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    typelattice.PolicyError: dtype_policy takes a model of PyTorch; give ...
    """
    dtypes = {"params": params, "compute": compute, "output": output, "state": state}
    read = {key: None if name is None else read_float(name) for key, name in dtypes.items()}
    patterns = (keep,) if isinstance(keep, str) else tuple(keep)
    return DTypePolicy(
        model, Policy(read["params"], read["compute"], read["output"], read["state"], patterns)
    )


def state_dtypes_kept(update: Function, state: int = 0, result: int | None = None) -> Function:
    """Wrap an update of JAX, so that it raises DTypePolicyError if a dtype of its state changes.

    A changed dtype, or a weak one that becomes strong, makes a compiled update compile again. `state` is the
    position of the state among the arguments. `result` is its position in the returned tuple. Without it, the
    new state is what has the structure of the old one: the result, or the first such part of it.

    >>> from typelattice import state_dtypes_kept
    >>> update = state_dtypes_kept(lambda state, gradient: state)
    """

    @wraps(update)
    def checked(*args: Any, **named: Any) -> Any:
        made = update(*args, **named)
        if jax_file.MODULE not in sys.modules:
            raise PolicyError("state_dtypes_kept checks an update of JAX, which is not imported")
        if state >= len(args):
            raise PolicyError(f"the update has no argument {state} by position; say which one with state=")
        before, after = args[state], _find_new_state(args[state], made, result)
        old, new = jax_file.leaf_dtypes(before), jax_file.leaf_dtypes(after)
        changed = [f"  {path}: {old[path]} became {new[path]}" for path in old if new.get(path) != old[path]]
        if changed:
            raise DTypePolicyError("\n".join(["the dtypes of the state change in an update", *changed]))
        return made

    return checked  # type: ignore[return-value]


def _find_new_state(before: Any, made: Any, position: int | None) -> Any:
    """Find the new state in what an update returned. Raises PolicyError."""
    if position is not None:
        return made[position]
    wanted = jax_file.structure(before)
    parts = [made, *(made if isinstance(made, tuple) else ())]
    for part in parts:
        if jax_file.structure(part) == wanted:
            return part
    raise PolicyError("no result has the structure of the state; say which one it is with result=")
