"""Writes the outputs of examples in README.md, CONTRIBUTING.md and docs/, and the generated pages.

    python tools/pages.py             # runs every example, writes what differs, then the generated pages
    python tools/pages.py README.md   # this page alone
    python tools/pages.py --check     # exit 1 if an output is not what the page shows

A command runs in an empty folder. A block headed `toml mine.toml` or `python f.py` is a file of that name
there. Where a page shows `...`, any output is right. If the rest of such an output is stale, it is named and
not written: only a reader knows what may be left out. In a block headed `console varying` the release of a
library, times, sizes and errors may be others than the page shows.
"""
from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from typelattice.base.rendering.terminal_output import PROGRESS_LINE_PREFIX
from typelattice.repair.copies.progress import PROGRESS_PREFIX, TUNE_PREFIX
from typelattice.show.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# The slowest stand last.
GENERATORS = (
    "parsed_toml", "operations", "operands", "manual", "standard", "laws", "findings", "drawings",
    "design_page",
)  # fmt: skip
VARYING = re.compile(r"@\d+(\.\d+)*|\d+\.\d+(e[-+]\d+)?|\d+(?= (ulp|s|kB|MB)\b)")
BLOCK = re.compile(r"(?ms)^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$")
COLUMNS = "80"


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """(info string, text) of each fenced block of a page's text."""
    return ((m["info"].strip(), m["text"]) for m in BLOCK.finditer(page))


def commands(text: str) -> Iterator[tuple[str, str]]:
    """(command, output) of each `$ …` line of a console block."""
    for part in re.split(r"(?m)^\$ ", text)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.strip("\n")


def write_file(info: str, text: str) -> None:
    """Write a block that is headed by the name of a file into the current folder."""
    language, _, name = info.partition(" ")
    if language in ("toml", "python", "cpp") and "." in name:
        Path(name).write_text(text, encoding="utf-8")


def same(shown: str, printed: str, varies: bool = False) -> bool:
    """Compare an output with what a page shows, where `...` stands for any text."""
    if varies:
        shown, printed = (VARYING.sub("", text) for text in (shown, printed))
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)


def abridged(shown: str, of: str) -> bool:
    """Return True if a page leaves out part of an output, and say that it must be mended by hand."""
    if "..." in shown:
        print(f"stale, and leaves something out; mend it by hand: {of.strip()}", file=sys.stderr)
    return "..." in shown


def printed(command: str) -> str | None:
    """The output of a command in the current folder; None for a command that is not ours."""
    words = shlex.split(command)
    if words[0] == "typelattice":
        out = StringIO()
        in_columns = patch.dict(os.environ, COLUMNS=COLUMNS)
        # An example may show a command that ends with status 1.
        with redirect_stdout(out), redirect_stderr(out), in_columns, suppress(SystemExit):
            main(words[1:])
        said = out.getvalue()
    elif words[0] == "pytest":
        said = _with_plugin(words[1:])
    else:
        return None
    # A slow machine shows progress, a fast one does not.
    progress = PROGRESS_PREFIX, TUNE_PREFIX, PROGRESS_LINE_PREFIX
    lines = [line for line in said.splitlines() if not line.startswith(progress)]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _with_plugin(words: Sequence[str]) -> str:
    """The output of pytest in the current folder, with our plug-in and no other."""
    path = os.pathsep.join([str(ROOT / "src"), os.getcwd()])
    env = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": COLUMNS}
    plugin = ["-p", "no:cacheprovider", "-p", "typelattice.tracing.entry_points.pytest_plugin"]
    return run_module(["pytest", *plugin, *words], env)


def run_module(words: Sequence[str], env: Mapping[str, str]) -> str:
    """Run a module in the current folder; return what it prints."""
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False).stdout


def with_console_outputs(page: str) -> str:
    """The text of a page, each console output that differs replaced by what its command prints now."""

    def run(block: re.Match[str]) -> str:
        info, text = block["info"].strip(), block["text"]
        write_file(info, text)
        if info not in ("console", "console varying"):
            return block[0]
        for command, shown in commands(text):
            now = printed(command)
            if now is not None and not same(shown, now, info != "console") and not abridged(shown, command):
                before = f"$ {command}\n{shown}" if shown else f"$ {command}"
                text = text.replace(before, f"$ {command}\n{now}")
        return f"```{block['info']}\n{text}```"

    with TemporaryDirectory() as folder, chdir(folder):
        return BLOCK.sub(run, page)


def with_python_outputs(page: str, name: str) -> str:
    """The text of a page, each output of a Python example that differs replaced by what it prints now."""
    lines = page.splitlines(keepends=True)
    found = doctest.DocTestParser().get_doctest(page, {"__name__": "__main__"}, name, name, 0)
    replaced: list[tuple[int, int, str]] = []

    class Keeper(doctest.DocTestRunner):
        """Keeps the new output of an example that fails, with the lines where the old one stands."""

        def report_failure(self, out: object, test: object, example: doctest.Example, got: str) -> None:
            if abridged(example.want, example.source):
                return
            start = example.lineno + example.source.count("\n")
            replaced.append((start, start + example.want.count("\n"), got))

    with redirect_stdout(StringIO()), patch.dict(os.environ, COLUMNS=COLUMNS):
        Keeper(optionflags=doctest.ELLIPSIS).run(found, clear_globs=False)
    for start, end, got in reversed(replaced):
        lines[start:end] = [got.replace("\n\n", "\n<BLANKLINE>\n")]
    return "".join(lines)


def fresh(path: Path) -> str:
    """The text of a page with the outputs of now."""
    text = with_console_outputs(path.read_text(encoding="utf-8"))
    return text if path.name.startswith("findings") else with_python_outputs(text, path.name)


def run(words: Sequence[str]) -> int:
    """Write the pages that are stale, or name them; the exit status."""
    check = "--check" in words
    named = [Path(word).resolve() for word in words if word != "--check"]
    stale = False
    for path in named or PAGES:
        text = fresh(path)
        if text != path.read_text(encoding="utf-8"):
            stale = True
            print(f"{path.relative_to(ROOT)} {'is stale; run make pages' if check else 'written'}")
            if not check:
                path.write_text(text, encoding="utf-8")
    for tool in () if named else GENERATORS:
        command = [sys.executable, ROOT / "tools" / f"{tool}.py", *(["--check"] if check else [])]
        stale |= subprocess.run(command, cwd=ROOT, check=False).returncode != 0
    return int(check and stale)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
