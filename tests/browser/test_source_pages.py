"""The source pages of a run: keys lead from finding to finding."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

CODE = """import numpy as np
x = np.ones(8, np.float32)
y = x * np.linspace(0, 1, 8)
a = 1
z = x + np.ones(8)
"""


def test_keys_go_to_the_next_finding_and_the_one_before(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(CODE, encoding="utf-8")
    words = [sys.executable, "-m", "typelattice", "trace", "--html", "pages", "s.py"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    page, said = chromium.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "pages" / "001_s.html").as_uri())
    places = []
    for key in "nnnp":
        page.keyboard.press(key)
        places.append(page.evaluate("location.hash"))
    page.close()
    assert places == ["#L3", "#L5", "#L5", "#L3"] and said == []
