"""NumPy's type stubs: the dtype in a type."""

from __future__ import annotations

import re

from typelattice.conformance.implementation_differences import VAGUE
from typelattice.facts.dtypes import DTYPES
from typelattice.recorded.answers import OF_PYTHON

WORDS = {"signedinteger": "int", "unsignedinteger": "uint", "floating": "float", "complexfloating": "complex"}
BITS = r"\[_(\d+)Bit(?:, _\d+Bit)?\]"
PLATFORM = re.compile(r"\[_32Bit \| _64Bit(, _32Bit \| _64Bit)?\]")
"""The width of what is 64 bits on all platforms but old ones, such as NumPy's default integer."""
LONG_DOUBLE = re.compile(r"\b(complex|)floating\[(_64Bit \| _96Bit \| _128Bit)(, \2)?\]")
"""A float that is as wide as C's long double."""
PREFIX = re.compile(r"\b(builtins|numpy|_typing|_nbit_base|typing)\.")
BOOL = re.compile(r"\bbool_?\[(builtins\.)?bool\]|\bbool_\b")


def dtype_of_type(text: str) -> str:
    """Read the dtype of a result from its type; a vague one has a `?` before it.

    >>> dtype_of_type("ndarray[tuple[Any, ...], dtype[numpy.floating[numpy._typing._nbit_base._32Bit]]]")
    'float32'
    >>> dtype_of_type("ndarray[tuple[Any, ...], dtype[floating[Any]]]"), dtype_of_type("int")
    ('?floating', 'py:int')
    >>> dtype_of_type("numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.bool_[bool]]]")
    'bool'
    """
    plain = PREFIX.sub("", BOOL.sub("bool", text))
    plain = PLATFORM.sub(lambda found: "[_64Bit, _64Bit]" if found[1] else "[_64Bit]", plain)
    plain = LONG_DOUBLE.sub(lambda found: "clongdouble" if found[1] else "longdouble", plain)
    if plain.startswith("tuple["):  # the first of several results
        plain = plain[len("tuple[") :]
        if not plain.startswith("ndarray"):
            plain = plain.partition(",")[0]
    parts = [found[1] for found in re.finditer(r"\bdtype\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", plain)][:1]
    found = {_dtype(part) for part in (parts[0] if parts else plain).split(" | ")}
    if len(found) == 1:
        return found.pop()
    return VAGUE + " or ".join(sorted(each.lstrip(VAGUE) for each in found))


def _dtype(part: str) -> str:
    word, _, rest = part.partition("[")
    sized = re.fullmatch(BITS, f"[{rest}") if rest else None
    if word in WORDS and sized:
        return f"{WORDS[word]}{int(sized[1]) * (2 if WORDS[word] == 'complex' else 1)}"
    if word in DTYPES or word in ("longdouble", "clongdouble"):
        return word
    if word in ("int", "float", "complex", "bool"):
        return OF_PYTHON + word
    return VAGUE + (word or "Any")
