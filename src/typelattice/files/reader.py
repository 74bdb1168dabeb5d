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
from typelattice.facts.suggest import nearest, short
from typelattice.files.cursor import Cursor
from typelattice.files.map_entries import read_after, read_before, read_instead
from typelattice.files.operation_entries import TIERS, OperationEntries
from typelattice.files.order_entries import read_order
from typelattice.files.pair_entries import PairEntries
from typelattice.files.provenance import Provenance
from typelattice.files.spec import SHIPPED, Spec, of_shipped, read, spec
from typelattice.files.text import Text, UnknownSystemError, systems
from typelattice.files.vocabulary import Words, kind_of, once, one_of, phrase, text
from typelattice.operands.operand import WORDS

T = TypeVar("T")
COMBINE = ("join", "fold", "comparable", "value")


def system(which: str | PathLike[str] | System) -> System:
    """A system by its name, by the path of a .toml file of your own, or as it is.

    Raises UnknownSystemError, or FormatError for a file that cannot be right.

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
    """The system of an older release; of the newest one, that of the plain name."""
    from typelattice.files.releases import release, text_of  # most programs ask for the newest release only

    at, plain = release(name), name.partition("@")[0]
    if at.is_newest(plain):
        return _shipped(plain)
    return build(spec(text_of(name), at=at), shipped=True)


def parse(text: str, file: str = "text") -> System:
    """The system that a text describes; it may extend one that comes with typelattice. Raises FormatError."""
    return build(spec(Text(file, text)))


def build(spec: Spec, shipped: bool = False) -> System:
    """The System that a spec describes, everything in it checked. Raises FormatError.

    Of the files that come with typelattice, which its tests read whole, the operations are read when one is
    asked for: half of the time that all systems take goes there.
    """
    cursor = Cursor(spec)
    try:
        return _system(cursor, shipped)
    except ValueError as e:
        raise cursor.error(str(e)) from None


class _Later(Mapping[str, T]):
    """A table of which each entry is read when it is first looked at."""

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
    """The System: its keys are read in the order in which they build on one another. Raises ValueError."""
    title, source, library = (phrase(cursor.value(key, "")) for key in ("title", "source", "library"))
    name = _name(cursor)
    words = Words()
    dtypes = _own_dtypes(cursor, words)
    _read_sets(cursor, words)
    order, covers = read_order(cursor, words)
    combine = one_of(cursor.value("combine", "join"), COMBINE)
    weak = one_of(cursor.value("weak", "kind"), ("kind", "width"))
    tiers = _tiers(cursor)
    first = cursor.value("first", False)
    pairs = PairEntries(cursor, words, order, combine, tiers)
    ties = pairs.read_ties()
    overrides = dict(pairs.read_overrides())
    refusals = dict(pairs.read_refusals())
    defaults, wider = _defaults(cursor, words)
    if combine == "value":
        _check_values(cursor, order, defaults)
    instead = dict(read_instead(cursor, words, order, defaults))
    entering: dict[Node, Node] = {d: to for d, to in instead.items() if isinstance(d, DType)}
    before = entering | dict(read_before(cursor, words, order, entering))
    after = dict(read_after(cursor, words, order))
    guests = _Later(dict(cursor.table("guests")), lambda library, said: _guest(cursor, words, library, said))
    beside, stand_in = _stand_in(cursor, pairs)
    both_ways = frozenset(pairs.read_both_ways())
    operations = OperationEntries(words, pairs.present, cursor.at)
    limits = dict(cursor.table("holds"))
    holds = operations.holds(limits) if limits else {}
    outcomes = dict(cursor.table("fit"))
    fit = operations.fit(outcomes)
    cursor.at("fit", "int")
    joins = operations.joins(outcomes, order.nodes)
    ops = _Later(dict(cursor.table("ops")), lambda op, given: Frozen(operations.operation(op, given)))
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
        instead=Frozen(instead),
        after=Frozen(after),
        fit=Frozen(fit),
        joins=joins,
        ops=Frozen(ops if shipped else dict(ops)),
        beside=beside,
        stand_in=Frozen(stand_in),
        both_ways=both_ways,
        guests=Frozen(guests if shipped else dict(guests)),
        own_dtypes=Frozen(dtypes),
        entries=Frozen(pairs.names),
        origin=Provenance(cursor.spec, covers, build),
    )
    if not shipped:
        from typelattice.files.effects import check_effects  # asked of files that others wrote only

        check_effects(cursor, words, found)
    return found


def _guest(
    cursor: Cursor, words: Words, library: str, given: object
) -> Mapping[str | DType | None, str]:
    """What the file says of one library's arrays among its own."""
    from typelattice.files.guest_entries import read_guest  # few questions are of such arrays

    cursor.at("guests", library)
    return read_guest(words, library, given)


def _name(cursor: Cursor) -> str:
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

        d = own_dtype(words, word, facts)
        found |= {word: d, d.code: d}
    return found


def _read_sets(cursor: Cursor, words: Words) -> None:
    """Names for lists; each is checked, used or not, when all are known."""
    for word, members in cursor.table("sets"):
        words.sets[words.new(word, "set")] = text(members)
    for word, _ in cursor.table("sets"):
        words.set(word)


def _tiers(cursor: Cursor) -> tuple[str, ...]:
    tiers = tuple(cursor.value("tiers", TIERS[:1]))
    possible = [("array", *more) for n in range(3) for more in combinations(TIERS[1:], n)]
    if tiers not in possible:
        raise ValueError(f"should list some of {', '.join(TIERS)}, in that order, array first")
    return tiers


def _defaults(
    cursor: Cursor, words: Words
) -> tuple[dict[Kind, DType], dict[Kind, tuple[DType, ...]]]:
    """The default dtype of each kind of Python scalar, and those for values that it does not hold."""
    first: dict[Kind, DType] = {}
    wider: dict[Kind, tuple[DType, ...]] = {}
    for word, codes in cursor.table("defaults"):
        found = words.several(word, codes)
        for narrow, wide in pairwise(found):
            if narrow.max is None or wide.max is None or narrow.max >= wide.max:
                raise ValueError(f"{wide} holds no value beyond {narrow}; name them from narrow to wide")
        first[kind_of(word)] = found[0]
        if len(found) > 1:
            wider[kind_of(word)] = found[1:]
    return first, wider


def _check_values(cursor: Cursor, order: Order[Node], defaults: Mapping[Kind, DType]) -> None:
    """Raises ValueError where NumPy 1's rule lacks the dtypes that it takes values for."""
    from typelattice.engine.numpy1 import NEEDED  # one library alone goes by values

    cursor.at("combine")
    if not {*NEEDED, *(defaults.get(kind) for kind in WORDS.values())} <= {*order.nodes}:
        raise ValueError('"value" needs NumPy\'s numbers in the order, and defaults among them')


def _stand_in(cursor: Cursor, pairs: PairEntries) -> tuple[frozenset[Node], dict[Kind, DType]]:
    """The dtypes beside which a scalar counts as one of its kind, and as which."""
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
