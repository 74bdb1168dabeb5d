"""Promotion tables for generated code: each dtype has an index, and each function has a table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Literal

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import sort_key, weak_node
from typelattice.core.engine.decisions import CastByRule
from typelattice.core.engine.evaluate_operation import find_operation_rules, may_give_python_number
from typelattice.core.engine.join_one_tier import find_entry_node
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.rule_enums import WeakResult
from typelattice.core.engine.system import System
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operands.operand import Operand, Tier, operand_of_dtype
from typelattice.core.operations.operations import Operation
from typelattice.core.system_files.operation_entries import ZERO_D_PREFIX
from typelattice.study.laws.foldable_casts import is_foldable
from typelattice.study.tables.study_scope import list_operands, weak_widths

TABLE_FORMAT_VERSION = 2  # version of the names of functions and of the JSON
REFUSED = "refused"  # name of the refusal beside the dtypes
REFUSED_INDEX = 0  # a refusal has a row and a column of its own in every table
MAX_INDEX = 1023  # greatest index, which keeps tables smaller than 2 MB
MAX_BYTE = 255  # greatest index that one byte holds
AnswerPart = Literal["result", "compute", "accumulate"]
Table = tuple[tuple[int, ...], ...]


class EmitError(TypelatticeError, ValueError):
    """A system, an operation or a name that no code can be generated for."""


@dataclass(frozen=True, slots=True)
class LookupFunction:
    """A generated function: its name, the tiers of its operands, and the name of the table it looks up.

    Each table has a row for each left operand. The table of a function of one operand is a single row.
    """

    function: str
    tiers: tuple[Tier, ...]
    table: str

    @property
    def parameters(self) -> dict[str, str]:
        """The type of each parameter by its name: `{"a": "DType", "b": "Scalar"}`."""
        names = {"scalar": "Scalar"}
        return {name: names.get(tier, "DType") for name, tier in zip("ab", self.tiers, strict=False)}

    @property
    def chains(self) -> bool:
        """True if the function takes its own result as each of two operands."""
        return len(self.tiers) == 2 and "scalar" not in self.tiers

    def cell_index(self, index_template: str = "[{}]") -> str:
        """Write the index of the cell in the table; `index_template` writes that of one parameter."""
        row = "" if len(self.tiers) > 1 else "[0]"
        return row + "".join(map(index_template.format, self.parameters))


@dataclass(slots=True)
class GeneratedTables:
    """The generated tables of a system, for any language.

    `indices` gives each operand its index: each dtype, and each weak array that some function gives. 0 is the
    refusal. `scalar_kinds` are the kinds of Python scalars in the order of their indices. Equal tables are
    stored once, in `tables`, by the name of the first function. If several operands may not be promoted pair
    by pair, `no_fold_reason` says why. `reasons` explains the refusals, by function and operands.
    `foldable_casts` has the row `a * size + b` for the casts `a -> b -> c`, with a 1 for each c if they may
    be folded.
    """

    system: str
    indices: dict[Operand, int]
    scalar_kinds: tuple[str, ...]
    lookups: list[LookupFunction] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    no_fold_reason: str = ""
    reasons: dict[str, dict[str, str]] = field(default_factory=dict)
    foldable_casts: Table = ()

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
    def has_fold(self) -> bool:
        """True if a function promotes two arrays, and so may promote several."""
        return any(f.function == "promote" for f in self.lookups)

    @property
    def by_index(self) -> dict[int, str]:
        """The name of each operand by its index, with the refusal first."""
        return {REFUSED_INDEX: REFUSED, **{i: str(o) for o, i in self.indices.items()}}

    @property
    def size(self) -> int:
        """The number of rows that tables of dtypes have: one more than the greatest index."""
        return max(self.indices.values()) + 1

    @property
    def bits(self) -> int:
        """The width of an index: 8 or 16."""
        return 8 if self.size - 1 <= MAX_BYTE else 16

    @property
    def digest(self) -> str:
        """A SHA-256 of all tables, names and indices: it changes when an answer does."""
        return hashlib.sha256(json.dumps(self.data(), sort_keys=True).encode()).hexdigest()

    def data(self) -> dict[str, object]:
        """Return all tables as data for JSON."""
        return {
            "format": TABLE_FORMAT_VERSION,
            "system": self.system,
            "dtypes": {str(o): i for o, i in self.indices.items()},
            "scalars": list(self.scalar_kinds),
            "refused": REFUSED_INDEX,
            "functions": {x.function: {"operands": list(x.tiers), "table": x.table} for x in self.lookups},
            "tables": {name: [list(row) for row in table] for name, table in self.tables.items()},
            "folds": self.has_fold and not self.no_fold_reason,
            **({"casts": [list(row) for row in self.foldable_casts]} if self.foldable_casts else {}),
        }

    def add_function(self, function: str, tiers: tuple[Tier, ...], table: Table) -> None:
        """Add a function; its table is shared with an equal one."""
        name = next((name for name, known in self.tables.items() if known == table), function)
        self.tables[name] = table
        self.lookups.append(LookupFunction(function, tiers, name))

    def row_names(self, table: str) -> list[str]:
        """Name the left operand of each row of a table, or "" if the table is a single row."""
        tiers = next(f.tiers for f in self.lookups if f.table == table)
        if len(tiers) == 1:
            return [""]
        names = self.by_index
        return (
            list(self.scalar_kinds)
            if tiers[0] == "scalar"
            else [names.get(i, "no dtype") for i in range(self.size)]
        )


@dataclass(frozen=True, slots=True)
class _Question:
    """A question that a function is made for: an operation, the part of its answer, and the tiers."""

    function: str
    op_name: str | None
    part: AnswerPart
    tiers: tuple[Tier, ...]


class _Answers:
    """The engine's answers to operands, each computed once."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._known: dict[tuple[str | None, tuple[Operand, ...]], Promotion] = {}

    def explain(self, op_name: str | None, operands: tuple[Operand, ...]) -> Promotion:
        key = op_name, operands
        if key not in self._known:
            self._known[key] = self._system.explain(*operands, op=op_name)
        return self._known[key]


_answers_of = lru_cache(maxsize=1)(_Answers)  # `agree` builds the tables of one system a hundred times


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
    Raises EmitError if the values of scalars decide, for an operation of more than two operands or that gives
    Python numbers, and for too many dtypes.

    >>> from typelattice import system
    >>> tables = build_tables(system("jax"), tiers=["array"])
    >>> tables.size, [x.function for x in tables.lookups]
    (34, ['promote', 'strong'])
    """
    if not system.dtypes:
        raise EmitError(f"{system.name} has no dtypes of arrays, so there is no table to emit")
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
    names = dict.fromkeys(system.find_operation(name).name for name in ops)
    questions = [*_list_questions(system, None, chosen)]
    for name in names:
        questions += _list_questions(system, name, _tiers_of_operation(system, name, chosen))
    answers = _answers_of(system)
    arrays = _close_operands(system, answers, questions, scalars)
    indices = _assign_indices(arrays, earlier_indices or {})
    found = GeneratedTables(
        system.name, indices, scalars,
        no_fold_reason=_no_fold_reason(system, answers, arrays),
        foldable_casts=_list_foldable_casts(system, indices) if casts else (),
    )  # fmt: skip
    for question in questions:
        found.add_function(question.function, question.tiers, _fill_table(found, system, answers, question))
    if any(o.weak for o in indices):
        found.add_function("strong", ("array",), (_strong_indices(found),))
    if casts and system.casts:
        _add_casts(found, system)
    return found


def list_indices(tables: GeneratedTables, tier: Tier) -> list[int]:
    """List the indices of the operands of a tier: of the refusal and each array, or of each Python scalar."""
    return list(range(len(tables.scalar_kinds))) if tier == "scalar" else list(tables.by_index)


def _tiers_of_operation(system: System, op_name: str, tiers: tuple[Tier, ...]) -> tuple[Tier, ...]:
    """Return the tiers of a system, and `0d` if only the operation tells arrays without dimensions apart.

    TensorFlow's `argmax` refuses them, and JAX's `x ** y` keeps the dtype of x if y is one.
    """
    if "array" not in tiers or "0d" in system.tiers:
        return tiers
    operation, rules = system.find_operation(op_name), find_operation_rules(system, op_name)
    pairs = (*rules.refusals, *rules.joins_of_pairs)
    words = {str(word) for pair in pairs for side in (pair.left, pair.right) for word in side}
    tells_apart = (
        operation.required_dimensions
        or rules.required_dimensions
        or (rules.writes and not rules.gives_into.makes_new_array)
        or WeakResult.WEAK_IF_0D in (rules.weak_result, *rules.weak_result_of.values())
        or any(word.startswith(ZERO_D_PREFIX) for word in words)
    )
    return (*tiers, "0d") if tells_apart else tiers


def _list_foldable_casts(system: System, indices: Mapping[Operand, int]) -> Table:
    """Return 1 for each chain of casts that may be folded, else 0: a row for each pair of first dtypes."""
    by_index = {i: o.dtype for o, i in indices.items()}
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


def _assign_indices(arrays: Sequence[Operand], earlier_indices: Mapping[str, int]) -> dict[Operand, int]:
    """Return the index of each operand: the index of an earlier emission, or the next unused one."""
    used = max((REFUSED_INDEX, *earlier_indices.values()))
    found = {}
    for o in arrays:
        if str(o) in earlier_indices:
            found[o] = earlier_indices[str(o)]
        else:
            used += 1
            found[o] = used
    if used > MAX_INDEX:
        raise EmitError(f"{used} dtypes are more than the {MAX_INDEX} that tables are made for")
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _no_fold_reason(system: System, answers: _Answers, arrays: Sequence[Operand]) -> str:
    """Return the reason why several operands must not be promoted pair by pair, or "" if they may.

    A pair may join at a node at which its result does not enter the order again. A pair may also be refused,
    though another operand lies above both. A file with `combine = "fold"` says that its library goes pair by
    pair. Other joins without ties and single pairs are associative.
    """
    for a, b in product(arrays, repeat=2):
        p = answers.explain(None, (a, b))
        if p.dtype is None:
            continue
        # two weak arrays may join by their widths, but beside a strong one they join at these nodes
        entries = {find_entry_node(system, o, []) for o in (a, b)}
        joined = system.order.minimal_bounds(*entries) if a.weak and b.weak else (p.node,)
        result = _result_operand(p)
        again = find_entry_node(system, result, [])
        if joined != (again,):
            return (
                f"{a} and {b} meet at {' or '.join(map(str, joined))}, and their result {result} at {again}"
            )
    if system.combine == "fold":
        return ""
    for key in ("ties", "overrides", "refusals"):
        if getattr(system, key):
            return f"the file has {key}, so that pair by pair may differ from all operands at once"
    for a, b in product(arrays, repeat=2):
        p = answers.explain(None, (a, b))
        if p.dtype is None and p.bounds:
            return f"{a} and {b} are refused, but not beside {p.bounds[0]}"
    return "" if system.combine == "join" else f"it combines operands by {system.combine!r}"


def _result_operand(promotion: Promotion) -> Operand:
    """Return the result of an answer as an operand of the next question, with the family of its dtype."""
    result = promotion.result
    return operand_of_dtype(result.family or result, promotion.weak)


def _list_questions(system: System, op_name: str | None, tiers: Sequence[Tier]) -> Iterator[_Question]:
    """Yield the questions of an operation, or of plain promotion, for all combinations of tiers."""
    operation = None if op_name is None else system.find_operation(op_name)
    most, least = (operation.max_operands, operation.min_operands) if operation else (2, 2)
    parts: tuple[AnswerPart, ...] = ("result",)
    if op_name is not None:
        if least > 2:
            raise EmitError(
                f"{op_name} takes {least} operands, and tables are made for one or two; leave it out"
            )
        if operation is not None and operation.call_form == "indexed":
            raise EmitError(f"{op_name} takes indices, which are of integer dtypes alone; leave it out")
        if may_give_python_number(system, op_name):
            raise EmitError(f"{op_name} may give a Python number, which no table holds; leave it out")
        rule = find_operation_rules(system, op_name)
        accumulates = rule.accumulates or rule.accumulates_of_pairs
        parts = ("result", "compute", "accumulate") if accumulates else ("result", "compute")
    for combination in product(tiers, repeat=1 if most == 1 else 2):
        tier_suffix = "" if set(combination) == {"array"} else "_" + "_".join(combination)
        for part in parts:
            name = "promote" if operation is None else f"{_function_name(operation)}_{part}"
            yield _Question(f"{name}{tier_suffix}", op_name, part, combination)


def _close_operands(
    system: System, answers: _Answers, questions: Sequence[_Question], scalars: Sequence[str]
) -> list[Operand]:
    """Return all arrays that functions take or give: the dtypes, and the weak arrays that act differently.

    A chain of functions stays within them. A weak array is left out if every function answers as it answers
    the strong array of the same dtype.
    """
    strong = [operand_of_dtype(d) for d in system.dtypes]
    weak = [operand_of_dtype(d, weak=True) for d in weak_widths(system)]
    asked = {(q.op_name, q.tiers) for q in questions if q.part == "result"}
    while True:
        given = dict.fromkeys(
            _result_operand(p)
            for op_name, tiers in sorted(asked, key=repr)
            for operands in product(*(_list_operands([*strong, *weak], scalars, tier) for tier in tiers))
            if (p := answers.explain(op_name, operands)).dtype is not None and p.weak
        )
        if not (new := [o for o in given if o not in weak]):
            break
        weak += new
    alike = {*weak}
    while differing := {
        o for o in alike if _differs_from_strong(answers, o, alike, [*strong, *weak], asked, scalars)
    }:
        alike -= differing
    return [*strong, *sorted({*weak} - alike, key=lambda o: sort_key(o.dtype or weak_node(o.kind)))]


def _differs_from_strong(
    answers: _Answers,
    weak: Operand,
    alike: Collection[Operand],
    arrays: Sequence[Operand],
    asked: Iterable[tuple[str | None, tuple[Tier, ...]]],
    scalars: Sequence[str],
) -> bool:
    """Return True if a function tells a weak array from the strong one. `alike`: those that none told yet."""

    def answer(op_name: str | None, operands: tuple[Operand, ...]) -> tuple[object, ...]:
        p = answers.explain(op_name, operands)
        if p.dtype is None:
            return (None,)
        result = _result_operand(p)
        return replace(result, weak=False) if result in alike else result, p.compute, p.accumulator

    for op_name, tiers in asked:
        for place, tier in enumerate(tiers):
            if tier == "scalar":
                continue
            others = [_list_operands(arrays, scalars, each) for each in tiers[:place] + tiers[place + 1 :]]
            mine = replace(weak, tier=tier)
            for rest in product(*others):
                one = (*rest[:place], mine, *rest[place:])
                two = (*rest[:place], replace(mine, weak=False), *rest[place:])
                if answer(op_name, one) != answer(op_name, two):
                    return True
    return False


def _list_operands(arrays: Iterable[Operand], scalars: Sequence[str], tier: Tier) -> list[Operand]:
    if tier == "scalar":
        return [parse_operand("True" if word == "bool" else word) for word in scalars]
    return [replace(o, tier=tier) for o in arrays]


def _strong_indices(tables: GeneratedTables) -> tuple[int, ...]:
    """Return the index of the strong array of the same dtype for each index."""
    found = [REFUSED_INDEX] * tables.size
    for o, i in tables.indices.items():
        found[i] = tables.indices[replace(o, weak=False)]
    return tuple(found)


def _add_casts(tables: GeneratedTables, system: System) -> None:
    """Add the look-up of explicit casts: the target, or a refusal if the system allows no plain cast.

    A cast takes and gives the values of a dtype: weak arrays count as strong ones.
    """
    rows = [[REFUSED_INDEX] * tables.size for _ in range(tables.size)]
    for (a, i), (b, j) in product(tables.indices.items(), repeat=2):
        assert a.dtype is not None and b.dtype is not None
        p = system.cast(a, b.dtype)
        if p.dtype is None:
            by_rule = p.decision if isinstance(p.decision, CastByRule) else None
            reason = str(p.reason) if by_rule is None else system.cast_rule(*by_rule.dtypes).obstacle
            tables.reasons.setdefault("cast", {})[f"{a}, {b}"] = reason
        else:
            rows[i][j] = tables.indices[operand_of_dtype(p.dtype)]
    tables.add_function("cast", ("array", "array"), tuple(map(tuple, rows)))


def _function_name(operation: Operation) -> str:
    """The name of an operation as part of an identifier: `==` is `equal_operator`, `+=` `add_in_place`."""
    suffix = "_in_place" if operation.is_in_place else "_operator" if operation.is_operator else ""
    return f"{operation.function}{suffix}"


def _fill_table(tables: GeneratedTables, system: System, answers: _Answers, question: _Question) -> Table:
    def operands_by_index(tier: Tier) -> list[tuple[int, Operand]]:
        indices = range(len(tables.scalar_kinds)) if tier == "scalar" else tables.indices.values()
        return [*zip(indices, _list_operands(tables.indices, tables.scalar_kinds, tier), strict=True)]

    def count(tier: Tier) -> int:
        return len(tables.scalar_kinds) if tier == "scalar" else tables.size

    tiers, function = question.tiers, question.function
    rows = [[REFUSED_INDEX] * count(tiers[-1]) for _ in range(count(tiers[0]) if len(tiers) > 1 else 1)]
    for given in product(*map(operands_by_index, tiers)):
        p = answers.explain(question.op_name, tuple(o for _, o in given))
        row = given[0][0] if len(given) > 1 else 0
        if p.dtype is None:
            tables.reasons.setdefault(function, {})[", ".join(str(o) for _, o in given)] = str(p.reason)
        elif (part := _part_of_answer(p, question.part)) is not None:
            strong = replace(part, weak=False)
            if strong not in tables.indices:
                raise EmitError(f"{system.name}: {function} gives {strong}, which no operand may have")
            rows[row][given[-1][0]] = tables.indices.get(part, tables.indices[strong])
    return tuple(map(tuple, rows))


def _part_of_answer(p: Promotion, part: AnswerPart) -> Operand | None:
    if part == "result":
        return _result_operand(p)
    dtype = p.compute if part == "compute" else p.arithmetic_dtype
    return operand_of_dtype(dtype.family or dtype) if dtype is not None else None
