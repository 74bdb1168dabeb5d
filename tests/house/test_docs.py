"""What the documents show is what happens: console examples, lists of keys and errors, the demo."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forked import fork_searches, run_python
from samples import one_in

import typelattice as tl
from typelattice.core.dtypes.dtypes import KINDS_BY_WORD
from typelattice.core.engine.rule_enums import InPlaceRule, PairJoin, RightLimit, WeakResult
from typelattice.core.engine.scalar_fit import FIT_CONDITIONS, FIT_OUTCOMES
from typelattice.core.losses.cast_rounding_and_overflow import OVERFLOW_WORDS, ROUNDING_WORDS
from typelattice.core.system_files.custom_dtypes import TYPE_BY_FACT
from typelattice.core.system_files.operation_entries import OPERANDS_BY_SIDE_WORD, OPERATION_KEYS
from typelattice.core.system_files.reader import COMBINE_WORDS
from typelattice.core.system_files.system_definition import TYPE_BY_KEY
from typelattice.tracing.report.run_as_data import run_data

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs"))
import pages
from build import MADE, gallery

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = [ROOT / "docs" / page for page in MADE]  # when the site is built


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_examples_print_what_the_page_says(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes are forked here; `make pages` starts them as users do."""

    def run_module(words: Sequence[str], env: Mapping[str, str]) -> str:
        return run_python(*words, folder=Path.cwd(), variables=env).stdout

    fork_searches(monkeypatch)
    monkeypatch.setattr(pages, "run_module", run_module)
    text = page.read_text(encoding="utf-8")
    assert pages.with_console_outputs(text) == text, "run make pages"
    assert capsys.readouterr().err == ""  # an output with `...` is stale


def test_outputs_that_changed_are_written_into_a_page() -> None:
    stale = "```console\n$ typelattice --version\nold\n```\n"
    assert pages.with_console_outputs(stale) == stale.replace("old", f"typelattice {tl.__version__}")
    varying = "```console varying\n$ typelattice --version\ntypelattice {}\n```\n"
    assert pages.with_console_outputs(varying.format("9.7.0")) == varying.format("9.7.0")
    assert pages.with_console_outputs(varying.format("old")) == varying.format(tl.__version__)
    assert pages.with_python_outputs(">>> 1 + 1\n3\n", "x") == ">>> 1 + 1\n2\n"
    assert pages.with_python_outputs(">>> [1, 2]\n[1, ...]\n", "x") == ">>> [1, 2]\n[1, ...]\n"


@pytest.mark.live
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_that_need_a_framework_run(page: Path, tmp_path: Path) -> None:
    """They run beside the files of their page."""
    found = [*pages.blocks(page.read_text(encoding="utf-8"))]
    with chdir(tmp_path):
        for info, text in found:
            pages.write_file(info, text)
    for text in (text for info, text in found if info == "python live"):
        env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        argv = [sys.executable, "-W", "ignore", "-c", text]
        done = subprocess.run(argv, capture_output=True, text=True, env=env, cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def first_column(page: Path, heading: str) -> set[str]:
    """The code words in the first column of the table under a heading."""
    section = page.read_text(encoding="utf-8").partition(f"# {heading}\n")[2].partition("\n#")[0]
    assert section, f"no section {heading!r} in {page.name}"
    rows = re.findall(r"(?m)^\|([^|]*)\|", section)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


@pytest.mark.parametrize(
    ("page", "heading", "words"),
    [
        ("keys", "Keys", {*TYPE_BY_KEY}),
        ("dtypes", "Ways to combine", {*COMBINE_WORDS}),
        ("dtypes", "Facts of a dtype of your own", {*TYPE_BY_FACT}),
        ("operands", "What becomes of a value out of range", {*FIT_OUTCOMES, *FIT_CONDITIONS}),
        ("keys", "Kinds", {*KINDS_BY_WORD}),
        (
            "operations", "What may be written into the left operand",
            {"gives", *(f'"{word}"' for word in InPlaceRule)},
        ),
        (
            "operations", "What becomes of a weak result",
            {"weak-result", *(f'"{word}"' for word in WeakResult)},
        ),
        ("operations", "Keys of an operation", {*OPERATION_KEYS}),
        ("operations", "Pairs of operands", {*OPERANDS_BY_SIDE_WORD, "0d integer"}),
        (
            "dtypes", "Explicit casts",
            {*ROUNDING_WORDS, *OVERFLOW_WORDS, "needs quantize", "refused: the reason"},
        ),
        ("operations", "Joins of pairs", {f'"{word}"' for word in PairJoin}),
        ("operations", "An integer on the right", {"limits.right", *(f'"{word}"' for word in RightLimit)}),
    ],
)
def test_pages_of_the_format_list_exactly_what_the_loader_knows(
    page: str, heading: str, words: set[str]
) -> None:
    assert first_column(ROOT / "docs" / f"format-{page}.md", heading) == words


PUBLIC = {name: getattr(tl, name) for name in tl.__all__}
ERRORS = {name: x for name, x in PUBLIC.items() if isinstance(x, type) and issubclass(x, Exception)}


WITH_MATPLOTLIB = {"heatmap"}  # whose example would need it, in docs/drawings.md


@pytest.mark.parametrize("name", sorted({*PUBLIC} - {*ERRORS} - WITH_MATPLOTLIB))
def test_public_name_is_shown_in_an_example(name: str) -> None:
    """In its own docstring, in those of its methods, or in that of the function that makes it."""
    found = PUBLIC[name]
    methods = vars(found).values() if isinstance(found, type) else ()
    made_by = PUBLIC.get({"Tuning": "tune"}.get(name, name.lower()))
    assert any(">>>" in (getattr(x, "__doc__", None) or "") for x in (found, *methods, made_by))


def test_errors_page_lists_exactly_the_public_errors_and_their_bases() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"(?m)^\| `(\w+)` \| (\w+) \|", page))
    assert stated == {name: error.__bases__[-1].__name__ for name, error in ERRORS.items()}


def test_runs_page_lists_exactly_the_keys_of_the_document() -> None:
    run = tl.trace(lambda x: x / 2, np.ones(3, np.float32)).run
    found = run_data(run, ["torch"])
    wrong = (replace(run.observations[-1], operand=tl.operand("float16")),)
    (mismatch,) = run_data(replace(run, observations=(*run.observations[:-1], *wrong)))["mismatches"]
    page = ROOT / "docs" / "runs.md"
    assert first_column(page, "The document") == {*found}
    assert first_column(page, "A step") == {*found["steps"][0]}
    assert first_column(page, "A mismatch") == {*mismatch}
    (departure,) = run_data(tl.trace(lambda x: x**-1, np.ones(0, np.int32)).run)["departures"]
    assert first_column(page, "A departure") == {*departure}


def test_the_index_lists_each_page() -> None:
    """The site's build refuses a page that no list has, and takes minutes to say so."""
    folder = Path(__file__).parents[2] / "docs"
    listed = {*re.findall(r"(?m)^([a-z0-9/-]+)$", (folder / "index.md").read_text())}
    pages = [*folder.glob("howto/*.md"), folder / "books.md"]
    assert {str(page.relative_to(folder).with_suffix("")) for page in pages} <= listed


def test_no_two_files_of_tests_have_one_name() -> None:
    """Tests are collected by the names of their files: of two, one is left out."""
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert [name for name in {*names} if names.count(name) > 1] == []


def test_links_lead_to_files_of_the_project() -> None:
    for page in (*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve()
            assert path.exists() or path in GENERATED, f"{page.name}: {target}"


def test_links_to_a_heading_lead_to_one() -> None:
    for page in (*PAGES, ROOT / "CONTRIBUTING.md"):
        for target, place in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            there = (page.parent / target).resolve() if target else page
            headings = re.findall(r"(?m)^#+ (.*)$", there.read_text(encoding="utf-8"))
            found = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
            assert place in found, f"{page.name}: {target}#{place}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("walk*.md")), ids=lambda page: page.name)
def test_a_walk_names_files_functions_and_methods_that_there_are(page: Path) -> None:
    words = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    files = [word for word in words if re.fullmatch(r"\w+/[\w/]+\.\w+", word)]
    code = "".join((ROOT / "src" / "typelattice" / file).read_text(encoding="utf-8") for file in files)
    methods = [word.split(".") for word in words if re.fullmatch(r"[A-Z]\w+\.[a-z]\w+", word)]
    assert files and methods
    for cls, method in methods:
        assert re.search(rf"(?m)^class {cls}\b", code) and f"def {method}(" in code, f"{cls}.{method}"
    for function in (word for word in words if re.fullmatch(r"[a-z]+(_[a-z]+)+", word)):
        assert f"def {function}(" in code, function


def test_the_guide_shows_the_file_of_an_older_release_as_it_is() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shipped = (ROOT / "src" / "typelattice" / "systems" / "numpy@2.4.toml").read_text(encoding="utf-8")
    assert f"```text\n{shipped}```" in text


def test_each_release_in_the_list_of_changes_has_a_date_and_the_newest_is_ours() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"(?m)^## (.+)$", changes)
    dated = re.compile(r"(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)")
    released = [dated.fullmatch(heading) for heading in headings if heading != "Unreleased"]
    assert all(released) and released[0] and released[0][1] == tl.__version__
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {released[0][1]}\ndate-released: {released[0][2]}\n" in cited


def test_nothing_is_installed_by_our_name_as_long_as_the_index_does_not_have_it() -> None:
    """Until it is uploaded, the name on the package index is not ours. After that this test goes."""
    written = (*PAGES, ROOT / "CONTRIBUTING.md", *(ROOT / "src").rglob("*.py"))
    by_name = re.compile(r"pip install [^`\n]*(?<![./\w])typelattice")
    assert [page for page in written if by_name.search(page.read_text(encoding="utf-8"))] == []


def test_the_example_of_helpers_runs_over_what_is_installed() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    command = [sys.executable, ROOT / "examples" / "helpers.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("result float32: -1.3416") >= 2


@pytest.mark.whole  # the examples of README show the same, and `.ci/run` runs the demo
def test_the_demo_finds_patches_and_draws(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    argv = [sys.executable, ROOT / "examples" / "demo.py"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "images.py:8: scaled - MEAN" in done.stderr
    assert "+++ b/images.py" in done.stdout
    assert "<svg" in (tmp_path / "build" / "demo" / "images.svg").read_text(encoding="utf-8")


def test_the_predictions_hold_in_80_columns() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    argv = [sys.executable, ROOT / "examples" / "predictions.py"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", one_in(3, tl.systems(), 2))
def test_the_gallery_tells_what_is_particular_to_a_system_once(name: str) -> None:
    told = [*gallery._particulars(tl.system(name))]
    assert len(told) == len({*told}) < 30
