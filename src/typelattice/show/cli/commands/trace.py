"""The command `trace`: runs and follows a script, and replays its run under other systems."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from contextlib import suppress
from json import dumps
from os.path import abspath
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import typelattice as tl
from typelattice.base.disk.write import check_folder, check_writable, write_text
from typelattice.base.objects.gc_pause import pause_gc
from typelattice.base.rendering.terminal_output import OutputError, print_error, print_output, terminal_layout
from typelattice.show.cli.command import (
    Command,
    Paragraphs,
    ScriptInterrupted,
    UsageError,
    error_line,
    exit_code_argument,
)
from typelattice.show.cli.interrupts import raise_on_interrupt
from typelattice.show.cli.output_checks import check_not_read

if TYPE_CHECKING:
    from typelattice.tracing.entry_points.new_findings import CheckedFindings, CheckSettings
    from typelattice.tracing.entry_points.pyproject_settings import Settings
    from typelattice.tracing.entry_points.script import EndedScript
    from typelattice.tracing.findings.findings import Findings
    from typelattice.tracing.run_data.model_run import ModelQuestions


# Long: a line or two for each option
def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--package", action="append", default=[], metavar="PKG",
        help="a package whose modules are followed, beside the script and the modules of its project; can be "
        "repeated",
    )  # fmt: skip
    parser.add_argument(
        "--only-script", action="store_true",
        help="follow no module of the project around the script: only the script, or the package of MODULE",
    )  # fmt: skip
    parser.add_argument(
        "--system", action="append", default=[], metavar="NAME|FILE",
        help="report where this system differs from the run; can be repeated",
    )  # fmt: skip
    parser.add_argument("--html", metavar="DIR", help="write annotated source pages into this folder")
    parser.add_argument("--json", metavar="FILE", help="write the recorded run into this file")
    parser.add_argument(
        "--format", choices=REPORT_FORMATS, default="text",
        help="print the report as text (default), as JSON, as SARIF 2.1, as GitHub's annotation lines, or as "
        "GitLab's code quality",
    )  # fmt: skip
    parser.add_argument("--output", metavar="FILE", help="write the report into this file")
    parser.add_argument(
        "--summary", metavar="FILE", help="also write the report as Markdown into a file, for a pull request"
    )
    exit_code_argument(
        parser, "the program succeeds, but widens a float or differs under --system", CHECK_FAILED_STATUS
    )
    parser.add_argument(
        "--since", metavar="COMMIT",
        help="report only what lines decide that changed since this commit or branch left the current one",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", metavar="FILE",
        help="report only what this file does not list (default, with --exit-code: that of pyproject.toml)",
    )  # fmt: skip
    parser.add_argument(
        "--write-baseline", action="store_true",
        help="write the file of --baseline: all findings, or, if it exists, its entries that remain",
    )  # fmt: skip
    parser.add_argument(
        "--all", action="store_true", dest="everything",
        help="show every place, and all code that was not followed",
    )  # fmt: skip
    parser.add_argument(
        "--values", action="store_true",
        help="also report what operations did to values: integers that wrap, numbers that become infinite or "
        "NaN, fractions that are cut off, sums that lose digits, updates that change nothing",
    )  # fmt: skip
    parser.add_argument(
        "--goal", metavar="DTYPE",
        help="the float that the program is meant to compute in: report what departs from it, in PyTorch "
        "also inside of modules, optimizers and the backward pass",
    )  # fmt: skip
    parser.add_argument(
        "--policy", metavar="KEY=DTYPE,...",
        help="the dtypes that are meant: of params, compute, output and state; keep=PATTERN names parameters "
        "that stay float32",
    )  # fmt: skip
    parser.add_argument(
        "--memory", action="store_true",
        help="also report the bytes of parameters, buffers, gradients, optimizer state and activations, by "
        "module and dtype",
    )  # fmt: skip
    parser.add_argument(
        "--why", action="append", default=[], metavar="NAME|LINE",
        help="instead of the report, say why the array of this name, or of this line (12 or file.py:12), "
        "has its dtype; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--cache", metavar="DIR", help="keep compiled code in this folder, so that the next run starts sooner"
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument(
        "command", nargs="*", metavar="SCRIPT ARG",
        help="a script, or the arguments of MODULE; our options stand before it; after -- all are its own",
    )  # fmt: skip


REPORT_FORMATS = ("text", "json", "sarif", "github", "gitlab")
CHECK_FAILED_STATUS = 3


# Long: each option is checked before anything runs, and the checks are in one order
def run(args: Namespace) -> Paragraphs:
    """Run the script, print the report on standard error, and end as the script ended.

    If standard error is closed, use standard output.
    """
    from typelattice.tracing.entry_points.named_places import check_packages, check_places
    from typelattice.tracing.entry_points.pyproject_settings import read_settings
    from typelattice.tracing.entry_points.script import find_project, run_script, run_script_to_exit

    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.module is None and not command:
        raise UsageError("trace: give a script, or -m and a module; see typelattice trace --help")
    written = [abspath(path) for path in (args.json, args.html, args.output, args.summary) if path]
    if len({*written}) < len(written):
        raise UsageError("trace: --html, --json, --output and --summary need paths of their own; rename one")
    if args.why and args.format != "text":
        raise UsageError("trace: --why answers as text; leave --format out")
    questions = _read_questions(args)
    settings = read_settings(Path.cwd())
    packages = args.package or settings.packages
    check_places(args.why, "".join(command[:1]), args.module, packages)
    check_packages(packages, "" if args.module else "".join(command[:1]))
    systems = [tl.system(which) for which in args.system or settings.systems]
    for file in (args.json, args.output, args.summary):
        if file is not None:
            check_not_read(file, *args.system, *([] if args.module else command[:1]))
            check_writable(file)
    for folder in (args.html, args.cache):
        if folder is not None:
            check_folder(folder)
    # The script may change the folder, and replace our streams.
    paths = (args.json, args.html, args.cache, args.output, args.summary)
    json, html, cache, report_file, summary_file = (given and abspath(given) for given in paths)
    width, errors, output = terminal_layout().width, sys.stderr, sys.stdout
    target, argv = (args.module, command) if args.module is not None else (command[0], command[1:])

    project = find_project(target, args.module is not None)
    check = _read_check(args, settings, Path(project))

    def tell(ended: EndedScript) -> int:
        from typelattice.tracing.entry_points.new_findings import check_findings
        from typelattice.tracing.findings.findings import collect_findings
        from typelattice.tracing.report.markdown_summary import write_markdown_summary
        from typelattice.tracing.report.report_entries import make_report

        if json:
            from typelattice.tracing.report.run_as_data import run_data

            write_text(json, dumps(run_data(ended.run, systems), indent=1) + "\n")
        if html:
            from typelattice.tracing.report.html_report import write_pages

            write_pages(ended.run, systems, html)
        with pause_gc():
            findings = collect_findings(ended.run, systems)
            checked = check_findings(findings, check) if check else None
            findings = checked.findings if checked else findings
            lines = _print_report(ended, findings, checked, width, args)
            if summary_file:
                verdict = [*checked.verdict_lines()] if checked and args.exit_code else []
                summary = write_markdown_summary(make_report(findings), verdict)
                write_text(summary_file, "\n".join(summary) + "\n")
        if checked and args.write_baseline:
            wrote = checked.write_baseline()
            lines += [wrote] if args.format == "text" else []
        status = CHECK_FAILED_STATUS if checked and checked.is_failure and args.exit_code else 0
        if report_file:
            write_text(report_file, "\n".join(lines) + "\n")
            return status
        try:
            print_output(lines, errors)
        except OutputError as e:  # the script may have closed the stream
            if not e.is_pipe_closed:
                with suppress(OutputError):
                    print_output(lines, output)
        return status

    values = args.values or settings.values
    options = args.module is not None, cache and Path(cache)
    followed = "" if args.only_script else project
    with raise_on_interrupt(args.ends_process):
        if args.ends_process:
            ends = tell, _refuse
            run_script_to_exit(
                target, argv, packages, *ends, *options, values=values, project=followed,
                models=questions,
            )  # fmt: skip
        ended = run_script(
            target, argv, packages, *options, tell, values=values, project=followed, models=questions
        )
        status = _report_here(ended, tell)
    _end_as(status)
    yield from ()


def _read_questions(args: Namespace) -> ModelQuestions | None:
    """Read what is asked of a model, or return None. Raises PolicyError."""
    from typelattice.tracing.run_data.model_run import ModelQuestions
    from typelattice.tracing.run_data.policy import read_policy

    has_policy = args.goal is not None or args.policy is not None
    if not has_policy and not args.memory:
        return None
    policy = read_policy(args.policy or "", args.goal) if has_policy else None
    return ModelQuestions(policy, args.memory)


def _refuse(error: tl.TypelatticeError) -> None:
    print_error(error_line(str(error)))


def _report_here(ended: EndedScript, tell: Callable[[EndedScript], int]) -> int | None:
    """Report a script that has ended in this process, unless it is a forked one. Return the status."""
    own = 0 if ended.forked else tell(ended)
    return own if ended.status == 0 else ended.status


def _end_as(status: int | None) -> None:
    """End as the script did: raise ScriptInterrupted if it was interrupted, SystemExit if it failed."""
    if status is None:
        raise ScriptInterrupted
    if status:
        raise SystemExit(status)


def _read_check(args: Namespace, settings: Settings, project: Path) -> CheckSettings | None:
    """Read what a check compares with, or return None without a check. Raises TypelatticeError."""
    from typelattice.tracing.entry_points.baseline import Baseline, open_baseline
    from typelattice.tracing.entry_points.changed_lines import read_changed_lines
    from typelattice.tracing.entry_points.new_findings import CheckSettings
    from typelattice.tracing.entry_points.pyproject_settings import find_settings_file

    file = Path(abspath(args.baseline)) if args.baseline else None
    own = find_settings_file(Path.cwd())
    if file is None and settings.baseline and own and (args.exit_code or args.write_baseline):
        file = own.parent / settings.baseline
    if args.write_baseline:
        if file is None:
            raise UsageError("trace: --write-baseline needs --baseline FILE, which says where")
        check_writable(file)
    if file is None and args.since is None and not args.exit_code:
        return None
    baseline = open_baseline(file, args.write_baseline, "--write-baseline") if file else Baseline()
    changed = None if args.since is None else read_changed_lines(args.since, str(Path.cwd()))
    return CheckSettings(project, file, baseline, changed)


def _print_report(
    ended: EndedScript, findings: Findings, checked: CheckedFindings | None, width: int, args: Namespace
) -> list[str]:
    """Print the report of a run in the requested format, in lines."""
    from typelattice.base.rendering.json import json_document
    from typelattice.tracing.report.explain_result import explain_result
    from typelattice.tracing.report.report_entries import make_report
    from typelattice.tracing.report.run_as_data import model_data
    from typelattice.tracing.report.text_report import write_findings
    from typelattice.tracing.report.tool_formats import (
        build_gitlab_report,
        build_sarif,
        entry_data,
        scope_data,
        write_github_annotations,
    )

    if args.why:
        return [line for name in args.why for line in explain_result(ended.run, name).lines(width)]
    verdict = [*checked.verdict_lines()] if checked and args.exit_code else []
    if args.format == "text":
        lines = [*write_findings(findings, width, args.everything)]
        if ended.status:
            what = f"the program ended with status {ended.status}: an operation that raised is not in the run"
            lines += ["", *wrap(f"{what}, under any system", width)]
        return [*lines, *([""] if verdict else []), *(line for each in verdict for line in wrap(each, width))]
    made = make_report(findings, args.everything)
    if args.format == "github":
        return [*write_github_annotations(made, verdict, checked is not None and checked.is_failure)]
    if args.format == "sarif":
        return dumps(build_sarif(made, tl.__version__), indent=1).splitlines()
    if args.format == "gitlab":
        return dumps(build_gitlab_report(made), indent=1).splitlines()
    data: dict[str, Any] = {
        "summary": made.summary,
        "findings": [entry_data(entry) for entry in made.entries],
        "scope": scope_data(made),
    }
    if ended.run.model is not None:
        data["model"] = model_data(ended.run.model, findings.departures)
    return json_document("report", data).splitlines()


COMMAND = Command(
    "Run a script, and report where its floats widen.", add_arguments, run,
    (
        "script.py", "--system torch --system jax script.py --epochs 3", "--package mypkg -m mypkg.train",
        "--exit-code --since origin/main script.py",
    ),
    runs_program=True,
    exit_status="that of the script; 2 if the script could not be run; with --exit-code\n"
    "  3 if the script succeeds, but the check fails",
)  # fmt: skip
