"""A program as Python text, one line for each step. It reads back as the same program."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from typelattice.core.engine.foreign_arrays import INDEX_FORMS
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.programs.calls.multiple_results import source_arguments
from typelattice.programs.calls.steps import (
    CALLED_OBJECT,
    FUNCTION_OF_IN_PLACE,
    OBJECT_ITSELF,
    SAME_KIND_KEYWORD_AND_VALUE,
    Argument,
    AskedDType,
    Call,
    Cast,
    Created,
    DTypeOf,
    Either,
    Index,
    Input,
    Item,
    LibraryCall,
    LibraryObject,
    NamedDType,
    Number,
    Opaque,
    Pairs,
    Ref,
    Refused,
    Slice,
    Step,
)  # fmt: skip


def write_text(steps: Sequence[Step], results: Sequence[int]) -> str:
    """Return the program as a function of the inputs, each annotated with its operand."""
    names: list[str] = []
    lines: list[str] = []
    for i, step in enumerate(steps):
        if isinstance(step, Input):
            names.append(step.text)
        elif isinstance(step, Number):
            names.append(write_number(step.value))
        else:
            names.append(f"t{i}")
            lines.extend(f"    {line}" for line in _write_lines(step, f"t{i}", names))
    inputs = ", ".join(_write_parameter(step) for step in steps if isinstance(step, Input))
    given = ", ".join(names[i] for i in results)
    return "\n".join([f"def program({inputs}):", *lines, f"    return {given}"])


def input_text(described_operand: Operand | str, shape: Shape | None) -> str:
    """Return an input as an operand string with its shape, which `typelattice.program` accepts."""
    plain = str(described_operand)
    if not shape or plain.partition(":")[0] != plain.removesuffix(":weak"):
        return plain
    name, _, weak = plain.partition(":")
    lengths = ",".join("?" if n is None else str(n) for n in shape)
    return f"{name}[{lengths}]{':' * bool(weak)}{weak}"


def write_number(value: PythonNumber) -> str:
    """Write a Python number."""
    if isinstance(value, complex):  # as a sum it would lose the sign of a zero
        return f"complex({write_number(value.real)}, {write_number(value.imag)})"
    if isinstance(value, int) or math.isfinite(value):
        return f"({value})" if str(value).startswith("-") else str(value)
    return f"(-xp.{-value})" if value < 0 else f"xp.{value}"


def _write_parameter(step: Input) -> str:
    return f'{step.text}: "{input_text(step.fixed_result, step.shape)}"'


def _write_lines(step: Step, name: str, names: Sequence[str]) -> Iterator[str]:
    match step:
        case Call(name="setitem", args=(x, value), is_operator=False):
            key = _write_index(dict(step.keywords)["key"], names)
            mark = (
                ", {}={!r}".format(*SAME_KIND_KEYWORD_AND_VALUE)
                if SAME_KIND_KEYWORD_AND_VALUE in step.keywords
                else ""
            )
            yield f"{name} = {_write_argument(x, names)}.at[{key}].set({_write_argument(value, names)}{mark})"
        case Call(name="setitem", args=(x, value)):
            yield f"{name} = {_write_argument(x, names)}"
            place = _write_index(dict(step.keywords)["key"], names)
            yield f"{name}[{place}] = {_write_argument(value, names)}"
        case Call(name=op, args=(x, y)) if op in FUNCTION_OF_IN_PLACE:
            yield f"{name} = {_write_argument(x, names)}"
            yield f"{name} {OPERATIONS[FUNCTION_OF_IN_PLACE[op]].operator}= {_write_argument(y, names)}"
        case Call():
            yield f"{name}{_write_annotation(step, names)} = {_call_text(step, names)}"
        case Cast(operand=source, to=to):
            yield f"{name} = astype({names[source]}, {_write_argument(to, names)})"
        case Index(operand=source, key=key, list_form=lists):
            place = _write_lists(key, lists, names) if lists else _write_index(key, names)
            yield f"{name} = {names[source]}[{place}]"
        case Item(operand=source):
            yield f"{name} = {names[source]}.item()"
        case Created(dtype=dtype):
            given = [_write_argument(x, names) for x in step.args]
            given += [f"{key}={_write_argument(x, names)}" for key, x in step.keywords]
            given += [f"dtype={_write_argument(dtype, names)}"] if dtype else []
            yield f"{name} = xp.{step.name}({', '.join(given)})"
        case AskedDType(operand=source):
            yield f"{name} = {names[source]}"
        case Either(choices=choices):
            yield f"{name} = either({', '.join(names[part] for part in choices)})"
        case Opaque(name=function, input_steps=parts) if (
            function in PYTHON_TYPE_BY_NAME or function.startswith("math.")
        ):
            yield f"{name} = {function}({', '.join(names[part] for part in parts)})"
        case Refused(name=function, input_steps=parts):
            yield f"{name} = {function}({', '.join(names[part] for part in parts)})"
        case LibraryCall():
            yield f"{name} = {_write_library_call(step, names)}"
        case Opaque(fixed_result=given, input_steps=parts):
            operand_string = input_text(given, step.shape)
            yield f"{name} = opaque({', '.join([repr(operand_string), *(names[part] for part in parts)])})"


def _write_library_call(call: LibraryCall | LibraryObject, names: Sequence[str]) -> str:
    """Write a call that its library is asked about, or an object, as the source has it."""
    of, args = call.name, call.args
    if args and (of.startswith(".") or of in (CALLED_OBJECT, OBJECT_ITSELF)):
        method = of if of.startswith(".") else ""
        of, args = f"{_write_argument(args[0], names)}{method}", args[1:]
    if args is not None and call.name != OBJECT_ITSELF:
        named = (f"{key}={_write_argument(x, names)}" for key, x in call.keywords)
        of += f"({', '.join([*(_write_argument(x, names) for x in args), *named])})"
    return of + "".join(f".{x}" if isinstance(x, str) else f"[{x}]" for x in call.taken)


def _write_annotation(step: Call, names: Sequence[str]) -> str:
    """Return the dtype of a call if its function accepts none: an annotation, like an input's."""
    if step.dtype is None or step.operation.takes_dtype:
        return ""
    dtype_text = step.dtype.name if isinstance(step.dtype, NamedDType) else _write_argument(step.dtype, names)
    return f': "{dtype_text}"'


def _call_text(step: Call, names: Sequence[str]) -> str:
    """Return a call of an operation, as Python's operator if the source wrote it so."""
    op = step.operation
    taken, keywords, number = source_arguments(step)
    args = [_write_argument(x, names) for x in taken]
    if step.is_operator and op.operator and len(args) == 2:
        return f"{args[0]} {op.operator} {args[1]}"
    if step.is_operator and op.operator:
        return f"{op.operator.removesuffix('x')}{args[0]}"
    args += [f"{key}={_write_argument(x, names)}" for key, x in keywords.items()]
    args += (
        [f"dtype={_write_argument(step.dtype, names)}"] if step.dtype is not None and op.takes_dtype else []
    )
    return f"xp.{step.name}({', '.join(args)}){'' if number is None else f'[{number}]'}"


def _write_argument(argument: Argument, names: Sequence[str]) -> str:
    match argument:
        case Ref(step):
            return names[step]
        case DTypeOf(step):
            return f"{names[step]}.dtype"
        case NamedDType(name):
            return name if name.replace(".", "").isidentifier() else repr(name)  # decimal(10,2)
        case tuple():
            members = ", ".join(_write_argument(each, names) for each in argument)
            return f"({members}{',' * (len(argument) == 1)})"
        case bool() | int() | float() | complex():
            return write_number(argument)
        case Pairs(pairs):
            written = (f"{_write_argument(key, names)}: {_write_argument(x, names)}" for key, x in pairs)
            return f"{{{', '.join(written)}}}"
        case LibraryObject():
            return _write_library_call(argument, names)
    return "..." if argument is ... else repr(argument)


def _write_lists(key: Argument, list_form: str, names: Sequence[str]) -> str:
    """Return the text between the brackets of an index with lists, which a step has as tuples."""
    keys = key if isinstance(key, tuple) else (key,)
    texts = [_write_list(k, names) if isinstance(k, tuple) else _write_index(k, names) for k in keys]
    return ", ".join(texts) + "," * (len(texts) == 1 and list_form != INDEX_FORMS[0])


def _write_list(items: tuple[Argument, ...], names: Sequence[str]) -> str:
    texts = (_write_list(x, names) if isinstance(x, tuple) else _write_argument(x, names) for x in items)
    return f"[{', '.join(texts)}]"


def _write_index(key: Argument, names: Sequence[str]) -> str:
    """Return the text between the brackets of an index."""
    if isinstance(key, tuple) and key:
        return ", ".join(_write_index(each, names) for each in key) + "," * (len(key) == 1)
    if isinstance(key, Slice):
        bounds = [key.start, key.stop, key.step]
        texts = ["" if bound is None else _write_argument(bound, names) for bound in bounds]
        return ":".join(texts if texts[2] else texts[:2])
    return _write_argument(key, names)
