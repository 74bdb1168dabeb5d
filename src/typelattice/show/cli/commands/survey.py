"""The command `survey`: calls the public functions of packages with float32, and reports wide results."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from datetime import date
from pathlib import Path

from typelattice.base.disk.write import check_writable, write_text
from typelattice.base.rendering.grid import printable
from typelattice.show.cli import interrupts
from typelattice.show.cli.command import Command, Paragraphs, add_workers_arguments, parse_duration
from typelattice.show.cli.output_checks import check_not_read


def add_arguments(parser: ArgumentParser) -> None:
    about_rows = "append each result to this file; a stopped survey continues from it"
    about_limit = "time limit for each function, in each way to find its arguments (default: 20)"
    about_packages = "a package to import: mypkg, mypkg.sub"
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help=about_packages)
    parser.add_argument("-o", "--output", metavar="FILE", help="write the result as JSON into this file")
    parser.add_argument("--rows", metavar="FILE", help=about_rows)
    parser.add_argument("--limit", type=parse_duration, default=20.0, metavar="SECONDS", help=about_limit)
    add_workers_arguments(parser)


def run(args: Namespace) -> Paragraphs:
    """Survey the packages; print each when it is done, and write the JSON at the end."""
    from typelattice.repair.survey.survey_packages import survey_packages
    from typelattice.repair.survey.survey_report import summary_line, survey_data, survey_json, survey_lines

    for path in filter(None, (args.output, args.rows)):
        check_writable(path)
    if args.output and args.rows:
        check_not_read(args.output, args.rows)
    rows = Path(args.rows) if args.rows else None
    done = []
    with interrupts.raise_on_interrupt():
        for package in survey_packages(args.packages, rows, args.limit, args.jobs, args.scheduler):
            done.append(package)
            yield from map(printable, survey_lines(survey_data([package], date.today())["packages"][0]))
    data = survey_data(done, date.today())
    yield summary_line(data["packages"])
    if args.output:
        write_text(Path(args.output), survey_json(data))


COMMAND = Command(
    "Report which public functions of packages widen float32.", add_arguments, run,
    ("mypkg", "mypkg.linalg --output survey.json", "mypkg --rows rows.jsonl --jobs 4"),
)  # fmt: skip
