"""The documentation site in a browser, opened from the disk as `make docs` leaves it there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytestmark = pytest.mark.browser
SITE = Path(__file__).parents[2] / "build" / "docs" / "html"
SIZES = {"phone": (390, "dark"), "desktop": (1280, "light")}
ANSWERS = ("answers/index", "answers/divide", "answers/uint8+300", "answers/divide/int64+float16")
TELLING = ("index", "gallery/index", "gallery/python", "api/engine", "howto/porting", "live", *ANSWERS)


def pages() -> list[Path]:
    """Every page; of the thousand pages of single questions, which are all alike, a few."""
    alike = SITE / "answers"
    every = [file for file in SITE.rglob("*.html") if alike not in file.parents]
    return sorted(every + [SITE / f"{name}.html" for name in ANSWERS])


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


@pytest.mark.parametrize("reader", ["phone"], indirect=True)
def test_no_page_is_wider_than_the_window(reader: Reader) -> None:
    wide = []
    for file in pages():
        if reader.open(file).evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(file.name)
    assert wide == []


@pytest.mark.parametrize("reader", ["desktop"], indirect=True)
def test_paper_has_every_column_and_every_line_of_code_whole(reader: Reader) -> None:
    reader.page.emulate_media(media="print")
    reader.page.set_viewport_size({"width": 718, "height": 1000})  # A4 between the margins of a browser
    beyond = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 1).length"
    shown = 0
    for file in pages():
        page = reader.open(file)
        wide = page.locator(".content :is(table, pre, svg)")
        shown += wide.count()
        assert wide.evaluate_all(beyond) == 0, file
        folded = "all => all.every(one => one.scrollWidth <= one.clientWidth + 1)"
        assert page.locator(".content pre").evaluate_all(folded), file
    assert shown > 500


def test_search_finds_pages_without_a_server(reader: Reader) -> None:
    page = reader.open(SITE / "search.html", "?q=uint64")
    page.wait_for_function("document.querySelector('#search-results').innerText.includes('finished')")
    assert page.locator("#search-results li a[href*='gallery/']").count() > 10
    page = reader.open(SITE / "search.html", "?q=nosuchwordanywhere")
    page.wait_for_function("document.querySelector('#search-results').innerText.includes('did not match')")


def test_the_box_of_questions_takes_operands_in_either_order(reader: Reader) -> None:
    page = reader.open(SITE / "answers" / "index.html")
    page.get_by_label("Operands").fill("float16, int64")
    page.get_by_label("operation", exact=True).select_option("divide")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/answers/divide/int64*float16.html")
    assert page.locator("h1").inner_text() == "int64 / float16"
    page = reader.open(SITE / "answers" / "index.html")
    page.get_by_label("Operands").fill("int64 quaternion")
    page.keyboard.press("Enter")
    assert "No page of these" in page.locator("#none").inner_text()


def test_links_are_followed_by_keyboard(reader: Reader) -> None:
    page = reader.open(SITE / "index.html")
    page.get_by_role("link", name="port code", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/howto/porting.html")


@pytest.mark.parametrize("name", TELLING)
def test_axe_finds_nothing_serious(reader: Reader, name: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = reader.open(SITE / f"{name}.html")
    # What axe would preload, styles of other files, a browser does not give to pages of the disk.
    found = Axe().run(page, options={"preload": False}).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


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
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.route(lambda url: not url.startswith(own), lambda route: route.abort())
        page.goto(f"{own}live.html")
        yield page
        window.close()
        server.shutdown()


def test_the_page_that_computes_fetches_nothing_before_it_is_asked(live: Any) -> None:
    live.wait_for_load_state("networkidle")
    own = live.url.removesuffix("live.html")
    assert [url for url in live.asked if not url.startswith(own) or "pyodide" in url or ".whl" in url] == []
    assert "without it this page can compute nothing" in live.locator("#live-status").inner_text()
    live.locator("#live-names").fill("x=int8 y=it's")
    command = "typelattice explain --system numpy --system jax --system torch -- 'x * 2.0 + y' x=int8"
    assert live.locator("#live-command").inner_text() == f"{command} 'y=it'\\''s'"


def test_the_page_that_computes_says_so_where_it_cannot(live: Any) -> None:
    live.route("**/pyodide.js", lambda route: route.abort())
    live.get_by_role("button", name="Ask").click()
    said = "Python could not be fetched, so this page can compute nothing"
    live.locator("#live-status", has_text=said).wait_for()
    assert not live.locator("#live-answer").is_visible()


def test_the_page_that_computes_prints_what_the_command_prints(live: Any) -> None:
    if not live.locator("#live").get_attribute("data-base").startswith("_static"):
        pytest.skip("the site has no Pyodide of its own: make docs PYODIDE=folder")
    live.locator("#live-expression").fill("(x + 300) / y")
    live.get_by_role("button", name="Ask").click()
    live.locator("#live-status", has_text="it computed this").wait_for(timeout=120_000)
    words = ["--system", "numpy", "--system", "jax", "--system", "torch", "--", "(x + 300) / y", "x=int8"]
    asked = [sys.executable, "-m", "typelattice", "explain", *words, "y=float16:0d"]
    printed = subprocess.run(asked, capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"})
    assert live.locator("#live-answer").text_content() == printed.stdout + printed.stderr
    live.locator("#live-systems").fill("nunpy")
    live.get_by_role("button", name="Ask").click()
    live.locator("#live-answer", has_text="did you mean numpy").wait_for()


def test_the_page_that_computes_says_that_a_disk_gives_it_no_files(reader: Reader) -> None:
    page = reader.open(SITE / "live.html")
    assert "opened from a disk" in page.locator("#live-status").inner_text()
    assert page.get_by_role("button", name="Ask").is_disabled()
