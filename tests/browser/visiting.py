"""Pages in a browser: opened, and listened to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typelattice.show.explorer.document import build_document
from typelattice.show.explorer.page import page_html as written

NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1400, "height": 900}


class Visitor:
    """Opens pages in a window of its own; collects what the console and the network had to say."""

    def __init__(self, chromium: Any) -> None:
        self.chromium, self.said, self.asked, self.windows = chromium, list[str](), list[str](), list[Any]()

    def open(self, address: str, viewport: dict = WIDE, scheme: str = "light") -> Any:
        window = self.chromium.new_context(viewport=viewport, color_scheme=scheme)
        self.windows.append(window)
        page = window.new_page()
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)
        page.wait_for_selector("html[data-ready]", timeout=20_000)
        return page


def wait_until_drawn(page: Any, state: str | None = None) -> None:
    """Waits until the page says that it has drawn a state, or else the one that its address says.

    The browser tells the page of a new address by an event, after the address is another. The state that is
    pointed at is that of the address, with the pair of the cell: `#system=jax&pair=int8,uint8`.
    """
    page.wait_for_function(
        "state => document.documentElement.dataset.drawn === (state ?? location.hash)", arg=state
    )


def page_of(folder: Path, *systems: object, ops: tuple[str, ...] = ("add", "divide")) -> str:
    """The address of a page of some systems."""
    file = folder / "some.html"
    file.write_text(written(build_document(systems, ops)), encoding="utf-8")
    return file.as_uri()
