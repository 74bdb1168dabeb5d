"""The document of all systems, built with the package: computing it takes half a minute.

`make package` writes it. A clone of the repository has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from typelattice.explorer.document import Document

PACKAGE = Path(__file__).parents[1]
FILE = "explorer/document.xz"


def read_built(package: Path = PACKAGE) -> Document | None:
    """Read the document; None if there is none, or if a file of the package has changed since."""
    try:
        import lzma
    except ImportError:  # a few Pythons are built without it
        return None
    try:
        key, _, text = lzma.decompress((package / FILE).read_bytes()).partition(b"\n")
    except (OSError, lzma.LZMAError):
        return None
    return Document(json.loads(text)) if key == _key(package) else None


def write_built(shown: Document, package: Path = PACKAGE) -> None:
    """Write the document of all systems for the package as it is now."""
    import lzma

    (package / FILE).write_bytes(lzma.compress(_key(package) + b"\n" + shown.json().encode()))


def _key(package: Path) -> bytes:
    """Return the hash of all files of the package, by which a stale document is known."""
    names_and_bytes = sha256()
    for part in _parts(package):
        names_and_bytes.update(sha256(part).digest())
    return names_and_bytes.hexdigest().encode()


def _parts(package: Path) -> Iterator[bytes]:
    """Yield the name and the bytes of each file, except of the document and of what Python writes."""
    files = {path.relative_to(package).as_posix(): path for path in package.rglob("*") if path.is_file()}
    for name in sorted(files.keys() - {FILE}):
        if "__pycache__" not in name:
            yield name.encode()
            yield files[name].read_bytes()
