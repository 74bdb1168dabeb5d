"""A program as JSON: each step as an object, which says what it is and only what is not as usual."""

from __future__ import annotations

import math
from collections.abc import Sequence
from json import dumps

from typelattice.calls.step import (
    Argument,
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
    Ref,
    Slice,
    Step,
)  # fmt: skip

VERSION = 1  # of the format
AT_A_TIME = 100  # steps


def written(steps: Sequence[Step], results: Sequence[int], source: str) -> str:
    """A program as a JSON text.

    Steps are written some at a time: the objects of all of them at once would be most of the memory it takes.
    """
    head = {"typelattice": "program", "version": VERSION, "source": source, "results": list(results)}
    starts = range(0, len(steps), AT_A_TIME)
    listed = (dumps([*map(step_data, steps[i : i + AT_A_TIME])])[1:-1] for i in starts)
    return f'{dumps(head)[:-1]}, "steps": [{", ".join(listed)}]}}'


def step_data(step: Step) -> dict[str, object]:
    """A step as an object of JSON."""
    found: dict[str, object] = {"is": type(step).__name__.lower(), "text": step.text}
    if step.location:
        found["file"], found["line"] = step.location.file, step.location.line
    if step.shape is not None:
        found["shape"] = list(step.shape)
    if step.owner:
        found["owner"] = step.owner
    match step:
        case Call():
            found["name"], found["operands"], found["args"] = step.name, step.operands, _list(step.args)
            if step.keywords:
                found["keywords"] = {key: argument_data(value) for key, value in step.keywords}
            if step.operator:
                found["operator"] = True
            if step.rebinds:
                found["rebinds"] = True
            if step.dtype is not None:
                found["dtype"] = argument_data(step.dtype)
            if step.lists:
                found["lists"] = step.lists
        case Number(value=value):
            found["value"] = argument_data(value)
        case Input(given=given):
            found["given"] = str(given)
        case Cast(source=source, to=to):
            found |= {"source": source, "to": argument_data(to)}
        case Index(source=source, key=key):
            found |= {"source": source, "key": argument_data(key)}
            if step.lists:
                found["lists"] = step.lists
        case Item(source=source):
            found["source"] = source
        case Created():
            like = step.like if isinstance(step.like, int) else str(step.like)
            found |= {"name": step.name, "args": _list(step.args), "like": like}
            if step.keywords:
                found["keywords"] = {key: argument_data(value) for key, value in step.keywords}
            if step.dtype is not None:
                found["dtype"] = argument_data(step.dtype)
        case Opaque(name=name, given=given, made_of=parts):
            found |= {"name": name, "given": str(given), "made_of": list(parts)}
    return found


def argument_data(x: Argument) -> object:
    """An argument: JSON's own values and lists as they are, an object with one key for all others."""
    if isinstance(x, Ref):  # as nearly always
        return {"step": x.step}
    match x:
        case DTypeOf(step):
            return {"dtype_of": step}
        case NamedDType(name):
            return {"dtype": name}
        case Slice(start, stop, step):
            return {"slice": _list((start, stop, step))}
        case tuple():
            return _list(x)
        case complex():
            return {"complex": [argument_data(x.real), argument_data(x.imag)]}
        case float() if not math.isfinite(x):
            return {"float": str(x)}
    return {"ellipsis": True} if x is ... else x


def _list(x: Sequence[Argument]) -> list[object]:
    return [argument_data(each) for each in x]
