"""The pages of a survey show each verdict, the first wide lines, and what changed since another release."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs"))
import survey

ROOT = Path(__file__).parents[2]

WIDE = {
    "name": "pkg.f", "verdict": "wide", "call": "f(float32[2])", "source": "a recipe",
    "cause": {"file": "pkg/a.py", "line": 3, "text": "x < np.zeros(2)"},
}  # fmt: skip


def document(date: str, version: str, *functions: dict[str, object]) -> dict[str, object]:
    package = {"name": "pkg", "version": version, "functions": list(functions)}
    return {"typelattice": "survey", "version": 1, "date": date, "python": "3.13.0", "packages": [package]}


def test_a_package_has_a_page_with_causes_and_changes(tmp_path: Path) -> None:
    kept = {"name": "pkg.f", "verdict": "kept"}
    other = {"name": "pkg.g", "verdict": "not reached", "why": "no valid call was found"}
    folder, html = tmp_path / "surveys", tmp_path / "html"
    folder.mkdir()
    for data in (
        document("2026-03-01", "2.0", WIDE, other), document("2026-02-01", "2.0", kept, other),
        document("2026-01-01", "1.0", kept, other),
    ):  # fmt: skip
        (folder / f"{data['date']}.json").write_text(json.dumps(data))
    assert survey.write(html, folder) == 2
    page = (html / "survey" / "pkg.html").read_text()
    assert "pkg/a.py:3: <code>x &lt; np.zeros(2)</code>" in page
    assert "no valid call was found" in page
    assert "Since 1.0:</p><ul><li>pkg.f: kept, now wide <small>in another call</small></ul>" in page
    index = (html / "survey" / "index.html").read_text()
    assert "1 packages, 2026-03-01: 1 functions called with float32; 1 of 2 not reached (50%)." in index
    assert 'href="2026-01-01.json"' in index
    assert "100% <small>1 of 1</small>" in index
    assert (html / "survey" / "2026-01-01.json").is_file()


def test_the_packages_that_widen_most_stand_first_and_design_is_folded() -> None:
    def package(name: str, **counts: int) -> dict[str, object]:
        functions = [
            {"name": f"{name}.f{i}", "verdict": verdict.replace("_", " ")}
            for verdict, number in counts.items()
            for i in range(number)
        ]
        return {"name": name, "version": "1", "date": "2026-01-01", "functions": functions}

    few, most = package("few", kept=3, wide=1), package("most", kept=1, wide=1, mixed=1, not_reached=9)
    design = package("design", kept=1, wide_by_design=3)
    page = survey.index([few, design, most], [])
    assert re.findall(r"<a href=\"(\w+).html", page) == ["most", "few", "design"]
    shares = re.findall(r"(\d+%) <small>(\d of \d)", page)
    assert shares == [("67%", "2 of 3"), ("25%", "1 of 4"), ("0%", "0 of 4")]
    shown = survey.package_page(design, None).partition("<details>")[0]
    assert "design.f0" not in shown.replace("<wbr>", "")


def test_releases_are_compared_in_their_order_whenever_they_were_surveyed(tmp_path: Path) -> None:
    kept, unseen = ({**WIDE, "verdict": verdict} for verdict in ("kept", "no floats"))
    folder, html = tmp_path / "surveys", tmp_path / "html"
    folder.mkdir()
    for data in (
        document("2026-01-01", "1.10", WIDE), document("2026-02-01", "1.9", kept),
        document("2026-03-01", "1.8", unseen), document("2026-03-02", "1.7", WIDE),
    ):  # fmt: skip
        (folder / f"{data['date']}.json").write_text(json.dumps(data))
    survey.write(html, folder)
    page = (html / "survey" / "pkg.html").read_text()
    assert "pkg 1.10, 2026-01-01" in page and "Since 1.9:</p><ul><li>pkg.f: kept, now wide</ul>" in page
    (folder / "2026-02-01.json").unlink()
    survey.write(html, folder)
    assert "Since 1.8 no verdict has changed." in (html / "survey" / "pkg.html").read_text()


@pytest.mark.parametrize("path", sorted(survey.SURVEYS.glob("*.json")), ids=lambda path: path.name)
def test_each_survey_follows_the_schema_and_begins_with_its_date(path: Path) -> None:
    schema = json.loads((ROOT / "docs" / "survey.schema.json").read_text(encoding="utf-8"))
    data = json.loads(path.read_text(encoding="utf-8"))
    assert not [*Draft202012Validator(schema).iter_errors(data)]
    assert path.stem.startswith(data["date"])
    assert path.stat().st_size < 1_500_000
