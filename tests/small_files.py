"""Small system files that tests read, and what a system says of every two of its dtypes."""
from __future__ import annotations

from itertools import product

import typelattice as tl

MINE = 'name = "mine"\norder = "u8, i8 -> i16 -> f32 -> c64"\n'
POSITS = """
name     = "posits"
tiers    = ["array", "0d", "scalar"]
defaults = { int = "i16", float = "posit32" }
order = '''
u8, i8 -> i16 -> posit16 -> posit32   # posits hold the shorter integers
'''
sets = { posits = "posit16, p32" }
fit  = { float = "raise" }

[ops]
divide = { kernels = "all", computes = { integer = "p32" } }
sqrt   = { kernels = "float", loops.own = "posit16", loops.search = "posits" }

[dtypes.posit16]
kind = "float"
bits = 16
max  = 72057594037927936.0
values   = "unknown"
specials = "szn"

[dtypes.posit32]
kind = "float"
code = "p32"
bits = 32
max  = 1.329227995784916e36
values   = "unknown"
specials = "szn"
"""


def answers(s: tl.System) -> dict[tuple[str, str], str]:
    """What a system says of every two of its dtypes."""
    dtypes = [n for n in s.order.nodes if isinstance(n, tl.DType)]
    return {(str(a), str(b)): str(s.explain(a, b).dtype) for a, b in product(dtypes, repeat=2)}
