"""The places of a program that decide a dtype: where an array is made, cast, accumulated, or handed over.

A place is found where the run made a float there. It is one expression of the source, and a choice for it is
a dtype, which edits of that expression write.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.repair.tune.libraries import TunedLibrary, tuned_library
from typelattice.repair.tune.operation_sites import OperationSite
from typelattice.tracing.run_data.float_widths import dtype_at_width_of, dtype_width
from typelattice.tracing.source.dtype_arguments import (
    CASTING_METHODS,
    find_dtype_argument,
    is_dtype,
    name_of_called,
)
from typelattice.tracing.source.source_file import FunctionNode, SourceFile, list_nodes_of_scope

MADE, CAST, ACCUMULATED, NUMBER, PARAMETER, STORED, TREE = (
    "made", "cast", "accumulated", "number", "parameter", "stored", "collected",
)  # fmt: skip
FOLLOWING_SORTS = (ACCUMULATED, NUMBER, STORED)
"""Sorts of places that have a dtype without a choice: that of their operands."""
CONVERTING_FUNCTIONS = ("array", "asarray", "asanyarray", "ascontiguousarray", "as_tensor")
PRECISION_METHODS = ("half", "float", "double", "bfloat16")
UPDATING_OPERATORS = (ast.Add, ast.Sub, ast.Mult)


@dataclass(frozen=True, slots=True)
class Place:
    """An expression that decides a dtype. `dtype` is that of the run, `alias` names its library.

    `names` are the parameters of an object that it makes, such as `layers.0.weight`.

    `sites` are the operations of the run that it stands for, and `bytes` those of its arrays. `scope` is the
    name of the function around it. `is_cast_afterwards` says that the expression takes no dtype itself, so
    that a choice costs a further array.
    """

    sort: str
    file: str
    line: int
    text: str
    span: tuple[int, int]
    dtype: str
    library: str
    alias: str
    sites: tuple[int, ...]
    bytes: int = 0
    scope: str = ""
    name: str = ""
    is_cast_afterwards: bool = False
    names: tuple[str, ...] = ()

    @property
    def follows(self) -> bool:
        """True if it has the dtype of its operands unless one is chosen."""
        return self.sort in FOLLOWING_SORTS

    def dtype_text(self, dtype: str) -> str:
        """Write a dtype as the file of the place can."""
        return f"{self.alias}.{dtype}" if self.alias else f'"{dtype}"'

    def dtype_at(self, chosen: str) -> str:
        """Return the dtype of this place for a choice: complex if its arrays are complex.

        There is no complex dtype of 16-bit parts: then it is the narrowest complex one.
        """
        own, target = DTYPES[self.dtype], DTYPES[chosen]
        if own.kind is not Kind.COMPLEX:
            return chosen
        return "complex64" if (dtype_width(target) or 0) < 32 else dtype_at_width_of(own, target).name


@dataclass(frozen=True, slots=True)
class UntunedPlace:
    """A place whose dtype was not tuned, and the reason."""

    file: str
    line: int
    text: str
    reason: str


@dataclass(slots=True)
class PlaceSearch:
    """The search for the places of one run: its sites, and the source of each file that may change.

    `parameters` has the dtype of each argument of the tuned function that is a float array.
    """

    sites: Sequence[OperationSite]
    sources: Mapping[str, SourceFile]
    function: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    untuned: list[UntunedPlace] = field(default_factory=list)

    def find_places(self) -> list[Place]:
        """Return the places in the order of the source."""
        found: dict[tuple[str, str, tuple[int, int]], Place] = {}
        for number in range(len(self.sites)):
            for place in filter(None, (self.place_of_site(number), self.stored_place(number))):
                key = place.sort, place.file, place.span
                known = found.get(key)
                found[key] = merged(known, place) if known is not None else place
        for file, source in self.sources.items():
            for place in (*self.list_numbers(file, source), *self.list_parameters_of_function(file, source)):
                found.setdefault((place.sort, place.file, place.span), place)
        return sorted(found.values(), key=lambda place: (place.file, place.line, place.span))

    def place_of_site(self, number: int) -> Place | None:
        """Return the place at which an operation decides its dtype, or None if it decides none."""
        site = self.sites[number]
        source, library = self.sources.get(site.file), tuned_library(site.library)
        if source is None:
            return None
        node = find_node(source, site)
        if library is None or not isinstance(node, ast.Call) or site.is_in_place or site.members:
            return None
        if site.is_several and not (site.is_tree and library.tree_cast):
            return None
        sort = self.sort_of(site, node, library)
        if not sort or site.is_weak:
            return None
        return self.make_place(sort, source, node, library, (number,), site)

    def stored_place(self, number: int) -> Place | None:
        """Return the place at which a computed result is stored: an assigned or a returned expression."""
        site = self.sites[number]
        source, library = self.sources.get(site.file), tuned_library(site.library)
        is_made = site.is_made or site.is_module or site.is_several
        if source is None or library is None or site.is_in_place or is_made or site.members:
            return None
        node = find_node(source, site)
        if node is None or isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
            return None
        around = source.parent_by_node.get(node)
        is_stored = isinstance(around, (ast.Assign, ast.Return)) and around.value is node
        if isinstance(node, ast.Call):
            sort = self.sort_of(site, node, library)
            if sort not in ("", ACCUMULATED):
                return None
            is_stored = is_stored or sort == ACCUMULATED
        if not is_stored or not (site.dimensions or library.scalars_widen):
            return None
        return self.make_place(STORED, source, node, library, (number,), site)

    def list_containers(self) -> list[tuple[Place, frozenset[int]]]:
        """List the objects with parameters of several sites, with these sites. The largest come first."""
        found: dict[tuple[str, tuple[int, int]], tuple[Place, frozenset[int]]] = {}
        for number, site in enumerate(self.sites):
            source, library = self.sources.get(site.file), tuned_library(site.library)
            node = find_node(source, site) if source is not None and site.members else None
            if source is not None and library is not None and isinstance(node, ast.Call):
                place = self.make_place(MADE, source, node, library, (number,), site)
                if place is not None:
                    found[place.file, place.span] = place, frozenset(site.members)
        return sorted(found.values(), key=lambda each: -len(each[1]))

    def make_place(
        self,
        sort: str,
        source: SourceFile,
        node: ast.expr,
        library: TunedLibrary,
        sites: tuple[int, ...],
        site: OperationSite,
    ) -> Place | None:
        """Return a place, or note why its dtype cannot be written."""
        alias = find_alias(source, library)
        text = " ".join(source.text(node).split())
        if not alias and (sort == NUMBER or not library.takes_names):
            why = f"its file does not import {library.module} under a name"
            self.untuned.append(UntunedPlace(site.file, node.lineno, text, why))
            return None
        if sort == TREE and not find_root_alias(source, library):
            why = f"its file does not import {library.root} under a name"
            self.untuned.append(UntunedPlace(site.file, node.lineno, text, why))
            return None
        scope = source.find_function(node)
        return Place(
            sort, site.file, node.lineno, text, source.find_span(node), site.dtype, library.name, alias,
            sites,
            site.bytes, scope.name if scope is not None else "",
            name_of_called(node) if isinstance(node, ast.Call) else "",
            is_cast_afterwards(sort, node, library), site.names,
        )  # fmt: skip

    def sort_of(self, site: OperationSite, call: ast.Call, library: TunedLibrary) -> str:
        """Return the sort of the place of a call, or "" if the call decides no dtype."""
        name = name_of_called(call)
        if site.is_module:
            return CAST if name in CASTING_METHODS or name in PRECISION_METHODS else MADE
        if site.is_several:
            return TREE
        if name in library.accumulators and not site.is_made:
            return ACCUMULATED
        if name in CASTING_METHODS or name in PRECISION_METHODS or is_dtype(call.func):
            return CAST if not site.is_made or is_dtype(call.func) else MADE
        if name in CONVERTING_FUNCTIONS and not site.is_made:
            return CAST if find_dtype_argument(call) is not None else ""
        if name in library.creators or name in library.like_draws or site.is_made:
            return MADE
        return ""

    def list_numbers(self, file: str, source: SourceFile) -> Iterator[Place]:
        """Yield the Python numbers with which a running sum in a loop begins: `total = 0.0`."""
        for node in ast.walk(source.tree):
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.Constant(value=float() | int() as value)
                ):
                    if isinstance(value, bool):
                        continue
                case _:
                    continue
            update = find_update(source, node, name)
            number = next(
                (i for i, s in enumerate(self.sites) if s.file == file and update and s.line == update.lineno
                 and not s.is_in_place and s.name.rstrip("=") in ("add", "subtract", "multiply")),
                None,
            )  # fmt: skip
            if number is None:
                continue
            site = self.sites[number]
            library = tuned_library(site.library)
            if library is not None and library.scalars_widen:
                place = self.make_place(NUMBER, source, node.value, library, (number,), site)
                if place is not None:
                    yield place

    def list_parameters_of_function(self, file: str, source: SourceFile) -> Iterator[Place]:
        """Yield the parameters of the tuned function that bring float arrays and are never written into."""
        function = next((f for f in source.functions if f.name == self.function.rpartition(".")[2]), None)
        if not self.function or function is None:
            return
        given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        for parameter in given:
            dtype = self.parameters.get(parameter.arg)
            if dtype is None:
                continue
            users = [
                (i, s) for i, s in enumerate(self.sites)
                if s.file == file and function.lineno <= s.line <= (function.end_lineno or 0)
                and any(
                    isinstance(n, ast.Name) and n.id == parameter.arg
                    for n in ast.walk(find_node(source, s) or ast.Pass())
                )
            ]  # fmt: skip
            library = tuned_library(users[0][1].library) if users else None
            if library is None:
                continue
            if writes_into(function, parameter.arg):
                text = f"parameter {parameter.arg}"
                self.untuned.append(UntunedPlace(file, function.lineno, text, "the function writes into it"))
                continue
            alias = find_alias(source, library)
            if alias or library.takes_names:
                start = body_start(source, function)
                numbers = tuple(i for i, _ in users)
                yield Place(
                    PARAMETER, file, function.lineno, f"parameter {parameter.arg}", (start, start), dtype,
                    library.name, alias, numbers, 0, function.name, parameter.arg,
                )  # fmt: skip


def is_cast_afterwards(sort: str, node: ast.expr, library: TunedLibrary) -> bool:
    """Return True if an expression takes no dtype itself, so that its result must be cast."""
    if sort not in (MADE, CAST):
        return sort in (STORED, TREE)
    if not isinstance(node, ast.Call) or is_dtype(node.func):
        return False
    name = name_of_called(node)
    takes = name in library.creators or name in CASTING_METHODS or name in CONVERTING_FUNCTIONS
    return not takes or (sort == CAST and find_dtype_argument(node) is None)


def merged(first: Place, second: Place) -> Place:
    """Return one place for two operations of the same expression."""
    wider = max(first, second, key=lambda place: dtype_width(DTYPES[place.dtype]) or 0)
    return Place(
        first.sort, first.file, first.line, first.text, first.span, wider.dtype, first.library, first.alias,
        (*first.sites, *second.sites), first.bytes + second.bytes, first.scope, first.name,
        first.is_cast_afterwards, tuple(dict.fromkeys((*first.names, *second.names))),
    )  # fmt: skip


def find_node(source: SourceFile, site: OperationSite) -> ast.expr | None:
    """Return the expression of a site: the one with its exact columns."""
    for part in source.parts_by_line.get(site.line, ()):
        for node in ast.walk(part):
            if isinstance(node, ast.expr) and (
                (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
                == (site.line, site.column, site.end_line, site.end_column)
            ):
                return node
    return None


def find_alias(source: SourceFile, library: TunedLibrary) -> str:
    """Return the name by which a file knows the module with a library's dtypes, or ""."""
    for alias, module in source.import_aliases:
        if module == library.module:
            return alias
    package, _, rest = library.module.partition(".")
    for alias, module in source.import_aliases:
        if module == package and rest:
            return f"{alias}.{rest}"
    return ""


def find_root_alias(source: SourceFile, library: TunedLibrary) -> str:
    """Return the name by which a file knows the package of a library, or ""."""
    return next((alias for alias, module in source.import_aliases if module == library.root), "")


def find_update(source: SourceFile, assign: ast.Assign, name: str) -> ast.stmt | None:
    """Return the statement in a loop that computes a name from its own value, after an assignment."""
    for node in list_nodes_of_scope(source.find_scope(assign)):
        if getattr(node, "lineno", 0) <= assign.lineno or not source.is_in_loop(node):
            continue
        match node:
            case ast.AugAssign(target=ast.Name(id=found), op=op) if found == name:
                if isinstance(op, UPDATING_OPERATORS):
                    return node
            case ast.Assign(targets=[ast.Name(id=found)], value=ast.BinOp(op=op) as value) if found == name:
                names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
                if isinstance(op, UPDATING_OPERATORS) and name in names:
                    return node
    return None


def writes_into(function: FunctionNode, name: str) -> bool:
    """Return True if a function writes into the array of a parameter, as far as its own text shows."""
    for node in ast.walk(function):
        targets: Sequence[ast.expr] = ()
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign):
            targets = [node.target]
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == "out" and isinstance(keyword.value, ast.Name) and keyword.value.id == name:
                return True
        for target in targets:
            root: ast.expr = target
            while isinstance(root, (ast.Subscript, ast.Attribute)):
                root = root.value
            if (
                isinstance(root, ast.Name)
                and root.id == name
                and (root is not target or isinstance(node, ast.AugAssign))
            ):
                return True
    return False


def body_start(source: SourceFile, function: FunctionNode) -> int:
    """Return the first byte of the first statement after a function's docstring."""
    body = function.body
    first = body[0]
    if len(body) > 1 and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        first = body[1]
    return source.find_span(first)[0]
