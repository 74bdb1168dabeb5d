"""The commands: each its arguments, what it prints, and examples. The command line loads the one that is called."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

FEW = 4  # things that stand for all of their sort
Out = Iterator[str]  # paragraphs


class Usage(Exception):
    """A command line that cannot be read: one line that says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it is for, its arguments, what it prints, examples."""

    about: str
    arguments: Callable[[ArgumentParser], object]
    run: Callable[[Namespace], Out]
    examples: Sequence[str]
