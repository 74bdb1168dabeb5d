"""NumPy's type stubs: the answer in a type."""

from __future__ import annotations

import re

from typelattice.conformance.imitations.implementation_differences import VAGUE_PREFIX
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.evidence.answer_notation import ARRAY_SUFFIX, PYTHON_NUMBER_PREFIX, SCALAR_SUFFIX

DTYPE_STEM_BY_STUB_CLASS = {
    "signedinteger": "int",
    "unsignedinteger": "uint",
    "floating": "float",
    "complexfloating": "complex",
}
BIT_WIDTH_PATTERN = r"\[_(\d+)Bit(?:, _\d+Bit)?\]"
PLATFORM_INTEGER_PATTERN = re.compile(r"\[_32Bit \| _64Bit(, _32Bit \| _64Bit)?\]")
"""The width of what is 64 bits on all platforms but old ones, such as NumPy's default integer."""
LONG_DOUBLE_PATTERN = re.compile(r"\b(complex|)floating\[(_64Bit \| _96Bit \| _128Bit)(, \2)?\]")
"""A float that is as wide as C's long double."""
MODULE_PREFIX_PATTERN = re.compile(r"\b(builtins|numpy|_typing|_nbit_base|typing)\.")
BOOL_TYPE_PATTERN = re.compile(r"\b(numpy\.bool|bool_)\b(\[\w+(\.bool)?\])?|\bbool\[(builtins\.)?bool\]")
"""NumPy's bool, and not Python's."""
SCALAR_CLASS_NAMES = {
    *DTYPE_STEM_BY_STUB_CLASS,
    *DTYPES,
    "bool_",
    "longdouble",
    "clongdouble",
    "generic",
    "number",
    "integer",
    "inexact",
}
SCALAR_CLASS_NAMES -= {"bool"}


def answer_of_type(text: str) -> str:
    """Read the answer that the type of a result says; a vague one has a `?` before it.

    >>> answer_of_type("ndarray[tuple[Any, ...], dtype[numpy.floating[numpy._typing._nbit_base._32Bit]]]")
    'float32:array'
    >>> answer_of_type("ndarray[tuple[Any, ...], dtype[floating[Any]]]"), answer_of_type("int")
    ('?floating:array', 'py:int')
    >>> answer_of_type("numpy.float64"), answer_of_type("numpy.float64 | ndarray[Any, dtype[numpy.float64]]")
    ('float64:scalar', 'float64')
    >>> answer_of_type("numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.bool_[bool]]]")
    'bool:array'
    """
    plain = MODULE_PREFIX_PATTERN.sub("", BOOL_TYPE_PATTERN.sub("bool_", text))
    plain = PLATFORM_INTEGER_PATTERN.sub(lambda found: "[_64Bit, _64Bit]" if found[1] else "[_64Bit]", plain)
    plain = LONG_DOUBLE_PATTERN.sub(lambda found: "clongdouble" if found[1] else "longdouble", plain)
    if plain.startswith("tuple["):  # of several results, compare the first
        plain = _split_type(plain[len("tuple[") : -1], ", ")[0]
    types = _split_type(plain, " | ")
    found = {
        _dtype_of_stub_type(part)
        for each in types
        for part in _split_type(_text_in_dtype_brackets(each), " | ")
    }
    forms = {_suffix_of_form(each) for each in types}
    answer = (
        found.pop()
        if len(found) == 1
        else VAGUE_PREFIX + " or ".join(sorted(f.lstrip(VAGUE_PREFIX) for f in found))
    )
    return answer + (forms.pop() if len(forms) == 1 else "")


def _split_type(text: str, separator: str) -> list[str]:
    """Split a type at separators outside brackets."""
    parts, depth = [""], 0
    for piece in re.split(rf"({re.escape(separator)}|[\[\]])", text):
        depth += (piece == "[") - (piece == "]")
        if piece == separator and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _text_in_dtype_brackets(text: str) -> str:
    """Return what stands in the brackets of `dtype[...]`; the type itself where there are none."""
    found = re.search(r"\bdtype\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", text)
    return found[1] if found else text


def _suffix_of_form(text: str) -> str:
    """Return ARRAY_SUFFIX or SCALAR_SUFFIX where a type is that of either; "" for any other."""
    word = text.partition("[")[0]
    if word.endswith(("ndarray", "Array")):
        return ARRAY_SUFFIX
    return SCALAR_SUFFIX if word in SCALAR_CLASS_NAMES else ""


def _dtype_of_stub_type(part: str) -> str:
    word, _, rest = part.partition("[")
    sized = re.fullmatch(BIT_WIDTH_PATTERN, f"[{rest}") if rest else None
    if word in DTYPE_STEM_BY_STUB_CLASS and sized:
        stem = DTYPE_STEM_BY_STUB_CLASS[word]
        return f"{stem}{int(sized[1]) * (2 if stem == 'complex' else 1)}"
    if word == "bool_":
        return "bool"
    if word in DTYPES or word in ("longdouble", "clongdouble"):
        return word
    if word in ("int", "float", "complex", "bool"):
        return PYTHON_NUMBER_PREFIX + word
    return VAGUE_PREFIX + (word or "Any")
