"""A page for each everyday question: `int64+float16`, `uint8+300`, `divide`; every library and release.

Each page shows the recorded answer of a library, or says that nobody asked it. The pages are plain HTML of
their own, beside those that Sphinx makes: a thousand take seconds, and each is a link to send to somebody.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import groupby
from pathlib import Path

import typelattice as tl
from typelattice.base.rendering.terminal_output import progress_bar
from typelattice.core.engine.promotion import Promotion
from typelattice.core.evidence.never_asked import is_never_asked, missing_dtype_of
from typelattice.core.evidence.recorded_answer import RecordedAnswer, find_recorded_answer
from typelattice.core.explanations.promotion_in_english import answer_text, describe_cast
from typelattice.core.explanations.recorded_answer_in_english import UNKNOWN_REASON, recorded_result_text
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operations.operations import OPERATION_BY_NAME
from typelattice.core.registry.releases import VERSION_SIGN, list_releases
from typelattice.core.registry.system_headings import LIBRARIES_HEADING, heading_of, sort_known_first
from typelattice.show.explorer.answer_addresses import (
    ANSWERS_FOLDER,
    DEFAULT_OPERATION,
    NUMBER_OPERANDS,
    SIGN_BY_OPERATION,
    UNARY_OPERATIONS,
    AnswerAddress,
    describe_scope,
    find_question,
    list_questions,
)

FIRST = 4  # libraries that the sentence at the top names
ON_CARD = 5  # libraries that a card names
RIGHT, DEPARTS, REFUSED = "by its rule", "departs", "refused"
UNASKED, LACKING, NO_OPERATION = "never asked", "no such dtype", "no such operation"
LEGEND = (
    "<p><small>Equal answers have one colour. "
    "An answer without a word beside it was recorded, and agrees with the library's rule. "
    "<em>never asked</em>: the rule alone says so. <em>departs</em>: the library answers otherwise than its "
    "rule.</small></p>"
)
# Pages that Sphinx makes and that lead to the page of a question that is typed there.
SEARCHED = ("search.html", "live.html", "index.html")
SCRIPTS = '<script src="_static/answer-pages.js"></script><script src="_static/answers.js"></script>'
MAX_COLOURS = 6  # answers with a colour of their own on a page
COLOURS = {RIGHT: "#1a7f37", DEPARTS: "#9a6700", REFUSED: "#b42318", UNASKED: "#57606a", LACKING: "#57606a"}


@dataclass(frozen=True, slots=True)
class Given:
    """What a release of a library gave: the answer, its status, the words behind it, what its casts lose."""

    release: str
    answer: str
    status: str
    call: str
    why: str
    rule: str
    lost: tuple[str, ...] = ()


def libraries() -> list[str]:
    """The systems of libraries that can be installed, those that most people know first."""
    names = [
        name for name in tl.systems() if heading_of(name) == LIBRARIES_HEADING and tl.system(name).library
    ]
    return sort_known_first(names)


def asked(question: AnswerAddress) -> dict[str, list[Given]]:
    """The answers of each library, newest release first; only the newest names its rule and what it loses."""
    found = {}
    for name in libraries():
        older = [f"{name}{VERSION_SIGN}{release}" for release in list_releases(name)[:-1][::-1]]
        newest = list_releases(name)[-1] if list_releases(name) else ""
        found[name] = [_given(question, name, newest, with_rule=True)]
        found[name] += [_given(question, old, old.partition(VERSION_SIGN)[2]) for old in older]
    return found


def _given(question: AnswerAddress, name: str, release: str, with_rule: bool = False) -> Given:
    p = tl.system(name).explain(*map(parse_operand, question.operands), op=question.op)
    o = find_recorded_answer(p)
    call = "" if o is None else f"{o.library}: {o.call.question}"
    rule = str(p.rule) if with_rule and p.rule and not missing_dtype_of(p) else ""
    lossy = [c for c in p.casts if c.loss] if rule and not (o and o.departs) else []
    lost = tuple(dict.fromkeys(map(describe_cast, lossy)))
    return Given(
        release, recorded_result_text(o) if o else answer_text(p), _status(p, o), call, _why(p, o), rule, lost
    )


def _status(p: Promotion, o: RecordedAnswer | None) -> str:
    if o is None:
        return LACKING if missing_dtype_of(p) else UNASKED if is_never_asked(p) else NO_OPERATION
    return DEPARTS if o.departs else REFUSED if o.error else RIGHT


def _why(p: Promotion, o: RecordedAnswer | None) -> str:
    """The reason of a refusal or of a departure, in the library's words where there are any."""
    if o is None:
        return p.reason or ""
    if o.departs:
        return f"its rule says {answer_text(p)}; {o.reason or UNKNOWN_REASON}"
    return o.error or ""


def describe_differences(other: AnswerAddress, found: Mapping[str, Sequence[Given]]) -> str:
    """Name who answers another question otherwise, as `uint8:0d + 300: numpy1 int64.`; else empty."""
    differing = []
    for name, (newest, *_) in found.items():
        given_ = _given(other, name, newest.release)
        # What a rule says of another tier, unasked, is no news beside a recorded answer.
        guessed = given_.status == UNASKED and any(":" in operand for operand in other.operands)
        if not guessed and (given_.answer, given_.status) != (newest.answer, newest.status):
            mark = f" ({given_.status})" if given_.status in (UNASKED, DEPARTS) else ""
            differing.append(f"{name} {given_.answer}{mark}")
    return f"{other.title}: {', '.join(differing)}." if differing else ""


def variants(question: AnswerAddress) -> Iterator[AnswerAddress]:
    """Yield the question with its operands in the other order, and with each array of another tier."""
    if len(set(question.operands)) > 1:
        yield AnswerAddress(question.op, question.operands[::-1])
    for i, operand in enumerate(question.operands):
        if len(question.operands) > 1 and operand not in NUMBER_OPERANDS:
            for tier in ("0d", "scalar"):
                changed = f"{operand}:{tier}"
                yield AnswerAddress(
                    question.op, (*question.operands[:i], changed, *question.operands[i + 1 :])
                )


def _other_answers(question: AnswerAddress, found: Mapping[str, Sequence[Given]]) -> str:
    """Say what the operands are, and which libraries answer otherwise where they are not or are swapped."""
    said = [escape(text) for other in variants(question) if (text := describe_differences(other, found))]
    about = "The operands are arrays with dimensions, and Python numbers."
    if not said:
        return f"<p>{about}</p>"
    note = "Some libraries answer otherwise for an array without dimensions (<code>:0d</code>), for the"
    note += " library's own scalar (<code>:scalar</code>), or in the other order:"
    return f"<p>{about} {note}</p><ul>{''.join(f'<li>{text}' for text in said)}</ul>"


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


def page(question: AnswerAddress, found: Mapping[str, Sequence[Given]]) -> str:
    """The page of a question."""
    up = "../" * question.path.count("/")
    colours = _colour_answers(found)
    groups = "".join(
        f"<tbody>{_group_heading(names, found[names[0]][0], colours)}"
        f"{''.join(_row(name, found[name], up, colours) for name in names)}</tbody>"
        for names in _by_answer(found)
    )
    operands = " ".join(question.operands)
    dashes = "-- " if "-" in operands else ""
    command = f"typelattice explain --op {question.op} {dashes}{operands}"
    body = (
        f"<p class=sum>{escape(sentence(found))}</p>{LEGEND}"
        '<div class=scroll tabindex=0 role=region aria-label="answers"><table class=answers><thead><tr>'
        "<th scope=col>library<th scope=col>newest release<th scope=col>older releases"
        "<th scope=col>recorded call, reason, loss, rule"
        f"</thead>{groups}</table></div>"
        f"{_other_answers(question, found)}{_others(question, up)}"
        f"<p>On a command line: <code>{escape(command)}</code></p>"
    )
    badge = question.path.replace(".html", ".svg")
    return html_page(question.title, sentence(found), body, up, badge, note="")


def _by_answer(found: Mapping[str, Sequence[Given]]) -> list[list[str]]:
    """Group systems by the answer of their newest release: the most frequent first, refusals last."""
    groups: dict[str, list[str]] = {}
    for name in _by_library(found):
        groups.setdefault(found[name][0].answer, []).append(name)
    refused = groups.pop(REFUSED, [])
    return [*sorted(groups.values(), key=len, reverse=True), *([refused] if refused else [])]


def _group_heading(names: Sequence[str], newest: Given, colours: Mapping[str, int]) -> str:
    count = f"{len(names)} system{'s' if len(names) > 1 else ''}"
    chip = _chip(newest.answer, REFUSED if newest.answer == REFUSED else RIGHT, colours)
    return f'<tr class=group><th colspan=4 scope=rowgroup>{chip} {count}'


def _by_library(names: Iterable[str]) -> list[str]:
    """Put systems of one library, such as numpy and numpy1, beside each other, where the first stands."""
    places: dict[str, int] = {}
    for name in names:
        places.setdefault(_library_of(name), len(places))
    return sorted(names, key=lambda name: places[_library_of(name)])


def _library_of(name: str) -> str:
    return (tl.system(name).library or name).split()[0]


def _colour_answers(found: Mapping[str, Sequence[Given]]) -> dict[str, int]:
    """Number the answers of the newest releases, the most frequent first: equal answers get one colour."""
    counts = Counter(newest.answer for newest, *_ in found.values() if newest.answer != REFUSED)
    return {said: number for number, (said, _) in enumerate(counts.most_common(MAX_COLOURS), 1)}


def _row(name: str, found: Sequence[Given], up: str, colours: Mapping[str, int]) -> str:
    newest = found[0]
    parts = [escape(part) for part in (newest.call, newest.why, *newest.lost) if part]
    parts += [_linked_rule(newest.rule, up)] if newest.rule else []
    older = []
    for (said, status), same in groupby(found[1:], key=lambda g: (g.answer, g.status)):
        named = [g.release for g in same]
        span = named[0] if len(named) == 1 else f"{named[-1]} to {named[0]}"
        older.append(f"{escape(span)}: {_chip(said, status, colours)}")
    return (
        f'<tr><th scope=row><a href="{up}../gallery/{name}.html">{escape(name)}</a>'
        f"<br><small>{escape(tl.system(name).title)}</small>"
        f"<td>{escape(newest.release)} {_chip(newest.answer, newest.status, colours)}"
        f"<td>{'<br>'.join(older)}<td>{'<br>'.join(parts)}"
    )


def _linked_rule(rule: str, up: str) -> str:
    """A rule, such as `numpy.toml, line 21`, with a link to the page that shows its file."""
    name = rule.partition(".toml")[0]
    if name not in tl.systems():
        return escape(rule)
    return f'<a href="{up}../gallery/{name}.html#its-file">{escape(rule)}</a>'


def _chip(said: str, status: str, colours: Mapping[str, int]) -> str:
    """An answer on the ground of its colour. The status stands beside it in words."""
    lacks = status in (LACKING, NO_OPERATION)
    is_refused = said == REFUSED and not lacks
    kind = "refused" if is_refused else f"answer-{colours[said]}" if said in colours else "unasked"
    kind += " doubtful" if status in (DEPARTS, UNASKED) else ""
    mark = "" if status == RIGHT or said == status else f" <small>{status}</small>"
    return f'<span class="{kind}">{escape(said)}</span>{mark}'


def _others(question: AnswerAddress, up: str) -> str:
    """Links to the same operands in other operations, if there are pages of them."""
    links = [
        f'<a href="{up}{escape(other.path)}">{escape(other.op)}</a>'
        for op in (*SIGN_BY_OPERATION, *UNARY_OPERATIONS)
        if (other := find_question(question.operands, op)) and other != question
    ]
    return f"<p>The same operands in {', '.join(links)}.</p>" if links else ""


def _mark(newest: Given) -> str:
    """An answer in a large table: a dash for a refusal, a question mark if nobody asked the library."""
    said = "-" if newest.answer == REFUSED else escape(newest.answer)
    return f"{said}{' ?' if newest.status == UNASKED else ''}"


def overview(op: str, newest: Mapping[AnswerAddress, Mapping[str, Given]]) -> str:
    """The page of an operation: the answer of each library to each pair, in its newest release."""
    names = [*next(iter(newest.values()))]
    head = "".join(f"<th scope=col>{escape(name)}" for name in names)
    rows = "".join(
        f'<tr><th><a href="{escape(question.path)}">{escape(question.title)}</a>'
        + "".join(f"<td>{_mark(given_)}" for given_ in answers.values())
        for question, answers in newest.items()
        if question.op == op
    )
    body = (
        f'<div class=scroll tabindex=0 role=region aria-label="{op}"><table class=dense><thead><tr>'
        f"<th scope=col>operands{head}</thead><tbody>{rows}</tbody></table></div>"
        "<p>-: refused. ?: predicted by the rule; the library was never asked.</p>"
    )
    return html_page(op, f"{op}: the dtype of each pair in every library", body, "", "")


def box(folder: str = "") -> str:
    """The box that finds the page of a question; `folder` leads to the pages."""
    return (
        f'<form id="find" data-folder="{folder}"><label>Question <input id="operands" '
        'placeholder="int64 / float16, or sum uint8" autocapitalize="off" autocomplete="off" '
        'spellcheck="false"></label> <button>Show</button> <span id="none" role="status"></span></form>'
    )


def index(paths: Sequence[AnswerAddress]) -> str:
    """The page that leads to all others, with a box that finds them by their operands."""
    operations = ", ".join(f'<a href="{op}.html">{op}</a>' for op in (*SIGN_BY_OPERATION, *UNARY_OPERATIONS))
    usual = [q for q in paths if q.op == DEFAULT_OPERATION]
    links = "".join(f'<li><a href="{escape(q.path)}">{escape(q.title)}</a>' for q in usual)
    body = (
        f"<p>What does each library answer? Type what you ask, or choose a page.</p>{box()}"
        f"<p>By operation: {operations}.</p><ul class=pages>{links}</ul>"
        "<script src=../_static/answer-pages.js></script><script src=../_static/answers.js></script>"
    )
    summary = "What dtype does x + y have? Every library, release by release."
    return html_page("Every answer", summary, body, "", "")


def searched() -> dict[str, object]:
    """All of which there are pages, and the words that name a library and no operation."""
    titles = {tl.system(name).title.split()[0].rstrip(",").lower() for name in libraries()}
    return describe_scope() | {"libraries": sorted({*libraries(), *titles} - OPERATION_BY_NAME.keys())}


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
        f'<script src="{up}../_static/theme.js"></script>'
        f'<header><a href="{up}../index.html">typelattice</a> · '
        f'<a href="{up}../answers/index.html">every answer</a> · '
        f'<a href="{up}../conformance/index.html">conformance</a> · '
        f'<a href="{up}../imitations/index.html">imitations</a> · '
        f'<a href="{up}../survey/index.html">survey</a> · '
        f'<a href="{up}../explore.html">explorer</a></header><main><h1>{escape(title)}</h1>'
        f"{body}{image}{note}</main></html>\n"
    )


def badge(question: AnswerAddress, found: Mapping[str, Sequence[Given]]) -> str:
    """A picture of a line: the question, and the answers of the best known libraries."""
    first = [(name, newest) for name, (newest, *_) in [*found.items()][:FIRST]]
    shown = [(question.title, "#24292f")]
    shown += [(f"{name} {newest.answer}", COLOURS[newest.status]) for name, newest in first]
    return badge_of(shown, sentence(found))


def badge_of(shown: Sequence[tuple[str, str]], label: str) -> str:
    """A picture of a line: texts, each on a ground of its colour; `label` is for those who hear it."""
    x, parts = 0, []
    for text, colour in shown:
        width = 7 * len(text) + 12
        parts.append(f'<rect x="{x}" width="{width}" height="20" fill="{colour}"/>')
        parts.append(f'<text x="{x + 6}" y="14" fill="#fff">{escape(text)}</text>')
        x += width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x}" height="20" role="img" '
        f'aria-label="{escape(label)}" font-family="DejaVu Sans Mono,monospace" font-size="11">'
        f"{''.join(parts)}</svg>\n"
    )


def card(question: AnswerAddress, found: Mapping[str, Sequence[Given]]) -> str:
    """The card of a page, which other sites show of a link: the question and the answers, large."""
    shown = [(name, newest) for name, (newest, *_) in found.items() if newest.status != LACKING][:ON_CARD]
    rows = "".join(
        f'<text x="40" y="{120 + 36 * n}" fill="#24292f">{escape(name)}</text>'
        f'<text x="260" y="{120 + 36 * n}" fill="{COLOURS[newest.status]}">{escape(_said(newest))}</text>'
        for n, (name, newest) in enumerate(shown)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="315" font-family="DejaVu Sans"'
        ' font-size="22"><rect width="600" height="315" fill="#fff"/>'
        f'<text x="40" y="66" font-size="34" fill="#24292f">{escape(question.title)}</text>{rows}'
        '<text x="440" y="295" font-size="16" fill="#57606a">typelattice</text></svg>'
    )


def _said(newest: Given) -> str:
    return newest.answer if newest.status in (RIGHT, newest.answer) else f"{newest.answer} ({newest.status})"


def check_cards() -> None:
    """Raise DrawingError if no card can be drawn: before a build, which would notice after minutes."""
    from typelattice.base.rendering.png import render_png  # resvg is no part of what a site needs at home

    render_png('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>', 1)


def write(html: Path, address: str = "") -> int:
    """Write all pages into the folder of a site; the number of pages.

    A site with an address has a card beside each page. Raises DrawingError without resvg.
    """
    into = html / ANSWERS_FOLDER
    into.mkdir(parents=True, exist_ok=True)
    every = [*list_questions()]
    for op in (*SIGN_BY_OPERATION, *UNARY_OPERATIONS):
        (into / op).mkdir(exist_ok=True)
    report, newest = progress_bar(), {}
    with ProcessPoolExecutor() as processes:
        made = processes.map(partial(_write_page, into, address), every, chunksize=20)
        for question, found in zip(every, made, strict=True):
            newest[question] = found
            report(len(newest), len(every), question.title)
    for op in (*SIGN_BY_OPERATION, *UNARY_OPERATIONS):
        (into / f"{op}.html").write_text(overview(op, newest), encoding="utf-8")
    (into / "index.html").write_text(index(every), encoding="utf-8")
    connect(html)
    return len(every) + len(SIGN_BY_OPERATION) + len(UNARY_OPERATIONS) + 1


def connect(html: Path) -> None:
    """Let the pages that Sphinx made lead to the pages of questions."""
    pages = f'"use strict";\nconst ANSWER_PAGES = {json.dumps(searched())};\n'
    (html / "_static" / "answer-pages.js").write_text(pages, encoding="utf-8")
    for name in SEARCHED:
        found = (html / name).read_text(encoding="utf-8")
        if SCRIPTS not in found:  # Sphinx leaves a page of an earlier build that has not changed
            (html / name).write_text(found.replace("</body>", f"{SCRIPTS}</body>"), encoding="utf-8")


def _write_page(into: Path, address: str, question: AnswerAddress) -> dict[str, Given]:
    """Write the page of a question and its pictures; the answers of the newest releases."""
    found = asked(question)
    text, path = page(question, found), into / question.path
    if address:
        from typelattice.base.rendering.png import render_png

        path.with_suffix(".png").write_bytes(render_png(card(question, found), 1))
        here = f"{address}/{ANSWERS_FOLDER}/{question.path.removesuffix('.html')}"
        tags = f'<meta property="og:url" content="{escape(here)}.html">'
        tags += f'<meta property="og:image" content="{escape(here)}.png">'
        tags += '<meta name="twitter:card" content="summary_large_image">'
        text = text.replace("<link rel=icon", f"{tags}<link rel=icon", 1)
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".svg").write_text(badge(question, found), encoding="utf-8")
    return {name: releases_[0] for name, releases_ in found.items()}
