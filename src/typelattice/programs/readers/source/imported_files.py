"""Other files of the package of a source, which a source imports from. They are parsed and never executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from typelattice.core.registry.libraries import libraries
from typelattice.programs.calls.steps import ProgramError
from typelattice.programs.readers.source.branches import bound_names
from typelattice.programs.readers.source.python_values import ImportedModule, ImportedName, Scope

MAX_IMPORTED_FILES = 100  # of other files, those that one reading opens
PACKAGE_FILE = "__init__.py"


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file with its statements, its lines as bytes, and the names that were read so far."""

    path: Path
    statements: Sequence[ast.stmt]
    lines: Sequence[bytes]
    scope: Scope = field(default_factory=lambda: Scope(kind="module"))

    def list_needed_lines(self, name: str) -> list[ast.stmt]:
        """List the lines that a name needs. Each of their nodes knows the file then."""
        found = find_needed_lines(self.statements, name)
        for line in found:
            for node in ast.walk(line):
                node.source_file = self  # type: ignore[attr-defined]
        return found


class ImportedFiles:
    """The files of the package that a source belongs to, or of the folder that it stands in."""

    def __init__(self, path: Path, parse: Callable[[Path], tuple[Sequence[ast.stmt], str]]) -> None:
        self.path, self.parse = path, parse
        self._files: dict[Path, ImportedFile] = {}

    def find_module(self, node: ast.AST, module: str, level: int) -> Path | None:
        """Find the file of a module that a line imports, or None if it is not of the package."""
        importing = getattr(node, "source_file", None)
        start = self.path if importing is None else importing.path
        folder = start.parent
        parts = module.split(".") if module else []
        if level:
            for _ in range(level - 1):
                folder = folder.parent
            return _file_of_module(folder, parts)
        package = ""
        while (folder / PACKAGE_FILE).is_file():
            package, folder = folder.name, folder.parent
        if not parts or parts[0] in libraries() or (package and parts[0] != package):
            return None  # beside an installed package stand those of others
        return _file_of_module(folder, parts)

    def find_name(
        self, node: ast.AST, module: str, level: int, name: str
    ) -> ImportedName | ImportedModule | None:
        """Find what `from module import name` imports, or return None if it is not of the package."""
        file = self.find_module(node, module, level)
        if file is None:
            return None
        if file.name == PACKAGE_FILE and (inner := _file_of_module(file.parent, [name])) is not None:
            return ImportedModule(inner)
        return ImportedName(file, name)

    def open(self, path: Path) -> ImportedFile:
        """Read a file, once. Raises ProgramError for one that Python cannot parse, or one too many."""
        if path not in self._files:
            if len(self._files) >= MAX_IMPORTED_FILES:
                raise ProgramError(f"more than {MAX_IMPORTED_FILES} files are imported; name what is needed")
            statements, text = self.parse(path)
            lines = [line.encode("utf-8", "surrogatepass") for line in text.split("\n")]
            self._files[path] = ImportedFile(path, statements, lines)
        return self._files[path]


def _file_of_module(folder: Path, parts: Sequence[str]) -> Path | None:
    """Return the file of a module in a folder: `part.py`, or that of a package."""
    place = folder.joinpath(*parts)
    for file in (place.parent / f"{place.name}.py", place / PACKAGE_FILE):
        if (parts or file.name == PACKAGE_FILE) and file.is_file():
            return file
    return None


def find_needed_lines(lines: Sequence[ast.stmt], name: str) -> list[ast.stmt]:
    """Return the lines of a file that a function needs: imports, and those that bind or fill names in it."""
    giving: dict[str, list[ast.stmt]] = {}
    own = {line.name for line in lines if isinstance(line, (ast.FunctionDef, ast.ClassDef))}
    for line in lines:
        for given in _given_names(line):
            giving.setdefault(given, []).append(line)
    needed: set[ast.stmt] = {line for line in lines if isinstance(line, (ast.Import, ast.ImportFrom))}
    wanted = [name]
    for line in lines:  # a decorator of the file may put what it decorates into a table
        for node in getattr(line, "decorator_list", ()):
            if own & {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}:
                wanted.append(line.name)  # type: ignore[attr-defined]
    while wanted:
        for line in giving.pop(wanted.pop(), []):
            needed.add(line)
            wanted += [node.id for node in ast.walk(line) if isinstance(node, ast.Name)]
    return [line for line in lines if line in needed]


def _given_names(line: ast.stmt) -> set[str]:
    """Return the names that a line of a file binds, or whose elements or items it sets."""
    match line:
        case ast.Assign(targets=targets):
            return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return {name}
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
    return bound_names([line])
