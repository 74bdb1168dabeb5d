"""Pieces of HTML pages: escaped text, elements, and a page that loads nothing and runs no script but ours."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path

CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The content security policy of a page: a browser loads nothing, and the styles are in the page."""


def escape_text(text: str) -> str:
    """Text that stays text: it contains no markup, and no characters that change the reading direction.

    >>> escape_text("<b>\\u202e&</b>")
    '&lt;b&gt;\\ufffd&amp;&lt;/b&gt;'
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text)
    return escape(text)


def write_element(tag: str, content: str, **attributes: str) -> str:
    """Write an element around content that is already markup. Escape its attributes, and omit empty ones.

    >>> write_element("a", escape_text("x < y"), href='#"')
    '<a href="#&quot;">x &lt; y</a>'
    """
    said = "".join(f' {name}="{escape_text(value)}"' for name, value in attributes.items() if value)
    return f"<{tag}{said}>{content}</{tag}>"


def text_element(tag: str, text: str, **attributes: str) -> str:
    """Write an element around a text, in which nothing is markup."""
    return write_element(tag, escape_text(text), **attributes)


def write_page(title: str, body: str, script: str = "") -> str:
    """Write a page around a body that is already markup. A browser runs only the given script."""
    allowed = CONTENT_POLICY
    if script:
        allowed += f"; script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{allowed}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape_text(title)}</title>
<style>
{read_asset("style.css")}</style>
</head>
<body>
{body}
{write_element("script", script) if script else ""}</body>
</html>
"""


@cache
def read_asset(name: str) -> str:
    """Read a file from this module's folder: styles, or a script."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
