"""Commands whose bulk stands with what they call, loaded when they run: `conform`, `record`, `design`."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from typelattice.cli.command import Command, Out, Usage


def _conformance(name: str) -> tuple[Callable[[ArgumentParser], object], Callable[[Namespace], Out]]:
    """The arguments and the run of a command that stands with the recordings, loaded when it is called."""

    def arguments(parser: ArgumentParser) -> None:
        from typelattice.cli import conform_run as commands

        getattr(commands, f"{name}_arguments")(parser)

    def run(args: Namespace) -> Out:
        from typelattice.cli import conform_run as commands

        try:
            yield from getattr(commands, name)(args)
        except commands.ERRORS as e:
            raise Usage(f"typelattice: {e}") from None

    return arguments, run


def _design_arguments(parser: ArgumentParser) -> None:
    from typelattice.cli.design_run import design_arguments

    design_arguments(parser)


def _design(args: Namespace) -> Out:
    from typelattice.cli.design_run import run_design
    from typelattice.designer import ERRORS

    try:
        yield from run_design(args)
    except ERRORS as e:
        raise Usage(f"typelattice design: {e}") from None


conform = Command(
    "A system against a library, recorded or installed.", *_conformance("conform"),
    ["numpy", "jax --live 10000 --seed 3", "numpy --system mine.toml"],
)  # fmt: skip

record = Command(
    "Asks a library everything and writes down its answers.", *_conformance("record"),
    ["numpy", "mine:MyLibrary -o mine.json"],
)  # fmt: skip

design = Command(
    "Completes a partial order at the least cost, or repairs one.", _design_arguments, _design,
    ["jep9407-0", "mine.toml --rules lattice,overflow --costs width -o found", "numpy --repair"],
)  # fmt: skip
