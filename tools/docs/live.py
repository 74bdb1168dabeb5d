"""The page that asks the package itself, by Pyodide: Python in the reader's browser, fetched on demand."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
VERSION = "314.0.7"  # of Pyodide, which has the version of its Python in it
ELSEWHERE = f"https://cdn.jsdelivr.net/npm/pyodide@{VERSION}/"
# Of pyodide.mjs; no other script is taken from there: openssl dgst -sha384 -binary pyodide.mjs | base64
HASH = "sha384-Lp79fMwxa4n2BLtugpUAoQMlbxIdg8iCUiP1r3h7nJLkQjwlXT1JzZTeHVL+f4Dg"
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
MEGABYTES = {True: 19, False: 16}  # with the wheel: of an own copy, which is compiled, and elsewhere
FIELDS = (
    ("names", "Its arguments"),
    ("systems", "Under these systems, one to three"),
)
NOTATION = """<p class="hint"><code>float32[100,3]</code> is an array with that shape, <code>float32:0d</code>
one without dimensions, <code>float32:scalar</code> a scalar of the library, <code>int</code> a Python
number; more in <a href="operands.html">Operands</a>. <code>numpy</code> is NumPy 2, <code>numpy1</code> is
NumPy 1; the <a href="gallery/index.html">gallery</a> has all systems.</p>"""
# What the box shows first, and what its buttons show: a name, the source, the arguments, and the systems.
EXAMPLES = (
    (
        "Why is my sum float64?",
        """def scores(x, n):
    centred = x - x.mean(axis=0)
    scaled = np.sqrt(np.abs(centred)) / n
    return scaled.sum()""",
        "x=float32[100,3] n=int64",
        "numpy torch jax",
    ),
    (
        "From NumPy 1 to 2",
        """def brighter(image, gain):
    factor = gain + 3.0
    scaled = image * factor
    return image + 300""",
        "image=uint8[64,64] gain=float32:scalar",
        "numpy1 numpy",
    ),
    (
        "float16 with int64",
        """def weighted(x, count):
    return x * count / count.sum()""",
        "x=float16[8] count=int64[8]",
        "torch numpy tensorflow",
    ),
)
INVITATION = """**Paste a function** to see the dtype of each line, and where libraries first differ. Or
look at <a href="explore.html">the explorer</a>.
"""
HEAD = """# Paste a function

Paste a function of arrays, or lines of one. You see the dtype of each line under up to three systems, and
the line where they first differ. Press the number of a line to see its steps and the rules behind them.
"""


def box(own: bool) -> str:
    """The form, for any page at the root of the site; `own` where the site has Pyodide itself."""
    base, where = ("_static/pyodide/", "this site") if own else (ELSEWHERE, "cdn.jsdelivr.net")
    _, source, *values = EXAMPLES[0]
    fields = "\n".join(
        f'<label for="live-{name}">{label}</label><input id="live-{name}" name="{name}" '
        f'value="{escape(value)}" autocapitalize="off" autocomplete="off" spellcheck="false">'
        for (name, label), value in zip(FIELDS, values, strict=True)
    )
    examples = "\n".join(
        f'<button type="button" data-code="{_attribute(code)}" data-names="{escape(names)}" '
        f'data-systems="{systems}">{escape(title)}</button>'
        for title, code, names, systems in EXAMPLES
    )
    about = f'data-base="{base}" data-from="{where}" data-megabytes="{MEGABYTES[own]}" data-hash="{HASH}"'
    return f"""```{{raw}} html
<form id="live" {about} data-wheel="_static/{wheel_name()}">
<p id="live-examples">Examples: {examples}</p>
<label for="live-code">Function</label>
<textarea id="live-code" name="code" rows="6" maxlength="4000" autocapitalize="off" spellcheck="false"
>{escape(source)}</textarea>
{fields}
{NOTATION}
<p><button type="submit" disabled>Show its dtypes</button></p>
</form>
<p id="live-status" role="status">Without JavaScript this box can compute nothing. Each pair of dtypes has
<a href="answers/index.html">a page</a> that needs none.</p>
<div id="live-answer" hidden></div>
<script type="application/json" id="live-known">{_known_answers()}</script>
<script src="_static/live.js" defer></script>
```
"""


@cache
def _known_answers() -> str:
    """The examples with their answers as JSON: the page shows these without Python."""
    annotate = runpy.run_path(str(HERE / "static" / "annotate.py"))["annotate"]
    known = [{"asked": asked, "answer": annotate(*asked)} for _, *asked in EXAMPLES]
    return json.dumps(known).replace("<", "\\u003c")  # so that no text ends the element


def _attribute(text: str) -> str:
    """Write a text of several lines as an attribute; Markdown would end raw HTML at none of its lines."""
    return escape(text).replace("\n", "&#10;")


def pages(own: bool = False) -> Iterator[tuple[str, str]]:
    """The page of the box alone; `own` where the site has Pyodide itself, not fetched from elsewhere."""
    fetched = (
        f"from this site, {MEGABYTES[own]} MB, while you read, unless your browser is told to save data."
        if own
        else f"from cdn.jsdelivr.net, {MEGABYTES[own]} MB, when you press the button for the first time."
    )
    yield "live.md", f"""{HEAD}
{box(own)}

The package itself computes this, in your browser, by [Pyodide](https://pyodide.org), which is Python made
into WebAssembly. Python is fetched {fetched} What you write is parsed and never run, and it stays in your
browser. The address holds it, so that you can send it to somebody. At most 40 lines and 4,000 characters are
read. Arguments are dtypes, with or without a shape, and numbers, as [operands](operands.md) has them.
[Programs](programs.md) tells what a function may hold. `typelattice explain` computes the same, for files and
for any number of systems. The page sees none of your files.
"""


def wheel_name() -> str:
    """The file of the wheel, which Pyodide unpacks."""
    from typelattice import __version__

    return f"typelattice-{__version__}-py3-none-any.whl"


def serve_beside(html: Path, pyodide: Path | None) -> None:
    """Puts the wheel, and Pyodide if there is a copy of it, where the page looks for them.

    Beside a copy of Pyodide, the wheel and the standard library are compiled by it: that halves the start.
    """
    static = html / "_static"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(static.resolve())]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert (static / wheel_name()).is_file()
    if pyodide is not None:
        (static / "pyodide").mkdir(exist_ok=True)
        for name in FILES:
            shutil.copy(pyodide / name, static / "pyodide" / name)
        compiled = [static / "pyodide" / "python_stdlib.zip", static / wheel_name()]
        subprocess.run(["node", HERE / "compile_python.mjs", pyodide.resolve(), *compiled], check=True)
