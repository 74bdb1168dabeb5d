"""The page: one HTML file with its style, its scripts and a document in it, which needs no network."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from string import Template

from typelattice.base.rendering.colours import KIND_COLOURS
from typelattice.show.explorer.document import Document

# In the order in which they use one another; together they are one module script.
SCRIPT_NAMES = (
    "elements", "model", "state", "grid", "drawing", "copies", "explanation", "table", "laws", "answers",
    "compare", "search", "expression", "workbench", "main",
)  # fmt: skip
# in this order, because later rules of CSS win
STYLE_SHEET_NAMES = ("page", "table", "drawing", "answer", "bench", "media")
# the header of a response adds this part, which a page cannot state
SERVED_PAGE_POLICY = "frame-ancestors 'none'"


def page_html(document: Document, desk: Mapping[str, object] | None = None) -> str:
    """Write a document as a page. Its policy allows no other scripts, and no network.

    `desk`, the edited file, makes it the page of the workbench, which sends questions to its own server.

    >>> from typelattice.show.explorer.document import build_document
    >>> page_html(build_document(["python"], ops=[])).startswith("<!doctype html>")
    True
    """
    script = "\n".join(_read_page_file(f"{name}.js") for name in SCRIPT_NAMES)
    kinds = "".join(f" --{kind}: {colour};" for kind, colour in KIND_COLOURS.items() if kind)
    style = f":root {{{kinds} }}\n" + "".join(_read_page_file(f"{name}.css") for name in STYLE_SHEET_NAMES)
    rules = ["default-src 'none'", f"script-src {_script_hash(script)}", f"style-src {_script_hash(style)}"]
    rules += ["img-src data:", "base-uri 'none'", "form-action 'none'"]
    rules += ["connect-src 'self'"] if desk else []
    return Template(_read_page_file("index.html")).substitute(
        policy="; ".join(rules),
        icon=_encode_base64(_read_page_file("favicon.svg").encode()),
        style=style,
        script=script,
        document=document.pack(),
        # `</script>` in a text of a file must not end the element
        desk=json.dumps(desk).replace("<", "\\u003c"),
    )


def _read_page_file(name: str) -> str:
    return (files("typelattice.show.explorer") / "page" / name).read_text(encoding="utf-8")


def _script_hash(text: str) -> str:
    """Return a script's hash for the Content-Security-Policy, so that the browser runs no other.
    """
    return f"'sha256-{_encode_base64(sha256(text.encode()).digest())}'"


def _encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
