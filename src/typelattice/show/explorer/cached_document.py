"""The document of all systems, kept with the sources: computing it takes a minute or two.

The wheel includes it. In a clone of the repository, the first `explore` writes it, and the first after each
change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from typelattice.base.disk.write import write_bytes
from typelattice.base.own_folders import PACKAGE_FOLDER
from typelattice.show.explorer.document import Document, ProgressReporter, build_document

CACHED_DOCUMENT_FILE = "show/explorer/document.xz"


def load_or_build_document(
    report: ProgressReporter, processes: int = 1, package: Path = Path(PACKAGE_FOLDER)
) -> Document:
    """Read the document. If a file of the package has changed since, build and write it.

    Nothing is written if the package is write-protected or changes in the meantime.
    """
    key = hash_files(package)
    if kept := _read_cached(package, key):
        return kept
    built = build_document(report=report, processes=processes)
    if hash_files(package) == key:
        with suppress(ImportError, OSError):
            _write_cached(built, package, key)
    return built


def _read_cached(package: Path, key: bytes) -> Document | None:
    try:
        import lzma
    except ImportError:  # a few Pythons are built without this module
        return None
    try:
        written_for, _, text = lzma.decompress((package / CACHED_DOCUMENT_FILE).read_bytes()).partition(b"\n")
    except (OSError, lzma.LZMAError):
        return None
    return Document(json.loads(text)) if written_for == key else None


def _write_cached(built: Document, package: Path, key: bytes) -> None:
    import lzma

    write_bytes(package / CACHED_DOCUMENT_FILE, lzma.compress(key + b"\n" + built.to_json().encode()))


def hash_files(package: Path) -> bytes:
    """Return the hash of all files of a folder. Another hash makes a document stale."""
    names_and_bytes = sha256()
    for part in _yield_files(package):
        names_and_bytes.update(sha256(part).digest())
    return names_and_bytes.hexdigest().encode()


def _yield_files(package: Path) -> Iterator[bytes]:
    """Yield the name and the bytes of each file, except of the document, of bytecode and of hidden files."""
    files = {path.relative_to(package).as_posix(): path for path in package.rglob("*") if path.is_file()}
    for name in sorted(files.keys() - {CACHED_DOCUMENT_FILE}):
        if "__pycache__" not in name and "/." not in f"/{name}":
            yield name.encode()
            yield files[name].read_bytes()
