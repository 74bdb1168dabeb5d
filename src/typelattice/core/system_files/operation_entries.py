"""The entries of a system file for operations: departures from the standard."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import KINDS_BY_WORD, DType, Kind, Node, weak_node
from typelattice.core.dtypes.order import Order, collect_covers, split_statements
from typelattice.core.engine import operation_rules as ops
from typelattice.core.engine.rule_enums import (
    CountsAs,
    InPlaceRule,
    JoinRule,
    OverflowRule,
    PairJoin,
    RightLimit,
    ScalarPlaces,
    ScalarTarget,
    WeakResult,
)
from typelattice.core.engine.scalar_fit import LEAST_DTYPE_OUTCOME
from typelattice.core.operands.operand import KIND_BY_NAME
from typelattice.core.operations.operations import IN_PLACE_CLASS, OPERATORS, Operation, make_custom_operation
from typelattice.core.system_files.entry_names import ENTRY_NAMES, check_entry
from typelattice.core.system_files.key_reader import KeyReader
from typelattice.core.system_files.order_entries import MAX_STATEMENTS
from typelattice.core.system_files.repeated_pairs import check_repeated_pairs
from typelattice.core.system_files.scalar_entries import read_fit, read_limits
from typelattice.core.system_files.system_text import OPERATION_SETS_KEY
from typelattice.core.system_files.value_reader import (
    ConsequentError,
    RepeatedEntryError,
    UnknownWordError,
    Vocabulary,
    read_distinct,
    read_kind,
    require_one_of,
    require_reason,
    require_text,
    table_items,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

RuleFields = dict[str, object]
LEFT_OPERAND_WORD = "left"  # in `gives`: the dtype of the left operand
LEFT_OPERAND_WORDS = tuple(InPlaceRule)
ORDERED_PAIR_SEPARATOR = " then "  # between two sides in a fixed order
REST_KEY = "rest"  # in a table of pairs: all operands that no pair names
ZERO_D_PREFIX = "0d "  # before a kind: `0d integer`
NUMBER_PATTERN = re.compile(r"-?\d+(\.\d+)?")  # `2` is the Python int, and `2.0` the float
DEFAULT_PREFIX = "default "  # as in `default int`, the default dtype of a Python int
WEAK_NODE_BY_PYTHON_WORD = {
    f"py.{word}": weak_node(kind) for word, kind in (*KIND_BY_NAME.items(), ("bool", Kind.BOOL))
}
OPERANDS_BY_SIDE_WORD: Mapping[str, Sequence[Node | str]] = {
    **{word: (node,) for word, node in WEAK_NODE_BY_PYTHON_WORD.items()},
    "py": (*WEAK_NODE_BY_PYTHON_WORD.values(),),
    ops.ANY_OPERAND_WORD: (ops.ANY_OPERAND_WORD,), ops.DIFFERENT_DTYPE_WORD: (ops.DIFFERENT_DTYPE_WORD,),
}  # fmt: skip


@frozen()
class OperationEntryReader:
    """A reader of `ops` that raises ValueError. `present` accepts only nodes of the order.

    `reader` goes to the current entry of `ops`, and to the part of it. `custom_operations` are the operations
    that the file defines.
    """

    words: Vocabulary
    present: Callable[[Node], Node]
    reader: KeyReader
    custom_operations: Mapping[str, Operation]

    def read_operation(self, op_name: str, table: object) -> RuleFields:
        """Read an entry for an operation, or for a class of them, as fields of `OperationRules`."""
        self.reader.go_to("ops", op_name)
        if op_name not in self.custom_operations and isinstance(table, Mapping) and "like" in table:
            raise ConsequentError(op_name)
        if OPERATION_SETS_KEY in self.reader.definition.broken and op_name not in ENTRY_NAMES:
            raise ConsequentError(op_name)  # it may be one of the sets
        check_entry(op_name, self.custom_operations)
        readers: dict[str, Callable[[object], RuleFields]] = {
            **dict.fromkeys(CUSTOM_OPERATION_KEYS, lambda said: self._check_is_custom(op_name)),
            "kernels": lambda words: {"kernels": self._read_domain(words)},
            "accepts": lambda words: {"accepts": self._read_domain(words)},
            "scalars": lambda word: {"scalars": require_one_of(word, ScalarPlaces)},
            "refusals": lambda table: {"refusals": self._read_refusals(table)},
            "counts-as": self._read_counts_as,
            "joins": self._read_joins,
            "loops": self._read_loops,
            "computes": self._read_computes,
            "accumulates": self._read_accumulates,
            "gives": lambda said: self._read_gives(op_name, said),
            "weak-result": lambda said: self._read_of_each(
                "weak_result", said, lambda word: require_one_of(word, WeakResult)
            ),
            "limits": self._read_limits,
            "fit": self._read_fit_of_operation,
            "overflow": lambda word: {"overflow": require_one_of(word, OverflowRule)},
        }
        assert (*readers,) == OPERATION_KEYS
        found: RuleFields = {}
        is_whole = True
        for key, value in table_items(table):
            self.reader.go_to("ops", op_name, key)
            is_read = False
            with self.reader.record_mistakes():
                if key not in readers:
                    raise unknown_key(key)
                found |= readers[key](value)
                is_read = True
            is_whole &= is_read
        if not is_whole:
            raise ConsequentError(op_name)
        return found

    def _check_is_custom(self, op_name: str) -> RuleFields:
        """Raise ValueError for a key that only operations defined by the file have."""
        if op_name not in self.custom_operations:
            raise ValueError(
                f'{op_name} is known; only an operation with `like = "..."` says how it is called'
            )
        return {}

    def _read_domain(self, words: object) -> ops.Domain:
        """Read `real but u16`: kinds and dtypes, without those after `but`."""
        included_text, *excluded_texts = require_text(words).split(" but ")
        if len(excluded_texts) > 1:
            raise ValueError("`but` stands twice; name all exceptions after the first")
        listed, left_out = (
            read_distinct(self.words.read_sources(included_text)),
            read_distinct(self.words.read_sources(excluded_texts[0]) if excluded_texts else ()),
        )
        words_alone = [*map(str.strip, included_text.split(","))]
        if "none" in words_alone and len(words_alone) > 1:
            raise UnknownWordError("none stands alone; remove it, or the other words", "none")
        known = ops.Domain(listed)
        for source in left_out:
            if source not in known:
                raise ValueError(f"{source} is excepted, but nothing before `but` includes it; remove it")
        for source in listed:
            if isinstance(source, DType) and source.kind in listed:
                raise ValueError(f"{source} is {source.kind}, which the list also names; remove {source}")
        return ops.Domain(listed, left_out)

    def _read_refusals(self, table: object) -> tuple[ops.PairEntry, ...]:
        """Read `{ "bool + integer, py.int" = "reason", "py.int then float" = "reason" }`."""
        found = {}
        for pair, reason in table_items(table):
            left, right, ordered = self._read_sides(pair)
            found[pair] = ops.PairEntry(left, right, ordered, None, require_reason(reason))
        check_repeated_pairs(found)
        return tuple(found.values())

    def _read_dtypes_of_pairs(self, table: object) -> tuple[ops.PairEntry, ...]:
        """Read `{ "u8 + i8" = "i32" }`: operands of two sides → a dtype."""
        found = {
            pair: ops.PairEntry(*self._read_sides(pair), self._read_dtype_of_pair(code))
            for pair, code in table_items(table)
        }
        check_repeated_pairs(found)
        return tuple(found.values())

    def _read_dtype_of_pair(self, code: object) -> DType:
        """Read the dtype of a pair of operands, which must be in the order."""
        return self.words.require_dtype(self.present(self.words.read_node(code)))

    def _read_sides(self, pair: str) -> tuple[ops.PairSide, ops.PairSide, bool]:
        """Read two sides, and whether the left one must come first."""
        ordered = ORDERED_PAIR_SEPARATOR in pair
        sides = pair.split(ORDERED_PAIR_SEPARATOR if ordered else "+")
        if len(sides) != 2 or "+" in sides[1]:
            raise ValueError(f'{quote_short(pair)} should name two sides, as in "bool + integer"')
        return self._read_side(sides[0]), self._read_side(sides[1]), ordered

    def _read_side(self, names: str) -> ops.PairSide:
        """Read a side: kinds and dtypes, `0d integer`, `any`, `different`, `py.int`, or a number."""
        words = [word.strip() for word in names.split(",")]
        listed = [word for word in words if not word.startswith(ZERO_D_PREFIX)]
        zero_d = [
            f"{ZERO_D_PREFIX}{kind}" for word in words if word not in listed for kind in _kinds_of(word)
        ]
        values = [word for word in listed if NUMBER_PATTERN.fullmatch(word)]
        plain = [word for word in listed if word not in OPERANDS_BY_SIDE_WORD and word not in values]
        for word in plain:
            if word.startswith("py.") or word.endswith("*"):
                names = ", ".join(WEAK_NODE_BY_PYTHON_WORD)
                cause = f"unknown operand {quote_short(word)}; Python's are py, {names}"
                raise UnknownWordError(cause, word)
        found: list[Node | Kind | str] = [x for word in listed for x in OPERANDS_BY_SIDE_WORD.get(word, ())]
        sources = self.words.read_sources(", ".join(plain)) if plain else ()
        return frozenset(read_distinct([*found, *zero_d, *values, *sources]))

    def _read_limits(self, value: object) -> RuleFields:
        """Read kind or dtypes → limits of Python scalars, and `right` → the integers that may stand there."""
        table = dict(table_items(value))
        if not table:
            return {"limits": {}, "limits_right": None}
        found: RuleFields = {}
        if "right" in table:
            found["limits_right"] = self._read_right_limit(table.pop("right"))
        return found | {"limits": read_limits(self.words, table)} if table else found

    def _read_right_limit(self, value: object) -> RightLimit | DType:
        """Read `not negative`, or the unsigned dtype that must hold an integer on the right."""
        if require_text(value) not in self.words.known:
            return require_one_of(value, RightLimit)
        d = self.words.require_dtype(self.words.read_node(value))
        if d.kind is not Kind.UNSIGNED:
            raise ValueError(f'{d} is no unsigned dtype; name one, such as "u32"')
        return d

    def _read_counts_as(self, value: object) -> RuleFields:
        """Read the key `counts-as`: the dtype of operands before an operation.

        It is a word such as `"array"` for scalars and 0-d arrays, or a table of dtypes and kinds → dtype.
        """
        if isinstance(value, Mapping):
            return {
                "counts_as_of": self._read_mapping(value, self._read_target),
                "counts_as": CountsAs.ITSELF,
            }
        return {"counts_as": require_one_of(value, CountsAs), "counts_as_of": {}}

    def _read_joins(self, value: object) -> RuleFields:
        """Read `joins`: a word such as `"same dtype"`, the operation's own order, or a table of pairs.

        The entry `rest` of a table is the word or the order for all other operands.
        """
        if isinstance(value, Mapping):
            pairs = dict(table_items(value))
            if REST_KEY in pairs and len(pairs) == 1:
                raise ValueError(f"the table names no pair; write the join alone, without {REST_KEY}")
            joins_of_rest = self._read_joins_of_all(pairs.pop(REST_KEY, JoinRule.BY_THE_ORDER))
            found = {pair: self._read_pair_join(pair, said) for pair, said in pairs.items()}
            check_repeated_pairs(found)
            return joins_of_rest | {"joins_of_pairs": tuple(found.values())}
        return self._read_joins_of_all(value) | {"joins_of_pairs": ()}

    def _read_pair_join(self, pair: str, value: object) -> ops.PairEntry:
        """Read how a pair of operands joins: by a word such as `"left"`, or at a dtype."""
        sides = self._read_sides(pair)
        if require_text(value) in self.words.known:
            return ops.PairEntry(*sides, self._read_dtype_of_pair(value))
        if value not in (*PairJoin,):
            near = spelling_hint(require_text(value), (*PairJoin, *self.words.known))
            words = ", ".join(f'"{word}"' for word in PairJoin)
            cause = f"should be a dtype or one of {words}, not {quote_short(require_text(value))}{near}"
            raise UnknownWordError(cause, require_text(value))
        return ops.PairEntry(*sides, join=PairJoin(require_text(value)))

    def _read_joins_of_all(self, value: object) -> RuleFields:
        """Read how all operands join: a word such as `"same dtype"`, or the operation's own order."""
        if "->" not in require_text(value) and ";" not in require_text(value):
            return {"joins": require_one_of(value, JoinRule), "joins_order": ()}
        chains = [
            [self.words.read_nodes(",".join(part)) for part in statement]
            for line in require_text(value).split("\n")
            for _, statement in split_statements(line.partition("#")[0])
        ]
        if len(chains) > MAX_STATEMENTS:
            raise ValueError(f"more than {MAX_STATEMENTS:,} statements; a system file states a rule")
        covers = collect_covers(chains)
        Order(covers)  # raises an error with the mistake
        return {
            "joins": JoinRule.BY_THE_ORDER,
            "joins_order": tuple((a, tuple(above)) for a, above in covers.items()),
        }

    def _read_loops(self, value: object) -> RuleFields:
        """Read the dtypes that a search for a loop tries, and the `own` ones that it tries first."""
        parts = {"search": "loops", "own": "loops_own"}
        given = value if isinstance(value, Mapping) else {"search": value}
        if isinstance(value, Mapping) and "own" in value:  # without `search`, only these dtypes have a loop
            given = {"search": value["own"], **value}
        return {parts[require_one_of(part, parts)]: self._read_dtypes(names) for part, names in given.items()}

    def _read_dtypes(self, names: object) -> tuple[DType, ...]:
        """Read dtypes of the order. `""` means no dtypes, so operands join."""
        return (
            ()
            if names == ""
            else read_distinct(
                self.words.require_dtype(self.present(n)) for n in self.words.read_nodes(names)
            )
        )

    def _read_computes(self, value: object) -> RuleFields:
        """Read dtypes or kinds → the dtype to compute in. `scalars` → the dtype that Python scalars take."""
        table = dict(table_items(value))
        scalars = require_one_of(table.pop("scalars", ScalarTarget.COMPUTED), ScalarTarget)
        return {"computes": self._read_mapping(table, self._read_target), "computes_scalars": scalars}

    def _read_accumulates(self, value: object) -> RuleFields:
        """Read dtypes, kinds or pairs of operands → the dtype to add up in."""
        table, pairs = self._split_pairs(value)
        return {
            "accumulates": self._read_mapping(table, self._read_target),
            "accumulates_of_pairs": self._read_dtypes_of_pairs(pairs),
        }

    def _split_pairs(self, value: object) -> tuple[dict[str, object], dict[str, object]]:
        """Return the entries of a table for single dtypes, and those for pairs of operands: `"u8 + i8"`."""
        pairs = {
            names: code
            for names, code in table_items(value)
            if "+" in names or ORDERED_PAIR_SEPARATOR in names
        }
        return {names: code for names, code in table_items(value) if names not in pairs}, pairs

    def _read_gives(self, op_name: str, value: object) -> RuleFields:
        """Read the dtype of the result.

        For writing in place, read the dtypes that the left operand accepts.
        """
        if isinstance(value, Mapping):
            value, pairs = self._split_pairs(value)
            if pairs:
                of_pairs: RuleFields = {"gives_of_pairs": self._read_dtypes_of_pairs(pairs)}
                return of_pairs | self._read_gives(op_name, value) if value else of_pairs
            left_operand_words = {word for word in value.values() if word in LEFT_OPERAND_WORDS} - {
                LEFT_OPERAND_WORD
            }
            table: dict[str, object] = {
                names: LEFT_OPERAND_WORD if word in left_operand_words else word
                for names, word in value.items()
            }
            given_of = self._read_mapping(table, self._read_given)
            _check_members(given_of)
            fields: RuleFields = {"gives_of": given_of}
            return (
                {"gives_into": InPlaceRule(require_text(left_operand_words.pop())), **fields}
                if len(left_operand_words) == 1
                else fields
            )
        writes = op_name == IN_PLACE_CLASS or (op_name in OPERATORS and OPERATORS[op_name].is_in_place)
        if value not in LEFT_OPERAND_WORDS:
            given = self._read_given(value)
            if writes and not isinstance(given, (DType, Kind)):
                require_one_of(value, LEFT_OPERAND_WORDS)
            _check_members({None: given})
            return {"gives": given, "gives_of": {}, "gives_of_pairs": ()}
        into_left: RuleFields = {"gives_into": InPlaceRule(require_text(value))}
        return into_left if writes else {**into_left, "gives": LEFT_OPERAND_WORD, "gives_of": {}}

    def _read_fit_of_operation(self, value: object) -> RuleFields:
        """Return the outcomes for this operation."""
        fit = read_fit(self.words, value, dtypes=True)
        for word, outcome in fit.items():
            d = self.words.known.get(word)
            if d is not None and outcome == fit.get(d.kind.python_name):
                raise UnknownWordError(f"{d} does as its kind says; leave it out", word)
        if LEAST_DTYPE_OUTCOME in fit.values():
            raise ValueError(
                f'"{LEAST_DTYPE_OUTCOME}" is said of all operations at once, in the `fit` of the file'
            )
        return {"fit": fit}

    def _read_of_each(self, field: str, value: object, read: Callable[[object], object]) -> RuleFields:
        """Read one value for all dtypes, or dtypes and kinds → the value for each."""
        if isinstance(value, Mapping):
            return {f"{field}_of": self._read_mapping(value, read)}
        return {field: read(value), f"{field}_of": {}}

    def _read_given(self, code: object) -> ops.ResultRule:
        """Return a dtype, the default dtype of a kind, or a word such as `left` or `real`."""
        words = (*ops.RESULT_WORDS, *ops.KIND_BY_PYTHON_NUMBER_WORD)
        if isinstance(code, str) and "(" in code:
            from typelattice.core.system_files.parametric_dtype_entries import (
                read_computed_member,  # few files have such dtypes
            )

            return read_computed_member(code, self.words)
        if (
            isinstance(code, str)
            and code not in (*words, *self.words.known)
            and (near := spelling_hint(code, words))
        ):
            raise UnknownWordError(f"unknown word {quote_short(code)}{near}", code)
        # mypy does not see that such a code is a word of `ResultRule`.
        return code if code in words else self._read_target(code)  # type: ignore[return-value]

    def _read_target(self, code: object) -> DType | Kind:
        """Return a dtype, or `default int` for the default dtype of a kind."""
        if require_text(code).startswith(DEFAULT_PREFIX):
            return read_kind(require_text(code).removeprefix(DEFAULT_PREFIX))
        node = self.words.read_node(code)
        if not isinstance(node, DType) and not node.dtype:
            kind_word = "uint" if node.kind is Kind.UNSIGNED else node.kind.python_name
            cause = f'{node} has no width; write "{DEFAULT_PREFIX}{kind_word}" for the default dtype'
            raise UnknownWordError(cause, str(node))
        return self.words.require_dtype(node)

    def _read_mapping(self, table: object, read: Callable[[object], T]) -> dict[DType | Kind, T]:
        """Read `"bool, i8" = "i32"`: dtypes or kinds → the value on the right, read by `read`."""
        found: dict[DType | Kind, T] = {}
        entry_by_source: dict[DType | Kind, str] = {}
        for names, code in table_items(table):
            target = read(code)
            for source in self.words.read_sources(names):
                if source in found:
                    cause = f"{source} is mapped twice; keep one entry"
                    raise RepeatedEntryError(cause, names, entry_by_source[source])
                found[source], entry_by_source[source] = target, names
        return found


def _kinds_of(word: str) -> tuple[Kind, ...]:
    """Return the kinds of `0d integer`. Raises UnknownWordError."""
    kind = word.removeprefix(ZERO_D_PREFIX).strip()
    if kind not in KINDS_BY_WORD:
        raise UnknownWordError(f"unknown kind {quote_short(kind)}{spelling_hint(kind, KINDS_BY_WORD)}", kind)
    return KINDS_BY_WORD[kind]


def _check_members(results_by_source: Mapping[Any, object]) -> None:
    """Raise ValueError for formulas with parameters that the compute dtype does not have."""
    for source, member in results_by_source.items():
        if isinstance(member, ops.ComputedMember):
            own = {p.name for p in source.parameters} if isinstance(source, DType) else set[str]()
            for formula in member.formulas:
                if unknown := sorted(formula.parameter_names - own):
                    whose = f"{source} has no parameter {unknown[0]}" if source else "it is not said whose"
                    advice = f'name a dtype that has: {{ {member.family} = "..." }}'
                    raise UnknownWordError(f"{quote_short(formula.text)}: {whose}; {advice}", formula.text)


def read_custom_operations(reader: KeyReader) -> dict[str, Operation]:
    """Return the operations that a file defines: entries of `ops` that are `like` a known operation."""
    found: dict[str, Operation] = {}
    for name, said in reader.read_table("ops"):
        if not isinstance(said, Mapping) or "like" not in said:
            continue
        with reader.record_mistakes():
            if name in ENTRY_NAMES:
                reader.go_to("ops", name, "like")
                raise ValueError(f"{name} is already taken; choose another name for your operation")
            listed = {}
            for key in CUSTOM_OPERATION_KEYS:
                reader.go_to("ops", name, key)
                words = map(str.strip, require_text(said.get(key, "")).split(","))
                listed[key] = [*filter(None, words)]
            reader.go_to("ops", name)
            found[name] = make_custom_operation(
                name,
                require_text(said["like"]),
                listed["operands"],
                listed["parameters"],
                custom_operations=found,
            )
    return found


def unknown_key(key: str) -> UnknownWordError:
    """Return the error for an unknown key of an operation."""
    near = spelling_hint(key, OPERATION_KEYS) or f"; these are {', '.join(OPERATION_KEYS)}"
    return UnknownWordError(f"unknown key {quote_short(key)} of an operation{near}", key)


CUSTOM_OPERATION_KEYS = ("like", "operands", "parameters")  # keys of an operation that the file defines
OPERATION_KEYS = (
    *CUSTOM_OPERATION_KEYS, "kernels", "accepts", "scalars", "refusals", "counts-as",
    "joins", "loops", "computes", "accumulates", "gives", "weak-result", "limits", "fit", "overflow",
)  # fmt: skip
FIELDS_BY_KEY: Mapping[str, tuple[str, ...]] = {
    "counts-as": ("counts_as", "counts_as_of"), "joins": ("joins", "joins_order", "joins_of_pairs"),
    "limits.right": ("limits_right",),
    "computes.scalars": ("computes_scalars",), "loops.own": ("loops_own",), "gives of each": ("gives_of",),
    "gives of pairs": ("gives_of_pairs",), "gives of the left": ("gives_into",),
    "accumulates": ("accumulates", "accumulates_of_pairs"), "weak-result": ("weak_result", "weak_result_of"),
    **{key: (key,) for key in ("kernels", "accepts", "scalars", "refusals", "loops", "computes",
                               "gives", "limits", "fit", "overflow")},
}  # fmt: skip
"""The fields of `OperationRules` that each key, or part of a key, sets."""
