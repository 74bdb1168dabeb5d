"""Namespaces over NumPy that tests ask, and a file of rules to change."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import typelattice as tl


def space(system: str) -> Any:
    return tl.namespace(system, np)


MINE = (
    'name = "mine"\ntitle = "Mine"\ntiers = ["array", "scalar"]\ndefaults = { int = "i64", float = "f64" }\n'
)


def own_file(
    tmp_path: Path, more: str = "", order: str = "b -> u8 -> i16 -> i32 -> i64 -> f32 -> f64"
) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(f'{MINE}order = "{order}"\n{more}')
    return path
