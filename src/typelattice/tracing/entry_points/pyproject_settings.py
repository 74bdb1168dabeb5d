"""The section `[tool.typelattice]` of a project's pyproject.toml: defaults for the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from typelattice.base.disk.read import read_bytes
from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError

SETTINGS_FILE = "pyproject.toml"
MAX_SETTINGS_BYTES = 1 << 24  # most bytes of the file


class SettingsError(TypelatticeError, ValueError):
    """The error of a section that cannot be read."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a project.

    - `packages`, `systems`, `values`: options of `trace`. `fix` also takes the packages.
    - `to`, `like`, `tolerance`: options of `fix`.
    - `baseline`: the file of pytest's `--dtype-baseline`, and of `trace --exit-code`.
    - `floor`: the floor of each budget of pytest in bytes.
    """

    packages: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    values: bool = False
    to: str = "float32"
    like: str | None = None
    tolerance: float | None = None
    baseline: str | None = None
    floor: int = 0


KEY_TYPES: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "packages": (list, "a list of texts"),
    "systems": (list, "a list of texts"),
    "values": (bool, "true or false"),
    "to": (str, "a text"),
    "like": (str, "a text"),
    "tolerance": ((float, int), "a number"),
    "baseline": (str, "a text"),
    "floor": (int, "a whole number"),
}


def find_settings_file(folder: Path) -> Path | None:
    """Find the pyproject.toml of a folder's project: the nearest one, in the folder or above it."""
    found = (at / SETTINGS_FILE for at in (folder, *folder.parents) if (at / SETTINGS_FILE).is_file())
    return next(found, None)


def read_settings(folder: Path) -> Settings:
    """Read the settings of a folder's project. Raises SettingsError or FileError if they are unreadable."""
    path = find_settings_file(folder)
    if path is None:
        return Settings()
    content = read_bytes(path, MAX_SETTINGS_BYTES)
    if b"typelattice" not in content:
        return Settings()
    try:
        found: Any = tomllib.loads(content.decode()).get("tool", {}).get("typelattice", {})
    except (ValueError, AttributeError, RecursionError) as e:
        raise SettingsError(f"{path} cannot be read: {quote_short(str(e))}; mend it, or remove it") from None
    if not isinstance(found, dict):
        raise SettingsError(f"{path}: tool.typelattice is no table; write it as [tool.typelattice]")
    return Settings(**{key: _check_value(path, key, value) for key, value in found.items()})


def _check_value(path: Path, key: str, value: Any) -> Any:
    known = [field.name for field in fields(Settings)]
    if key not in known:
        advice = spelling_hint(key, known) or f"; it may have {', '.join(known)}"
        raise SettingsError(f"{path}: [tool.typelattice] has no key {quote_short(key)}{advice}")
    kind, words = KEY_TYPES[key]
    texts = not isinstance(value, list) or all(isinstance(each, str) for each in value)
    if not isinstance(value, kind) or not texts or (isinstance(value, bool) and kind is not bool):
        raise SettingsError(f"{path}: {key} of [tool.typelattice] is {quote_short(str(value))}; give {words}")
    return tuple(value) if isinstance(value, list) else value
