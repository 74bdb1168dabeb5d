"""Modules are rewritten as they are imported: a finder beside Python's own, and loaders."""

from __future__ import annotations

import ast
import hashlib
import marshal
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, decode_source
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any
from zipimport import zipimporter
from zlib import crc32

from typelattice.facts.collector import held_off
from typelattice.facts.errors import TypelatticeError
from typelattice.tracing.bytecode import with_copies, with_witnesses
from typelattice.tracing.fields import Module
from typelattice.tracing.recorder import Recorder
from typelattice.tracing.source import Source
from typelattice.tracing.uncompiled import Switches
from typelattice.tracing.unused import Unused

VERSION = b"8"  # of the rewriting: a cache of another is not read
Compiled = tuple[CodeType, list[int], list[bytes], list[tuple[str, str]]]
"""Code with its copies and with marks for witnesses, their numbers, the rows of the operations, each packed,
and the functions that were left alone."""


class Compiler:
    """Compiles rewritten source for a recorder. `cache` is a folder for compiled code; None for none."""

    def __init__(self, recorder: Recorder, cache: Path | None = None) -> None:
        self.recorder, self.cache = recorder, cache

    def code(self, name: str, path: str, data: bytes) -> CodeType | None:
        """The rewritten code of a module; None, and the reason noted, if it has to run as it is."""
        with held_off():
            try:
                code, numbers, rows, alone = self.compiled(path, data)
            except (SyntaxError, ValueError, RecursionError, MemoryError, TypelatticeError) as e:
                self.recorder.left_alone[name] = _why(e)
                return None
            for function, why in alone:
                self.recorder.left_alone[f"{name}.{function}"] = why
            self.recorder.sources[path] = Source(lambda: decode_source(data))
            module = Module(self.recorder, path, rows)
            witnesses = {i: Unused(module, i) for i in numbers}
            return with_witnesses(code, map(witnesses.__getitem__, numbers))

    def compiled(self, path: str, data: bytes) -> Compiled:
        """Rewritten code, from the cache if it is there."""
        kept = self.cache and self.cache / f"{_digest(path, data)}.traced"
        if kept:
            with suppress(OSError, ValueError, EOFError, TypeError, IndexError):
                stored = kept.read_bytes()
                if crc32(stored[4:]).to_bytes(4, "big") == stored[:4]:
                    found: Compiled = marshal.loads(stored[4:])
                    return found
        from typelattice.tracing.rewriting import Rewriter  # which what is in the cache does not need

        tree = ast.parse(data, path)
        rewriter = Rewriter(tree, data.decode("latin-1"))
        numbers: list[int] = []
        code = with_copies(compile(rewriter.visit(tree), path, "exec", dont_inherit=True), numbers)
        made = code, numbers, [*map(marshal.dumps, rewriter.rows)], rewriter.alone
        if kept:
            self._keep(kept, marshal.dumps(made))
        return made

    def _keep(self, path: Path, data: bytes) -> None:
        """Writes compiled code whole, or not at all: a cache that cannot be written is no error."""
        spare = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            spare.write_bytes(crc32(data).to_bytes(4, "big") + data)
            os.replace(spare, path)


def _digest(path: str, data: bytes) -> str:
    """What rewritten code depends on: the source, its path, Python, its flags, and how it is rewritten."""
    flags = str(sys.flags.optimize).encode()
    parts = (VERSION, MAGIC_NUMBER, flags, path.encode("utf-8", "surrogateescape"), data)
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def _why(e: Exception) -> str:
    """Why a module could not be rewritten."""
    if isinstance(e, RecursionError):
        return "its expressions are nested too deeply to rewrite"
    if isinstance(e, SyntaxError):
        return "it is no Python that this release reads"
    return str(e) or type(e).__name__


class FileLoader(SourceFileLoader):
    """Loads a module from a source file, rewritten. Python's own cache is neither read nor written."""

    compiler: Compiler

    def get_code(self, fullname: str) -> CodeType | None:
        """The module's code."""
        path = self.get_filename(fullname)
        return self.compiler.code(fullname, path, self.get_data(path)) or super().get_code(fullname)


class ZipLoader(zipimporter):
    """Loads a module from an archive, rewritten."""

    compiler: Compiler

    def get_code(self, fullname: str) -> CodeType:
        """The module's code."""
        path = self.get_filename(fullname)
        try:  # not get_source, which takes every text for UTF-8, whatever its first lines say
            data = self.get_data(path.removesuffix("c"))
        except OSError:  # an archive of compiled modules
            return super().get_code(fullname)
        return self.compiler.code(fullname, path, data) or super().get_code(fullname)


class Finder(MetaPathFinder):
    """Finds the modules of some packages where Python finds them, and gives them a loader that rewrites."""

    def __init__(self, packages: Sequence[str], compiler: Compiler) -> None:
        self.packages, self.compiler = tuple(packages), compiler
        self.unseen = set(packages)
        """The packages of which no module has been found yet."""
        self.switches = Switches()

    def covers(self, name: str) -> bool:
        """Whether a module belongs to one of the packages."""
        return any(_within(name, package) for package in self.packages)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec; None for a module of another package."""
        if name in self.switches.names:
            return self.switches.spec(self._other(name, path, target))
        if not self.covers(name):
            return None
        spec = self._other(name, path, target)
        if spec is not None:
            self.unseen = {package for package in self.unseen if not _within(name, package)}
        loader = spec.loader if spec else None
        if spec is None or loader is None:
            return spec
        recorder = self.compiler.recorder
        if type(loader) is SourceFileLoader:
            file_loader = FileLoader(loader.name, loader.path)
            file_loader.compiler = self.compiler
            spec.loader = file_loader
        elif isinstance(loader, zipimporter):
            within = os.path.join(loader.archive, loader.prefix)
            zip_loader: Any = ZipLoader(within.rstrip(os.sep))
            zip_loader.compiler = self.compiler
            spec.loader = zip_loader
        elif type(loader).__name__ not in BINARY:
            which = f"{type(loader).__module__}.{type(loader).__qualname__}"
            recorder.left_alone[name] = f"{which} loads it its own way"
        return spec

    def _other(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """What the other finders say."""
        for finder in sys.meta_path:
            if finder is self or isinstance(finder, Finder):
                continue
            find: Callable[..., ModuleSpec | None] | None = getattr(finder, "find_spec", None)
            found = find(name, path, target) if find is not None else None
            if found is not None:
                return found
        return None


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


BINARY = ("ExtensionFileLoader", "BuiltinImporter", "NamespaceLoader", "_NamespaceLoader", "FrozenImporter")
