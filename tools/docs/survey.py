"""Pages and data of who keeps float32: the newest survey in docs/surveys, a page for each package.

Each page names the functions, their verdicts and the first lines that made results wide. It also lists what
changed since the survey before that has another release of the package.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from answers import html_page
from matrix import table

from typelattice.survey.survey_report import VERDICTS, count_verdicts, summary_line

FOLDER = "survey"
SURVEYS = Path(__file__).parents[2] / "docs" / "surveys"
CLASSES = {"kept": "right", "wide": "departs", "mixed": "departs", "wide by design": "refused"}
Data = Mapping[str, Any]


def surveys(folder: Path = SURVEYS) -> list[Data]:
    """Read all surveys, the newest first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    return sorted(found, key=lambda survey: str(survey["date"]), reverse=True)


def write(html: Path, folder: Path = SURVEYS) -> int:
    """Write the pages and the data into the folder of a site; the number of pages."""
    newest, *older = surveys(folder)
    into = html / FOLDER
    into.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.json"):
        shutil.copyfile(path, into / path.name)
    for package in newest["packages"]:
        page = package_page(package, newest["date"], earlier_release(package, older))
        (into / f"{package['name']}.html").write_text(page, encoding="utf-8")
    files = [path.name for path in sorted(folder.glob("*.json"), reverse=True)]
    (into / "index.html").write_text(index(newest, files), encoding="utf-8")
    return len(newest["packages"]) + 1


def earlier_release(package: Data, older: Sequence[Data]) -> Data | None:
    """Find the package in the latest older survey that has another release of it."""
    return next(
        (
            each
            for survey in older
            for each in survey["packages"]
            if each["name"] == package["name"] and each["version"] != package["version"]
        ),
        None,
    )


def changes(package: Data, before: Data) -> list[tuple[str, str, str]]:
    """List the functions whose verdict is another one than in an earlier release: name, before, now."""
    was = {each["name"]: each["verdict"] for each in before["functions"]}
    return [
        (each["name"], was[each["name"]], each["verdict"])
        for each in package["functions"]
        if each["name"] in was and was[each["name"]] != each["verdict"]
    ]


def index(survey: Data, files: Sequence[str]) -> str:
    """The page of all packages: how many of their functions have each verdict."""
    head = "<th scope=col>package" + "".join(f"<th scope=col>{escape(verdict)}" for verdict in VERDICTS)
    rows = "".join(
        f'<tr><th scope=row><a href="{escape(package["name"])}.html">{escape(package["name"])}</a> '
        f"<small>{escape(package['version'])}</small>" + _counts(package)
        for package in survey["packages"]
    )
    summary = f"{len(survey['packages'])} packages, {survey['date']}: {summary_line(survey['packages'])}."
    data = ", ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in files)
    text = (
        f"<p class=sum>{escape(summary)}</p>{table('packages', head, rows)}"
        "<p>Public functions were called with float32, and with float64. A function is <i>kept</i> if no "
        "float of its results is wider than float32, <i>wide</i> if all are, <i>mixed</i> if some are. "
        '<a href="../survey.html">How it is done</a>. '
        f"The same as data: {data}.</p>"
    )
    return html_page("Who keeps float32?", summary, text, "", "", "")


def package_page(package: Data, date: str, before: Data | None) -> str:
    """The page of a package: what changed, then its functions, those that widen first."""
    functions = sorted(package["functions"], key=lambda f: (_rank(f), f["name"]))
    counts = ", ".join(f"{n:,} {verdict}" for verdict, n in count_verdicts(functions).items() if n)
    summary = f"{package['name']} {package['version']}, {date}: {counts}."
    rows = "".join(map(_row, functions))
    head = "<th scope=col>function<th scope=col>verdict, call, and first wide line or reason"
    text = (
        f"<p class=sum>{escape(summary)}</p>{_changed(package, before)}{table('functions', head, rows)}"
        '<p><a href="index.html">All packages</a></p>'
    )
    return html_page(f"Does {package['name']} keep float32?", summary, text, "", "", "")


def _rank(function: Data) -> int:
    order = ("wide", "mixed", "refused", "wide by design", "kept", "no floats", "not reached")
    return order.index(function["verdict"])


def _changed(package: Data, before: Data | None) -> str:
    if before is None:
        return ""
    found = changes(package, before)
    items = "".join(f"<li>{escape(name)}: {escape(was)}, now {escape(now)}" for name, was, now in found)
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


def _counts(package: Data) -> str:
    return "".join(f"<td>{n or ''}" for n in count_verdicts(package["functions"]).values())
