"""The pages of implementations count what was compared, and lead to the programs that show differences."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs"))
import imitations

from typelattice.conformance.imitations.implementation import implementations
from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS
from typelattice.core.system_files.reader import system

ROOT = Path(__file__).parents[2]

CAUSE = {
    "sort": "another dtype", "cause": "arithmetic: float for signed", "calls": 3, "known": False,
    "classes": {"arithmetic": 2, "divide": 1}, "snippet": "print(x < y)",
    "example": {"op": "add", "operands": ["int8"], "expected": "int8", "found": "float32", "message": ""},
}  # fmt: skip


def document(day: str, version: str, differ: int) -> dict[str, Any]:
    classes = {"arithmetic": {"agrees": 8, "another dtype": differ}, "division": {"vague": 4}}
    row = {
        "typelattice": "comparison", "version": 1, "about": f"lib-lazy (lib {version}) with lib",
        "implementation": "lib-lazy", "versions": {"lib": version}, "with": "lib (lib 1)",
        "compared": 12 + differ, "classes": classes, "vague": {}, "causes": [CAUSE] * bool(differ),
    }  # fmt: skip
    return {"typelattice": "imitations", "version": 1, "date": day, "comparisons": [row]}


def test_a_cell_of_the_newest_release_leads_to_its_programs(tmp_path: Path) -> None:
    folder, html = tmp_path / "files", tmp_path / "html"
    folder.mkdir()
    for data in (document("2026-02-01", "2.0", 2), document("2026-01-01", "1.0", 0)):
        (folder / f"{data['date']}.json").write_text(json.dumps(data))
    assert imitations.write(html, folder) == 2
    index = (html / "imitations" / "index.html").read_text()
    assert '<a href="lib-lazy.html#arithmetic"><span class=departs>80.00%</span></a>' in index
    assert "<span class=unasked>vague</span>" in index and "never asked" in index
    assert (html / "imitations" / "2026-01-01.json").is_file()
    page = (html / "imitations" / "lib-lazy.html").read_text()
    (row,) = re.findall(r"<tr id=arithmetic>.*?(?=<tr)", page)
    assert re.findall("[0-9,]+ (?:agree|differ)", row) == ["8 agree", "2 differ", "8 agree"]
    assert row.count('<a href="#r0-1">1</a>') == 1 and "<h3 id=r0-1>" in page
    assert "<pre class=scroll>print(x &lt; y)</pre>" in page


@pytest.mark.parametrize("path", sorted(imitations.FILES.glob("*.json")), ids=lambda path: path.name)
def test_each_file_follows_the_schema_and_adds_up(path: Path) -> None:
    schema = json.loads((ROOT / "docs" / "output.schema.json").read_text(encoding="utf-8"))
    data = json.loads(path.read_text(encoding="utf-8"))
    kind = {"$ref": "#/$defs/imitations", "$defs": schema["$defs"]}
    assert not [*Draft202012Validator(kind).iter_errors(data)]
    assert path.stem == data["date"]
    assert path.stat().st_size < 1_500_000
    for row in data["comparisons"]:
        assert row["implementation"] in implementations()
        own = {*row["classes"]} - {*STANDARD_RULES_BY_CLASS}
        other = row["with"].split()[0]
        if own and other not in implementations():  # an implementation may have operations of its own
            assert own <= {op.partition("_")[0] for op in system(other).custom_operations}
        counted: Counter[str] = sum((Counter(sorts) for sorts in row["classes"].values()), Counter())
        assert sum(counted.values()) == row["compared"]
        differ = Counter[str]()
        for cause in row["causes"]:
            assert sum(cause["classes"].values()) == cause["calls"]
            differ[cause["sort"]] += cause["calls"]
        assert differ == Counter({sort: counted[sort] for sort in counted if sort not in ("agrees", "vague")})
