"""Hooks that show a value in print and notebooks. Modules that load later make text and drawings.

Nothing is imported here, since `import typelattice` loads this.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DISPLAY_HOOKS: dict[str, Callable[[], Callable[[Any], str | None]]] = {}
"""Loaders of the functions that show a value as "text", "html" or "svg", or a "run" as HTML.

`typelattice` registers them.
"""


def show(value: object, display_format: str) -> str | None:
    """Show a value in a format of `DISPLAY_HOOKS`, or return None without a registered function."""
    return DISPLAY_HOOKS[display_format]()(value) if display_format in DISPLAY_HOOKS else None


class NotebookDisplay:
    """A value that notebooks show as HTML, or as SVG if they accept only pictures."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return show(self, "html")

    def _repr_svg_(self) -> str | None:
        return show(self, "svg")
