"""Writes docs/design.md and docs/design.svg from docs/design.toml: every figure is computed."""
from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from generated import write_pages
from scatter_svg import Mark, Steps, plot

import typelattice as tl
from typelattice.core.engine.system import System
from typelattice.core.system_files.writer import node_code
from typelattice.study.designer import DEMANDS, Completion, ConflictError, Design, design, find_repairs
from typelattice.study.designer.pareto_front import COMPARED_COSTS, Placement, place_on_front, walk_front

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
START, WITH_BF16 = "jep9407-0", ROOT / "examples/designs/jep9407-bf16.toml"
FEWEST = 4  # results of a higher kind: uint64 with each signed integer, in any lattice
KEPT = ["component", "overflow", "subset", "weak"]
COLUMNS = ("lattice", "precision", "width", "width64", "magnitude", "kind", "overflow")
HEADS = ("refused", "lose precision", "wider", "64-bit", "lose magnitude", "higher kind", "wrap")


def row(*cells: object) -> str:
    return "| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |"


def head(*cells: object) -> list[str]:
    return [row(*cells), "|" + "---|" * len(cells)]


def start(scalars: bool) -> System:
    """The JEP's partial lattice; with Python scalars that cost nothing, if so wished."""
    partial = tl.system(START)
    return partial if scalars else partial.replace(defaults={})


def arrows(found: Sequence[Completion]) -> str:
    return " or ".join(f"`{c.arrows}`" for c in found)


def equal(a: System, b: System) -> bool:
    return all({*a.order.bounds(n)} == {*b.order.bounds(n)} for n in b.order.nodes)


def option(given: dict[str, object]) -> str:
    """An option, its criteria, and whether they single it out."""
    partial = start(bool(given["scalars"]))
    found = design(partial, given["rules"], given["costs"], 10)
    target = tl.system(given["system"])
    if "extra" in given:
        target = target.replace(order=f"...\n{given['extra']}")
    same = [c for c in found if equal(c.system, target)]
    others = [c for c in found if c not in same]
    said = f"an optimum; so is {arrows(others)}" if others else "the only optimum"
    said = said if same else f"beaten by {arrows(found.completions)}"
    rules = ", ".join(w for w in given["rules"] if w not in KEPT) or "none more"
    scalars = "as their defaults" if given["scalars"] else "nothing"
    proven = said if found.is_proven and found.is_complete else "not proven"
    return row(given["name"], given["idea"], scalars, rules, costs(found), proven)


def costs(found: Design) -> str:
    return ", ".join(f"{word} {n}" for word, n in found.costs.items())


def options(data: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    yield from head(
        "", "criterion", "scalars cost", "further rules", "costs, the weightiest first", "is it singled out?"
    )
    yield from map(option, data["option"])


def without(data: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    yield from head(
        "criterion", "scalars cost", "costs, the weightiest first", "best", "lose magnitude", "relations"
    )
    for given in data["without"]:
        found = design(start(bool(given["scalars"])), ["lattice", *KEPT], given["costs"], 4)
        counts = found[0].counts
        scalars = "as their defaults" if given["scalars"] else "nothing"
        yield row(
            given["idea"],
            scalars,
            costs(found),
            arrows(found.completions),
            counts["magnitude"],
            counts["relations"],
        )


def conflicts(data: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    for given in data["conflict"]:
        try:
            design(START, given["rules"], [])
        except ConflictError as e:
            yield f"- {' with '.join(f'*{word}*' for word in e.rules)}: {given['text']}."


def bfloat16() -> Iterator[str]:
    """What each option comes to with `f* -> bf16 -> f32`, nothing else changed, and the best place for it."""
    yield from head(
        "",
        "several bounds",
        "refused, before",
        "with bf16",
        "wider, before",
        "with bf16",
        "what else would help",
    )
    for n in "0123":
        old = tl.system(f"jep9407-{n}")
        new = tl.system(f"jep9407-{n}").replace(order="...\nf* -> bf16 -> f32")
        others = ", ".join(node_code(node) for node in old.order.nodes)
        plan = {"demands": {"others": {"avoid": f"{others} -> {others}"}}}
        before, after = (design(s, ["relations"], [])[0].counts for s in (old, new))
        best = design(new, [*KEPT, "kind", "precision", "others"], ["lattice", "width", "relations"], 3, plan)
        split = (
            sum(len(new.order.minimal_bounds(a, b)) > 1 for a in new.order.nodes for b in new.order.nodes)
            // 2
        )
        cells = [counts[w] for w in ("lattice", "width") for counts in (before, after)]
        yield row(f"Option {n}", split, *cells, arrows(best.completions) if best[0].added_covers else "none")


def verdict(p: Placement) -> str:
    if p.is_on_front:
        return "on the front"
    if p.dominating_completion:
        counts = ", ".join(str(p.dominating_completion.counts[word]) for word in COMPARED_COSTS)
        return f"off: `{p.dominating_completion.arrows or 'nothing added'}` has {counts}"
    if p.counts["overflow"]:
        return "beyond, by integers that wrap"
    return "beyond, by refusals" if p.counts["lattice"] else "beyond, by ties: no order's joins"


def places(found: Sequence[Placement]) -> Iterator[str]:
    yield from head("", *HEADS, "place")
    ranked = sorted(
        found, key=lambda p: (p.counts["lattice"], p.counts["width"], p.counts["precision"], p.system.name)
    )
    for p in ranked:
        yield row(p.system.name, *(p.counts[word] for word in COLUMNS), verdict(p))


def fronts(order: str | Path, most: dict[str, int] = {}) -> Iterator[str]:
    yield from head(
        "lose precision", "wider", "64-bit", "lose magnitude", "higher kind", "add to the partial lattice"
    )
    for c in walk_front(order, at_most=most):
        yield row(
            *(c.counts[w] for w in ("precision", "width", "width64", "magnitude", "kind")), f"`{c.arrows}`"
        )


def picture(found: Sequence[Placement]) -> str:
    """The plane of criteria 4 and 5: the front, and all systems, those that refuse pairs hollow."""
    groups: dict[tuple[int, int], list[Placement]] = {}
    for p in found:
        groups.setdefault((p.counts["precision"], p.counts["width"]), []).append(p)
    marks = []
    for (x, y), at in sorted(
        groups.items(), key=lambda g: (min(p.counts["lattice"] for p in g[1]) > 0, g[0][1], g[0][0])
    ):
        refused = [f" ({p.counts['lattice']} refused)" if p.counts["lattice"] else "" for p in at]
        named = ", ".join(f"{p.system.name}{n}" for p, n in zip(at, refused, strict=True))
        marks.append(Mark(x, y, named, hollow=all(refused)))
    caps: dict[str, dict[str, int]] = {
        "the best lattices there are": {},
        "the best that keep integers from complex": {"kind": FEWEST},
    }
    lines = [
        Steps([(c.counts["precision"], c.counts["width"]) for c in walk_front(START, at_most=most)], text)
        for text, most in caps.items()
    ]
    return plot(
        "Criteria 4 and 5 of JEP 9407",
        "results that lose precision",
        "results wider than both operands",
        marks,
        lines,
    )


def page() -> tuple[str, str]:
    """The page and its picture."""
    with (DOCS / "design.toml").open("rb") as file:
        data = tomllib.load(file)
    found = [place_on_front(name, START) for name in tl.systems()]
    with_bf16 = [
        place_on_front(name, WITH_BF16)
        for name in tl.systems()
        if tl.system(name).explain("bfloat16", "bfloat16").dtype
    ]
    beyond = next(p for p in found if p.system.name == "numpy").counts
    fixed = find_repairs("numpy")
    sections = {
        "WORDS": [f"- *{d.name}*: {d.description}" for d in DEMANDS.values()],
        "OPTIONS": options(data), "WITHOUT": without(data),
        "CONFLICTS": conflicts(data), "BFLOAT16": bfloat16(),
        "FRONT": fronts(START),
        "PLAIN": fronts(START, {"kind": FEWEST}), "FRONT16": fronts(WITH_BF16),
        "PLACES": places(found), "PLACES16": places(with_bf16),
        "REPAIRS": [f"- {r}: {len(r.changed_pairs)} answers change" for r in fixed],
        "NUMPY": [f"({beyond['precision']}, {beyond['width']})"],
    }  # fmt: skip
    text = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    for name, lines in sections.items():
        assert f"{{{name}}}" in text, name
        text = text.replace(f"{{{name}}}", "\n".join(lines))
    return text, picture(found)


if __name__ == "__main__":
    write_pages(dict(zip((DOCS / "design.md", DOCS / "design.svg"), page(), strict=True)))
