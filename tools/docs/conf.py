"""What Sphinx is told; tools/docs/build.py calls it."""

from __future__ import annotations

import inspect
import re
import sys
from html import escape, unescape
from pathlib import Path
from textwrap import shorten
from typing import Any

import typelattice

sys.path.insert(0, str(Path(__file__).parent))
from addresses import CARD
from addresses import SAID as ABOUT_SITE

ABOUT = " ".join(ABOUT_SITE)

project = "typelattice"
author = copyright = "the typelattice contributors"
version = release = typelattice.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["files"]

html_theme = "furo"
html_title = f"typelattice {version}"
html_theme_options: dict[str, Any] = {}
templates_path = ["templates"]
html_static_path = ["static"]
html_favicon = "../../src/typelattice/show/explorer/page/favicon.svg"
html_css_files = ["site.css"]
html_js_files = ["served.js"]
html_copy_source = False
# served.js shows them where pages are served.
html_show_search_summary = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
default_role = "code"  # docstrings write `x` for code, as Markdown does
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
pygments_style, pygments_dark_style = "default", "github-dark"


def _signature(
    _app: object, _what: str, _name: str, found: Any, _options: object, signature: str | None, *_: object
) -> tuple[str, str] | None:
    """Nobody but typelattice makes its errors, nor the values that its functions give."""
    made_by_users = not inspect.isclass(found) or found.__name__ in ("Order", "Symbols")
    return None if made_by_users or not signature else ("", "")


def _by_keyboard(
    _app: object, _page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """What is wider than the page can be scrolled by keyboard, and headings of the list have a level."""
    for part in ('<pre>', '<div class="table-wrapper'):
        focusable = part.replace(" class", ' tabindex="0" class').replace("<pre>", '<pre tabindex="0">')
        context["body"] = context.get("body", "").replace(part, focusable)
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def _described(
    app: Any, page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """Search engines, and sites that show a link, get a page's first paragraph, and the card of the site."""
    paragraph = re.search("<p>(.*?)</p>", context.get("body", ""), re.DOTALL)
    said = " ".join(unescape(re.sub("<[^>]*>", "", paragraph[1])).split()) if paragraph else ABOUT
    title = unescape(re.sub("<[^>]*>", "", context.get("title", ""))) or project
    shown = {"og:title": title, "og:description": shorten(said, 160, placeholder=" …"), "og:type": "website"}
    if address := app.config.html_baseurl:
        shown |= {"og:url": f"{address}/{page}.html", "og:image": f"{address}/_static/{CARD}"}
        shown["twitter:card"] = "summary_large_image"
    tags = [f'<meta name="description" content="{escape(shown["og:description"])}">']
    tags += [f'<meta property="{name}" content="{escape(text)}">' for name, text in shown.items()]
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)


def _linked_to_repository(_app: object, config: Any) -> None:
    """The foot of each page links to the repository, if there is an address of it."""
    if config.repository:
        link = {"name": "The repository", "url": config.repository, "html": "Repository", "class": ""}
        config.html_theme_options["footer_icons"] = [link]


def _linked_to_editions(_app: object, config: Any) -> None:
    """The list of pages ends with the sites of other releases, if there are any: `NAME=URL NAME=URL`."""
    named = (edition.partition("=") for edition in config.editions.split())
    config.html_context["editions"] = [(name, address.rstrip("/")) for name, _, address in named]


def setup(app: Any) -> None:
    app.add_config_value("repository", "", "html", str)
    app.add_config_value("editions", "", "html", str)
    app.connect("config-inited", _linked_to_repository)
    app.connect("config-inited", _linked_to_editions)
    app.connect("html-page-context", _described)
    app.connect("autodoc-process-signature", _signature)
    app.connect("html-page-context", _by_keyboard, priority=900)  # after the theme has made its list
