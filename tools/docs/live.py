"""The page that asks the package itself, by Pyodide: Python in the reader's browser, fetched on demand."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSION = "314.0.7"  # of Pyodide, which has the version of its Python in it
ELSEWHERE = f"https://cdn.jsdelivr.net/npm/pyodide@{VERSION}/"
# Of pyodide.js, so that no other script is taken from there: openssl dgst -sha384 -binary pyodide.js | base64
HASH = "sha384-hYKrcQ7FiKU7f1c92md9N2eh7BoBVX4CPkNDfQyyVclsjZevvDOBUkajGcYk1EF8"
FILES = ("pyodide.js", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
MEGABYTES = 13  # that these have
FIELDS = (
    ("expression", "Expression", "x * 2.0 + y"),
    ("names", "Names in it", "x=int8 y=float16:0d"),
    ("systems", "Systems", "numpy jax torch"),
)
HEAD = """# Any expression

The pages of this site and [the explorer](explorer.md) show what was computed before. This page computes: the
package itself runs in your browser, by [Pyodide](https://pyodide.org), which is Python made into WebAssembly.
It prints what the command `typelattice explain` prints.
"""


def pages(own: bool = False) -> Iterator[tuple[str, str]]:
    """The one page; `own` where the site has Pyodide itself, and it need not come from elsewhere."""
    base, where = ("_static/pyodide/", "this site") if own else (ELSEWHERE, "cdn.jsdelivr.net")
    fields = "\n".join(
        f'<label for="live-{name}">{label}</label><input id="live-{name}" name="{name}" '
        f'value="{escape(value)}" autocapitalize="off" spellcheck="false">'
        for name, label, value in FIELDS
    )
    yield "live.md", f"""{HEAD}
```{{raw}} html
<form id="live" data-base="{base}" data-hash="{HASH}" data-wheel="_static/{wheel_name()}">
{fields}
<button disabled>Ask</button>
</form>
<p id="live-status" role="status">Without JavaScript this page can compute nothing.</p>
<p>The same on a command line: <code id="live-command"></code></p>
<pre id="live-answer" tabindex="0" aria-label="Answer" hidden></pre>
<script src="_static/live.js"></script>
```

Python is fetched from {where}, {MEGABYTES} MB, when you press *Ask* for the first time, and not before. What
you write stays in your browser. Where Python cannot be fetched, this page says so, and can compute nothing:
the package on your own machine can. Operands are dtypes and numbers, as [operands](operands.md) has them;
[programs](programs.md) tells what an expression may hold. The page sees none of your files.
"""


def wheel_name() -> str:
    """The file of the wheel, which Pyodide unpacks."""
    from typelattice import __version__

    return f"typelattice-{__version__}-py3-none-any.whl"


def serve_beside(html: Path, pyodide: Path | None) -> None:
    """Puts the wheel, and Pyodide if there is a copy of it, where the page looks for them."""
    static = html / "_static"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(static.resolve())]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert (static / wheel_name()).is_file()
    if pyodide is not None:
        (static / "pyodide").mkdir(exist_ok=True)
        for name in FILES:
            shutil.copy(pyodide / name, static / "pyodide" / name)
