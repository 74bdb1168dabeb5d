"""The stubs of a library as an implementation: the answer that a type checker infers for each call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from subprocess import Popen
from tempfile import TemporaryDirectory
from typing import Any, Self

from typelattice.conformance.imitations.difference_reproducer import CodeFragment, write_call
from typelattice.conformance.imitations.type_checkers import (
    EXPRESSIONS_PER_RUN,
    end_checker,
    infer_types,
    require_checker,
)
from typelattice.conformance.recording.in_process_library import AnswerAndMessage
from typelattice.conformance.recording.library import MissingLibraryError, ParsedOperandString, versions_of
from typelattice.conformance.recording.library_process import START_TIME_FACTOR, LibraryProcess
from typelattice.conformance.recording.questions import PYTHON_SCALAR_OPERANDS, Question
from typelattice.core.evidence.answer_notation import EXCEPTION_PREFIX, NOT_ASKED_ANSWER
from typelattice.core.operations.operations import OPERATION_BY_NAME

IMPLEMENTATIONS_PACKAGE = "typelattice.conformance.imitations.alternative_implementations"
REFUSED_ANSWER = f"{EXCEPTION_PREFIX}TypeError"


class StubImplementation:
    """A library's stubs as a checker reads them; it answers like a LibraryProcess."""

    batch_size = EXPRESSIONS_PER_RUN

    def __init__(self, checker: str, library: LibraryProcess, forms: Mapping[str, Any], limit: float) -> None:
        require_checker(checker)
        stub_distribution = [str(forms["distribution"])] if "distribution" in forms else []
        self._checker, self._forms, self._limit = checker, forms, START_TIME_FACTOR * limit
        self._library = library
        self._running: Popen[str] | None = None
        self._setup = str(forms["setup"])
        self._answer_of_type = import_module(f"{IMPLEMENTATIONS_PACKAGE}.{forms['types']}").answer_of_type
        catalogue = library.catalogue
        stubs = " ".join(stub_distribution) or f"the stubs of {catalogue.name}"
        self.catalogue = replace(
            catalogue,
            versions={**catalogue.versions, **_versions_of(*stub_distribution, checker)},
            how=f"the types that {checker} infers from {stubs}",
            operands=tuple(operand for operand in catalogue.operands if self._is_identified_by_type(operand)),
            operations=tuple(op for op in catalogue.operations if self._is_written(op)),
            multi_operand_operations=(),
        )
        self._folder = TemporaryDirectory()  # where the checker keeps what it has read

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.__exit__()
        self._folder.cleanup()

    def stop(self) -> None:
        """End the checker; called from another thread."""
        if self._running is not None:
            end_checker(self._running)

    def answers(self, questions: Sequence[Question]) -> Iterator[AnswerAndMessage]:
        """Yield the answer to each question in turn."""
        written = [self._write_question(*question) for question in questions]
        asked = [*filter(None, written)]
        inferred = infer_types(
            self._checker, self._setup, self._declare_operands(), asked, self._limit,
            on_start=self._note_running, folder=self._folder.name,
        )  # fmt: skip
        for text in written:
            if not text:
                yield NOT_ASKED_ANSWER, "no expression"
                continue
            type_, error = next(inferred)
            yield (REFUSED_ANSWER, error) if error else (self._answer_of_type(type_), "")

    def _note_running(self, process: Popen[str]) -> None:
        self._running = process

    def _is_identified_by_type(self, operand: str) -> bool:
        """Return True if the type of an operand identifies it: the type of a 0-d array does not."""
        read = ParsedOperandString.parse(operand)
        return (
            operand in PYTHON_SCALAR_OPERANDS
            if read.dtype is None
            else read.tier in self._forms and "=" not in operand
        )

    def _is_written(self, op_name: str) -> bool:
        is_known = (
            op_name in OPERATION_BY_NAME
            and OPERATION_BY_NAME[op_name].is_operator
            and not OPERATION_BY_NAME[op_name].is_in_place
        )
        return is_known or op_name in self._spellings

    def _declare_operands(self) -> list[str]:
        """Declare each operand."""
        declared = [self._declaration("bool", "array", "condition")]
        for operand in self.catalogue.operands:
            read = ParsedOperandString.parse(operand)
            if read.dtype:
                declared.append(self._declaration(read.dtype, read.tier, _operand_name(operand)))
        return declared

    def _declaration(self, dtype: str, tier: str, name: str) -> str:
        made: str = self._forms[tier].format(x=name, dtype=dtype)
        return made.partition(" = ")[0]

    def _write_question(self, op_name: str, operands: tuple[str, ...]) -> str:
        forms = {**self._forms, "argument": "{x}", "matrix": "{x}", "condition": "condition"}
        return write_call(
            op_name, [CodeFragment(_operand_name(operand)) for operand in operands], self._spellings, forms
        )

    @property
    def _spellings(self) -> Mapping[str, str]:
        return self._library.catalogue.spellings


def _versions_of(*packages: str) -> Mapping[str, str]:
    """Return the installed versions of stubs and of a checker. Raise MissingLibraryError."""
    try:
        return versions_of(*packages)
    except ModuleNotFoundError as error:
        raise MissingLibraryError(f"{error.name} is not installed; pip install {error.name}") from None


def _operand_name(operand: str) -> str:
    """Return the name of an operand in an expression, or a Python scalar as it is written."""
    read = ParsedOperandString.parse(operand)
    return repr(read.value) if read.dtype is None else f"{read.tier}_{read.dtype}"
