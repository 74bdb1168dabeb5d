"""The page of `typelattice explore` in a browser: what is pointed at lights up, and every state is a link."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlparse

import pytest
from samples import one_in
from visiting import NARROW, WIDE, Visitor, page_of, wait_until_drawn

import typelattice as tl
from typelattice.show.explorer.answer_addresses import describe_scope
from typelattice.show.explorer.document import Document, build_document
from typelattice.show.explorer.page import page_html as written

pytestmark = pytest.mark.browser
LIMIT = 1_600_000  # bytes of the page of all systems
VIEWS = ("table", "compare", "answers", "laws", "expression")


def cell(page: Any, row: str, column: str) -> Any:
    """The cell in a row and a column, by the titles of their labels."""
    heads = page.locator("table.grid thead th").evaluate_all("all => all.map(one => one.title)")
    rows = page.locator("table.grid tbody th").evaluate_all("all => all.map(one => one.title)")
    return page.locator(f"td[data-row='{rows.index(row)}'][data-column='{heads.index(column)}']")


def lit(page: Any, mark: str, state: str | None = None) -> set[str]:
    """The nodes with a mark, once the page has drawn a state, or else what its address says."""
    wait_until_drawn(page, state)
    return set(
        page.locator(f"svg.order .node.{mark}").evaluate_all("all => all.map(one => one.dataset.node)")
    )


def test_the_page_of_all_systems_is_small_and_shows_each(visit: Visitor, all_systems: str) -> None:
    assert Path(unquote(urlparse(all_systems).path)).stat().st_size < LIMIT
    page = visit.open(all_systems)
    names = page.locator("[name=system] option").evaluate_all("all => all.map(one => one.value)")
    assert sorted(names) == sorted(tl.systems(versions=True))
    for name in names:
        page.evaluate(f"location.hash = 'system={name}'")
        page.wait_for_function(f"() => document.title.startsWith({name + ':'!r})")
        assert page.locator("svg.order .node").count() > 0, name
    assert [address for address in visit.asked if not address.startswith("file:")] == []


def test_hovering_a_cell_lights_both_ways_the_join_and_the_bound_that_lost(visit: Visitor, some: str) -> None:
    page = visit.open(some)
    cell(page, "int16", "uint16").hover()
    pointed = "#pair=int16,uint16"
    assert lit(page, "operand", pointed) == {"int16", "uint16"} and lit(page, "join", pointed) == {"int32"}
    assert lit(page, "way", pointed) == {"int16", "uint16", "int32"}
    assert lit(page, "lost", pointed) == {"float32"}
    told = page.locator(".explanation").inner_text()
    for part in (
        "int16 with uint16 under numpy",
        "the file chooses int32; float32 lost",
        "numpy.toml, line",
        "ties = ",
    ):
        assert part in told
    assert "gives int32" in told and page.evaluate("location.hash") == ""
    page.mouse.move(0, 0)
    assert lit(page, "join") == set()


def test_what_a_cast_loses_and_what_the_library_did_is_said(visit: Visitor, some: str) -> None:
    page = visit.open(f"{some}#op=add&rows=all&columns=all&pair=int64,float32")
    told = page.locator(".explanation").inner_text()
    assert "integers above 2**53 are no longer exact" in told and "numpy 2.5" in told


def test_a_click_chooses_a_cell_and_the_address_says_so(visit: Visitor, some: str) -> None:
    page = visit.open(some)
    cell(page, "int8", "uint8").click()
    assert page.evaluate("location.hash") == "#pair=int8,uint8"
    again = visit.open(page.url)
    assert again.locator("td.chosen").inner_text() == "i16" and lit(again, "join") == {"int16"}


def test_a_click_on_a_node_shows_all_above_it(visit: Visitor, some: str) -> None:
    page = visit.open(f"{some}#system=jax")
    page.locator("[data-node='float16']").click()
    above = {str(n) for n in tl.system("jax").order.bounds(tl.dtype("float16"))}
    assert lit(page, "above") == above and "node=float16" in page.url
    page.locator("[data-node='float16']").click()
    assert lit(page, "above") == set()


def test_the_keyboard_alone_is_enough(visit: Visitor, some: str) -> None:
    page = visit.open(some)
    page.locator("[name=small]").focus()
    page.keyboard.press("Tab")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == "#pair=uint32,uint8" and lit(page, "join") == {"uint32"}
    assert page.locator("#status").inner_text() == "uint32 with uint8: uint32"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator("svg.order .node.above").first.wait_for(state="attached")
    assert "node=" in page.url and lit(page, "above")
    page.keyboard.press("/")
    page.keyboard.type("int8 uint8 torch")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.title.startsWith('torch')")
    assert lit(page, "join") == {"int16"}


@pytest.mark.parametrize(
    "state",
    [
        "system=torch&op=divide&rows=0d&columns=scalar",
        "view=compare&system=numpy&with=jax&pair=int64,float32",
        "view=answers&op=add&pair=int64,float16",
        "view=laws&system=numpy@2.4",
        "view=expression&system=numpy&with=torch&text=%28int8%2B2.0%29%2Ffloat16",
        "system=jax&small=1&node=f*",
    ],
)
def test_every_state_is_a_link(visit: Visitor, some: str, state: str) -> None:
    page = visit.open(f"{some}#{state}")
    before = page.locator("main").inner_text()
    again = visit.open(page.url)
    assert again.locator("main").inner_text() == before != ""


def test_the_back_button_leads_back(visit: Visitor, some: str) -> None:
    page = visit.open(some)
    page.locator("[name=system]").select_option("jax")
    page.locator("nav a", has_text="Laws").click()
    wait_until_drawn(page)
    assert page.locator("h2").first.inner_text() == "Laws of jax"
    page.go_back()
    page.go_back()
    page.wait_for_function("() => document.title.startsWith('numpy')")


def test_two_systems_differ_where_the_diff_says(visit: Visitor, some: str) -> None:
    page = visit.open(f"{some}#view=compare&system=numpy&with=jax")
    names = page.locator("table.grid tbody th").evaluate_all("all => all.map(one => one.title)")
    differing = len(tl.diff("numpy", "jax", tier="array", dtypes=names).differing)
    assert f"{differing} of {len(names) ** 2} answers differ" in page.locator("h2").first.inner_text()
    assert page.locator("td.differs, td.weakness, td.first, td.second").count() == differing
    assert page.locator(".pairs li").count() == differing


def test_a_comparison_that_differs_elsewhere_says_so(visit: Visitor, tmp_path: Path) -> None:
    page = visit.open(f"{page_of(tmp_path, 'numpy', 'numpy1')}#view=compare&system=numpy&with=numpy1")
    assert "0 of 196 answers differ" in page.locator("h2").first.inner_text()
    link = page.get_by_role("link", name="Of all operands")
    differing = int(link.inner_text().split()[3])
    link.click()
    wait_until_drawn(page)
    assert page.locator(".pairs li").count() == differing > 0
    assert link.count() == 0


def test_all_answers_to_a_pair_are_grouped(visit: Visitor, some: str) -> None:
    page = visit.open(f"{some}#view=answers&pair=int64,float16")
    assert page.locator("h3").all_inner_texts() == ["libraries"]
    assert page.locator("h4").all_inner_texts() == ["float16 (2)", "float64 (1)"]


def test_answers_stand_under_the_headings_of_the_command_line_with_its_words(
    visit: Visitor, tmp_path: Path
) -> None:
    systems = ("numpy", "numpy-ml-dtypes", "python", "c", "array-api", "jep9407-3")
    page = visit.open(f"{page_of(tmp_path, *systems)}#view=answers&pair=bfloat16,float16")
    told = str(tl.explain("bfloat16", "float16", systems=systems))
    shown = page.locator("main").inner_text()
    headings = page.locator("h3").all_inner_texts()
    assert headings == [line for line in told.splitlines() if line in headings] and len(headings) > 2
    assert "not asked" not in shown
    for line in told.splitlines():
        if line.startswith("  refused"):
            assert line.split(maxsplit=2)[2].rpartition(":")[0] in shown


def test_the_corner_of_a_table_stays_covered_on_a_telephone(visit: Visitor, some: str) -> None:
    page = visit.open(f"{some}#system=jax", NARROW)
    scrolled = page.locator(".scroll:has(.grid)").first
    scrolled.evaluate("at => at.scrollTo(300, 200)")
    at = scrolled.bounding_box()
    topmost = """([x, y]) => document.elementFromPoint(x, y).closest("td, th")
        === document.querySelector(".grid thead :is(td, th)")"""
    assert page.evaluate(topmost, [at["x"] + 6, at["y"] + 8])


def test_releases_that_answer_alike_are_folded_and_refusals_have_their_reasons(
    visit: Visitor, some: str, tmp_path: Path
) -> None:
    page = visit.open(f"{some}#view=answers&pair=int64,float16")
    releases = page.locator(".group", has_text="float64").locator("li").all_inner_texts()
    assert releases == ["numpy 2.5, 2.4"]
    page = visit.open(f"{page_of(tmp_path, 'jax-strict', 'array-api')}#view=answers&pair=int64,float32")
    reasons = page.locator(".reason").all_inner_texts()
    told = {tl.system(name).explain("int64", "float32").reason for name in ("jax-strict", "array-api")}
    assert {text.split(" ", 1)[-1] for text in reasons} <= {text.split(" ", 1)[-1] for text in told}
    assert reasons


@pytest.mark.parametrize(("address", "said"), [
    ("view=tabel", "view: this page has no “tabel”"), ("system=nunpy", "system: this page has no “nunpy”"),
    ("op=sqrtt", "op: this page has no “sqrtt”"), ("pair=int8,int9", "pair: no table here has “int9”"),
    ("sytem=numpy", "“sytem” is nothing that an address can say"),
])  # fmt: skip
def test_a_wrong_address_is_said_to_be_wrong(visit: Visitor, some: str, address: str, said: str) -> None:
    page = visit.open(f"{some}#{address}")
    assert page.locator(".wrong li").all_inner_texts() == [said]
    assert page.locator("table.grid").is_visible()
    page.evaluate("location.hash = 'system=jax'")
    wait_until_drawn(page)
    assert page.locator(".wrong").count() == 0


@pytest.mark.parametrize(("query", "address"), [
    ("divide jax", "#system=jax&op=divide"), ("jax /", "#system=jax&op=divide"),
    ("int8 unit8 jax", "#system=jax&pair=int8,uint8"),
    ("jaxx int8 / float16", "#system=jax&op=divide&pair=int8,float16"),
    ("nmupy@2.4 jax", "#view=compare&system=numpy@2.4&with=jax"),
    ("/int64+float16", "#system=numpy&op=add&pair=int64,float16"), ("int65 numpy", "#system=numpy"),
])  # fmt: skip
def test_search_takes_operations_with_systems_and_forgives_mistakes(
    visit: Visitor, some: str, query: str, address: str
) -> None:
    page = visit.open(some)
    page.locator("#query").fill(query)
    first = page.locator("#found a").first
    assert first.get_attribute("href") == address


def test_arrow_keys_walk_through_what_was_found(visit: Visitor, some: str) -> None:
    page = visit.open(some)
    page.keyboard.press("/")
    page.keyboard.type("int8 uint8")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "int8 with uint8: every system"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    wait_until_drawn(page)
    assert page.evaluate("location.hash") == "#system=numpy&pair=int8,uint8"
    assert page.locator("[name=rows]").input_value() == "array"


def test_compare_names_the_system_that_it_chose(visit: Visitor, some: str) -> None:
    page = visit.open(f"{some}#view=compare&system=numpy")
    assert page.locator("h2").first.inner_text().startswith("numpy and jax: ")
    assert page.locator("[name=with]").input_value() == "jax"
    assert page.evaluate("location.hash") == "#view=compare&system=numpy&with=jax"


def test_on_a_phone_the_switches_fold_and_the_table_is_seen_at_once(visit: Visitor, some: str) -> None:
    page = visit.open(some, NARROW)
    assert not page.is_visible("#choices [name=rows]")
    assert page.locator("table.grid").bounding_box()["y"] < NARROW["height"] / 3
    page.click("#choices summary")
    page.select_option("#choices [name=rows]", "scalar")
    wait_until_drawn(page)
    assert page.is_visible("#choices [name=columns]")  # it stays open
    assert "rows=scalar" in page.url and "Python scalars" in page.inner_text("#choices summary")


def test_on_a_phone_the_answer_comes_to_the_tap(visit: Visitor, some: str) -> None:
    page = visit.open(some, NARROW)
    low = cell(page, "int32", "int8")  # where the answer will lie
    assert low.bounding_box()["y"] > NARROW["height"] * 0.55
    low.click()
    answer = page.locator(".panel.answered")
    box = answer.bounding_box()
    assert 0 <= box["y"] < box["y"] + box["height"] <= NARROW["height"] + 1
    assert "int32" in answer.locator(".answer").inner_text()
    page.get_by_role("button", name="Close").click()
    wait_until_drawn(page)
    assert page.locator(".panel.answered").count() == 0


def test_nothing_is_cut_at_1100_pixels(visit: Visitor, some: str) -> None:
    page = visit.open(f"{some}#system=jax&rows=all&columns=all", {"width": 1100, "height": 900})
    cut = page.locator(".scroll").evaluate_all("all => all.map(one => one.scrollWidth - one.clientWidth)")
    assert max(cut) <= 1


def test_an_expression_is_looked_up_step_by_step(visit: Visitor, some: str) -> None:
    page = visit.open(f"{some}#view=expression&system=numpy&with=torch")
    page.locator("[name=text]").fill("(int32 + 1.5) / float16")
    page.locator("button", has_text="Ask").click()
    wait_until_drawn(page)
    shown = page.locator(".facts tbody tr")
    replay = {
        name: tl.program("(x + 1.5) / y", x="int32", y="float16").under(name) for name in ("numpy", "torch")
    }
    assert shown.nth(0).locator("td a").all_inner_texts() == ["float64", "float32"]
    assert shown.nth(1).locator("td a").all_inner_texts() == [str(r.dtype) for r in replay.values()]
    page.locator("[name=text]").fill("int32 * 2")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.facts').innerText.includes('written without *')")
    assert "typelattice explain" in page.locator("main").inner_text()
    page.locator("[name=text]").fill("int32 + (")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]")
    assert page.locator("[role=alert]").inner_text() == "something is missing at the end"


def test_the_box_of_the_site_takes_what_the_tables_do_not_hold(visit: Visitor, tmp_path: Path) -> None:
    shown, file = build_document(["numpy", "torch"], ["add"]), tmp_path / "explore.html"
    file.write_text(written(Document(shown.data | {"pages": describe_scope()})), encoding="utf-8")
    asked = "view=expression&system=numpy&with=torch&text=log1p(int8:0d)%2Bint8:0d"
    page = visit.open(f"{file.as_uri()}#{asked}")
    address = urlparse(page.get_by_role("link", name="ask the box").get_attribute("href"))
    handed_on = dict(parse_qsl(address.fragment))
    assert address.path == "live.html"
    assert handed_on == {"code": "log1p(v1)+v2", "names": "v1=int8:0d v2=int8:0d", "systems": "numpy torch"}


def test_an_operator_with_a_rule_of_its_own_is_asked_by_the_command(visit: Visitor, tmp_path: Path) -> None:
    systems = page_of(tmp_path, "tensorflow", "jax", ops=("add",))
    page = visit.open(f"{systems}#view=expression&system=tensorflow&with=jax&text=int32%2Bfloat32")
    steps = page.locator(".facts tbody td")
    told = steps.nth(0).inner_text()
    assert told.startswith("tensorflow answers the operator + by another rule than add, the function")
    words = shlex.split(steps.nth(0).locator("code").inner_text())
    command = [sys.executable, "-m", *words]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.startswith("+ of int32 and float32 under tensorflow: refused")
    of_jax = tl.system("jax").explain("int32", "float32", op="+")
    assert steps.nth(1).locator("a").inner_text() == str(of_jax.dtype)


def test_what_is_copied_runs(visit: Visitor, some: str, tmp_path: Path) -> None:
    page = visit.open(f"{some}#system=torch&op=add&pair=int8,uint8")

    def copied(name: str) -> str:
        page.locator(".copies button", has_text=name).click()
        text = page.locator("#copy-text").input_value()
        page.locator("#copy button").click()
        return text

    def run(*words: str) -> str:
        return subprocess.run(
            [sys.executable, *words], check=True, capture_output=True, text=True, cwd=tmp_path
        ).stdout

    assert run("-c", copied("Python")).startswith("add of int8 and uint8 under torch: int16")
    (tmp_path / "test_copied.py").write_text(copied("pytest"), encoding="utf-8")
    assert "1 passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_copied.py")
    assert json.loads(copied("JSON"))["answer"] == "int16"
    assert copied("link").endswith("#system=torch&op=add&pair=int8,uint8")
    image = copied("SVG")
    assert image.startswith("<svg") and "int16" in image and "var(" not in image
    page.evaluate("location.hash = 'system=torch&pair=int32,uint16'")
    page.wait_for_function("() => document.querySelector('td.chosen')?.innerText === '-'")
    (tmp_path / "test_copied.py").write_text(copied("pytest"), encoding="utf-8")
    assert "1 passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_copied.py")


@pytest.mark.parametrize(
    ("viewport", "scheme"), one_in(3, [(NARROW, "light"), (NARROW, "dark"), (WIDE, "light"), (WIDE, "dark")])
)
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_window(
    visit: Visitor, some: str, viewport: dict, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit.open(some, viewport, scheme)
    for view in VIEWS:
        page.evaluate(f"location.hash = 'view={view}&with=jax&pair=int8,uint64'")
        page.locator(f"nav a:nth-child({VIEWS.index(view) + 1})[aria-current]").wait_for()
        found = Axe().run(page).response["violations"]
        serious = [
            (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], view
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view


def test_what_is_printed_has_the_table_and_not_the_switches(visit: Visitor, some: str) -> None:
    page = visit.open(f"{some}#pair=int16,uint16")
    page.emulate_media(media="print")
    assert page.locator("table.grid").is_visible() and page.locator(".explanation").is_visible()
    assert not page.locator("#choices").is_visible() and not page.locator("#search").is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_names_in_a_file_stay_text(visit: Visitor, tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=document.title='broken'>"
    file = tmp_path / "mine.toml"
    file.write_text(
        f'name = "mine"\ntitle = "{hostile}"\nlibrary = "{hostile}"\norder = "i8 -> i16"', encoding="utf-8"
    )
    page = visit.open(page_of(tmp_path, str(file), "numpy"))
    page.evaluate("location.hash = 'system=mine'")
    page.wait_for_function("() => document.title.startsWith('mine')")
    assert hostile in page.locator(".explanation").inner_text() and page.locator("img").count() == 0
    page.evaluate(f"location.hash = 'view=answers&pair=' + encodeURIComponent({hostile!r})")
    wait_until_drawn(page)
    assert page.locator(".group, h2").count() > 0 and page.locator("img").count() == 0


def test_a_file_that_is_no_system_is_shown_with_its_mistake(visit: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('name = "bad"\norder = "i8 -> nowhere"\n', encoding="utf-8")
    page = visit.open(f"{page_of(tmp_path, str(file), 'numpy')}#system=bad.toml")
    assert "unknown" in page.locator("li.fault [role=alert]").inner_text()
    assert 'order = "i8 -> nowhere"' in page.locator("li.fault").inner_text()


@pytest.mark.parametrize("view", one_in(3, VIEWS))
def test_no_view_hides_the_mistake_of_a_file(visit: Visitor, tmp_path: Path, view: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('name = "bad"\norder = "i8 -> nowhere"\n', encoding="utf-8")
    page = visit.open(f"{page_of(tmp_path, str(file))}#view={view}")
    assert "unknown" in page.locator("li.fault [role=alert]").inner_text()


def test_a_page_begins_with_operands_that_its_system_has(visit: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\norder = "i8 -> i16 -> f32"\n', encoding="utf-8")
    address = page_of(tmp_path, str(file), ops=("add", "multiply"))
    assert visit.open(f"{address}#view=answers").locator("h4").all_inner_texts() == ["float32 (1)"]
    page = visit.open(f"{address}#view=expression")
    assert page.locator("[name=text]").input_value() == "int8 * 2.0 + float32"
    assert page.locator("main .error, main [role=alert]").count() == 0


def test_a_table_that_moves_under_a_pointer_at_rest_keeps_what_the_keys_chose(
    visit: Visitor, tmp_path: Path
) -> None:
    """A browser then tells the table of a pointer over another cell, though none has moved."""
    page = visit.open(page_of(tmp_path, "jax", ops=()))
    cell(page, "int8", "uint8").focus()
    assert lit(page, "join") == {"int16"}
    cell(page, "int8", "float16").dispatch_event("mouseover")
    assert lit(page, "join") == {"int16"}


def test_a_system_of_many_nodes_stays_usable(visit: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "large.toml"
    places = [(i, j) for i in range(8) for j in range(15)]
    facts = [
        f'n{i}_{j} = {{ kind = "float", bits = 64, precision = {3 + i}, max = {2.0 ** (10 * (j + 1)):.1f}, '
        f"min_exponent = {-10 * (j + 1)} }}"
        for i, j in places
    ]
    covers = [f"n{i}_{j} -> n{i + 1}_{j}" for i, j in places if i < 7]
    covers += [f"n{i}_{j} -> n{i}_{j + 1}" for i, j in places if j < 14]
    lines = ['name = "large"', 'order = """', *covers, '"""', "[dtypes]", *facts]
    file.write_text("\n".join(lines), encoding="utf-8")
    page = visit.open(page_of(tmp_path, str(file), ops=()))
    cell(page, "n3_4", "n5_2").hover()
    pointed = "#pair=n3_4,n5_2"
    assert lit(page, "operand", pointed) == {"n3_4", "n5_2"} and lit(page, "join", pointed) == {"n5_4"}
    assert "typelattice explain n3_4 n5_2 --system" in page.locator(".explanation").inner_text()
    cell(page, "n7_13", "n7_13").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == "#pair=n7_13,n7_14" and lit(page, "join") == {"n7_14"}
    parts = ("thead th[title=n7_14]", "td.chosen")
    head, below = (page.locator(f"table.grid {part}").bounding_box() for part in parts)
    assert below["x"] == head["x"] and below["width"] == head["width"]  # the column stands under its label
