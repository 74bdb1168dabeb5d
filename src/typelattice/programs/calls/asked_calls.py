"""Calls that no table describes, and that a library can be asked about, as values of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from typelattice.core.operations.shapes import Shape
from typelattice.core.registry.libraries import libraries
from typelattice.programs.calls.library_questions import AskedOperand, find_asker, make_question
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import (
    Argument,
    DTypeArgument,
    Excerpt,
    InvalidCallError,
    LibraryCall,
    NamedDType,
    ProgramError,
    Ref,
    UnknownFunctionError,
)

T = TypeVar("T")
STAND_IN_DTYPE = "float32"  # stands for the dtype of a step that is not known before a system is chosen


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call that the library is asked about. It may give an array, several, or an object such as a layer.

    It becomes a step when its result is used: as a whole, or one of its results. `error` says why the tables
    do not describe it. `cast_to` is the dtype that an object's arrays were cast to.
    """

    builder: ProgramBuilder
    excerpt: Excerpt
    call: LibraryCall
    error: ProgramError
    made_steps: dict[tuple[int | str, ...], Ref] = field(default_factory=dict)
    cast_to: DTypeArgument | None = None

    def take(self, *taken: int | str) -> Ref:
        """Return the step of the whole result, or of one of several, by its number or its name.

        Raises ProgramError if the library refuses the call whatever the dtypes are.
        """
        if taken not in self.made_steps:
            called = replace(self.call, taken=taken)
            if self.cast_to is not None and self.call.object_args is None:
                cast = replace(called, keywords=(*called.keywords, ("dtype", self.cast_to)))
                called = self.choose_accepted(cast, called)
            shape = self.check_accepted(called)
            made = self.made_steps[taken] = self.builder.add_library_call(self.excerpt, called)
            self.builder.replace_shape(made, shape)
        return self.made_steps[taken]

    def check_accepted(self, call: LibraryCall) -> Shape | None:
        """Return the shape of a call's result if it is known.

        Raises ProgramError if the library refuses the call whatever the dtypes are.
        """
        asker, library, builder = find_asker(), self.excerpt.owner, self.builder
        if asker is None or library is None:
            raise self.error

        def describe_step(number: int) -> AskedOperand:
            step = Ref(number)
            if not builder.is_scalar(step):
                return AskedOperand(STAND_IN_DTYPE, builder.shape_of(step))
            known = builder.known_number(step)
            return AskedOperand("1" if isinstance(known, Ref) else repr(known), ())

        question = make_question(call, describe_step, lambda i: NamedDType(STAND_IN_DTYPE))
        trial = asker.try_call(library, question)
        if trial.refusal:
            is_invalid = isinstance(self.error, InvalidCallError)  # the tables refuse it, too
            raise (InvalidCallError if is_invalid else ProgramError)(f"{self.error}; {trial.refusal}")
        return trial.shape

    def call_result(
        self, excerpt: Excerpt, args: Sequence[Argument], keywords: Mapping[str, Argument]
    ) -> AskedCall:
        """Return the call of the object that this call makes. Raises ProgramError if it was one already."""
        if self.call.object_args is not None:
            raise excerpt.error("a function that a call of a layer gives; give its result a name")
        made = replace(
            self.call, args=tuple(args), keywords=(*keywords.items(),),
            object_args=self.call.args, object_keywords=self.call.keywords,
        )  # fmt: skip
        if self.cast_to is not None:
            cast = replace(made, object_keywords=(*self.call.keywords, ("dtype", self.cast_to)))
            made = self.choose_accepted(cast, made)
        return AskedCall(self.builder, excerpt.of_library(self.excerpt.owner), made, self.error)

    def choose_accepted(self, cast: LibraryCall, plain: LibraryCall) -> LibraryCall:
        """Return the call with a dtype, or without it if the library takes none: a layer without arrays."""
        try:
            self.check_accepted(cast)
        except ProgramError:
            return plain
        return cast

    def of_dtype(self, to: DTypeArgument) -> AskedCall:
        """Return the call that makes an object whose arrays are cast to a dtype."""
        return replace(self, cast_to=to, made_steps={})


def call_or_ask(
    builder: ProgramBuilder, excerpt: Excerpt, name: str, args: Sequence[Argument],
    keywords: Mapping[str, Argument], call: Callable[[], T],
) -> T | AskedCall:  # fmt: skip
    """Add the steps of a call as the tables say. If these do not describe it, let the library be asked.

    `name` is the function as the source writes it, or a method after a dot. Raises ProgramError if the tables
    do not describe the call and the library cannot be asked.
    """
    count, library = len(builder.steps), excerpt.owner
    try:
        return call()
    except ProgramError as e:
        asker = find_asker() if not builder.find_observed_operand else None
        if asker is None or library is None:
            raise
        package = libraries()[library].distribution if library in libraries() else ""
        if isinstance(e, UnknownFunctionError) and package and not asker.is_installed(library):
            raise ProgramError(f"{e}; to ask {library} itself, pip install {package}") from None
        if not asker.has_function(library, name):
            raise
        error = e
    builder.drop_steps(count)
    call_of_library = LibraryCall(name, tuple(args), (*keywords.items(),), text=excerpt.text)
    asked = AskedCall(builder, excerpt, call_of_library, error)
    if isinstance(error, InvalidCallError):  # a `try` around the call may catch it
        asked.check_accepted(call_of_library)
    return asked
