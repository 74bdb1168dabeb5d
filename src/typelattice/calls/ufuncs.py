"""Methods of NumPy's elementwise functions: `np.add.reduce(x)` is a sum, `np.add.outer(x, y)` a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.calls.bind import call_function
from typelattice.calls.call_tables import FUNCTIONS
from typelattice.calls.multiple_results import MultipleResults
from typelattice.calls.program_builder import ProgramBuilder
from typelattice.calls.step import Argument, Excerpt
from typelattice.facts.suggestions import clip_text

REDUCED: Mapping[str, Mapping[str, str]] = {  # what a method is, by the function whose it is
    "reduce": {
        "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
        "logical_or": "any", "fmax": "max", "fmin": "min",
    },
    "accumulate": {"add": "cumsum", "multiply": "cumprod"},
}  # fmt: skip
POSITIONS = ("axis", "dtype", "out", "keepdims")  # what follows the array in the methods of REDUCED
METHODS = (*REDUCED, "outer", "at", "reduceat")


def is_ufunc_method(path: Sequence[str]) -> bool:
    """Return True if a dotted name is a method of an elementwise function, such as `np.add.reduce`."""
    if len(path) < 2 or path[-1] not in METHODS or path[-2] not in FUNCTIONS:
        return False
    return FUNCTIONS[path[-2]].form == "elementwise"


def ufunc_method(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    function: str,
    method: str,
    args: Sequence[Argument],
    given: Mapping[str, Argument],
) -> Argument | MultipleResults:
    """Return the result of a method of an elementwise function.

    Raises ProgramError if the method is not a known operation.
    """
    name = FUNCTIONS[function].name
    if method == "outer":
        return _outer(builder, excerpt, name, args)
    known = REDUCED.get(method, {})
    if name not in known:
        others = ", ".join(f"{each}.{method}" for each in known)
        there = f"there are {others}" if others else "write it with functions of whole arrays"
        raise excerpt.refuse(
            f"{function}.{method} is no operation; {'x[i] += y' if method == 'at' else there}"
        )
    if not args or len(args) > 1 + len(POSITIONS):
        raise excerpt.refuse(f"{function}.{method} takes an array, and {', '.join(POSITIONS)}")
    named = {"axis": 0, **dict(zip(POSITIONS, args[1:], strict=False)), **given}
    return call_function(builder, excerpt, known[name], args[:1], named)


def _outer(builder: ProgramBuilder, excerpt: Excerpt, name: str, args: Sequence[Argument]) -> Argument:
    """The function of each element of one array with each of another: new axes, and the function."""
    if len(args) != 2:
        raise excerpt.refuse(f"{name}.outer takes two arrays; give those")
    made = [call_function(builder, excerpt, "asarray", [each], {}) for each in args]
    x, y = (builder.ref(excerpt, each) for each in made if not isinstance(each, MultipleResults))
    shape = builder.shape(y)
    if shape is None:
        raise excerpt.refuse(f"the axes of {name}.outer are not known; give shapes, e.g. float32[3]")
    if shape:
        text = clip_text(
            f"{builder.steps[x.step].text}[..., {', '.join(['None'] * len(shape))}]", len(excerpt.text)
        )
        x = builder.index(Excerpt(text, excerpt.location, excerpt.owner), x, (..., *[None] * len(shape)))
    return builder.call(excerpt, FUNCTIONS[name], [x, y])
