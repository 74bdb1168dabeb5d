"""Methods of arrays that do not exist as functions: casts such as `x.to(float32)`, views, and lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.operations.operations import find_operation
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.attributes import read_attribute
from typelattice.programs.calls.call_tables import (
    OPERATION_BY_FUNCTION,
    NameSort,
    attribute_dtype,
    find_equivalents,
    name_meaning,
    name_meanings,
)
from typelattice.programs.calls.calls_to_steps import call_function, is_function
from typelattice.programs.calls.compositions import is_composition
from typelattice.programs.calls.creation_and_cast_handlers import (
    COMPOSITION_HANDLERS,
    CREATION_HANDLERS,
    add_bitcast,
    convert_fill_value,
)
from typelattice.programs.calls.function_call import requested_dtype
from typelattice.programs.calls.multiple_results import STANDS_FOR_KEYWORD, MultipleResults
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.result_shapes import UNKNOWN_SHAPE_MESSAGE, count_elements
from typelattice.programs.calls.steps import FUNCTION_OF_IN_PLACE, Argument, DTypeOf, Excerpt, NamedDType, Ref

CAST_METHOD_NAMES = ("to", "type", "type_as")  # methods that cast to a dtype, or to the dtype of an array
FILLING_METHODS = ("fill", "zero", "copy")  # methods with `_` that write a value into the array
IN_PLACE_METHODS_WITHOUT_UNDERSCORE = ("fill",)  # NumPy has these without `_`


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A call of a method of `receiver`: place, arguments by position and by name, builder of its steps."""

    builder: ProgramBuilder
    excerpt: Excerpt
    receiver: Ref
    args: Sequence[Argument]
    keywords: Mapping[str, Argument]

    @property
    def first_argument(self) -> Argument:
        """The first argument, which may be named, or None if the call has no arguments."""
        return next(iter((*self.args, *self.keywords.values())), None)

    @property
    def shape(self) -> Shape | None:
        """The shape of the array, as far as it is known."""
        return self.builder.shape_of(self.receiver)


MethodHandler = Callable[[MethodCall], "Argument | MultipleResults"]


def call_method(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    name: str,
    receiver: Ref,
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
) -> Argument | MultipleResults:
    """Add the steps of a method call on an array, and return its result.

    A method without a handler is a cast (`x.float()`), writes in place (`x.add_(y)`), or is the function of
    its name. Raises ProgramError.
    """
    if name in METHOD_HANDLERS:
        return METHOD_HANDLERS[name](MethodCall(builder, excerpt, receiver, args, keywords))
    if name in IN_PLACE_METHODS_WITHOUT_UNDERSCORE and len(args) == 1 and not keywords:
        return builder.add_setitem(excerpt, receiver, ..., args[0])
    cast = attribute_dtype(name, "torch")  # PyTorch has `x.float()`, and tinygrad copied it
    if cast is not None and name not in OPERATION_BY_FUNCTION:
        return builder.add_cast(excerpt, receiver, cast)
    if name.removesuffix("_") != name:
        written = _call_in_place(MethodCall(builder, excerpt, receiver, args, keywords), name)
        if written is not None:
            return written
    owned = excerpt
    if excerpt.owner is None and not is_function(name, None) and find_equivalents(name, "torch"):
        owned = excerpt.of_library("torch")  # tinygrad casts as PyTorch does
    return call_function(builder, owned, name, _order_operands(excerpt, name, [receiver, *args]), keywords)


def _call_in_place(call: MethodCall, name: str) -> Argument:
    """Add the steps of a method that writes into its array and whose name ends with `_`.

    Raises ProgramError for a method that cannot be written as an operation.
    """
    builder, excerpt, x, args, argument_values = (
        call.builder,
        call.excerpt,
        call.receiver,
        call.args,
        call.keywords,
    )
    plain, owner = name.removesuffix("_"), call.excerpt.owner
    if is_in_place(name) and not argument_values:
        if plain in FILLING_METHODS:
            value = convert_fill_value(builder, excerpt, x, args[0] if args else 0)
            return builder.add_setitem(excerpt, x, ..., value)
        if len(args) == 1 and not builder.find_observed_operand:
            return builder.add_in_place(excerpt, OPERATION_BY_FUNCTION[plain].name, x, args[0])
    if builder.find_observed_operand and (plain in OPERATION_BY_FUNCTION or find_equivalents(plain, owner)):
        made = call_function(
            builder, excerpt, plain, _order_operands(excerpt, plain, [x, *args]), argument_values
        )
        return builder.add_setitem(excerpt, x, ..., made if isinstance(made, Ref) else x)
    if not is_composition(name, owner) and writes_result(plain, owner):
        made = call_function(
            builder, excerpt, plain, _order_operands(excerpt, plain, [x, *args]), argument_values
        )
        if not isinstance(made, Ref):
            return x
        # Operands as for `x += made`.
        written = builder.ensure_ref(excerpt, builder.add_in_place(excerpt, "add", x, made))
        builder.mark_same_dtype_as(written, (STANDS_FOR_KEYWORD, name))
        return written
    if plain in OPERATION_BY_FUNCTION or plain in METHOD_HANDLERS:
        raise excerpt.error(f"{name} writes into the array; give the result a name: x = x.{plain}(...)")
    return None


def _order_operands(excerpt: Excerpt, name: str, operands: Sequence[Argument]) -> Sequence[Argument]:
    """Return the operands of a method in the order of the function of its name. Raises ProgramError."""
    if name_meaning(NameSort.ARRAY_AFTER_CONDITION, name, None):
        return [*operands[1:2], *operands[:1], *operands[2:]]
    by_library = {
        library: said
        for (library, method), said in name_meanings(NameSort.ARRAY_IS_SECOND).items()
        if method == name
    }
    if not by_library:
        return operands
    if excerpt.owner is None:
        raise excerpt.error(
            f"of a method {name} libraries take the operands in different orders; write {name}(mask, x, y)"
        )
    if by_library.get(excerpt.owner) == "yes":
        return [*operands[1:2], *operands[:1], *operands[2:]]
    return operands


def is_method(name: str) -> bool:
    """Return True if the arrays of some library have a method of this name."""
    known = any(
        name in each
        for each in (METHOD_HANDLERS, OPERATION_BY_FUNCTION, CREATION_HANDLERS, COMPOSITION_HANDLERS)
    )
    if known or is_in_place(name) or find_equivalents(name, "torch"):
        return True
    return (
        attribute_dtype(name, "torch") is not None
        or name_meaning(NameSort.RETURNS_ITS_ARRAY, name, None) is not None
    )


def writes_result(function_name: str, library: str | None) -> bool:
    """Return True if the method `name_` of a library writes the result of its function `name` in place."""
    if library is None or function_name in METHOD_HANDLERS:
        return False
    known = (
        function_name in OPERATION_BY_FUNCTION
        or function_name in COMPOSITION_HANDLERS
        or is_composition(function_name, library)
    )
    return known or bool(find_equivalents(function_name, library))


def is_in_place(name: str) -> bool:
    """Return True for a known method that writes into its array, such as `x.add_(y)` or `x.zero_()`."""
    plain = name.removesuffix("_")
    if plain == name or name.endswith("__"):
        return name in IN_PLACE_METHODS_WITHOUT_UNDERSCORE
    return plain in FILLING_METHODS or (
        plain in OPERATION_BY_FUNCTION and OPERATION_BY_FUNCTION[plain].name in FUNCTION_OF_IN_PLACE.values()
    )


def _gives_dtype(x: Argument) -> bool:
    return isinstance(x, (NamedDType, DTypeOf, Ref))


def _call_conj(call: MethodCall) -> Argument | MultipleResults:
    """Add `x.conj()`, which returns bools unchanged unless the library's method calls its function."""
    own, library = (
        call.builder.dtype_of(call.receiver),
        call.builder.find_owner(call.excerpt, [call.receiver.step]),
    )
    if (
        own is not None
        and own.kind is Kind.BOOL
        and name_meaning(NameSort.COMPUTES_FROM_BOOLS, "conj", library) is None
    ):
        return call.receiver
    return call_function(call.builder, call.excerpt, "conj", [call.receiver, *call.args], call.keywords)


def _call_to(call: MethodCall) -> Argument:
    """Add `x.to(float32)`, `x.to(y)` or `x.to("cuda", float16)`. A device changes no dtype."""
    given = (*call.args, call.keywords.get("dtype"), call.keywords.get("other"))
    dtype_arguments = [each for each in given if _gives_dtype(each)]
    if not dtype_arguments:
        return call.receiver
    to = requested_dtype(call.excerpt, dtype_arguments[0])
    assert to is not None
    return call.builder.add_cast(call.excerpt, call.receiver, to)


def _call_type(call: MethodCall) -> Argument:
    to = requested_dtype(call.excerpt, call.first_argument)
    if to is None:
        raise call.excerpt.error("type() gives the name of a dtype, which is no array; leave it out")
    return call.builder.add_cast(call.excerpt, call.receiver, to)


def _call_item(call: MethodCall) -> Argument:
    elements = count_elements(call.shape)
    if not call.args and elements not in (None, 1):
        raise call.excerpt.error(
            f"item takes an array of one element, and this has {elements}; index it first"
        )
    return call.builder.add_item(call.excerpt, call.receiver)


def _call_tolist(call: MethodCall) -> Argument:
    raise call.excerpt.error(
        "it takes the values out of an array; compute with the array, or with x[0].item()"
    )


def _call_view(call: MethodCall) -> Argument | MultipleResults:
    """Return the bits as another dtype, `x.view(int32)`, or the elements in another shape."""
    builder, excerpt, x = call.builder, call.excerpt, call.receiver
    if not call.args and not call.keywords:
        return x
    asked = call.keywords.get("dtype", call.args[0] if call.args else None)
    if isinstance(asked, str) or (_gives_dtype(asked) and not builder.is_scalar(asked)):
        return add_bitcast(builder, excerpt, x, asked)
    return call_function(builder, excerpt, "reshape", [x, *call.args], call.keywords)


def _call_view_as(call: MethodCall) -> Argument:
    shape = call.builder.shape_of(call.args[0]) if len(call.args) == 1 else None
    if (shape is None or None in shape) and not call.builder.find_observed_operand:
        raise call.excerpt.error(UNKNOWN_SHAPE_MESSAGE)
    return call.builder.add_call(call.excerpt, find_operation("reshape"), [call.receiver], [shape])


def _call_size(call: MethodCall) -> Argument:
    """Return the lengths of the axes, or of one of them."""
    axis = call.builder.known_number(call.first_argument)
    if axis is None:
        return read_attribute(call.builder, call.excerpt, "shape", call.receiver)
    if call.shape is None:
        raise call.excerpt.error(UNKNOWN_SHAPE_MESSAGE)
    if not isinstance(axis, int) or not -len(call.shape) <= axis < len(call.shape):
        raise call.excerpt.error(f"there are {len(call.shape)} axes; give the number of one")
    length = call.shape[axis]
    if length is None:
        raise call.excerpt.error(UNKNOWN_SHAPE_MESSAGE)
    return length


def _length_method(name: str) -> MethodHandler:
    return lambda call: read_attribute(call.builder, call.excerpt, name, call.receiver)


def _maker_method(name: str) -> MethodHandler:
    """Return the function for `x.new_zeros(3)`: its array has the dtype of x, or the requested dtype."""

    def make(call: MethodCall) -> Argument | MultipleResults:
        own = {"dtype": DTypeOf(call.receiver.step), **call.keywords}
        return call_function(call.builder, call.excerpt, name, call.args, own)

    return make


METHOD_HANDLERS: Mapping[str, MethodHandler] = {
    "conj": _call_conj,
    "conjugate": _call_conj,
    "to": _call_to,
    "type": _call_type,
    "type_as": _call_type,
    "item": _call_item,
    "tolist": _call_tolist,
    "view": _call_view,
    "view_as": _call_view_as,
    "reshape_as": _call_view_as,
    "size": _call_size,
    "dim": _length_method("ndim"),
    "ndimension": _length_method("ndim"),
    "numel": _length_method("size"),
    "nelement": _length_method("size"),
    **{f"new_{name}": _maker_method(name) for name in ("zeros", "ones", "empty", "full")},
    "new_tensor": _maker_method("asarray"),
}
