"""Samples of what comes along, for tests that ask one system or recording after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def one_in(every: int, names: Sequence[Any], first: int = 0) -> list[Any]:
    """Leave one of so many names to `make test`, and mark the others for `make whole`.

    Tests begin at different names, so that some of the light tests ask each.
    """
    return [
        name if i % every == first else pytest.param(name, marks=pytest.mark.whole)
        for i, name in enumerate(names)
    ]
