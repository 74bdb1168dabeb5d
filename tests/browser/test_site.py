"""The documentation site in a browser, opened from the disk as `make docs` leaves it there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from samples import one_in

pytestmark = pytest.mark.browser
SITE = Path(__file__).parents[2] / "build" / "docs" / "html"
SIZES = {"phone": (390, "dark"), "desktop": (1280, "light")}
ANSWERS = ("answers/index", "answers/divide", "answers/uint8+300", "answers/divide/int64+float16")
TELLING = (
    "index", "gallery/index", "gallery/python", "api/core", "howto/porting", "live", "404",
    "search", "design", "documents", "gallery/numpy",
    "conformance/index", "conformance/numpy", *ANSWERS,
)  # fmt: skip


PARTS = 4  # of all pages


def pages(part: int) -> list[Path]:
    """A part of all pages; of the thousand pages of single questions, which are all alike, a few."""
    alike = SITE / "answers"
    every = [file for file in SITE.rglob("*.html") if alike not in file.parents]
    return sorted(every + [SITE / f"{name}.html" for name in ANSWERS])[part::PARTS]


class Reader:
    """Reads pages of the site, and keeps what the console said and what was asked of a network."""

    def __init__(self, page: Any) -> None:
        self.page, self.said, self.asked = page, list[str](), list[str]()
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, file: Path, query: str = "") -> Any:
        self.page.goto(file.as_uri() + query)
        return self.page


@pytest.fixture(params=SIZES)
def reader(request: pytest.FixtureRequest, chromium: Any) -> Iterator[Reader]:
    """Reads on a phone in the dark, and at a desk; no console is to say anything, no network to be asked."""
    if not SITE.is_dir():
        pytest.skip("the site is not built: make docs")
    width, scheme = SIZES[request.param]
    window = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    found = Reader(window.new_page())
    yield found
    window.close()
    assert found.said == []
    assert [url for url in found.asked if not url.startswith("file:")] == []


@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
@pytest.mark.parametrize("reader", ["phone"], indirect=True)
def test_no_page_is_wider_than_the_window(reader: Reader, part: int) -> None:
    wide = []
    for file in pages(part):
        if reader.open(file).evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(file.name)
    assert wide == []


@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS), 1))
@pytest.mark.parametrize("reader", ["desktop"], indirect=True)
def test_paper_has_every_column_and_every_line_of_code_whole(reader: Reader, part: int) -> None:
    reader.page.emulate_media(media="print")
    reader.page.set_viewport_size({"width": 718, "height": 1000})  # A4 between the margins of a browser
    beyond = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 1).length"
    shown = 0
    for file in pages(part):
        page = reader.open(file)
        wide = page.locator(".content :is(table, pre, svg)")
        shown += wide.count()
        assert wide.evaluate_all(beyond) == 0, file
        folded = "all => all.every(one => one.scrollWidth <= one.clientWidth + 1)"
        assert page.locator(".content pre").evaluate_all(folded), file
    assert shown > 500 / PARTS


def test_search_finds_pages_without_a_server(reader: Reader) -> None:
    page = reader.open(SITE / "search.html", "?q=uint64")
    page.wait_for_function("document.querySelector('#search-results').innerText.includes('finished')")
    assert page.locator("#search-results li a[href*='gallery/']").count() > 10
    page = reader.open(SITE / "search.html", "?q=nosuchwordanywhere")
    page.wait_for_function("document.querySelector('#search-results').innerText.includes('did not match')")


def test_the_box_of_questions_leads_to_the_page_of_one(reader: Reader) -> None:
    page = reader.open(SITE / "answers" / "index.html")
    page.get_by_label("Question").fill("int64 / float16")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/answers/divide/int64*float16.html")
    assert page.locator("h1").inner_text() == "int64 / float16"
    page = reader.open(SITE / "answers" / "index.html")
    page.get_by_label("Question").fill("int64 quaternion")
    page.keyboard.press("Enter")
    assert "No page answers this" in page.locator("#none").inner_text()
    page.get_by_role("link", name="Compute it as code").click()
    page.wait_for_url("**/live.html#code=int64+quaternion*")


def test_links_are_followed_by_keyboard(reader: Reader) -> None:
    page = reader.open(SITE / "index.html")
    page.get_by_role("link", name="port code", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/howto/porting.html")


@pytest.mark.parametrize("reader", ["desktop"], indirect=True)
def test_drawings_follow_the_switch_of_the_theme(reader: Reader) -> None:
    page = reader.open(SITE / "index.html")
    ink = "getComputedStyle(document.querySelector('.drawing svg text')).fill"
    light = page.evaluate(ink)
    page.evaluate("document.body.dataset.theme = 'dark'")
    assert page.evaluate(ink) != light


@pytest.mark.parametrize(("reader", "name"), one_in(3, [*product(SIZES, TELLING)], 1), indirect=["reader"])
def test_axe_finds_nothing(reader: Reader, name: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = reader.open(SITE / f"{name}.html")
    # What axe would preload, styles of other files, a browser does not give to pages of the disk.
    found = Axe().run(page, options={"preload": False}).response["violations"]
    assert [one["id"] for one in found] == []


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def live(chromium: Any) -> Iterator[Any]:
    """The page that computes, on a server of its own; what it asks of others goes nowhere."""
    if not SITE.is_dir():
        pytest.skip("the site is not built: make docs")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        window = chromium.new_context()
        page = window.new_page()
        own = f"http://127.0.0.1:{server.server_port}/"
        page.own, page.asked = own, []
        page.on("request", lambda request: page.asked.append(request.url))
        page.route(lambda url: not url.startswith(own), lambda route: route.abort())
        page.goto(f"{own}live.html")
        yield page
        window.close()
        server.shutdown()


def test_every_file_that_a_page_asks_for_is_there(live: Any) -> None:
    missing = []
    live.on("response", lambda found: missing.append(found.url) if found.status >= 400 else None)
    for name in (*TELLING, "explore", "imitations/index", "survey/index"):
        live.goto(f"{live.own}{name}.html", wait_until="load")
    assert missing == []


def _has_own_python(page: Any) -> bool:
    return page.locator("#live").get_attribute("data-base").startswith("_static")


def _show(page: Any, code: str, names: str, systems: str) -> None:
    page.get_by_label("Function").fill(code)
    page.get_by_label("Its arguments").fill(names)
    page.get_by_label("Under these systems").fill(systems)
    page.get_by_role("button", name="Show its dtypes").click()


def test_the_box_asks_nobody_else_before_its_reader_does(live: Any) -> None:
    live.wait_for_load_state("networkidle")
    own = live.url.removesuffix("live.html")
    fetched = [url for url in live.asked if not url.startswith(own) or "pyodide" in url or ".whl" in url]
    if _has_own_python(live):
        assert [url for url in fetched if not url.startswith(own)] == []
        assert "nothing that you write leaves" in live.locator("#live-status").inner_text()
    else:
        assert fetched == []
        assert "without it this box can compute nothing" in live.locator("#live-status").inner_text()


@pytest.mark.parametrize("reader", ["phone"], indirect=True)
def test_an_example_is_answered_in_sight_and_without_python(reader: Reader) -> None:
    page = reader.open(SITE / "index.html")
    page.get_by_role("button", name="From NumPy 1 to 2").click()
    summary = page.locator("#live-answer .summary")
    assert "numpy1 and numpy first differ in line 2" in summary.inner_text()
    # The page scrolls to the answer, which takes a moment.
    page.wait_for_function(
        """() => {
            const edge = (name) => document.querySelector(name).getBoundingClientRect();
            const top = edge("#live-answer .summary").top;
            return edge(".mobile-header").bottom <= top && top < 844;
        }"""
    )
    assert "Computed when this site was built" in page.locator("#live-status").inner_text()


def test_the_first_page_leads_to_the_page_of_a_pair(reader: Reader) -> None:
    page = reader.open(SITE / "index.html")
    page.get_by_label("Question").fill("float16 with int64 in PyTorch")
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers/int64*float16.html")
    assert "torch" in page.locator(".sum").inner_text()


def test_the_box_says_so_where_it_cannot_compute(live: Any) -> None:
    live.context.route("**/pyodide.mjs", lambda route: route.abort())
    live.reload()
    _show(live, "x + 1", "x=int8", "numpy")
    said = "Python could not be fetched, so this box can compute nothing"
    live.locator("#live-status", has_text=said).wait_for()
    assert not live.locator("#live-answer").is_visible()


def test_the_box_shows_each_line_under_each_system(live: Any) -> None:
    if not _has_own_python(live):
        pytest.skip("the site has no Pyodide of its own: make docs PYODIDE=folder")
    answer = live.locator("#live-answer")
    code = "def f(x, n):\n    y = x + 1\n    return y / n"
    _show(live, code, "x=float32[3] n=int64", "numpy torch")
    answer.locator("table").wait_for(timeout=120_000)
    assert "numpy and torch first differ in line 3, at y / n." in answer.locator("li").all_inner_texts()
    assert len(live.workers) == 1  # Python does not hold up the page
    differing = answer.locator("tr.differs .chip")
    assert differing.all_inner_texts() == ["float64", "float32"]
    steps = answer.locator("#live-steps-2")
    assert not steps.is_visible()
    live.get_by_role("button", name="steps of line 2").focus()
    live.keyboard.press("Enter")
    assert "1 fits in float32; rule: numpy.toml" in steps.inner_text()
    linked = live.context.new_page()
    linked.goto(live.url)
    linked.locator("#live-answer table").wait_for(timeout=120_000)
    assert linked.get_by_label("Function").input_value() == code


def test_the_box_shows_a_mistake_under_its_line_and_runs_nothing(live: Any) -> None:
    if not _has_own_python(live):
        pytest.skip("the site has no Pyodide of its own: make docs PYODIDE=folder")
    mistake = live.locator(".mistake")
    _show(live, "y = x + 1\ny.<img src=x onerror=alert(1)>", "x=int8", "numpy")
    mistake.wait_for(timeout=120_000)
    assert live.locator("#live-answer img").count() == 0
    _show(live, "y = x + 1\nz = __import__('js').alert(1)\nz", "x=int8", "numpy")
    live.locator("#live-answer pre", has_text="2: z = __import__").wait_for()
    _show(live, "x + 1", "x=int8", "nunpy")
    live.locator(".mistake", has_text="did you mean numpy").wait_for()
    _show(live, "x + 1\n" * 41, "x=int8", "numpy")
    live.locator(".mistake", has_text="at most 40 lines").wait_for()


def test_the_page_that_computes_says_that_a_disk_gives_it_no_files(reader: Reader) -> None:
    page = reader.open(SITE / "live.html")
    assert "opened from a disk" in page.locator("#live-status").inner_text()
    assert page.get_by_role("button", name="Show its dtypes").is_disabled()
