"""Rewriting of modules as they are imported: a finder that uses Python's own finders, and loaders."""

from __future__ import annotations

import ast
import hashlib
import marshal
import os
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib._bootstrap_external import _LoaderBasics  # type: ignore[attr-defined]
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, decode_source
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from zipimport import zipimporter
from zlib import crc32

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.gc_pause import pause_gc
from typelattice.tracing.models.watches import WatchGroup
from typelattice.tracing.record.child_runs import PATCHED_MODULES, ChildRuns
from typelattice.tracing.record.compiler_switches import CompilerSwitches
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.record.user_code import UserCode, is_within
from typelattice.tracing.record.witness import FollowedModule, LazyWitness
from typelattice.tracing.rewrite.bytecode import check_release, insert_copies, insert_witnesses
from typelattice.tracing.rewrite.hidden_frames import hide_frame
from typelattice.tracing.rewrite.original_code import HIDDEN_CODE
from typelattice.tracing.run_data.source_text import SourceText

CACHE_VERSION = b"17"  # version of the rewriting: a cache with a different version is not read
CompiledSource = tuple[CodeType, list[int], list[bytes]]
"""Code with its copies and with marks for witnesses, the numbers of the witnesses, and the packed row of each
operation."""
READERS_OF_RUNNING_CODE = frozenset(
    function.__code__
    for function in (_LoaderBasics.exec_module, runpy._get_module_details)  # type: ignore[attr-defined]
)
"""Code of Python's own functions that run the code which they get from a loader. Others only read it."""


class ModuleCompiler:
    """A compiler of rewritten source for a recorder.

    `cache` is a folder for compiled code, or None. `replaced_contents` maps files to contents that are
    compiled in their place.
    """

    def __init__(
        self, recorder: Recorder, cache: Path | None = None, replaced_contents: Mapping[str, bytes] = {}
    ) -> None:
        self.recorder, self.cache, self.replaced_contents = recorder, cache, replaced_contents
        self.modules: dict[str, CodeType | None] = {}
        """The rewritten code of files with functions that came by value, or None if one is not followed."""

    def compile_module(
        self, name: str, path: str, data: bytes, original: CodeType | None = None
    ) -> CodeType | None:
        """Return the rewritten code of a module. If it must run unchanged, record why and return None.

        All that reads the code of a function sees the one in `original`, or in the code that Python compiles
        from the data. Python's warnings about the source come from there, too.
        """
        replaced = self.replaced_contents.get(path)
        if replaced is not None:
            data, original = replaced, None
        try:
            original = original or compile(data, path, "exec", dont_inherit=True)
            with pause_gc():
                check_release()
                with _hide_warnings():
                    code, numbers, rows = self.compile_source(path, data)
                module = FollowedModule(self.recorder, path, rows)
                rewritten = insert_witnesses(code, (LazyWitness(module, i) for i in numbers))
                HIDDEN_CODE.add_pairs(rewritten, original)
        except (SyntaxError, ValueError, RecursionError, MemoryError, TypelatticeError) as e:
            self.recorder.not_followed[name] = _why_not_compiled(e)
            return None
        self.recorder.sources[path] = SourceText(lambda: decode_source(data))
        if name == "__main__":
            self.recorder.script = path
        return rewritten

    def follow_function(self, function: FunctionType, file: str) -> None:
        """Let a function run rewritten code, if it has the code of a function of a file.

        A function that was sent by value may not know its file.
        """
        rewritten = HIDDEN_CODE.find_rewritten(function.__code__, file)
        if rewritten is None and file not in self.modules:
            try:
                self.modules[file] = self.compile_module(file, file, Path(file).read_bytes())
            except OSError:
                self.modules[file] = None
            rewritten = HIDDEN_CODE.find_rewritten(function.__code__, file)
        if rewritten is not None:
            HIDDEN_CODE.set_running_code(function, rewritten)

    def compile_source(self, path: str, data: bytes) -> CompiledSource:
        """Return rewritten code, from the cache if it has it."""
        cached_file = self.cache and self.cache / f"{_digest_of_code(path, data)}.traced"
        if cached_file:
            with suppress(OSError, ValueError, EOFError, TypeError, IndexError):
                stored = cached_file.read_bytes()
                if crc32(stored[4:]).to_bytes(4, "big") == stored[:4]:
                    found: CompiledSource = marshal.loads(stored[4:])
                    return found
        # Imported here, because cached code does not need it.
        from typelattice.tracing.rewrite.syntax_tree import Rewriter

        tree = ast.parse(data, path)
        rewriter = Rewriter(tree, data.decode("latin-1"))
        numbers: list[int] = []
        code = insert_copies(compile(rewriter.visit(tree), path, "exec", dont_inherit=True), numbers)
        rewritten = code, numbers, [*map(marshal.dumps, rewriter.rows)]
        if cached_file:
            self._save_compiled_code(cached_file, marshal.dumps(rewritten))
        return rewritten

    def _save_compiled_code(self, path: Path, data: bytes) -> None:
        """Write compiled code completely, or nothing of it. An unwritable cache is not an error."""
        spare = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            spare.write_bytes(crc32(data).to_bytes(4, "big") + data)
            os.replace(spare, path)


def _digest_of_code(path: str, data: bytes) -> str:
    """Return a hash of what decides rewritten code: source, path, Python, its flags and CACHE_VERSION."""
    flags = str(sys.flags.optimize).encode()
    parts = (CACHE_VERSION, MAGIC_NUMBER, flags, path.encode("utf-8", "surrogateescape"), data)
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def _why_not_compiled(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "its expressions are nested too deeply to rewrite"
    if isinstance(error, SyntaxError):
        return "it is no Python that this release reads"
    return str(error) or type(error).__name__


@contextmanager
def _hide_warnings() -> Iterator[None]:
    """Hide warnings in a block, but leave the program's record of those that were shown.

    `warnings.catch_warnings` would drop this record, and each warning would be shown once more.
    """
    hidden = ("ignore", None, Warning, None, 0)
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    filters.insert(0, hidden)
    try:
        yield
    finally:
        for i, each in enumerate(filters):
            if each is hidden:
                del filters[i]
                break


def follow_loader(loader: SourceFileLoader | zipimporter, compiler: ModuleCompiler) -> None:
    """Make a loader give rewritten code to Python's functions that run it, and the original to all others.

    The loader stays an object of its own class.
    """
    read_original = loader.get_code

    def get_code(fullname: str) -> CodeType | None:
        original = read_original(fullname)
        if sys._getframe(1).f_code not in READERS_OF_RUNNING_CODE:
            return original
        path = loader.get_filename(fullname)
        try:  # get_source would decode every text as UTF-8, whatever its first lines declare
            data = loader.get_data(path.removesuffix("c"))
        except OSError:  # an archive of compiled modules
            return original
        return compiler.compile_module(fullname, path, data, original) or original

    loader.get_code = get_code  # type: ignore[method-assign]


class ChangingLoader(SourceFileLoader):
    """A loader of a source file that changes the module after it is loaded."""

    change: Callable[[ModuleType], object]

    @hide_frame
    def exec_module(self, module: ModuleType) -> None:
        """Load the module, and change it."""
        SourceFileLoader.exec_module(self, module)  # `super()` reads the frame, which is hidden
        self.change(module)


def _changing_spec(spec: ModuleSpec | None, change: Callable[[ModuleType], object]) -> ModuleSpec | None:
    """Return the spec of a module that its loader changes, if it has a source file."""
    if spec is not None and type(spec.loader) is SourceFileLoader:
        loader = ChangingLoader(spec.loader.name, spec.loader.path)
        loader.change = change
        spec.loader = loader
    return spec


class TracingFinder(MetaPathFinder):
    """A finder for the modules to follow. It uses Python's own finders, and adds a rewriting loader."""

    def __init__(
        self,
        user_code: UserCode,
        compiler: ModuleCompiler,
        child_runs: ChildRuns,
        watches: WatchGroup | None = None,
    ) -> None:
        self.user_code, self.compiler, self.child_runs = user_code, compiler, child_runs
        self.watches = watches
        self.packages_without_modules = set(user_code.packages)
        """The packages without a module found so far."""
        self.switches = CompilerSwitches()

    def follow_package(self, package: str) -> None:
        """Follow another package as well."""
        self.user_code = replace(self.user_code, packages=(*self.user_code.packages, package))

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's spec, or None for a module that is not followed."""
        if name in self.switches.names:
            return _changing_spec(
                self._find_other_spec(name, path, target), lambda module: self.switches.turn_off()
            )
        watches = self.watches
        if watches is not None and name in watches.files:
            return _changing_spec(self._find_other_spec(name, path, target), lambda _: watches.start(name))
        if name in PATCHED_MODULES:
            return _changing_spec(self._find_other_spec(name, path, target), self.child_runs.patch_module)
        is_named = self.user_code.names_module(name)
        if not is_named and not self.user_code.may_hold_module(name, path):
            return None
        spec = self._find_other_spec(name, path, target)
        if spec is not None:
            self.packages_without_modules = {
                package for package in self.packages_without_modules if not is_within(name, package)
            }
        loader = spec.loader if spec else None
        if spec is None or loader is None:
            return spec
        if not is_named and not (spec.has_location and self.user_code.owns_file(spec.origin or "")):
            return spec
        recorder = self.compiler.recorder
        if type(loader) is SourceFileLoader:
            follow_loader(loader, self.compiler)
        elif isinstance(loader, zipimporter):
            # A finder keeps its loader of an archive, so that a loader of our own gets the new function.
            own: Any = zipimporter(os.path.join(loader.archive, loader.prefix).rstrip(os.sep))
            follow_loader(own, self.compiler)
            spec.loader = own
        elif type(loader).__name__ not in LOADERS_WITHOUT_SOURCE:
            which = f"{type(loader).__module__}.{type(loader).__qualname__}"
            recorder.not_followed[name] = f"{which} loads it its own way"
        return spec

    def _find_other_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """Return the spec that the other finders give, or None if they find no module."""
        for finder in sys.meta_path:
            if finder is self or isinstance(finder, TracingFinder):
                continue
            find: Callable[..., ModuleSpec | None] | None = getattr(finder, "find_spec", None)
            found = find(name, path, target) if find is not None else None
            if found is not None:
                return found
        return None


LOADERS_WITHOUT_SOURCE = (
    "ExtensionFileLoader",
    "BuiltinImporter",
    "NamespaceLoader",
    "_NamespaceLoader",
    "FrozenImporter",
)
