"""The documentation site in a browser, opened from the disk as `make docs` leaves it there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser
SITE = Path(__file__).parents[2] / "build" / "docs" / "html"
SIZES = {"phone": (390, "dark"), "desktop": (1280, "light")}
TELLING = ("index", "gallery/python", "api/engine", "howto/porting")  # one of every sort


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
    for file in sorted(SITE.rglob("*.html")):
        if reader.open(file).evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(file.name)
    assert wide == []


def test_search_finds_pages_without_a_server(reader: Reader) -> None:
    page = reader.open(SITE / "search.html", "?q=uint64")
    page.wait_for_function("document.querySelector('#search-results').innerText.includes('finished')")
    assert page.locator("#search-results li a[href*='gallery/']").count() > 10
    page = reader.open(SITE / "search.html", "?q=nosuchwordanywhere")
    page.wait_for_function("document.querySelector('#search-results').innerText.includes('did not match')")


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
