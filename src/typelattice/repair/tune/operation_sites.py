"""The operations of a run by their place in the source, and what each would lose in narrower dtypes.

Each operation is computed a second time with its operands in a narrow dtype, beside the result that the
program computed itself. So one run tells which operations bear which dtype.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import inf, isfinite, log10
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any
from weakref import ref

from typelattice.core.dtypes.dtypes import DTYPES, DType, real_part_dtype
from typelattice.tracing.library_traits import converting_methods, value_checks, value_reader
from typelattice.tracing.library_traits.array_values import round_to_dtype
from typelattice.tracing.record.value_loss_witness import ValueChecks, ValueWitness
from typelattice.tracing.record.witness import is_module_of_library
from typelattice.tracing.report.formatting import package_path
from typelattice.tracing.run_data.array_classes import holds_results
from typelattice.tracing.run_data.float_widths import dtype_width

MAX_SHADOW_NUMBERS = 1 << 16  # a larger result is judged by its first numbers, if it is elementwise
MAX_SHADOW_RUNS = 24  # runs of one operation that are computed narrowly
MAX_LINKS = 1 << 16
MAX_UPDATED_NUMBERS = 1 << 12  # of a parameter whose updates are compared
MAX_ITEMS = 64  # of a list of operands
MAX_TREE_DEPTH = 8
UNREAD_OPERATIONS = ("put", "empty", "empty_like", "ndarray")  # with numbers that nobody has written
SHADOWED_OPERATIONS = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "power",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "log2",
        "log10",
        "sqrt",
        "square",
        "abs",
        "sin",
        "cos",
        "tan",
        "tanh",
        "arctan",
        "arctan2",
        "sinh",
        "cosh",
        "reciprocal",
        "maximum",
        "minimum",
        "hypot",
        "sum",
        "mean",
        "var",
        "std",
        "prod",
        "cumsum",
        "dot",
        "matmul",
    ]
)
NUMPY_NAME = {
    "truediv": "divide",
    "true_divide": "divide",
    "absolute": "abs",
    "pow": "power",
    "mul": "multiply",
}
OVERFLOW, CANCELLATION, ABSORPTION, ROUNDING, LOST_UPDATES = (
    "overflow", "cancellation", "absorption", "rounding", "lost updates",
)  # fmt: skip


@dataclass(slots=True)
class NarrowLoss:
    """The loss of an operation in a narrow dtype: the relative error, the sort of loss, and a number for it.

    The number is the largest magnitude (overflow), the digits that cancel, where a sum sticks, or the share
    of the updates of a parameter that change nothing.
    """

    error: float = 0.0
    sort: str = ROUNDING
    figure: float = 0.0


@dataclass(slots=True)
class OperationSite:
    """An operation at one place of the source. `inputs` are the sites that made its float operands.

    `is_made` is True if no float array goes in. `operand_size` is the number of elements of its largest
    operand. `target` is the site that made the array which the operation writes into. `is_weak` says that its
    results widen no other array. `is_module` says that
    the operation makes an object with parameters, which have `names` there, or casts those. `modules` are
    the sites that made the parameters of the object that is called here, `has_weight` says that one is its
    `weight`, and `operands` are its float arguments. `members` are the sites
    that made the parameters of an object of several others. `is_several` says that it returns several arrays
    in a collection, and `is_tree` that an installed package which is no array library made them.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    name: str
    library: str
    dtype: str
    bytes: int = 0
    largest_bytes: int = 0
    count: int = 0
    is_made: bool = True
    is_in_place: bool = False
    dimensions: int = 0
    operand_size: int = 0
    target: int | None = None
    inputs: set[int] = field(default_factory=set)
    losses: dict[str, NarrowLoss] = field(default_factory=dict)
    is_weak: bool = False
    is_module: bool = False
    names: tuple[str, ...] = ()
    modules: set[int] = field(default_factory=set)
    members: set[int] = field(default_factory=set)
    operands: dict[int | str, set[ModuleOperand]] = field(default_factory=dict)
    has_weight: bool = False
    is_several: bool = False
    is_tree: bool = False


@dataclass(frozen=True, slots=True)
class ModuleOperand:
    """A float argument of an object with parameters: its dtype, and the site that made it, if known."""

    dtype: str
    maker: int | None


class SiteObserver(ValueChecks):
    """Collects the sites of a run. Its sites are in the order in which they first ran."""

    def __init__(self, narrow_dtypes: Sequence[str]) -> None:
        super().__init__()
        self.narrow_dtypes = [DTYPES[name] for name in narrow_dtypes]
        self.sites: list[OperationSite] = []
        self.number_by_key: dict[tuple[Any, ...], int] = {}
        self.maker_by_id: dict[int, tuple[Any, int]] = {}
        self.converting_methods = converting_methods()
        self.old_values: dict[int, tuple[Any, Any]] = {}  # of parameters that may be updated, by their ids
        self.origins: dict[int, tuple[Any, int]] = {}  # the site of the first of arrays that replace others
        self.update_counts: dict[tuple[Any, ...], int] = {}
        self.names: dict[int, tuple[int, str]] = {}  # the site and the name of each parameter, by its id

    def observe_operation(
        self,
        witness: ValueWitness,
        name: str,
        operands: Sequence[Any],
        keywords: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Add an operation to its site."""
        kind = witness.array_kinds[type(result)]
        found = float_dtype_of(result)
        if kind is None or found is None:
            return
        number = self.count_run(witness, name, [result])
        site = self.sites[number]
        site.is_in_place = name.endswith("=") or name == "put"
        self.link_operands(site, number, operands, result)
        self.link(result, number)
        is_shadowed = site.count <= MAX_SHADOW_RUNS or not site.count & (site.count - 1)  # or a power of 2
        if is_shadowed and kind.variable is None:
            with suppress(Exception):  # of a library, for operands that it cannot take in another dtype
                self.compute_narrowly(site, name, operands, keywords, result)

    def count_run(self, witness: ValueWitness, name: str, results: Sequence[Any]) -> int:
        """Add a run with some float results to its site, and return the number of the site."""
        at = witness.operation
        kinds = [witness.array_kinds[type(x)] for x in results]
        widest = max(filter(None, map(float_dtype_of, results)), key=lambda dtype: dtype_width(dtype) or 0)
        key = (witness.module.file, at.line, at.column, at.end_line, at.end_column, name)
        number = self.number_by_key.get(key)
        if number is None:
            number = self.number_by_key[key] = len(self.sites)
            library = next(kind.library for kind in kinds if kind is not None)
            self.sites.append(OperationSite(*key, library, widest.name))
        site = self.sites[number]
        size = sum(kind.size(x) for kind, x in zip(kinds, results, strict=True) if kind is not None)
        site.count += 1
        site.bytes += 0 if name.endswith("=") or name == "put" else size
        site.largest_bytes = max(site.largest_bytes, size)
        site.is_weak = all(getattr(x, "weak_type", False) is True for x in results)
        site.dimensions = max(site.dimensions, *(len(getattr(x, "shape", ())) for x in results))
        if (dtype_width(widest) or 0) > (dtype_width(DTYPES[site.dtype]) or 0):
            site.dtype = widest.name
        return number

    def observe_call(
        self,
        witness: ValueWitness,
        function: Any,
        name: str,
        operands: Sequence[Any],
        keywords: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Add a call to its site, with the parameters of the object that is called."""
        self.observe_operation(witness, name, operands, keywords, result)
        parameters = self.list_parameters(function)
        number = self.find_maker(result) if parameters else None
        if number is None:
            return
        site = self.sites[number]
        site.modules.update(m for _, x in parameters if (m := self.find_maker(x)) is not None)
        site.is_made = False
        site.inputs |= site.modules
        site.has_weight = any(name == "weight" for name, _ in parameters)
        if site.count <= MAX_SHADOW_RUNS:
            for _, x in parameters:
                self.observe_update(x)
        arguments: list[tuple[int | str, Any]] = [*enumerate(operands), *keywords.items()]
        for key, x in arguments:
            dtype = float_dtype_of(x)
            if dtype is not None:
                known = site.operands.setdefault(key, set())
                known.add(ModuleOperand(dtype.name, self.find_maker(x)))

    def observe_update(self, parameter: Any) -> None:
        """Compare a parameter with its values before, and keep how much of its update would be lost."""
        np: Any = sys.modules.get("numpy")
        maker = self.find_maker(parameter)
        read = value_reader(self.sites[maker].library) if maker is not None else None
        if np is None or read is None or maker is None:
            return
        new = np.asarray(read(parameter)[0], np.float64).ravel()[:MAX_UPDATED_NUMBERS].copy()
        known = self.old_values.get(id(parameter))
        self.old_values[id(parameter)] = ref(parameter), new
        if known is not None and known[0]() is parameter:
            self.compare_update(np, maker, known[1], new)

    def compare_update(self, np: Any, maker: int, old: Any, new: Any) -> None:
        """Keep how much of an update would be lost in each narrow dtype, at the site of the numbers."""
        losses, changed = self.sites[maker].losses, new != old
        size, count = float(np.linalg.norm(new - old)), int(changed.sum())
        for dtype in self.narrow_dtypes if count and isfinite(size) else ():
            rounded = round_to_dtype(np, old, dtype)
            lost = changed & (round_to_dtype(np, rounded + (new - old), dtype) == rounded)
            error = float(np.linalg.norm((new - old)[lost])) / size
            if dtype.name not in losses or error > losses[dtype.name].error:
                losses[dtype.name] = NarrowLoss(error, LOST_UPDATES, float(lost.sum()) / count)

    def observe_updated_trees(self, witness: ValueWitness, arguments: Sequence[Any], result: Any) -> None:
        """Compare each collection of arrays with the result that has the same keys and shapes: its update."""
        at = witness.operation
        key = witness.module.file, at.line, at.column
        self.update_counts[key] = self.update_counts.get(key, 0) + 1
        if self.update_counts[key] > MAX_SHADOW_RUNS or not holds_results(type(result)):
            return
        parts = [result, *(x for _, x in list_paths(result, depth=1) if holds_results(type(x)))]
        updated = [(list_arrays(x), x) for x in parts]
        for old in filter(lambda x: holds_results(type(x)), arguments):
            arrays = list_arrays(old)
            found = next((each for each in updated if arrays and same_shapes(arrays, each[0])), None)
            if found is None or found[1] is old:
                continue
            updated = [each for each in updated if each is not found]
            for (_, a), (_, b) in zip(arrays, found[0], strict=True):
                self.observe_new_array(a, b)

    def observe_new_array(self, old: Any, new: Any) -> None:
        """Compare an array with the one that takes its place. Both count as made at the first one's site."""
        np: Any = sys.modules.get("numpy")
        known = self.origins.get(id(old))
        maker = known[1] if known is not None and known[0]() is old else self.find_maker(old)
        read = value_reader(self.sites[maker].library) if maker is not None else None
        if np is None or maker is None or read is None or old is new:
            return
        (before, dtype), (after, new_dtype) = read(old), read(new)
        if dtype is not None and new_dtype is not None:
            with suppress(TypeError):
                self.origins[id(new)] = ref(new), maker
            values = [np.asarray(x, np.float64).ravel()[:MAX_UPDATED_NUMBERS] for x in (before, after)]
            self.compare_update(np, maker, *values)

    def observe_part(self, array: Any, part: Any) -> None:
        """Link a part to the site that made the array."""
        maker = self.find_maker(array)
        if maker is not None and part is not array:
            self.link(part, maker)

    def observe_other_result(
        self, witness: ValueWitness, function: Any, arguments: Sequence[Any], result: Any
    ) -> None:
        """Add a call that makes an object with parameters, casts those, or returns several arrays."""
        parameters = self.list_parameters(result)
        if not parameters:
            owner = function.__self__ if type(function) in (BuiltinFunctionType, MethodType) else None
            self.observe_several_results(witness, function, [owner, *arguments], result)
            self.observe_updated_trees(witness, arguments, result)
        elif isinstance(function, type):
            self.observe_made_module(witness, parameters)
        elif getattr(function, "__name__", "") in self.converting_methods:
            known = [(x, self.find_maker(x)) for _, x in parameters]
            dtypes = [getattr(float_dtype_of(x), "name", "") for x, _ in known]
            old = [self.sites[m].dtype if m is not None else "" for _, m in known]
            if dtypes != old:
                self.add_module(witness, "convert", parameters)

    def observe_made_module(self, witness: ValueWitness, parameters: Sequence[tuple[str, Any]]) -> None:
        """Add an object that is made. Its parameters may have been made at other sites."""
        new = [(name, x) for name, x in parameters if self.find_maker(x) is None]
        if new:
            self.add_module(witness, "make", new)
        makers = [m for _, x in parameters if (m := self.find_maker(x)) is not None]
        for name, x in parameters:
            maker = self.find_maker(x)
            if maker is not None:
                self.names[id(x)] = maker, name
        if len({*makers}) > 1:
            number = self.count_run(witness, "contain", [x for _, x in parameters])
            self.sites[number].bytes = 0
            self.sites[number].members.update(makers)

    def add_module(self, witness: ValueWitness, name: str, parameters: Sequence[tuple[str, Any]]) -> None:
        """Add a site that decides the dtype of parameters."""
        number = self.count_run(witness, name, [x for _, x in parameters])
        self.sites[number].is_module = True
        for name, x in parameters:
            self.link(x, number)
            self.names[id(x)] = number, name

    def list_parameters(self, x: Any) -> list[tuple[str, Any]]:
        """List the float arrays that a method of an object casts in place, with their names."""
        find = next(iter(self.converting_methods.values()), None)
        return [] if find is None else [(k, v) for k, v in find(x) if float_dtype_of(v) is not None]

    def observe_several_results(
        self, witness: ValueWitness, function: Any, arguments: Sequence[Any], result: Any
    ) -> None:
        """Add a call that returns a collection of arrays which no other site has made."""
        if not holds_results(type(result)):
            return
        leaves = list_arrays(result)
        known = [(path, x) for path, x in leaves if witness.array_kinds[type(x)] is not None]
        new = [(path, x) for path, x in known if self.find_maker(x) is None]
        if not new or len(known) < len(leaves):
            return
        arrays = [x for _, x in new]
        number = self.count_run(witness, getattr(function, "__name__", "") or witness.name, arrays)
        site = self.sites[number]
        site.is_several = True
        site.is_tree = is_of_other_package(function) and all(
            getattr(witness.array_kinds[type(x)], "variable", None) is None for x in arrays
        )
        self.link_operands(site, number, [y for x in arguments for y in list_leaves(x)], arrays[0])
        for path, x in new:
            self.link(x, number)
            if site.is_tree:
                self.names[id(x)] = number, path

    def finish(self) -> list[OperationSite]:
        """Return the sites, with the names of the parameters that each has made."""
        names: dict[int, dict[str, None]] = {}
        for number, name in self.names.values():
            names.setdefault(number, {})[name] = None
        for number, found in names.items():
            self.sites[number].names = tuple(found)
        return self.sites

    def link_operands(self, site: OperationSite, number: int, operands: Sequence[Any], result: Any) -> None:
        """Note the sites that made the operands of an operation, and the array that it writes into."""
        floats = [x for x in flatten(operands) if float_dtype_of(x) is not None]
        if floats or site.is_in_place:
            site.is_made = False
        for x in flatten(operands):
            if isinstance(x, type):  # a dtype such as np.float16, whose `shape` is no number
                continue
            site.operand_size = max(site.operand_size, number_count(x))
        for x in (*floats, *([result] if site.is_in_place else [])):
            maker = self.find_maker(x)
            if maker is not None and maker != number:
                site.inputs.add(maker)
        if site.is_in_place and site.target is None:
            site.target = self.find_maker(result)
            site.target = None if site.target == number else site.target

    def find_maker(self, x: Any) -> int | None:
        """Return the site that made an array, or the array that it is a part of."""
        for each in (x, getattr(x, "base", None), getattr(x, "_base", None)):
            known = self.maker_by_id.get(id(each))
            if known is not None and known[0]() is each:
                return known[1]
        return None

    def link(self, x: Any, number: int) -> None:
        """Remember the site that made an array, as long as the array lives."""
        if len(self.maker_by_id) > MAX_LINKS:
            live = {key: known for key, known in self.maker_by_id.items() if isinstance(known[0], ref)}
            self.maker_by_id = {key: known for key, known in live.items() if known[0]() is not None}
        try:
            found: Any = ref(x)
        except TypeError:  # a scalar of NumPy, which is small
            found = partial(_same, x)
        self.maker_by_id[id(x)] = found, number

    def compute_narrowly(
        self,
        site: OperationSite,
        name: str,
        operands: Sequence[Any],
        keywords: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Compute an operation in each narrow dtype, and keep the largest loss."""
        np: Any = sys.modules.get("numpy")
        checks, read = value_checks(site.library), value_reader(site.library)
        if np is None or checks is None or read is None or name in UNREAD_OPERATIONS:
            return
        plain = checks.plain_call(name.removesuffix("="), operands, keywords)
        if plain is None:
            return
        plain_name, plain_operands, options = plain
        plain_name = NUMPY_NAME.get(plain_name, plain_name)
        wide = np.asarray(read(result)[0], np.float64 if "complex" not in site.dtype else None)
        values = [np.asarray(read(x)[0], wide.dtype) for x in plain_operands]
        if name.endswith("="):  # the old values are gone: only their size is known, from the result
            values = [wide - values[0] if plain_name == "add" else wide + values[0], *values]
        with np.errstate(all="ignore"):
            for dtype in self.narrow_dtypes:
                loss = self.find_range_loss(np, dtype, wide)
                if loss is None and plain_name in SHADOWED_OPERATIONS and wide.dtype.kind == "f":
                    given = {k: x for k, x in options.items() if k in ("axis", "keepdims", "ddof")}
                    loss = narrow_loss(np, plain_name, dtype, values, given, wide, site.count)
                known = site.losses.get(dtype.name)
                if loss is not None and (known is None or loss.error > known.error):
                    site.losses[dtype.name] = loss

    def find_range_loss(self, np: Any, dtype: DType, wide: Any) -> NarrowLoss | None:
        """Return the loss of a result that does not fit into the range of a dtype, or None."""
        finite = abs(wide[np.isfinite(wide)])
        if finite.size and float(finite.max()) > float(dtype.max or inf):
            return NarrowLoss(inf, OVERFLOW, float(finite.max()))
        return None


def _same(x: Any) -> Any:
    return x


def narrow_loss(
    np: Any,
    name: str,
    dtype: DType,
    values: Sequence[Any],
    options: Mapping[str, Any],
    wide: Any,
    runs: int = 1,
) -> NarrowLoss | None:
    """Compute an operation in a narrow dtype, and say what is lost against the wide result.

    An update that changes nothing is lost each time, so its loss grows with the runs.
    """
    unit = 2.0 ** -(real_part_dtype(dtype).precision or 1)
    size = float(np.linalg.norm(wide.ravel()))
    if not size:
        return None
    narrow = [round_to_dtype(np, np.asarray(x, np.float64), dtype) for x in values]
    computed = round_to_dtype(np, np.asarray(getattr(np, name)(*narrow, **options), np.float64), dtype)
    error = float(np.linalg.norm((computed - wide).ravel())) / size
    if not isfinite(error):
        return NarrowLoss(inf, OVERFLOW, float(abs(wide).max()))
    if name in ("sum", "mean", "cumsum") and len(values) == 1:
        numbers = np.asarray(values[0], np.float64)
        axis = options.get("axis")
        count = (
            numbers.size if axis is None else numbers.shape[axis] if isinstance(axis, int) else numbers.size
        )
        total, term = float(abs(numbers.sum(axis=axis)).max()), float(abs(numbers).mean())
        if term and total * unit >= term / 2 and count > 2:
            return NarrowLoss(max(error, 1 - term / (total * unit * 2)), ABSORPTION, term / unit)
        cancelled = float(abs(numbers).sum()) / max(float(abs(numbers.sum(axis=axis)).sum()), 1e-300)
        if cancelled > 10:
            return NarrowLoss(max(error, unit * cancelled), CANCELLATION, log10(cancelled))
    if name in ("add", "subtract") and len(values) == 2:
        largest = max(float(np.linalg.norm(np.broadcast_to(x, wide.shape).ravel())) for x in values)
        if largest / size > 10:
            return NarrowLoss(max(error, unit * largest / size), CANCELLATION, log10(largest / size))
        a, b = (float(abs(np.asarray(x, np.float64)).mean()) for x in values)
        if b and b <= a * unit:
            return NarrowLoss(max(error, min(1.0, b / a * runs)), ABSORPTION, b / unit)
    return NarrowLoss(error)


def float_dtype_of(x: Any) -> DType | None:
    """Return the dtype of a float or complex array, or None for anything else."""
    if isinstance(x, (int, str, bytes)) or x is None or type(x) is float:
        return None
    found = DTYPES.get(str(getattr(x, "dtype", "")).rpartition(".")[2])
    return found if found is not None and dtype_width(found) is not None else None


def number_count(x: Any) -> int:
    """Return the number of elements of an array."""
    count = 1
    for length in getattr(x, "shape", ()):
        count *= int(length)
    return count


def flatten(operands: Sequence[Any]) -> list[Any]:
    """List operands, and the items of those that are lists."""
    return [y for x in operands for y in (x[:MAX_ITEMS] if type(x) in (list, tuple) else [x])]


def list_paths(x: Any, path: str = "", depth: int = MAX_TREE_DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield what is in nested lists, tuples and dictionaries, each with its keys such as `layer.kernel`."""
    if not holds_results(type(x)) or not depth:
        yield path, x
        return
    if type(x) is dict:
        items: Iterable[tuple[Any, Any]] = x.items()
    else:
        values = x if type(x) is list else [*tuple.__iter__(x)]  # not the iterator of a program's class
        keys = getattr(type(x), "_fields", range(len(values)))
        items = zip(keys, values, strict=False)
    for key, item in islice(items, MAX_ITEMS):
        yield from list_paths(item, f"{path}.{key}" if path else str(key), depth - 1)


def list_arrays(x: Any) -> list[tuple[str, Any]]:
    """List the float arrays in a collection in the order of their keys, each with these."""
    found = [(path, each) for path, each in list_paths(x) if float_dtype_of(each) is not None]
    return sorted(found, key=lambda each: each[0])  # libraries sort dictionaries, too


def same_shapes(first: Sequence[tuple[str, Any]], second: Sequence[tuple[str, Any]]) -> bool:
    """Return True if two lists of arrays have the same keys and shapes."""
    return [(path, x.shape) for path, x in first] == [(path, x.shape) for path, x in second]


def is_of_other_package(function: Any) -> bool:
    """Return True for a plain function of an installed package that is no array library.

    None of the function's own code runs.
    """
    if type(function) not in (FunctionType, MethodType):
        return False
    name = function.__module__ or ""
    file = getattr(sys.modules.get(name), "__file__", None)
    return not is_module_of_library(name) and isinstance(file, str) and package_path(file) is not None


def list_leaves(x: Any, depth: int = 4) -> list[Any]:
    """List an argument, or all that is in nested lists, tuples and dictionaries."""
    if type(x) in (list, tuple, dict) and depth:
        items = [*x.values()] if type(x) is dict else x
        return [leaf for item in items[:MAX_ITEMS] for leaf in list_leaves(item, depth - 1)]
    return [x]
