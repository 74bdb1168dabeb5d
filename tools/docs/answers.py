"""A page for each everyday question: `int64+float16`, `uint8+300`, `divide`; every library and release.

Each page shows the recorded answer of a library, or says that nobody asked it. The pages are plain HTML of
their own, beside those that Sphinx makes: a thousand take seconds, and each is a link to send to somebody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations_with_replacement, groupby
from pathlib import Path

import typelattice as tl
from typelattice.engine.answer import Promotion
from typelattice.explanations.recorded_answer import UNKNOWN_REASON, answer_words
from typelattice.explanations.sections import answer
from typelattice.facts.releases import SIGN, releases
from typelattice.facts.system_headings import LIBRARIES, heading_of, known_first
from typelattice.operands.notation import parse
from typelattice.recorded.observed import Observed, observed
from typelattice.recorded.unasked import lacking_of
from typelattice.study.tables import is_small

# JAX has every everyday dtype; those of less than 8 bits and small floats are few people's.
DTYPES = tuple(str(dtype) for dtype in tl.system("jax").dtypes if not is_small(dtype))
NUMBERS = ("1", "-1", "300", "100000", "2.5", "1e5", "1j")
SIGNS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%",
    "pow": "**", "maximum": "", "where": "", "concat": "", "matmul": "@", "equal": "==",
}  # fmt: skip
USUAL = "add"  # the operation of pages that name none
FIRST = 4  # libraries that the sentence at the top names
FOLDER = "answers"
RIGHT, DEPARTS, REFUSED = "by its rule", "departs", "refused"
UNASKED, LACKING = "never asked", "no such dtype"
LEGEND = (
    "<p><small>An answer without a word beside it was recorded, and agrees with the library's rule. "
    "<em>never asked</em>: the rule alone says so. <em>departs</em>: the library answers otherwise than its "
    "rule.</small></p>"
)
COLOURS = {RIGHT: "#1a7f37", DEPARTS: "#9a6700", REFUSED: "#b42318", UNASKED: "#57606a", LACKING: "#57606a"}


@dataclass(frozen=True, slots=True)
class Given:
    """What a release of a library gave: the answer, its status, and the words behind it."""

    release: str
    answer: str
    status: str
    call: str
    why: str
    rule: str


@dataclass(frozen=True, slots=True)
class Question:
    """An operation and its operands, as the name of the page writes them."""

    op: str
    operands: tuple[str, str]

    @property
    def path(self) -> str:
        """The page, from the folder of all: `int64+float16.html`, `divide/int64+float16.html`."""
        name = f"{'+'.join(self.operands)}.html"
        return name if self.op == USUAL else f"{self.op}/{name}"

    @property
    def title(self) -> str:
        first, second = self.operands
        sign = SIGNS[self.op]
        return f"{first} {sign} {second}" if sign else f"{self.op}({first}, {second})"


def questions() -> Iterator[Question]:
    """Each pair of everyday dtypes in each operation, and each dtype beside everyday Python numbers."""
    for op in SIGNS:
        for pair in combinations_with_replacement(DTYPES, 2):
            yield Question(op, pair)
    for dtype in DTYPES:
        for number in NUMBERS:
            yield Question(USUAL, (dtype, number))


def libraries() -> list[str]:
    """The systems of libraries that can be installed, those that most people know first."""
    names = [name for name in tl.systems() if heading_of(name) == LIBRARIES and tl.system(name).library]
    return known_first(names)


def asked(question: Question) -> dict[str, list[Given]]:
    """The answers of each library, newest release first; only the newest names the line of its rule."""
    found = {}
    for name in libraries():
        older = [f"{name}{SIGN}{release}" for release in releases(name)[:-1][::-1]]
        newest = releases(name)[-1] if releases(name) else ""
        found[name] = [_given(question, name, newest, with_rule=True)]
        found[name] += [_given(question, old, old.partition(SIGN)[2]) for old in older]
    return found


def _given(question: Question, name: str, release: str, with_rule: bool = False) -> Given:
    p = tl.system(name).explain(*map(parse, question.operands), op=question.op)
    o = observed(p)
    call = "" if o is None else f"{o.library}: {o.call.question}"
    rule = str(p.rule) if with_rule and p.rule and not lacking_of(p) else ""
    return Given(release, answer_words(o) if o else answer(p), _status(p, o), call, _why(p, o), rule)


def _status(p: Promotion, o: Observed | None) -> str:
    if o is None:
        return LACKING if lacking_of(p) else UNASKED
    return DEPARTS if o.departs else REFUSED if o.error else RIGHT


def _why(p: Promotion, o: Observed | None) -> str:
    """The reason of a refusal or of a departure, in the library's words where there are any."""
    if o is None:
        return p.reason or ""
    if o.departs:
        return f"its rule says {answer(p)}; {o.reason or UNKNOWN_REASON}"
    return o.error or ""


def sentence(found: Mapping[str, Sequence[Given]]) -> str:
    """The difference that matters: what the best known libraries answer, in their newest releases."""
    groups: dict[str, list[str]] = {}
    for name, (newest, *_) in [*found.items()][:FIRST]:
        said = f"{name} ({UNASKED})" if newest.status == UNASKED else name
        groups.setdefault(newest.answer, []).append(said)
    parts = [
        f"{_listed(names)} {_verb('refuse', names)}"
        if said == REFUSED
        else f"{_listed(names)} {_verb('give', names)} {said}"
        for said, names in sorted(groups.items(), key=lambda group: group[0] == REFUSED)
    ]
    return "; ".join(parts) + "."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _verb(verb: str, names: Sequence[str]) -> str:
    return verb if len(names) > 1 else f"{verb}s"


def page(question: Question, found: Mapping[str, Sequence[Given]]) -> str:
    """The page of a question."""
    up = "../" * question.path.count("/")
    rows = "".join(_row(name, releases_, up) for name, releases_ in found.items())
    operands = " ".join(question.operands)
    command = f"typelattice explain {operands}{'' if question.op == USUAL else f' --op {question.op}'}"
    body = (
        f"<p class=sum>{escape(sentence(found))}</p>"
        '<div class=scroll tabindex=0 role=region aria-label="answers"><table><thead><tr>'
        "<th scope=col>library<th scope=col>newest release<th scope=col>older releases"
        "<th scope=col>recorded call, reason, rule"
        f"</thead><tbody>{rows}</tbody></table></div>"
        f"{_others(question, up)}"
        f"<p>The same on a command line: <code>{escape(command)}</code></p>"
    )
    return html_page(question.title, sentence(found), body, up, question.path.replace(".html", ".svg"))


def _row(name: str, found: Sequence[Given], up: str) -> str:
    newest = found[0]
    parts = [part for part in (newest.call, newest.why, newest.rule) if part]
    older = []
    for (said, status), same in groupby(found[1:], key=lambda g: (g.answer, g.status)):
        named = [g.release for g in same]
        span = named[0] if len(named) == 1 else f"{named[-1]} to {named[0]}"
        older.append(f"{escape(span)}: {_chip(said, status)}")
    return (
        f'<tr><th scope=row><a href="{up}../gallery/{name}.html">{escape(name)}</a>'
        f"<br><small>{escape(tl.system(name).title)}</small>"
        f"<td>{escape(newest.release)} {_chip(newest.answer, newest.status)}"
        f"<td>{'<br>'.join(older)}<td>{'<br>'.join(map(escape, parts))}"
    )


def _chip(said: str, status: str) -> str:
    kind = {RIGHT: "right", DEPARTS: "departs", REFUSED: "refused"}.get(status, "unasked")
    mark = "" if status == RIGHT or said == status else f" <small>{status}</small>"
    return f"<span class={kind}>{escape(said)}</span>{mark}"


def _others(question: Question, up: str) -> str:
    """Links to the same operands in other operations, if there are pages of them."""
    if question.operands[1] in NUMBERS:
        return ""
    links = [
        f'<a href="{up}{other.path}">{escape(other.op)}</a>'
        for other in (Question(op, question.operands) for op in SIGNS)
        if other != question
    ]
    return f"<p>The same operands in {', '.join(links)}.</p>"


def _mark(newest: Given) -> str:
    """An answer in a large table, with a question mark if nobody asked the library."""
    return f"{escape(newest.answer)}{' ?' if newest.status == UNASKED else ''}"


def overview(op: str, newest: Mapping[Question, Mapping[str, Given]]) -> str:
    """The page of an operation: the answer of each library to each pair, in its newest release."""
    names = [*next(iter(newest.values()))]
    head = "".join(f"<th scope=col>{escape(name)}" for name in names)
    rows = "".join(
        f'<tr><th scope=row><a href="{escape(question.path)}">{escape(question.title)}</a>'
        + "".join(f"<td>{_mark(given_)}" for given_ in answers.values())
        for question, answers in newest.items()
        if question.op == op
    )
    body = (
        f'<div class=scroll tabindex=0 role=region aria-label="{op}"><table><thead><tr><th scope=col>operands'
        f"{head}</thead><tbody>{rows}</tbody></table></div>"
        "<p>?: predicted by the rule; the library was never asked.</p>"
    )
    return html_page(op, f"{op}: the dtype of each pair in every library", body, "", "")


def index(paths: Sequence[Question]) -> str:
    """The page that leads to all others, with a box that finds them by their operands."""
    operations = ", ".join(f'<a href="{op}.html">{op}</a>' for op in SIGNS)
    usual = [q for q in paths if q.op == USUAL]
    links = "".join(f'<li><a href="{escape(q.path)}">{escape(q.title)}</a>' for q in usual)
    body = (
        "<p>What does each library answer? Type two operands, or choose a page.</p>"
        '<form id=find><label>Operands <input id=operands placeholder="int64 float16" autocapitalize=off'
        ' spellcheck=false></label> in <select id=op aria-label=operation>'
        + "".join(f"<option>{op}" for op in SIGNS)
        + "</select> <button>Show</button> <span id=none role=status></span></form>"
        f"<p>By operation: {operations}.</p><ul class=pages>{links}</ul>"
        "<script src=../_static/answers.js></script>"
    )
    summary = "What dtype does x + y have? Every library, release by release."
    return html_page("Every answer", summary, body, "", "")


def html_page(title: str, summary: str, body: str, up: str, badge: str, note: str = LEGEND) -> str:
    """A page of the site that Sphinx does not make; `up` leads to its folder, `badge` is its picture."""
    image = f'<p><img src="{up}{escape(badge)}" alt="{escape(summary)}"></p>' if badge else ""
    return (
        '<!DOCTYPE html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">'
        f"<title>{escape(title)} · typelattice</title>"
        f'<meta name=description content="{escape(summary)}">'
        f'<meta property="og:title" content="{escape(title)}">'
        f'<meta property="og:description" content="{escape(summary)}">'
        f'<link rel=icon href="{up}../_static/favicon.svg">'
        f'<link rel=stylesheet href="{up}../_static/answers.css">'
        f'<header><a href="{up}../index.html">typelattice</a> · '
        f'<a href="{up}../answers/index.html">every answer</a> · '
        f'<a href="{up}../conformance/index.html">conformance</a> · '
        f'<a href="{up}../explore.html">explorer</a></header><main><h1>{escape(title)}</h1>'
        f"{body}{image}{note}</main></html>\n"
    )


def badge(question: Question, found: Mapping[str, Sequence[Given]]) -> str:
    """A picture of a line: the question, and the answers of the best known libraries."""
    first = [(name, newest) for name, (newest, *_) in [*found.items()][:FIRST]]
    shown = [(question.title, "#24292f")]
    shown += [(f"{name} {newest.answer}", COLOURS[newest.status]) for name, newest in first]
    x, parts = 0, []
    for text, colour in shown:
        width = 7 * len(text) + 12
        parts.append(f'<rect x="{x}" width="{width}" height="20" fill="{colour}"/>')
        parts.append(f'<text x="{x + 6}" y="14" fill="#fff">{escape(text)}</text>')
        x += width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x}" height="20" role="img" '
        f'aria-label="{escape(sentence(found))}" font-family="DejaVu Sans Mono,monospace" font-size="11">'
        f"{''.join(parts)}</svg>\n"
    )


def write(html: Path) -> int:
    """Write all pages into the folder of a site; the number of pages."""
    into = html / FOLDER
    into.mkdir(parents=True, exist_ok=True)
    every = [*questions()]
    newest: dict[Question, dict[str, Given]] = {}
    for question in every:
        found = asked(question)
        newest[question] = {name: releases_[0] for name, releases_ in found.items()}
        for path, text in (
            (question.path, page(question, found)),
            (question.path.replace(".html", ".svg"), badge(question, found)),
        ):
            (into / path).parent.mkdir(exist_ok=True)
            (into / path).write_text(text, encoding="utf-8")
    for op in SIGNS:
        (into / f"{op}.html").write_text(overview(op, newest), encoding="utf-8")
    (into / "index.html").write_text(index(every), encoding="utf-8")
    return len(every) + len(SIGNS) + 1
