"""Systems made for a test, small enough to be reckoned by hand, and their answers in words."""
from __future__ import annotations

import typelattice as tl
from typelattice.core.system_files.reader import parse

DIAMOND = "u8, i8 -> i16, f16\ni16, f16 -> f32 -> f64, c64 -> c128"  # u8 and i8 have two minimal bounds
CHAIN = "b -> u8 -> i16 -> i32 -> f32 -> f64\ni8 -> i16\nf32 -> c64 -> c128\nf64 -> c128"
JAXLIKE = "i* -> u8, i8\nu8, i8 -> i16 -> i32 -> f*\nf* -> f16, bf16 -> f32 -> f64"
NUMPYLIKE = {"tiers": ["array", "scalar"], "defaults": {"int": "i32", "float": "f64", "complex": "c128"}}
VALUES = {"tiers": ["array", "scalar"], "defaults": {"int": "i16", "float": "f32"}}


def make(order: str, **keys: object) -> tl.System:
    """A system of this order."""
    lines = [f"{key.replace('_', '-')} = {toml(value)}" for key, value in keys.items()]
    return parse("\n".join(['name = "mine"', 'order = """', order, '"""', *lines]))


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{key}" = {toml(x)}' for key, x in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, int):  # a bool too
        return str(value).lower()
    return f"'{value}'"


def said(s: tl.System, *operands: object, op: str | None = None) -> str:
    """The answer in a word: the dtype, * if weak; of a refusal the reason."""
    p = s.explain(*operands, op=op)
    return f"- {p.reason}" if p.dtype is None else f"{p.dtype}{'*' * p.weak}"


def steps(s: tl.System, *operands: object, op: str | None = None) -> list[tuple[object, ...]]:
    """The steps, in words."""
    return [
        (x.key, x.entry, tuple(map(str, x.nodes)), x.node and str(x.node))
        for x in s.explain(*operands, op=op).decisions
    ]


def fate(s: tl.System, *operands: object, op: str | None = None) -> list[tuple[str, object, str]]:
    """(outcome, what the value becomes, the dtype that it had to fit) of each Python scalar."""
    return [(f.outcome, f.becomes, str(f.target)) for f in s.explain(*operands, op=op).fits]
