"""Find the line that makes a program's floats wide, patch it, and draw its steps: README's three commands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = Path("build") / "demo"  # below the current folder; the demo writes nothing else
STEPS = "scaled = image / 255.0; standard = (scaled - MEAN) / SPREAD; np.sqrt(np.abs(standard))"
DTYPES = ("image=float32", "MEAN=float64", "SPREAD=float64")


def main() -> int:
    """Write README's program, and run the three commands on it. Return the status of the first that fails."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"(?ms)^```python images\.py\n(.*?)^```", readme)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "images.py").write_text(program, encoding="utf-8")
    print(f"The program is {FOLDER / 'images.py'}; it makes its own data.", flush=True)
    status = run("Find the line:", "trace", "images.py")
    status = status or run("Get a tested patch; --write would apply it:", "fix", "images.py")
    draw = ["draw", "numpy", "--program", STEPS, *DTYPES, "-o", "images.svg"]
    status = status or run("Draw the steps:", *draw)
    if not status:
        print(f"Open {FOLDER / 'images.svg'} in a browser.")
    return status


def run(purpose: str, *words: str) -> int:
    """Print a command, and run it in the demo's folder. Return its exit status."""
    shown = " ".join(f'"{word}"' if " " in word else word for word in words)
    print(f"\n{purpose}\n$ typelattice {shown}", flush=True)
    return subprocess.run([sys.executable, "-m", "typelattice", *words], cwd=FOLDER, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
