"""The pages of the API and of the commands, from the docstrings and from the command line itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from itertools import groupby

import typelattice as tl
from typelattice.show.cli.main import COMMAND_NAMES, Parser

HEAD = """# The Python API

Everything public is a name of the package, `tl` below: `import typelattice as tl`. A name is loaded when it
is first used. This page and those it leads to are made of the docstrings, whose examples the tests run.
"""


# What people do, and the wings with the names for it.
TASKS = (
    ("Ask what dtype something has", ("core",)),
    ("Compute programs, and run arrays under any rules", ("programs",)),
    ("Compare, check and design whole systems", ("study",)),
    ("Trace a run, and fix it", ("tracing", "repair")),
    ("Draw, and print tables", ("show", "base")),
)


def pages() -> Iterator[tuple[str, str]]:
    """A page for each wing with public names, one that lists them all, and one of the commands."""
    wings = {wing: list(names) for wing, names in groupby(sorted(tl.__all__, key=_wing), key=_wing)}
    yield "api/index.md", _listing(wings)
    for wing, names in wings.items():
        yield f"api/{wing}.md", _wing_page(wing, names)
    yield "commands.md", _commands()


def _wing(name: str) -> str:
    """The wing that defines a public name. An error says that it is of the package itself."""
    return tl._MODULE_BY_LAZY_NAME[name].partition(".")[0]


def _about(wing: str) -> str:
    """The first paragraph of what a wing says of itself."""
    return (import_module(f"typelattice.{wing}").__doc__ or "").strip().partition("\n\n")[0]


def _first_line(name: str) -> str:
    """The first paragraph of a name's docstring, on one line."""
    paragraph = (getattr(tl, name).__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


def _listing(wings: dict[str, list[str]]) -> str:
    lines = [HEAD]
    listed = [wing for _, of_task in TASKS for wing in of_task]
    assert {*wings} <= {*listed}, f"TASKS lacks {sorted({*wings} - {*listed})}"
    for task, of_task in TASKS:
        lines += [f"## {task}", ""]
        for wing in filter(wings.__contains__, of_task):
            lines += [f"### [{wing}]({wing}.md)", "", _about(wing), "", "| name | what it is |", "|---|---|"]
            lines += [f"| [`tl.{n}`](#typelattice.{n}) | {_first_line(n)} |" for n in wings[wing]] + [""]
    lines += ["```{toctree}", ":hidden:", "", *wings, "```", ""]
    return "\n".join(lines)


def _wing_page(wing: str, names: list[str]) -> str:
    lines = [f"# {wing}", "", _about(wing), ""]
    for name in names:
        found = getattr(tl, name)
        is_class = isinstance(found, type)
        is_error = is_class and issubclass(found, Exception)
        directive = "autoexception" if is_error else "autoclass" if is_class else "autofunction"
        lines += [f"## {name}", "", *_fields(found), "```{eval-rst}", f".. {directive}:: typelattice.{name}"]
        lines += ["   :members:"] if is_class and not is_error else []
        lines += ["```", ""]
    return "\n".join(lines)


def _fields(found: object) -> list[str]:
    """The fields of a value that functions give, in a sentence."""
    if not (isinstance(found, type) and is_dataclass(found)):
        return []
    named = [f"`{f.name}` (`{f.type}`)" for f in fields(found) if not f.name.startswith("_")]
    return [f"Its fields: {', '.join(named)}.", ""]


def _commands() -> str:
    """What each command says of itself when it is asked for help."""
    os.environ["COLUMNS"] = "80"  # the width to which argparse folds
    lines = ["# Commands", "", "What `typelattice COMMAND --help` says.", ""]
    lines += ["Their exit statuses are [promised](promises.md).", ""]
    for name in COMMAND_NAMES:
        lines += [f"## {name}", "", "```text", Parser(name).format_help().rstrip(), "```", ""]
    return "\n".join(lines)
