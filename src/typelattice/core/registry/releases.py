"""Older releases of a library: `numpy@2.4` names the system of one. libraries.txt lists their recordings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from typelattice.core.registry.libraries import libraries, recordings

VERSION_SIGN = "@"  # stands between the name of a system and a release
# numbers that name a release, as 2.13 names 2.13.0, if no older release shows how many
USUAL_VERSION_PARTS = 2


@cache
def list_releases(system: str) -> tuple[str, ...]:
    """Return the recorded releases of a system's library, oldest first.

    The name without a version means the last one. The result is empty if the system was never recorded, or if
    pip does not install its library.

    >>> list_releases("torch"), list_releases("python")
    (('2.13', '2.14'), ())
    """
    if system not in recordings():
        return ()
    older = [
        name.partition(VERSION_SIGN)[2] for name in recordings() if name.startswith(system + VERSION_SIGN)
    ]
    entry = recordings()[system]
    installed = libraries()[entry.library].packages.get(entry.environment, ())
    if not installed:
        return ()
    parts = len(_version_numbers(older[0])) if older else USUAL_VERSION_PARTS
    newest = ".".join(installed[0].partition("==")[2].split(".")[:parts])
    return (*sorted(older, key=_version_numbers), newest)


def system_for_version(system: str, version: str) -> str:
    """Return the name of the system that describes an installed version of a library.

    For a version that was not recorded, return the next newer recorded release. For a version newer than all
    of them, return the newest.

    >>> system_for_version("torch", "2.13.0+cpu"), system_for_version("torch", "2.15.0")
    ('torch@2.13', 'torch')
    """
    for release in list_releases(system)[:-1]:
        numbers = _version_numbers(release)
        if _version_numbers(version)[: len(numbers)] <= numbers:
            return system + VERSION_SIGN + release
    return system


def installed_release(name: str, versions: Mapping[str, str]) -> str:
    """Return the system to compare an installed library with: the named system, or the system of its release.

    `versions` are the versions that the library reports, the decisive one first.
    """
    version = next(iter(versions.values()), "")
    return name if VERSION_SIGN in name or not version else system_for_version(name, version)


def _version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, to sort releases: 0.10 comes after 0.4."""
    return tuple(map(int, re.findall(r"\d+", version)))
