"""Arrays in objects that calls and operators gave: each float array is a step, as a result of its own.

The arguments of such a step are the arrays that the call took, also those in objects. So a wide float is
followed through classes such as an image with a header.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.steps import Argument, Excerpt
from typelattice.tracing.array_holders import find_holder, name_row
from typelattice.tracing.record.held_arrays import find_attribute_reader, list_held_arrays, read_attribute
from typelattice.tracing.run_data.array_classes import CachePerClass
from typelattice.tracing.run_data.float_widths import dtype_width
from typelattice.tracing.run_data.producing_steps import StepNumber
from typelattice.tracing.run_data.run import HeldArray
from typelattice.tracing.steps.arguments import UnknownCallError

MAX_HELD_ARRAYS = 1000


class ObjectResults:
    """Reads objects for a recorder. `held_arrays` are those that no rule of a class explains."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.attribute_readers = CachePerClass(find_attribute_reader)
        self.holders = CachePerClass(find_holder)
        self.held_arrays: dict[HeldArray, set[StepNumber]] = {}
        """Maps each of them to its steps that were not converted since."""

    def close(self) -> None:
        """Keep no class of the program alive."""
        self.attribute_readers.close()
        self.holders.close()

    def record(self, witness: Any, function: Any, arguments_and_result: Sequence[Any]) -> None:
        """Add a step for each float array in an object, unless followed code has computed it.

        An object of the class of an argument, or of a class with a row, is computed from the arrays in the
        arguments. Any other object is only where an array comes from, such as `model` in `model.fit(x)`.
        """
        *args, result = arguments_and_result
        recorder, cls = self.recorder, type(result)
        arrays = list_held_arrays(result, recorder.array_kinds, self.attribute_readers)
        found = [
            (path, x, dtype)
            for path, x in arrays
            if recorder.step_of(x) is None and (dtype := recorder.float_of(x)) is not None
        ]
        if not found:
            return
        given = [function.__self__ if type(function) is MethodType else None, *args]
        has_row = self.holders[cls] is not None
        is_computed = has_row or any(type(x) is cls and x is not result for x in given)
        taken = [
            (position, x, dtype)
            for position, arg in enumerate(given)
            for _, x in list_held_arrays([arg], recorder.array_kinds, self.attribute_readers)
            if (dtype := recorder.float_of(x)) is not None
        ]
        parts = [witness.operand_key(x, position) for position, x, _ in taken] if is_computed else []
        steps = dict.fromkeys(part for part in parts if type(part) is StepNumber)
        who = witness.function_key_of(function) if function is not None else None
        package = self.name_package(function, cls)
        origin = {"package": package, "holder": name_row(cls) if has_row else ""}
        steps_of_found: list[StepNumber | None] = []
        for path, x, _ in found:
            kind = recorder.array_kinds[type(x)]
            key = who, *steps, kind.cache_key(x), path
            tally = witness.tallies.get(key) or recorder.add_step(
                witness, key, x, _refuse_step, [*steps], {**origin, "part": path}
            )
            witness.link_result(tally, kind, x)
            steps_of_found.append(tally.number if tally is not None else None)
        announced = self.announced_dtype(result)
        if not is_computed or announced not in (None, *(dtype for *_, dtype in found)):
            narrow = max((dtype for *_, dtype in taken), key=lambda d: dtype_width(d) or 0, default=None)
            dtypes = [
                (path, dtype, step) for (path, _, dtype), step in zip(found, steps_of_found, strict=True)
            ]
            self.note_held_arrays(witness, cls, dtypes, narrow, package, announced)

    def step_of_wrapped_array(self, x: Any) -> StepNumber | None:
        """Return the step of the only array that an array of another class wraps, as the row of it says."""
        reader = self.attribute_readers[type(x)] if self.holders[type(x)] is not None else None
        wrapped = [*reader(x)] if reader is not None else []
        found: StepNumber | None = self.recorder.step_of(wrapped[0][1]) if len(wrapped) == 1 else None
        return found

    def note_held_arrays(
        self,
        witness: Any,
        cls: type,
        found: Sequence[tuple[str, DType, StepNumber | None]],
        narrow_dtype: DType | None,
        package: str,
        announced: DType | None,
    ) -> None:
        """Note the float arrays in an object of a class."""
        excerpt = self.recorder.excerpt_of(witness, "")
        name = type.__getattribute__(cls, "__name__")
        for path, dtype, step in found:
            held = HeldArray(
                excerpt.location, excerpt.text, name, path, dtype, narrow_dtype, package, announced
            )
            if len(self.held_arrays) < MAX_HELD_ARRAYS or held in self.held_arrays:
                self.held_arrays.setdefault(held, set()).update([step] if step is not None else [])

    def forget_converted(self, step: StepNumber) -> None:
        """Drop the note of an array that its object has cast in place, such as a weight of `layer.half()`."""
        for held in [held for held, steps in self.held_arrays.items() if step in steps]:
            self.held_arrays[held].discard(step)
            if not self.held_arrays[held]:
                del self.held_arrays[held]

    def announced_dtype(self, x: Any) -> DType | None:
        """Return the float dtype that an object states, if the row of its class has the attribute."""
        holder = self.holders[type(x)]
        stated = read_attribute(x, holder.dtype) if holder is not None and holder.dtype else None
        return self.recorder.read_float_dtype(stated) if stated is not None else None

    def name_package(self, function: Any, result_class: type) -> str:
        """Name the package of a function, if `--package` can follow it: not a library's, nor Python's own.

        An operator belongs to the package of its result.
        """
        inner = function.__func__ if type(function) is MethodType else _find_call_function(function)
        if type(inner) is BuiltinFunctionType:
            return ""  # no source
        if type(inner) is FunctionType and inner.__code__.co_filename in self.recorder.sources:
            return ""
        cls = inner if isinstance(inner, type) else result_class
        module = inner.__module__ if type(inner) is FunctionType else type.__getattribute__(cls, "__module__")
        root = module.partition(".")[0] if type(module) is str else ""
        is_known = root in sys.stdlib_module_names or root == "__main__" or library_of(root) is not None
        return "" if is_known else root


def _find_call_function(function: Any) -> Any:
    """Return the function that a call of an object runs, such as `__call__` of a base class, or itself."""
    cls = type(function)
    if cls in (FunctionType, BuiltinFunctionType) or issubclass(cls, type):
        return function
    classes: tuple[type, ...] = type.__getattribute__(cls, "__mro__")
    found = (type.__getattribute__(each, "__dict__").get("__call__") for each in classes)
    called = next((each for each in found if each is not None), None)
    return called if type(called) is FunctionType else function


def _refuse_step(excerpt: Excerpt, args: Sequence[Argument]) -> Argument:
    """Make no step by a rule: no table describes what the functions of other packages do."""
    raise UnknownCallError("it is another package's")
