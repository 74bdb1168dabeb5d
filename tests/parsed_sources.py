"""The syntax trees of source files, each parsed once for all tests of a process."""
from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def parse_source(path: Path) -> ast.Module:
    """Parse a source file. Its tree is shared: nobody may change it."""
    return ast.parse(path.read_text(encoding="utf-8"))
