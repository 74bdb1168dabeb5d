"""The text of system files: read, bounded, extended, and where in it things stand. Nothing in a file is executed."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from typelattice.dtypes import Node, nearest
from typelattice.order import Order, OrderError, statements
from typelattice.promotion import Rule, Step

FOLDER = Path(__file__).with_name("systems")
KEYS: dict[str, type] = {
    **dict.fromkeys(("name", "title", "source", "library", "extends", "order", "combine", "weak"), str),
    **dict.fromkeys(("dtypes", "sets", "ties", "overrides", "refusals", "defaults", "before", "after"), dict),
    **dict.fromkeys(("fit", "ops", "stand-in"), dict),
    **dict.fromkeys(("tiers", "both-ways"), list),
    "first": bool,
}
LIMIT_BYTES, LIMIT_EXTENDS = 1_000_000, 8
Line = tuple[str, int]  # file, line
Covers = Mapping[Line, Sequence[tuple[Node, Node | None]]]  # what each line of an order states; None: a node alone


class FormatError(ValueError):
    """A system file that cannot be right: its file, line, key and the cause."""

    def __init__(self, file: str, line: int | None, key: str, cause: str) -> None:
        self.file, self.line, self.key, self.cause = file, line, key, cause
        super().__init__(f"{file}{f', line {line}' if line else ''}{f', {key}' if key else ''}: {cause}")

    def __reduce__(self) -> tuple[object, ...]:
        return FormatError, (self.file, self.line, self.key, self.cause)


class UnknownSystem(ValueError):
    """A name that is no system's, or a path that cannot be read."""


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one file, and where in it a key or an entry stands."""

    file: str
    text: str
    path: Path | None = None

    def line(self, key: str, entry: str | None = None) -> int | None:
        """The line of a key, or of an entry under it."""
        at = re.search(rf"(?m)^[ \t]*\[?[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[\].=]", self.text)
        if at and entry:
            word = re.escape(entry)
            at = re.compile(rf"(?:[\"']{word}[\"']|(?<![\w-]){word})\s*[=\].]").search(self.text, at.start()) or at
        return self.text.count("\n", 0, at.start()) + 1 if at else None

    def error(self, key: str, cause: str, entry: str | None = None) -> FormatError:
        """What is wrong with a key or an entry."""
        return FormatError(self.file, self.line(key, entry), key[:60], cause)


@dataclass(frozen=True, slots=True)
class Spec:
    """The keys of a file and of those it extends, with the text each came from, and the order's statements by line."""

    values: Mapping[str, object]
    texts: Mapping[str, Text]
    order: Sequence[tuple[Line, list[list[str]]]]
    main: Text

    def with_keys(self, keys: Mapping[str, object], text: Text) -> Spec:
        """The same with other values for some keys; `...` in an order stands for the order so far."""
        order = self.order
        if "order" in keys:
            opening = re.search(r"(?m)^[ \t]*order[ \t]*=[ \t]*(\"\"\"|''')\r?\n", text.text)
            first = (text.line("order") or 1) + bool(opening)
            order = []
            try:
                for line, chain in statements(str(keys["order"])):
                    if chain == [["..."]] and not self.order:
                        raise OrderError("`...` stands for the order of the file that `extends` names, and there is none")
                    order += self.order if chain == [["..."]] else [((text.file, first + line), chain)]
            except OrderError as e:
                raise text.error("order", str(e)) from None
        return Spec({**self.values, **keys}, {**self.texts, **dict.fromkeys(keys, text)}, order, text)


def systems() -> tuple[str, ...]:
    """The names of the systems that come with typelattice."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def read(path: Path, trail: tuple[Path, ...] = ()) -> Spec:
    """The keys of a file. Raises UnknownSystem where it cannot be read, FormatError where it is no system file."""
    try:
        if path.stat().st_size > LIMIT_BYTES:
            raise _too_large(path.name)
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as e:
        raise FormatError(path.name, None, "", f"not UTF-8 text (byte {e.start}); save it as UTF-8") from None
    except (OSError, ValueError) as e:
        if isinstance(e, FormatError):
            raise
        why = getattr(e, "strerror", None) or str(e)
        raise UnknownSystem(f"cannot read {str(path)[:120]!r}: {why}; give the path of a .toml file") from None
    return spec(Text(path.name, text, path.resolve()), trail)


def spec(text: Text, trail: tuple[Path, ...] = ()) -> Spec:
    """The keys that a text gives, on top of those of the file that it extends."""
    import tomllib

    if len(text.text) > LIMIT_BYTES:
        raise _too_large(text.file)
    try:
        values: dict[str, object] = tomllib.loads(text.text)
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        at = re.search(r"\(at line (\d+)", str(e))
        cause = f"not TOML: {str(e).split(' (at ')[0][:200]}"
        raise FormatError(text.file, int(at[1]) if at else None, "", cause) from None
    for key, value in values.items():
        if key not in KEYS:
            raise text.error(key, f"unknown key{nearest(key, KEYS)}; the keys are {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise text.error(key, f"should be {article(KEYS[key])}, is {article(type(value))}")
    base = Spec({}, {}, (), text)
    if "extends" in values:
        base = _base(str(values.pop("extends")), text, (*trail, text.path) if text.path else trail)
    return base.with_keys(values, text)


def _base(name: str, text: Text, trail: tuple[Path, ...]) -> Spec:
    """The file that another extends: one beside it, or else one that comes with typelattice."""
    fail = partial(text.error, "extends")
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise fail(f"{name[:60]!r} is out of the folder; name a system, or a file beside this one")
    stem = f"{name.removesuffix('.toml')}.toml"
    choices = [folder / stem for folder in ([text.path.parent] if text.path else []) + [FOLDER]]
    found = [path.resolve() for path in choices if path.is_file()]
    if not found:
        raise fail(f"no system {name!r}{nearest(name, systems())}; name a system, or a file beside this one")
    fresh = [path for path in found if path != text.path]
    if not fresh or fresh[0] in trail:
        raise fail(f"a circle: {' -> '.join(path.stem for path in (*trail, (fresh or found)[0]))}")
    if len(trail) > LIMIT_EXTENDS:
        raise fail(f"more than {LIMIT_EXTENDS} files deep; extend a nearer one")
    return read(fresh[0], trail)


def _too_large(file: str) -> FormatError:
    return FormatError(file, None, "", f"larger than {LIMIT_BYTES:,} bytes; a system file states a rule in at most 80 lines")


def article(cls: type) -> str:
    """What TOML calls a type, for an error message."""
    return {str: "a string", dict: "a table", list: "a list", bool: "true or false", int: "a number", float: "a number"}.get(
        cls, f"a {cls.__name__}"
    )


def where(spec: Spec, covers: Covers, order: Order[Node], step: Step) -> Rule:
    """The lines behind a step. Of an order: lines whose loss changes the bounds, leaving out what can be left out."""
    text = spec.texts.get(step.key, spec.main)
    nodes = [n for n in step.nodes if n in order]
    if step.key == "order" and len(nodes) == len(step.nodes):
        bounds, lines = order.minimal_bounds(*nodes), list(covers)
        for line in covers:
            fewer = [x for x in lines if x != line]
            if fewer and _bounds_without(covers, fewer, nodes) != bounds:
                lines = fewer
        if _bounds_without(covers, lines, nodes) != bounds:
            return Rule(lines[0][0], "order", tuple(n for file, n in lines if file == lines[0][0]))
    at = text.line(step.key, step.entry)
    return Rule(text.file, step.key, (at,) if at else ())


def _bounds_without(covers: Covers, lines: Sequence[Line], nodes: Sequence[Node]) -> tuple[Node, ...] | None:
    """The minimal bounds of nodes in the order that is left without some lines; None if one of them is gone."""
    left: dict[Node, list[Node]] = {}
    for line, stated in covers.items():
        for a, b in stated if line not in lines else ():
            left.setdefault(a, []).extend([b] if b else [])
    order = Order(left)
    return order.minimal_bounds(*nodes) if all(n in order for n in nodes) else None
