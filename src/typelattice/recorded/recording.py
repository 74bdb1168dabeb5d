"""A recording: the answers of a library, as a JSON Lines file that people can read (docs/recordings.md).

    ["add", "int8 int8:0d", {"int16": "uint8 uint8:0d", "float64": "*"}]

An operation is found by its lines, and only these are decoded: one answer takes microseconds. The recording
of an older release names its base and has only the answers that differ from it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice, product
from math import prod
from typing import Any, NoReturn

from typelattice.disk.read import FileError, read_bytes
from typelattice.disk.write import write_text
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.frozen_classes import field, frozen
from typelattice.facts.operations import NAMES
from typelattice.facts.releases import SIGN
from typelattice.facts.suggestions import clipped, nearest, short
from typelattice.recorded.answers import LACKED, SEPARATOR, answer_of, outline, split_message

# By os.path: importing pathlib costs as much as all else here.
RECORDINGS = os.path.join(os.path.dirname(__file__), "recordings")
FOREIGN = "foreign"  # the folder for recordings of foreign arrays among a library's own
ENDING = ".jsonl"
FORMAT = 3
REST = "*"  # in a row: the other operands of the operation
LACKED_NAME = f"{LACKED[0]}{SEPARATOR}lacked"
LIMIT_BYTES = 20_000_000  # ten times the largest so far
LIMIT_CALLS = 5_000_000
LIMIT_CHAIN = 4  # operations that answer like one another, as `+=` like `+`
NEAREST = 3  # operations that are tried as the one that another answers like
MANY = 3  # operands, beyond pairs, of calls drawn at random
KEPT = 64  # recordings kept in memory
KEPT_OPERATIONS = 512  # operations kept decoded

Operands = tuple[str, ...]
Answers = dict[Operands, str]
"""The answers of an operation by their operands; an exception stands by the name of its message."""


class RecordingError(TypelatticeError, ValueError):
    """A recording that cannot be read, or a call that is not in it."""


@frozen()
class Call:
    """A call and its answer as strings; with the message of an exception, if the recording has it."""

    op: str
    operands: Operands
    answer: str
    message: str = ""

    @property
    def question(self) -> str:
        """Write the call alone: `add(int8, uint8)`."""
        return f"{self.op}({', '.join(self.operands)})"

    def __str__(self) -> str:
        return f"{self.question} = {self.answer}"


@frozen()
class Row:
    """A line as it stands in the file: operands for each place but the last, then the last ones by answer."""

    before: tuple[str, ...]
    answers: Mapping[str, str]


@frozen(slots=False)
class Section:
    """The lines of one operation, those for calls of fewer operands first.

    Calls of two operands answer as those of the operation `like`, unless a row says otherwise; with `among`,
    only calls of these operands.
    """

    rows: tuple[Row, ...] = ()
    like: str = ""
    among: Operands = ()

    @cached_property
    def firsts(self) -> tuple[str, ...]:
        """The operands that `*` stands for: those with calls in pairs in the rows."""
        return tuple(o for row in self.rows if len(row.before) == 1 for o in row.before[0].split(" "))

    @cached_property
    def _of_first(self) -> Mapping[str, Sequence[Row]]:
        """Map the first operand of pairs to the rows with calls of it."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            for o in row.before[0].split(" ") if len(row.before) == 1 else ():
                found.setdefault(o, []).append(row)
        return found

    def find(self, operands: Operands) -> str | None:
        """Find the answer to a call among the rows."""
        *before, last = operands
        for row in self._of_first.get(before[0], ()) if len(before) == 1 else self.rows:
            if len(row.before) != len(before):
                continue
            if len(before) == 1 or all(o in t.split(" ") for o, t in zip(before, row.before, strict=True)):
                for kept, text in row.answers.items():
                    if last in text and last in text.split(" "):
                        return kept
                if REST in row.answers.values() and last in self.firsts:
                    return next(kept for kept, text in row.answers.items() if text == REST)
        return None

    def calls(self) -> Iterator[tuple[Row, Operands, str]]:
        """List the calls of the rows with their answers, each with its row."""
        for row in self.rows:
            last = {o: kept for kept, text in row.answers.items() if text != REST for o in text.split(" ")}
            rest = [kept for kept, text in row.answers.items() if text == REST]
            last |= dict.fromkeys((o for o in self.firsts if o not in last), rest[0]) if rest else {}
            for before in product(*(text.split(" ") for text in row.before)):
                for operand, kept in last.items():
                    yield row, (*before, operand), kept

    def count(self, row: Row) -> int:
        """Count the calls of a row without listing them."""
        lasts = [self.firsts if text == REST else text.split(" ") for text in row.answers.values()]
        return sum(map(len, lasts)) * prod(len(text.split(" ")) for text in row.before)


NO_SECTION = Section()
HEAD: Mapping[str, type] = {
    "library": str, "versions": dict, "python": str, "date": str, "how": str, "operands": list, "seed": int,
}  # fmt: skip
HEAD_ON_BASE: Mapping[str, type] = {
    "library": str, "versions": dict, "python": str, "date": str, "how": str,
    "base": str, "digest": str, "lacks": dict, "reworded": dict,
}  # fmt: skip
WORDS = {str: "a string", int: "an integer", dict: "an object", list: "a list"}


@frozen(eq=False, slots=False)
class Recording:
    """A library's answers.

    `head` is the first line of the file, `own_errors` has the messages of exceptions by their names,
    `lines` holds the rows, from the file's line `start` on. `base` is the recording that this one rests on.
    """

    head: Mapping[str, Any]
    own_errors: Mapping[str, str]
    lines: str = field(repr=False)
    source: str
    base: Recording | None = None
    start: int = 1

    @classmethod
    def load(cls, name: str | os.PathLike[str]) -> Recording:
        """Read the recording of a name, or the file at a path that ends in .jsonl. Raises RecordingError."""
        path = str(name)
        if not path.endswith(ENDING):
            known = recorded()
            if path not in known:
                there = nearest(path, known) or f"; there are {', '.join(known) or 'none'}"
                what = f"there is no recording {short(path)}{there}"
                raise RecordingError(f"{what}; a path ends in {ENDING}")
            path = os.path.join(RECORDINGS, f"{name}{ENDING}")
        found = _read(path, "record it again")
        _check(found)
        return found

    @property
    def library(self) -> str:
        return str(self.head["library"])

    @property
    def versions(self) -> Mapping[str, str]:
        versions: Mapping[str, str] = self.head["versions"]
        return versions

    @property
    def python(self) -> str:
        return str(self.head["python"])

    @property
    def date(self) -> str:
        return str(self.head["date"])

    @property
    def how(self) -> str:
        return str(self.head["how"])

    @property
    def seed(self) -> int:
        return self.base.seed if self.base else int(self.head["seed"])

    @cached_property
    def operands(self) -> tuple[str, ...]:
        return self.base.operands if self.base else tuple(self.head["operands"])

    @cached_property
    def known(self) -> frozenset[str]:
        """The operands as a set."""
        return frozenset(self.operands)

    @cached_property
    def errors(self) -> Mapping[str, str]:
        """The messages of exceptions by their names, those of the base included."""
        if self.base is None:
            return self.own_errors
        return {
            **self.base.errors, **self.head["reworded"], LACKED_NAME: LACKED[1], **self.own_errors,
        }  # fmt: skip

    @cached_property
    def operations(self) -> tuple[str, ...]:
        """The operations in the order of the file. Raises RecordingError where one stands in two places."""
        if self.base:
            return self.base.operations
        return tuple(self.sections_own())

    def sections_own(self) -> dict[str, int]:
        """Map each operation with lines in this file to its first line."""
        found: dict[str, int] = {}
        last = None
        for number, line in enumerate(self.lines.split("\n")[1:-1], self.start):
            row = _parse(line, self, number)
            if not isinstance(row, list) or len(row) < 2 or not isinstance(row[0], str):
                _fault(self, number, "is no [operation, operands …, answers]")
            if row[0] != last and row[0] in found:
                _fault(self, number, f"the lines of {short(row[0])} do not stand together")
            last = row[0]
            found.setdefault(last, number)
        return found

    @cached_property
    def lacks(self) -> tuple[frozenset[str], frozenset[str]]:
        """The operations and the operands of the base that this release lacks."""
        lacks = self.head.get("lacks", {})
        return frozenset(lacks.get("operations", ())), frozenset(lacks.get("operands", ()))

    def is_lacking(self, op: str, operands: Operands) -> bool:
        """Tell whether this release lacks the operation or an operand of a call."""
        operations, of_operands = self.lacks
        return op in operations or not of_operands.isdisjoint(operands)

    def kept(self, op: str, operands: Operands) -> str | None:
        """Find the answer to a call, with the name of its message; None if nobody asked."""
        if self.base and self.is_lacking(op, operands):
            return None if self.base.kept(op, operands) is None else LACKED_NAME
        section = _section(self, op, min(len(operands), MANY))
        found = section.find(operands)
        if found is not None:
            return found
        if section.like and len(operands) == 2:
            among = not section.among or {*operands} <= {*section.among}
            return self.kept(section.like, operands) if among else None
        return self.base.kept(op, operands) if self.base else None

    def answers(self, op: str) -> Mapping[Operands, str]:
        """Map the operands of every call of an operation to its answer, as `kept` gives it."""
        return _answers(self, op)

    def call(self, op: str, operands: Operands) -> Call | None:
        """Find a call with its answer and message; None if nobody asked it."""
        kept = self.kept(op, operands)
        return None if kept is None else Call(op, operands, *split_message(kept, self.errors))

    def calls(self, every: int = 1) -> Iterator[Call]:
        """List the calls with their answers; for a sample, one of `every` so many."""
        split = lru_cache(None)(lambda kept: split_message(kept, self.errors))
        number = 0
        for op in self.operations:
            for operands, kept in self.answers(op).items():
                if number % every == 0:
                    yield Call(op, operands, *split(kept))
                number += 1

    def calls_of(self, op: str, every: int = 1) -> Iterator[Call]:
        """List the calls of one operation with their answers; for a sample, one of `every` so many."""
        for operands, kept in islice(self.answers(op).items(), 0, None, every):
            yield Call(op, operands, *split_message(kept, self.errors))

    def answer(self, op: str, *operands: str) -> str:
        """Give the library's answer to one call; RecordingError if nobody asked it."""
        kept = self.kept(op, operands)
        if kept is None:
            raise RecordingError(f"{self.library} was not asked {op}({', '.join(operands)})")
        return answer_of(kept)

    @cached_property
    def digest(self) -> str:
        """A short text that changes with the questions and answers of this recording."""
        from hashlib import sha256  # takes longer to load than an answer takes to be found

        beneath = self.base.digest if self.base else ""
        text = f"{beneath}{self.head.get('lacks')}{self.operands}{self.lines}"
        return sha256(text.encode()).hexdigest()[:16]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, so that a changed answer is a changed line. Raises FileError."""
        messages = (_line({"error": name, "message": text}) for name, text in self.own_errors.items())
        write_text(path, "".join((_line({"format": FORMAT, **self.head}), *messages, self.lines[1:])))

    def whole(self) -> Recording:
        """Give the same recording without a base."""
        head = {key: self.head[key] for key in HEAD if key in self.head}
        head |= {"operands": [*self.operands], "seed": self.seed}
        return encode(head, self.errors, {op: self.answers(op) for op in self.operations})

    def on_base(self, name: str) -> Recording:
        """Give the same recording as its differences from one that comes along. Raises RecordingError."""
        base = Recording.load(name)
        operations, operands = _absent(self)
        reworded = _reworded(self, base)
        words = {**base.errors, **reworded}
        known = {split_message(kept, words): kept for kept in reversed(words)}
        errors: dict[str, str] = {}
        lines: list[str] = []
        for op in base.operations:
            theirs, ours = base.answers(op), self.answers(op)
            changed = Answers()
            for o, before in theirs.items():
                lacked = op in operations or not operands.isdisjoint(o)
                now = split_message(ours[o], self.errors)
                if not _differ(now, LACKED if lacked else split_message(before, words)):
                    continue
                if now not in known:
                    number = len(base.errors) + len(errors) + 1
                    known[now] = f"{now[0]}{SEPARATOR}{number}" if now[1] else now[0]
                    errors |= {known[now]: now[1]} if now[1] else {}
                changed[o] = known[now]
            lines += _rows(op, changed)
        head = {key: self.head[key] for key in HEAD if key in HEAD_ON_BASE}
        head |= {"base": name, "digest": base.digest, "reworded": reworded}
        head["lacks"] = {
            "operations": sorted(operations), "operands": [o for o in base.operands if o in operands],
        }  # fmt: skip
        return Recording(head, errors, "\n" + "".join(lines), name, base)


def recorded() -> tuple[str, ...]:
    """List the names of the recordings that come along."""
    files = os.listdir(RECORDINGS)
    return tuple(sorted(file.removesuffix(ENDING) for file in files if file.endswith(ENDING)))


@lru_cache(KEPT)
def opened(name: str) -> Recording | None:
    """Open a recording that comes along; None if there is none of that name. Raises RecordingError."""
    path = os.path.join(RECORDINGS, f"{name}{ENDING}")
    advice = f"install typelattice again, or record {name} again"
    return _read(path, advice) if os.path.isfile(path) else None


def encode(
    head: Mapping[str, Any], errors: Mapping[str, str], found: Mapping[str, Mapping[Operands, str]]
) -> Recording:
    """Make a recording of answers by their operations and operands."""
    lines: list[str] = []
    pairs: dict[str, Mapping[Operands, str]] = {}  # of two operands, by operation
    chain = Counter[str]()
    for op in sorted(found, key=_is_operator):  # a function stands above its operators
        best, of = _rows(op, found[op], rest=True), ""
        pairs[op] = {o: kept for o, kept in found[op].items() if len(o) == 2}
        among = [o for o in head["operands"] if (o, o) in pairs[op]]
        if among and pairs[op].keys() == {*product(among, among)}:
            for like in _nearest(op, pairs, chain):
                changed = {o: k for o, k in found[op].items() if len(o) != 2 or pairs[like][o] != k}
                every = len(pairs[op]) == len(pairs[like])
                form = [_line([op, like, REST if every else " ".join(among)]), *_rows(op, changed)]
                if sum(map(len, form)) < sum(map(len, best)):
                    best, of = form, like
        chain[op] = chain[of] + 1
        lines += best
    return Recording(head, errors, "\n" + "".join(lines), str(head["library"]), None, len(errors) + 2)


def _nearest(op: str, pairs: Mapping[str, Mapping[Operands, str]], chain: Mapping[str, int]) -> list[str]:
    """List the operations above whose calls of two operands answer most like those of an operation."""
    ours = pairs[op]
    differing = {
        other: sum(theirs[o] != kept for o, kept in ours.items())
        for other, theirs in pairs.items()
        if other != op and chain[other] < LIMIT_CHAIN and ours.keys() <= theirs.keys()
    }
    return sorted(differing, key=differing.__getitem__)[:NEAREST]


def _is_operator(op: str) -> bool:
    return op in NAMES and NAMES[op].is_operator


def _rows(op: str, found: Mapping[Operands, str], rest: bool = False) -> list[str]:
    """Write answers as lines: operands with equal answers share one; with `rest`, `*` ends whole rows."""
    rows: dict[Operands, dict[str, str]] = {}
    for operands in sorted(found, key=len):
        rows.setdefault(operands[:-1], {})[operands[-1]] = found[operands]
    firsts = {before[0] for before in rows if len(before) == 1}
    alike: dict[tuple[object, ...], list[Operands]] = {}
    for before, answers in rows.items():
        # Calls of three operands and more were drawn at random: they hardly ever share a row.
        alike.setdefault((before if len(before) > 1 else len(before), *answers.items()), []).append(before)
    lines = []
    for members in alike.values():
        answers = rows[members[0]]
        last: dict[str, list[str]] = {}
        for operand, kept in answers.items():
            last.setdefault(kept, []).append(operand)
        texts = {kept: " ".join(operands) for kept, operands in last.items()}
        if rest and len(members[0]) == 1 and answers.keys() == firsts:
            most = max(texts, key=lambda kept: len(texts[kept]))
            texts = {kept: text for kept, text in texts.items() if kept != most} | {most: REST}
        before = members[0] if len(members) == 1 else (" ".join(m[0] for m in members),)
        lines.append(_line([op, *before, texts]))
    return lines


def _line(value: object) -> str:
    return json.dumps(value) + "\n"


def _absent(of: Recording) -> tuple[set[str], set[str]]:
    """Collect the operations and operands that a release lacks, so it was not asked about them."""
    planned: tuple[set[str], set[str]] = set(), set()
    asked: tuple[set[str], set[str]] = set(), set()
    lacked = {kept for kept in of.errors if split_message(kept, of.errors) == LACKED}
    for op in of.operations:
        for operands, kept in of.answers(op).items():
            for operations, of_operands in (planned,) if kept in lacked else (planned, asked):
                operations.add(op)
                of_operands.update(operands)
    return planned[0] - asked[0], planned[1] - asked[1]


def _differ(now: tuple[str, str], before: tuple[str, str]) -> bool:
    """Compare an answer and its message with those of the base.

    A message that only one of them kept is no change. Nor is one that leaves out more of what varies.
    """
    (answer, message), (other, earlier) = now, before
    if answer != other:
        return True
    return bool(message and earlier) and message not in (earlier, outline(earlier))


def _reworded(of: Recording, base: Recording) -> dict[str, str]:
    """Map the exceptions of a base to their commonest message in a release that words them otherwise."""
    said: dict[str, Counter[str]] = {}
    for op in base.operations:
        ours = of.answers(op)
        for operands, before in base.answers(op).items():
            now, (other, earlier) = split_message(ours[operands], of.errors), base_words(base, before)
            if now[1] and earlier and now[0] == other and now != LACKED:
                said.setdefault(before, Counter())[now[1]] += 1
    found = {kept: words.most_common(1)[0][0] for kept, words in said.items()}
    return {
        kept: words for kept, words in found.items() if _differ((kept, words), (kept, base.errors[kept]))
    }


def base_words(base: Recording, kept: str) -> tuple[str, str]:
    return split_message(kept, base.errors)


# -- reading


def _read(path: str, advice: str) -> Recording:
    """Read the head and the messages of a file; the rows stay text. Raises RecordingError."""
    try:
        data = read_bytes(path, LIMIT_BYTES + 1)
        text = data.decode("utf-8")
    except FileError as error:
        raise RecordingError(str(error)) from error
    except UnicodeDecodeError as error:
        raise RecordingError(f"{path} is not UTF-8 at byte {error.start}") from error
    if len(data) > LIMIT_BYTES:
        raise RecordingError(f"{path} is larger than {LIMIT_BYTES:,} bytes")
    source = f"{path}\0{advice}"
    begin = text.find("\n[") + 1 or len(text)
    above = text[:begin].rstrip("\n").split("\n")
    draft = Recording({}, {}, "\n", source)
    head = _parse(above[0], draft, 1)
    if not isinstance(head, dict) or "format" not in head:
        _fault(draft, 1, "is no head of a recording, an object with a `format`")
    if head["format"] != FORMAT:
        _fault(draft, 1, f"format is {_shown(head['format'])}, this version reads {FORMAT}")
    _check_head(head, draft)
    try:
        told = json.loads(f"[{','.join(above[1:])}]")
        errors = {each["error"]: each["message"] for each in told}
    except (ValueError, TypeError, LookupError, RecursionError):
        for number, line in enumerate(above[1:], 2):
            _check_message(_parse(line, draft, number), draft, number)
        _fault(draft, 2, "and those below are no messages")
    base = None
    if "base" in head:
        base = None if SIGN in head["base"] else opened(head["base"])
        if base is None:
            _fault(draft, 1, f"base: {_shown(head['base'])} is no recording that comes along")
    del head["format"]
    if not text.endswith("\n"):
        _fault(draft, text.count("\n") + 1, "does not end: the file was cut")
    return Recording(head, errors, "\n" + text[begin:], source, base, len(above) + 1)


def _check_head(head: Mapping[str, Any], of: Recording) -> None:
    """Refuse a head whose keys are missing or of other types."""
    for key, sort in (HEAD_ON_BASE if "base" in head else HEAD).items():
        if type(head.get(key)) is not sort:
            what = f"{_shown(head[key])} is not {WORDS[sort]}" if key in head else "is missing"
            _fault(of, 1, f"{key}: {what}")
    for key in ("versions", "reworded"):
        for name, value in head.get(key, {}).items():
            if not isinstance(value, str):
                _fault(of, 1, f"{key}.{short(name)[1:-1]}: {_shown(value)} is not a string")
    for key in ("operands", "lacks.operations", "lacks.operands"):
        _check_names(head, key, of)


def _check_names(head: Mapping[str, Any], key: str, of: Recording) -> None:
    """Refuse a list that holds anything but strings, or one twice."""
    value: Any = head
    for part in key.split("."):
        if part not in value:
            if value is head:
                return
            _fault(of, 1, f"{key}: is missing")
        value = value[part]
    if not isinstance(value, list):
        _fault(of, 1, f"{key}: is not a list")
    seen: set[str] = set()
    for number, name in enumerate(value, 1):
        if not isinstance(name, str) or name in seen:
            what = "occurs twice" if isinstance(name, str) else "is not a string"
            _fault(of, 1, f"{key}, entry {number}: {_shown(name)} {what}")
        seen.add(name)


def _check_message(message: object, of: Recording, number: int) -> None:
    """Refuse a line above the rows that is not the message of an exception."""
    words = message.values() if isinstance(message, dict) and message.keys() == {"error", "message"} else ()
    if not words or not all(isinstance(word, str) for word in words):
        _fault(of, number, 'is neither {"error": …, "message": …} nor a row')


@lru_cache(KEPT_OPERATIONS)
def _section(recording: Recording, op: str, most: int = MANY) -> Section:
    """Decode the lines of one operation, those for calls of up to `most` operands. Raises RecordingError."""
    lines, start = recording.lines, f"[{json.dumps(op)}, "
    first = end = lines.find("\n" + start)
    if first < 0:
        return NO_SECTION
    while lines.startswith(start, end + 1):
        end = lines.find("\n", end + 1)
    rows, like, among, last = list[Row](), "", Operands(), 0
    start_line = recording.start + lines.count("\n", 0, first)
    for number, line in enumerate(lines[first + 1 : end].split("\n"), start_line):
        _, *before, answers = row = _parse(line, recording, number)
        if not rows and not like and isinstance(answers, str) and len(row) == 3:
            like, among = before[0], () if answers == REST else tuple(answers.split(" "))
            continue
        if not isinstance(answers, dict):
            _fault(recording, number, "does not end in an object of answers")
        if len(before) >= most < MANY:
            break
        for text in (*before, *answers.values()):
            if not isinstance(text, str):
                _fault(recording, number, f"{_shown(text)} is not a string of operands")
        if len(before) < last:
            _fault(recording, number, "stands below calls of more operands")
        last = len(before)
        rows.append(Row(tuple(before), answers))
    return Section(tuple(rows), like, among)


@lru_cache(32)  # most operations answer like another, which answers like a third
def _answers(recording: Recording, op: str) -> Mapping[Operands, str]:
    """Decode the answers to every call of an operation."""
    section, found = _section(recording, op), Answers()
    if recording.base:
        theirs = _answers(recording.base, op).items()
        found = {o: LACKED_NAME if recording.is_lacking(op, o) else kept for o, kept in theirs}
    if section.like:
        among = frozenset(section.among)
        theirs = _answers(recording, section.like).items()
        found |= {o: kept for o, kept in theirs if len(o) == 2 and (not among or among.issuperset(o))}
    found |= {operands: kept for _, operands, kept in section.calls()}
    return found


def _check(of: Recording) -> None:
    """Check every line. Raises RecordingError for the first that is wrong."""
    if of.base:
        _check_head_on_base(of, of.base)
    for number, (name, message) in enumerate(of.own_errors.items(), 2):
        _check_message({"error": name, "message": message}, of, number)
    calls, chain = 0, Counter[str]()
    for op, number in of.sections_own().items():
        section = _section(of, op)
        if section.like and not chain[section.like]:
            _fault(of, number, f"{_shown(section.like)} is no operation above it")
        if of.base and op not in of.base.operations:
            _fault(of, number, f"{_shown(op)} is no operation of the recording that it rests on")
        chain[op] = chain[section.like] + 1
        calls += sum(map(section.count, section.rows)) + (len(of.operands) ** 2 if section.like else 0)
        if calls > LIMIT_CALLS or chain[op] > LIMIT_CHAIN:
            chained = f"{LIMIT_CHAIN} operations in a chain"
            _fault(of, number, f"is beyond {f'{LIMIT_CALLS:,} calls' if calls > LIMIT_CALLS else chained}")
        _check_rows(of, op, section, number + bool(section.like))


def _check_rows(of: Recording, op: str, section: Section, first: int) -> None:
    """Check the operands and answers of an operation, whose rows begin at the file's line `first`."""
    place = {id(row): number for number, row in enumerate(section.rows, first)}
    for name in section.among:
        if name not in of.known:
            _fault(of, first - 1, f"there is no operand {_shown(name)}")
    theirs = of.base.answers(op) if of.base else {}
    seen: set[Operands] = set()
    for row, operands, kept in section.calls():
        question = f"{op}({', '.join(operands)})"
        if not of.known.issuperset(operands):
            name = next(o for o in operands if o not in of.known)
            _fault(of, place[id(row)], f"there is no operand {_shown(name)}")
        if operands in seen:
            _fault(of, place[id(row)], f"{question} occurs twice")
        if of.base and operands not in theirs:
            _fault(of, place[id(row)], f"the base was not asked {question}")
        if SEPARATOR in kept and kept not in of.errors:
            _fault(of, place[id(row)], f"there is no message {_shown(kept)}")
        seen.add(operands)


def _check_head_on_base(of: Recording, base: Recording) -> None:
    if of.head["digest"] != base.digest:
        _fault(of, 1, f"digest: the recording {of.head['base']} that it rests on is another by now")
    for key, asked in (("operations", base.operations), ("operands", base.operands)):
        for number, name in enumerate(of.head["lacks"][key], 1):
            if name not in asked:
                _fault(of, 1, f"lacks.{key}, entry {number}: the base was not asked of {_shown(name)}")
    for kept in of.head["reworded"].keys() - base.errors.keys():
        _fault(of, 1, f"reworded.{short(kept)[1:-1]}: is no exception of the recording that it rests on")


def _parse(line: str, of: Recording, number: int) -> Any:
    """Read a line of JSON. Raises RecordingError."""
    try:
        return json.loads(line)
    except RecursionError:
        _fault(of, number, "is nested too deep")
    except json.JSONDecodeError as error:
        _fault(of, number, f"is not JSON: column {error.colno}: {error.msg}")
    except ValueError:  # Python reads no integers of more than 4,300 digits
        _fault(of, number, "has a number of too many digits")


def _fault(of: Recording, number: int, what: str) -> NoReturn:
    path, _, advice = of.source.partition("\0")
    raise RecordingError(f"{path}: line {number}: {what}; {advice or 'record it again'}")


def _shown(value: object) -> str:
    return short(value) if isinstance(value, str) else clipped(repr(value), 40)
