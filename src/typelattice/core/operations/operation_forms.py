"""The forms of calls that the rows of operations.txt name, with the meaning of each."""
from __future__ import annotations

MEANING_BY_CALL_FORM = {
    "promotion": "asks for the common dtype: result_type(x, y)",
    "elementwise": "element by element; a Python scalar may stand for an array: add(x, y)",
    "whole": "arrays as wholes; other arguments take no part in promotion: matmul(x, y), reshape(x, shape)",
    "reduction": "reduces axes: sum(x)",
    "along": "works along an axis, and keeps it: sort(x)",
    "choice": "an optional condition, which does not promote, and two branches: where(c, x, y)",
    "list": "a list of arrays: concat([x, y])",
    "separate": "any number of arrays, each by itself: meshgrid(x, y)",
    "multi-result": "one array, several results: unique_counts(x)",
    "subscripts": "a text with instructions, and arrays: einsum('i,i', x, y)",
    "cases": "a list of conditions, which do not promote, and a list of arrays: select([c], [x], y)",
    "pair": "two arrays element by element, and several results: divmod(x, y)",
    "creation": "numbers for a new array, and no arrays except 0-d ones: full(shape, x), arange(x, y)",
    "indexed": "an array, and indices, which do not promote and may be left out: take(x, i)",
}
