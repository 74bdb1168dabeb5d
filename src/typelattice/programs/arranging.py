"""Functions that arrange or fill an array, whose arguments libraries give in different ways: transpose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from typelattice.facts.operations import operation
from typelattice.programs.draft import Draft
from typelattice.programs.shapes import plain_axes
from typelattice.programs.site import Site
from typelattice.programs.step import Argument, Ref

Arranger = Callable[[Draft, Site, Sequence[Argument], dict[str, Argument]], Argument]


def _settings(
    draft: Draft, args: Sequence[Argument], given: Mapping[str, Argument]
) -> tuple[int, ...] | None:
    """Whole numbers, which may be given one by one, as a tuple, or by name; None for anything else."""
    plain = [draft.static(x) for x in (*args, *given.values())]
    return plain_axes(plain[0] if len(plain) == 1 else tuple(plain))


def _transpose(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    """Axes the other way round, in the order that is given, or in PyTorch two of them swapped."""
    x, asked = draft.ref(site, args[0]), [each for each in args[1:] if each is not None]
    shape = draft.shape(x)
    axes = _settings(draft, asked, given) if asked or given else None
    if axes is None and (asked or given):
        raise site.refuse("the axes are not known; give numbers")
    if axes is None:
        if shape is None or len(shape) == 2:
            return draft.call(site, operation("matrix_transpose"), [x])
        axes = tuple(reversed(range(len(shape))))
    apart = len(asked) == 2 or {*given} == {"dim0", "dim1"}
    matrix_of_numpy = shape is not None and len(shape) == 2 and draft.owner(site, (x.step,)) == "numpy"
    if apart and not matrix_of_numpy:
        return draft.call(site, operation("swapaxes"), [x], axes)
    return draft.call(site, operation("permute_dims"), [x], [axes])


def _t(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    """The transpose of a matrix; an array of one axis is itself."""
    x = draft.ref(site, args[0])
    shape = draft.shape(x)
    if shape is not None and len(shape) < 2:
        return x
    return draft.call(site, operation("matrix_transpose"), [x])


def _expand(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    """A view of more elements, in which -1 stands for the length that an axis has."""
    x = draft.ref(site, args[0])
    shape, lengths = draft.shape(x), _settings(draft, args[1:], given)
    if lengths is None:
        raise site.refuse("the lengths are not known; give numbers")
    own = (None,) * (len(lengths) - len(shape or ())) + (shape or ())
    found = tuple(at if n == -1 else n for n, at in zip(lengths, own, strict=False))
    if None in found:
        raise site.refuse("the shape is not known; give its operand a shape, e.g. float32[3,4]")
    return draft.call(site, operation("broadcast_to"), [x], [found])


def _masked_fill(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    """The array with a value where a mask is true: the value is written into it, whatever its dtype."""
    taken = [*args, *given.values()]
    if len(taken) != 3 or not isinstance(taken[1], Ref):
        raise site.refuse("it takes an array, a mask and a value; give those")
    return draft.put(site, taken[0], taken[1], taken[2])


ARRANGERS: Mapping[str, Arranger] = {
    "transpose": _transpose,
    "t": _t,
    "expand": _expand,
    "masked_fill": _masked_fill,
}
