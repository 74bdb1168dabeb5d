"""System files: TOML to a System, every mistake named by file, line, key and cause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations, pairwise
from os import PathLike, path
from types import MappingProxyType as Frozen
from typing import TypeVar

from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, Kind, Node
from typelattice.facts.order import Order
from typelattice.facts.suggestions import nearest, short
from typelattice.files.cursor import Cursor
from typelattice.files.map_entries import read_after, read_before, read_requested
from typelattice.files.operation_entries import TIERS, OperationEntries
from typelattice.files.order_entries import read_order
from typelattice.files.pair_entries import PairEntries
from typelattice.files.provenance import Provenance
from typelattice.files.spec import SHIPPED, Spec, of_shipped, read, spec
from typelattice.files.text import Text, UnknownSystemError, systems
from typelattice.files.vocabulary import (
    AboutOrder,
    UnknownWord,
    Words,
    kind_of,
    once,
    one_of,
    phrase,
    text,
)
from typelattice.operands.operand import WORDS

T = TypeVar("T")
COMBINE = ("join", "fold", "comparable", "value")


def system(which: str | PathLike[str] | System) -> System:
    """A system by its name, by the path of a .toml file of your own, or as it is.

    Raise UnknownSystemError, or FormatError for a file that cannot be right.

    >>> system("numpy").library, system("numpy@2.4").library
    ('numpy 2.5', 'numpy 2.4')
    """
    if isinstance(which, System):
        return which
    if not isinstance(which, (str, PathLike)):
        what = f"a {type(which).__name__} is no system"
        raise UnknownSystemError(f"{what}; give a name such as 'jax' or the path of a .toml file")
    if not isinstance(which, str) or which.endswith(".toml") or "/" in which or "\\" in which:
        return build(read(which))
    return _shipped(which)


@cache
def _shipped(name: str) -> System:
    """A system that comes with typelattice, read once."""
    if "@" in name:
        return _older(name)
    if name not in systems():
        what = f"unknown system {short(name)}{nearest(name, systems())}"
        raise UnknownSystemError(f"{what}; `typelattice systems` lists them; a path ends in .toml")
    return build(of_shipped(path.join(SHIPPED, f"{name}.toml"), None), shipped=True)


def _older(name: str) -> System:
    """Return the system of an older release; for the newest one, the system of the plain name."""
    from typelattice.files.releases import release, text_of  # most programs ask for the newest release only

    at, plain = release(name), name.partition("@")[0]
    if at.is_newest(plain):
        return _shipped(plain)
    return build(spec(text_of(name), at=at), shipped=True)


def parse(text: str, file: str = "text") -> System:
    """The system that a text describes; it may extend one that comes with typelattice. Raise FormatError."""
    return build(spec(Text(file, text)))


def build(spec: Spec, shipped: bool = False) -> System:
    """The System that a spec describes, everything in it checked. Raise FormatError.

    The operations of files that come with typelattice are read on demand, since they take half of the time
    for all systems. The tests read these files whole.
    """
    cursor = Cursor(spec)
    found: System | None = None
    with cursor.noting():
        found = _system(cursor, shipped)
    cursor.finish()
    assert found is not None
    return found


class _Later(Mapping[str, T]):
    """A table that reads each entry when a program first looks it up."""

    def __init__(self, given: Mapping[str, object], read: Callable[[str, object], T]):
        self.given, self.read = given, read
        self.found: dict[str, T] = {}

    def __getitem__(self, entry: str) -> T:
        if entry not in self.found:
            self.found[entry] = self.read(entry, self.given[entry])
        return self.found[entry]

    def __contains__(self, entry: object) -> bool:
        return entry in self.given

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


def _system(cursor: Cursor, shipped: bool) -> System:
    """The System: its keys are read in the order in which they build on one another. Raise ValueError."""
    title, source, library = (_phrase(cursor, key) for key in ("title", "source", "library"))
    name = _name(cursor)
    words = Words()
    words.is_whole = not {"sets", "dtypes"} & cursor.spec.broken
    dtypes = _own_dtypes(cursor, words)
    _read_sets(cursor, words)
    order, covers = read_order(cursor, words)
    combine = _word(cursor, "combine", COMBINE)
    weak = _word(cursor, "weak", ("kind", "width"))
    tiers = _tiers(cursor)
    first = False
    with cursor.noting():
        first = cursor.value("first-is-array", first)
    pairs = PairEntries(cursor, words, order, combine, tiers)
    ties = pairs.read_ties()
    overrides = dict(pairs.read_overrides())
    refusals = dict(pairs.read_refusals())
    defaults, wider = _defaults(cursor, words)
    if combine == "value":
        with cursor.noting():
            _check_values(cursor, order, defaults)
    requested = dict(read_requested(cursor, words, order, defaults))
    entering: dict[Node, Node] = {d: to for d, to in requested.items() if isinstance(d, DType)}
    before = entering | dict(read_before(cursor, words, order, entering))
    after = dict(read_after(cursor, words, order))
    foreign = _entries(cursor, "foreign", lambda *entry: _guest(cursor, words, *entry), shipped)
    beside: frozenset[Node] = frozenset()
    stand_in: dict[Kind, DType] = {}
    with cursor.noting():
        beside, stand_in = _stand_in(cursor, pairs)
    both_ways = frozenset(pairs.read_both_ways())
    operations = OperationEntries(words, pairs.present, cursor)
    holds: dict[Kind | DType, tuple[DType, ...]] = {}
    for limited, by in cursor.table("holds"):
        with cursor.noting():
            for held, bounds in operations.holds({limited: by}).items():
                if held in holds:
                    raise UnknownWord(f"{held} is mapped twice", limited)
                holds[held] = bounds
    fit: dict[str, str] = {}
    joins: tuple[DType, ...] = ()
    for word, how in cursor.table("fit"):
        with cursor.noting():
            fit |= operations.fit({word: how})
            joins = joins or operations.joins({word: how}, order.nodes)
    ops = _entries(cursor, "ops", lambda *entry: Frozen(operations.operation(*entry)), shipped)
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
        first=first,
        weak=weak,
        defaults=Frozen(defaults),
        wider=Frozen(wider),
        holds=Frozen(holds),
        before=Frozen(before),
        requested=Frozen(requested),
        after=Frozen(after),
        fit=Frozen(fit),
        joins=joins,
        ops=Frozen(ops),
        beside=beside,
        stand_in=Frozen(stand_in),
        both_ways=both_ways,
        foreign=Frozen(foreign),
        own_dtypes=Frozen(dtypes),
        entries=Frozen(pairs.names),
        origin=Provenance(cursor.spec, covers, build),
    )
    if not shipped:
        from typelattice.files.unused_keys import check_unused_keys  # asked of files that others wrote only

        check_unused_keys(cursor, words, found)
    return found


def _entries(
    cursor: Cursor, key: str, read: Callable[[str, object], T], shipped: bool
) -> Mapping[str, T]:
    """Read the entries of a table: at once, or, of a file that comes with typelattice, on demand."""
    if shipped:
        given = dict(cursor.table(key))
        return _Later(given, lambda entry, said: _read_later(cursor, key, entry, said, read))
    found: dict[str, T] = {}
    for entry, said in cursor.table(key):
        with cursor.noting():
            found[entry] = read(entry, said)
    return found


def _read_later(cursor: Cursor, key: str, entry: str, said: object, read: Callable[[str, object], T]) -> T:
    """Read one entry. Raise FormatError."""
    found: list[T] = []
    cursor.at(key, entry)
    with cursor.noting():
        found.append(read(entry, said))
    cursor.finish()
    return found[0]


def _phrase(cursor: Cursor, key: str) -> str:
    with cursor.noting():
        return phrase(cursor.value(key, ""))
    return ""


def _word(cursor: Cursor, key: str, allowed: tuple[str, ...]) -> str:
    """The word of a key, by default the first of those allowed."""
    with cursor.noting():
        return one_of(cursor.value(key, allowed[0]), allowed)
    cursor.is_order_whole = False
    return allowed[0]


def _guest(cursor: Cursor, words: Words, library: str, given: object) -> Mapping[str | DType | None, str]:
    """Read the file's entry for one library's foreign arrays."""
    from typelattice.files.guest_entries import read_guest  # few questions are of such arrays

    cursor.at("foreign", library)
    return read_guest(words, library, given)


def _name(cursor: Cursor) -> str:
    name = ""
    with cursor.noting():
        name = cursor.value("name", "")
        if not name:
            raise ValueError("missing; name it")
        if not re.fullmatch(r"\w[\w.@+-]{0,59}", name):
            raise ValueError("should be a word of at most 60 letters, digits and . _ - + @")
    return name


def _own_dtypes(cursor: Cursor, words: Words) -> dict[str, DType]:
    """The dtypes that the file defines, by name and by code."""
    found: dict[str, DType] = {}
    for word, facts in cursor.table("dtypes"):
        from typelattice.files.own_dtypes import own_dtype  # most files have none, and load faster without

        words.broken.add(word)
        with cursor.noting():
            d = own_dtype(words, word, facts)
            found |= {word: d, d.code: d}
            words.broken.remove(word)
        code = facts.get("code") if isinstance(facts, Mapping) else None
        if word in words.broken and isinstance(code, str):
            words.broken.add(code)
    return found


def _read_sets(cursor: Cursor, words: Words) -> None:
    """Names for lists; each is checked, used or not, when all are known."""
    for word, members in cursor.table("sets"):
        words.broken.add(word)
        with cursor.noting():
            words.sets[words.new(word, "set")] = text(members)
            words.broken.remove(word)
    for word, _ in cursor.table("sets"):
        with cursor.noting():
            words.set(word)


def _tiers(cursor: Cursor) -> tuple[str, ...]:
    with cursor.noting():
        tiers = tuple(cursor.value("tiers", TIERS[:1]))
        possible = [("array", *more) for n in range(3) for more in combinations(TIERS[1:], n)]
        if tiers not in possible:
            wrong = next((tier for tier in tiers if isinstance(tier, str) and tier not in TIERS), "")
            cause = f"should list some of {', '.join(TIERS)}, in that order, array first"
            raise UnknownWord(cause + nearest(wrong, TIERS), wrong)
        return tiers
    cursor.is_order_whole = False
    return (*TIERS,)


def _defaults(cursor: Cursor, words: Words) -> tuple[dict[Kind, DType], dict[Kind, tuple[DType, ...]]]:
    """The default dtype of each kind of Python scalar, and those for values that it does not hold."""
    first: dict[Kind, DType] = {}
    wider: dict[Kind, tuple[DType, ...]] = {}
    for word, codes in cursor.table("defaults"):
        with cursor.noting():
            found = words.several(word, codes)
            for narrow, wide in pairwise(found):
                if narrow.max is None or wide.max is None or narrow.max >= wide.max:
                    cause = f"{wide} holds no value beyond {narrow}; name them from narrow to wide"
                    raise ValueError(cause)
            first[kind_of(word)] = found[0]
            if len(found) > 1:
                wider[kind_of(word)] = found[1:]
    return first, wider


def _check_values(cursor: Cursor, order: Order[Node], defaults: Mapping[Kind, DType]) -> None:
    """Raise ValueError where NumPy 1's rule lacks the dtypes that it takes values for."""
    from typelattice.engine.numpy1 import NEEDED  # one library alone goes by values

    cursor.at("combine")
    if not {*NEEDED, *(defaults.get(kind) for kind in WORDS.values())} <= {*order.nodes}:
        raise AboutOrder('"value" needs NumPy\'s numbers in the order, and defaults among them')


def _stand_in(cursor: Cursor, pairs: PairEntries) -> tuple[frozenset[Node], dict[Kind, DType]]:
    """Read the dtypes beside which a scalar counts as one of its kind, and the dtype for each kind."""
    table = dict(cursor.table("stand-in"))
    if not table:
        return frozenset(), {}
    if "beside" not in table:
        raise ValueError("`beside` is missing: the dtypes beside which a scalar counts as one of its kind")
    beside = frozenset(map(pairs.present, once(pairs.words.nodes(table.pop("beside")))))
    if not table:
        raise ValueError("says nothing; name a kind of scalar, and the dtype that one counts as")
    found: dict[Kind, DType] = {}
    for word, code in table.items():
        cursor.at("stand-in", word)
        found[kind_of(word)] = pairs.words.dtype(pairs.words.node(code), kind_of(word))
        pairs.present(found[kind_of(word)])
    return beside, found
