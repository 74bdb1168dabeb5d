"""The design command: its arguments, and what it prints."""
from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from typelattice.designer.completion import design
from typelattice.designer.demands import WORDS
from typelattice.designer.plan import COSTS, RULES, PlanError
from typelattice.designer.repair import KEPT, repairs
from typelattice.facts.dtypes import Node
from typelattice.files.writer import code
from typelattice.rendering.terminal import beside, bold, dim, folded, width

WIDE = 79


def design_arguments(parser: ArgumentParser) -> None:
    words = "; ".join(f"{d.name}: {d.counts}" for d in WORDS.values())
    parser.add_argument("order", metavar="NAME|FILE", help="the partial order: a system's name, or a .toml file")
    parser.add_argument("--rules", metavar="WORDS", help=f"kept in all that is added (default: {','.join(RULES)})")
    parser.add_argument("--costs", metavar="WORDS", help=f"minimised, the first most (default: {','.join(COSTS)}). {words}")
    parser.add_argument("--plan", metavar="FILE", help="rules, costs and demands of your own, as a .toml file")
    parser.add_argument("--at-most", action="append", default=[], metavar="WORD=N", help="a word and the most it may count")
    parser.add_argument(
        "--repair", action="store_true", help="add or drop the fewest covers until no pair has several lowest bounds",
    )  # fmt: skip
    parser.add_argument("--every", action="store_true", help="with --repair: every pair is to have a join")
    parser.add_argument("--limit", type=int, default=5, metavar="N", help="at most so many, all equally good (default: 5)")
    parser.add_argument("--seconds", type=float, metavar="S", help="the best found by then; Ctrl-C shows the best so far")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="write each as a system file")


def run_design(args: Namespace) -> Iterator[str]:
    """The best completions of an order, or its smallest repairs, each with what it counts."""
    try:
        found = list(_repairs(args) if args.repair else _completions(args))
    except KeyboardInterrupt:
        raise PlanError("interrupted before anything was found") from None
    finally:
        _clear()
    for name, text, paragraphs in found:
        yield from paragraphs
        if args.output and text:
            folder = Path(args.output)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name}.toml").write_text(text, encoding="utf-8")
            except OSError as e:
                raise PlanError(f"cannot write to {str(folder)[:120]!r}: {e.strerror}") from None
            yield beside("written to", [str(folder / f"{name}.toml")])


Found = Iterator[tuple[str, str, list[str]]]  # name, file, paragraphs


def _completions(args: Namespace) -> Found:
    chosen = design(
        args.order, _words(args.rules), _words(args.costs), args.limit, args.plan, dict(map(_cap, args.at_most)),
        args.seconds, _progress if sys.stderr.isatty() else None,
    )  # fmt: skip
    rules = ", ".join(d.name for d in chosen.plan.rules) or "none"
    yield "", "", [
        *_heading(args.order, len(chosen), "completion", chosen.proven, chosen.complete),
        beside("rules", [rules]),
        beside("costs", [", ".join(f"{word} {n}" for word, n in chosen.costs.items()) or "none"]),
    ]
    for i, c in enumerate(chosen, 1):
        yield c.system.name, c.text, ["", beside(f"{i}.", [c.arrows or "nothing to add"]), _counts(c.counts)]


def _repairs(args: Namespace) -> Found:
    if args.costs or args.plan or args.at_most:
        raise PlanError("--repair takes --rules only: it looks for the fewest changes")
    rules = _words(args.rules)
    found = repairs(
        args.order, args.limit, args.every, KEPT if rules is None else rules, args.seconds,
        _progress if sys.stderr.isatty() else None,
    )  # fmt: skip
    yield "", "", [*_heading(args.order, len(found), "smallest repair", found.proven, found.complete)]
    for i, r in enumerate(found, 1):
        changed = [f"{code(a)} + {code(b)}: {_met(now)}, was {_met(before)}" for a, b, before, now in r.changed]
        lines = [f"{len(changed)} answers change", *changed[:8], *["..."][: len(changed) > 8]] if changed else []
        name = f"{r.system.name}{f'-{i}' if len(found) > 1 else ''}"
        yield name, r.text, ["", beside(f"{i}.", [str(r)]), *(beside("changes", lines) for _ in lines[:1]), _counts(r.counts)]


def _heading(order: str, n: int, what: str, proven: bool, complete: bool) -> list[str]:
    many = f"{n} {what}{'s' * (n != 1)}"
    rest = "and no other is as good" if complete else "of more that are as good; --limit shows more"
    said = f"{order}: {many}, {rest}" if proven else f"{order}: the best so far; a better one may exist"
    return [bold("\n".join(folded(said, width()))), ""]


def _counts(counts: Mapping[str, int]) -> str:
    return beside("counts", [", ".join(f"{word} {n}" for word, n in counts.items() if n) or "nothing falls short"])


def _met(node: Node | None) -> str:
    return code(node) if node else "refused"


def _words(given: str | None) -> Sequence[str] | None:
    return None if given is None else [word for word in given.replace(",", " ").split() if word != "none"]


def _cap(given: str) -> tuple[str, int]:
    word, _, number = given.partition("=")
    if word not in WORDS or not number.isdigit():
        raise PlanError(f"--at-most {given[:40]!r}: write WORD=N with one of {', '.join(WORDS)}")
    return word, int(number)


def _progress(seconds: float, least: tuple[int, ...], best: tuple[int, ...] | None) -> None:
    found = f"found {' '.join(map(str, best))}" if best else "nothing found yet"
    bound = f", at least {' '.join(map(str, least))}" if least else ""
    sys.stderr.write(f"\r{dim(f'{seconds:5.0f} s: {found}{bound}; Ctrl-C for the best so far'[:WIDE])}\x1b[K")
    sys.stderr.flush()


def _clear() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
