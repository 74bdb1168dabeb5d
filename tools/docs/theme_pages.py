"""What the theme's pages lack: landmarks with names, a heading on each, drawings that follow its switch."""

from __future__ import annotations

import re
from functools import partial
from html import unescape
from pathlib import Path

from gallery import scrolling_html

LANDMARKS = {
    '<aside class="sidebar-drawer': '<aside aria-label="All pages" class="sidebar-drawer',
    '<aside class="toc-drawer': '<aside aria-label="Contents of this page" class="toc-drawer',
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
}
EMPTY_HEAD = re.compile(r'<th class="head[^"]*"><p></p></th>')  # of a table whose first column says itself
IMAGE = re.compile(r'<p><img alt="([^"]*)" src="([^"]*\.svg)" /></p>')


def mend(html: Path) -> None:
    """Mend every page that Sphinx made in a folder. Pages that are mended already stay as they are."""
    for page in html.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        mended = IMAGE.sub(partial(_drawing, page.parent), EMPTY_HEAD.sub("<td></td>", text))
        for made, named in LANDMARKS.items():
            if named not in mended:
                mended = mended.replace(made, named)
        if mended != text:
            page.write_text(mended, encoding="utf-8")


def _drawing(folder: Path, image: re.Match[str]) -> str:
    """A drawing as a part of the page: an image of its own follows the reader's system alone."""
    svg = (folder / image[2]).read_text(encoding="utf-8")
    label = unescape(image[1])
    return scrolling_html(svg.replace("<svg ", f'<svg aria-label="{image[1]}" ', 1), "drawing", label)
