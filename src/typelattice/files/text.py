"""The text of one system file: read within bounds, its TOML, and where in it things stand."""
from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from typelattice.disk.read import FileError, read_bytes
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.order import OrderError, statements
from typelattice.facts.suggest import short
from typelattice.files.positions import LIMIT_NESTED, LIMIT_PARTS, Positions, positions

# By os.path: importing pathlib costs as much as all else here.
FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "systems")
LIMIT_BYTES = 200_000
Line = tuple[str, int]  # file, line
Chain = list[list[str]]  # a statement of an order: the lists between its arrows


class FormatError(TypelatticeError, ValueError):
    """A system file that cannot be right: its file, line, key and the cause, in one bounded line."""

    def __init__(self, file: str, line: int | None, key: str, cause: str) -> None:
        self.file, self.line = _one_line(file, 80), line
        self.key, self.cause = _one_line(key, 40), _one_line(cause, 400)
        at = f"{self.file}{f', line {line}' if line else ''}{f', {self.key}' if key else ''}"
        super().__init__(f"{at}: {self.cause}")

    def __reduce__(self) -> tuple[object, ...]:
        return FormatError, (self.file, self.line, self.key, self.cause)


class UnknownSystemError(TypelatticeError, ValueError):
    """A name that is no system's, or a path that cannot be read."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text, the file it comes from, and where in it things stand. Raises FormatError if it is too large.

    A text that is no TOML is the value of `order` alone, as a program gives it.
    """

    file: str
    text: str
    path: str | None = None
    is_toml: bool = True
    positions: Positions = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.text) > LIMIT_BYTES:
            cause = f"larger than {LIMIT_BYTES:,} bytes; a system file states a rule in at most 80 lines"
            raise FormatError(self.file, None, "", cause)
        object.__setattr__(self, "positions", positions(self.text if self.is_toml else ""))

    def line(self, key: str, entry: str | int | None = None, part: str | None = None) -> int | None:
        """The line of a key, of an entry under it, or of that entry which has a certain part.

        An entry may stand in a list, `"mean, divide" = …`, and in several of them.
        """
        lines = self.lines(key, entry, part) or self.lines(key, entry)
        place = self.positions.place(key)
        return lines[0] if lines else place.line if place else None

    def lines(self, key: str, entry: str | int | None, part: str | None = None) -> tuple[int, ...]:
        """The lines of all entries that stand for one, or of those that have a part; none of a key alone."""
        if entry is None:
            return ()
        places = self.positions
        named = dict.fromkeys(path[1] for path in places.keys if path[0] == key and len(path) > 1)
        under = [e for e in named if e == entry or entry in [word.strip() for word in str(e).split(",")]]
        found = [places.place(key, e) for e in under if part is None or places.place(key, e, part)]
        return tuple(place.line for place in found if place)

    def error(self, cause: str, key: str, entry: str | None = None) -> FormatError:
        """What is wrong with a key, or with an entry under it."""
        return FormatError(self.file, self.line(key, entry), key, cause)

    def values(self) -> dict[str, object]:
        """What the TOML says. Raises FormatError."""
        import tomllib  # loaded with the first file; a program that asks for none does without

        if deep := self.positions.too_deep:
            cause = (
                f"nested too deep: more than {LIMIT_PARTS} parts of a key, or {LIMIT_NESTED} lists and tables"
            )
            raise FormatError(self.file, deep.line, "", cause)
        try:
            return tomllib.loads(self.text)
        except ValueError as e:
            at = re.search(r" \(at (?:line (\d+).*|end of document)\)$", str(e))
            line = int(at[1] or self.text.count("\n") + 1) if at else None
            why = str(e)[: at.start()] if at else "a number of too many digits"
        if (twice := self.positions.repeated) and line and line >= twice[2].line:
            path, first, again = twice
            cause = (
                f"{short('.'.join(map(str, path)))} is given twice; it stands on line {first.line} already"
            )
            raise FormatError(self.file, again.line, str(path[0]), cause)
        raise FormatError(self.file, line, "", f"not TOML: {why}")

    def statements(self, order: str) -> Iterator[tuple[Line, Chain]]:
        """The statements of its order, each with its line. Raises FormatError."""
        lines = order.split("\n")
        rows = self.positions.rows("order") or range(1, len(lines) + 1)
        for row, line in zip(rows, lines, strict=True):
            try:
                for _, chain in statements(line.partition("#")[0]):
                    yield (self.file, row), chain
            except OrderError as e:
                raise FormatError(self.file, row, "order", str(e)) from None


def systems(versions: bool = False) -> tuple[str, ...]:
    """The names of the systems that come with typelattice; with `versions` those of older releases, too.

    >>> import typelattice as tl
    >>> [name for name in tl.systems(versions=True) if name.startswith("numpy@")]
    ['numpy@2.0', 'numpy@2.4']
    """
    stems = {file.removesuffix(".toml") for file in os.listdir(FOLDER) if file.endswith(".toml")}
    names = sorted(stem for stem in stems if "@" not in stem)
    if not versions:
        return tuple(names)
    from typelattice.facts.releases import SIGN, releases  # needed for older releases only

    older = {name: [name + SIGN + release for release in releases(name)[:-1]] for name in names}
    return tuple(each for name in names for each in (name, *older[name]))


def read_text(where: str | os.PathLike[str]) -> Text:
    """The text of a file. Raises UnknownSystemError if it cannot be read, FormatError if it is no text."""
    name = os.path.basename(where)
    try:
        data = read_bytes(where, LIMIT_BYTES + 1)
    except FileError as e:
        raise UnknownSystemError(f"{e}; give the path of a .toml file") from None
    try:
        text = data.decode("utf-8-sig") if len(data) <= LIMIT_BYTES else " " * len(data)
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise FormatError(name, line, "", f"not UTF-8 text (byte {e.start}); save it as UTF-8") from None
    return Text(name, text, os.path.realpath(where))


def article(cls: type) -> str:
    """What TOML calls a type, for an error message."""
    toml = {
        str: "a string", dict: "a table", list: "a list", bool: "true or false", int: "a whole number",
        float: "a fraction",
    }  # fmt: skip
    return toml.get(cls, f"a {cls.__name__}")


def _one_line(text: str, limit: int) -> str:
    """A text on one line, what cannot be printed escaped, and cut."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
