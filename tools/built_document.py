"""Writes the document of all systems into the package, so that an installed `typelattice explore` is quick.

    python tools/built_document.py  # takes half a minute; git ignores the file
"""
from __future__ import annotations

import os

from typelattice.explorer.built_document import write_built
from typelattice.explorer.document import document

if __name__ == "__main__":
    write_built(document(processes=os.cpu_count() or 1))
