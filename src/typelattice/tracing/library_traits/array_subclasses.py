"""Array classes with arithmetic of their own, such as masked arrays: no rule of a library describes them."""

from __future__ import annotations

from types import BuiltinFunctionType, ClassMethodDescriptorType, MethodDescriptorType, WrapperDescriptorType

from typelattice.tracing.library_traits import plain_array_classes
from typelattice.tracing.run_data.array_classes import library_class

OPERATORS = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and",
    "xor", "or",
)  # fmt: skip
ARITHMETIC_METHODS = frozenset(
    [
        *(f"__{prefix}{name}__" for name in OPERATORS for prefix in ("", "r", "i")),
        *(f"__{name}__" for name in ("neg", "pos", "abs", "invert")),
        "__array_ufunc__", "__array_function__", "__array_wrap__", "__array_prepare__", "__torch_function__",
        "__torch_dispatch__",
    ]
)  # fmt: skip
"""Methods that decide what an operation on an array computes, or what it returns."""


C_FUNCTION_TYPES = (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)


def has_own_arithmetic(cls: type) -> bool:
    """Return True if an array class computes in another way than its library's plain arrays.

    A class that only adds attributes follows the library's rules. So does one that turns a protocol off with
    a C function of the library, as `torch.nn.Parameter` does.
    """
    base = library_class(cls)
    if base is None:
        return False
    plain = plain_array_classes(type.__getattribute__(base, "__module__").partition(".")[0])
    classes: tuple[type, ...] = type.__getattribute__(cls, "__mro__")
    for each in classes:
        if _full_name(each) in plain or (not plain and each is base):
            return False
        methods = type.__getattribute__(each, "__dict__")
        for name in ARITHMETIC_METHODS & methods.keys():
            method = methods[name]
            function = method.__func__ if type(method) in (classmethod, staticmethod) else method
            if type(function) not in C_FUNCTION_TYPES:
                return True
    return False


def _full_name(cls: type) -> str:
    module = type.__getattribute__(cls, "__module__")
    return f"{module}.{type.__getattribute__(cls, '__name__')}"
