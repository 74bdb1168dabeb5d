"""What a published site needs: a page for wrong addresses, and the card that others show of a link."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from answers import html_page

import typelattice as tl

CARD = "card.png"
WIDTH, HEIGHT = 1200, 630  # pixels of a card, as most sites expect
SAID = ("What dtype does x + y have?", "Every array library, release by release.")
LOST = """<p>No page has this address. It may have moved.</p>
<ul><li><a href="index.html">The first page</a>, where you can paste a function
<li><a href="search.html">Search</a>
<li><a href="answers/index.html">A page for each pair of dtypes</a>
<li><a href="explore.html">The explorer</a></ul>"""


def write(html: Path, address: str) -> None:
    """Write the page and, if the site has an address, the card. Raises DrawingError without resvg."""
    page = html_page("No such page", "No page has this address.", LOST, "_static/", "", "")
    if address:
        # A server shows this page at any address, deeper ones too.
        page = page.replace("<html lang=en>", f'<html lang=en><base href="{escape(address)}/">')
        from typelattice.base.rendering.png import render_png  # resvg is no part of what a site needs at home

        (html / "_static" / CARD).write_bytes(render_png(card(), 1))
    (html / "404.html").write_text(page, encoding="utf-8")


def card() -> str:
    """The card: what the site answers, above the order of JAX's dtypes."""
    placed = 'x="60" y="270" width="1080" height="320"'
    drawing = re.sub(r'width="\d+" height="\d+"', placed, tl.draw("jax").svg, count=1)
    lines = "".join(
        f'<text x="60" y="{y}" font-size="{size}">{escape(line)}</text>'
        for line, y, size in zip(("typelattice", *SAID), (110, 180, 225), (64, 40, 28), strict=True)
    )
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="DejaVu Sans">'
        f'<rect {size} fill="#fff"/>{lines}{drawing}</svg>'
    )
