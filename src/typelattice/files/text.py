"""The text of system files: read, bounded, extended, and where in it things stand. Nothing in a file is executed."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike, fspath, listdir, path

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.order import OrderError, statements
from typelattice.facts.suggest import nearest

# By os.path: importing pathlib costs as much as all else here.
FOLDER = path.join(path.dirname(path.dirname(__file__)), "systems")
KEYS: dict[str, type] = {
    **dict.fromkeys(("name", "title", "source", "library", "extends", "order", "combine", "weak"), str),
    **dict.fromkeys(("dtypes", "sets", "ties", "overrides", "refusals", "defaults", "before", "after"), dict),
    "fit": dict, "ops": dict, "stand-in": dict, "tiers": list, "both-ways": list, "first": bool,
}  # fmt: skip
LIMIT_BYTES, LIMIT_DEEP = 1_000_000, 8
HIDDEN = re.compile(  # comments and strings, but for strings that are keys (group 1)
    r"""\"{3}(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|("(?:\\.|[^"\\\n])*"|'[^'\n]*')(?=[ \t]*[=.\]])"""
    r"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*""",
    re.DOTALL,
)
Line = tuple[str, int]  # file, line
Chain = list[list[str]]  # a statement of an order: the lists between its arrows


class FormatError(TypelatticeError, ValueError):
    """A system file that cannot be right: its file, line, key and the cause; the message is one line, and bounded."""

    def __init__(self, file: str, line: int | None, key: str, cause: str) -> None:
        self.file, self.line, self.key, self.cause = _one_line(file, 80), line, _one_line(key, 40), _one_line(cause, 400)
        at = f"{self.file}{f', line {line}' if line else ''}{f', {self.key}' if key else ''}"
        super().__init__(f"{at}: {self.cause}")

    def __reduce__(self) -> tuple[object, ...]:
        return FormatError, (self.file, self.line, self.key, self.cause)


class UnknownSystemError(TypelatticeError, ValueError):
    """A name that is no system's, or a path that cannot be read."""


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one file, and where in it a key or an entry stands."""

    file: str
    text: str
    path: str | None = None

    def line(self, key: str, entry: str | None = None) -> int | None:
        """The line of a key, or of an entry under it."""
        plain = HIDDEN.sub(lambda m: m[1] or re.sub(r"\S", " ", m[0]), self.text)
        word = rf"[\"']?{re.escape(key)}[\"']?[ \t]*"
        at = re.search(rf"(?m)^[ \t]*\[+[ \t]*{word}[\].]", plain) or re.search(rf"(?m)^[ \t]*{word}[.=]", plain)
        if at and entry is not None:
            word = re.escape(entry)
            alone = re.compile(rf"(?:[\"']{word}[\"']|(?<![\w-]){word})[ \t]*[=\].]")
            listed = re.compile(rf"(?m)^[ \t]*[\"'](?:[^\"'\n]*,[ \t]*)?{word}(?:[ \t]*,[^\"'\n]*)?[\"'][ \t]*[=.]")
            at = alone.search(plain, at.start()) or listed.search(plain, at.start()) or at
        return plain.count("\n", 0, at.start()) + 1 if at else None

    def error(self, key: str, cause: str, entry: str | None = None) -> FormatError:
        """What is wrong with a key or an entry."""
        return FormatError(self.file, self.line(key, entry), key, cause)

    def statements(self, order: str) -> Iterator[tuple[Line, Chain]]:
        """The statements of its order, each with its line; with that of the key where escapes hide the text."""
        text = self.text.replace("\r\n", "\n")
        start = text.find(order) if "\n" in order else -1
        first, last = (text.count("\n", 0, start) + 1, len(text)) if start >= 0 else (self.line("order") or 1,) * 2
        for n, line in enumerate(order.split("\n")):
            at = self.file, min(first + n, last)
            try:
                yield from ((at, chain) for _, chain in statements(line.partition("#")[0]))
            except OrderError as e:
                raise FormatError(*at, "order", str(e)) from None


@dataclass(frozen=True, slots=True)
class Spec:
    """The keys of a file and of those it extends, with the text each came from, and the order's statements by line."""

    values: Mapping[str, object]
    texts: Mapping[str, Text]
    order: Sequence[tuple[Line, Chain]]
    main: Text
    own: Mapping[str, object] = field(default_factory=dict)  # the keys of the main text
    base: Spec | None = None

    def with_keys(self, keys: Mapping[str, object], text: Text) -> Spec:
        """The same with other values for some keys; `...` in an order stands for the order so far."""
        order = self.order
        if "order" in keys:
            order = []
            for line, chain in text.statements(str(keys["order"])):
                dots = chain == [["..."]]
                if dots and (not self.order or self.order[0] in order):
                    raise FormatError(*line, "order", "`...` stands, once, for the order of the file that `extends` names")
                order += self.order if dots else [(line, chain)]
        return Spec({**self.values, **keys}, {**self.texts, **dict.fromkeys(keys, text)}, order, text, keys, self)

    def without(self, file: str, lines: Sequence[int]) -> Spec:
        """What is left without some lines of one of the files. Raises FormatError if that is no TOML."""
        if self.base is None:
            return self
        base, text, own = self.base.without(file, lines), self.main, self.own
        if text.file == file:
            kept = [line for n, line in enumerate(text.text.split("\n"), 1) if n not in lines]
            text = Text(file, "\n".join(kept), text.path)
            own = {key: value for key, value in _values(text).items() if key != "extends"}
        return base.with_keys(own, text)


def systems() -> tuple[str, ...]:
    """The names of the systems that come with typelattice."""
    return tuple(sorted(file.removesuffix(".toml") for file in listdir(FOLDER) if file.endswith(".toml")))


def read(where: str | PathLike[str], trail: tuple[str, ...] = ()) -> Spec:
    """The keys of a file. Raises UnknownSystemError where it cannot be read, FormatError where it is no system file."""
    try:
        with open(where, "rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    except (OSError, ValueError) as e:
        why = getattr(e, "strerror", None) or str(e)
        raise UnknownSystemError(f"cannot read {fspath(where)[:120]!r}: {why}; give the path of a .toml file") from None
    try:
        text = data.decode("utf-8-sig") if len(data) <= LIMIT_BYTES else " " * len(data)
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise FormatError(path.basename(where), line, "", f"not UTF-8 text (byte {e.start}); save it as UTF-8") from None
    return spec(Text(path.basename(where), text, path.realpath(where)), trail)


def spec(text: Text, trail: tuple[str, ...] = ()) -> Spec:
    """The keys that a text gives, on top of those of the file that it extends."""
    values, base = _values(text), Spec({}, {}, (), text)
    if "extends" in values:
        base = _base(str(values.pop("extends")), text, (*trail, text.path) if text.path else trail)
    return base.with_keys(values, text)


def _values(text: Text) -> dict[str, object]:
    """The keys that a text gives."""
    import tomllib

    if len(text.text) > LIMIT_BYTES:
        cause = f"larger than {LIMIT_BYTES:,} bytes; a system file states a rule in at most 80 lines"
        raise FormatError(text.file, None, "", cause)
    try:
        values: dict[str, object] = tomllib.loads(text.text)
    except RecursionError:
        raise FormatError(text.file, None, "", "not TOML: nested too deep") from None
    except ValueError as e:
        at = re.search(r" \(at (?:line (\d+).*|end of document)\)$", str(e))
        line = int(at[1] or text.text.count("\n") + 1) if at else None
        why = str(e)[: at.start()] if at else "a number of too many digits"
        raise FormatError(text.file, line, "", f"not TOML: {why}") from None
    check_keys(values, text)
    if "ops" in values:
        values["ops"] = _each(values["ops"], text)
    return values


def _each(table: object, text: Text) -> dict[str, object]:
    """What `"mean, divide" = {…}` says of several operations, said of each."""
    found: dict[str, object] = {}
    for entry, given in table.items() if isinstance(table, dict) else ():
        for op in map(str.strip, entry.split(",")):
            if op in found:
                raise text.error("ops", f"{op} stands in two entries", entry)
            found[op] = given
    return found


def check_keys(values: Mapping[str, object], text: Text) -> None:
    """Raises FormatError for a key that is unknown, or whose value is of another type."""
    for key, value in values.items():
        if key not in KEYS:
            raise text.error(key, f"unknown key{nearest(key, KEYS) or '; the keys are ' + ', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise text.error(key, f"should be {article(KEYS[key])}, is {article(type(value))}")


def _base(name: str, text: Text, trail: tuple[str, ...]) -> Spec:
    """The file that another extends: one beside it, or else one that comes with typelattice."""
    fail = partial(text.error, "extends")
    if not re.fullmatch(r"\w[\w.-]{0,99}", name):
        raise fail(f"{name[:60]!r} is out of the folder; name a system, or a file beside this one")
    stem = f"{name.removesuffix('.toml')}.toml"
    choices = [path.join(folder, stem) for folder in ([path.dirname(text.path)] if text.path else []) + [FOLDER]]
    found = [path.realpath(choice) for choice in choices if path.isfile(choice)]
    if not found:
        raise fail(f"no system {name!r}{nearest(name, systems())}; name a system, or a file beside this one")
    fresh = [choice for choice in found if choice != text.path]
    if not fresh or fresh[0] in trail:
        raise fail(f"a circle: {' -> '.join(path.basename(p)[:-5] for p in (*trail, (fresh or found)[0]))}")
    if len(trail) > LIMIT_DEEP:
        raise fail(f"more than {LIMIT_DEEP} files deep; extend a nearer one")
    return read(fresh[0], trail)


def article(cls: type) -> str:
    """What TOML calls a type, for an error message."""
    toml = {str: "a string", dict: "a table", list: "a list", bool: "true or false", int: "a whole number", float: "a fraction"}
    return toml.get(cls, f"a {cls.__name__}")


def _one_line(text: str, limit: int) -> str:
    """A text on one line, what cannot be printed escaped, and cut."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
