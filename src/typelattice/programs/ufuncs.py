"""Methods of NumPy's elementwise functions: `np.add.reduce(x)` is a sum, `np.add.outer(x, y)` a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.facts.suggest import clipped
from typelattice.programs.draft import Draft
from typelattice.programs.functions import FUNCTIONS, call_function
from typelattice.programs.makers import MAKERS
from typelattice.programs.several import Several
from typelattice.programs.site import Site
from typelattice.programs.step import Argument

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
    """Whether a dotted name is that of a method of an elementwise function: `np.add.reduce`."""
    if len(path) < 2 or path[-1] not in METHODS or path[-2] not in FUNCTIONS:
        return False
    return FUNCTIONS[path[-2]].form == "elementwise"


def ufunc_method(
    draft: Draft,
    site: Site,
    function: str,
    method: str,
    args: Sequence[Argument],
    given: Mapping[str, Argument],
) -> Argument | Several:
    """What a method of an elementwise function gives. Raises ProgramError for one that is no operation."""
    name = FUNCTIONS[function].name
    if method == "outer":
        return _outer(draft, site, name, args)
    known = REDUCED.get(method, {})
    if name not in known:
        others = ", ".join(f"{each}.{method}" for each in known)
        there = f"there are {others}" if others else "write it with functions of whole arrays"
        raise site.refuse(f"{function}.{method} is no operation; {'x[i] += y' if method == 'at' else there}")
    if not args or len(args) > 1 + len(POSITIONS):
        raise site.refuse(f"{function}.{method} takes an array, and {', '.join(POSITIONS)}")
    named = {"axis": 0, **dict(zip(POSITIONS, args[1:], strict=False)), **given}
    return call_function(draft, site, known[name], args[:1], named)


def _outer(draft: Draft, site: Site, name: str, args: Sequence[Argument]) -> Argument:
    """The function of each element of one array with each of another: new axes, and the function."""
    if len(args) != 2:
        raise site.refuse(f"{name}.outer takes two arrays; give those")
    x, y = (draft.ref(site, MAKERS["asarray"](draft, site, [each], {})) for each in args)
    shape = draft.shape(y)
    if shape is None:
        raise site.refuse(f"the axes of {name}.outer are not known; give shapes, e.g. float32[3]")
    if shape:
        text = clipped(f"{draft.steps[x.step].text}[..., {', '.join(['None'] * len(shape))}]", len(site.text))
        x = draft.index(Site(text, site.place, site.owner), x, (..., *[None] * len(shape)))
    return draft.call(site, FUNCTIONS[name], [x, y])
