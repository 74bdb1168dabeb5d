"""The command `explain`: the result dtype of operands, or of each step of a program, and the reason."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from shlex import join, quote
from textwrap import wrap

import typelattice as tl
from typelattice.base.errors.error_texts import clip_text, quote_short
from typelattice.base.rendering.json import json_document
from typelattice.base.rendering.terminal_output import terminal_layout
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.explanations.explanation_text import write_explanation
from typelattice.core.explanations.grouped_answers import (
    Answers,
    list_custom_dtypes,
    list_groups,
    list_notes,
    pick_example,
)
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operations.operations import OPERATIONS, OPERATORS
from typelattice.programs.calls.library_questions import forbid_questions
from typelattice.show.cli.bindings import BINDING_PATTERN
from typelattice.show.cli.command import (
    Command,
    DifferencesFound,
    Paragraphs,
    UsageError,
    add_format_argument,
    add_op_argument,
    exit_code_argument,
)
from typelattice.show.cli.link_option import link_argument, site_address

MAX_OPERANDS = 1_000
MEMBER_PATTERN = re.compile(r"[^\W\d]\w*\([-\d., ]+\)\Z")  # decimal(10,2)


def add_arguments(parser: ArgumentParser) -> None:
    operands = "an array: int8; a 0-d array: int8:0d; a weak array: int8:weak; a Python scalar: int, 300, 1.5"
    whole = "; or one program and its names: 'a*2.0 + b' a=int8:0d b=float16, FILE.py:function x=float32"
    parser.add_argument("operands", nargs="*", metavar="OPERAND", help=operands + whole)
    parser.add_argument(
        "--system", action="append", default=[], metavar="NAME|FILE",
        help="show this system in full; can be repeated",
    )  # fmt: skip
    add_op_argument(parser)
    parser.add_argument("--list-ops", action="store_true", help="list the names of operations, and end")
    parser.add_argument(
        "--no-ask", action="store_true", help="do not ask the installed library about calls without a rule"
    )
    parser.add_argument(
        "--run", action="store_true", help="import FILE.py and call its function, else it is read"
    )
    add_format_argument(parser)
    exit_code_argument(parser, "the systems differ, or one refuses")
    link_argument(parser)


def run(args: Namespace) -> Paragraphs:
    """Return the named systems, compared and in full, or all systems grouped by answer."""
    if args.list_ops:
        yield "operations, and Python's operators such as + and +=:"
        yield from (f"  {line}" for line in wrap(", ".join(sorted(OPERATIONS)), 76))
        return
    with forbid_questions() if args.no_ask else nullcontext():
        yield from _explain_operands(args)


def _explain_operands(args: Namespace) -> Paragraphs:
    if not args.operands:
        raise UsageError(
            "explain: the following arguments are required: OPERAND; see typelattice explain --help"
        )
    if len(args.operands) > MAX_OPERANDS:
        raise UsageError(
            f"explain: {len(args.operands):,} operands; at most {MAX_OPERANDS:,} are taken together"
        )
    if len(args.operands) > 1 and any(x in OPERATORS for x in args.operands):
        expression = quote(clip_text(" ".join(args.operands), 60))
        raise UsageError(f"explain: an expression is one argument: typelattice explain {expression}")
    _refuse_operations(args.operands)
    site = None if args.link is None else site_address(args.link)
    found = [tl.system(which) for which in args.system or tl.systems()]
    own = list_custom_dtypes(found)
    if any(BINDING_PATTERN.match(x) or _is_program(x, own[0]) for x in args.operands):
        from typelattice.show.cli.explain_program import explain_program

        _refuse_absent_family(args.operands, found, own[0])
        yield from explain_program(args, found, own, site)
        return
    if args.run:
        raise UsageError("explain: --run goes with a function of a file: FILE.py:function x=float32")
    op, found = _list_systems_of_module(args.op, found) if args.op else (None, found)
    answers = tl.explain(*args.operands, op=op, systems=found)
    page = [] if site is None else [f"{site}/{_link_to_answer(answers)}"]
    if args.format == "json":
        yield json_document("answers", answers.data() | ({"link": page[0]} if page else {}))
        page = []
    elif args.system:
        yield from _describe_named_systems(answers)
    else:
        yield answers.text(terminal_layout(), [f"Why? Add --system {pick_example(answers)}"])
    if page:
        yield f"\n{page[0]}"
    if args.exit_code and not answers.agree:
        raise DifferencesFound


def _refuse_operations(words: Sequence[str]) -> None:
    """Raise UsageError for an operation among the operands, with the command line to type instead."""
    named = [word for word in words if word in OPERATIONS and word not in DTYPES]
    if len(named) == 1 and (operands := [word for word in words if word not in named]):
        advice = f"type typelattice explain {join([*operands, '--op', *named])}"
        raise UsageError(f"explain: {named[0]} is an operation, and no operand; {advice}")


def _link_to_answer(answers: Answers) -> str:
    from typelattice.show.explorer.answer_addresses import answer_link  # few questions have a link

    return answer_link(next(iter(answers)))


def _list_systems_of_module(op_name: str, systems: list[tl.System]) -> tuple[str, list[tl.System]]:
    """Read the name of a library's function as an operation, and find the systems that its module follows.

    >>> _list_systems_of_module("np.add", [])
    ('add', [])
    >>> _list_systems_of_module("jax.lax.add", [tl.system("jax")])
    ('add', [<system jax-lax>])
    """
    root, *modules, name = op_name.split(".") if "." in op_name else ("", op_name)
    if not root:
        return op_name, systems
    from typelattice.programs.readers.source.python_values import library_of_name
    from typelattice.programs.replay.replay import system_of_function

    library = library_of_name(root)
    if library is None:
        return op_name, systems
    followed: dict[str, tl.System] = {}
    for s in systems:
        own = (system_of_function(s, module, library) for module in (root, *modules))
        taken = next(filter(None, own), s)
        followed[taken.name] = taken
    return name, [*followed.values()]


def _is_program(text: str, custom_dtypes: Mapping[str, tl.DType]) -> bool:
    """Return True if an argument is a program without inputs, and not an operand."""
    family = custom_dtypes.get(text.partition("(")[0])
    if family is not None and family.parameters:  # includes `decimal(3,9)`, which has its own error
        return False
    try:
        parse_operand(text, custom_dtypes)
    except tl.TypelatticeError:
        from typelattice.programs.entry_points.make_program import is_program

        return is_program(text)
    return False


def _refuse_absent_family(
    arguments: Sequence[str], systems: Sequence[tl.System], custom_dtypes: Mapping[str, tl.DType]
) -> None:
    """Raise UsageError for a member of a family that none of the systems has, but another system.

    Without this, `decimal(10,2)` would be read as a call of a function.
    """
    for text in arguments:
        member = text.partition("=")[2] if BINDING_PATTERN.match(text) else text
        family = member.partition("(")[0]
        if not MEMBER_PATTERN.match(member) or family in custom_dtypes or family in OPERATIONS:
            continue
        having = [name for name in tl.systems() if family in tl.system(name).custom_dtypes]
        if having:
            lacking = " and ".join(s.name for s in systems[:3])
            has = "has" if len(systems) == 1 else "have"
            what = f"explain: {lacking} {has} no {quote_short(member)}"
            raise UsageError(f"{what}; ask a system that has it: {', '.join(having)}")


def _describe_named_systems(answers: Answers) -> Paragraphs:
    """Return the named systems: side by side if there are several, then each in full."""
    page = terminal_layout()
    if len(answers) > 1:
        yield page.bold(answers.question)
        yield ""
        yield from list_groups(answers, page)
        yield from map(page.dim, list_notes(answers))
        yield "\n"
    yield "\n\n\n".join(write_explanation(p, page) for p in answers)


COMMAND = Command(
    "Explain the dtype of operands: in all systems, or one in full.", add_arguments, run,
    (
        "int64 float16", "int8 uint8 --system jax", "uint8 300 --op add",
        "int32:0d float --system torch --system mine.toml", "-- uint8 -1", "'a*2.0 + b' a=int8:0d b=float16",
        "int64 float16 --op divide --link https://example.org",
    ),
    exit_status=(
        "0 if there is an answer, 1 with --exit-code if systems differ or one refuses,\n"
        "  2 if there is none"
    ),
)  # fmt: skip
