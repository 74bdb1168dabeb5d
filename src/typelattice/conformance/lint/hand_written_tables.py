"""Promotion tables that others keep by hand, read without running them and compared with a system.

A *form* says where the table is in a file, and what its words mean. There are three kinds. A `grid` has a row
and a column for each dtype. In `pairs` each entry names two dtypes and a result. `covers` maps each dtype to
those directly above it.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement, product
from typing import Any

from typelattice.base.disk.read import read_bytes
from typelattice.base.errors.error_texts import clip_text, quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DTYPE_BY_CODE, DTYPES
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.core.system_files.system_text import SystemText
from typelattice.core.system_files.value_reader import KIND_BY_LETTER

MAX_FILE_BYTES = 10_000_000
TABLE_KINDS = ("grid", "pairs", "covers")
FORM_KEYS = (
    "kind", "after", "axis", "comments", "entry", "guard", "symmetric", "names", "refused", "skip", "before",
)  # fmt: skip
COMMENT_PATTERN_BY_STYLE = {  # language, as a form names it -> its comments
    "c": r"/\*.*?\*/|//[^\n]*",
    "python": r"#[^\n]*",
    "none": r"(?!)",
}
CLOSING_BRACKET_BY_OPENING = {"{": "}", "[": "]", "(": ")"}
REFUSED_WORD = "refused"
WEAK_MARK = "*"  # ends the name of a weak node
WILDCARD_WORD = "_"


class LintError(TypelatticeError, ValueError):
    """A form that cannot be read, or a table that is not at the place in the form."""


@dataclass(frozen=True, slots=True)
class TableForm:
    """The place of a table and the meaning of its words; the fields are the keys of the file.

    `after` is the text just before the table. `entry` is a regular expression with the groups left, right and
    result. `names` maps words of the table to dtypes. `refused` lists the words for a refusal, `skip` those
    that are not dtypes. `before` has pairs that the code answers before it uses the table, such as
    `"bool + int8" = "refused"`. `source` is the file, for the lines of mistakes.
    """

    kind: str
    after: str = ""
    axis: tuple[str, ...] = ()
    comments: str = "c"
    entry: str = ""
    guard: str = ""
    symmetric: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    source: SystemText | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StatedCell:
    """The result that a table states for two dtypes, and the line; `result` is None for a refusal.

    The result of an order may be a weak node such as `f*`. If `is_symmetric`, the cell holds for both orders
    of the operands.
    """

    left: str
    right: str
    result: str | None
    line: int
    is_symmetric: bool = False


@dataclass(frozen=True, slots=True)
class CellDifference:
    """A cell that differs from the system's answer; `observed` is the library's recorded answer."""

    cell: StatedCell
    expected: str | None
    observed: str
    rule: str

    def __str__(self) -> str:
        s = self.cell
        said = f"{s.left} with {s.right} is {s.result or REFUSED_WORD}"
        said = f"{said}; {self.expected or REFUSED_WORD} by {self.rule}"
        return f"{said}{f', {self.observed}' if self.observed else ''}"


@dataclass(slots=True)
class LintResult:
    """The result of a comparison: the number of compared cells, those that differ, and the unread ones."""

    compared_count: int = 0
    differences: list[CellDifference] = field(default_factory=list)
    unread_cells: list[tuple[int, str]] = field(default_factory=list)


def read_form(path: str) -> TableForm:
    """Read the form of a table. Raises LintError, FileError."""
    try:
        text = read_bytes(path, MAX_FILE_BYTES).decode("utf-8")
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise LintError(f"{path}: {e}") from None
    source = SystemText(path, text)
    for key in found:
        if key not in FORM_KEYS:
            near = spelling_hint(key, FORM_KEYS)
            cause = f"unknown key {quote_short(key)}{near}; keys are {', '.join(FORM_KEYS)}"
            raise LintError(f"{name_place(source, key)}: {cause}")
    if str(found.get("kind")) not in TABLE_KINDS:
        raise LintError(
            f"{path}: kind is one of {', '.join(TABLE_KINDS)}"
            f"{spelling_hint(str(found.get('kind')), TABLE_KINDS)}"
        )
    for key in ("names", "before"):
        if not isinstance(found.get(key, {}), dict):
            raise LintError(f"{path}: {key} is a table, with lines such as u1 = \"uint8\"")
    for key in ("axis", "refused", "skip"):
        if isinstance(found.get(key), str):
            found[key] = found[key].split()
        listed = found.get(key, [])
        if not isinstance(listed, list):
            raise LintError(f"{path}: {key} is a text of words, or a list of them")
        found[key] = tuple(listed)
    form = TableForm(**found, source=source)
    _check_form(path, form)
    return form


def name_place(source: SystemText | None, key: str, entry: str | None = None) -> str:
    """Return the file of a key of a form, its line, and the table that an entry stands in."""
    table = f", {key}" if entry is not None else ""
    if source is None:
        return key
    found = source.positions.find_position(*[key] if entry is None else [key, entry])
    return f"{source.file}, line {found.line}{table}" if found else f"{source.file}{table}"


def _check_form(path: str, form: TableForm) -> None:
    texts = (form.after, form.comments, form.entry, form.guard, *form.axis, *form.refused, *form.skip)
    pairs = (*form.names.items(), *form.before.items())
    if not all(isinstance(x, str) for x in (*texts, *(x for pair in pairs for x in pair))):
        raise LintError(f"{path}: every key but symmetric takes strings, or tables of strings")
    if form.comments not in COMMENT_PATTERN_BY_STYLE:
        raise LintError(
            f"{path}: comments is one of {', '.join(COMMENT_PATTERN_BY_STYLE)}"
            f"{spelling_hint(form.comments, COMMENT_PATTERN_BY_STYLE)}"
        )
    if form.kind == "pairs":
        try:
            groups = {*re.compile(form.entry).groupindex}
            re.compile(form.guard)
        except re.error as e:
            raise LintError(f"{path}: entry or guard is no regular expression: {e}") from None
        if not groups >= {"left", "right", "result"}:
            raise LintError(f"{path}: entry is a regular expression with the groups left, right and result")


def lint_table(
    path: str,
    form: TableForm,
    system: System,
    allowed_differences: Mapping[str, str] | None = None,
    allowed_source: SystemText | None = None,
) -> LintResult:
    """Compare the table of a file with a system. `allowed_differences` are by "left + right".

    `allowed_source` is their file, for the lines of mistakes.

    Raises LintError if the table is not found or a name is not a dtype, FileError.
    """
    for word, name in form.names.items():
        if name not in DTYPES and not name.endswith("*"):
            try:
                system.operand(name)
            except TypelatticeError as e:
                raise LintError(f"{name_place(form.source, 'names', word)}: {e}") from None
    form = replace(form, names={**{name: str(d) for name, d in system.custom_dtypes.items()}, **form.names})
    data = read_bytes(path, MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise LintError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes; give the part that has the table")
    found = LintResult()
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
    cells = set()
    for stated in _READER_BY_TABLE_KIND[form.kind](path, text, form, found):
        cells |= {f"{stated.left} + {stated.right}", f"{stated.right} + {stated.left}"}
        _compare_cell(stated, form, system, allowed_differences or {}, found)
    if not found.compared_count:
        unread = next((f" line {line}, {what}, is not read;" for line, what in found.unread_cells), "")
        what = f"the form reads no cell of dtypes that {system.name} has;{unread}"
        raise LintError(f"{path}: {what} look at `names`")
    for key, given, source in (
        ("before", form.before, form.source),
        ("allow", allowed_differences or {}, allowed_source),
    ):
        if lost := [pair for pair in given if pair not in cells]:
            place = name_place(source, key, lost[0])
            cause = f"the table has no cell {quote_short(lost[0])}; it has 'a + b' of its dtypes"
            raise LintError(f"{place}: {cause}")
    return found


def _compare_cell(
    cell: StatedCell,
    form: TableForm,
    system: System,
    allowed_differences: Mapping[str, str],
    result: LintResult,
) -> None:
    before = form.before.get(f"{cell.left} + {cell.right}", form.before.get(f"{cell.right} + {cell.left}"))
    if before is not None:
        cell = replace(cell, result=None if before == REFUSED_WORD else before)
    if cell.result is not None and cell.result.endswith(WEAK_MARK):
        default = _default_of_weak_node(cell.result, system)
        if default is None:
            why = f"{cell.left} with {cell.right} is {cell.result}, which has no default in {system.name}"
            result.unread_cells.append((cell.line, why))
            return
        cell = replace(cell, result=default)
    has = {str(d) for d in system.dtypes}
    if not {cell.left, cell.right} <= has:
        result.unread_cells.append(
            (cell.line, f"{cell.left} with {cell.right}: {system.name} lacks one of them")
        )
        return
    result.compared_count += 1
    for left, right in [(cell.left, cell.right), (cell.right, cell.left)][: 1 + cell.is_symmetric]:
        p = system.explain(left, right)
        expected = str(p.dtype) if p.dtype is not None else None
        allowed = allowed_differences.get(f"{left} + {right}")
        if expected not in (cell.result, allowed) and allowed != (cell.result or REFUSED_WORD):
            _add_difference(replace(cell, left=left, right=right), p, system, result)
            return


def _default_of_weak_node(name: str, system: System) -> str | None:
    """Return the dtype that a weak node such as `f*` or `i32*` has without other operands, or None."""
    word = name.removesuffix(WEAK_MARK)
    known = {**system.custom_dtypes, **DTYPE_BY_CODE, **DTYPES}
    if word in known and word not in KIND_BY_LETTER:
        return str(known[word])
    default = system.defaults.get(KIND_BY_LETTER[word]) if word in KIND_BY_LETTER else None
    return None if default is None else str(default)


def _add_difference(cell: StatedCell, p: Promotion, system: System, result: LintResult) -> None:
    """Add a cell that differs from the answer of the system."""
    expected = str(p.dtype) if p.dtype is not None else None
    seen = find_recorded_answer(p)
    never = "never asked" if system.library else ""
    answered = f"observed {seen.dtype or REFUSED_WORD}" if seen is not None else never
    result.differences.append(CellDifference(cell, expected, answered, str(p.rule)))


# -- the three kinds of tables


def _blank_comments(text: str, form: TableForm) -> str:
    """Return the text with its comments blanked, so that every position keeps its line."""
    flags = re.DOTALL if form.comments == "c" else 0
    return re.sub(
        COMMENT_PATTERN_BY_STYLE[form.comments], lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=flags
    )


def _find_bracket(path: str, text: str, form: TableForm) -> tuple[int, int]:
    """Find the start and the end of the contents of the first bracket behind `after`."""
    at = text.find(form.after)
    if at < 0:
        raise LintError(f"{path}: there is no {clip_text(form.after, 80)!r}, after which the table begins")
    at += len(form.after)
    while at < len(text) and text[at] not in CLOSING_BRACKET_BY_OPENING:
        at += 1
    stack: list[str] = []
    for end in range(at, len(text)):
        if text[end] in CLOSING_BRACKET_BY_OPENING:
            stack.append(CLOSING_BRACKET_BY_OPENING[text[end]])
        elif stack and text[end] == stack[-1]:
            stack.pop()
            if not stack:
                return at + 1, end
    where = f"{path}, line {_line_number(text, text.find(form.after))}"
    raise LintError(f"{where}: no bracket behind {clip_text(form.after, 80)!r} is opened and closed")


def _list_items(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield the items between commas, and where each begins; brackets within hold items together."""
    depth, begin = 0, start
    for at in range(start, end):
        if text[at] in CLOSING_BRACKET_BY_OPENING:
            depth += 1
        elif text[at] in CLOSING_BRACKET_BY_OPENING.values():
            depth -= 1
        elif text[at] == "," and depth == 0:
            yield text[begin:at], begin
            begin = at + 1
    if text[begin:end].strip():
        yield text[begin:end], begin


def _line_number(text: str, offset: int) -> int:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return text.count("\n", 0, offset) + 1


def _read_dtype(word: str, form: TableForm) -> str | None:
    """Return the dtype that a word means, or None."""
    word = word.strip().removeprefix("**").removesuffix("**").strip("\"'` ")
    if word in form.names or word in DTYPES:
        return form.names.get(word, word)
    return str(DTYPE_BY_CODE[word]) if word in DTYPE_BY_CODE and len(word) > 2 else None


def _read_cell(
    left: str, right: str, word: str, line: int, form: TableForm, result: LintResult
) -> Iterator[StatedCell]:
    """Yield a cell, nothing if a word is skipped, or a note if it cannot be read."""
    if {left.strip(), right.strip()} & {*form.skip}:
        return
    a, b = _read_dtype(left, form), _read_dtype(right, form)
    dtype = _read_dtype(word, form)
    is_refusal = word.strip().strip("\"'") in form.refused
    if a is None or b is None or (dtype is None and not is_refusal):
        result.unread_cells.append(
            (line, clip_text(f"{left.strip()} with {right.strip()} is {word.strip()}", 120))
        )
    else:
        yield StatedCell(a, b, None if is_refusal else dtype, line)


def _read_grid(path: str, text: str, form: TableForm, result: LintResult) -> Iterator[StatedCell]:
    if path.endswith((".csv", ".md")):
        yield from _read_rows(path, text, form, result)
        return
    plain = _blank_comments(text, form)
    if not form.axis:
        raise LintError(f"{path}: a grid needs `axis`, the words of its rows and columns in their order")
    rows = [*_list_items(plain, *_find_bracket(path, plain, form))]
    if len(rows) != len(form.axis):
        line = _line_number(plain, rows[0][1] if rows else 0)
        counts = f"the table has {len(rows)} rows, the axis {len(form.axis)} words"
        raise LintError(f"{path}, line {line}: {counts}")
    for left, (row, at) in zip(form.axis, rows, strict=True):
        start = next((i for i in range(at, at + len(row)) if plain[i] in CLOSING_BRACKET_BY_OPENING), -1)
        if start < 0:
            result.unread_cells.append((_line_number(plain, at), clip_text(row.strip(), 120)))
            continue
        cells = [*_list_items(plain, start + 1, at + len(row.rstrip()) - 1)]
        if len(cells) != len(form.axis):
            counts = f"the row has {len(cells)} cells, the axis {len(form.axis)} words"
            raise LintError(f"{path}, line {_line_number(plain, at)}: {counts}")
        for right, (word, where) in zip(form.axis, cells, strict=True):
            yield from _read_cell(left, right, word, _line_number(plain, where), form, result)


def _read_rows(path: str, text: str, form: TableForm, result: LintResult) -> Iterator[StatedCell]:
    """Yield a grid in CSV or Markdown. Its first row and first column name the dtypes."""
    numbered: Sequence[tuple[int, list[str]]]
    if path.endswith(".csv"):
        numbered = [(i, row) for i, row in enumerate(csv.reader(io.StringIO(text)), 1) if row]
    else:
        start = max(text.find(form.after), 0)
        lines = enumerate(text[start:].split("\n"), 1 + text.count("\n", 0, start))
        table = [(i, line.strip().strip("|").split("|")) for i, line in lines if line.strip().startswith("|")]
        numbered = [row for row in table if not all(set(cell.strip()) <= {*"-: "} for cell in row[1])]
    if not numbered:
        raise LintError(f"{path}: there is no table")
    (_, head), *rows = numbered
    for line, row in rows:
        if len(row) != len(head):
            raise LintError(f"{path}, line {line}: the row has {len(row)} cells, the first row {len(head)}")
        for right, word in zip(head[1:], row[1:], strict=True):
            yield from _read_cell(row[0], right, word, line, form, result)


def _read_pairs(path: str, text: str, form: TableForm, result: LintResult) -> Iterator[StatedCell]:
    """Yield entries such as match arms; the first that fits a pair counts, as for the compiler."""
    plain = _blank_comments(text, form)
    start, end = _find_bracket(path, plain, form) if form.after else (0, len(plain))
    answered: set[tuple[str, str]] = set()
    axis = [_read_dtype(word, form) for word in form.axis] or [*dict.fromkeys(form.names.values())]
    for m in re.finditer(form.entry, plain[start:end]):
        line = _line_number(plain, start + m.start())
        if form.guard and re.search(form.guard, m[0]):
            result.unread_cells.append((line, clip_text(" ".join(m[0].split()), 120)))
            continue
        sides = [
            [str(x) for x in axis] if word.strip() == WILDCARD_WORD else [word.strip()]
            for side in ("left", "right")
            for word in [m[side]]
        ]
        lefts, rights = ([w for word in side for w in word.split("|")] for side in sides)
        for left, right in product(lefts, rights):
            cells = [*_read_cell(left, right, m["result"], line, form, result)]
            a, b = str(_read_dtype(left, form)), str(_read_dtype(right, form))
            if (a, b) not in answered:  # an entry that cannot be read also hides those behind it
                answered |= {(a, b), (b, a)} if form.symmetric else {(a, b)}
                yield from (replace(each, is_symmetric=form.symmetric) for each in cells)


def _read_covers(path: str, text: str, form: TableForm, result: LintResult) -> Iterator[StatedCell]:
    """Yield a mapping from each dtype to those directly above it, joined as an order."""
    plain = _blank_comments(text, form)
    above: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    unknown: dict[str, int] = {}  # dtypes whose entry cannot be read: joins of those below them are unknown
    for item, at in _list_items(plain, *_find_bracket(path, plain, form)):
        key, words = _split_cover(item.strip())
        a, line = _read_dtype(key, form), _line_number(plain, at)
        upper_dtypes = [_read_dtype(word, form) for word in words]
        if a is None or None in upper_dtypes:
            result.unread_cells.append((line, clip_text(" ".join(item.split()), 120)))
        if a is None:
            continue
        if None in upper_dtypes:
            unknown[a] = line
        if a in above:
            raise LintError(f"{path}, line {line}: {a} stands in line {lines[a]} already; remove one")
        above[a], lines[a] = [b for b in upper_dtypes if b is not None], line
    covers = "; ".join(f"{a} -> {', '.join(upper)}" for a, upper in above.items() if upper)
    first = min(lines.values(), default=1)
    try:
        order: Order[Any] = Order.parse(covers)
    except ValueError as e:
        named = (line for a, line in lines.items() if re.search(rf"{re.escape(a)}(?![\w*])", str(e)))
        raise LintError(f"{path}, line {next(named, first)}: {e}") from None
    dtypes = [n for n in order.nodes if not n.endswith(WEAK_MARK)]
    for left, right in combinations_with_replacement(dtypes, 2):
        join = order.join(left, right)
        causes = [line for a, line in unknown.items() if _depends_on(order, left, right, join, a)]
        if causes:
            what = f"{left} with {right}, because of line {min(causes)}"
            result.unread_cells.append((lines.get(left, first), what))
            continue
        yield StatedCell(left, right, join, lines.get(left, first), is_symmetric=True)


def _depends_on(order: Order[Any], left: str, right: str, join: str | None, unknown: str) -> bool:
    """Return True if arrows from a dtype, which are not known, may change the join of two others."""
    if unknown not in order or join in (left, right) or (join is not None and order.le(join, unknown)):
        return False
    return order.le(left, unknown) or order.le(right, unknown)


def _split_cover(item: str) -> tuple[str, list[str]]:
    """Split an entry into a dtype and those above it: `a: [b, c]`, `a => &[b, c]` or `{a, {b, c}}`."""
    if item[:1] in CLOSING_BRACKET_BY_OPENING:
        key, *rest = (word for word, _ in _list_items(item, 1, len(item) - 1))
    else:
        key, *rest = re.split(r"=>|=|(?<!:):(?!:)", item, maxsplit=1)
    words: list[str] = []
    for part in rest:
        start = next((i for i in range(len(part)) if part[i] in CLOSING_BRACKET_BY_OPENING), -1)
        words += [part] if start < 0 else [w for w, _ in _list_items(part, start + 1, len(part.rstrip()) - 1)]
    return key, words


_READER_BY_TABLE_KIND = {"grid": _read_grid, "pairs": _read_pairs, "covers": _read_covers}


def make_sarif(path: str, result: LintResult) -> dict[str, object]:
    """Return the differences as SARIF 2.1, which code hosts show at the lines."""
    results = [
        {
            "ruleId": "promotion-table",
            "level": "error",
            "message": {"text": str(each)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": path},
                        "region": {"startLine": each.cell.line},
                    }
                }
            ],
        }
        for each in result.differences
    ]
    rules = [{"id": "promotion-table", "shortDescription": {"text": "a cell differs from the system"}}]
    driver = {"name": "typelattice lint", "rules": rules}
    return {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
