"""Writes generated files: `python tools/laws.py` writes its page, and `--check` exits 1 if it is stale."""
from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path


def write_pages(texts: Mapping[Path, str]) -> None:
    """Write each text into its file; if the command line has `--check`, name the files that are stale."""
    stale = [path for path, text in texts.items() if not path.is_file() or path.read_text("utf-8") != text]
    if "--check" in sys.argv[1:]:
        raise SystemExit("\n".join(f"{path.name} is stale; run make pages" for path in stale) or 0)
    for path in stale:
        path.write_text(texts[path], encoding="utf-8")
        print(path)
