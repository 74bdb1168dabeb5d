"""What a command of the command line is, and the ways in which one ends."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from typelattice.facts.errors import TypelatticeError

FEW = 4  # examples shown where there are many of the same sort
Paragraphs = Iterator[str]  # what a command prints, each with a line break after it


class UsageError(TypelatticeError, ValueError):
    """A command line that cannot be read."""


class DifferencesFound(Exception):
    """Ends a command that compared two things and found differences, once it has shown them."""


def some(items: Sequence[str], most: int = FEW) -> str:
    """The first few of many, and dots for the others.

    >>> some(["a", "b", "c"], most=2)
    'a, b, ...'
    """
    return ", ".join(items[:most]) + (", ..." if len(items) > most else "")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it is for, the arguments it takes, what it prints, and examples of its arguments."""

    about: str
    arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], Paragraphs]
    examples: tuple[str, ...]
