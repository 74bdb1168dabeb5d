"""The refusal of entries of `ops` for dtypes that never reach them.

An operation refuses the operands that `accepts` leaves out, and it computes in the dtypes of `kernels`. So an
entry for other dtypes says something that never happens. An entry is refused if this holds for each operation
that follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.operation_rules import (
    OperationRules,
    PairEntry,
    PairSide,
    look_up,
    merge_entries,
)
from typelattice.core.engine.rule_enums import ScalarPlaces
from typelattice.core.engine.rules import Rules
from typelattice.core.operations.operations import Operation
from typelattice.core.system_files.entry_followers import find_followers, find_mapping, find_pairs
from typelattice.core.system_files.operation_entries import FIELDS_BY_KEY, ZERO_D_PREFIX
from typelattice.core.system_files.repeated_pairs import hides_pairs, kind_of_python_number

Follower = tuple[Operation, OperationRules]
FollowersOfKey = Callable[[str], list[Follower]]
INTEGER_KINDS = (Kind.UNSIGNED, Kind.SIGNED)
PLACES_WITHOUT_0D = (ScalarPlaces.NONE_NOR_0D, ScalarPlaces.NONE_NOR_0D_NOR_WEAK)
PLACES_WITHOUT_SCALARS = (ScalarPlaces.NONE, *PLACES_WITHOUT_0D)
# The key of each table whose sources are the dtypes that an operation computes in.
KEY_BY_TABLE_OF_COMPUTED = {
    "gives_of": "gives",
    "accumulates": "accumulates",
    "weak_result_of": "weak-result",
}
# The key of each table without which a dtype stays as it is.
KEY_BY_TABLE_OF_CHANGES = {"counts_as_of": "counts-as", "computes": "computes", "gives_of": "gives"}
KEY_BY_FIELD_OF_PAIRS = {"refusals": "refusals", "joins_of_pairs": "joins"}
KEY_BY_FIELD_OF_MET_PAIRS = {
    "joins_of_pairs": "joins", "accumulates_of_pairs": "accumulates", "gives_of_pairs": "gives",
}  # fmt: skip


def find_unreachable_entries(
    entry: str, entry_fields: Mapping[str, object], rules: Rules
) -> Iterator[tuple[str, str]]:
    """Yield the keys of an entry of `ops` that no operands reach, with the mistakes."""

    def followers(key: str) -> list[Follower]:
        return [(o, merge_entries(o, rules.ops)) for o in find_followers(entry, key, rules)]

    for key, fields in FIELDS_BY_KEY.items():
        if any(entry_fields.get(field) for field in fields) and not followers(key):
            yield key, f"{key} has no effect: a nearer entry of each operation has it, too; remove one"
    yield from _find_uncomputed(entry_fields, followers, rules)
    yield from _find_unchanged(entry_fields, followers)
    yield from _find_refused_targets(entry_fields, followers, rules)
    yield from _find_unmet_pairs(entry_fields, followers, rules)
    yield from _find_integers_of_floats(entry_fields, followers, rules)


def _never(followers: Sequence[Follower], test: Callable[[Operation, OperationRules], bool]) -> bool:
    """Return True if there are followers that compute, and none of them passes a test."""
    computing = [(o, op) for o, op in followers if op.kernels.listed]
    return bool(computing) and not any(test(o, op) for o, op in computing)


def _find_uncomputed(
    entry_fields: Mapping[str, object], followers: FollowersOfKey, rules: Rules
) -> Iterator[tuple[str, str]]:
    """Find the sources of tables, and the loops, that are no dtypes of any kernel.

    A word such as `integer` means several kinds. It is right if one of them has a kernel.
    """

    def is_computed(source: object, key: str) -> bool:
        dtypes = [d for d in rules.dtypes if source in (d, d.kind)]
        return not dtypes or not _never(followers(key), lambda o, op: any(d in op.kernels for d in dtypes))

    for field, key in KEY_BY_TABLE_OF_COMPUTED.items():
        table = find_mapping(entry_fields, field)
        without = [source for source in table if not is_computed(source, key)]
        working = [value for source, value in table.items() if source not in without]
        for source in without:
            if isinstance(source, DType) or table[source] not in working:
                yield key, f"the entry for {source} has no effect: `kernels` leaves it out; remove it"
    loops = entry_fields.get("loops")
    searched = loops if isinstance(loops, tuple) and not entry_fields.get("loops_own") else ()
    if searched and not any(is_computed(d, "loops") for d in searched):
        yield "loops", "loops has no effect: `kernels` leaves out each of its dtypes; remove one of the two"


def _find_unchanged(
    entry_fields: Mapping[str, object], followers: FollowersOfKey
) -> Iterator[tuple[str, str]]:
    """Find dtypes that tables map to themselves, and that no kind of the table changes."""
    for field, key in KEY_BY_TABLE_OF_CHANGES.items():
        table = find_mapping(entry_fields, field)
        for d in [d for d, target in table.items() if isinstance(d, DType) and d is target]:
            is_alone = d.kind not in table and [*table.values()].count(d) == 1
            if is_alone and _keeps_dtype(d, field, followers(key)):
                yield key, f"the entry for {d} has no effect: {d} stays {d} without it; leave it out"


def _keeps_dtype(d: DType, field: str, followers: Sequence[Follower]) -> bool:
    """Return True if each follower keeps a dtype as it is without an entry of a table."""

    def is_kept(op: OperationRules) -> bool:
        accumulates = look_up(op.accumulates, d) is not None or bool(op.accumulates_of_pairs)
        return not op.loops and (field != "gives_of" or not (op.gives or accumulates or op.writes))

    return bool(followers) and all(is_kept(op) for _, op in followers)


def _find_refused_targets(
    entry_fields: Mapping[str, object], followers: FollowersOfKey, rules: Rules
) -> Iterator[tuple[str, str]]:
    """Find tables of dtypes to compute in, none of which has a kernel."""
    table = find_mapping(entry_fields, "computes")
    targets = [rules.defaults.get(to, to) if isinstance(to, Kind) else to for to in table.values()]
    dtypes = [d for d in targets if isinstance(d, DType)]
    if dtypes and _never(followers("computes"), lambda o, op: any(d in op.kernels for d in dtypes)):
        named = " or ".join(dict.fromkeys(map(str, dtypes)))
        yield "computes", f"`kernels` leaves out {named}, which this computes in; add it there"


def _find_unmet_pairs(
    entry_fields: Mapping[str, object], followers: FollowersOfKey, rules: Rules
) -> Iterator[tuple[str, str]]:
    """Find pairs of operands that never meet."""
    for field, key in KEY_BY_FIELD_OF_PAIRS.items():
        for pair in find_pairs(entry_fields, field):
            sides = (pair.left, pair.right)

            def may_meet(o: Operation, op: OperationRules, sides: Sequence[PairSide] = sides) -> bool:
                return all(_may_stand(side, o, op, rules) for side in sides)

            if _never(followers(key), may_meet):
                named = " and ".join(", ".join(sorted(map(str, side))) for side in sides)
                cause = f"{named} never meet: `accepts` or `scalars` refuses one of them; leave them out"
                yield key, cause
    for field, key in KEY_BY_FIELD_OF_MET_PAIRS.items():
        for pair in find_pairs(entry_fields, field):

            def may_be_taken(o: Operation, op: OperationRules, pair: PairEntry = pair) -> bool:
                return not hides_pairs(op.refusals, pair)

            if _never(followers(key), may_be_taken):
                named = " and ".join(", ".join(sorted(map(str, side))) for side in (pair.left, pair.right))
                yield key, f"{named} have no effect here: `refusals` refuses them; leave them out"


def _find_integers_of_floats(
    entry_fields: Mapping[str, object], followers: FollowersOfKey, rules: Rules
) -> Iterator[tuple[str, str]]:
    """Find what is said of integers, if no operation computes in them."""

    def computes_integers(operation: Operation, operation_rules: OperationRules) -> bool:
        integers = [d for d in operation_rules.loops or rules.dtypes if d.kind in INTEGER_KINDS]
        return any(d in operation_rules.kernels for d in integers)

    for field, key in (("overflow", "overflow"), ("limits_right", "limits.right")):
        if entry_fields.get(field) and _never(followers(key), computes_integers):
            yield key, f"{key} has no effect: the operation computes in no integers; remove it"


def _may_stand(side: PairSide, operation: Operation, operation_rules: OperationRules, rules: Rules) -> bool:
    """Return True if some operand of a side may be one of an operation."""
    places = operation_rules.scalars
    has_scalars = places not in PLACES_WITHOUT_SCALARS and not operation.required_dimensions
    has_0d = places not in PLACES_WITHOUT_0D and not operation.required_dimensions
    for member in side:
        if kind := kind_of_python_number(member):
            if has_scalars and _accepts(operation_rules, [rules.defaults.get(kind, kind)]):
                return True
        elif has_0d or not str(member).startswith(ZERO_D_PREFIX):
            named = str(member).removeprefix(ZERO_D_PREFIX)
            if _accepts(operation_rules, [d for d in rules.dtypes if named in (str(d), str(d.kind))]):
                return True
    return False


def _accepts(operation_rules: OperationRules, operands: Sequence[DType | Kind]) -> bool:
    """Return True if an operation accepts one of some operands, or if there are none to ask about."""
    accepts = operation_rules.accepts
    return accepts is None or not operands or any(x in accepts for x in operands)
