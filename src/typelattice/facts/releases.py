"""Older releases of a library: `numpy@2.4` names the system of one, as libraries.txt lists its recordings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from typelattice.facts.libraries import libraries, recordings

SIGN = "@"  # between the name of a system and a release
USUAL = 2  # numbers that name a release where no older one says how many do: 2.13 of 2.13.0


@cache
def releases(system: str) -> tuple[str, ...]:
    """The releases of its library of which a system was recorded, oldest first.

    The last is the one that the name alone stands for. A system that was never recorded has none, nor has one
    whose library pip does not install.

    >>> releases("torch"), releases("python")
    (('2.13',), ())
    """
    if system not in recordings():
        return ()
    older = [name.partition(SIGN)[2] for name in recordings() if name.startswith(system + SIGN)]
    entry = recordings()[system]
    installed = libraries()[entry.library].packages.get(entry.environment, ())
    if not installed:
        return ()
    parts = len(_numbers(older[0])) if older else USUAL
    newest = ".".join(installed[0].partition("==")[2].split(".")[:parts])
    return (*sorted(older, key=_numbers), newest)


def release_of(system: str, version: str) -> str:
    """The name of the system that holds for an installed version of its library.

    That is the system of the release, or else of the next newer one that was recorded. For a version newer
    than all it is that of the newest.

    >>> release_of("torch", "2.13.0+cpu")
    'torch'
    """
    for release in releases(system)[:-1]:
        numbers = _numbers(release)
        if _numbers(version)[: len(numbers)] <= numbers:
            return system + SIGN + release
    return system


def installed_release(name: str, versions: Mapping[str, str]) -> str:
    """The system that an installed library is compared with: the one named, or that of the installed release.

    `versions` are those that the library says it has, the one that decides first.
    """
    version = next(iter(versions.values()), "")
    return name if SIGN in name or not version else release_of(name, version)


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, by which releases follow one another: 0.10 comes after 0.4."""
    return tuple(map(int, re.findall(r"\d+", version)))
