"""PyTorch: autocast casts the operands of some operations, and its compiler reads bytecode."""

from __future__ import annotations

import sys
from typing import Any

DEVICES = ("cpu", "cuda", "mps", "xpu")
COMPILER_SWITCH = "torch._dynamo.config", "disable"
"""The module that has the switch by which the compiler is off, and the switch's name. PyTorch imports the
module when it compiles. TORCH_COMPILE_DISABLE=1 sets the switch, too."""


def casting() -> str:
    """What casts operands, here and now; nothing where nothing does."""
    return "autocast" if autocast_is_on() else ""


def autocast_is_on() -> bool:
    """Whether autocast is on for some device."""
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "is_autocast_enabled"):
        return False
    try:
        return any(torch.is_autocast_enabled(device) for device in DEVICES)
    except TypeError:  # before PyTorch 2.4 it was asked of each device by a function of its own
        return bool(torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled())
