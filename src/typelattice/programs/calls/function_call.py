"""A call of a library's function, as its source has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from typelattice.base.errors.error_texts import quote_short
from typelattice.core.operations.operations import find_operation
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import Argument, DTypeArgument, DTypeOf, Excerpt, NamedDType, Ref


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a function: its source, its name and arguments, and the program that it is added to.

    `args` are given by position, `keywords` by name.
    """

    builder: ProgramBuilder
    excerpt: Excerpt
    name: str
    args: Sequence[Argument]
    keywords: Mapping[str, Argument]

    @property
    def library(self) -> str | None:
        """The library that the source names, or None if it names none."""
        return self.excerpt.owner

    @property
    def dtype(self) -> DTypeArgument | None:
        """The requested dtype, or None without one. Raises ProgramError."""
        return requested_dtype(self.excerpt, self.keywords.get("dtype"))

    def ensure_ref(self, x: Argument) -> Ref:
        """Return the step of an argument, or add one."""
        return self.builder.ensure_ref(self.excerpt, x)

    def add_operation(
        self, name: str, operands: Sequence[Argument], args: Sequence[Argument] = (),
        keywords: Mapping[str, Argument] = {},
    ) -> Ref:  # fmt: skip
        """Add the step of an operation. `args` follow its operands."""
        return self.builder.add_call(self.excerpt, find_operation(name), operands, args, keywords)


def requested_dtype(excerpt: Excerpt, argument: Argument) -> DTypeArgument | None:
    """Return the requested dtype, or None without one. Raises ProgramError for anything but a dtype."""
    if argument is None or isinstance(argument, (NamedDType, DTypeOf)):
        return argument
    if isinstance(argument, str):
        return NamedDType(name_meaning(NameSort.BYTE_CODE, argument, excerpt.owner) or argument)
    if isinstance(argument, Ref):
        return DTypeOf(argument.step)  # functions such as result_type give a dtype
    raise excerpt.error(f"{quote_short(str(argument))} is no dtype; give one such as float32")
