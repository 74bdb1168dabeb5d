"""Output files, which never replace an input file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from os import path

from typelattice.base.errors.error_texts import clip_text
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.system_files.system_definition import SystemDefinition, read_definition
from typelattice.core.system_files.system_text import systems
from typelattice.show.cli.command import UsageError

NULL_CHARACTER = "\0"  # no path has it; every function for files refuses it


def check_not_read(output: str, *files: str | None) -> None:
    """Raise UsageError for an output that is also an input file of the command.

    A system file may extend other files, which are also inputs. The name of a built-in system is not a file.
    """
    if NULL_CHARACTER in output:
        return
    target = path.realpath(output)
    for file in filter(None, files):
        if NULL_CHARACTER in file or file in systems(versions=True):
            continue
        if target in (path.realpath(file), *_find_extended_files(file)):
            what = f"{clip_text(output, 120)!r} is a file that this command reads"
            raise UsageError(f"{what}; name another to write")


def _find_extended_files(file: str) -> Iterator[str]:
    """Yield the files that a system's file extends, or nothing if the file is not a system's."""
    definition: SystemDefinition | None = None
    with suppress(TypelatticeError):
        definition = read_definition(file) if file.endswith(".toml") else None
    while definition:
        if definition.main.path:
            yield definition.main.path
        definition = definition.base
