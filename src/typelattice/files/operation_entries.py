"""What a system file says of operations, and of values out of range: keys that depart from the standard."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from typelattice.engine import operations as ops
from typelattice.engine.fit import DEFAULT, OUTCOMES
from typelattice.facts.dtypes import DType, Kind, Node
from typelattice.facts.operations import NAMES, OPERATIONS
from typelattice.facts.suggest import nearest, short
from typelattice.files.vocabulary import Words, each_of, flag, items, kind_of, once, one_of, text
from typelattice.operands.operand import WORDS

TIERS = ["array", "0d", "scalar"]


@dataclass(frozen=True, slots=True)
class OperationEntries:
    """Reads the entries of `ops` and `fit`; `present` lets nodes of the order pass. Raises ValueError."""

    words: Words
    present: Callable[[Node], Node]

    def fit(self, table: object) -> dict[str, str]:
        """Kind of scalar → what becomes of a value out of range."""
        found = {kind_of(word, WORDS).word: text(how) for word, how in items(table)}
        for word, how in found.items():
            impossible = "inf" if word == "int" else "wrap"
            one_of(how.removeprefix(DEFAULT), [x for x in OUTCOMES if x != impossible])
        return found

    def operation(self, op: str, table: object) -> dict[str, object]:
        """What the file says of an operation or of a class of them."""
        if op not in OPERATIONS and op not in ops.STANDARD:
            near = f"; write {NAMES[op].name}" if op in NAMES else nearest(op, {**ops.STANDARD, **OPERATIONS})
            raise ValueError(f"unknown operation or class {short(op)}{near}")
        readers: dict[str, Callable[[object], object]] = {
            "takes": lambda words: once(ops.kinds(",".join(each_of(words, ops.KINDS)))),
            "to": self._to,
            "loops": self._loops,
            "own": self._loops,
            "gives": lambda code: code if code in ops.PARTS else self._target(self.words.node(code)),
            "into": lambda word: one_of(word, ops.INTO),
            "weak": lambda word: one_of(word, ops.WEAK),
            "left": lambda words: each_of(words, TIERS),
            "first": flag,
            "alike": flag,
            "fit": self.fit,
        }
        found: dict[str, object] = {}
        for key, value in items(table):
            if key not in readers:
                these = ", ".join(readers)
                raise ValueError(f"unknown key {short(key)} of an operation; these are {these}")
            found[key] = readers[key](value)
        return found

    def _target(self, node: Node) -> DType | Kind:
        """A dtype, or `i*` for the default dtype of a kind."""
        return self.words.dtype(node) if isinstance(node, DType) or node.dtype else node.kind

    def _loops(self, names: object) -> tuple[DType, ...]:
        """Dtypes that an operation computes in."""
        return once(self.words.dtype(self.present(n)) for n in self.words.nodes(names))

    def _to(self, table: object) -> dict[DType | Kind, DType | Kind]:
        """`"bool, i8" = "i32"`: dtypes or kinds → a dtype, or the default dtype of a kind."""
        found: dict[DType | Kind, DType | Kind] = {}
        for names, code in items(table):
            target = self._target(self.words.node(code))
            for source in self._sources(names):
                if source in found:
                    raise ValueError(f"{source} is mapped twice")
                found[source] = target
        return found

    def _sources(self, names: str) -> list[DType | Kind]:
        """A list of kinds, dtypes and sets of dtypes."""
        found: list[DType | Kind] = []
        for word in map(str.strip, names.split(",")):
            found += ops.KINDS[word] if word in ops.KINDS else map(self.words.dtype, self.words.nodes(word))
        return found
