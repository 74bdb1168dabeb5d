"""The result of a survey as JSON, and in words."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from typelattice.base.errors.error_texts import clip_text
from typelattice.repair.survey.survey_packages import SurveyedPackage
from typelattice.repair.survey.surveyor_handle import NO_VALID_CALL, OWN_EXAMPLES, SurveyRow
from typelattice.repair.survey.wide_by_design import reason_of_design

SURVEY_FORMAT_VERSION = 1
VERDICTS = ("kept", "wide", "mixed", "wide by design", "refused", "no floats", "not reached")
MAX_CALL_CHARS = 60  # longest text of a call or a reason
ROW_KEYS = ("name", "verdict", "call", "source", "wide", "cause", "no_cause", "design", "why", "did")


def survey_data(packages: Sequence[SurveyedPackage], day: date) -> dict[str, Any]:
    """Return a survey as plain data; docs/survey.schema.json describes it."""
    return {
        "typelattice": "survey",
        "version": SURVEY_FORMAT_VERSION,
        "date": day.isoformat(),
        "python": platform.python_version(),
        "packages": [
            {
                "name": package.name,
                "version": package.version,
                "functions": [_function_data(name, package.rows[name]) for name in sorted(package.rows)],
            }
            for package in sorted(packages, key=lambda package: package.name)
        ],
    }


def _function_data(name: str, row: SurveyRow) -> dict[str, Any]:
    data = {**row, "name": name, "no_cause": row.get("no cause")}
    if data.get("source") == OWN_EXAMPLES or row["verdict"] == "no floats":
        data.pop("source", None)
    for key in ("call", "why"):
        if row["verdict"] == "no floats":
            data.pop(key, None)
        elif key in row:
            data[key] = clip_text(row[key].removeprefix(NO_VALID_CALL), MAX_CALL_CHARS)
    reason = reason_of_design(name) if row["verdict"] in ("wide", "mixed") else None
    if reason:
        data |= {"verdict": "wide by design", "design": reason}
        del data["no_cause"]
        data.pop("cause", None)
    return {key: data[key] for key in ROW_KEYS if data.get(key)}


def survey_json(data: dict[str, Any]) -> str:
    """Write a survey as JSON, a function on each line."""
    heads = {key: value for key, value in data.items() if key != "packages"}
    parts = []
    for package in data["packages"]:
        lines = ",\n".join(f"   {json.dumps(each)}" for each in package["functions"])
        heading = f' "name": {json.dumps(package["name"])}, "version": {json.dumps(package["version"])}'
        parts.append(f'  {{{heading}, "functions": [\n{lines}\n  ]}}')
    head = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in heads.items())
    return f'{{\n{head},\n "packages": [\n' + ",\n".join(parts) + "\n ]\n}\n"


def count_verdicts(functions: Sequence[dict[str, Any]]) -> dict[str, int]:
    counts = Counter(each["verdict"] for each in functions)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def survey_lines(package: dict[str, Any]) -> Iterator[str]:
    """Describe a package in lines: the counts, and the functions that widen with their first wide lines."""
    counts = ", ".join(f"{n} {verdict}" for verdict, n in count_verdicts(package["functions"]).items() if n)
    yield f"{package['name']} {package['version']}: {counts or 'no public functions'}"
    for each in package["functions"]:
        if each["verdict"] in ("wide", "mixed"):
            cause = each.get("cause")
            where = f"{cause['file']}:{cause['line']}: {cause['text']}" if cause else each.get("no_cause", "")
            yield f"{each['verdict']} {each['name']}: {where}"


def summary_line(packages: Sequence[dict[str, Any]]) -> str:
    """Return the number of reached functions, and the share of those that were not reached."""
    counts = count_verdicts([each for package in packages for each in package["functions"]])
    total, missed = sum(counts.values()), counts["not reached"]
    share = missed / total if total else 0.0
    reached = f"{total - missed:,} functions called with float32"
    return f"{reached}; {missed:,} of {total:,} not reached ({share:.0%})"
