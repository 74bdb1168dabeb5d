"""Writes docs/standard.md: where libraries agree beyond the array API standard, and contradict it."""
from __future__ import annotations

from pathlib import Path

from generated import write_pages

import typelattice as tl
from typelattice.study.tables.consensus import find_contradicted, find_undefined
from typelattice.study.tables.study_scope import TierChoice

PAGE = Path(__file__).parents[1] / "docs" / "standard.md"
AGREEING = ("numpy", "jax", "torch", "tensorflow-all")
ASKED = (
    "numpy",
    "numpy1",
    "jax",
    "jax-x32",
    "torch",
    "tensorflow-all",
    "mlx",
    "dask",
    "cupy",
    "ndonnx",
    "keras-jax",
)
TIERS: dict[TierChoice, str] = {
    "array": "two arrays",
    "0d": "a 0-d array and an array",
    "scalar": "a Python scalar and an array",
}


def page() -> str:
    """The whole page."""
    standard = tl.system("array-api")
    lines = [
        "# For those who write the standard", "",
        f"This page compares {', '.join(AGREEING)} on the dtypes of the array API standard",
        f"({standard.title}). The systems equal the libraries' recorded answers. `tools/standard.py`",
        "writes this page.",
        "", "## Agreement by tier", "",
        "| operands | pairs | agreed | contested | refused by some |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for tier, words in TIERS.items():
        found = tl.consensus(*AGREEING, tier=tier)
        counts = " | ".join(str(len(found.pairs(sort))) for sort in ("agreed", "contested", "refused"))
        lines.append(f"| {words} | {len(found.answers)} | {counts} |")
    arrays = tl.consensus(*AGREEING)
    pairs = find_undefined(standard, arrays)
    lines += ["", "## Undefined pairs on which all agree", ""]
    lines += [
        f"{len(pairs)} unordered pairs ({2 * len(pairs)} cells of the table):",
        "",
        "| pair | dtype |",
        "|---|---|",
    ]
    lines += [f"| {a} + {b} | {next(iter(arrays.by_answer(a, b)))} |" for a, b in pairs]
    lines += [
        "",
        "## Contradictions",
        "",
        "The standard defines these cells, and a library gives a different answer.",
        "",
    ]
    lines += ["| system | cells | which |", "|---|---|---|"]
    for name in ASKED:
        broken = find_contradicted(standard, tl.system(name))
        said = [
            f"{' + '.join(map(str, p.operands))}: {p.dtype}, here {q.dtype or 'refused'}"
            for p, q in broken[:6]
        ]
        lines.append(f"| {name} | {len(broken)} | {'; '.join(said)}{'; …' * (len(broken) > 6)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_pages({PAGE: page()})
