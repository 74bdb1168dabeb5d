"""A headless Chromium, pages that must stay silent, and the page of all systems."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from visiting import Visitor, page_of

ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*ARGUMENTS])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visitor]:
    """Opens pages; when the test is over, nothing may have been said on a console."""
    visitor = Visitor(chromium)
    yield visitor
    for window in visitor.windows:
        window.close()
    assert visitor.said == []


@pytest.fixture(scope="session")
def all_systems(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page of all systems, as the command writes it."""
    file = tmp_path_factory.mktemp("explore") / "all.html"
    subprocess.run([sys.executable, "-m", "typelattice", "explore", "-o", file], check=True, timeout=600)
    return file.as_uri()


@pytest.fixture(scope="session")
def some(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of a few systems."""
    return page_of(tmp_path_factory.mktemp("some"), "numpy", "numpy@2.4", "jax", "torch")
