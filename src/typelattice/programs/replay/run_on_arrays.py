"""Running of a program step by step, with the functions of an array-API namespace."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.base.errors.error_texts import spelling_hint
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.foreign_arrays import INDEX_FORMS
from typelattice.core.operands.operand import Operand
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import (
    ACCUMULATOR_DTYPE_ARGUMENT,
    OPERATIONS,
    RESULT_SHAPE_ARGUMENT,
    Operation,
)
from typelattice.programs.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.programs.calls.dtype_questions import LIMITS_FUNCTION_AND_ATTRIBUTES
from typelattice.programs.calls.multiple_results import STANDS_FOR_KEYWORD, source_arguments
from typelattice.programs.calls.steps import (
    FUNCTION_OF_IN_PLACE,
    Argument,
    AskedDType,
    Call,
    Cast,
    Created,
    DTypeOf,
    Index,
    Input,
    Item,
    NamedDType,
    Number,
    Opaque,
    ProgramError,
    Ref,
    Slice,
    Step,
)  # fmt: skip
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.namespace import Namespace

EXTENSION_SUBMODULES = ("linalg", "fft")  # submodules where a namespace also has functions


def run_steps(
    steps: Sequence[Step], results: Sequence[int], xp: Any, inputs: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Return the results of a program, computed by a namespace from values of its inputs.

    Raises ProgramError if an input is missing, or if a step cannot run there. If the namespace raises an
    error, a note names the step.
    """
    names = [step.text for step in steps if isinstance(step, Input)]
    for name in inputs:
        if name not in names:
            raise ProgramError(
                f"the program has no input {name}{spelling_hint(name, names)}; it has {', '.join(names)}"
            )
    runner = _StepRunner(xp, inputs)
    for step in steps:
        try:
            runner.values.append(runner.compute_value(step))
        except Exception as e:
            e.add_note(f"{step.op} {step.text!r}{f' ({step.location})' if step.location else ''}")
            raise
    return tuple(runner.values[i] for i in results)


class _StepRunner:
    """The values of the steps so far."""

    def __init__(self, xp: Any, inputs: Mapping[str, Any]) -> None:
        self.xp, self.inputs = xp, inputs
        self.values: list[Any] = []

    def compute_value(self, step: Step) -> Any:
        match step:
            case Input(fixed_result=given):
                return self.read_input(step, given)
            case Number(value=value):
                return value
            case Cast(operand=source, to=to):
                return self.cast(self.values[source], self.read_dtype(to))
            case Index(operand=source, key=key, list_form=lists):
                return self.values[source][
                    self.read_index_with_lists(key, lists) if lists else self.read_argument(key)
                ]
            case AskedDType(operand=source):
                return self.values[source]
            case Item(operand=source):
                x = self.values[source]
                return PYTHON_TYPE_BY_NAME[operand(x).kind.python_name](x)
            case Created(name=name, args=args, keywords=keywords, dtype=dtype):
                named = {
                    key: self.read_argument(value) for key, value in keywords if key != STANDS_FOR_KEYWORD
                }
                if dtype is not None:
                    named["dtype"] = self.read_dtype(dtype)
                return self.find_function(step, name)(*map(self.read_argument, args), **named)
            case Call():
                return self.run_call(step)
            case Opaque(name=name, input_steps=parts):
                if name.partition(".")[0] in LIMITS_FUNCTION_AND_ATTRIBUTES:
                    return self.find_limit(name, self.values[parts[0]])
                function = PYTHON_TYPE_BY_NAME.get(name) or vars(math).get(name.removeprefix("math."))
                if function is not None:
                    return function(*(self.values[part] for part in parts))
        raise ProgramError(
            f"{step.op} {step.text!r} is not known well enough to be carried out; leave it out"
        )

    def find_limit(self, name: str, array: Any) -> Any:
        """A limit of an array's dtype, such as `finfo.eps`."""
        which, _, field = name.partition(".")
        found = operand(array).dtype
        assert found is not None
        return getattr(
            LIMITS_FUNCTION_AND_ATTRIBUTES[which][0](found), "smallest_normal" if field == "tiny" else field
        )

    def read_input(self, step: Input, described_operand: Operand | str) -> Any:
        """Return the value of an input. For a Python number without one, return its known value."""
        if step.text in self.inputs:
            value = self.inputs[step.text]
            bare = isinstance(self.xp, Namespace) and not isinstance(
                value, (Array, bool, int, float, complex)
            )
            return self.xp.asarray(value) if bare else value
        if (
            isinstance(described_operand, Operand)
            and described_operand.tier == "scalar"
            and described_operand.value is not None
        ):
            return described_operand.value
        raise ProgramError(f"the input {step.text} is not given; give {step.text}=...")

    def run_call(self, step: Call) -> Any:
        taken, keywords, number = source_arguments(step)
        if STANDS_FOR_KEYWORD in keywords:
            what = f"it has the dtype of {step.name}, and its values are not computed here"
            raise ProgramError(f"{step.text!r}: {what}; leave it out")
        args = [self.read_argument(x) for x in taken]
        named = {key: self.read_argument(value) for key, value in keywords.items()}
        if step.name == "setitem" or step.name in FUNCTION_OF_IN_PLACE:
            return self.write_into_copy(step, args, named)
        op = step.operation
        if op.like:
            named.pop(RESULT_SHAPE_ARGUMENT, None)
        if op.like and isinstance(self.xp, Namespace):
            if self.xp._context.library.writes_custom_calls:
                return self.call_custom(op, step, args, named)
            named.pop(ACCUMULATOR_DTYPE_ARGUMENT, None)  # the namespace's own function knows it
            return self.find_function(step, step.name)(*args, **named)
        if step.dtype is not None and not op.takes_dtype and self.has_accumulator(op, step):
            return self.accumulate(op, args, named, self.read_dtype(step.dtype))
        if step.is_operator and op.special_method:
            result = getattr(operator, op.special_method)(*args)
        else:
            if step.dtype is not None and op.takes_dtype:
                named["dtype"] = self.read_dtype(step.dtype)
            if op.call_form == "list":
                args[0] = [*args[0]]
            else:
                args = self.list_arrays(op, step, taken, args)
            result = self.find_function(step, step.name)(*args, **named)
            result = result if number is None else result[number]
        if step.dtype is None or not hasattr(result, "dtype"):
            return result
        to = self.read_dtype(step.dtype)
        return result if not getattr(result, "weak", False) and result.dtype == to else self.cast(result, to)

    def write_into_copy(self, step: Call, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Return a copy of an array with what a call writes into it."""
        array = self.xp.asarray(args[0], copy=True)
        if step.name == "setitem":
            array[keywords["key"]] = args[1]
            return array
        plain = OPERATIONS[FUNCTION_OF_IN_PLACE[step.name]].special_method or ""
        writes: Callable[..., Any] = getattr(operator, f"__i{plain.strip('_')}__")
        return writes(array, args[1])

    def call_custom(
        self, operation: Operation, step: Call, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """Return a call in a graph of an operation that the system defines. Raises ProgramError."""
        if step.dtype is None or step.shape is None or None in step.shape:
            how = f"state it in the call: {operation.name}(..., {RESULT_SHAPE_ARGUMENT}=(3, 4))"
            raise ProgramError(f"{step.text!r}: the shape of its result is not known; {how}")
        for key, x in keywords.items():
            is_list = isinstance(x, tuple) and all(type(each) is int for each in x)
            if not (is_list or isinstance(x, (bool, int, float, str, Array, DType))):
                takes = "an array, a number, a text, or a list of ints"
                raise ProgramError(f"{step.text!r}: {key} is {x!r}; give {takes}")
        return self.xp._context.call_custom(
            operation, self.read_dtype(step.dtype), step.shape, args, keywords
        )

    def has_accumulator(self, operation: Operation, step: Call) -> bool:
        """Return True if the dtype that a step states is its accumulator, and its operands differ from it."""
        assert step.dtype is not None
        to = self.read_dtype(step.dtype)
        return operation.adds_up and all(getattr(self.values[i], "dtype", to) != to for i in step.operands)

    def accumulate(
        self, operation: Operation, args: Sequence[Any], keywords: Mapping[str, Any], target: Any
    ) -> Any:
        """Return an operation that adds up in a dtype different from its operands'."""
        if isinstance(self.xp, Namespace):
            return self.xp._context.accumulate(operation.name, target, args, **keywords)
        cast = [self.cast(x, target) if hasattr(x, "dtype") else x for x in args]
        return getattr(self.xp, operation.name)(*cast, **keywords)

    def list_arrays(
        self, operation: Operation, step: Call, array_arguments: Sequence[Argument], args: list[Any]
    ) -> list[Any]:
        """Convert arguments to arrays where the standard needs them: at least one, and any condition."""
        refs = [i for i, x in enumerate(array_arguments) if isinstance(x, Ref) and x.step in step.operands]
        numbers = [i for i in refs if not hasattr(args[i], "dtype")]
        if operation.call_form == "elementwise":
            numbers = numbers[:1] if len(numbers) == len(refs) else []
        elif operation.call_form == "choice":
            branches = numbers[-1:] if {*refs[-2:]} <= {*numbers} else []
            numbers = [i for i in numbers if i == refs[0]] + branches
        return [self.xp.asarray(x) if i in numbers else x for i, x in enumerate(args)]

    def find_function(self, step: Step, name: str) -> Callable[..., Any]:
        """Return a function of the namespace or of its extensions."""
        for place in (self.xp, *(getattr(self.xp, extension, None) for extension in EXTENSION_SUBMODULES)):
            found = getattr(place, name, None)
            if callable(found):
                function: Callable[..., Any] = found
                return function
        raise ProgramError(f"{step.text!r}: {self.xp!r} has no function {name}; write it with others")

    def cast(self, value: Any, target: Any) -> Any:
        """Return an array, or a Python number, as an array of a dtype."""
        if isinstance(value, (bool, int, float, complex)) and not hasattr(value, "dtype"):
            return self.xp.asarray(value, dtype=target)
        return self.xp.astype(value, target)

    def read_dtype(self, requested: NamedDType | DTypeOf) -> Any:
        """Return a dtype as the namespace takes it."""
        if isinstance(requested, DTypeOf):
            value = self.values[requested.step]
            return value.dtype if hasattr(value, "dtype") else value
        if requested.name in PYTHON_TYPE_BY_NAME and requested.name != "bool":
            return self.xp.asarray(PYTHON_TYPE_BY_NAME[requested.name](1)).dtype
        if isinstance(self.xp, Namespace):
            return self.xp._context.read_dtype(requested.name)
        return getattr(self.xp, requested.name, requested.name)

    def read_index_with_lists(self, key: Argument, form: str) -> Any:
        """Return an index with lists in it, which a step has as tuples."""
        found = [
            _convert_to_lists(self.read_argument(k)) for k in (key if isinstance(key, tuple) else (key,))
        ]
        return found[0] if form == INDEX_FORMS[0] else tuple(found)

    def read_argument(self, argument: Argument) -> Any:
        """Return an argument with the values of earlier steps."""
        match argument:
            case Ref(step):
                return self.values[step]
            case NamedDType() | DTypeOf():
                return self.read_dtype(argument)
            case Slice(start, stop, step):
                return slice(*map(self.read_argument, (start, stop, step)))
            case tuple():
                return tuple(map(self.read_argument, argument))
        return argument


def _convert_to_lists(x: Any) -> Any:
    """Convert nested tuples to lists."""
    return [_convert_to_lists(each) for each in x] if type(x) is tuple else x
