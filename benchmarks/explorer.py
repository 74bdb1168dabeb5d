"""The page of all systems: how long it takes to write, how large it is, how quickly a browser shows it."""
from __future__ import annotations

import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from processes import large_system
from timing import Row, absent, measured

from typelattice.show.explorer.document import build_document
from typelattice.show.explorer.page import page_html

HOVERS = """() => [...document.querySelectorAll("td[data-row]")].slice(0, 200).map((cell) => {
    const start = performance.now();
    cell.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    document.body.offsetHeight;
    return performance.now() - start;
})"""
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


def explorer() -> list[Row]:
    start = process_time()
    text = page_html(build_document())
    seconds = process_time() - start
    rows = [
        measured("page", "all systems: to write it", seconds, 120, "s"),
        measured("page", "all systems: its size", len(text.encode()) / 1e6, 1.5, "MB"),
    ]
    if absent("playwright"):
        return [*rows, Row("page", "in a browser", "absent: no playwright")]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(text, encoding="utf-8")
        large, described = Path(folder) / "large.html", Path(folder) / "large.toml"
        described.write_text(large_system(), encoding="utf-8")
        large.write_text(page_html(build_document([described], ops=())), encoding="utf-8")
        return [*rows, *shown(file.as_uri(), large.as_uri())]


def shown(address: str, large: str) -> list[Row]:
    """What a headless Chromium takes to show the page, and a cell that is pointed at; of 300 dtypes, too."""
    playwright: Any = import_module("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto(f"{address}#system=numpy-ml-dtypes&small=1")
        opened.wait_for_selector("html[data-ready]")
        paint, hovers = opened.evaluate(PAINT), opened.evaluate(HOVERS)
        opened.goto(large)
        opened.wait_for_selector("html[data-ready]")
        ready, among_many = opened.evaluate("performance.now()"), opened.evaluate(HOVERS)
        browser.close()
    return [
        measured("page", "first paint", paint, 1000, "ms"),
        measured("page", "a cell of 34 dtypes pointed at", median(hovers), 50, "ms"),
        measured("page", "300 dtypes: until it can be used", ready, 5000, "ms"),
        measured("page", "300 dtypes: a cell pointed at", median(among_many), 50, "ms"),
    ]
