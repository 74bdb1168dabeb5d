"""Writes the document of all systems into the package, so that an installed `typelattice explore` is quick.

    python tools/built_document.py  # takes a minute or two, or none if nothing changed; git ignores the file
"""
from __future__ import annotations

import os

from typelattice.base.rendering.terminal_output import progress_bar
from typelattice.show.explorer.cached_document import load_or_build_document

if __name__ == "__main__":
    load_or_build_document(progress_bar(), os.cpu_count() or 1)
