"""Pieces of HTML pages: escaped text, elements, and a page that loads nothing and runs nothing."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

ALLOWED = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may load for a page, as a content security policy: nothing; styles stand in the page."""


def text(x: str) -> str:
    """Text that stays text: nothing in it is markup, and no character of it directs the reader's eye.

    >>> text("<b>\\u202e&</b>")
    '&lt;b&gt;\\ufffd&amp;&lt;/b&gt;'
    """
    if not x.isprintable():
        x = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in x)
    return escape(x)


def element(tag: str, content: str, **attributes: str) -> str:
    """An element around content that is markup already; its attributes are escaped, empty ones left out.

    >>> element("a", text("x < y"), href='#"')
    '<a href="#&quot;">x &lt; y</a>'
    """
    said = "".join(f' {name}="{text(value)}"' for name, value in attributes.items() if value)
    return f"<{tag}{said}>{content}</{tag}>"


def page(title: str, body: str) -> str:
    """A whole page around a body that is markup already."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{ALLOWED}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(title)}</title>
<style>
{_style()}</style>
</head>
<body>
{body}
</body>
</html>
"""


@cache
def _style() -> str:
    return (Path(__file__).with_name("style.css")).read_text(encoding="utf-8")
