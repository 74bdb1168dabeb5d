"""Promotion tables for generated code: each dtype has an index, and each function has a table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from typelattice.engine.evaluate_operation import find_operation_rules
from typelattice.engine.system import System
from typelattice.facts.dtypes import DType
from typelattice.facts.operations import Operation
from typelattice.operands.notation import parse_operand
from typelattice.operands.operand import Operand, Tier, operand_of_dtype
from typelattice.study.foldable_casts import is_foldable
from typelattice.study.study_scope import list_operands
from typelattice.support.errors import TypelatticeError

TABLE_FORMAT_VERSION = 1  # version of the names of functions and of the JSON
REFUSED_INDEX = 255  # index of a refusal, so there are at most 255 dtypes
AnswerPart = Literal["result", "compute", "accumulate"]


class EmitError(TypelatticeError, ValueError):
    """A system, an operation or a name that no code can be generated for."""


@dataclass(frozen=True, slots=True)
class LookupFunction:
    """A generated function: its name, the tiers of its operands, and the number of the table it looks up.

    Each table has a row for each left operand. The table of a function of one operand is a single row.
    """

    function: str
    tiers: tuple[Tier, ...]
    table_index: int

    @property
    def parameters(self) -> dict[str, str]:
        """The type of each parameter by its name: `{"a": "DType", "b": "Scalar"}`."""
        names = {"scalar": "Scalar"}
        return {name: names.get(tier, "DType") for name, tier in zip("ab", self.tiers, strict=False)}

    def cell_index(self, index_template: str = "[{}]") -> str:
        """Write the index of the cell in the table; `index_template` writes that of one parameter."""
        row = "" if len(self.tiers) > 1 else "[0]"
        return row + "".join(map(index_template.format, self.parameters))


@dataclass(slots=True)
class GeneratedTables:
    """The generated tables of a system, for any language.

    `indices` gives each dtype its index, `scalar_kinds` are the kinds of Python scalars in the order of their
    indices. Equal tables are stored once, in `tables`. If several operands may not be promoted pair by pair,
    `no_fold_reason` says why. `reasons` explains the refusals, by function and operands. `foldable_casts` has
    the row `a * size + b` for the casts `a -> b -> c`, with a 1 for each c if they may be folded.
    """

    system: str
    indices: dict[DType, int]
    scalar_kinds: tuple[str, ...]
    lookups: list[LookupFunction] = field(default_factory=list)
    tables: list[tuple[tuple[int, ...], ...]] = field(default_factory=list)
    no_fold_reason: str = ""
    reasons: dict[str, dict[str, str]] = field(default_factory=dict)
    foldable_casts: tuple[tuple[int, ...], ...] = ()

    @property
    def number_reasons(self) -> dict[str, object]:
        """Return each reason of refusals once, and for each function the number of each refusal's reason."""
        texts = sorted({reason for given in self.reasons.values() for reason in given.values()})
        number = {text: i for i, text in enumerate(texts)}
        refusals = {
            function: {given: number[why] for given, why in asked.items()}
            for function, asked in self.reasons.items()
        }
        return {"reasons": texts, "refusals": refusals}

    @property
    def has_promote(self) -> bool:
        """True if a function promotes two arrays."""
        return any(f.function == "promote" for f in self.lookups)

    @property
    def size(self) -> int:
        """The number of rows that tables of dtypes have: one more than the greatest index."""
        return max(self.indices.values()) + 1

    @property
    def digest(self) -> str:
        """A SHA-256 of all tables, names and indices: it changes when an answer does."""
        return hashlib.sha256(json.dumps(self.data(), sort_keys=True).encode()).hexdigest()

    def data(self) -> dict[str, object]:
        """Return all tables as data for JSON."""
        return {
            "format": TABLE_FORMAT_VERSION,
            "system": self.system,
            "dtypes": {str(d): i for d, i in self.indices.items()},
            "scalars": list(self.scalar_kinds),
            "refused": REFUSED_INDEX,
            "functions": {
                x.function: {"operands": list(x.tiers), "table": x.table_index} for x in self.lookups
            },
            "tables": [[list(row) for row in table] for table in self.tables],
            "folds": not self.no_fold_reason,
            **({"casts": [list(row) for row in self.foldable_casts]} if self.foldable_casts else {}),
        }

    def add_function(
        self, function: str, tiers: tuple[Tier, ...], table: tuple[tuple[int, ...], ...]
    ) -> None:
        """Add a function; its table is shared with an equal one."""
        if table not in self.tables:
            self.tables.append(table)
        self.lookups.append(LookupFunction(function, tiers, self.tables.index(table)))


def build_tables(
    system: System,
    ops: Sequence[str] = (),
    tiers: Iterable[Tier] | None = None,
    earlier_indices: Mapping[str, int] | None = None,
    casts: bool = False,
) -> GeneratedTables:
    """Compute all tables of a system.

    `tiers` chooses among the tiers of the system. `earlier_indices` has the indices of an earlier emission by
    name: they stay, and new dtypes come after them. `casts` adds the table of casts that may be folded.
    Raises EmitError if the values of scalars decide, for an operation of more than two operands, and for more
    than 255 dtypes.

    >>> from typelattice import system
    >>> tables = build_tables(system("jax"), tiers=["array"])
    >>> tables.size, [x.function for x in tables.lookups]
    (32, ['promote'])
    """
    if not system.dtypes:
        raise EmitError(f"{system.name} has no dtypes of arrays, so there is no table to emit")
    indices = _assign_indices(system.dtypes, earlier_indices or {})
    scalars = tuple(str(o.kind.python_name) for o in list_operands(system, "scalar") if o.tier == "scalar")
    distinguished_tiers: tuple[Tier, ...] = ("array", *(t for t in ("0d", "scalar") if t in system.tiers))
    if scalars and "scalar" not in distinguished_tiers:
        distinguished_tiers = (*distinguished_tiers, "scalar")
    chosen = distinguished_tiers if tiers is None else tuple(tiers)
    if unknown := [t for t in chosen if t not in distinguished_tiers]:
        raise EmitError(
            f"{system.name} tells no tier {unknown[0]!r} apart; it has {', '.join(distinguished_tiers)}"
        )
    if {*chosen} != {"array"}:
        _check_independent_of_values(system)
    foldable_casts = _list_foldable_casts(system, indices) if casts else ()
    found = GeneratedTables(
        system.name, indices, scalars, no_fold_reason=_no_fold_reason(system), foldable_casts=foldable_casts)
    _add_functions(found, system, None, chosen)
    if casts and system.casts:
        _add_casts(found, system)
    for op in dict.fromkeys(system.find_operation(name).name for name in ops):
        _add_functions(found, system, op, chosen)
    return found


def expected_results(
    tables: GeneratedTables, lookup: LookupFunction
) -> Iterator[tuple[tuple[tuple[str, int], ...], int]]:
    """Yield every call of a function: the tier and index of each operand, and the index that it gives."""
    indices_by_tier = {"scalar": range(len(tables.scalar_kinds))}
    for given in product(*(indices_by_tier.get(tier, tables.indices.values()) for tier in lookup.tiers)):
        row = tables.tables[lookup.table_index][given[0] if len(given) > 1 else 0]
        yield tuple(zip(lookup.tiers, given, strict=True)), row[given[-1]]


def cast_cases(t: GeneratedTables) -> Iterator[tuple[int, int, int, int]]:
    """Yield every chain of two casts by the indices of its dtypes, and 1 if it may be folded."""
    for a, b, c in product(t.indices.values(), repeat=3) if t.foldable_casts else ():
        yield a, b, c, t.foldable_casts[a * t.size + b][c]


def _list_foldable_casts(system: System, indices: Mapping[DType, int]) -> tuple[tuple[int, ...], ...]:
    """Return 1 for each chain of casts that may be folded, else 0: a row for each pair of first dtypes."""
    by_index = {i: d for d, i in indices.items()}
    every = [by_index.get(i) for i in range(max(indices.values()) + 1)]
    return tuple(
        tuple(int(bool(a and b and c and is_foldable(system, a, b, c))) for c in every)
        for a, b in product(every, repeat=2)
    )


def _check_independent_of_values(system: System) -> None:
    by_value = f"{system.name}: its answers depend on the values of scalars, which no table holds"
    instead = "emit its arrays alone, with `--tiers array`"
    if system.combine == "value":
        raise EmitError(f"{by_value}; {instead}")
    if system.int_join_dtypes:
        raise EmitError(
            f"{by_value} (`fit` says that an int joins the dtype that holds it); {instead}, or give `fit` "
            'another word in a file that extends it, such as `fit = { int = "raise" }`'
        )


def _assign_indices(dtypes: Sequence[DType], earlier_indices: Mapping[str, int]) -> dict[DType, int]:
    """Return the index of each dtype: the index of an earlier emission, or the next unused one."""
    used = max(earlier_indices.values(), default=-1)
    found = {}
    for d in dtypes:
        if str(d) in earlier_indices:
            found[d] = earlier_indices[str(d)]
        else:
            used += 1
            found[d] = used
    if used >= REFUSED_INDEX:
        raise EmitError(
            f"{used + 1} dtypes are more than the {REFUSED_INDEX} that an index of one byte can name"
        )
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _no_fold_reason(system: System) -> str:
    """Return the reason why several operands must not be promoted pair by pair, or "" if they may.

    A pair may join at a node that is not a dtype: in JAX uint64 and int8 join at `f*`, which gives float64
    without other operands, and bfloat16 with a bfloat16. A file with `combine = "fold"` says that its library
    goes pair by pair. Joins without ties and single pairs are associative.
    """
    for a, b in product(system.dtypes, repeat=2):
        p = system.explain(a, b)
        if p.dtype is not None and p.node is not p.dtype:
            return f"{a} and {b} meet at {p.node}, which becomes {p.dtype} only if nothing else joins them"
    if system.combine == "fold":
        return ""
    for key in ("ties", "overrides", "refusals"):
        if getattr(system, key):
            return f"the file has {key}, so that pair by pair may differ from all operands at once"
    return "" if system.combine == "join" else f"it combines operands by {system.combine!r}"


def _list_operands(tables: GeneratedTables, tier: Tier) -> list[tuple[int, Operand]]:
    if tier == "scalar":
        return [
            (i, parse_operand("True" if word == "bool" else word))
            for i, word in enumerate(tables.scalar_kinds)
        ]
    return [(i, operand_of_dtype(d, tier=tier)) for d, i in tables.indices.items()]


def _count_operands(tables: GeneratedTables, tier: Tier) -> int:
    return len(tables.scalar_kinds) if tier == "scalar" else tables.size


def _add_functions(
    tables: GeneratedTables, system: System, op_name: str | None, tiers: Sequence[Tier]
) -> None:
    """Add the look-ups of an operation, or of plain promotion, for all combinations of tiers."""
    operation = None if op_name is None else system.find_operation(op_name)
    most, least = (operation.max_operands, operation.min_operands) if operation else (2, 2)
    if op_name is not None and least > 2:
        raise EmitError(f"{op_name} takes {least} operands, and tables are made for one or two; leave it out")
    parts: tuple[AnswerPart, ...] = ("result",)
    if op_name is not None:
        rule = find_operation_rules(system, op_name)
        accumulates = rule.accumulates or rule.accumulates_of_pairs
        parts = ("result", "compute", "accumulate") if accumulates else ("result", "compute")
    count = 1 if most == 1 else 2
    for combination in product(tiers, repeat=count):
        tier_suffix = "" if set(combination) == {"array"} else "_" + "_".join(combination)
        for part in parts:
            name = (
                "promote" if op_name is None else f"{_function_name(system.find_operation(op_name))}_{part}"
            )
            table = _fill_table(tables, system, op_name, combination, part, f"{name}{tier_suffix}")
            tables.add_function(f"{name}{tier_suffix}", combination, table)


def _add_casts(tables: GeneratedTables, system: System) -> None:
    """Add the look-up of explicit casts: the target, or a refusal if the system allows no plain cast."""
    rows = [[REFUSED_INDEX] * tables.size for _ in range(tables.size)]
    for (a, i), (b, j) in product(tables.indices.items(), repeat=2):
        obstacle = system.cast_rule(a, b).obstacle
        if obstacle:
            tables.reasons.setdefault("cast", {})[f"{a}, {b}"] = obstacle
        else:
            rows[i][j] = tables.indices[system.dtype_of_new_array(b)]
    tables.add_function("cast", ("array", "array"), tuple(map(tuple, rows)))


def _function_name(operation: Operation) -> str:
    """The name of an operation as part of an identifier: `==` is `equal_operator`, `+=` `add_in_place`."""
    suffix = "_in_place" if operation.is_in_place else "_operator" if operation.is_operator else ""
    return f"{operation.function}{suffix}"


def _fill_table(
    tables: GeneratedTables,
    system: System,
    op_name: str | None,
    tiers: tuple[Tier, ...],
    part: AnswerPart,
    function: str,
) -> tuple[tuple[int, ...], ...]:
    height = _count_operands(tables, tiers[0]) if len(tiers) > 1 else 1
    rows = [[REFUSED_INDEX] * _count_operands(tables, tiers[-1]) for _ in range(height)]
    for given in product(*(_list_operands(tables, tier) for tier in tiers)):
        p = system.explain(*(o for _, o in given), op=op_name)
        part_dtype = {"result": p.dtype, "compute": p.compute, "accumulate": p.dtype and p.arithmetic_dtype}[
            part
        ]
        row = given[0][0] if len(given) > 1 else 0
        if p.dtype is None:
            tables.reasons.setdefault(function, {})[", ".join(str(o) for _, o in given)] = str(p.reason)
        elif part_dtype is not None:
            part_dtype = part_dtype.family or part_dtype
            if part_dtype not in tables.indices:
                raise EmitError(f"{system.name}: {function} gives {part_dtype}, which no operand may have")
            rows[row][given[-1][0]] = tables.indices[part_dtype]
    return tuple(map(tuple, rows))
