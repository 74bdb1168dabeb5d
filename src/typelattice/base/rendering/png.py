"""SVG as PNG, by resvg, in the DejaVu letters that matplotlib includes, so that every machine has them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from typelattice.base.rendering.diagram import DrawingError

PACKAGE_BY_MODULE = {"resvg_py": "resvg-py", "matplotlib": "matplotlib"}  # module -> what pip installs


def render_png(svg: str, scale: float) -> bytes:
    """Return an SVG text as a PNG: `scale` pixels for each of its own. Raises DrawingError."""
    resvg, matplotlib = (_import_module(name) for name in PACKAGE_BY_MODULE)
    fonts = Path(matplotlib.get_data_path(), "fonts", "ttf")
    found = resvg.svg_to_bytes(
        svg_string=svg.replace("currentColor", "#1a1a1a"), zoom=int(scale), font_dirs=[str(fonts)],
        skip_system_fonts=True,
        font_family="DejaVu Sans Mono", monospace_family="DejaVu Sans Mono", sans_serif_family="DejaVu Sans",
    )  # fmt: skip
    return bytes(found)


def _import_module(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        wanted = f"a PNG needs {PACKAGE_BY_MODULE[name]}, which is not here"
        raise DrawingError(f"{wanted}: pip install {' '.join(PACKAGE_BY_MODULE.values())}") from None
