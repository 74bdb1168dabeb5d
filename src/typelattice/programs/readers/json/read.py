"""Reading of programs from JSON. Every key is checked, and an error names the place of the mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from json import loads
from typing import Any

from typelattice.base.errors.error_texts import clip_text, quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.engine.foreign_arrays import INDEX_FORMS
from typelattice.core.operands.notation import MAX_INT_BITS, parse_operand
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import OPERATIONS, Operation, OpError, make_custom_operation
from typelattice.programs.calls.program_builder import MAX_STEPS
from typelattice.programs.calls.program_inputs import MAX_AXES, read_input
from typelattice.programs.calls.steps import (
    FUNCTION_OF_IN_PLACE,
    IN_PLACE_OF_FUNCTION,
    MAX_STEP_CHARS,
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
    ProgramError,
    Ref,
    Refused,
    Slice,
    SourceLocation,
    Step,
)  # fmt: skip
from typelattice.programs.readers.json.write import KEY_BY_FIELD, PROGRAM_FORMAT_VERSION

MAX_JSON_CHARS = 400_000_000  # characters; a longer document is refused
MAX_NAME_CHARS = 1_000  # characters of the name of a file, a function or an operand
MAX_LIST_DEPTH = 32  # lists within one another
STEP_CLASS_BY_NAME: Mapping[str, type[Step]] = {
    cls.__name__.lower(): cls
    for cls in (
        Input, Number, Call, Cast, Index, Item, Created, Opaque, LibraryCall, AskedDType, Either, Refused,
    )
}


def read_json(text: str) -> tuple[tuple[Step, ...], tuple[int, ...], str, str]:
    """Read the steps, results and source of a program in JSON, and the system whose branches it has.

    Nothing is run. Raises ProgramError.
    """
    if len(text) > MAX_JSON_CHARS:
        raise ProgramError(f"JSON of {len(text):,} characters; the longest is {MAX_JSON_CHARS:,}")
    try:
        data = loads(text)
    except (ValueError, RecursionError) as e:
        why = "nested too deep" if isinstance(e, RecursionError) else clip_text(str(e), 200)
        raise ProgramError(f"not JSON: {why}; give what to_json made") from None
    whole = _JSONValue("", data)
    if not isinstance(data, dict) or data.get("typelattice") != "program":
        raise whole.make_error('no program; give what to_json made, with "typelattice": "program"')
    if data.get("version") != PROGRAM_FORMAT_VERSION:
        raise whole.value_at("version").make_error(
            f"no version that is known; it should be {PROGRAM_FORMAT_VERSION}"
        )
    listed = whole.value_at("steps").read_list(MAX_STEPS)
    steps: list[Step] = []
    for i, step in enumerate(listed):
        steps.append(_read_step(_JSONValue(f"steps[{i}]", step, i)))
    chosen = enumerate(whole.value_at("results").read_list(MAX_STEPS))
    results = tuple(_JSONValue(f"results[{i}]", x, len(steps)).read_earlier_step() for i, x in chosen)
    if not results:
        raise whole.value_at("results").make_error("empty; give the number of a step")
    source = whole.value_at("source", "").read_text(None)
    return tuple(steps), results, source, whole.value_at("branches_of", "").read_text()


class _JSONValue:
    """A value in JSON with its path of keys. `earlier_count` is the number of steps before it."""

    def __init__(self, path: str, data: Any, earlier_count: int = 0) -> None:
        self.path, self.data, self.earlier_count = path, data, earlier_count

    def make_error(self, reason: str) -> ProgramError:
        return ProgramError(f"{self.path or 'the whole'}: {reason}")

    def value_at(self, key: str, default: Any = ...) -> _JSONValue:
        """Return the value under a key."""
        if not isinstance(self.data, dict):
            raise self.make_error("no object; give one with keys")
        if key not in self.data and default is ...:
            raise self.make_error(f"{key} is missing; give it")
        path = f"{self.path}.{key}" if self.path else key
        return _JSONValue(path, self.data.get(key, default), self.earlier_count)

    def has_key(self, key: str) -> bool:
        return isinstance(self.data, dict) and key in self.data

    def read_list(self, max_length: int) -> list[Any]:
        if not isinstance(self.data, list) or len(self.data) > max_length:
            raise self.make_error(f"no list of at most {max_length:,}; give one")
        return self.data

    def read_items(self, max_length: int) -> list[_JSONValue]:
        return [
            _JSONValue(f"{self.path}[{i}]", x, self.earlier_count)
            for i, x in enumerate(self.read_list(max_length))
        ]

    def read_text(self, max_length: int | None = MAX_NAME_CHARS) -> str:
        if not isinstance(self.data, str) or (max_length is not None and len(self.data) > max_length):
            raise self.make_error(
                f"no text of at most {max_length:,} characters; give one"
                if max_length
                else "no text; give one"
            )
        return self.data

    def read_integer(self, minimum: int, maximum: int, noun: str) -> int:
        if type(self.data) is not int or not minimum <= self.data <= maximum:
            raise self.make_error(
                f"{clip_text(str(self.data), 40)} is no {noun}; give a number from {minimum} to {maximum}"
            )
        return self.data

    def read_earlier_step(self) -> int:
        """Return the number of an earlier step."""
        if self.earlier_count == 0:
            raise self.make_error("there is no earlier step; give an input first")
        return self.read_integer(0, self.earlier_count - 1, "earlier step")

    def read_argument(self, depth: int = 0) -> Any:
        x = self.data
        if depth > MAX_LIST_DEPTH:
            raise self.make_error(f"lists within more than {MAX_LIST_DEPTH} lists; take it apart")
        if isinstance(x, list):
            return tuple(item.read_argument(depth + 1) for item in self.read_items(MAX_STEPS))
        if isinstance(x, dict):
            if len(x) != 1:
                raise self.make_error(
                    f"an object of {len(x)} keys; give one of {', '.join(OBJECT_READER_BY_KEY)}"
                )
            key = next(iter(x))
            if key not in OBJECT_READER_BY_KEY:
                raise self.make_error(
                    f"unknown key {quote_short(key)}{spelling_hint(key, OBJECT_READER_BY_KEY)}; "
                    f"give one of {', '.join(OBJECT_READER_BY_KEY)}"
                )
            return OBJECT_READER_BY_KEY[key](self.value_at(key), depth)
        if isinstance(x, int) and x.bit_length() > MAX_INT_BITS:
            raise self.make_error(f"a number of more than {MAX_INT_BITS:,} bits; no dtype holds it")
        return x

    def read_number(self) -> Any:
        found = self.read_argument()
        if not isinstance(found, (bool, int, float, complex)):
            raise self.make_error("no number; give one")
        return found

    def read_dtype(self) -> NamedDType | DTypeOf | None:
        found = None if self.data is None else self.read_argument()
        if found is not None and not isinstance(found, (NamedDType, DTypeOf)):
            raise self.make_error('no dtype; give {"dtype": "float32"}')
        return found

    def as_float(self) -> float:
        words = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
        if isinstance(self.data, dict):
            return self.value_at("float").as_float()
        if isinstance(self.data, str) and self.data in words:
            return words[self.data]
        if not isinstance(self.data, (int, float)) or isinstance(self.data, bool):
            raise self.make_error(f"no float; give a number, or one of {', '.join(words)}")
        return float(self.data)


def _read_slice(value: _JSONValue, depth: int) -> Slice:
    bounds = [item.read_argument(depth + 1) for item in value.read_items(3)]
    if len(bounds) != 3:
        raise value.make_error(f"{len(bounds)} bounds; give three")
    return Slice(*bounds)


def _read_complex(value: _JSONValue, depth: int) -> complex:
    parts = [item.as_float() for item in value.read_items(2)]
    if len(parts) != 2:
        raise value.make_error(f"{len(parts)} parts; give two")
    return complex(*parts)


def _read_pairs(value: _JSONValue, depth: int) -> Pairs:
    pairs = [item.read_argument(depth + 1) for item in value.read_items(MAX_STEPS)]
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise value.make_error("no pairs of keys and values; give lists of two")
    return Pairs(tuple(pairs))


def _read_object(value: _JSONValue, depth: int) -> LibraryObject:
    args = value.value_at("args").read_argument(depth + 1) if value.has_key("args") else None
    if args is not None and not isinstance(args, tuple):
        raise value.value_at("args").make_error("no list; give one")
    keywords = _read_keywords(value.value_at("keywords"), depth + 1) if value.has_key("keywords") else ()
    taken = _read_taken(value.value_at("taken")) if value.has_key("taken") else ()
    return LibraryObject(value.value_at("name").read_text(None), args, keywords, taken)


OBJECT_READER_BY_KEY: Mapping[str, Callable[[_JSONValue, int], Any]] = {
    "step": lambda x, depth: Ref(x.read_earlier_step()),
    "dtype_of": lambda x, depth: DTypeOf(x.read_earlier_step()),
    "dtype": lambda x, depth: NamedDType(x.read_text()),
    "slice": _read_slice,
    "pairs": _read_pairs,
    "object": _read_object,
    "complex": _read_complex,
    "float": lambda x, depth: x.as_float(),
    "ellipsis": lambda x, depth: ...,
}


def _read_step(value: _JSONValue) -> Step:
    kind = value.value_at("is").read_text()
    location = (
        SourceLocation(
            value.value_at("file").read_text(), value.value_at("line").read_integer(0, 10**9, "line")
        )
        if value.has_key("file")
        else None
    )
    common: dict[str, Any] = {
        "text": clip_text(value.value_at("text").read_text(None), MAX_STEP_CHARS),
        "location": location,
        "shape": _read_shape(value.value_at("shape")) if value.has_key("shape") else None,
        "owner": value.value_at("owner").read_text() if value.has_key("owner") else None,
    }
    if kind not in STEP_CLASS_BY_NAME:
        raise value.value_at("is").make_error(
            f"unknown step {quote_short(kind)}{spelling_hint(kind, STEP_CLASS_BY_NAME)}; "
            f"a step is one of {', '.join(STEP_CLASS_BY_NAME)}"
        )
    cls = STEP_CLASS_BY_NAME[kind]
    read_fields: dict[str, Any] = {f.name: f.default for f in fields(cls) if f.name not in common}
    for name, default in read_fields.items():
        key = KEY_BY_FIELD.get(name, name)
        if default is MISSING or value.has_key(key):
            read_fields[name] = FIELD_READER_BY_STEP_AND_KEY.get(
                (kind, key), FIELD_READER_BY_STEP_AND_KEY["", key]
            )(value.value_at(key, {} if key == "keywords" else ...))
    if cls is Call:
        custom = (
            _read_custom_operation(value.value_at("own"), read_fields["name"])
            if value.has_key("own")
            else None
        )
        _check_operation(value, read_fields["name"], len(read_fields["operands"]), custom)
        writes = read_fields["name"] in FUNCTION_OF_IN_PLACE or (
            read_fields["is_operator"] and read_fields["name"] in IN_PLACE_OF_FUNCTION
        )
        read_fields["custom_operation"] = custom
        read_fields["rebinds"] = writes and read_fields["rebinds"]
    return cls(**read_fields, **common)


def _read_args(value: _JSONValue) -> tuple[Any, ...]:
    args = value.read_argument()
    if not isinstance(args, tuple):
        raise value.make_error("no list; give one")
    return args


def _read_keywords(value: _JSONValue, depth: int = 0) -> tuple[tuple[str, Any], ...]:
    if not isinstance(value.data, dict) or len(value.data) > MAX_NAME_CHARS:
        raise value.make_error("no object; give one with keys")
    return tuple((key, value.value_at(key).read_argument(depth)) for key in value.data)


def _read_earlier_steps(value: _JSONValue) -> tuple[int, ...]:
    return tuple(part.read_earlier_step() for part in value.read_items(MAX_STEPS))


def _read_target(value: _JSONValue) -> NamedDType | DTypeOf:
    to = value.read_dtype()
    if to is None:
        raise value.make_error("no dtype; give one")
    return to


def _read_taken(value: _JSONValue) -> tuple[int | str, ...]:
    found = _read_args(value)
    if not all(isinstance(x, (int, str)) and not isinstance(x, bool) for x in found):
        raise value.make_error("no numbers and names of results; give a list of them")
    return found


def _read_shapes(value: _JSONValue) -> tuple[tuple[int | None, ...] | None, ...]:
    """Return the shape of each of several steps, or None for one that is unknown."""
    return tuple(None if x.data is None else _read_shape(x) for x in value.read_items(MAX_STEPS))


def _read_list_form(value: _JSONValue) -> str:
    listed = value.read_text(None)
    if listed not in ("", *INDEX_FORMS):
        raise value.make_error(f"unknown; it is one of {', '.join(INDEX_FORMS)}")
    return listed


def _read_custom_operation(value: _JSONValue, name: str) -> Operation:
    """Return an operation that a system's file defined. Raises ProgramError if one of its keys is wrong."""
    listed = [
        [y.read_text() for y in value.value_at(key).read_items(MAX_AXES)]
        for key in ("operands", "parameters")
    ]
    try:
        return make_custom_operation(name, value.value_at("like").read_text(), *listed)
    except OpError as e:
        raise value.make_error(str(e)) from None


def _check_operation(value: _JSONValue, name: str, operands: int, custom_operation: Operation | None) -> None:
    """Raise ProgramError if an operation is unknown, or takes a different number of operands."""
    known = custom_operation or OPERATIONS.get(FUNCTION_OF_IN_PLACE.get(name, name))
    if known is None:
        raise value.value_at("name").make_error(
            f"unknown operation {quote_short(name)}{spelling_hint(name, OPERATIONS)}; give a known one"
        )
    try:
        known.check_operand_count(operands)
    except TypelatticeError as e:
        raise value.value_at("operands").make_error(str(e)) from None


def _read_input(value: _JSONValue) -> Operand | str:
    try:
        return read_input(value.read_text())[0]
    except TypelatticeError as e:
        raise value.make_error(str(e)) from None


def _read_operand(value: _JSONValue) -> Operand:
    try:
        return parse_operand(value.read_text())
    except TypelatticeError as e:
        raise value.make_error(str(e)) from None


def _read_shape(value: _JSONValue) -> tuple[int | None, ...]:
    lengths = value.read_items(MAX_AXES)
    return tuple(
        None if n.data is None else n.read_integer(0, 2**63 - 1, "length of an axis") for n in lengths
    )


# Readers for fields of steps, unless a class of steps has its own reader.
FIELD_READER_BY_STEP_AND_KEY: Mapping[tuple[str, str], Callable[[_JSONValue], Any]] = {
    ("", "args"): _read_args,
    ("", "choices"): _read_earlier_steps,
    ("", "condition"): lambda x: x.read_text(None),
    ("", "conversion"): lambda x: x.data is True,
    ("", "dtype"): _JSONValue.read_dtype,
    ("", "given"): _read_input,
    ("", "key"): _JSONValue.read_argument,
    ("", "keywords"): _read_keywords,
    ("", "like"): lambda x: x.read_earlier_step() if isinstance(x.data, int) else _read_operand(x),
    ("", "lists"): _read_earlier_steps,
    ("", "made_of"): _read_earlier_steps,
    ("", "module"): _JSONValue.read_text,
    ("", "name"): _JSONValue.read_text,
    ("", "own"): lambda x: None,  # read when the name is known
    ("", "operands"): _read_earlier_steps,
    ("", "operator"): lambda x: x.data is True,
    ("", "rebinds"): lambda x: x.data is True,
    ("", "shapes"): _read_shapes,
    ("", "source"): _JSONValue.read_earlier_step,
    ("", "taken"): _read_taken,
    ("", "to"): _read_target,
    ("", "value"): _JSONValue.read_number,
    ("index", "lists"): _read_list_form,
}
