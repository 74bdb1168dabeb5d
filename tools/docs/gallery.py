"""The gallery: a page for each system, and one that lists them all.

Whatever stands there is computed: the drawing, the table, what is particular, the laws, what a library
answered.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import typelattice as tl
from typelattice.base.rendering.drawing import Drawing
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recording_files import load_recording, recording_names
from typelattice.core.registry.releases import VERSION_SIGN, list_releases
from typelattice.core.registry.system_headings import heading_of, list_headings, sort_known_first
from typelattice.core.system_files.system_text import SYSTEMS_FOLDER
from typelattice.study.laws.system_check import check
from typelattice.study.tables.changed_calls import find_changes
from typelattice.study.tables.study_scope import PYTHON_SCALARS

if TYPE_CHECKING:
    from typelattice.base.rendering import HasGrid

SVG_WIDTH = re.compile(r'<svg [^>]*?\bwidth="([\d.]+)"')
DOCS = Path(__file__).parents[2] / "docs"
FINDINGS = tomllib.loads((DOCS / "findings.toml").read_text(encoding="utf-8"))["finding"]
COMBINED = {
    "join": "join as a set, whatever their order",
    "fold": "are taken pair by pair, from left to right",
    "comparable": "join only at the dtype of one of them",
    "value": "promote by their values",
}
TOLD = {"array": "arrays", "0d": "arrays without dimensions", "scalar": "Python scalars"}
HEAD = """# Gallery

Every system that comes along: its order as a drawing, its table, what is particular to it, where its library
departs from it, and what changed between releases. An arrow from a to b says that a may become b implicitly;
operands promote to the least dtype that lies above them all. [Which laws they keep](../laws.md) is told on
a page of its own.
"""

SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
Made = Iterator[tuple[str, str]]


def pages() -> Made:
    """The list and the page of each system."""
    yield "gallery/index.md", _listing()
    for name in tl.systems():
        yield f"gallery/{name}.md", _page(tl.system(name))


def write(html: Path) -> None:
    """Write the drawings of the list as files: the list stays small, and a browser fetches those in sight."""
    for name in tl.systems():
        (html / "gallery" / f"{name}.svg").write_text(_thumbnail(tl.system(name)).svg, encoding="utf-8")


def drawing(what: tl.System | tl.Order[str], label: str) -> str:
    """A drawing as a part of a page; `label` is what it shows, for those who hear the page."""
    svg = tl.draw(what).svg.replace('role="img"', f'role="img" aria-label="{escape(label)}"', 1)
    return scrolling(svg, "drawing", label)


def table(x: HasGrid, label: str) -> str:
    """A table as a part of a page; `label` tells it from the other tables there."""
    return scrolling(tl.render(x, "html"), "table", label)


def scrolling(html: str, name: str, label: str) -> str:
    """HTML as a part of a page, which scrolls, by keyboard too, where it is wider than the screen."""
    return f"```{{raw}} html\n{scrolling_html(_lines(html), name, label)}\n```\n"


def scrolling_html(html: str, name: str, label: str) -> str:
    """The HTML that `scrolling` lays into a page of Markdown."""
    width = SVG_WIDTH.search(html)
    style = f' style="--drawn-width: {width[1]}px"' if width else ""
    head = f'<div class="scrolling {name}" tabindex="0" role="region" aria-label="{escape(label)}"{style}>'
    return f"{head}\n{html}\n</div>"


def _lines(html: str) -> str:
    """HTML without empty lines, which would end a part of a page."""
    return "\n".join(line for line in html.splitlines() if line.strip())


def _listing() -> str:
    names = tl.systems()
    lines = [HEAD]
    for heading in list_headings():
        listed = sort_known_first([name for name in names if heading_of(name) == heading])
        cards = [_card(tl.system(name)) for name in listed]
        lines += [f"## {heading.capitalize()}", "", "```{raw} html", '<ul class="cards">', *cards, "</ul>"]
        lines += ["```", ""]
    lines += ["```{toctree}", ":hidden:", "", *names, "```", ""]
    return "\n".join(lines)


def _thumbnail(s: tl.System) -> Drawing:
    """The drawing of a system without words."""
    placed = tl.draw(s).placed
    return Drawing(s.name, replace(placed, diagram=replace(placed.diagram, title="", notes=())))


def _card(s: tl.System) -> str:
    """A system in the list: its drawing, small and without words, which leads to its page."""
    width, height = SIZE.findall(_thumbnail(s).svg)[0]
    known = list_releases(s.name)
    said = [f"{len(s.dtypes)} dtypes"] + [f"releases {', '.join(known)}"] * (len(known) > 1)
    return (
        f'<li><a href="{s.name}.html"><img src="{s.name}.svg" alt="" loading="lazy" width="{width}" '
        f'height="{height}">'
        f"<strong>{s.name}</strong></a> {escape(s.title)} <small>{'; '.join(said)}</small></li>"
    )


def _page(s: tl.System) -> str:
    parts = [f"# {s.name}", f"{s.title}. {_source(s)}"]
    parts += ["## Drawing", drawing(s, f"the order of {s.name}")]
    parts += ["## Table", table(tl.table(s), f"promotion under {s.name}")]
    parts += ["## What is particular to it", "\n".join(f"- {line}" for line in _particulars(s))]
    parts += ["## Laws and criteria", _laws(s)]
    parts += ["## Its file", "Answers name the lines of this file that decided.", _file(s.name)]
    parts += _asked(s.name)
    parts += _findings(s.name)
    parts += _versions(s.name)
    return "\n\n".join(parts) + "\n"


def _source(s: tl.System) -> str:
    of = f"The rules of {s.library}." if s.library else "The rules of no library that can be installed."
    return f"{of} Source: <{s.source}>" if s.source.startswith("http") else f"{of} {s.source}"


def _particulars(s: tl.System) -> Iterator[str]:
    """What the file chooses beside the order, in sentences."""
    tiers = [TOLD[t] for t in s.tiers]
    if len(tiers) > 1:
        yield f"It tells {', '.join(tiers[:-1])} and {tiers[-1]} apart: a lower tier counts only by its kind."
    else:
        yield "All operands count alike, whether arrays or Python scalars."
    yield f"Operands {COMBINED[s.combine]}."
    weak = check(s).weak_nodes
    if weak:
        yield f"Its order has weak nodes, {_codes(weak)}, which give way to dtypes of their kind."
    alone = [f"a Python {kind} is `{d}`" for kind, d in check(s).defaults.items() if kind in PYTHON_SCALARS]
    yield f"Alone, {', '.join(alone)}." if alone else "A Python scalar has no dtype of its own."
    if s.fit:
        yield "A Python value out of range: " + ", ".join(f"of {k}: `{v}`" for k, v in s.fit.items()) + "."
    for bounds, winner in s.ties.items():
        yield f"Where {_codes(sorted(map(str, bounds)))} lie lowest above a pair, it chooses `{winner}`."
    yield from _outright(s)
    if s.ops:
        standard = "[the standard](../operations.md)"
        yield f"Under `ops` it departs from {standard} in {len(s.ops)} operations, or classes of them."


def _outright(s: tl.System) -> Iterator[str]:
    """What the file says of pairs outright, each of its entries once, however many pairs it stands for."""
    pairs = Counter((key, entry) for (key, _), entry in s.entries.items() if key != "ties")
    of_entry = {(key, entry): pair for (key, pair), entry in s.entries.items()}
    for (key, entry), count in pairs.items():
        pair = of_entry[key, entry]
        stands = f"`{entry}`" + f", {count} pairs" * (count > 1)
        if key == "refusals":
            yield f"It refuses {stands}: {plain(s.refusals[pair])}."
        else:
            yield f"It takes {stands}, to `{s.overrides[pair]}`."


def _codes(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _laws(s: tl.System) -> str:
    """The laws with where they fail, then how many pairs break each of the criteria."""
    lines = ["| law | holds | what says so |", "|---|---|---|"]
    lines += [f"| {law} | {v.mark} | {plain(str(v))} |" for law, v in tl.laws(s).items()]
    return "\n".join(lines) + f"\n\nBy the criteria of JEP 9407, {plain(check(s).criteria.summary)}."


def plain(text: str) -> str:
    """Text as it stands, in a table too."""
    return re.sub(r"([\\`*_|<>\[\]#~$])", r"\\\1", text)


def _file(name: str) -> str:
    text = (Path(SYSTEMS_FOLDER) / f"{name}.toml").read_text(encoding="utf-8").rstrip()
    return f"```{{code-block}} toml\n:linenos:\n:caption: {name}.toml\n\n{text}\n```"


def _asked(name: str) -> list[str]:
    """What was recorded of the library, and the departures from the rule."""
    if name not in recording_names():
        return ["## What the library answered", "It was never asked: what stands here is the rule alone."]
    found = load_recording(name)
    versions = ", ".join(f"{package} {version}" for package, version in found.versions.items())
    about = f"Asked on {found.date}: {versions}, by {found.how}; {sum(1 for _ in found.calls()):,} calls."
    parts = ["## What the library answered", about]
    listed = list_departures(name)
    if not listed:
        return [*parts, "No call is known in which it departs from the rule above."]
    rows = [f"| {d.count} | {plain(d.reason)} | [source]({d.source}) |" for d in listed]
    parts += ["Where no rule states what it does, the calls are listed with the reason:"]
    return [*parts, "\n".join(["| calls | why | where it is said |", "|---|---|---|", *rows])]


def _findings(name: str) -> list[str]:
    """The findings that name the system, as links."""
    named = [f for f in FINDINGS if name in f.get("recorded", {}) or name in f.get("systems", {})]
    if not named:
        return []
    links = [f"- [{f['title']}](../findings-{f['kind']}.md#{_slug(f['title'])})" for f in named]
    return ["## Findings", "\n".join(links)]


def _slug(title: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", title.lower().strip()).replace(" ", "-")



def _versions(name: str) -> list[str]:
    """What changed between the releases that were recorded."""
    known = list_releases(name)
    if len(known) < 2:
        return []
    names = [*(f"{name}{VERSION_SIGN}{release}" for release in known[:-1]), name]
    parts = ["## Versions", f"Recorded: {', '.join(known)}. `{names[0]}` asks for the oldest."]
    for before, after in pairwise(names):
        found = find_changes(tl.system(before), tl.system(after))
        title = f"{before} to {after}"
        parts += [f"### {title}", table(found, title) if found.changes_by_operation else f"{found}."]
        if (Path(SYSTEMS_FOLDER) / f"{before}.toml").exists():
            parts += ["What the older release does otherwise:", _file(before)]
    return parts
