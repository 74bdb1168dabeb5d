"""The numbers of a notebook's cells, as IPython counts them."""

from __future__ import annotations

import re
import sys

CELL_PATTERN = re.compile(r"In\[(\d+)\]")


def cell_number(file: str) -> int | None:
    """Return the number of the cell that IPython compiled under a file name, or None for any other file."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_shell() if callable(get_shell) else None
    describe = getattr(getattr(shell, "compile", None), "format_code_name", None)  # since IPython 8
    described = describe(file) if callable(describe) else None  # ("Cell", "In[3]")
    found = CELL_PATTERN.fullmatch(str(described[1])) if described else None
    return int(found[1]) if found else None
