"""The names and signatures that the standard gives its functions, read from standard.pyi."""
from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

STUB_FILE = Path(__file__).with_name("standard.pyi")


@dataclass(frozen=True, slots=True)
class StandardMembers:
    """The members of a namespace and of its two extensions, and the signatures of all functions."""

    main: tuple[str, ...]
    linalg: tuple[str, ...]
    fft: tuple[str, ...]
    signatures: Mapping[str, inspect.Signature]


@cache
def read_standard() -> StandardMembers:
    """Read the names and signatures in standard.pyi, once, when the first namespace is made."""
    stated = ast.parse(STUB_FILE.read_text("ascii")).body
    members = {node.name: [*_yield_members(node)] for node in stated if isinstance(node, ast.ClassDef)}
    both, fft = members["Products"], members["FFT"]  # `Functions` and `Linalg` inherit `Products`
    main, linalg = both + members["Functions"], both + members["Linalg"]
    functions = [node for node in (*main, *linalg, *fft) if isinstance(node, ast.FunctionDef)]
    signatures = {node.name: inspect.Signature([*_yield_parameters(node.args)]) for node in functions}
    return StandardMembers(_member_names(main), _member_names(linalg), _member_names(fft), signatures)


def _yield_members(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AnnAssign]:
    return (member for member in node.body if isinstance(member, (ast.FunctionDef, ast.AnnAssign)))


def _member_names(members: Iterable[ast.FunctionDef | ast.AnnAssign]) -> tuple[str, ...]:
    return tuple(x.name if isinstance(x, ast.FunctionDef) else ast.unparse(x.target) for x in members)


def _yield_parameters(args: ast.arguments) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a method without its `self`."""
    plain = [*args.posonlyargs, *args.args]
    defaults = dict(zip((a.arg for a in args.kwonlyargs), args.kw_defaults, strict=True))
    defaults |= zip((a.arg for a in plain[len(plain) - len(args.defaults) :]), args.defaults, strict=True)
    kinds = [
        *((a, inspect.Parameter.POSITIONAL_ONLY) for a in args.posonlyargs),
        *((a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in args.args),
        *((a, inspect.Parameter.VAR_POSITIONAL) for a in (args.vararg,) if a),
        *((a, inspect.Parameter.KEYWORD_ONLY) for a in args.kwonlyargs),
    ]
    for a, kind in kinds[1:]:
        value = defaults.get(a.arg)
        default = ast.literal_eval(value) if value else inspect.Parameter.empty
        yield inspect.Parameter(a.arg, kind, default=default)


def name_function(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Give a function its name and the standard's signature, and return it."""
    function.__name__ = function.__qualname__ = name
    if name in read_standard().signatures:
        function.__signature__ = read_standard().signatures[name]  # type: ignore[attr-defined]
    return function
