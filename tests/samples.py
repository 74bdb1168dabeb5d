"""Samples of parameters, for tests that ask one system, library or page after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def one_in(every: int, names: Sequence[Any], first: int = 0) -> list[Any]:
    """Leave one of so many names or tuples to `make test`, and mark the others for `make whole`.

    Of live tests and those in a browser, `make whole-live` and `make whole-browser` run the others.

    Tests begin at different names, so that some of the light tests ask each.
    """
    return [
        pytest.param(
            *(name if isinstance(name, tuple) else (name,)),
            marks=[pytest.mark.whole] if i % every != first else [],
        )
        for i, name in enumerate(names)
    ]
