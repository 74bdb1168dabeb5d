"""The page of findings says what the recordings say, and its snippets do what they show."""
from __future__ import annotations

import doctest
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from samples import one_in

from typelattice.core.registry.libraries import recordings

ROOT = Path(__file__).parents[2]
FINDINGS = tomllib.loads((ROOT / "docs" / "findings.toml").read_text(encoding="utf-8"))["finding"]
HERE = Path(sys.prefix).name.removeprefix(".venv-")  # as the Makefile calls the environments
SHOWN = [f for f in FINDINGS if "snippet" in f and HERE in f.get("env", "live").split()]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
TESTED = f"doctest.testfile(sys.argv[1], False, optionflags={OPTIONS})"
RUN = f"import doctest, sys; raise SystemExit({TESTED}.failed)"


@pytest.mark.parametrize(
    "finding", [f for f in FINDINGS if "snippet" in f and "recorded" in f], ids=lambda f: f["title"]
)
def test_a_snippet_runs_in_the_environment_of_a_release_that_the_finding_names(
    finding: dict[str, Any],
) -> None:
    """Otherwise its values would be those of a release that the finding says nothing of."""
    named = {recordings()[name].environment for name in finding["recorded"]}
    assert named & {*finding.get("env", "live").split()}


def test_a_finding_that_says_whether_it_is_documented_says_so_first() -> None:
    said = [f["documented"].partition(":")[0] for f in FINDINGS if "documented" in f]
    assert said and {*said} <= {"no", "otherwise", "yes"}


@pytest.mark.live
@pytest.mark.parametrize("finding", one_in(5, SHOWN), ids=lambda f: f["title"])
def test_a_snippet_does_what_it_shows(finding: dict[str, str], tmp_path: Path) -> None:
    if "needs" in finding:
        pytest.importorskip(finding["needs"])
    page = tmp_path / "snippet.txt"
    page.write_text(finding["snippet"], encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, str(page)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr[-500:]
