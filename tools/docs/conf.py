"""What Sphinx is told; tools/docs/build.py calls it."""

from __future__ import annotations

import inspect
from typing import Any

import typelattice

project = "typelattice"
author = copyright = "the typelattice contributors"
version = release = typelattice.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["files"]

html_theme = "furo"
html_title = "typelattice"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
# A summary of a result is fetched, which browsers refuse to pages opened from a disk.
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


def setup(app: Any) -> None:
    app.connect("autodoc-process-signature", _signature)
    app.connect("html-page-context", _by_keyboard, priority=900)  # after the theme has made its list
