"""Writes the pictures of the documents, docs/draw-*.svg."""

from __future__ import annotations

from pathlib import Path

from generated import write_pages

import typelattice as tl

DOCS = Path(__file__).parents[1] / "docs"


def pictures() -> dict[Path, str]:
    """Each picture with its file."""
    program = tl.program("(x * 2.0 + y) / n", x="int32", y="float16", n="int64")
    images = tl.program(
        "scaled = image / 255.0; standard = (scaled - MEAN) / SPREAD; np.sqrt(np.abs(standard))",
        image="float32",
        MEAN="float64",
        SPREAD="float64",
    )
    drawings = {
        "jax": tl.draw("jax"),
        "numpy": tl.draw("numpy"),
        "int8-uint8": tl.draw("numpy", highlight=["int8", "uint8"]),
        "numpy-jep9407-3": tl.draw("numpy", "jep9407-3"),
        "program": tl.draw(program, "jax"),
        "images": tl.draw(images, "numpy"),
        "int64-uint16": tl.draw("torch", highlight=["int64", "uint16"]),
    }
    return {DOCS / f"draw-{name}.svg": drawing.svg for name, drawing in drawings.items()}


if __name__ == "__main__":
    write_pages(pictures())
