"""Programs read from JSON: checked key by key, and refused by the place of what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from json import loads
from typing import Any

from typelattice.calls.program_builder import MAX_STEPS
from typelattice.calls.program_inputs import MAX_AXES, read_input
from typelattice.calls.steps import (
    FUNCTION_OF_IN_PLACE,
    IN_PLACE_OF_FUNCTION,
    MAX_STEP_CHARS,
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
    SourceLocation,
    Step,
)  # fmt: skip
from typelattice.engine.foreign_arrays import INDEX_FORMS
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.operations import OPERATIONS, Operation, OpError, make_custom_operation
from typelattice.facts.suggestions import clip_text, quote_short, spelling_hint
from typelattice.operands.notation import MAX_INT_BITS, parse_operand
from typelattice.operands.operand import Operand
from typelattice.programs.json.write import KEYS, VERSION

LONGEST_JSON = 400_000_000  # characters
LONGEST_NAME = 1_000  # characters of a file's name, a function's, an operand's
MAX_LIST_DEPTH = 32  # lists within one another
KINDS: Mapping[str, type[Step]] = {
    cls.__name__.lower(): cls for cls in (Input, Number, Call, Cast, Index, Item, Created, Opaque)
}


def read_json(text: str) -> tuple[tuple[Step, ...], tuple[int, ...], str]:
    """Read the steps, results and source of a program in JSON; execute nothing. Raises ProgramError."""
    if len(text) > LONGEST_JSON:
        raise ProgramError(f"JSON of {len(text):,} characters; the longest is {LONGEST_JSON:,}")
    try:
        data = loads(text)
    except (ValueError, RecursionError) as e:
        why = "nested too deep" if isinstance(e, RecursionError) else clip_text(str(e), 200)
        raise ProgramError(f"not JSON: {why}; give what to_json made") from None
    whole = _Reader("", data)
    if not isinstance(data, dict) or data.get("typelattice") != "program":
        raise whole.wrong('no program; give what to_json made, with "typelattice": "program"')
    if data.get("version") != VERSION:
        raise whole.at("version").wrong(f"no version that is known; it should be {VERSION}")
    listed = whole.at("steps").read_list(MAX_STEPS)
    steps: list[Step] = []
    for i, step in enumerate(listed):
        steps.append(_step(_Reader(f"steps[{i}]", step, i)))
    chosen = enumerate(whole.at("results").read_list(MAX_STEPS))
    results = tuple(_Reader(f"results[{i}]", x, len(steps)).earlier() for i, x in chosen)
    if not results:
        raise whole.at("results").wrong("empty; give the number of a step")
    return tuple(steps), results, whole.at("source", "").text(None)


class _Reader:
    """A value in JSON and its place, a path of keys; `before` is the number of the step that it is in."""

    def __init__(self, path: str, data: Any, before: int = 0) -> None:
        self.path, self.data, self.before = path, data, before

    def wrong(self, why: str) -> ProgramError:
        return ProgramError(f"{self.path or 'the whole'}: {why}")

    def at(self, key: str, default: Any = ...) -> _Reader:
        """Return the value under a key."""
        if not isinstance(self.data, dict):
            raise self.wrong("no object; give one with keys")
        if key not in self.data and default is ...:
            raise self.wrong(f"{key} is missing; give it")
        path = f"{self.path}.{key}" if self.path else key
        return _Reader(path, self.data.get(key, default), self.before)

    def has(self, key: str) -> bool:
        return isinstance(self.data, dict) and key in self.data

    def read_list(self, most: int) -> list[Any]:
        if not isinstance(self.data, list) or len(self.data) > most:
            raise self.wrong(f"no list of at most {most:,}; give one")
        return self.data

    def items(self, most: int) -> list[_Reader]:
        return [_Reader(f"{self.path}[{i}]", x, self.before) for i, x in enumerate(self.read_list(most))]

    def text(self, most: int | None = LONGEST_NAME) -> str:
        if not isinstance(self.data, str) or (most is not None and len(self.data) > most):
            raise self.wrong(
                f"no text of at most {most:,} characters; give one" if most else "no text; give one"
            )
        return self.data

    def integer(self, least: int, most: int, what: str) -> int:
        if type(self.data) is not int or not least <= self.data <= most:
            raise self.wrong(
                f"{clip_text(str(self.data), 40)} is no {what}; give a number from {least} to {most}"
            )
        return self.data

    def earlier(self) -> int:
        """Return the number of an earlier step."""
        if self.before == 0:
            raise self.wrong("there is no earlier step; give an input first")
        return self.integer(0, self.before - 1, "earlier step")

    def argument(self, depth: int = 0) -> Any:
        x = self.data
        if depth > MAX_LIST_DEPTH:
            raise self.wrong(f"lists within more than {MAX_LIST_DEPTH} lists; take it apart")
        if isinstance(x, list):
            return tuple(item.argument(depth + 1) for item in self.items(MAX_STEPS))
        if isinstance(x, dict):
            if len(x) != 1:
                raise self.wrong(f"an object of {len(x)} keys; give one of {', '.join(OBJECTS)}")
            key = next(iter(x))
            if key not in OBJECTS:
                raise self.wrong(
                    f"unknown key {quote_short(key)}{spelling_hint(key, OBJECTS)}; "
                    f"give one of {', '.join(OBJECTS)}"
                )
            return OBJECTS[key](self.at(key), depth)
        if isinstance(x, int) and x.bit_length() > MAX_INT_BITS:
            raise self.wrong(f"a number of more than {MAX_INT_BITS:,} bits; no dtype holds it")
        return x

    def number(self) -> Any:
        found = self.argument()
        if not isinstance(found, (bool, int, float, complex)):
            raise self.wrong("no number; give one")
        return found

    def dtype(self) -> NamedDType | DTypeOf | None:
        found = None if self.data is None else self.argument()
        if found is not None and not isinstance(found, (NamedDType, DTypeOf)):
            raise self.wrong('no dtype; give {"dtype": "float32"}')
        return found

    def as_float(self) -> float:
        words = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
        if isinstance(self.data, dict):
            return self.at("float").as_float()
        if isinstance(self.data, str) and self.data in words:
            return words[self.data]
        if not isinstance(self.data, (int, float)) or isinstance(self.data, bool):
            raise self.wrong(f"no float; give a number, or one of {', '.join(words)}")
        return float(self.data)


def _slice(x: _Reader, depth: int) -> Slice:
    bounds = [item.argument(depth + 1) for item in x.items(3)]
    if len(bounds) != 3:
        raise x.wrong(f"{len(bounds)} bounds; give three")
    return Slice(*bounds)


def _complex(x: _Reader, depth: int) -> complex:
    parts = [item.as_float() for item in x.items(2)]
    if len(parts) != 2:
        raise x.wrong(f"{len(parts)} parts; give two")
    return complex(*parts)


OBJECTS: Mapping[str, Callable[[_Reader, int], Any]] = {
    "step": lambda x, depth: Ref(x.earlier()),
    "dtype_of": lambda x, depth: DTypeOf(x.earlier()),
    "dtype": lambda x, depth: NamedDType(x.text()),
    "slice": _slice,
    "complex": _complex,
    "float": lambda x, depth: x.as_float(),
    "ellipsis": lambda x, depth: ...,
}


def _step(x: _Reader) -> Step:
    kind = x.at("is").text()
    location = (
        SourceLocation(x.at("file").text(), x.at("line").integer(0, 10**9, "line")) if x.has("file") else None
    )
    common: dict[str, Any] = {
        "text": clip_text(x.at("text").text(None), MAX_STEP_CHARS),
        "location": location,
        "shape": _shape(x.at("shape")) if x.has("shape") else None,
        "owner": x.at("owner").text() if x.has("owner") else None,
    }
    if kind not in KINDS:
        raise x.at("is").wrong(
            f"unknown step {quote_short(kind)}{spelling_hint(kind, KINDS)}; "
            f"a step is one of {', '.join(KINDS)}"
        )
    cls = KINDS[kind]
    read_fields: dict[str, Any] = {f.name: f.default for f in fields(cls) if f.name not in common}
    for name, default in read_fields.items():
        key = KEYS.get(name, name)
        if default is MISSING or x.has(key):
            read_fields[name] = FIELDS.get((kind, key), FIELDS["", key])(
                x.at(key, {} if key == "keywords" else ...)
            )
    if cls is Call:
        custom = _custom_operation(x.at("own"), read_fields["name"]) if x.has("own") else None
        _check_operation(x, read_fields["name"], len(read_fields["operands"]), custom)
        writes = read_fields["name"] in FUNCTION_OF_IN_PLACE or (
            read_fields["is_operator"] and read_fields["name"] in IN_PLACE_OF_FUNCTION
        )
        read_fields["custom_operation"] = custom
        read_fields["rebinds"] = writes and read_fields["rebinds"]
    return cls(**read_fields, **common)


def _args(x: _Reader) -> tuple[Any, ...]:
    args = x.argument()
    if not isinstance(args, tuple):
        raise x.wrong("no list; give one")
    return args


def _keywords(x: _Reader) -> tuple[tuple[str, Any], ...]:
    if not isinstance(x.data, dict) or len(x.data) > LONGEST_NAME:
        raise x.wrong("no object; give one with keys")
    return tuple((key, x.at(key).argument()) for key in x.data)


def _earlier_steps(x: _Reader) -> tuple[int, ...]:
    return tuple(part.earlier() for part in x.items(MAX_STEPS))


def _target(x: _Reader) -> NamedDType | DTypeOf:
    to = x.dtype()
    if to is None:
        raise x.wrong("no dtype; give one")
    return to


def _lists_in_index(x: _Reader) -> str:
    listed = x.text(None)
    if listed not in ("", *INDEX_FORMS):
        raise x.wrong(f"unknown; it is one of {', '.join(INDEX_FORMS)}")
    return listed


def _custom_operation(x: _Reader, name: str) -> Operation:
    """Return an operation that a system's file defined. Raises ProgramError."""
    listed = [[y.text() for y in x.at(key).items(MAX_AXES)] for key in ("operands", "parameters")]
    try:
        return make_custom_operation(name, x.at("like").text(), *listed)
    except OpError as e:
        raise x.wrong(str(e)) from None


def _check_operation(x: _Reader, name: str, operands: int, custom: Operation | None) -> None:
    """Raises ProgramError for an operation that no table knows, or that does not take so many operands."""
    known = custom or OPERATIONS.get(FUNCTION_OF_IN_PLACE.get(name, name))
    if known is None:
        raise x.at("name").wrong(
            f"unknown operation {quote_short(name)}{spelling_hint(name, OPERATIONS)}; give a known one"
        )
    try:
        known.check(operands)
    except TypelatticeError as e:
        raise x.at("operands").wrong(str(e)) from None


def _read_input(x: _Reader) -> Operand | str:
    try:
        return read_input(x.text())[0]
    except TypelatticeError as e:
        raise x.wrong(str(e)) from None


def _operand(x: _Reader) -> Operand:
    try:
        return parse_operand(x.text())
    except TypelatticeError as e:
        raise x.wrong(str(e)) from None


def _shape(x: _Reader) -> tuple[int | None, ...]:
    lengths = x.items(MAX_AXES)
    return tuple(None if n.data is None else n.integer(0, 2**63 - 1, "length of an axis") for n in lengths)


# How each field of a step is read, where a class of steps has no way of its own.
FIELDS: Mapping[tuple[str, str], Callable[[_Reader], Any]] = {
    ("", "args"): _args,
    ("", "dtype"): _Reader.dtype,
    ("", "given"): _read_input,
    ("", "key"): _Reader.argument,
    ("", "keywords"): _keywords,
    ("", "like"): lambda x: x.earlier() if isinstance(x.data, int) else _operand(x),
    ("", "lists"): _earlier_steps,
    ("", "made_of"): _earlier_steps,
    ("", "module"): _Reader.text,
    ("", "name"): _Reader.text,
    ("", "own"): lambda x: None,  # read when the name is known
    ("", "operands"): _earlier_steps,
    ("", "operator"): lambda x: x.data is True,
    ("", "rebinds"): lambda x: x.data is True,
    ("", "source"): _Reader.earlier,
    ("", "to"): _target,
    ("", "value"): _Reader.number,
    ("index", "lists"): _lists_in_index,
}
