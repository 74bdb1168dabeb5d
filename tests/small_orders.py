"""Orders for the designer to complete and repair: small ones, and where those of the examples lie."""
from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

from typelattice.core.dtypes.dtypes import Node
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import parse

DESIGNS = Path(__file__).parents[1] / "examples" / "designs"
KEPT = ["component", "overflow", "subset", "weak"]
DEFAULTS = {"int": "i64", "float": "f64", "complex": "c128"}
SMALL = [
    "u8; i8; u16; i16; f16",
    "i8 -> i16; u8 -> i16; f16 -> f32",
    "i* -> u8, i8, f*; f* -> f16; u8, i8 -> i16",
    "u64; i64; f*; f16; f* -> f64",
    "f16; bf16; f32; f64; c64",
    "u8 -> i16, f16; i8 -> i16, f16; i16, f16 -> f32",
]


def partial(order: str) -> System:
    known = {word: code for word, code in DEFAULTS.items() if code in re.findall(r"\w+", order)}
    defaults = ", ".join(f'{word} = "{code}"' for word, code in known.items())
    return parse(f'name = "small"\ndefaults = {{ {defaults} }}\norder = "{order}"', "small.toml")


def split(order: Order[Node]) -> bool:
    return any(len(order.minimal_bounds(a, b)) > 1 for a, b in combinations(order.nodes, 2))
