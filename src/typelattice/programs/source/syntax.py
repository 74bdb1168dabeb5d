"""Python's own parser, without the warnings that it prints of a stranger's text."""
from __future__ import annotations

import ast
import warnings
from threading import Lock

_FILTERS = Lock()  # what warnings are shown is the whole process's


def parse(text: str) -> ast.Module:
    r"""The syntax tree of a source.

    Raises SyntaxError and ValueError for what is no Python, RecursionError and MemoryError for what is nested
    too deep: as `ast.parse` does, which also warns of texts such as `1or 2` and `"\d"`.

    >>> type(parse("1or x").body[0].value.op).__name__
    'Or'
    """
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
