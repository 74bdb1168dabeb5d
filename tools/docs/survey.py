"""Pages and data of who keeps float32: the surveys in docs/surveys, a page for each package.

Each page is that of the newest release surveyed. It names the functions, their verdicts and the first lines
that made results wide. It also lists what changed since the release before that was surveyed.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from answers import html_page
from matrix import table

from typelattice.repair.survey.survey_report import VERDICTS, count_verdicts, summary_line

FOLDER = "survey"
SURVEYS = Path(__file__).parents[2] / "docs" / "surveys"
UNSEEN = ("not reached", "no floats")
"""Verdicts of functions that gave no floats to judge."""
FOLDED = ("wide by design", "kept", *UNSEEN)
"""Verdicts of functions that need no reading."""
WIDENING, JUDGED = ("wide", "mixed"), ("kept", "wide", "mixed", "wide by design")
"""Verdicts of functions that widen, and of all whose floats were seen."""
CLASSES = {"kept": "right", "wide": "departs", "mixed": "departs", "wide by design": "refused"}
Data = Mapping[str, Any]


def surveys(folder: Path = SURVEYS) -> list[Data]:
    """Read all surveys, the newest first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    return sorted(found, key=lambda survey: str(survey["date"]), reverse=True)


def write(html: Path, folder: Path = SURVEYS) -> int:
    """Write the pages and the data into the folder of a site; the number of pages."""
    packages = releases(surveys(folder))
    into = html / FOLDER
    into.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.json"):
        shutil.copyfile(path, into / path.name)
    for newest, *older in packages:
        page = package_page(newest, older[0] if older else None)
        (into / f"{newest['name']}.html").write_text(page, encoding="utf-8")
    files = [path.name for path in sorted(folder.glob("*.json"), reverse=True)]
    (into / "index.html").write_text(index([newest for newest, *_ in packages], files), encoding="utf-8")
    return len(packages) + 1


def releases(newest_first: Sequence[Data]) -> list[list[Data]]:
    """List the surveyed releases of each package, the newest first, each with the date of its last survey."""
    found: dict[str, dict[str, Data]] = {}
    for survey in newest_first:
        for package in survey["packages"]:
            found.setdefault(package["name"], {}).setdefault(
                package["version"], {**package, "date": survey["date"]}
            )
    return [
        [of[version] for version in sorted(of, key=_numbers, reverse=True)]
        for _, of in sorted(found.items())
    ]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def changes(package: Data, before: Data) -> list[tuple[Data, Data]]:
    """List the functions whose verdict is another one than in an earlier release, with both rows.

    A function that was not reached with floats in one of them says nothing of a change.
    """
    was, now = (
        {each["name"]: each for each in of["functions"] if each["verdict"] not in UNSEEN}
        for of in (before, package)
    )
    both = [(was[name], now[name]) for name in now if name in was]
    return [(old, new) for old, new in both if old["verdict"] != new["verdict"]]


def index(packages: Sequence[Data], files: Sequence[str]) -> str:
    """The page of all packages, by the share of functions that widen, and how many have each verdict."""
    packages = sorted(packages, key=lambda package: -widening_share(package)[0])
    head = "<th scope=col>package<th scope=col>widen"
    head += "".join(f"<th scope=col class=count>{escape(verdict)}" for verdict in VERDICTS)
    rows = "".join(
        f'<tr><th scope=row><a href="{escape(package["name"])}.html">{escape(package["name"])}</a> '
        f"<small>{escape(package['version'])}</small>{_bar(package)}{_counts(package)}"
        for package in packages
    )
    latest = max(package["date"] for package in packages)
    summary = f"{len(packages)} packages, {latest}: {summary_line(packages)}."
    data = ", ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in files)
    text = (
        f"<p class=sum>{escape(summary)}</p>{table('packages', head, rows)}"
        "<p>Public functions were called with float32, and with float64. A function is <i>kept</i> if no "
        "float of its results is wider than float32, <i>wide</i> if all are, <i>mixed</i> if some are. "
        '<a href="../survey.html">How it is done</a>. '
        f"The same as data: {data}.</p>"
    )
    return html_page("Who keeps float32?", summary, text, "", "", "")


def package_page(package: Data, before: Data | None) -> str:
    """The page of a package: what changed, then its functions, those that widen first."""
    functions = sorted(package["functions"], key=lambda f: (_rank(f), f["name"]))
    counts = ", ".join(f"{n:,} {verdict}" for verdict, n in count_verdicts(functions).items() if n)
    summary = f"{package['name']} {package['version']}, {package['date']}: {counts}."
    shown = [f for f in functions if f["verdict"] not in FOLDED]
    text = (
        f"<p class=sum>{escape(summary)}</p>{_changed(package, before)}"
        f"{_functions('functions', shown) if shown else ''}"
        f"{''.join(_folded(verdict, functions) for verdict in FOLDED)}"
        '<p><a href="index.html">All packages</a></p>'
    )
    return html_page(f"Does {package['name']} keep float32?", summary, text, "", "", "")


def _functions(label: str, functions: Sequence[Data]) -> str:
    head = "<th scope=col>function<th scope=col>verdict, call, and first wide line or reason"
    return table(label, head, "".join(map(_row, functions)), "answers")


def _folded(verdict: str, functions: Sequence[Data]) -> str:
    """The functions of a verdict that needs no reading, which a reader may unfold."""
    those = [f for f in functions if f["verdict"] == verdict]
    if not those:
        return ""
    heading = f"{len(those):,} functions: {escape(verdict)}"
    return f"<details><summary>{heading}</summary>{_functions(verdict, those)}</details>"


def _rank(function: Data) -> int:
    order = ("wide", "mixed", "refused", "wide by design", "kept", "no floats", "not reached")
    return order.index(function["verdict"])


def _changed(package: Data, before: Data | None) -> str:
    if before is None:
        return ""
    found = changes(package, before)
    items = "".join(
        f"<li>{escape(new['name'])}: {escape(old['verdict'])}, now {escape(new['verdict'])}"
        + (" <small>in another call</small>" if old.get("call") != new.get("call") else "")
        for old, new in found
    )
    what = f"Since {escape(before['version'])}"
    return f"<p>{what}:</p><ul>{items}</ul>" if found else f"<p>{what} no verdict has changed.</p>"


def _row(function: Data) -> str:
    verdict = function["verdict"]
    cause = function.get("cause")
    parts = [f"<span class={CLASSES.get(verdict, 'unasked')}>{escape(verdict)}</span>"]
    if function.get("call"):
        parts.append(f"<small>{escape(function['call'])}</small>")
    if function.get("wide"):
        parts.append(f"wide: {escape(', '.join(function['wide']))}")
    if cause:
        parts.append(f"{escape(cause['file'])}:{cause['line']}: <code>{escape(cause['text'])}</code>")
    parts += [escape(function[key]) for key in ("design", "no_cause", "why") if function.get(key)]
    parts += [escape(each) for each in function.get("did", ())]
    name = escape(function["name"]).replace(".", ".<wbr>").replace("_", "_<wbr>")  # a phone's lines are short
    return f"<tr><th scope=row>{name}<td>{'<br>'.join(parts)}"


def widening_share(package: Data) -> tuple[float, int, int]:
    """The share of functions that widen, their number, and the number of those whose floats were seen."""
    counts = count_verdicts(package["functions"])
    widening, judged = (sum(counts.get(verdict, 0) for verdict in them) for them in (WIDENING, JUDGED))
    return widening / max(judged, 1), widening, judged


def _bar(package: Data) -> str:
    share, widening, judged = widening_share(package)
    return (
        f'<td class=share><i style="width:{share * 6:.2f}rem"></i>{share:.0%} '
        f"<small>{widening:,} of {judged:,}</small>"
    )


def _counts(package: Data) -> str:
    return "".join(f"<td class=count>{n or ''}" for n in count_verdicts(package["functions"]).values())
