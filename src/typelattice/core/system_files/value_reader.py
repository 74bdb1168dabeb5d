"""The words of a system file: dtypes, kinds, named sets of them, and values of other types.

Everything here raises ValueError with the cause. The reader of a file adds the file, line and key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations, product

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.dtypes.dtypes import DTYPE_BY_CODE, DTYPES, KINDS_BY_WORD, DType, Kind, Node, weak_node
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE
from typelattice.core.system_files.system_text import toml_type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T", bound=Hashable)
    W = TypeVar("W", bound=str)

KIND_BY_LETTER = {kind.letter: kind for kind in Kind if kind is not Kind.BOOL}
KIND_BY_SCALAR_WORD = {
    **{cls.__name__: kind for cls, kind in KIND_BY_PYTHON_TYPE.items()},
    "uint": Kind.UNSIGNED,
}
SET_NAMES_BY_PYTHON_KIND = {
    "int": "integer",
    "uint": "unsigned",
}  # name of the kind of a Python scalar -> name of the kind of a dtype
# Words that mean something else where a set or a dtype may stand: `any` in a pair, `left` in `gives`.
OTHER_WORDS = """
any array assigned but different index indices itself joined left made mask never other number py rest
right scalar scalars then
"""
RESERVED_WORDS = {  # words with a fixed meaning
    *DTYPES,
    *DTYPE_BY_CODE,
    *KIND_BY_LETTER,
    *KIND_BY_SCALAR_WORD,
    *KINDS_BY_WORD,
    *OTHER_WORDS.split(),
}
# The largest sizes of a file. Up to these, an answer takes seconds, and so do the laws of the system.
MAX_NODES = 300  # nodes in an order or in a list
MAX_ENTRIES = 500  # entries in a table
MAX_WORD_CHARS = 40  # characters in the name of a set or dtype
MAX_SET_DEPTH = 8


class UnknownWordError(ValueError):
    """A mistake at one word: it is misspelled, or has no meaning there."""

    def __init__(self, cause: str, word: str) -> None:
        super().__init__(cause)
        self.word = word


class OrderDependentError(ValueError):
    """A mistake that can be found only if the order and the way to join have no mistakes."""


def not_in_order(node: Node) -> str:
    """Return the mistake of a node that the order lacks, with the next step."""
    return f"{node} is not in the order; add it to `order`, or name another"


class RepeatedEntryError(UnknownWordError):
    """An entry that says again what an earlier one says. The message ends with the earlier one's line."""

    def __init__(self, cause: str, word: str, earlier: str, earlier_key: str = "") -> None:
        super().__init__(cause, word)
        self.earlier, self.earlier_key = earlier, earlier_key  # the key only if it is another


class ConsequentError(ValueError):
    """A mistake that only follows from another, which is already reported."""


def unknown_word_error(
    noun: str, word: str, known_words: Iterable[str], lists_all: bool = True
) -> UnknownWordError:
    """Return the error for an unknown word: the nearest known words, or, with `lists_all`, all of them."""
    words = tuple(known_words)
    near = spelling_hint(word, words) or (f"; these are {', '.join(words)}" if lists_all else "")
    return UnknownWordError(f"unknown {noun} {quote_short(word)}{near}", word)


class Vocabulary:
    """The words of one file and their meanings: our dtypes, `custom_dtypes`, and named sets.

    `broken` are the file's own words with a mistake in their definition. If `is_whole` is false, there may be
    more of them. A mistake that uses such a word is not reported again.
    """

    def __init__(self, custom_dtypes: Mapping[str, DType] = {}) -> None:
        self.known = {**DTYPE_BY_CODE, **DTYPES, **custom_dtypes}
        self.sets: dict[str, str] = {}
        self.used: set[str] = set()  # sets that a list names
        self.members: dict[str, list[Node]] = {}  # members of each set, once it is looked up
        self.broken: set[str] = set()
        self.is_whole = True
        self.depths: dict[str, int] = {}  # how deep each set contains other sets

    def check_new_name(self, word: str, noun: str) -> str:
        """Check the name that a file gives to its own set or dtype, and return it."""
        no_name = f"{quote_short(word)} is no name for a {noun}"
        if word in self.known or word in RESERVED_WORDS:
            raise UnknownWordError(f"{no_name}: it means {self.known.get(word, 'something')} already", word)
        is_lower = word.isascii() and word.isidentifier() and word == word.lower()
        if not is_lower or word.startswith(("_", "inf", "nan")) or len(word) > MAX_WORD_CHARS:
            raise UnknownWordError(f"{no_name}: a new word of lower-case letters, digits and _", word)
        return word

    def read_nodes(self, names: object, containing_sets: tuple[str, ...] = ()) -> list[Node]:
        """Read `u8, small`, a list of nodes and named sets. `containing_sets` are sets that contain it."""
        found: list[Node] = []
        for word in map(str.strip, require_text(names).split(",")):
            if word in self.sets:
                self.used.add(word)
                found += self.read_set(word, containing_sets)
            else:
                found.append(self.read_node(word))
            if len(found) > MAX_NODES:
                raise ValueError(f"a list of more than {MAX_NODES:,}; a system file states a rule")
        return found

    def read_set(self, name: str, containing_sets: tuple[str, ...] = ()) -> list[Node]:
        """Return the members of a named set. They are looked up once."""
        if name in self.broken:
            raise ConsequentError(name)
        if name in containing_sets:
            self.broken |= {*containing_sets[containing_sets.index(name) :]}  # all sets of the circle
            raise ValueError(
                f"a circle of sets: {' -> '.join((*containing_sets[containing_sets.index(name) :], name))}"
            )
        if name not in self.members:
            # The depth counts in both directions: the sets that contain this one, and the sets in it.
            members = self._read_set(name, containing_sets) if len(containing_sets) <= MAX_SET_DEPTH else []
            inner = (self.depths.get(word.strip(), -1) for word in self.sets[name].split(","))
            self.depths[name] = 1 + max(inner)
            if max(len(containing_sets), self.depths[name]) > MAX_SET_DEPTH:
                raise ValueError(f"sets in sets, more than {MAX_SET_DEPTH} deep")
            self.members[name] = members
        return self.members[name]

    def _read_set(self, name: str, containing_sets: tuple[str, ...]) -> list[Node]:
        try:
            members = self.read_nodes(self.sets[name], (*containing_sets, name))
            words = map(str.strip, self.sets[name].split(","))
            read_distinct(self.read_node(word) for word in words if word not in self.sets)
            return members
        except UnknownWordError:
            if containing_sets:  # the outermost set reports it
                raise ConsequentError(name) from None
            self.broken.add(name)
            raise
        except ValueError:
            self.broken.add(name)
            raise

    def read_pairs(self, entry: object) -> list[tuple[Node, Node]]:
        """Read pairs: `a, b + c` is each left with each right, `a, b, c` every two of them."""
        sides = [self.read_nodes(side) for side in require_text(entry).split("+")]
        if len(sides) > 2:
            raise ValueError('write "a, b + c" or "a, b, c"')
        both = product(*sides) if len(sides) == 2 else combinations(sides[0], 2)
        found = [(a, b) for a, b in both if a is not b]
        if not found:
            raise ValueError('names no pairs; write "a, b + c" or "a, b, c"')
        return found

    def read_node(self, code: object) -> Node:
        """Return the node of a code: u8, uint8, i*, i32*, or a dtype of the file's own."""
        word = require_text(code)
        stem, star = word.removesuffix("*"), word.endswith("*")
        if star and stem in KIND_BY_LETTER:
            return weak_node(KIND_BY_LETTER[stem])
        d = self.known.get(stem)
        if d is None or (star and d.kind is Kind.BOOL):
            raise self._unknown_dtype(word, stem)
        return weak_node(d.kind, d) if star else d

    def _unknown_dtype(self, word: str, stem: str) -> ValueError:
        if not word:
            return ValueError("a dtype is missing; name one")
        self.refuse_broken_set(word)
        if word in self.sets:
            members = self.sets[word].split(",")[0].strip()
            cause = f"{quote_short(word)} is a set, and one dtype is wanted here; name one, such as {members}"
            return UnknownWordError(cause, word)
        import re  # only for an error

        if re.fullmatch(r"\w+\*? *[-*/|&] *\w+\*?", word):
            return UnknownWordError(f'unknown dtype {quote_short(word)}; write pairs as "f32 + i8"', word)
        if re.search(r"[,;+>]", stem):
            return UnknownWordError(f"unknown dtype {quote_short(word)}; one dtype is wanted here", word)
        near = spelling_hint(stem, {**self.known, **self.sets})
        near = near or "; no dtype and no set has this name; use another, or define it"
        return UnknownWordError(f"unknown dtype {quote_short(word)}{near}", word)

    def refuse_broken_set(self, word: str) -> None:
        """Raise ConsequentError for a word with a mistake in its definition."""
        if word in self.broken or not self.is_whole:
            raise ConsequentError(word)

    def require_dtype(self, node: Node, *kinds: Kind) -> DType:
        """Return a node that is a dtype. With `kinds`, its Python kind must be one of these."""
        if not isinstance(node, DType):
            raise UnknownWordError(f'{node} has no width; name a dtype such as "i32"', str(node))
        if kinds and node.kind.python_name not in [kind.python_name for kind in kinds]:
            raise ValueError(
                f"{node} is not a dtype for a Python {kinds[0].python_name}; name a dtype of that kind"
            )
        return node

    def read_scalar_dtypes(self, word: str, codes: object, *more_kinds: Kind) -> tuple[DType, ...]:
        """Read the dtypes of Python scalars of a kind. They may also be of `more_kinds`."""
        kinds = read_kind(word), *more_kinds
        return read_distinct(
            self.require_dtype(self.read_node(code.strip()), *kinds)
            for code in require_text(codes).split(",")
        )

    def read_sources(self, names: object) -> list[DType | Kind]:
        """Read `bool, int, f8, small`: a list of kinds, dtypes and sets of dtypes."""
        found: list[DType | Kind] = []
        for word in map(str.strip, require_text(names).split(",")):
            if word in KINDS_BY_WORD:
                found += KINDS_BY_WORD[word]
            elif any(word.removesuffix("*") in of for of in (self.known, self.sets, KIND_BY_LETTER)):
                found += map(self.require_dtype, self.read_nodes(word))
            else:
                self.refuse_broken_set(word)
                if not word:
                    raise ValueError("a kind is missing; name one")
                if word in SET_NAMES_BY_PYTHON_KIND:
                    near = SET_NAMES_BY_PYTHON_KIND[word]
                    raise UnknownWordError(f"unknown kind {quote_short(word)} (did you mean {near}?)", word)
                raise unknown_word_error(
                    "kind or dtype", word, {**KINDS_BY_WORD, **self.known, **self.sets}, lists_all=False
                )
        return found


def read_kind(word: str, known_words: Iterable[str] = KIND_BY_SCALAR_WORD) -> Kind:
    """Return the kind of a Python scalar."""
    if word not in known_words:
        raise unknown_word_error("kind of scalar", word, known_words)
    return KIND_BY_SCALAR_WORD[word]


def require_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"this should be a string, not {toml_type_name(type(value))}")
    return value


def require_phrase(value: object) -> str:
    """Return a text for people: one line that can be printed, and not too long."""
    if not require_text(value).isprintable() or len(require_text(value)) > 200:
        raise ValueError("should be one line of at most 200 characters that can be printed")
    return require_text(value)


def require_reason(value: object) -> str:
    """Return the reason of a refusal, which is not empty."""
    if not require_phrase(value).strip():
        raise ValueError("a refusal needs a reason; write why, and what to do instead")
    return require_phrase(value)


def table_items(table: object) -> Iterable[tuple[str, object]]:
    """Return the entries of a value that is a table."""
    if not isinstance(table, Mapping):
        raise ValueError(f"this should be a table, not {toml_type_name(type(table))}")
    return table.items()


def require_one_of(value: object, allowed_words: Iterable[W]) -> W:
    """Return the allowed word that a value equals. Raises UnknownWordError if the value is not allowed."""
    words = tuple(allowed_words)
    if value not in words:
        listed = ", ".join(f'"{word}"' if " " in word else word for word in words)
        near = spelling_hint(str(value), words) if isinstance(value, str) else ""
        raise UnknownWordError(f"should be one of {listed}, not {quote_short(str(value))}{near}", str(value))
    return next(word for word in words if word == value)


def require_each_of(words: object, allowed_words: Iterable[str]) -> tuple[str, ...]:
    """Return a list of words, each one of those allowed."""
    return read_distinct(
        [require_one_of(word.strip(), allowed_words) for word in require_text(words).split(",")]
    )


def read_distinct(items: Iterable[T]) -> tuple[T, ...]:
    """Read a list without repetitions."""
    found = tuple(items)
    counted = Counter(found)
    if twice := next((x for x in found if counted[x] > 1), None):
        raise ValueError(f"{twice} stands twice in this list; name it once")
    return found
