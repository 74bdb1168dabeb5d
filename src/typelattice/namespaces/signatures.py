"""The signatures that the standard gives its functions, for those who look at them; stated in signatures.txt."""
from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

TABLE = f"{__file__[:-3]}.txt"


def _signatures() -> dict[str, inspect.Signature]:
    """The standard's signatures; a row is Python's own notation, of names and plain values."""
    found = {}
    with open(TABLE, encoding="ascii") as rows:
        for row in (row for row in rows if not row.startswith("#")):
            head = ast.parse(f"def {row.strip()}: ...").body[0]
            assert isinstance(head, ast.FunctionDef)
            found[head.name] = inspect.Signature(list(_parameters(head.args)))
    return found


def _parameters(args: ast.arguments) -> Iterator[inspect.Parameter]:
    kinds = [
        *((a, inspect.Parameter.POSITIONAL_ONLY) for a in args.posonlyargs),
        *((a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in args.args),
        *((a, inspect.Parameter.VAR_POSITIONAL) for a in (args.vararg,) if a),
        *((a, inspect.Parameter.KEYWORD_ONLY) for a in args.kwonlyargs),
    ]
    plain = [*args.posonlyargs, *args.args]
    defaults = dict(zip((a.arg for a in args.kwonlyargs), args.kw_defaults, strict=True))
    defaults |= zip((a.arg for a in plain[len(plain) - len(args.defaults) :]), args.defaults, strict=True)
    for a, kind in kinds:
        value = defaults.get(a.arg)
        yield inspect.Parameter(a.arg, kind, default=ast.literal_eval(value) if value else inspect.Parameter.empty)


SIGNATURES = _signatures()


def named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function under its name, with its signature where the standard's says more than its arrays."""
    function.__name__ = function.__qualname__ = name
    if name in SIGNATURES:
        function.__signature__ = SIGNATURES[name]  # type: ignore[attr-defined]
    return function
