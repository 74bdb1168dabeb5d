"""The tools: each says in its first line what it does, and `make tools` lists them."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = (".txt", ".md")
TOOLS = sorted(path for path in (ROOT / "tools").iterdir() if path.is_file() and path.suffix not in DATA)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda path: path.name)
def test_the_first_line_of_a_tool_begins_with_a_verb(tool: Path) -> None:
    text = tool.read_text(encoding="utf-8")
    first = re.search(r'(?m)^(?:"""|# )(.*)', text)
    assert first and re.match(r"[A-Z][a-z]+s ", first[1]), tool.name


def test_make_lists_every_tool() -> None:
    done = subprocess.run(["make", "tools"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  tools/")] == [
        f"tools/{path.name}" for path in sorted(TOOLS, key=lambda path: path.name)
    ]


def test_the_guide_names_every_folder_of_tests_that_is_no_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "typelattice"
    wings = {path.name for path in source.iterdir() if path.is_dir() and path.name[0] not in "_."}
    rooms = {path.parent.relative_to(source).as_posix() for path in source.glob("*/*/__init__.py")}
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name[0] not in "_."}
    assert {name for name in folders - wings if f"`tests/{name}`" not in text} == set()
    assert {name for name in wings | rooms if f"| `{name}` |" not in text} == set()
