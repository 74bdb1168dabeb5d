"""Python's own parser, without its warnings about a user's text."""
from __future__ import annotations

import ast
import warnings
from threading import Lock

_FILTERS_LOCK = Lock()  # warning filters belong to the whole process


def parse_source(text: str) -> ast.Module:
    r"""Parse a source as `ast.parse` does, without its warnings of texts such as `1or 2` and `"\d"`.

    Raises SyntaxError or ValueError if a text is not Python. Raises RecursionError or MemoryError if it is
    nested too deep.

    >>> type(parse_source("1or x").body[0].value.op).__name__
    'Or'
    """
    with _FILTERS_LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
