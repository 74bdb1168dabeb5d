"""System files: TOML to a System, every mistake named by file, line, key and cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import combinations, pairwise
from os import PathLike, path
from types import MappingProxyType as Frozen

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.objects.lazy_tables import LazyTable
from typelattice.base.objects.strange_objects import refuse_strange
from typelattice.core.dtypes.dtypes import DType, Kind, Node
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.system import System
from typelattice.core.losses.cast_rounding_and_overflow import CastRule
from typelattice.core.operands.operand import KIND_BY_NAME, OPERAND_TIERS
from typelattice.core.operations.missing_operations import find_missing_operations
from typelattice.core.system_files.dtype_replacements import read_after, read_before, read_requested
from typelattice.core.system_files.key_reader import KeyReader
from typelattice.core.system_files.order_entries import read_order
from typelattice.core.system_files.pair_entries import PairEntryReader
from typelattice.core.system_files.scalar_entries import read_fit, read_int_join_dtypes, read_limits
from typelattice.core.system_files.system_definition import (
    SystemDefinition,
    parse_definition,
    read_definition,
    read_shipped_definition,
)
from typelattice.core.system_files.system_origin import SystemOrigin
from typelattice.core.system_files.system_text import (
    SYSTEMS_FOLDER,
    SystemText,
    UnknownSystemError,
    is_name,
    systems,
)
from typelattice.core.system_files.value_reader import (
    OrderDependentError,
    RepeatedEntryError,
    UnknownWordError,
    Vocabulary,
    read_distinct,
    read_kind,
    require_one_of,
    require_phrase,
    require_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from typelattice.core.engine.parameter_formulas import FamilyRules
    from typelattice.core.engine.rules import Combine, WeakJoin
    from typelattice.core.operations.operations import Operation

    T = TypeVar("T")
    W = TypeVar("W", bound=str)

COMBINE_WORDS: tuple[Combine, ...] = ("join", "fold", "comparable", "value")
WEAK_JOIN_WORDS: tuple[WeakJoin, ...] = ("kind", "width")
ALONE_SUFFIX = " if alone"  # after several defaults: all but the first count only without other operands


def system(which: str | PathLike[str] | System) -> System:
    """Return a system by its name or by the path of a .toml file. Return a System unchanged.

    Raises UnknownSystemError for an unknown name, or FormatError for a file with mistakes.

    >>> system("numpy").library, system("numpy@2.4").library
    ('numpy 2.5', 'numpy 2.4')
    """
    refuse_strange(which, UnknownSystemError, "give a name such as 'jax' or the path of a .toml file")
    if isinstance(which, System):
        return which
    if not isinstance(which, (str, PathLike)):
        what = f"an object of type {type(which).__name__} is no system"
        raise UnknownSystemError(f"{what}; give a name such as 'jax' or the path of a .toml file")
    if not isinstance(which, str) or which.endswith(".toml") or "/" in which or "\\" in which:
        return build_system(read_definition(which))
    return _read_shipped(which)


@cache
def _read_shipped(name: str) -> System:
    """Return a system that comes with typelattice, read once."""
    if "@" in name:
        return _older_system(name)
    known = systems(functions=True)
    if name not in known:
        what = f"unknown system {quote_short(name)}{spelling_hint(name, known)}"
        advice = "`typelattice systems` lists them; a file of your own ends in .toml"
        raise UnknownSystemError(f"{what}; {advice}")
    return build_system(
        read_shipped_definition(path.join(SYSTEMS_FOLDER, f"{name}.toml"), None), shipped=True
    )


def _older_system(name: str) -> System:
    """Return the system of an older release, or the system of the plain name for the newest release."""
    from typelattice.core.system_files.release_files import (  # most programs need only the newest release
        read_release,
        text_of,
    )

    release, plain = read_release(name), name.partition("@")[0]
    if release.is_newest(plain):
        return _read_shipped(plain)
    return build_system(parse_definition(text_of(name), release=release), shipped=True)


def parse(text: str, file: str = "text") -> System:
    """Return the system that a text describes. The text may extend a shipped system. Raises FormatError."""
    return build_system(parse_definition(SystemText(file, text)))


def build_system(definition: SystemDefinition, shipped: bool = False) -> System:
    """Build the system of a definition, with everything in it checked. Raises FormatError.

    The operations of shipped files are read at their first use, since they take half of the time for all
    systems. The tests read these files whole.
    """
    reader = KeyReader(definition)
    found: System | None = None
    with reader.record_mistakes():
        found = _build_system(reader, shipped)
    reader.finish()
    assert found is not None
    return found


# Long: each key is read after those that it depends on, and the result has a field for each
def _build_system(reader: KeyReader, shipped: bool) -> System:
    """Build the system: read each key after those that it depends on. Raises ValueError."""
    title, source, library = (_read_phrase(reader, key) for key in ("title", "source", "library"))
    name = _read_name(reader)
    words = Vocabulary()
    words.is_whole = not {"sets", "dtypes"} & reader.definition.broken
    dtypes = _read_custom_dtypes(reader, words)
    _read_sets(reader, words)
    order, covers = read_order(reader, words)
    families: Mapping[DType, FamilyRules] = {}
    if any(d.parameters for d in dtypes.values()):
        from typelattice.core.system_files.parametric_dtype_entries import (
            read_families,  # few files have such dtypes
        )

        families = read_families(reader, words, order, dtypes)
    combine = _read_word(reader, "combine", COMBINE_WORDS)
    weak_join = _read_word(reader, "weak-join", WEAK_JOIN_WORDS)
    tiers = _read_tiers(reader)
    first_is_array = False
    with reader.record_mistakes():
        first_is_array = reader.read_value("first-is-array", first_is_array)
    pairs = PairEntryReader(reader, words, order, combine, tiers)
    ties = pairs.read_ties()
    overrides = dict(pairs.read_overrides())
    refusals = dict(pairs.read_refusals())
    defaults, wider, wider_alone = _read_defaults(reader, words)
    if combine == "value":
        with reader.record_mistakes():
            _check_values(reader, order, defaults)
    requested = dict(read_requested(reader, words, order, defaults))
    entering: dict[Node, Node] = {d: to for d, to in requested.items() if isinstance(d, DType)}
    before = entering | dict(read_before(reader, words, order, entering))
    after = dict(read_after(reader, words, order))
    foreign = _read_entries(
        reader, "foreign", lambda *entry: _read_foreign_entry(reader, words, *entry), shipped
    )
    beside: frozenset[Node] = frozenset()
    stand_in: dict[Kind, DType] = {}
    with reader.record_mistakes():
        beside, stand_in = _read_stand_in(reader, pairs)
    both_ways = frozenset(pairs.read_both_ways())
    checked = reader.definition.checked_entries
    custom_operations = _read_custom_operations(reader, shipped or bool(checked))
    limits: dict[Kind | DType, tuple[DType, ...]] = {}
    limiting_entries: dict[Kind | DType, str] = {}
    for limited, by in reader.read_table("limits"):
        with reader.record_mistakes():
            for limited_key, bounds in read_limits(words, {limited: by}).items():
                if limited_key in limits:
                    cause = f"{limited_key} is mapped twice; keep one entry"
                    raise RepeatedEntryError(cause, limited, limiting_entries[limited_key])
                limits[limited_key], limiting_entries[limited_key] = bounds, limited
    fit: dict[str, str] = {}
    int_join_dtypes: tuple[DType, ...] = ()
    for word, outcome in reader.read_table("fit"):
        with reader.record_mistakes():
            fit |= read_fit(words, {word: outcome})
            int_join_dtypes = int_join_dtypes or read_int_join_dtypes(words, {word: outcome}, order.nodes)
    ops = _read_entries(
        reader,
        "ops",
        lambda *entry: _read_operation_entry(reader, pairs, custom_operations, *entry),
        shipped,
        checked,
    )
    casts: Mapping[tuple[DType, DType], CastRule] = {}
    if "casts" in reader.definition.values:
        from typelattice.core.system_files.cast_entries import read_casts  # most files have none

        named = [n for n in (*order.nodes, *before) if isinstance(n, DType)]
        casts = read_casts(reader, words, [*dict.fromkeys(named)], custom_operations)
    origin = SystemOrigin(reader.definition, covers, build_system)
    found = System(
        name=name,
        title=title,
        source=source,
        library=library,
        order=order,
        ties=Frozen(ties),
        overrides=Frozen(overrides),
        refusals=Frozen(refusals),
        combine=combine,
        tiers=tiers,
        first_is_array=first_is_array,
        weak_join=weak_join,
        defaults=Frozen(defaults),
        wider_defaults=Frozen(wider),
        kinds_widening_alone=wider_alone,
        limits=Frozen(limits),
        before=Frozen(before),
        requested=Frozen(requested),
        after=Frozen(after),
        fit=Frozen(fit),
        int_join_dtypes=int_join_dtypes,
        ops=Frozen(ops),
        stand_in_beside=beside,
        stand_in=Frozen(stand_in),
        both_ways=both_ways,
        foreign=Frozen(foreign),
        custom_dtypes=Frozen(dtypes),
        entries=Frozen(pairs.entry_texts),
        missing_operations=find_missing_operations(name) if shipped else frozenset(),
        custom_operations=custom_operations,
        casts=Frozen(casts),
        families=families,
        origin=origin,
    )
    origin.system = found
    if not shipped:
        from typelattice.core.system_files.unused_keys import check_unused_keys  # only for files of users

        check_unused_keys(reader, words, found)
    return found


def _read_entries(
    reader: KeyReader,
    key: str,
    read: Callable[[str, object], T],
    shipped: bool,
    checked: Mapping[str, object] = Frozen({}),
) -> Mapping[str, T]:
    """Read the entries of a table: at once, or, if the file is shipped or they are `checked`, later."""
    given = dict(reader.read_table(key))
    found: dict[str, T] = {}
    for entry, said in given.items():
        if not shipped and entry not in checked:
            reader.go_to(key, entry)
            with reader.record_mistakes():
                found[entry] = read(entry, said)
    if not shipped and not checked:
        return found
    return LazyTable(
        given,
        lambda entry, said: found[entry] if entry in found else _read_later(reader, key, entry, said, read),
    )


def _read_later(
    reader: KeyReader, key: str, entry: str, entry_value: object, read: Callable[[str, object], T]
) -> T:
    """Read one entry. Raises FormatError."""
    found: list[T] = []
    reader.go_to(key, entry)
    with reader.record_mistakes():
        found.append(read(entry, entry_value))
    reader.finish()
    return found[0]


def _read_phrase(reader: KeyReader, key: str) -> str:
    with reader.record_mistakes():
        return require_phrase(reader.read_value(key, ""))
    return ""


def _read_word(reader: KeyReader, key: str, allowed_words: tuple[W, ...]) -> W:
    """Read the word of a key. The default is the first allowed word."""
    with reader.record_mistakes():
        return require_one_of(reader.read_value(key, allowed_words[0]), allowed_words)
    reader.is_order_whole = False
    return allowed_words[0]


def _read_foreign_entry(
    reader: KeyReader, words: Vocabulary, library: str, entries: object
) -> Mapping[str | DType | None, str]:
    """Read the file's entry for one library's foreign arrays."""
    from typelattice.core.system_files.foreign_entries import (
        read_foreign,  # few questions have foreign arrays
    )

    reader.go_to("foreign", library)
    return read_foreign(words, library, entries)


def _read_custom_operations(reader: KeyReader, reads_later: bool) -> Mapping[str, Operation]:
    """Return the operations that the file defines, and functions of books. Entries of the first have `like`.

    With `reads_later`, they are read at the first use of one of them.
    """
    defined = {
        name: entry
        for name, entry in reader.read_table("ops")
        if isinstance(entry, Mapping) and "like" in entry
    }
    if not defined:
        return Frozen({})
    from typelattice.core.system_files.functions_of_books import CustomOperations, libraries_of_definition

    named_libraries = libraries_of_definition(reader.definition)
    found: dict[str, Operation] = {}

    def read_all() -> dict[str, Operation]:
        from typelattice.core.system_files.operation_entries import read_custom_operations

        if not found:
            found.update(read_custom_operations(reader))
        return found

    if not reads_later:
        return CustomOperations(read_all(), named_libraries)

    def read_one(name: str, entry: object) -> Operation:
        made = read_all()
        reader.finish()
        return made[name]

    return CustomOperations(LazyTable(defined, read_one), named_libraries)


def _read_operation_entry(
    reader: KeyReader, pairs: PairEntryReader, custom: Mapping[str, Operation], op: str, entry: object
) -> Mapping[str, object]:
    """Read the file's entry for an operation, or for a class of them."""
    # promotion without an operation reads no such entry
    from typelattice.core.system_files.operation_entries import OperationEntryReader

    return Frozen(
        OperationEntryReader(pairs.words, pairs.require_in_order, reader, custom).read_operation(op, entry)
    )


def _read_name(reader: KeyReader) -> str:
    name = ""
    with reader.record_mistakes():
        name = reader.read_value("name", "")
        if not name:
            raise ValueError("missing; name it")
        if not is_name(name, 60, ".@+-"):
            raise ValueError("should be a word of at most 60 letters, digits and . _ - + @")
    return name


def _read_custom_dtypes(reader: KeyReader, words: Vocabulary) -> dict[str, DType]:
    """Read the dtypes that the file defines, by name and by code."""
    found: dict[str, DType] = {}
    for word, facts in reader.read_table("dtypes"):
        from typelattice.core.system_files.custom_dtypes import (
            read_custom_dtype,  # most files define no dtypes, and load faster without this
        )

        words.broken.add(word)
        with reader.record_mistakes():
            d = read_custom_dtype(words, word, facts, partial(reader.record_mistakes_in_part, "dtypes", word))
            found |= {word: d, d.code: d}
            words.broken.remove(word)
        code = facts.get("code") if isinstance(facts, Mapping) else None
        if word in words.broken and isinstance(code, str):
            words.broken.add(code)
    return found


def _read_sets(reader: KeyReader, words: Vocabulary) -> None:
    """Read the named lists, and check each when all are known, used or not."""
    for word, members in reader.read_table("sets"):
        spellings = {word, word.lower()}
        words.broken |= spellings
        with reader.record_mistakes():
            words.sets[words.check_new_name(word, "set")] = require_text(members)
            words.broken -= spellings
    for word, _ in reader.read_table("sets"):
        with reader.record_mistakes():
            words.read_set(word)


def _read_tiers(reader: KeyReader) -> tuple[str, ...]:
    with reader.record_mistakes():
        tiers = tuple(reader.read_value("tiers", list[str](OPERAND_TIERS[:1])))
        possible = [("array", *more) for n in range(3) for more in combinations(OPERAND_TIERS[1:], n)]
        if tiers not in possible:
            wrong = next((tier for tier in tiers if isinstance(tier, str) and tier not in OPERAND_TIERS), "")
            cause = f"should list some of {', '.join(OPERAND_TIERS)}, in that order, array first"
            raise UnknownWordError(cause + spelling_hint(wrong, OPERAND_TIERS), wrong)
        return tiers
    reader.is_order_whole = False
    return OPERAND_TIERS


def _read_defaults(
    reader: KeyReader, words: Vocabulary
) -> tuple[dict[Kind, DType], dict[Kind, tuple[DType, ...]], frozenset[Kind]]:
    """Read `defaults`: return three tables.

    These are the default dtype of each kind, the wider dtypes for large values, and the kinds that use the
    wider dtypes only for a lone scalar.
    """
    first: dict[Kind, DType] = {}
    wider: dict[Kind, tuple[DType, ...]] = {}
    alone: set[Kind] = set()
    for word, given in reader.read_table("defaults"):
        with reader.record_mistakes():
            codes = given.removesuffix(ALONE_SUFFIX) if isinstance(given, str) else given
            # Every number of Octave is a float, also one that is written as an int.
            found = words.read_scalar_dtypes(word, codes, *[Kind.FLOAT] * (word == "int"))
            for narrow, wide in pairwise(found):
                if narrow.max is None or wide.max is None or narrow.max >= wide.max:
                    cause = f"{wide} holds no value beyond {narrow}; name them from narrow to wide"
                    raise ValueError(cause)
            if read_kind(word) is Kind.UNSIGNED and found[0].kind is not Kind.UNSIGNED:
                raise UnknownWordError(f"{found[0]} is not unsigned; name an unsigned dtype", str(codes))
            first[read_kind(word)] = found[0]
            if len(found) > 1:
                wider[read_kind(word)] = found[1:]
            if codes != given:
                if len(found) == 1:
                    raise ValueError(f'"{ALONE_SUFFIX.strip()}" has no effect on one dtype; leave it out')
                alone.add(read_kind(word))
    return first, wider, frozenset(alone)


def _check_values(reader: KeyReader, order: Order[Node], defaults: Mapping[Kind, DType]) -> None:
    """Raise ValueError if the system lacks dtypes that NumPy 1's rule counts values as."""
    from typelattice.core.engine.numpy1 import REQUIRED_DTYPES  # only NumPy 1 promotes by value

    reader.go_to("combine")
    if not {*REQUIRED_DTYPES, *(defaults.get(kind) for kind in KIND_BY_NAME.values())} <= {*order.nodes}:
        raise OrderDependentError('"value" needs NumPy\'s numbers in the order, and defaults among them')


def _read_stand_in(reader: KeyReader, pairs: PairEntryReader) -> tuple[frozenset[Node], dict[Kind, DType]]:
    """Read the dtypes with which a scalar counts as another dtype, and this dtype for each kind."""
    table = dict(reader.read_table("stand-in"))
    if not table:
        return frozenset(), {}
    if "beside" not in table:
        raise ValueError("`beside` is missing: the dtypes beside which a scalar counts as one of its kind")
    beside = frozenset(
        map(pairs.require_in_order, read_distinct(pairs.words.read_nodes(table.pop("beside"))))
    )
    if not table:
        raise ValueError("names no kind of scalar; name one, and the dtype that it counts as")
    found: dict[Kind, DType] = {}
    for word, code in table.items():
        reader.go_to("stand-in", word)
        found[read_kind(word)] = pairs.words.require_dtype(pairs.words.read_node(code), read_kind(word))
        pairs.require_in_order(found[read_kind(word)])
    return beside, found
