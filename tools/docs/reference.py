"""The pages of the API and of the commands, from the docstrings and from the command line itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from itertools import groupby

import typelattice as tl
from typelattice.cli.main import COMMAND_NAMES, Parser

HEAD = """# The Python API

Everything public is a name of the package, `tl` below: `import typelattice as tl`. A name is loaded when it
is first used. This page and those it leads to are made of the docstrings, whose examples the tests run.
"""


# What people do, and the rooms with the names for it.
TASKS = (
    (
        "Ask what dtype something has",
        ("engine", "explanations", "operands", "recorded", "facts", "files", "support"),
    ),
    ("Compare systems and libraries", ("study", "conformance")),
    ("Draw, and print tables", ("drawings", "rendering")),
    ("Compute programs, and run arrays under any rules", ("programs", "calls", "namespaces")),
    ("Trace a run, and fix it", ("tracing", "fixing")),
    ("Design rules, and write them as code", ("designer", "codegen")),
)


def pages() -> Iterator[tuple[str, str]]:
    """A page for each room with public names, one that lists them all, and one of the commands."""
    rooms = {room: list(names) for room, names in groupby(sorted(tl.__all__, key=_room), key=_room)}
    yield "api/index.md", _listing(rooms)
    for room, names in rooms.items():
        yield f"api/{room}.md", _room_page(room, names)
    yield "commands.md", _commands()


def _room(name: str) -> str:
    return str(getattr(tl, name).__module__).split(".")[1]


def _about(room: str) -> str:
    """The first paragraph of what a room says of itself."""
    return (import_module(f"typelattice.{room}").__doc__ or "").strip().partition("\n\n")[0]


def _first_line(name: str) -> str:
    """The first paragraph of a name's docstring, on one line."""
    paragraph = (getattr(tl, name).__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


def _listing(rooms: dict[str, list[str]]) -> str:
    lines = [HEAD]
    listed = [room for _, of_task in TASKS for room in of_task]
    assert {*rooms} <= {*listed}, f"TASKS lacks {sorted({*rooms} - {*listed})}"
    for task, of_task in TASKS:
        lines += [f"## {task}", ""]
        for room in filter(rooms.__contains__, of_task):
            lines += [f"### [{room}]({room}.md)", "", _about(room), "", "| name | what it is |", "|---|---|"]
            lines += [f"| [`tl.{n}`](#typelattice.{n}) | {_first_line(n)} |" for n in rooms[room]] + [""]
    lines += ["```{toctree}", ":hidden:", "", *rooms, "```", ""]
    return "\n".join(lines)


def _room_page(room: str, names: list[str]) -> str:
    lines = [f"# {room}", "", _about(room), ""]
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
