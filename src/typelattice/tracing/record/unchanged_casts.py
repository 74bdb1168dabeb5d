"""Casts that return the same array: one object, but two steps.

`h` and `y` may be one float64 array after `y = np.asarray(h, dtype=np.float64)`. If another system makes `h`
a float32, `y` is still float64. So the cast is a step, and the names in the source distinguish later uses.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from typelattice.programs.calls.steps import Argument, Cast, Ref, Step
from typelattice.tracing.run_data.producing_steps import StepNumber
from typelattice.tracing.run_data.source_text import SourceText
from typelattice.tracing.run_data.written_operation import WrittenOperation

DTYPE_ATTRIBUTE_PATTERN = re.compile(r"\.dtype\b(?!=)")  # the dtype of another array, in the text of a call
ASSIGNMENT_TARGET_PATTERN = re.compile(r"\s*(\w+)\s*=\s*")  # the text before a call: `y = `
MAX_OPERANDS = 4  # compare the texts of operations with at most so many operands


@dataclass(frozen=True, slots=True)
class UnchangedCast:
    """A cast that changed nothing: the step before it, and the variable that still holds its result."""

    source_step: StepNumber
    name: str
    code: CodeType


class UnchangedCasts:
    """The casts of a run that changed nothing, by their steps."""

    def __init__(self) -> None:
        self.casts: dict[int, UnchangedCast] = {}

    def replace_repeated(
        self, steps: list[Step], first_new: int, new_step: Argument, source_step: StepNumber | None
    ) -> Argument:
        """Return the step of a call that returned an array which the step `source_step` made.

        The result is `source_step`, and the new step is removed, if the array went through the same cast
        earlier. The same holds for a cast to the dtype of another array, as in `x.astype(y.dtype,
        copy=False)`: that dtype may be different under another system.
        """
        cast = steps[new_step.step] if isinstance(new_step, Ref) else None
        if source_step is None or not isinstance(cast, Cast) or cast.operand != source_step:
            return new_step
        earlier = steps[source_step]
        while isinstance(earlier, Cast) and earlier.to != cast.to:
            earlier = steps[earlier.operand]
        if not isinstance(earlier, Cast) and not DTYPE_ATTRIBUTE_PATTERN.search(cast.text):
            return new_step
        del steps[first_new:]
        return Ref(int(source_step))

    def note_cast(
        self,
        cast: Argument,
        source_step: StepNumber,
        file: str,
        source: SourceText,
        operation: WrittenOperation,
        is_method: bool,
    ) -> None:
        """Note a cast if a variable keeps the cast array."""
        name = source.operand_text(operation, 0 if is_method else 1)
        line = source.lines[operation.line - 1] if operation.line <= len(source.lines) else ""
        target = ASSIGNMENT_TARGET_PATTERN.fullmatch(line[: operation.column])
        code = _find_running_code(file)
        if isinstance(cast, Ref) and name.isidentifier() and code and not (target and target[1] == name):
            self.casts[cast.step] = UnchangedCast(source_step, name, code)

    def step_used(self, key_part: Any, file: str, source: SourceText, operation: WrittenOperation) -> Any:
        """Return the step that an operation uses, or the step before a cast if the text names that array.

        If a part of a key is not a step of this kind, it is returned as it is.
        """
        if type(key_part) is not StepNumber or key_part not in self.casts:
            return key_part
        code = _find_running_code(file)
        names = {source.operand_text(operation, i) for i in range(MAX_OPERANDS)}
        step = key_part
        while (cast := self.casts.get(step)) is not None:
            if cast.code is code and cast.name in names:
                return cast.source_step
            step = cast.source_step
        return key_part


def _find_running_code(file: str) -> CodeType | None:
    """Find the code of a program's function that runs now."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return frame.f_code if frame is not None else None
