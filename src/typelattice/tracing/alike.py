"""Functions that no operation is, but whose results have the dtype of one's. Stated in alike.txt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from typelattice.programs.functions import FUNCTIONS

TABLE = f"{__file__[:-3]}.txt"
ASSIGNED = ("copy", "fill")  # what PyTorch's methods write as it is given
ALL_PARTS = ("nonzero", "unstack", "split", "divmod")  # operations whose several results are of one dtype


@cache
def _table() -> Mapping[str, str]:
    with open(TABLE, encoding="ascii") as rows:
        return dict(row.split() for row in rows if not row.startswith("#"))


def alike(name: str, number: int, count: int) -> str:
    """The operation whose dtype the result of a number has, of a function of so many arguments; "" for none.

    >>> alike("transpose", 0, 1), alike("where", 0, 1), alike("svd", 1, 1)
    ('permute_dims', 'nonzero', '')
    """
    if name == "where" and count == 1:
        return "nonzero"
    found = _table().get(name, name)
    if number == 0 or found in ALL_PARTS:
        return found
    op = FUNCTIONS.get(found)
    if op is not None and op.form == "each":
        return found
    return "argmax" if found in ("max", "min") and number == 1 else ""


@cache
def written(name: str) -> str:
    """The operation whose result a method of PyTorch writes into the array itself; "" for any other method.

    >>> written("mul_"), written("copy_"), written("mul"), written("requires_grad_")
    ('mul', 'copy', '', '')
    """
    plain = name.removesuffix("_")
    return plain if plain != name and (plain in ASSIGNED or alike(plain, 0, 1) in FUNCTIONS) else ""
