"""Methods of NumPy's elementwise functions: `np.add.reduce(x)` is a sum, `np.add.outer(x, y)` a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.base.errors.error_texts import clip_text
from typelattice.core.engine.foreign_arrays import INDEX_FORMS
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION, NameSort, name_meaning
from typelattice.programs.calls.calls_to_steps import call_function
from typelattice.programs.calls.multiple_results import STANDS_FOR_KEYWORD, MultipleResults
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import Argument, DTypeOf, Excerpt, NamedDType, Ref

# Method -> function of two arrays -> the operation that the method computes.
REDUCTION_BY_UFUNC_METHOD: Mapping[str, Mapping[str, str]] = {
    "reduce": {
        "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
        "logical_or": "any", "fmax": "max", "fmin": "min",
    },
    "accumulate": {"add": "cumsum", "multiply": "cumprod"},
    "reduceat": {"add": "cumsum", "multiply": "cumprod"},
}  # fmt: skip
# the parameters after the array in the methods of REDUCTION_BY_UFUNC_METHOD
REDUCTION_METHOD_PARAMETERS = ("axis", "dtype", "out", "keepdims")
UFUNC_METHODS = (*REDUCTION_BY_UFUNC_METHOD, "outer", "at")


def is_ufunc_method(path: Sequence[str]) -> bool:
    """Return True if a dotted name is a method of an elementwise function, such as `np.add.reduce`."""
    if len(path) < 2 or path[-1] not in UFUNC_METHODS or path[-2] not in OPERATION_BY_FUNCTION:
        return False
    return OPERATION_BY_FUNCTION[path[-2]].call_form == "elementwise"


def call_ufunc_method(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    function: str,
    method: str,
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
) -> Argument | MultipleResults:
    """Return the result of a method of an elementwise function.

    Raises ProgramError for a method that is not a known operation.
    """
    name = OPERATION_BY_FUNCTION[function].name
    if method == "outer":
        return _call_outer(builder, excerpt, name, args)
    if method == "at":
        return _call_at(builder, excerpt, name, args, keywords)
    if not args or len(args) > 1 + len(REDUCTION_METHOD_PARAMETERS):
        raise excerpt.error(
            f"{function}.{method} takes an array, and {', '.join(REDUCTION_METHOD_PARAMETERS)}"
        )
    if method == "reduceat":  # the second argument of reduceat has the indices
        args = (*args[:1], *args[2:])
    known = REDUCTION_BY_UFUNC_METHOD.get(method, {})
    if name not in known:
        return _call_repeatedly(builder, excerpt, function, method, args, keywords)
    named = {"axis": 0, **dict(zip(REDUCTION_METHOD_PARAMETERS, args[1:], strict=False)), **keywords}
    made = call_function(builder, excerpt, known[name], args[:1], named)
    if method == "reduceat" and isinstance(made, Ref):
        builder.mark_same_dtype_as(made, (STANDS_FOR_KEYWORD, f"{function}.{method}"))
    return made


def _call_repeatedly(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    function: str,
    method: str,
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
) -> Ref:
    """Add a function applied to element after element, with the dtype of the function of two arrays."""
    op = OPERATION_BY_FUNCTION[function]
    if op.min_operands > 2 or op.max_operands == 1:
        raise excerpt.error(f"{function}.{method}: {function} takes one array; give a function of two")
    typed = [x for x in (*args[1:], keywords.get("dtype")) if isinstance(x, (NamedDType, DTypeOf))]
    if typed or "out" in keywords:
        raise excerpt.error(f"{function}.{method} is read without dtype and out; cast with .astype(dtype)")
    x = builder.ensure_ref(excerpt, args[0])
    made = builder.add_call(excerpt, op, [x, x])
    shape = builder.shape_of(x) if method == "accumulate" else None
    builder.mark_same_dtype_as(made, (STANDS_FOR_KEYWORD, f"{function}.{method}"), shape)
    return made


def _call_at(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    name: str,
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
) -> Ref:
    """Return the array after the function has updated some elements. Its dtype does not change."""
    if len(args) not in (2, 3) or not isinstance(args[0], Ref) or {*keywords} - {"inplace"}:
        raise excerpt.error(f"{name}.at takes an array, indices and values; give those")
    x, key, values = args[0], args[1], args[2:]
    elements = builder.add_index(excerpt, x, key, INDEX_FORMS[0] if isinstance(key, tuple) else "")
    if (
        values
        and builder.is_scalar(values[0])
        and name_meaning(NameSort.JOINED_NUMBER_IS_ARRAY, "number", excerpt.owner)
    ):
        values = [builder.add_array_of_number(excerpt, values[0])]  # NumPy also casts -1 to an unsigned dtype
    return builder.add_setitem(
        excerpt, x, key, builder.add_call(excerpt, OPERATION_BY_FUNCTION[name], [elements, *values])
    )


def changes_array(path: Sequence[str], keywords: Mapping[str, Argument]) -> bool:
    """Return True if a method of an elementwise function writes into its array, as `np.add.at(x, i, y)`."""
    return path[-1] == "at" and keywords.get("inplace") is not False


def _call_outer(builder: ProgramBuilder, excerpt: Excerpt, name: str, args: Sequence[Argument]) -> Argument:
    """Return the function of each element of one array with each of another: new axes, and the function."""
    if len(args) != 2:
        raise excerpt.error(f"{name}.outer takes two arrays; give those")
    made = [call_function(builder, excerpt, "asarray", [each], {}) for each in args]
    x, y = (builder.ensure_ref(excerpt, each) for each in made if not isinstance(each, MultipleResults))
    shape = builder.shape_of(y)
    if shape is None:
        with builder.without_shape_checks():
            return builder.add_call(excerpt, OPERATION_BY_FUNCTION[name], [x, y], has_known_shape=False)
    if shape:
        text = clip_text(
            f"{builder.steps[x.step].text}[..., {', '.join(['None'] * len(shape))}]", len(excerpt.text)
        )
        x = builder.add_index(Excerpt(text, excerpt.location, excerpt.owner), x, (..., *[None] * len(shape)))
    return builder.add_call(excerpt, OPERATION_BY_FUNCTION[name], [x, y])
