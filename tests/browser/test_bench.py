"""The workbench of `typelattice explore --edit` in a browser: covers are edited, and the file is saved."""
from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from visiting import NARROW, Visitor

pytestmark = pytest.mark.browser
TEXT = 'name = "mine"\norder = """\ni8 -> i16, f16  # stays\nu8 -> i16\ni16 -> f32\nf16 -> f32\n"""\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def address(file: Path) -> Iterator[str]:
    with served(file) as found:
        yield found


@contextmanager
def served(file: Path) -> Iterator[str]:
    """Where the command serves the workbench of a file."""
    words = [sys.executable, "-m", "typelattice", "explore", "--edit", str(file), "--no-browser"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        yield re.sub(r"\s", "", server.stderr.readline())
        server.terminate()


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_a_cover_is_added_undone_and_saved(visit: Visitor, address: str, file: Path) -> None:
    page = visit.open(address)
    page.locator("[data-node='uint8']").click()
    page.locator("[data-node='float16']").click()
    press(page, "Add arrow")
    page.locator("dd", has_text="uint8 + int8").first.wait_for()
    without, lost, gained, *_ = page.locator("dd").all_inner_texts()
    assert (without, lost, gained) == ("uint8 + int8", "uint8 + int8", "none")
    press(page, "Undo")
    page.locator("dd", has_text="no pair").wait_for()
    press(page, "Redo")
    press(page, "Save")
    page.locator(".message", has_text=f"Saved {file}").wait_for()
    assert file.read_text(encoding="utf-8") == TEXT.replace('f32\n"', 'f32\nu8 -> f16\n"')


def test_the_keyboard_alone_drops_a_cover_and_every_view_shows_it(visit: Visitor, address: str) -> None:
    page = visit.open(address)
    page.locator("[name=lower]").select_option("int16")
    page.locator("[name=upper]").select_option("float32")
    page.get_by_role("button", name="Drop arrow").focus()
    page.keyboard.press("Enter")
    page.locator("dd", has_text="no bound").wait_for()
    page.locator("nav a", has_text="Table").click()
    page.locator("table.grid").wait_for()
    heads = page.locator("table.grid thead th").evaluate_all("all => all.map(one => one.title)")
    row, column = heads.index("int16"), heads.index("float32")
    assert page.locator(f"td[data-row='{row}'][data-column='{column}']").inner_text() == "-"


def test_of_many_pairs_without_a_join_the_first_are_named(visit: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "wide.toml"
    file.write_text('name = "wide"\norder = "b; u8; u16; u32; u64; i8; i16; i32; i64"\n', encoding="utf-8")
    with served(file) as address:
        told = visit.open(address).locator("dd").first.inner_text()
    assert told.endswith(" and 12 more") and told.count("+") == 24  # of 36 pairs of 9 dtypes


def test_a_mistake_is_shown_in_its_place_and_nothing_is_saved(
    visit: Visitor, address: str, file: Path
) -> None:
    page = visit.open(address)
    page.locator("summary").click()
    page.locator("textarea[name=text]").fill(TEXT.replace("u8 -> i16", "u8 -> <b>nowhere"))
    press(page, "Take this text")
    page.locator("li.fault", has_text="u8 -> <b>nowhere").wait_for()
    assert page.get_by_role("button", name="Save").is_disabled() and page.locator("main b").count() == 0
    assert file.read_text(encoding="utf-8") == TEXT
    press(page, "Undo")
    page.locator("svg.order").wait_for()


def test_unsaved_work_outlives_a_reload_and_is_asked_for(visit: Visitor, address: str, file: Path) -> None:
    page = visit.open(address)
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.locator("[name=lower]").select_option("int16")
    page.locator("[name=upper]").select_option("float32")
    press(page, "Drop arrow")
    page.locator("dd", has_text="no bound").wait_for()
    page.reload()
    page.locator(".message", has_text="Your unsaved text is back").wait_for()
    assert asked == ["beforeunload"] and "i16 -> f32" not in page.locator("textarea[name=text]").input_value()
    page.locator("summary").click()
    page.locator("textarea[name=text]").fill(TEXT + "# typed\n")  # and not taken
    page.reload()
    page.locator(".message", has_text="Your unsaved text is back").wait_for()
    assert page.locator("textarea[name=text]").input_value() == TEXT + "# typed\n"
    press(page, "Save")
    page.locator(".message", has_text=f"Saved {file}").wait_for()
    assert file.read_text(encoding="utf-8") == TEXT + "# typed\n"
    page.reload()
    page.locator("svg.order").wait_for()
    assert asked == ["beforeunload"] * 2 and page.locator(".message").count() == 0


def test_a_draft_of_a_file_that_changed_says_so(visit: Visitor, address: str, file: Path) -> None:
    page = visit.open(address)
    page.on("dialog", lambda dialog: dialog.accept())
    page.evaluate("text => localStorage.setItem(text, JSON.stringify({ text: '# mine', saved: 'older' }))",
                  f"typelattice: draft of {file}")  # fmt: skip
    page.reload()
    page.locator(".message", has_text="The file has changed since then: saving replaces it.").wait_for()


def test_a_change_made_elsewhere_is_kept(visit: Visitor, address: str, file: Path) -> None:
    page = visit.open(address)
    file.write_text("# theirs\n", encoding="utf-8")
    press(page, "Save")
    page.locator(".message", has_text="was changed elsewhere").wait_for()
    assert file.read_text(encoding="utf-8") == "# theirs\n"


def test_a_repair_is_applied_and_another_system_compared(visit: Visitor, address: str) -> None:
    page = visit.open(address)
    page.locator("[name=lower]").select_option("uint8")
    page.locator("[name=upper]").select_option("float16")
    press(page, "Add arrow")
    page.locator("dd", has_text="uint8 + int8").first.wait_for()
    press(page, "Search")
    page.get_by_role("button", name="Apply").first.click()
    page.locator("dd", has_text="no pair").wait_for()
    page.locator("[name=other]").fill("numpy")
    press(page, "Compare")
    page.locator("h2", has_text="mine and numpy").wait_for()


def test_axe_finds_nothing_serious_on_the_workbench(visit: Visitor, address: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit.open(address, NARROW, "dark")
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_text_is_checked_while_it_is_typed_and_keys_undo(
    visit: Visitor, address: str, file: Path
) -> None:
    page = visit.open(address)
    page.get_by_text("The text of the file").click()
    area = page.get_by_label("Text of the file")
    area.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("End")
    page.get_by_role("group", name="Write a dtype").get_by_role("button", name="c64", exact=True).click()
    page.locator("[role=status]", has_text="Line 1: ").wait_for()
    assert page.locator(".numbers").bounding_box()["height"] > 100
    assert page.locator(".numbers").inner_text().split() == [str(n + 1) for n in range(TEXT.count("\n") + 1)]
    area.fill(TEXT.replace("f16 -> f32\n", "").replace(", f16", ""))
    page.locator("[role=status]", has_text="valid system").wait_for()
    press(page, "Take this text")
    page.locator("dt", has_text="removed").wait_for()
    page.locator("h2").first.click()
    page.keyboard.press("Control+z")
    page.locator("dt", has_text="removed").wait_for(state="detached")
    page.keyboard.press("Control+y")
    page.locator("dt", has_text="removed").wait_for()
    page.keyboard.press("Control+s")
    page.locator(".message", has_text="Saved ").wait_for()
    assert "f16" not in file.read_text(encoding="utf-8")
