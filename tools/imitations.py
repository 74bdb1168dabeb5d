"""Compares the implementations that come along with what they imitate, and writes dated JSON for the site.

    python tools/imitations.py --into docs/imitations/2026-11-25.json              # all that run here
    python tools/imitations.py --into docs/imitations/2026-11-25.json torch-meta   # these

An implementation whose library is not installed is named and left out. Run it in each environment that has
another release: the rows of other releases in the file are kept.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from typelattice.conformance.imitations.compare_implementation import (
    ComparisonError,
    compare_implementation,
    comparison_data,
)
from typelattice.conformance.imitations.implementation import implementations
from typelattice.conformance.recording.library import CannotAskError, MissingLibraryError


def main() -> None:
    """Compare the implementations named, or all; write the file after each."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--into", type=Path, required=True, metavar="FILE")
    parser.add_argument("--calls", type=int, default=4_000, metavar="N", help="calls of each (default: 4000)")
    about_few = "calls of one that needs a second or more for each (default: 200)"
    parser.add_argument("--few", type=int, default=200, metavar="N", help=about_few)
    about_limit = "seconds for a call (default: 30); more on a machine with other work"
    parser.add_argument("--limit", type=float, default=30, metavar="SECONDS", help=about_limit)
    args = parser.parse_args()
    rows: list[Mapping[str, Any]] = []
    if args.into.exists():
        rows = json.loads(args.into.read_text(encoding="utf-8"))["comparisons"]
    for name in args.names or implementations():
        calls = args.few if implementations()[name].get("slow") else args.calls
        try:
            found = compare_implementation(name, None, calls, limit=args.limit, by_class=True)
        except (MissingLibraryError, CannotAskError, ComparisonError) as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        data = {"typelattice": "comparison", "version": 1, **comparison_data(found, found.causes)}
        rows = [row for row in rows if key_of(row) != key_of(data)] + [data]
        args.into.write_text(document(rows, date.today()), encoding="utf-8")
        print(f"{found.subject_line}: {found.compared_count:,} calls, {len(found.causes)} causes", flush=True)


def key_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """The implementation of a row and its versions, which stand in a file once."""
    return row["implementation"], json.dumps(row["versions"])


def document(rows: Sequence[Mapping[str, Any]], day: date) -> str:
    """The comparisons of a day as JSON, in the order of the table, with a line for each cause."""
    order = [*implementations()]
    rows = sorted(rows, key=lambda row: (order.index(row["implementation"]), key_of(row)))
    return (
        f'{{"typelattice": "imitations", "version": 1, "date": "{day}", "comparisons": [\n'
        + ",\n".join(map(_row, rows))
        + "\n]}\n"
    )


def _row(row: Mapping[str, Any]) -> str:
    causes = ",\n  ".join(map(json.dumps, row["causes"]))
    rest = json.dumps({key: value for key, value in row.items() if key != "causes"})
    return f'{rest[:-1]}, "causes": [\n  {causes}\n ]}}' if causes else f'{rest[:-1]}, "causes": []}}'


if __name__ == "__main__":
    main()
