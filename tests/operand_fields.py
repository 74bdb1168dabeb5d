"""What an operand holds, as plain values."""
from __future__ import annotations

import typelattice as tl


def fields(x: object) -> tuple[str | None, str, bool, str, object]:
    o = tl.operand(x)
    return o.dtype and o.dtype.name, o.kind.value, o.weak, o.tier, o.value
