"""System files: TOML to a System, every mistake named by file, line, key and cause. Nothing in a file is executed."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from pathlib import Path

from typelattice import ops
from typelattice.dtypes import CODES, DTYPES, DType, Kind, Node, define, nearest, weak
from typelattice.operand import SCALARS
from typelattice.order import Order, OrderError, collect, statements
from typelattice.system import Rule, Step, System

FOLDER = Path(__file__).with_name("systems")
KEYS: dict[str, type] = {
    "name": str, "title": str, "source": str, "library": str, "extends": str, "dtypes": dict, "sets": dict, "order": str,
    "ties": dict, "overrides": dict, "refusals": dict, "combine": str, "tiers": list, "first": bool, "weak": str,
    "both-ways": list, "stand-in": dict, "defaults": dict, "before": dict, "after": dict, "fit": dict, "ops": dict,
}  # fmt: skip
CHOICES = {"combine": ("join", "fold", "comparable", "value"), "weak": ("kind", "width")}
TIERS = ["array", "0d", "scalar"]
FITS = ("raise", "wrap", "inf", "widen", "exact")
FACTS = {"kind": str, "bits": int, "storage_bits": int, "max": (int, float), "precision": int, "min_exponent": int, "specials": str, "code": str}
LETTERS = {"b": Kind.BOOL, "u": Kind.UNSIGNED, "i": Kind.SIGNED, "f": Kind.FLOAT, "c": Kind.COMPLEX}
LIMIT_BYTES, LIMIT_NODES, LIMIT_EXTENDS = 1_000_000, 5_000, 8


class FormatError(ValueError):
    """A system file that cannot be right: file, line, key, cause and what to do."""

    def __init__(self, file: str, line: int | None, key: str, cause: str) -> None:
        self.file, self.line, self.key, self.cause = file, line, key, cause
        super().__init__(f"{file}{f', line {line}' if line else ''}{f', {key}' if key else ''}: {cause}")


class UnknownSystem(LookupError):
    """A name that is no system's, nor a file."""

    __str__ = Exception.__str__


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one file, and where in it a key or an entry stands."""

    file: str
    text: str

    def line(self, key: str, entry: str | None = None) -> int | None:
        start = re.search(rf"(?m)^[ \t]*\[?[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[\].=]", self.text)
        found = start and entry and re.compile(rf"(?:[\"']{re.escape(entry)}[\"']|\b{re.escape(entry)})\s*[=\].]").search(self.text, start.start())
        at = found or start
        return self.text.count("\n", 0, at.start()) + 1 if at else None


@dataclass(frozen=True, slots=True)
class Spec:
    """The keys of a file and of those it extends: values, the text each came from, and the order's statements."""

    values: Mapping[str, object]
    texts: Mapping[str, Text]
    order: Sequence[tuple[str, int, list[list[str]]]]  # file, line, chain
    main: Text


def systems() -> tuple[str, ...]:
    """The names of the systems that come with typelattice."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def system(which: str | Path | System) -> System:
    """A system by its name, by the path of a .toml file of your own, or as it is.

    Raises UnknownSystem, or FormatError for a file that cannot be right.
    """
    if isinstance(which, System):
        return which
    if not isinstance(which, (str, Path)):
        raise TypeError(f"a {type(which).__name__} is no system; give a name such as 'jax' or the path of a .toml file")
    name = str(which)
    if isinstance(which, Path) or name.endswith(".toml") or "/" in name or "\\" in name:
        return load(Path(which))
    return _shipped(name)


@cache
def _shipped(name: str) -> System:
    path = FOLDER / f"{name}.toml"
    if not re.fullmatch(r"[a-z0-9-]+", name) or not path.is_file():
        raise UnknownSystem(f"unknown system {name[:60]!r}{nearest(name, systems())}; `typelattice systems` lists them, or give a path ending in .toml")
    return load(path)


def load(path: Path) -> System:
    """The system in a file."""
    return build(read(path, ()))


def parse(text: str, file: str = "text") -> System:
    """The system that a text describes; it may extend those that come with typelattice."""
    return build(_spec(Text(file, text), FOLDER, ()))


def read(path: Path, trail: tuple[str, ...]) -> Spec:
    try:
        if path.stat().st_size > LIMIT_BYTES:
            raise FormatError(path.name, None, "", f"larger than {LIMIT_BYTES:,} bytes; a system file states a rule in at most 80 lines")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as e:
        raise FormatError(path.name, None, "", f"not UTF-8 text (byte {e.start}); save it as UTF-8") from None
    except (OSError, ValueError) as e:
        raise UnknownSystem(f"cannot read {str(path)[:120]}: {getattr(e, 'strerror', None) or e}; give the path of a .toml file") from None
    return _spec(Text(path.name, text), path.parent, trail)


def _spec(text: Text, folder: Path, trail: tuple[str, ...]) -> Spec:
    import tomllib

    fail = partial(FormatError, text.file)
    if len(text.text) > LIMIT_BYTES:
        raise fail(None, "", f"larger than {LIMIT_BYTES:,} bytes; a system file states a rule in at most 80 lines")
    try:
        values: dict[str, object] = tomllib.loads(text.text)
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        at = re.search(r" \(at line (\d+), column \d+\)", str(e))
        raise fail(int(at[1]) if at else None, "", f"not TOML: {str(e)[:200].split(' (at ')[0]}") from None
    for key, value in values.items():
        if key not in KEYS:
            raise fail(text.line(key), key[:60], f"unknown key{nearest(key, KEYS)}; the keys are {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise fail(text.line(key), key, f"should be {NAMES[KEYS[key]]}, is {NAMES.get(type(value), type(value).__name__)}")
    texts = dict.fromkeys(values, text)
    order: list[tuple[str, int, list[list[str]]]] = []
    base = None
    if "extends" in values:
        base = _base(str(values.pop("extends")), text, folder, trail)
    if "order" in values:
        first = (text.line("order") or 1) + bool(re.search(r"(?m)^[ \t]*order\s*=\s*(\"\"\"|''')\r?\n", text.text))
        try:
            for line, chain in statements(str(values["order"])):
                if chain == [["..."]]:
                    if base is None:
                        raise fail(first + line, "order", "`...` stands for the order of the file that `extends` names, and there is none")
                    order += base.order
                else:
                    order.append((text.file, first + line, chain))
        except OrderError as e:
            raise fail(text.line("order"), "order", str(e)) from None
    if base:
        values, texts, order = {**base.values, **values}, {**base.texts, **texts}, order or list(base.order)
    return Spec(values, texts, order, text)


def _base(name: str, text: Text, folder: Path, trail: tuple[str, ...]) -> Spec:
    fail = partial(FormatError, text.file, text.line("extends"), "extends")
    stem = name.removesuffix(".toml")
    if not re.fullmatch(r"[\w.-]+", stem) or stem.startswith("."):
        raise fail(f"{name[:60]!r} is out of the folder; name a system, or a file beside this one")
    if stem in trail:
        raise fail(f"a circle: {' -> '.join((*trail, stem))}")
    if len(trail) >= LIMIT_EXTENDS:
        raise fail(f"more than {LIMIT_EXTENDS} files deep")
    beside = folder / f"{stem}.toml"
    path = beside if beside.is_file() and (stem != Path(text.file).stem or folder == FOLDER) else FOLDER / f"{stem}.toml"
    if not path.is_file():
        raise fail(f"no system {stem!r}{nearest(stem, systems())}; name a system, or a file beside this one")
    if path.parent == folder and stem == Path(text.file).stem:
        raise fail(f"a circle: {stem} -> {stem}")
    return read(path, (*trail, Path(text.file).stem if not trail else trail[-1], stem) if not trail else (*trail, stem))


NAMES: dict[type, str] = {str: "a string", dict: "a table", list: "a list", bool: "true or false", int: "a number", float: "a number"}


def build(spec: Spec) -> System:
    """The System that a spec describes, everything in it checked."""
    return _Builder(spec).system()


class _Builder:
    """Reads the keys one after another; `key` is the one at hand, for errors."""

    def __init__(self, spec: Spec) -> None:
        self.spec, self.key, self.entry = spec, "name", ""
        self.dtypes: dict[str, DType] = {}
        self.covers: dict[tuple[str, int], list[tuple[Node, Node | None]]] = {}

    def system(self) -> System:
        try:
            return self._system()
        except FormatError:
            raise
        except (ValueError, LookupError, TypeError) as e:
            text = self.spec.texts.get(self.key, self.spec.main)
            cause = e.args[0] if e.args else e
            raise FormatError(text.file, text.line(self.key, self.entry), self.key, str(cause)) from None

    def _system(self) -> System:
        get = self.spec.values.get
        name = self._string("name", required=True)
        title, source, library = (self._string(key) for key in ("title", "source", "library"))
        for own, facts in self._table("dtypes"):
            self.dtypes[own] = _own_dtype(own, facts)
        order = self._order()
        for key, allowed in CHOICES.items():
            self.key = key
            _choice(get(key, allowed[0]), allowed)
        self.key = "tiers"
        tiers = get("tiers", ["array"])
        if not isinstance(tiers, list) or not tiers or [t for t in TIERS if t in tiers] != tiers or tiers[0] != "array":
            raise ValueError(f"should list some of {', '.join(TIERS)}, in that order, array first")
        defaults = {self._kind(k): self._dtype(v) for k, v in self._table("defaults")}
        before = {self._node(k): self._node(v) for k, v in self._table("before")}
        after = {self._node(k): self._node(v) for k, v in self._table("after")}
        ties, overrides, refusals, entries = {}, {}, {}, {}
        for entry, winner in self._table("ties"):
            bounds = frozenset(self._nodes(entry))
            ties[bounds], entries[bounds] = self._node(winner), entry
            _check_tie(order, bounds, ties[bounds])
        combine = str(get("combine", "join"))
        for entry, said in self._table("overrides"):
            for pair in self._pairs(entry):
                overrides[pair], entries[pair] = self._node(said), entry
                self._check_pair(order, ties, pair, overrides[pair])
                if combine == "join" and all(n in order for n in pair):
                    raise ValueError('overrides go pair by pair, and this system joins sets; say combine = "fold"')
        for entry, why in self._table("refusals"):
            if not isinstance(why, str):
                raise ValueError(f"the reason should be a string, is {NAMES.get(type(why), 'something else')}")
            for pair in self._pairs(entry):
                refusals[pair], entries[pair] = why, entry
                self._check_pair(order, ties, pair, None)
        self.key, self.entry = "both-ways", ""
        both_ways = frozenset(pair for text in _list(get("both-ways", [])) for pair in self._pairs(_text(text)))
        stand_in = dict(self._table("stand-in"))
        self.key, self.entry = "stand-in", "beside"
        beside = frozenset(self._nodes(_text(stand_in.pop("beside")))) if "beside" in stand_in else frozenset()
        stands = {self._kind(k): self._dtype(v) for k, v in stand_in.items()}
        fit = {word: _fit(how) for word, how in self._table("fit") if self._kind(word)}
        rules = {op: self._op(op, given) for op, given in self._table("ops")}
        where = partial(_where, self.spec, self.covers, order)
        return System(
            name, title, source, library, order, ties, overrides, refusals, combine, tuple(tiers), bool(get("first", False)),
            str(get("weak", "kind")), defaults, before, after, fit, rules, beside, stands, both_ways, self.dtypes, entries, where, partial(_replace, self.spec),
        )  # fmt: skip

    def _string(self, key: str, required: bool = False) -> str:
        self.key, self.entry = key, ""
        value = self.spec.values.get(key, "")
        if required and not value:
            raise ValueError("missing; every system has a name")
        return str(value)

    def _table(self, key: str) -> Iterator[tuple[str, object]]:
        """The entries of a table, each noted as the one at hand."""
        table = self.spec.values.get(key, {})
        self.key, self.entry = key, ""
        for entry, value in table.items() if isinstance(table, dict) else ():
            self.key, self.entry = key, entry
            yield entry, value
        self.entry = ""

    def _order(self) -> Order[Node]:
        self.key, self.entry = "order", ""
        if not self.spec.order:
            raise ValueError("missing or empty; write covers such as `i8 -> i16`")
        chains = []
        for file, line, chain in self.spec.order:
            try:
                read = [self._nodes(",".join(part)) for part in chain]
            except ValueError as e:
                raise FormatError(file, line, self.key, str(e)) from None
            chains.append(read)
            pairs = self.covers.setdefault((file, line), [])
            pairs += [(n, None) for part in read for n in part]
            pairs += [pair for lower, upper in zip(read, read[1:]) for pair in product(lower, upper)]
            if sum(map(len, self.covers.values())) > 20 * LIMIT_NODES:
                raise ValueError("too many covers")
        self.key, self.entry = "order", ""
        covers = collect(chains)
        if len(covers) > LIMIT_NODES:
            raise ValueError(f"more than {LIMIT_NODES:,} nodes")
        return Order(covers)

    def _nodes(self, text: str, within: tuple[str, ...] = ()) -> list[Node]:
        """`u8, small`: a list of nodes and of named sets of them."""
        sets, found = self.spec.values.get("sets", {}), []
        for word in (part.strip() for part in text.split(",")):
            if isinstance(sets, dict) and word in sets:
                if word in within:
                    raise ValueError(f"a circle of sets: {' -> '.join((*within, word))}")
                if not isinstance(sets[word], str):
                    raise ValueError(f"the set {word} should be a string such as \"u8, u16\"")
                found += self._nodes(sets[word], (*within, word))
            else:
                found.append(self._node(word))
        return found

    def _node(self, code: object) -> Node:
        """The node of a code: u8, uint8, i*, i32*, or a dtype of the file's own."""
        if not isinstance(code, str):
            raise ValueError(f"should be a dtype such as \"i32\", is {NAMES.get(type(code), 'something else')}")
        stem, star = code.removesuffix("*"), code.endswith("*")
        if star and stem in LETTERS:
            return weak(LETTERS[stem])
        d = self.dtypes.get(stem) or CODES.get(stem) or DTYPES.get(stem)
        if d is None:
            raise ValueError(f"unknown dtype {code[:40]!r}{nearest(stem, [*CODES, *DTYPES, *self.dtypes])}")
        return weak(d.kind, d) if star else d

    def _dtype(self, code: object) -> DType:
        node = self._node(code)
        if not isinstance(node, DType):
            raise ValueError(f"{node} has no width; name a dtype such as \"i32\"")
        return node

    def _kind(self, word: str) -> Kind:
        known = {cls.__name__: kind for cls, kind in SCALARS.items()}
        if word not in known:
            raise ValueError(f"unknown kind of scalar {word[:40]!r}; these are {', '.join(known)}")
        return known[word]

    def _pairs(self, text: str) -> list[frozenset[Node]]:
        """`a, b + c` is each left with each right, `a, b, c` every two of them."""
        sides = [self._nodes(side) for side in text.split("+")]
        if len(sides) > 2:
            raise ValueError("more than one +; write \"a, b + c\"")
        pairs = product(*sides) if len(sides) == 2 else combinations(sides[0], 2)
        found = [frozenset(pair) for pair in pairs]
        if not found:
            raise ValueError("names one dtype only; a pair is \"a + b\"")
        return found

    def _check_pair(self, order: Order[Node], ties: Mapping[frozenset[Node], Node], pair: frozenset[Node], said: Node | None) -> None:
        """A pair is of nodes or kinds (i* f* c*), and says what the order does not."""
        unknown = [n for n in pair if n not in order and (isinstance(n, DType) or n.dtype)]
        if unknown:
            raise ValueError(f"{unknown[0]} is not in the order")
        if said is not None and said not in order:
            raise ValueError(f"{said} is not in the order")
        if all(n in order for n in pair):
            given = order.join(*pair) or ties.get(frozenset(order.minimal_bounds(*pair)))
            if self.spec.values.get("combine") == "comparable" and given not in pair:
                given = None
            if given is said:
                raise ValueError(f"{' + '.join(map(str, pair))} gives {said or 'a refusal'} by the order already; leave it out")

    def _op(self, op: str, given: object) -> dict[str, object]:
        """What the file says of an operation or a class of them."""
        if op not in ops.CLASS and op not in ops.STANDARD:
            raise ValueError(f"unknown operation or class {op[:40]!r}{nearest(op, [*ops.STANDARD, *ops.CLASS])}")
        if not isinstance(given, dict):
            raise ValueError("should be a table such as { takes = \"all\" }")
        read: dict[str, Callable[[object], object]] = {
            "takes": _kinds, "gives": lambda code: code if code == "real" else self._target(code), "loops": self._loops, "own": self._loops, "weak": _flag,
            "to": self._map, "fit": lambda table: {w: _fit(h) for w, h in _items(table) if self._kind(w)},
        }  # fmt: skip
        unknown = [key for key in given if key not in read]
        if unknown:
            raise ValueError(f"unknown key {unknown[0][:40]!r} of an operation; these are {', '.join(read)}")
        return {key: read[key](value) for key, value in given.items()}

    def _target(self, code: object) -> DType | Kind:
        """A dtype, or `i*`: the default dtype of a kind."""
        node = self._node(code)
        return node if isinstance(node, DType) else node.dtype or node.kind

    def _loops(self, text: object) -> tuple[DType, ...]:
        return tuple(self._dtype(str(n)) if isinstance(n, str) else n for n in self._nodes(_text(text)) if isinstance(n, DType))

    def _map(self, table: object) -> dict[DType | Kind, DType | Kind]:
        """`"bool, i8" = "i32"`: dtypes or kinds → a dtype or a kind's default dtype."""
        found: dict[DType | Kind, DType | Kind] = {}
        for text, to in _items(table):
            for word in (part.strip() for part in text.split(",")):
                keys = ops.KINDS[word] if word in ops.KINDS else [self._target(str(n)) for n in self._nodes(word)]
                found |= dict.fromkeys(keys, self._target(to))
        return found


def _own_dtype(name: str, facts: object) -> DType:
    """A dtype that a file defines, with the facts that ours have."""
    given = dict(_items(facts))
    for key, value in given.items():
        if key not in FACTS:
            raise ValueError(f"unknown fact {key[:40]!r}; these are {', '.join(FACTS)}")
        if not isinstance(value, FACTS[key]) or isinstance(value, bool):  # type: ignore[arg-type]
            raise ValueError(f"{key} has the wrong type, {NAMES.get(type(value), 'something else')}")
    if not re.fullmatch(r"[a-z]\w{0,39}", name) or name in DTYPES or name in CODES:
        raise ValueError("a dtype's name is a new one of lower-case letters, digits and _")
    kind = Kind(_choice(given.get("kind"), tuple(Kind)))
    bits, precision = given.get("bits"), given.get("precision")
    if isinstance(bits, int) and not 0 < bits <= 4096:
        raise ValueError("bits should lie between 1 and 4096")
    inexact = kind.rank >= Kind.FLOAT.rank
    top = given.get("max")
    if inexact and (top is None or precision is None or "min_exponent" not in given):
        raise ValueError("a float needs max, precision and min_exponent")
    if top is None and isinstance(bits, int):
        top = 2 ** (bits - (kind is Kind.SIGNED)) - 1
    specials = given.get("specials", "szmin" if inexact else "z" if kind.rank < 2 and kind is not Kind.SIGNED else "sz")
    return define(
        name, str(given.get("code", name)), kind, bits, given.get("storage_bits", bits), top, precision, given.get("min_exponent"), specials
    )  # fmt: skip


def _items(table: object) -> list[tuple[str, object]]:
    if not isinstance(table, dict):
        raise ValueError("should be a table")
    return list(table.items())


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("should be a string")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("should be a list")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("should be true or false")
    return value


def _kinds(value: object) -> tuple[Kind, ...]:
    words = [w.strip() for w in _text(value).split(",")]
    for word in words:
        if word not in ops.KINDS:
            raise ValueError(f"unknown kind {word[:40]!r}; these are {', '.join(ops.KINDS)}")
    return ops.kinds(",".join(words))


def _choice(value: object, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"should be one of {', '.join(allowed)}, is {str(value)[:40]!r}")
    return value


def _fit(how: object) -> str:
    _choice(_text(how).removeprefix("default "), FITS)
    return _text(how)


def _check_tie(order: Order[Node], bounds: frozenset[Node], winner: Node) -> None:
    """A tie is between all the minimal bounds of some set of nodes, and its winner lies above one of them."""
    below = order.lower_bounds(*bounds)
    if not below or len(bounds) < 2 or frozenset(order.minimal_bounds(*below)) != bounds:
        raise ValueError(f"{', '.join(map(str, bounds))} are never the minimal bounds of anything; this tie can never occur")
    if not any(order.le(n, winner) for n in bounds):
        raise ValueError(f"{winner} lies above none of them")


def _replace(spec: Spec, **keys: object) -> System:
    """A variant with other values for keys of the file: `replace(defaults={"float": "float64"})`."""
    text = Text(f"{spec.main.file} with {', '.join(keys)} replaced", "")
    for key, value in keys.items():
        if key not in KEYS or key == "extends":
            raise TypeError(f"unknown key {key!r}{nearest(key, KEYS)}; the keys are {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise TypeError(f"{key} should be {NAMES[KEYS[key]]}, is {NAMES.get(type(value), type(value).__name__)}")
    order = [(text.file, n, chain) for n, chain in statements(str(keys["order"]))] if "order" in keys else spec.order
    return build(Spec({**spec.values, **keys}, {**spec.texts, **dict.fromkeys(keys, text)}, order, spec.main))


def _where(spec: Spec, covers: Mapping[tuple[str, int], Sequence[tuple[Node, Node | None]]], order: Order[Node], step: Step) -> Rule:
    """The lines behind a step. Of the order: lines whose loss changes the bounds, as few as leaving out one by one gives."""
    text = spec.texts.get(step.key, spec.main)
    nodes = [n for n in step.nodes if n in order]
    if step.key == "order" and len(nodes) == len(step.nodes):
        bounds, lines = order.minimal_bounds(*nodes), list(covers)
        for line in covers:
            rest = [x for x in lines if x != line]
            if rest and _without(covers, rest, nodes) != bounds:
                lines = rest
        if _without(covers, lines, nodes) != bounds:
            return Rule(lines[0][0], "order", tuple(n for file, n in lines if file == lines[0][0]))
    line = text.line(step.key, step.entry)
    return Rule(text.file, step.key, (line,) if line else ())


def _without(covers: Mapping[tuple[str, int], Sequence[tuple[Node, Node | None]]], lines: Sequence[tuple[str, int]], nodes: list[Node]) -> tuple[Node, ...] | None:
    """The minimal bounds of nodes in the order that is left without some lines; None if one of them is gone."""
    left: dict[Node, list[Node]] = {}
    for line, pairs in covers.items():
        for a, b in pairs if line not in lines else ():
            left.setdefault(a, []).extend([b] if b else [])
    order = Order(left)
    return order.minimal_bounds(*nodes) if all(n in order for n in nodes) else None
