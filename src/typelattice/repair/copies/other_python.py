"""The path of another interpreter that the user names."""

from __future__ import annotations

import os
import shutil

from typelattice.base.errors.error_texts import clip_text
from typelattice.tracing.entry_points.script import ScriptError


def find_python(name: str) -> str:
    """Return the path of an interpreter. Raises ScriptError if there is none of this name."""
    found = shutil.which(os.path.expanduser(name))
    if found is None:
        what = f"there is no interpreter {clip_text(name, 200)}"
        raise ScriptError(f"{what}; give the path of a Python, such as venv/bin/python")
    return os.path.abspath(found)
