"""The refusal of entries of a system file that nothing uses, or that contradict the rest of it.

The check covers a file's own entries, not those that it inherits: a variant may leave an inherited set
unused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, combinations_with_replacement, product

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, Node, weak_node
from typelattice.core.engine.operation_rules import (
    LAST_ARRAY_RESULT,
    Domain,
    OperationRules,
    merge_entries,
)
from typelattice.core.engine.rule_enums import CountsAs, InPlaceRule, JoinRule, PairJoin
from typelattice.core.engine.rules import Rules
from typelattice.core.engine.system import System
from typelattice.core.losses.saturating_arithmetic import OVERFLOWING_FUNCTIONS
from typelattice.core.operands.operand import BOOL_DTYPE
from typelattice.core.operations.operations import Operation
from typelattice.core.system_files.entry_followers import (
    find_followers,
    find_mapping,
    find_pairs,
    key_of_operation,
)
from typelattice.core.system_files.key_reader import KeyReader
from typelattice.core.system_files.operation_entries import FIELDS_BY_KEY, LEFT_OPERAND_WORD
from typelattice.core.system_files.scalar_entries import lies_within
from typelattice.core.system_files.system_text import OPERATION_SETS_KEY
from typelattice.core.system_files.unreachable_entries import find_unreachable_entries
from typelattice.core.system_files.value_reader import Vocabulary, not_in_order

GIVES_OF_PAIRS_FIELD = "gives_of_pairs"
# Fields of `OperationRules` with pairs of operands.
PAIR_FIELDS = ("refusals", "accumulates_of_pairs", "joins_of_pairs", GIVES_OF_PAIRS_FIELD)
MAPPING_FIELDS = (
    "counts_as_of",
    "computes",
    "accumulates",
    "gives_of",
    "weak_result_of",
)  # their keys are dtypes
Finding = tuple[str, str | None, str]  # key, entry, the mistake
EntryFinding = tuple[str, str | None, str]  # entry of `ops`, its key, the mistake


def check_unused_keys(reader: KeyReader, words: Vocabulary, rules: System) -> None:
    """Note each key or entry that has no effect.

    If the file has other mistakes, keys that a broken entry may use or depend on are not checked.
    """
    if not reader.definition.is_whole or not reader.is_order_whole or words.broken:
        return
    is_sound = not reader.mistakes
    key_findings = [_unused_defaults(rules), _unused_scalars(rules)]
    entry_findings: Iterable[EntryFinding] = ()
    if is_sound:
        key_findings += [_unused_words(reader, words, rules), _unused_loops(rules)]
        if reader.definition.main_text_states("ops"):
            entry_findings = [*find_unused_entries(rules), *_unreachable_entries(reader, rules)]
            if not entry_findings:  # a broken operation may give nothing, which is no mistake of a cast
                key_findings.append(_unused_functions_of_casts(rules))
    found: list[tuple[str, str | None, str | None, str]] = [
        (key, entry, None, cause) for key, entry, cause in chain.from_iterable(key_findings)
    ]
    found += [("ops", *finding) for finding in entry_findings]
    seen: set[tuple[str, str | None]] = set()  # one mistake for each entry, since others may follow from it
    for key, entry, part, cause in found:
        if reader.definition.main_text_states(key, entry) and (key, entry) not in seen:
            seen.add((key, entry))
            reader.go_to(key, entry, part)
            with reader.record_mistakes():
                raise ValueError(cause)


def _unused_functions_of_casts(rules: System) -> Iterator[Finding]:
    """Find casts that need a function which never gives the target."""
    for (_, target), rule in rules.casts.items():
        operation = rules.find_operation(rule.function) if rule.function else None
        if operation is None or operation.min_operands > 2:
            continue
        operands = product(rules.dtypes, repeat=operation.min_operands)
        given = {rules.explain(*each, op=operation.name).dtype for each in operands}
        if not any(d and d.kind.category == target.kind.category for d in given):
            named = ", ".join(sorted(str(d) for d in given if d)) or "nothing"
            cause = f"{operation.name} gives {named}, never a {target}; name a function that gives one"
            yield "casts", rule.entry, cause


def _unreachable_entries(reader: KeyReader, rules: Rules) -> Iterator[EntryFinding]:
    """Find entries of `ops` that no operands reach, in none of the operations that share the statement."""
    found = {
        (entry, key_of_operation(key), cause): None
        for entry, said in rules.ops.items()
        for key, cause in find_unreachable_entries(entry, said, rules)
    }
    for entry, key, cause in found:
        beside = reader.definition.main.operations_beside(entry, key)
        if all((other, key, cause) in found for other in beside):
            yield entry, key, cause


def find_unused_keys(rules: Rules) -> Iterator[Finding]:
    """Find keys and entries without effect, except words, `after` and `ops`."""
    return chain(_unused_defaults(rules), _unused_scalars(rules), _unused_loops(rules))


def _unused_words(reader: KeyReader, words: Vocabulary, rules: Rules) -> Iterator[Finding]:
    """Find dtypes and sets that are used nowhere, and answers that could not be operands."""
    for word in reader.definition.entries_of_key("dtypes"):
        if not _may_enter(words.known[word], rules):
            yield "dtypes", word, _enters_nowhere_message(word)
    for word in words.sets:
        if word not in words.used:
            yield "sets", word, _used_nowhere_message(word)
    main = reader.definition.main
    named = main.list_entry_names() if main.operation_sets else ()
    for name in main.operation_sets:
        if name not in named:
            yield OPERATION_SETS_KEY, name, _used_nowhere_message(name)
    for word, target in reader.definition.entries_of_key("after").items():
        node = words.read_node(target)
        if not _can_be_answer(node, rules):
            yield "after", word, _enters_nowhere_message(node)


def _used_nowhere_message(word: str) -> str:
    return f"{word} is used nowhere; remove it"


def _enters_nowhere_message(source: object) -> str:
    """Return the mistake of a dtype that no operand can have, with the next step."""
    return f"{source} is neither in the order nor in `before`, so no operand can have it; add or remove it"


def _may_enter(node: Node, rules: Rules) -> bool:
    """Return True if operands may have a dtype, or be of a weak node."""
    return node in rules.order or node in rules.before


def _can_be_answer(node: Node, rules: Rules) -> bool:
    """Return True if an answer may have a dtype: operands may have it, even if only weak ones.

    If the order has only weak nodes, as Python's has, dtypes are just names for its numbers.
    """
    weak_alone = not any(isinstance(n, DType) for n in rules.order.nodes)
    return (
        weak_alone
        or _may_enter(node, rules)
        or (isinstance(node, DType) and weak_node(node.kind, node) in rules.order)
    )


def _unused_defaults(rules: Rules) -> Iterator[Finding]:
    """Find default dtypes that no operand could have, or that nothing uses."""
    for kind, d in rules.defaults.items():
        if not _can_be_answer(d, rules):
            yield (
                "defaults",
                "uint" if kind is Kind.UNSIGNED else kind.python_name,
                not_in_order(d),
            )
    for kind, several in rules.wider_defaults.items():
        if weak_node(kind) in rules.order:
            cause = (
                f"only the first dtype has an effect, since the order has {weak_node(kind)}; "
                "remove the others"
            )
            yield "defaults", kind.python_name, cause
        for d in several:
            if not _can_be_answer(d, rules):
                yield "defaults", kind.python_name, not_in_order(d)


def _unused_scalars(rules: Rules) -> Iterator[Finding]:
    """Find entries for Python scalars that never occur, or that no tier separates."""
    kinds = {node.kind.python_name for node in rules.order.nodes}
    for word in rules.fit:
        if word not in kinds:
            yield "fit", word, f"the order has no {word} that a Python {word} could become; leave it out"
    for d in rules.int_join_dtypes:
        if d not in rules.order:
            yield "fit", "int", not_in_order(d)
    for held in rules.limits:
        if isinstance(held, Kind) and held.python_name not in kinds:
            name = held.python_name
            cause = f"the order has no {name} that a Python {name} could become; leave it out"
            yield "limits", name, cause
        if isinstance(held, DType) and not _may_enter(held, rules):
            yield "limits", None, not_in_order(held)
        elif isinstance(held, DType) and _is_limited_already(held, rules):
            cause = f"a Python int that becomes {held} is limited by `int` already; leave {held} out"
            yield "limits", None, cause
    if rules.first_is_array and "scalar" not in rules.tiers:
        yield "first-is-array", None, 'has no effect: `tiers` does not list "scalar"'
    if rules.first_is_array and rules.combine == "value":
        yield "first-is-array", None, 'has no effect: `combine` is "value"'
    if rules.overrides and rules.combine == "value":
        yield "overrides", None, 'has no effect: `combine` is "value"'


def _is_limited_already(limited: DType, rules: Rules) -> bool:
    """Return True if each int within the limits of all ints is within those of a dtype."""
    of_all = rules.limits.get(Kind.SIGNED, ())
    return bool(of_all) and all(any(lies_within(d, own) for own in rules.limits[limited]) for d in of_all)


def _unused_loops(rules: Rules) -> Iterator[Finding]:
    """Find keys that only operations could use, if no operation does."""
    targets = [target for said in rules.ops.values() for target in _list_targets(said)]
    if Kind.UNSIGNED in rules.defaults and not any(target is Kind.UNSIGNED for target in targets):
        yield "defaults", "uint", "no operation of `ops` asks for it, and no Python scalar is unsigned"
    loops = {*chain.from_iterable(map(_list_loops, rules.ops.values()))}
    if loops:
        if rules.both_ways and all(map(loops.isdisjoint, rules.both_ways)):
            yield "both-ways", None, "has no effect: no operation of `ops` has a loop of any of these dtypes"
        return
    for key, said in (("stand-in", rules.stand_in_beside), ("both-ways", rules.both_ways)):
        if said:
            yield key, None, "has no effect: no operation of `ops` has `loops`"
    if rules.refusals and rules.combine == "value":
        yield (
            "refusals",
            None,
            'has no effect: `combine` is "value", and no operation of `ops` has `loops`',
        )


def _list_loops(entry_fields: Mapping[str, object]) -> list[object]:
    """Return the dtypes for which an entry of `ops` states a loop."""
    return [d for key in ("loops", "loops_own") if isinstance(of := entry_fields.get(key), tuple) for d in of]


def find_unused_entries(rules: Rules) -> Iterator[EntryFinding]:
    """Find entries of `ops` without effect, or with dtypes that the system does not have."""
    for entry, said in rules.ops.items():
        if not said and entry not in rules.custom_operations:
            yield entry, None, f"{entry} does the same as in the standard; leave it out"
        for key, fields in FIELDS_BY_KEY.items():
            if stated := {field: said[field] for field in fields if field in said}:
                yield from ((entry, key_of_operation(key), cause) for cause in _absent_dtypes(stated, rules))
        for key, cause in _unusable_keys(entry, said, rules):
            yield entry, key_of_operation(key), cause


def _absent_dtypes(entry_fields: Mapping[str, object], rules: Rules) -> Iterator[str]:
    """Yield the dtypes and kinds of an entry of `ops` that the system does not have."""
    for target in _list_targets(entry_fields):
        if isinstance(target, DType) and not _can_be_answer(target, rules):
            yield not_in_order(target)
        elif isinstance(target, Kind) and target not in rules.defaults and target is not Kind.BOOL:
            yield f"{target} has no dtype in `defaults`; add one"
    for source in _list_sources(entry_fields):
        if isinstance(source, DType) and not _may_enter(source, rules):
            yield not_in_order(source)
    named = find_mapping(entry_fields, "fit")
    for d in [d for d in (*DTYPES.values(), *rules.custom_dtypes.values()) if str(d) in named]:
        if not _may_enter(d, rules):
            yield not_in_order(d)


def _unusable_keys(entry: str, entry_fields: Mapping[str, object], rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield the keys of an entry of `ops` that cannot be followed, or change nothing, with the mistakes."""
    yield from _keys_without_dtype(entry, entry_fields, rules)
    for key, fields in FIELDS_BY_KEY.items():
        # An entry with one word for every result has an empty table of pairs, which states nothing.
        stated = [
            field
            for field in fields
            if field in entry_fields and (field != GIVES_OF_PAIRS_FIELD or entry_fields[field])
        ]
        if key in _NEED_BY_KEY and stated and not _has_effect(entry, key, rules):
            yield key, _NEED_BY_KEY[key][0].format(cause=_cause_of_no_effect(entry, key, rules))
        elif key not in _KEYS_OF_REFUSALS and any(entry_fields[field] for field in stated):
            rules_of_followers = [merge_entries(o, rules.ops) for o in find_followers(entry, key, rules)]
            if rules_of_followers and all(map(_refuses_everything, rules_of_followers)):
                cause = "the operation has no kernels and refuses everything; remove it, or name kernels"
                yield key, f"{key_of_operation(key)} has no effect: {cause}"
    for key in MAPPING_FIELDS[1:]:  # the first is looked up for Python scalars, too, which have only a kind
        for kind in _find_hidden_kinds(find_mapping(entry_fields, key), rules):
            cause = "has no effect: each of its dtypes has an entry of its own; remove it"
            yield _KEY_BY_FIELD[key], f"the entry for {kind} {cause}"


def _keys_without_dtype(
    entry: str, entry_fields: Mapping[str, object], rules: Rules
) -> Iterator[tuple[str, str]]:
    """Yield `joins` and `kernels` if a follower of the entry finds no dtype by them, with the mistakes."""
    if _may_leave_operands_apart(entry_fields):
        for o in find_followers(entry, "joins", rules):
            if not isinstance(merge_entries(o, rules.ops).gives, (DType, Kind)):
                yield "joins", "operands that need not join have no dtype in common; name one in `gives`"
    if "kernels" in entry_fields:
        for o in find_followers(entry, "kernels", rules):
            op = merge_entries(o, rules.ops)
            if op.kernels.listed and op.accepts is not None and not _computes_any(op, rules):
                cause = f"{o.name} takes no dtype of the order: `accepts` of a class leaves out what it"
                yield "kernels", f"{cause} computes in; give {o.name} a `accepts` of its own"


def _may_leave_operands_apart(entry_fields: Mapping[str, object]) -> bool:
    """Return True if some operands of an entry of `ops` need not join."""
    return entry_fields.get("joins") is JoinRule.IF_POSSIBLE or any(
        pair.join is PairJoin.NEVER for pair in find_pairs(entry_fields, "joins_of_pairs")
    )


def _refuses_everything(operation_rules: OperationRules) -> bool:
    """Return True if no operands have an answer: there are neither kernels nor special pairs."""
    return not (
        operation_rules.kernels.listed
        or operation_rules.accumulates_of_pairs
        or operation_rules.joins_of_pairs
        or operation_rules.joins is JoinRule.IF_POSSIBLE
    )


def _find_hidden_kinds(table: Mapping[object, object], rules: Rules) -> Iterator[Kind]:
    """Yield the kinds of a table with entries for each dtype of the kind.

    A word such as `integer` means several kinds. It has an effect if one of them has.
    """
    kinds = [kind for kind in table if isinstance(kind, Kind)]
    hidden = [
        kind
        for kind in kinds
        if (own := [d for d in rules.dtypes if d.kind is kind]) and all(d in table for d in own)
    ]
    working = [table[kind] for kind in kinds if kind not in hidden]
    yield from (kind for kind in hidden if table[kind] not in working)


def _computes_any(operation_rules: OperationRules, rules: Rules) -> bool:
    """Return True if some operands pass `accepts` and join at a dtype of `kernels`, or may be cast."""
    if (
        operation_rules.computes
        or operation_rules.counts_as_of
        or operation_rules.loops
        or any(pair.dtype for pair in operation_rules.joins_of_pairs)
        or rules.before
    ):
        return True
    each = [
        d
        for d in rules.dtypes
        if d in rules.order and (operation_rules.accepts is None or d in operation_rules.accepts)
    ]
    met = (_join_of_pair(a, b, rules) for a, b in combinations_with_replacement(each, 2))
    return any(isinstance(d, DType) and d in operation_rules.kernels for d in met)


def _join_of_pair(a: DType, b: DType, rules: Rules) -> Node | None:
    overriding = rules.overrides.get(frozenset((a, b)))
    return overriding or rules.order.join(a, b) or rules.ties.get(frozenset(rules.order.minimal_bounds(a, b)))


def _list_targets(entry_fields: Mapping[str, object]) -> list[object]:
    """Return the dtypes and kinds that an entry of `ops` computes in or gives."""
    tables = (
        find_mapping(entry_fields, key).values()
        for key in ("counts_as_of", "computes", "accumulates", "gives_of")
    )
    pairs = [
        pair.dtype
        for key in ("accumulates_of_pairs", "gives_of_pairs")
        for pair in find_pairs(entry_fields, key)
    ]
    return [*chain.from_iterable(tables), *pairs, entry_fields.get("gives")]


def _list_sources(entry_fields: Mapping[str, object]) -> list[object]:
    """Return the dtypes and kinds that an entry of `ops` describes, except those that it leaves out.

    A variant with fewer dtypes leaves out the same ones.
    """
    domains = [d for d in map(entry_fields.get, ("kernels", "accepts")) if isinstance(d, Domain)]
    named = chain.from_iterable(d.listed for d in domains)
    pairs = [pair for key in PAIR_FIELDS for pair in find_pairs(entry_fields, key)]
    sides = (side for pair in pairs for side in (pair.left, pair.right))
    tables = (find_mapping(entry_fields, key) for key in MAPPING_FIELDS)
    order = entry_fields.get("joins_order")
    own = (a for a, _ in order) if isinstance(order, tuple) else ()
    return [
        *named,
        *own,
        *chain.from_iterable(sides),
        *chain.from_iterable(tables),
        *find_mapping(entry_fields, "limits"),
    ]


def _has_effect(entry: str, key: str, rules: Rules) -> bool:
    """Return True if a key of an entry has an effect on one of the operations that the entry describes."""
    fields = FIELDS_BY_KEY[key]
    without = {f: said for f, said in rules.ops[entry].items() if f not in fields}
    inherited = {name: without if name == entry else said for name, said in rules.ops.items()}
    return any(
        _NEED_BY_KEY[key][1](o, merge_entries(o, rules.ops), merge_entries(o, inherited), rules)
        for o in find_followers(entry, key, rules)
    )


def _given_dtype(operation_rules: OperationRules, rules: Rules) -> object:
    """Return the result of an operation: a dtype instead of the kind whose default dtype it is."""
    given = operation_rules.gives
    if given is Kind.BOOL:
        return BOOL_DTYPE
    return rules.defaults.get(given, given) if isinstance(given, Kind) else given


def _cause_of_no_effect(entry: str, key: str, rules: Rules) -> str:
    """Return the reason why a key has no effect on the operations that its entry describes."""
    if key == "gives" and rules.ops[entry].get("gives") == LAST_ARRAY_RESULT:
        return '"last array" is for operations that give several arrays, such as meshgrid'
    if key == "gives" and rules.ops[entry].get("gives") != "joined":
        return "the rules say the same without it; remove it"
    if key == "gives":
        return "the operation computes in the joined dtype; name another one in `computes` or `loops`"
    followers = [*find_followers(entry, key, rules)]
    if followers and all(o.max_operands == 1 for o in followers):
        return "the operation has only one operand"
    if key in ("counts-as", "joins") and any(merge_entries(o, rules.ops).loops for o in followers):
        return "the operation has `loops`"
    return "the rules say the same without it"


_KEYS_OF_REFUSALS = ("kernels", "refusals")  # an operation that refuses everything may give reasons
_KEY_BY_FIELD = {field: key_of_operation(key) for key, fields in FIELDS_BY_KEY.items() for field in fields}
# A test: it takes an operation, its rules, its rules without the key, and the rules of the system.
_NeedTest = Callable[[Operation, OperationRules, OperationRules, Rules], bool]


def _make_field_test(*fields: str) -> _NeedTest:
    """Make a test: does an operation of several operands behave differently without the key?"""
    return lambda o, op, without, rules: (
        o.max_operands != 1 and any(getattr(op, field) != getattr(without, field) for field in fields)
    )


def _tells_scalars_apart(rules: Rules) -> bool:
    """Return True if a Python number may join differently from an array of its default dtype."""
    return {*rules.tiers} > {"array"} or any(weak_node(kind) in rules.order for kind in rules.defaults)


# For each key of an operation: the message if it has no effect, and the test of whether it has one.
_NEED_BY_KEY: dict[str, tuple[str, _NeedTest]] = {
    "counts-as": (
        "counts-as has no effect: {cause}; remove it, or use `computes`",
        lambda o, op, without, rules: (
            (
                o.max_operands != 1
                or any(kind in op.counts_as_of and kind not in rules.defaults for kind in Kind)
            )
            and (op.counts_as_of != without.counts_as_of or op.counts_as != without.counts_as)
            and (op.counts_as is CountsAs.ITSELF or _tells_scalars_apart(rules))
            and not (op.counts_as_of and op.loops)
        ),
    ),
    "joins": (
        "joins has no effect: {cause}; remove it",
        lambda o, op, without, rules: (
            (o.max_operands != 1 or o.call_form == "separate")
            and (
                op.joins_of_pairs != without.joins_of_pairs
                or (not op.loops and (op.joins, op.joins_order) != (without.joins, without.joins_order))
            )
        ),
    ),
    "limits.right": (
        "limits.right has no effect: {cause}; remove it",
        lambda o, op, without, rules: (
            op.limits_right is None or (o.max_operands != 1 and op.limits_right != without.limits_right)
        ),
    ),
    "refusals": (
        "refusals has no effect: {cause}; remove it",
        _make_field_test("refusals"),
    ),
    "accepts": (
        "accepts has no effect: the rules say the same without it; remove it",
        lambda o, op, without, rules: op.accepts != without.accepts,
    ),
    "scalars": (
        "scalars has no effect: the rules say the same without it; remove it",
        lambda o, op, without, rules: op.scalars != without.scalars and not o.required_dimensions,
    ),
    "overflow": (
        "overflow has no effect: the operation is no sum, product or sign of integers; remove it",
        lambda o, op, without, rules: o.function in OVERFLOWING_FUNCTIONS,
    ),
    "weak-result": (
        "weak-result has no effect: the operands never join; remove it",
        lambda o, op, without, rules: op.joins is not JoinRule.IF_POSSIBLE,
    ),
    "computes.scalars": (
        "computes.scalars has no effect: the operation has neither `computes` nor `loops`; remove it",
        lambda o, op, without, rules: (
            op.computes_scalars == without.computes_scalars or bool(op.computes or op.loops)
        ),
    ),
    "gives": (
        "gives has no effect: {cause}",
        lambda o, op, without, rules: (
            (op.gives != "joined" or bool(op.computes or op.loops or op.accumulates))
            and (op.gives != LAST_ARRAY_RESULT or o.call_form == "separate")
            and (
                op.gives == LEFT_OPERAND_WORD
                or _given_dtype(op, rules) != _given_dtype(without, rules)
            )
        ),
    ),
    "gives of each": (
        'gives has no effect for single dtypes: with "left, any cast" the left operand keeps its dtype',
        lambda o, op, without, rules: not op.gives_of or not op.gives_into.casts_any,
    ),
    "accumulates": (
        "accumulates has no effect: the operation does not add up values; use `computes`",
        lambda o, op, without, rules: o.adds_up,
    ),
    "gives of pairs": (
        "gives has no effect for these pairs of operands: `accumulates` names none; remove them",
        lambda o, op, without, rules: bool(op.accumulates_of_pairs),
    ),
    "gives of the left": (
        'gives = "new array" has no effect: the operation does not write in place, as "+=" does; remove it',
        lambda o, op, without, rules: op.writes or op.gives_into is not InPlaceRule.NEW_ARRAY,
    ),
    "computes": (
        "an empty `computes` has no effect: there is no `computes` to remove; leave it out",
        lambda o, op, without, rules: bool(op.computes or without.computes),
    ),
    "loops": (
        "an empty `loops` has no effect: there is no `loops` to remove; leave it out",
        lambda o, op, without, rules: bool(op.loops or without.loops),
    ),
    "limits": (
        "an empty `limits` has no effect: there is no `limits` to remove; leave it out",
        lambda o, op, without, rules: bool(op.limits or without.limits or rules.limits),
    ),
    "fit": (
        "an empty `fit` has no effect: there is no `fit` to remove; leave it out",
        lambda o, op, without, rules: bool(op.fit or (rules.fit if without.fit is None else without.fit)),
    ),
}
