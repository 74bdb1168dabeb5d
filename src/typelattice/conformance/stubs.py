"""The stubs of a library as an implementation: the dtype that a type checker infers for each call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from typelattice.conformance.implementation_differences import VAGUE
from typelattice.conformance.in_process_library import Answer
from typelattice.conformance.library import OperandString, versions_of
from typelattice.conformance.process import STARTING, LibraryProcess
from typelattice.conformance.questions import KINDS, Question
from typelattice.conformance.snippet import Code, written_call
from typelattice.conformance.type_checkers import infer, require_checker
from typelattice.facts.dtypes import DTYPES
from typelattice.facts.operations import NAMES
from typelattice.recorded.answers import EXCEPTION, NOT_ASKED, OF_PYTHON

BATCH = 5_000
"""Expressions of one run of a checker."""

REFUSED = f"{EXCEPTION}TypeError"

WORDS = {"signedinteger": "int", "unsignedinteger": "uint", "floating": "float", "complexfloating": "complex"}
BITS = r"\[_(\d+)Bit(?:, _\d+Bit)?\]"
PLATFORM = re.compile(r"\[_32Bit \| _64Bit(, _32Bit \| _64Bit)?\]")
"""The width of what is 64 bits on all platforms but old ones, such as NumPy's default integer."""
PREFIX = re.compile(r"\b(builtins|numpy|_typing|_nbit_base|typing)\.|\[builtins\.bool\]|\bbool\[bool\]")


class Stubs:
    """A library's stubs as a checker reads them; asked like a LibraryProcess."""

    def __init__(self, checker: str, library: LibraryProcess, forms: Mapping[str, Any], limit: float) -> None:
        require_checker(checker)
        self._checker, self._forms, self._limit = checker, forms, STARTING * limit
        self._library = library
        self._setup = str(forms["setup"])
        has = library.catalogue
        self.catalogue = replace(
            has,
            versions={**has.versions, **versions_of(checker)},
            how=f"the types that {checker} infers from the stubs of {has.name}",
            operands=tuple(operand for operand in has.operands if self._typed(operand)),
            operations=tuple(op for op in has.operations if self._is_written(op)),
            several=(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.__exit__()

    def answers(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """The answer to each question in turn, in batches."""
        for start in range(0, len(questions), BATCH):
            batch = questions[start : start + BATCH]
            written = [self._written(*question) for question in batch]
            asked = [text for text in written if text]
            inferred = iter(infer(self._checker, self._setup, self._names(), asked, self._limit))
            for text in written:
                if not text:
                    yield NOT_ASKED, "no expression"
                    continue
                type_, error = next(inferred)
                yield (REFUSED, error) if error else (dtype_of_type(type_), "")

    def _typed(self, operand: str) -> bool:
        """Return True if the type of an operand says what it is: that of a 0-d array does not."""
        read = OperandString.parse(operand)
        return operand in KINDS if read.dtype is None else read.tier in self._forms and "=" not in operand

    def _is_written(self, op: str) -> bool:
        return not NAMES[op].in_place and (NAMES[op].is_operator or op in self._library.catalogue.spellings)

    def _names(self) -> list[str]:
        """Declare each operand."""
        declared = [self._declared("bool", "array", "condition")]
        for operand in self.catalogue.operands:
            read = OperandString.parse(operand)
            if read.dtype:
                declared.append(self._declared(read.dtype, read.tier, _name(operand)))
        return declared

    def _declared(self, dtype: str, tier: str, name: str) -> str:
        made: str = self._forms[tier].format(x=name, dtype=dtype)
        return made.partition(" = ")[0]

    def _written(self, op: str, operands: tuple[str, ...]) -> str:
        forms = {**self._forms, "argument": "{x}", "matrix": "{x}", "condition": "condition"}
        return written_call(op, [Code(_name(operand)) for operand in operands], self._spellings, forms)

    @property
    def _spellings(self) -> Mapping[str, str]:
        return self._library.catalogue.spellings


def dtype_of_type(text: str) -> str:
    """Read the dtype of a result from its type; a vague one has a `?` before it.

    >>> dtype_of_type("ndarray[tuple[Any, ...], dtype[numpy.floating[numpy._typing._nbit_base._32Bit]]]")
    'float32'
    >>> dtype_of_type("ndarray[tuple[Any, ...], dtype[floating[Any]]]"), dtype_of_type("int")
    ('?floating', 'py:int')
    """
    plain = PREFIX.sub("", text.replace("bool[bool]", "bool"))
    plain = PLATFORM.sub(lambda found: "[_64Bit, _64Bit]" if found[1] else "[_64Bit]", plain)
    if plain.startswith("tuple["):  # of several results the first
        plain = plain[len("tuple[") :]
        if not plain.startswith("ndarray"):
            plain = plain.partition(",")[0]
    parts = [found[1] for found in re.finditer(r"\bdtype\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", plain)][:1]
    found = {_dtype(part) for part in (parts[0] if parts else plain).split(" | ")}
    if len(found) == 1:
        return found.pop()
    return VAGUE + " or ".join(sorted(each.lstrip(VAGUE) for each in found))


def _dtype(part: str) -> str:
    word, _, rest = part.partition("[")
    sized = re.fullmatch(BITS, f"[{rest}") if rest else None
    if word in WORDS and sized:
        return f"{WORDS[word]}{int(sized[1]) * (2 if WORDS[word] == 'complex' else 1)}"
    if word in DTYPES:
        return word
    if word in ("int", "float", "complex", "bool"):
        return OF_PYTHON + word
    return VAGUE + (word or "Any")


def _name(operand: str) -> str:
    """Return the name of an operand in an expression, or a Python scalar as it is written."""
    read = OperandString.parse(operand)
    return repr(read.value) if read.dtype is None else f"{read.tier}_{read.dtype}"
