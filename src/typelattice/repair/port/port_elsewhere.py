"""The same comparison in another interpreter, which has the other release of the library."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from typelattice.base.errors.error_texts import clip_text
from typelattice.base.own_folders import PACKAGE_FOLDER
from typelattice.repair.port.port_report import PortReport, read_report
from typelattice.tracing.entry_points.script import ScriptError

# Our package comes from its folder, since the other interpreter may have none, or another release of it.
START_CODE = f"""
import sys
if sys.path[:1] == ['']: del sys.path[0]
import importlib.util
spec = importlib.util.spec_from_file_location(
    'typelattice', {os.path.join(PACKAGE_FOLDER, "__init__.py")!r},
    submodule_search_locations=[{PACKAGE_FOLDER!r}],
)
sys.modules['typelattice'] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules['typelattice'])
from typelattice.show.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def port_with_python(python: str, options: Sequence[str], command: Sequence[str]) -> PortReport:
    """Run `port` on a program in another interpreter, and return its report.

    What the program prints there is dropped. `options` are those of `port`, and `command` is the program with
    its arguments. Raises ScriptError if the interpreter cannot run it.
    """
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = [python, "-c", START_CODE, "port", "--format", "json", "--output", str(report), *options]
        ended = subprocess.run(
            [*words, "--", *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
        if not report.is_file():
            lines = ended.stderr.decode(errors="replace").strip().splitlines() or ["it printed nothing"]
            what = f"{clip_text(python, 200)} cannot run the program: {clip_text(lines[-1], 300)}"
            raise ScriptError(f"{what}; it needs Python 3.11 to 3.14 and the program's packages")
        found: Mapping[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return read_report(found)
