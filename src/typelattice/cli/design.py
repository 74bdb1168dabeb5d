"""The command `design`: completes a partial order at the least cost, or repairs one."""
from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from typelattice.cli import interrupts
from typelattice.cli.command import Command, Paragraphs, UsageError, count, duration
from typelattice.designer import ERRORS
from typelattice.designer.completion import design
from typelattice.designer.demands import DEMANDS
from typelattice.designer.plan import COSTS, RULES, PlanError
from typelattice.designer.repair import KEPT, repairs
from typelattice.facts.dtypes import Node
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.suggest import short
from typelattice.files.writer import code
from typelattice.rendering.save import check_writable, write_text
from typelattice.rendering.terminal import layout, overwrite_line

SHOWN = 8  # answers that a repair changes


@dataclass(frozen=True, slots=True)
class Found:
    """A completion or a repair: what is said of it, and the file that it makes; a heading makes none."""

    paragraphs: list[str]
    name: str = ""
    text: str = ""


def arguments(parser: ArgumentParser) -> None:
    words = "; ".join(f"{d.name}: {d.counts}" for d in DEMANDS.values())
    costs = f"minimised, the first most (default: {','.join(COSTS)}). {words}"
    repair = "add or drop the fewest covers until no pair has several lowest bounds"
    limit = "at most so many, all equally good (default: 5)"
    order = "the partial order: a system's name, or a .toml file"
    plan = "rules, costs and demands of your own, as a .toml file"
    rules = f"kept in all that is added (default: {','.join(RULES)})"
    parser.add_argument("order", metavar="NAME|FILE", help=order)
    parser.add_argument("--rules", metavar="WORDS", help=rules)
    parser.add_argument("--costs", metavar="WORDS", help=costs)
    parser.add_argument("--plan", metavar="FILE", help=plan)
    parser.add_argument(
        "--at-most", action="append", default=[], metavar="WORD=N", help="a word, and the most it may count",
    )  # fmt: skip
    parser.add_argument("--repair", action="store_true", help=repair)
    parser.add_argument("--every", action="store_true", help="with --repair: every pair is to have a join")
    parser.add_argument("--limit", type=count, default=5, metavar="N", help=limit)
    parser.add_argument(
        "--seconds", type=duration, metavar="S", help="the best found by then; Ctrl-C shows the best so far",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FOLDER", help="a folder; write each as a system file")


def run(args: Namespace) -> Paragraphs:
    """The best completions of an order, or its smallest repairs, each with what it counts."""
    if args.output is not None:
        _check_folder(Path(args.output))  # before the search, which may be long
    try:
        with interrupts.raised():
            found = list(_repairs(args) if args.repair else _completions(args))
    except ERRORS as e:
        raise e if isinstance(e, TypelatticeError) else PlanError(str(e)) from None
    finally:
        overwrite_line("")
    for each in found:
        yield from each.paragraphs
        if args.output is not None and each.text:
            yield layout().beside("written to", [_write(Path(args.output), each)])


def _check_folder(folder: Path) -> None:
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {short(str(folder))} to write to; make it, or name another")
    check_writable(folder / "found.toml")


def _write(folder: Path, found: Found) -> str:
    """Writes a system file into the folder; returns its path."""
    path = folder / f"{found.name}.toml"
    with interrupts.raised():
        write_text(path, found.text)
    return str(path)


def _completions(args: Namespace) -> Iterator[Found]:
    at_most = dict(map(_cap, args.at_most))
    chosen = design(
        args.order, _words(args.rules), _words(args.costs), args.limit, args.plan, at_most, args.seconds,
        _progress,
    )  # fmt: skip
    yield Found([
        *_heading(args.order, len(chosen), "completion", chosen.proven, chosen.complete),
        layout().beside("rules", [", ".join(d.name for d in chosen.plan.rules) or "none"]),
        layout().beside("costs", [", ".join(f"{word} {n}" for word, n in chosen.costs.items()) or "none"]),
    ])  # fmt: skip
    for i, c in enumerate(chosen, 1):
        paragraphs = ["", layout().beside(f"{i}.", [c.arrows or "nothing to add"]), _counts(c.counts)]
        yield Found(paragraphs, c.system.name, c.text)


def _repairs(args: Namespace) -> Iterator[Found]:
    if args.costs or args.plan or args.at_most:
        raise PlanError("--repair takes --rules only: it looks for the fewest changes")
    rules = _words(args.rules)
    found = repairs(
        args.order, args.limit, args.every, KEPT if rules is None else rules, args.seconds,
        _progress,
    )  # fmt: skip
    yield Found(_heading(args.order, len(found), "smallest repair", found.proven, found.complete))
    for i, r in enumerate(found, 1):
        paragraphs = ["", layout().beside(f"{i}.", [str(r)])]
        if r.changed:
            changed = ((f"{code(a)} + {code(b)}", _joined(new), _joined(old)) for a, b, old, new in r.changed)
            lines = [f"{pair}: {new}, was {old}" for pair, new, old in changed]
            more = ["..."] if len(lines) > SHOWN else []
            paragraphs.append(layout().beside("changes", [f"{len(lines)} answers change", *lines[:SHOWN], *more]))
        name = f"{r.system.name}-{i}" if len(found) > 1 else r.system.name
        yield Found([*paragraphs, _counts(r.counts)], name, r.text)


def _heading(order: str, n: int, what: str, proven: bool, complete: bool) -> list[str]:
    many = f"{n} {what}{'s' * (n != 1)}"
    rest = "and no other is as good" if complete else "of more that are as good; --limit shows more"
    said = f"{order}: {many}, {rest}" if proven else f"{order}: the best so far; a better one may exist"
    return [layout().bold(said), ""]


def _counts(counts: Mapping[str, int]) -> str:
    short_of = ", ".join(f"{word} {n}" for word, n in counts.items() if n)
    return layout().beside("counts", [short_of or "nothing falls short"])


def _joined(node: Node | None) -> str:
    return code(node) if node else "refused"


def _words(given: str | None) -> Sequence[str] | None:
    return None if given is None else [word for word in given.replace(",", " ").split() if word != "none"]


def _cap(given: str) -> tuple[str, int]:
    word, _, number = given.partition("=")
    if word not in DEMANDS or not re.fullmatch("[0-9]{1,9}", number):
        raise PlanError(f"--at-most {short(given)}: write WORD=N with one of {', '.join(DEMANDS)}")
    return word, int(number)


def _progress(seconds: float, least: tuple[int, ...], best: tuple[int, ...] | None) -> None:
    found = f"found {' '.join(map(str, best))}" if best else "nothing found yet"
    bound = f", at least {' '.join(map(str, least))}" if least else ""
    overwrite_line(f"{seconds:5.0f} s: {found}{bound}; Ctrl-C for the best so far"[: layout().width - 1])


COMMAND = Command(
    "Completes a partial order at the least cost, or repairs one.", arguments, run,
    ("jep9407-0", "mine.toml --rules lattice,overflow --costs width -o .", "numpy --repair"),
)  # fmt: skip
