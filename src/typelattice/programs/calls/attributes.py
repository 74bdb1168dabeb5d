"""Attributes of the arrays of all libraries: views such as `x.T`, and facts that follow from the shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from typelattice.base.errors.error_texts import clip_text
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION, NameSort, name_meaning
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.result_shapes import GIVE_SHAPE_ADVICE, count_elements
from typelattice.programs.calls.steps import Argument, Excerpt, Ref

OPERATION_BY_VIEW_ATTRIBUTE = {
    "T": "matrix_transpose",
    "mT": "matrix_transpose",
    "real": "real",
    "imag": "imag",
}
# attributes that follow from the shape
READER_BY_SHAPE_ATTRIBUTE: Mapping[str, Callable[[Shape], Argument]] = {
    "ndim": len,
    "shape": lambda shape: None if None in shape else shape,
    "size": count_elements,
}
# The values of an array may decide these, as in `unique(x).size`.
ATTRIBUTES_NEEDING_SHAPE = ("shape", "size")
READABLE_ATTRIBUTES = (*OPERATION_BY_VIEW_ATTRIBUTE, *READER_BY_SHAPE_ATTRIBUTE)


def read_attribute(builder: ProgramBuilder, excerpt: Excerpt, name: str, array: Ref) -> Argument:
    """Return the value of one of READABLE_ATTRIBUTES. Raises ProgramError for a length that is not known."""
    shape = builder.shape_of(array)
    if name == "T" and shape is not None and len(shape) != 2:
        return _reverse_axes(builder, excerpt, array, len(shape))
    if name in OPERATION_BY_VIEW_ATTRIBUTE:
        return builder.add_call(excerpt, OPERATION_BY_FUNCTION[OPERATION_BY_VIEW_ATTRIBUTE[name]], [array])
    found = None if shape is None else READER_BY_SHAPE_ATTRIBUTE[name](shape)
    if found is None and name in ATTRIBUTES_NEEDING_SHAPE and (name == "size" or shape is not None):
        found = _find_decided_lengths(builder, excerpt, name, array, shape or ())
    if found is None:
        what = clip_text(builder.steps[array.step].text, len(excerpt.text))
        raise excerpt.error(f"the shape of {what} is not known; {GIVE_SHAPE_ADVICE}")
    return found


def _reverse_axes(builder: ProgramBuilder, excerpt: Excerpt, array: Ref, ndim: int) -> Ref:
    """Return `x.T` of an array that is no matrix. Raises ProgramError if only matrices have one."""
    if ndim < 2:
        return array
    order = name_meaning(NameSort.TRANSPOSED_AXES, "T", builder.find_owner(excerpt, (array.step,)))
    if order is None:
        raise excerpt.error(f"T of an array of {ndim} axes; write permute_dims(x, axes)")
    axes = (1, 0, *range(2, ndim)) if order == "first-two" else tuple(reversed(range(ndim)))
    return builder.add_call(excerpt, OPERATION_BY_FUNCTION["permute_dims"], [array], [axes])


def _find_decided_lengths(
    builder: ProgramBuilder, excerpt: Excerpt, name: str, array: Ref, shape: Shape
) -> Argument:
    """Return the size or the lengths of the axes, if the values of an array decide some of them."""
    if name == "size":
        return builder.add_length(excerpt, array)
    found = tuple(builder.add_length(excerpt, array) if length is None else length for length in shape)
    return None if None in found else found
