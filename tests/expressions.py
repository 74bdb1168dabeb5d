"""What programs come to, in words: of the whole, or of each part."""
from __future__ import annotations

from pathlib import Path

import typelattice as tl


def answers(text: str, system: str | Path, **bound: object) -> dict[str, str]:
    """Each step that is an operation, and what it gives."""
    f = tl.program(text, **bound)
    return {part.text: str(o) for part, o in zip(f.steps, f.under(tl.system(system)), strict=True) if part.op}


def whole(text: str, system: str | Path = "numpy", **bound: object) -> str:
    """What the last step gives."""
    return str(tl.program(text, **bound).under(system)[-1])


def words(text: str) -> list[str]:
    """Names and numbers in a text, be it a program or not."""
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
