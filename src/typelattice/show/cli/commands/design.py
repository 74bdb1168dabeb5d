"""The command `design`: completes a partial order at the least cost, or repairs one."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from typelattice.base.disk.write import check_writable, write_text
from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.rendering.json import json_document
from typelattice.base.rendering.terminal_output import overwrite_line, terminal_layout
from typelattice.core.dtypes.dtypes import Node
from typelattice.core.system_files.writer import node_code
from typelattice.show.cli import interrupts
from typelattice.show.cli.command import (
    Command,
    Paragraphs,
    UsageError,
    add_format_argument,
    parse_count,
    parse_duration,
)
from typelattice.show.cli.output_checks import check_not_read
from typelattice.study.designer import DESIGN_ERRORS
from typelattice.study.designer.completion import Completion, Design, design
from typelattice.study.designer.missing_nodes import MissingNodes, find_missing_nodes
from typelattice.study.designer.plan_file import DEFAULT_COSTS, DEFAULT_RULES, PlanError
from typelattice.study.designer.repair import KEPT_RULES, Repair, Repairs, find_repairs
from typelattice.study.designer.standard_demands import DEMANDS

MAX_SHOWN_CHANGES = 8  # changed answers to print for a repair


def add_arguments(parser: ArgumentParser) -> None:
    words = "; ".join(f"{d.name}: {d.description}" for d in DEMANDS.values())
    costs = f"counts to minimise, the most important first (default: {','.join(DEFAULT_COSTS)}). {words}"
    repair = "add or remove the fewest arrows until no pair has several lowest bounds"
    nodes = "print the missing nodes: with them, every pair with an upper bound has a join"
    limit = "print at most N results, all equally good (default: 5)"
    order = "the partial order: a system's name, or a .toml file"
    plan = "rules, costs and demands of your own, as a .toml file"
    rules = f"rules for every added relation (default: {','.join(DEFAULT_RULES)})"
    parser.add_argument("order", metavar="NAME|FILE", help=order)
    parser.add_argument("--rules", metavar="WORDS", help=rules)
    parser.add_argument("--costs", metavar="WORDS", help=costs)
    parser.add_argument("--plan", metavar="FILE", help=plan)
    parser.add_argument(
        "--at-most", action="append", default=[], metavar="WORD=N", help="a word and its limit",
    )  # fmt: skip
    parser.add_argument("--repair", action="store_true", help=repair)
    parser.add_argument("--every", action="store_true", help="with --repair: every pair must have a join")
    parser.add_argument("--nodes", action="store_true", help=nodes)
    parser.add_argument("--limit", type=parse_count, default=5, metavar="N", help=limit)
    parser.add_argument(
        "--seconds",
        type=parse_duration,
        metavar="S",
        help="print the best result after this time, or on Ctrl-C",
    )
    add_format_argument(parser)
    parser.add_argument("-o", "--output", metavar="FOLDER", help="write a system file for each into it")


def run(args: Namespace) -> Paragraphs:
    """Return the best completions of an order, or its smallest repairs, each with its counts."""
    if args.every and not args.repair:
        raise UsageError("design: --every needs --repair; to complete an order, put lattice among the rules")
    if args.output is not None:
        _check_folder(Path(args.output))  # check before the search, which may be long
    try:
        with interrupts.raise_on_interrupt():
            found = _search_designs(args)
    except DESIGN_ERRORS as e:
        raise e if isinstance(e, TypelatticeError) else PlanError(str(e)) from None
    finally:
        overwrite_line("")
    files = (
        [] if args.output is None else [(Path(args.output) / name, text) for name, text in _list_files(found)]
    )
    for path, _ in files:
        check_not_read(str(path), args.order, args.plan)
    written = [_write_system_file(*file) for file in files]
    if args.format == "json":
        kind = "nodes" if args.nodes else "repairs" if args.repair else "design"
        yield json_document(kind, {**found.data(), "written": written})
    elif isinstance(found, MissingNodes):
        yield from _describe_missing(args.order, found, written)
    else:
        yield from _describe_designs(args.order, found, written)


def _check_folder(folder: Path) -> None:
    if not os.path.isdir(folder):
        raise UsageError(
            f"there is no folder {quote_short(str(folder))} to write to; make it, or name another"
        )
    check_writable(folder / "found.toml")


def _search_designs(args: Namespace) -> Design | Repairs | MissingNodes:
    if not args.nodes:
        return _show_repairs(args) if args.repair else _show_completions(args)
    if args.repair or args.rules or args.costs or args.plan or args.at_most:
        raise PlanError("--nodes takes no rules and no costs: an order always lacks the same nodes")
    return find_missing_nodes(args.order)


def _list_files(design: Design | Repairs | MissingNodes) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of a system file for each result."""
    if isinstance(design, MissingNodes):
        yield f"{design.system.name}.toml", design.text
        return
    for i, each in enumerate(_list_systems(design), 1):
        numbered = isinstance(design, Repairs) and len(design) > 1
        yield f"{each.system.name}-{i}.toml" if numbered else f"{each.system.name}.toml", each.text


def _list_systems(design: Design | Repairs) -> Sequence[Completion | Repair]:
    return design.completions if isinstance(design, Design) else design.repairs


def _write_system_file(path: Path, text: str) -> str:
    """Write a system file; return its path."""
    with interrupts.raise_on_interrupt():
        write_text(path, text)
    return str(path)


def _show_completions(args: Namespace) -> Design:
    at_most = dict(map(_parse_cap, args.at_most))
    rules, costs = _split_words(args.rules), _split_words(args.costs)
    return design(args.order, rules, costs, args.limit, args.plan, at_most, args.seconds, _show_progress)


def _show_repairs(args: Namespace) -> Repairs:
    if args.costs or args.plan or args.at_most:
        raise PlanError("--repair takes --rules only: it looks for the fewest changes")
    rules = _split_words(args.rules)
    kept = KEPT_RULES if rules is None else rules
    return find_repairs(args.order, args.limit, args.every, kept, args.seconds, _show_progress)


def _describe_designs(order: str, design: Design | Repairs, written_files: Sequence[str]) -> Paragraphs:
    """Describe each design, and name the file that it was written to."""
    page = terminal_layout()
    what = "completion" if isinstance(design, Design) else "smallest repair"
    yield page.bold(_design_heading(order, len(design), what, design.is_proven, design.is_complete))
    yield ""
    if isinstance(design, Design):
        yield page.join_columns("rules", [", ".join(d.name for d in design.plan.rules) or "none"])
        yield page.join_columns(
            "costs", [", ".join(f"{word} {n}" for word, n in design.costs.items()) or "none"]
        )
        yield ""
    for i, each in enumerate(_list_systems(design), 1):
        yield from [""] if i > 1 else []
        what = str(each) if isinstance(each, Repair) else each.arrows or "nothing to add"
        yield page.join_columns(f"{i}.", [what])
        if isinstance(each, Repair) and each.changed_pairs:
            yield page.join_columns("changes", _describe_repair(each))
        short_of = ", ".join(f"{word} {n}" for word, n in each.counts.items() if n)
        yield page.join_columns("counts", [short_of or "nothing falls short"])
        if written_files:
            yield page.join_columns("written to", [written_files[i - 1]])


def _describe_missing(order: str, missing: MissingNodes, written_files: Sequence[str]) -> Paragraphs:
    """Describe the missing nodes of an order, and name the file that has them."""
    page = terminal_layout()
    if not missing:
        yield f"{order}: no node is missing; every pair with an upper bound has a join"
    else:
        number = "1 node is" if len(missing) == 1 else f"{len(missing)} nodes are"
        yield page.bold(f"{order}: {number} missing; with fewer, a pair with an upper bound has no join")
        yield ""
    for node in missing:
        pairs = [f"{node_code(a)} + {node_code(b)}" for a, b in node.pairs]
        shown = [*pairs[:MAX_SHOWN_CHANGES], *(["..."] if len(pairs) > MAX_SHOWN_CHANGES else [])]
        yield page.join_columns(
            node.name, [str(node), f"joins {', '.join(shown)}" if pairs else "joins no pair"]
        )
    if written_files:
        yield page.join_columns("written to", list(written_files))


def _describe_repair(repair: Repair) -> list[str]:
    """Count the answers that a repair changes, and show the first of them."""
    changed = (
        (f"{node_code(a)} + {node_code(b)}", _join_text(new), _join_text(old))
        for a, b, old, new in repair.changed_pairs
    )
    lines = [f"{pair}: {new}, was {old}" for pair, new, old in changed]
    return [
        f"{len(lines)} answers change",
        *lines[:MAX_SHOWN_CHANGES],
        *(["..."] if len(lines) > MAX_SHOWN_CHANGES else []),
    ]


def _design_heading(order: str, design_count: int, noun: str, proven: bool, complete: bool) -> str:
    if not proven:
        return f"{order}: the best so far; a better one may exist"
    rest = "and no other is as good" if complete else "of more that are as good; --limit shows more"
    return f"{order}: {design_count} {noun}{'s' if design_count != 1 else ''}, {rest}"


def _join_text(node: Node | None) -> str:
    return node_code(node) if node else "refused"


def _split_words(text: str | None) -> Sequence[str] | None:
    return None if text is None else [word for word in text.replace(",", " ").split() if word != "none"]


def _parse_cap(text: str) -> tuple[str, int]:
    word, _, number = text.partition("=")
    if word not in DEMANDS or not re.fullmatch("[0-9]{1,9}", number):
        near = "" if word in DEMANDS else spelling_hint(word, DEMANDS)
        raise PlanError(
            f"--at-most {quote_short(text)}{near}; write WORD=N with one of {', '.join(DEMANDS)}"
        )
    return word, int(number)


def _show_progress(seconds: float, least: tuple[int, ...], best_cost: tuple[int, ...] | None) -> None:
    found = f"found {' '.join(map(str, best_cost))}" if best_cost else "nothing found yet"
    bound = f", at least {' '.join(map(str, least))}" if least else ""
    overwrite_line(
        f"{seconds:5.0f} s: {found}{bound}; Ctrl-C for the best so far"[: terminal_layout().width - 1]
    )


COMMAND = Command(
    "Complete a partial order at the least cost, or repair one.", add_arguments, run,
    ("jep9407-0", "mine.toml --rules lattice,overflow --costs width -o .", "numpy --repair", "numpy --nodes"),
)  # fmt: skip
