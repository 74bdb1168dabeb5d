"""Tables as notebooks show them, between styles of their own."""

from __future__ import annotations

from typing import Any

import pytest

import typelattice as tl

pytestmark = pytest.mark.browser
# The rule by which nbconvert and JupyterLab align what is in tables.
STYLE = ":not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon :is(td, th) { text-align: right; }"


def test_a_notebook_leaves_cells_and_sentences_where_they_stand(chromium: Any) -> None:
    page = chromium.new_page()
    shown = tl.laws("numpy")._repr_html_()
    page.set_content(f"<style>{STYLE}</style><div class='jp-RenderedHTMLCommon'>{shown}</div>")
    places = "all => [...new Set(all.map(one => getComputedStyle(one).textAlign))]"
    assert page.locator("td:not(.tl-prose)").evaluate_all(places) == ["center"]
    assert page.locator("td.tl-prose").evaluate_all(places) == ["left"]
    page.close()
