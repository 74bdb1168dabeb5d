"""The command `draw`: the order of a system, an answer in it, two systems in one, or a program."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from io import BytesIO
from pathlib import Path

import typelattice as tl
from typelattice.base.disk.write import write_bytes
from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.rendering.drawing import DRAWING_FORMATS, Drawing
from typelattice.base.rendering.drawing_text import write_sketch
from typelattice.base.rendering.terminal_output import terminal_layout
from typelattice.programs.entry_points.make_program import program_file
from typelattice.show.cli import interrupts
from typelattice.show.cli.bindings import split_bindings
from typelattice.show.cli.command import STANDARD_OUTPUT, Command, Paragraphs, UsageError, add_op_argument
from typelattice.show.cli.output_checks import check_not_read
from typelattice.show.drawings.heat_maps import HEAT_MEASURES, HeatMap, draw_figure, heat_grid, make_heat
from typelattice.study.tables.table_labels import CODE_STYLES

FORMAT_BY_FILE_ENDING = {
    "svg": "svg",
    "png": "png",
    "dot": "dot",
    "gv": "dot",
    "mmd": "mermaid",
    "txt": "text",
    "json": "json",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("system", metavar="NAME|FILE", help="a system's name, or a .toml file")
    parser.add_argument(
        "others", nargs="*", metavar="OTHER", help="a second system: show what it adds and drops"
    )
    parser.add_argument(
        "--highlight", nargs="+", metavar="OPERAND",
        help="highlight the ways of these operands to their join, and say why the other bounds lost",
    )  # fmt: skip
    parser.add_argument(
        "--heat", choices=HEAT_MEASURES,
        help="a heat map of all pairs; loss: what casts lose; width: how wide results are; agreement: "
        "whether OTHER agrees",
    )  # fmt: skip
    add_op_argument(parser)
    parser.add_argument(
        "--program", nargs="+", metavar="TEXT",
        help="a program under the system, its casts marked: 'a*2.0 + b' a=int8:0d b=float16",
    )  # fmt: skip
    parser.add_argument(
        "--small", action="store_true",
        help="also draw integers below 8 bits and floats of at most 8 (your own system always shows them)",
    )  # fmt: skip
    parser.add_argument(
        "--codes",
        choices=CODE_STYLES,
        default="bits",
        help="i32 counts bits (default), i4 bytes, int32 is a name",
    )
    parser.add_argument(
        "--format", choices=DRAWING_FORMATS, help="the format (default: by the file extension, or text)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write: .svg .png .dot .mmd .txt .json"
    )


def run(args: Namespace) -> Paragraphs:
    """Return the drawing in the requested format, printed or written to a file."""
    args.other = _choose_other(args)
    format = _choose_format(args)
    if args.output in (None, STANDARD_OUTPUT):
        if format == "png" or (args.heat and format != "text"):
            raise UsageError("draw: name a file with -o for a PNG, and for the picture of a heat map")
        if args.heat:
            yield terminal_layout().grid(heat_grid(_make_heat_map(args)))
            return
        drawing = _draw_requested(args)
        text = (
            write_sketch(drawing.placed, terminal_layout().width) if format == "text" else drawing.to(format)
        )
        yield text.rstrip("\n")
        return
    check_not_read(args.output, args.system, args.other, *map(program_file, args.program or ()))
    with interrupts.raise_on_interrupt():
        content = (
            _heat_content(args, format) if args.heat else _read_drawn_content(_draw_requested(args), format)
        )
        write_bytes(Path(args.output), content)
    yield f"wrote {args.output}"


def _choose_other(args: Namespace) -> str | None:
    """Return the second system, if there is one. Raises UsageError for operands and for a third system."""
    operands = [word for word in args.others if _is_operand(word)]
    if operands:
        advice = f"type typelattice draw {shlex.join([args.system, '--highlight', *operands])}"
        raise UsageError(f"draw: {operands[0]} is an operand, and no system; to show its ways, {advice}")
    if len(args.others) > 1:
        raise UsageError(f"draw: {args.others[1]} is a third system; draw two at a time")
    return next(iter(args.others), None)


def _is_operand(word: str) -> bool:
    try:
        tl.operand(word)
    except tl.TypelatticeError:
        return False
    return word not in tl.systems(versions=True)


def _read_drawn_content(drawing: Drawing, format: str) -> bytes:
    if format == "png":
        return drawing.to_png()
    return (drawing.to(format).rstrip("\n") + "\n").encode()


def _make_heat_map(args: Namespace) -> HeatMap:
    """Return a heat map of one system, or of the agreement of two. Raises UsageError."""
    if args.program or args.highlight:
        raise UsageError("draw: a heat map shows all pairs; leave out --program and --highlight")
    if (args.heat == "agreement") != (args.other is not None):
        raise UsageError("draw: --heat agreement takes two systems; loss and width take one")
    table: tl.Table | tl.Diff = (
        tl.table(args.system, op=args.op, small=args.small)
        if args.other is None
        else tl.diff(args.system, args.other, op=args.op, tier="array", small=args.small)
    )
    return make_heat(table, args.heat)


def _heat_content(args: Namespace, format: str) -> bytes:
    """Return a heat map as a file. Raises UsageError."""
    if format not in ("svg", "png", "text"):
        raise UsageError("draw: a heat map is written as .svg, .png or .txt")
    found = _make_heat_map(args)
    if format == "text":
        return (tl.render(heat_grid(found)) + "\n").encode()
    file = BytesIO()
    # Without a date, and with fixed names: the same map gives the same file.
    metadata = {"Date": None} if format == "svg" else {}
    draw_figure(found).savefig(file, format=format, dpi=200, metadata=metadata)
    return file.getvalue()


def _choose_format(args: Namespace) -> str:
    """Return the named format, or the format of the file's extension. Raises UsageError."""
    if args.format:
        return str(args.format)
    if args.output in (None, STANDARD_OUTPUT):
        return "text"
    ending = Path(args.output).suffix.removeprefix(".").lower()
    if ending not in FORMAT_BY_FILE_ENDING:
        endings = ", ".join(f".{each}" for each in FORMAT_BY_FILE_ENDING)
        what = (
            f"no format ends in {quote_short(f'.{ending}')}{spelling_hint(ending, FORMAT_BY_FILE_ENDING)}"
            if ending
            else f"{quote_short(args.output)} has no ending"
        )
        raise UsageError(f"draw: {what}; a format is known by one of {endings}, or by --format")
    return FORMAT_BY_FILE_ENDING[ending]


def _draw_requested(args: Namespace) -> Drawing:
    if args.program is None:
        return tl.draw(
            args.system,
            args.other,
            highlight=args.highlight or (),
            op=args.op,
            small=args.small,
            codes=args.codes,
        )
    if args.other or args.highlight or args.op:
        raise UsageError("draw: a program is drawn under one system, without OTHER, --highlight and --op")
    text, bound = split_bindings(args.program)
    return tl.draw(tl.program(text, tl.system(args.system), **bound), args.system)


COMMAND = Command(
    "Draw a system's order, one answer in it, or two systems.", add_arguments, run,
    (
        "jax -o jax.svg", "numpy --highlight int8 uint8", "numpy jax -o both.svg",
        "mine.toml --format mermaid", "numpy --program 'a*2.0 + b' a=int8 b=float16 -o program.svg",
    ),
)  # fmt: skip
