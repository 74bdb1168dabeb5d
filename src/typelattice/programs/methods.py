"""Methods of arrays that are no functions: casts such as `x.to(float32)`, views, and what tells shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from typelattice.facts.operations import operation
from typelattice.programs.arranging import ARRANGERS
from typelattice.programs.draft import Draft
from typelattice.programs.functions import FUNCTIONS, call_function
from typelattice.programs.makers import MAKERS, asked_dtype, bits_of
from typelattice.programs.names import dtype_named, meaning, names
from typelattice.programs.several import Several
from typelattice.programs.shapes import size
from typelattice.programs.site import Site
from typelattice.programs.step import Argument, DTypeOf, NamedDType, Ref, Shape

NO_SHAPE = "the shape is not known; give its operand a shape, e.g. float32[3,4]"


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A call of a method of `x`: its place, its arguments by position and by name, the draft of its steps."""

    draft: Draft
    site: Site
    x: Ref
    args: Sequence[Argument]
    given: Mapping[str, Argument]

    @property
    def first(self) -> Argument:
        """The first argument, which may be named; None if there is none."""
        return next(iter((*self.args, *self.given.values())), None)

    @property
    def shape(self) -> Shape | None:
        """The shape of the array, as far as it is known."""
        return self.draft.shape(self.x)


Method = Callable[[MethodCall], "Argument | Several"]


def call_method(
    draft: Draft, site: Site, name: str, x: Ref, args: Sequence[Argument], given: Mapping[str, Argument]
) -> Argument | Several:
    """What a method of an array gives; one that is none of METHODS is the function of its name.

    Raises ProgramError.
    """
    if name in METHODS:
        return METHODS[name](MethodCall(draft, site, x, args, given))
    cast = dtype_named(name, "torch")  # `x.float()` is PyTorch's, and tinygrad's, which took it over
    if cast is not None and name not in FUNCTIONS:
        return draft.cast(site, x, cast)
    plain = name.removesuffix("_")
    if plain != name and (plain in FUNCTIONS or plain in METHODS or plain in ("fill", "zero", "copy")):
        raise site.refuse(f"{name} writes into the array; give the result a name: x = x.{plain}(...)")
    return call_function(draft, site, name, _in_order(site, name, [x, *args]), given)


def _in_order(site: Site, name: str, operands: Sequence[Argument]) -> Sequence[Argument]:
    """The operands of a method in the order of the function of its name. Raises ProgramError."""
    by_library = {library: said for (library, method), said in names("second").items() if method == name}
    if not by_library:
        return operands
    if site.owner is None:
        raise site.refuse(
            f"of a method {name} libraries take the operands in different orders; write {name}(mask, x, y)"
        )
    if by_library.get(site.owner) == "yes":
        return [*operands[1:2], *operands[:1], *operands[2:]]
    return operands


def is_method(name: str) -> bool:
    """Whether arrays of a library have a method of this name."""
    known = any(name in each for each in (METHODS, FUNCTIONS, MAKERS, ARRANGERS))
    return known or dtype_named(name, "torch") is not None or meaning("same", name, None) is not None


def _is_dtype(x: Argument) -> bool:
    return isinstance(x, (NamedDType, DTypeOf, Ref))


def _to(call: MethodCall) -> Argument:
    """`x.to(float32)`, `x.to(y)`, `x.to("cuda", float16)`; on another device x is what it was."""
    given = (*call.args, call.given.get("dtype"), call.given.get("other"))
    asked = [each for each in given if _is_dtype(each)]
    if not asked:
        return call.x
    to = asked_dtype(call.site, asked[0])
    assert to is not None
    return call.draft.cast(call.site, call.x, to)


def _type(call: MethodCall) -> Argument:
    to = asked_dtype(call.site, call.first)
    if to is None:
        raise call.site.refuse("type() gives the name of a dtype, which is no array; leave it out")
    return call.draft.cast(call.site, call.x, to)


def _item(call: MethodCall) -> Argument:
    elements = size(call.shape)
    if not call.args and elements not in (None, 1):
        raise call.site.refuse(
            f"item takes an array of one element, and this has {elements}; index it first"
        )
    return call.draft.item(call.site, call.x)


def _tolist(call: MethodCall) -> Argument:
    raise call.site.refuse(
        "it takes the values out of an array; compute with the array, or with x[0].item()"
    )


def _view(call: MethodCall) -> Argument | Several:
    """The same bits as of another dtype, `x.view(int32)`; or the same elements in another shape."""
    draft, site, x = call.draft, call.site, call.x
    if not call.args and not call.given:
        return x
    asked = call.given.get("dtype", call.args[0] if call.args else None)
    if isinstance(asked, str) or (_is_dtype(asked) and not draft.is_scalar(asked)):
        return bits_of(draft, site, x, asked)
    return call_function(draft, site, "reshape", [x, *call.args], call.given)


def _view_as(call: MethodCall) -> Argument:
    shape = call.draft.shape(call.args[0]) if len(call.args) == 1 else None
    if shape is None or None in shape:
        raise call.site.refuse(NO_SHAPE)
    return call.draft.call(call.site, operation("reshape"), [call.x], [shape])


def _size(call: MethodCall) -> Argument:
    """The lengths of the axes, or of one of them."""
    shape, axis = call.shape, call.draft.static(call.first)
    if shape is None or (axis is None and None in shape):
        raise call.site.refuse(NO_SHAPE)
    if axis is None:
        return shape
    if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        raise call.site.refuse(f"there are {len(shape)} axes; give the number of one")
    if shape[axis] is None:
        raise call.site.refuse(NO_SHAPE)
    return shape[axis]


def _dim(call: MethodCall) -> Argument:
    if call.shape is None:
        raise call.site.refuse(NO_SHAPE)
    return len(call.shape)


def _numel(call: MethodCall) -> Argument:
    count = size(call.shape)
    if count is None:
        raise call.site.refuse(NO_SHAPE)
    return count


def _new(name: str) -> Method:
    """`x.new_zeros(3)`: what makes an array of the dtype of x, where no other is asked for."""

    def make(call: MethodCall) -> Argument | Several:
        own = {"dtype": DTypeOf(call.x.step), **call.given}
        return call_function(call.draft, call.site, name, call.args, own)

    return make


METHODS: Mapping[str, Method] = {
    "to": _to,
    "type": _type,
    "type_as": _type,
    "item": _item,
    "tolist": _tolist,
    "view": _view,
    "view_as": _view_as,
    "reshape_as": _view_as,
    "size": _size,
    "dim": _dim,
    "ndimension": _dim,
    "numel": _numel,
    "nelement": _numel,
    **{f"new_{name}": _new(name) for name in ("zeros", "ones", "empty", "full")},
    "new_tensor": _new("asarray"),
}
