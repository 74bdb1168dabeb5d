"""A program as JSON: an object for each step, with its operation and the fields that differ from defaults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from json import dumps
from typing import Any

from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import Operation
from typelattice.programs.calls.steps import (
    Argument,
    DTypeOf,
    LibraryObject,
    NamedDType,
    Pairs,
    Ref,
    Slice,
    Step,
)

PROGRAM_FORMAT_VERSION = 1

KEY_BY_FIELD = {  # fields of steps with another key in the format
    "custom_operation": "own", "default_from": "like", "fixed_result": "given", "input_shapes": "shapes",
    "input_steps": "made_of", "is_conversion": "conversion",
    "is_operator": "operator", "list_form": "lists", "list_operands": "lists", "operand": "source",
}  # fmt: skip
STEPS_AT_A_TIME = 100


def write_program(
    steps: Sequence[Step], results: Sequence[int], source: str, branches_of: str = ""
) -> str:
    """Return a program as a JSON text. `branches_of` names the system whose branches the steps are.

    Steps are written some at a time: the objects of all of them together would take most of the memory.
    """
    head = {
        "typelattice": "program",
        "version": PROGRAM_FORMAT_VERSION,
        "source": source,
        "results": list(results),
        **({"branches_of": branches_of} if branches_of else {}),
    }
    starts = range(0, len(steps), STEPS_AT_A_TIME)
    listed = (dumps([*map(encode_step, steps[i : i + STEPS_AT_A_TIME])])[1:-1] for i in starts)
    return f'{dumps(head)[:-1]}, "steps": [{", ".join(listed)}]}}'


def encode_step(step: Step) -> dict[str, object]:
    data: dict[str, object] = {"is": type(step).__name__.lower(), "text": step.text}
    if step.location:
        data["file"], data["line"] = step.location.file, step.location.line
    if step.shape is not None:
        data["shape"] = list(step.shape)
    if step.owner:
        data["owner"] = step.owner
    cls: Any = type(step)
    for name, default in _optional_fields(cls):
        value = getattr(step, name)
        if value != default:
            data[KEY_BY_FIELD.get(name, name)] = _field_data(name, value)
    return data


@cache
def _optional_fields(cls: Any) -> tuple[tuple[str, object], ...]:
    """Return the optional fields of a class of steps, each with the default that is left out."""
    common = {field.name for field in fields(Step)}
    left_out = {"keywords": ()}
    return tuple((f.name, left_out.get(f.name, f.default)) for f in fields(cls) if f.name not in common)


def _field_data(name: str, field_value: Any) -> object:
    """Return the value of a field: named arguments as an object, operands as strings, others as arguments."""
    if name == "keywords":
        return {key: encode_argument(value) for key, value in field_value}
    if isinstance(field_value, Operation):
        return {
            "like": field_value.like,
            "operands": list(field_value.operand_names),
            "parameters": list(field_value.parameter_names),
        }
    return str(field_value) if isinstance(field_value, Operand) else encode_argument(field_value)


def encode_argument(argument: Argument) -> object:
    """Return an argument: JSON's own values and lists as they are, any other as an object with one key."""
    if isinstance(argument, Ref):  # nearly every argument is one
        return {"step": argument.step}
    match argument:
        case DTypeOf(step):
            return {"dtype_of": step}
        case NamedDType(name):
            return {"dtype": name}
        case Slice(start, stop, step):
            return {"slice": _encode_list((start, stop, step))}
        case tuple():
            return _encode_list(argument)
        case Pairs(pairs):
            return {"pairs": _encode_list(pairs)}
        case LibraryObject(name, args, keywords, taken):
            parts = {"name": name, "args": args, "keywords": keywords or None, "taken": taken or None}
            return {"object": {key: _field_data(key, x) for key, x in parts.items() if x is not None}}
        case complex():
            return {"complex": [encode_argument(argument.real), encode_argument(argument.imag)]}
        case float() if not math.isfinite(argument):
            return {"float": str(argument)}
    return {"ellipsis": True} if argument is ... else argument


def _encode_list(items: Sequence[Argument]) -> list[object]:
    return [encode_argument(each) for each in items]
