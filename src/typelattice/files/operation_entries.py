"""What a system file says of operations, and of values out of range: keys that depart from the standard."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from typelattice.engine import operations as ops
from typelattice.engine.fit import JOIN, OUTCOMES, PREFIXES
from typelattice.facts.dtypes import DType, Kind, Node, place
from typelattice.facts.suggest import short
from typelattice.files.held_entries import read_holds
from typelattice.files.own_order import read_own_order
from typelattice.files.refused_entries import read_refused
from typelattice.files.vocabulary import (
    Words,
    check_entry,
    each_of,
    items,
    kind_of,
    once,
    one_of,
    text,
)
from typelattice.operands.operand import WORDS

T = TypeVar("T")
TIERS = ["array", "0d", "scalar"]


@dataclass(frozen=True, slots=True)
class OperationEntries:
    """Reads the entries of `ops` and `fit`; `present` lets nodes of the order pass. Raises ValueError.

    `at` is told which part of which entry of `ops` is read.
    """

    words: Words
    present: Callable[[Node], Node]
    at: Callable[[str, str, str], None]

    def fit(self, table: object) -> dict[str, str]:
        """Kind of scalar → what becomes of a value out of range."""
        found = {kind_of(word, WORDS).word: _outcome(how)[0] for word, how in items(table)}
        for word, how in found.items():
            impossible = ("inf",) if word == "int" else ("wrap", JOIN)
            *prefixes, outcome = how.split() or [how]
            each_of(",".join(prefixes) or PREFIXES[0], PREFIXES)
            one_of(outcome, [x for x in OUTCOMES if x not in impossible])
        return found

    def joins(self, table: Mapping[str, object], nodes: Iterable[Node]) -> tuple[DType, ...]:
        """The dtypes that `join` names, from narrow to wide; where it names none, all integers of `nodes`."""
        how, listed = _outcome(table.get("int", ""))
        if not how.endswith(JOIN):
            return ()
        integers = [n for n in nodes if isinstance(n, DType) and n.kind.word == "int"]
        named = self.words.nodes(listed) if listed else integers
        return tuple(sorted(once(self.words.dtype(n, Kind.SIGNED) for n in named), key=place))

    def holds(self, table: object) -> dict[ops.Target, tuple[DType, ...]]:
        """Kind of scalar → dtypes, one of which has to hold it; dtypes → the one that has to hold an int."""
        return read_holds(self.words, table)

    def operation(self, op: str, table: object) -> dict[str, object]:
        """What the file says of an operation or of a class of them."""
        check_entry(op)
        readers: dict[str, Callable[[object], object]] = {
            "takes": self._domain,
            "each": self._domain,
            "scalars": lambda word: one_of(word, ops.SCALARS),
            "refuses": lambda entries: read_refused(self.words, entries),
            "dimensions": _dimensions,
            "natural": self._natural,
            "arrays": lambda word: one_of(word, ops.ARRAYS),
            "before": lambda table: self._mapping(table, self._target_of),
            "order": lambda said: read_own_order(self.words, said),
            "meet": lambda word: one_of(word, ops.MEET),
            "absorbs": self._domain,
            "loops": self._loops,
            "own": self._loops,
            "ignores": lambda said: self._of_each(said, _tiers),
            "adopts": lambda word: one_of(word, ops.ADOPTS),
            "holds": self.holds,
            "fit": self.fit,
            "computes": lambda table: self._mapping(table, self._target_of),
            "gives": lambda said: self._of_each(said, self._given),
            "into": lambda word: one_of(word, ops.INTO),
            "weak": lambda said: self._of_each(said, _weakness),
        }
        found: dict[str, object] = {}
        for key, value in items(table):
            self.at("ops", op, key)
            if key not in readers:
                these = ", ".join(readers)
                raise ValueError(f"unknown key {short(key)} of an operation; these are {these}")
            found[key] = readers[key](value)
        fit = found.get("fit")
        if isinstance(fit, Mapping) and any(how.endswith(JOIN) for how in fit.values()):
            raise ValueError("join is said of all operations at once, in the `fit` of the file")
        for key in ("ignores", "gives", "weak"):  # a table says it of some, a word of all
            if isinstance(found.get(key), Mapping):
                found[f"{key}_of"] = found.pop(key)
            elif key in found:
                found[f"{key}_of"] = {}
        return found

    def _domain(self, words: object) -> ops.Domain:
        """`real but u16`: kinds and dtypes, and those of them that are left out."""
        taken, *but = text(words).split(" but ")
        if len(but) > 1:
            raise ValueError("`but` stands twice; name all that is left out after the first")
        listed, left_out = once(self.words.sources(taken)), once(self.words.sources(but[0]) if but else ())
        known = ops.Domain(listed)
        for source in left_out:
            if source not in known:
                raise ValueError(f"{source} is left out, and is none of those named before")
        for source in listed:
            if isinstance(source, DType) and source.kind in listed:
                raise ValueError(f"{source} is {source.kind}, which is named too")
        return ops.Domain(listed, left_out)

    def _natural(self, said: object) -> tuple[str, ...] | DType:
        """Tiers, or the unsigned dtype that has to hold a Python int on the right."""
        if any(word.strip() in TIERS for word in text(said).split(",")):
            return each_of(said, TIERS[1:])
        d = self.words.dtype(self.words.node(said))
        if d.kind is not Kind.UNSIGNED:
            raise ValueError(f"{d} is no unsigned dtype; name one, or tiers")
        return d

    def _of_each(self, said: object, read: Callable[[object], T]) -> T | dict[DType | Kind, T]:
        """What is said of all dtypes alike; or dtypes and kinds → what is said of these."""
        return self._mapping(said, read) if isinstance(said, Mapping) else read(said)

    def _given(self, code: object) -> ops.Given:
        """A dtype, `i*` for the default dtype of a kind, or a word for what operands or parts have."""
        # A checker does not see that a code which is one of PARTS is a word of `Given`.
        return code if code in ops.PARTS else self._target_of(code)  # type: ignore[return-value]

    def _target_of(self, code: object) -> DType | Kind:
        return self._target(self.words.node(code))

    def _target(self, node: Node) -> DType | Kind:
        """A dtype, or `i*` for the default dtype of a kind."""
        return self.words.dtype(node) if isinstance(node, DType) or node.dtype else node.kind

    def _loops(self, names: object) -> tuple[DType, ...]:
        """Dtypes that an operation computes in; `""` for none, so that its operands join."""
        return () if names == "" else once(self.words.dtype(self.present(n)) for n in self.words.nodes(names))

    def _mapping(self, table: object, read: Callable[[object], T]) -> dict[DType | Kind, T]:
        """`"bool, i8" = "i32"`: dtypes or kinds → what is read of the other side."""
        found: dict[DType | Kind, T] = {}
        for names, code in items(table):
            target = read(code)
            for source in self.words.sources(names):
                if source in found:
                    raise ValueError(f"{source} is mapped twice")
                found[source] = target
        return found


def _outcome(how: object) -> tuple[str, str]:
    """`join u8, u16`: what becomes of a value, and the dtypes that are named for it."""
    before, join, listed = text(how).partition(f"{JOIN} ")
    return f"{before}{join}".strip(), listed.strip()


def _tiers(words: object) -> tuple[str, ...]:
    """The tiers of which an integer on the right is ignored."""
    return each_of(words, TIERS)


def _weakness(word: object) -> str:
    """What becomes of a weak result."""
    return one_of(word, ops.WEAK)


def _dimensions(number: object) -> int:
    """How many dimensions an operand has to have."""
    if type(number) is not int or number not in (1, 2):
        raise ValueError("should be 1 or 2: the dimensions that each operand has to have")
    return number
