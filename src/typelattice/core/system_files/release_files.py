"""The files that state the rules of an older release.

`numpy@2.4.toml` states the rules up to NumPy 2.4, as changes to the file of the next newer rules. Releases
between two such files share the newer one, so a release that changed nothing has no file. A file extends
another of the same library at the same release: `jax-x32@0.10` is `jax-x32` with `jax@0.10` as its base.
"""

from __future__ import annotations

import os

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.registry.libraries import recordings
from typelattice.core.registry.releases import VERSION_SIGN, list_releases, system_for_version
from typelattice.core.system_files.system_text import SYSTEMS_FOLDER, SystemText, UnknownSystemError, systems


@frozen()
class Release:
    """A release of a library. Files are read as of that release."""

    library: str
    version: str

    def is_newest(self, name: str) -> bool:
        """Return True if the plain name of a system means this release."""
        return list_releases(name)[-1] == self.version

    def stem(self, name: str) -> str:
        """Return the name of the file that states a system's rules at this release, without its ending.

        That is the system's own name if it is of another library, or if nothing has changed since. A
        system that was not recorded at this release is read at the next newer one.
        """
        if name not in recordings() or recordings()[name].library != self.library:
            return name
        known = list_releases(name)
        older = system_for_version(name, self.version).partition(VERSION_SIGN)[2]
        stems = (name + VERSION_SIGN + number for number in known[known.index(older or known[-1]) : -1])
        return next((stem for stem in stems if os.path.isfile(f"{SYSTEMS_FOLDER}/{stem}.toml")), name)


def read_release(name: str) -> Release:
    """Return the release that a name such as `numpy@2.4` says.

    Raises UnknownSystemError, with the names of all systems, if none has this name.
    """
    plain, _, number = name.partition(VERSION_SIGN)
    if plain not in systems():
        what = f"unknown system {quote_short(name)}{spelling_hint(plain, systems())}"
        raise UnknownSystemError(f"{what}; `typelattice systems` lists them")
    known = list_releases(plain)
    if number not in known:
        there = f"there are {', '.join(known)}" if known else f"there are none of it; say {plain}"
        raise UnknownSystemError(f"unknown version {quote_short(number)} of {plain}; {there}")
    return Release(recordings()[plain].library, number)


def text_of(name: str) -> SystemText:
    """Return a release as a system file: its name, on top of the file that states its rules."""
    plain, _, number = name.partition(VERSION_SIGN)
    release = read_release(name)
    return SystemText(name, f'name = "{name}"\nextends = "{plain}"\nlibrary = "{release.library} {number}"\n')
