"""Calls that no table describes, and that a library can be asked about, as values of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from typelattice.core.operations.shapes import Shape
from typelattice.core.registry.libraries import libraries
from typelattice.programs.calls.library_questions import (
    AskedOperand,
    CallTrial,
    find_asker,
    make_question,
)
from typelattice.programs.calls.methods import is_method
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import (
    CALLED_OBJECT,
    Argument,
    DTypeArgument,
    Excerpt,
    InvalidCallError,
    LibraryCall,
    LibraryObject,
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
            called = replace(self.call, taken=(*self.call.taken, *taken))
            if self.cast_to is not None and self.call.name != CALLED_OBJECT:
                called = self.choose_accepted(_with_dtype(called, self.cast_to), called)
            shape = self.check_accepted(called)
            made = self.made_steps[taken] = self.builder.add_library_call(self.excerpt, called)
            self.builder.replace_shape(made, shape)
        return self.made_steps[taken]

    def part(self, taken: int | str) -> Ref | AskedCall:
        """Return one of several results, or a part of an object: an array, or an object again."""
        found = replace(self, call=replace(self.call, taken=(*self.call.taken, taken)), made_steps={})
        return found if found.gives_object else found.take()

    def method(self, name: str) -> AskedCall:
        """Return a method of the object that this call makes."""
        return replace(self, call=replace(self.call, taken=(*self.call.taken, name)), made_steps={})

    def has_array_method(self, name: str) -> bool:
        """Return True if the library gives an array, and its arrays have a method."""
        asker, library = find_asker(), self.excerpt.owner
        if asker is None or library is None:
            return True
        if self.gives_object:
            return False
        return is_method(name) or asker.has_function(library, f".{name}")

    @property
    def gives_object(self) -> bool:
        """True if the library gives no array, but an object, or several results."""
        return bool(self.try_call(self.call).made)

    def check_accepted(self, call: LibraryCall) -> Shape | None:
        """Return the shape of a call's result if it is known.

        Raises ProgramError if the library refuses the call whatever the dtypes are.
        """
        trial = self.try_call(call)
        if trial.refusal:
            is_invalid = isinstance(self.error, InvalidCallError)  # the tables refuse it, too
            raise (InvalidCallError if is_invalid else ProgramError)(f"{self.error}; {trial.refusal}")
        return trial.shape

    def try_call(self, call: LibraryCall) -> CallTrial:
        """Let the library make a call with operands of all kinds. Raises ProgramError if it may not."""
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
        return asker.try_call(library, question)

    def as_object(self) -> LibraryObject:
        """Return the object that this call makes, as an argument of another call."""
        called = self.call
        if self.cast_to is not None:
            called = self.choose_accepted(_with_dtype(called, self.cast_to), called)
        return LibraryObject(called.name, called.args, called.keywords, called.taken)

    def call_result(
        self, excerpt: Excerpt, args: Sequence[Argument], keywords: Mapping[str, Argument]
    ) -> AskedCall:
        """Return the call of the object that this call makes."""
        given = self.as_object(), *args
        call = LibraryCall(CALLED_OBJECT, given, (*keywords.items(),), text=self.call.text)
        return AskedCall(self.builder, excerpt.of_library(self.excerpt.owner), call, self.error)

    def choose_accepted(self, cast: LibraryCall, plain: LibraryCall) -> LibraryCall:
        """Return the call with a dtype, or without it if the library takes none: a layer without arrays."""
        trial = self.try_call(cast)
        return cast if trial.made or not trial.refusal else plain

    def of_dtype(self, to: DTypeArgument) -> AskedCall:
        """Return the call that makes an object whose arrays are cast to a dtype."""
        return replace(self, cast_to=to, made_steps={})


def _with_dtype(call: LibraryCall, to: DTypeArgument) -> LibraryCall:
    return replace(call, keywords=(*call.keywords, ("dtype", to)))


def call_or_ask(
    builder: ProgramBuilder, excerpt: Excerpt, call: Callable[[], T], make_call: Callable[[], LibraryCall]
) -> T | AskedCall:
    """Add the steps of a call as the tables say. If these do not describe it, let the library be asked.

    `make_call` returns the call that it is asked about. Raises ProgramError if the tables do not describe the
    call and the library cannot be asked.
    """
    count = len(builder.steps)
    try:
        return call()
    except ProgramError as e:
        error = e
    builder.drop_steps(count)
    return ask_call(builder, excerpt, make_call, error)


def ask_call(
    builder: ProgramBuilder, excerpt: Excerpt, make_call: Callable[[], LibraryCall], error: ProgramError
) -> AskedCall:
    """Return a call that the library is asked about. Raises `error` if it cannot be asked."""
    asker, library = find_asker() if not builder.find_observed_operand else None, excerpt.owner
    if asker is None or library is None:
        raise error
    call = make_call()
    package = libraries()[library].distribution if library in libraries() else ""
    if isinstance(error, UnknownFunctionError) and package and not asker.is_installed(library):
        raise ProgramError(f"{error}; to ask {library} itself, pip install {package}") from None
    if not asker.has_function(library, call.name):
        raise error
    asked = AskedCall(builder, excerpt, call, error)
    if isinstance(error, InvalidCallError):  # a `try` around the call may catch it
        asked.check_accepted(call)
    return asked
