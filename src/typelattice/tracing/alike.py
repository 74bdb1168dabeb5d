"""Functions that no operation is, but whose results have the dtype of one's. Stated in alike.txt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from typelattice.programs.functions import FUNCTIONS

TABLE = f"{__file__[:-3]}.txt"
ASSIGNED = ("copy", "fill")  # what PyTorch's methods write as it is given
ALL_PARTS = ("nonzero", "unstack", "split", "divmod")  # operations whose several results are of one dtype


@cache
def _table() -> Mapping[tuple[str, str], Sequence[str]]:
    with open(TABLE, encoding="ascii") as rows:
        words = [row.split() for row in rows if not row.startswith("#")]
    return {(library, name): operations for library, name, *operations in words}


def alike(name: str, number: int, count: int, library: str | None) -> str:
    """The operation whose dtype the result of a number has, of a library's function of so many arguments.

    It is "" where there is none.

    >>> alike("transpose", 0, 1, None), alike("where", 0, 1, "numpy"), alike("svd", 1, 1, "numpy")
    ('permute_dims', 'nonzero', '')
    >>> alike("select", 0, 3, "numpy"), alike("select", 0, 3, "torch"), alike("sort", 1, 1, "torch")
    ('select', 'reshape', 'argsort')
    """
    if name == "where" and count == 1:
        return "nonzero"
    stated = _table().get((library or "*", name)) or _table().get(("*", name)) or (name,)
    if number < len(stated):
        return stated[number]
    op = FUNCTIONS.get(stated[0])
    same = op is not None and (op.form == "each" or op.name in ALL_PARTS)
    return stated[0] if same else ""


@cache
def written(name: str) -> str:
    """The operation whose result a method of PyTorch writes into the array itself; "" for any other method.

    >>> written("mul_"), written("copy_"), written("mul"), written("requires_grad_")
    ('mul', 'copy', '', '')
    """
    plain = name.removesuffix("_")
    return plain if plain != name and (plain in ASSIGNED or alike(plain, 0, 1, "torch") in FUNCTIONS) else ""
