"""Objects that a library's function makes, such as layers: a row of its book describes their calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from typelattice.core.books.read_book import OBJECT_MARK
from typelattice.programs.calls.asked_calls import AskedCall, call_or_ask
from typelattice.programs.calls.calls_to_steps import call_object
from typelattice.programs.calls.compositions import is_composition
from typelattice.programs.calls.function_call import FunctionCall
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import Argument, DTypeArgument, Excerpt, LibraryCall

CAST_PARAMETER = "dtype"  # the parameter of a function with the dtype of its object's arrays


@dataclass(frozen=True, slots=True)
class BookObject:
    """An object, with the function and the arguments that made it.

    `full_name` has the modules, as in the source. `cast_to` is the dtype that its arrays were cast to.
    """

    builder: ProgramBuilder
    excerpt: Excerpt
    name: str
    full_name: str
    args: tuple[Argument, ...]
    keywords: Mapping[str, Argument]
    cast_to: DTypeArgument | None = None

    @property
    def owner(self) -> str | None:
        """The library whose function made the object."""
        return self.excerpt.owner

    def call(
        self, excerpt: Excerpt, args: Sequence[Argument], keywords: Mapping[str, Argument]
    ) -> Argument | MultipleResults | AskedCall:
        """Add the steps of a call, or ask the library if no row describes it. Raises ProgramError."""
        excerpt = excerpt.of_library(self.owner, self.excerpt.module)
        made_by = {**self.keywords}
        if self.cast_to is not None:
            made_by[CAST_PARAMETER] = self.cast_to
        call = FunctionCall(self.builder, excerpt, f"{self.name}{OBJECT_MARK}", args, keywords)
        found = call_or_ask(
            self.builder, self.excerpt, lambda: call_object(call, self.args, made_by), self.make_call
        )
        if isinstance(found, AskedCall):
            return self._cast_asked(found).call_result(excerpt, args, keywords)
        return found

    def as_asked(self) -> AskedCall:
        """Return the object as one that the library is asked about, to take its attributes."""
        what = f"nothing is known of the attributes of {self.full_name}"
        error = self.excerpt.error(f"{what}; give one as a value")
        return self._cast_asked(AskedCall(self.builder, self.excerpt, self.make_call(), error))

    def make_call(self) -> LibraryCall:
        """Return the call that makes the object."""
        return LibraryCall(self.full_name, self.args, (*self.keywords.items(),), text=self.excerpt.text)

    def of_dtype(self, to: DTypeArgument) -> BookObject:
        """Return the object with arrays that are cast to a dtype."""
        return replace(self, cast_to=to)

    def _cast_asked(self, asked: AskedCall) -> AskedCall:
        return asked if self.cast_to is None else asked.of_dtype(self.cast_to)


def makes_object(name: str, library: str | None) -> bool:
    """Return True if a book describes the calls of the objects that a function makes.

    >>> makes_object("nn.ReLU", "torch"), makes_object("relu", "torch")
    (True, False)
    """
    return is_composition(f"{name}{OBJECT_MARK}", library)
