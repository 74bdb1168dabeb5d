"""Polars: a lazy frame announces the schema of what it collects."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

ANNOUNCING_METHODS = ("collect_schema",)
COMPUTING_METHODS = ("collect",)


def read_schema(x: Any) -> Mapping[str, str] | None:
    """Return the dtypes of a schema or of the columns of a frame, by name, or None of another object."""
    polars: Any = sys.modules.get("polars")
    if polars is None or type(x) not in (polars.Schema, polars.DataFrame):
        return None
    schema = x if type(x) is polars.Schema else x.schema
    return {f"[{name!r}]": str(dtype).lower() for name, dtype in schema.items()}
