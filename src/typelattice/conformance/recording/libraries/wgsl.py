"""WGSL, as Dawn's compiler Tint checks it: no shader is run, its diagnostics name the types."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from pydawn import utils, webgpu

from typelattice.conformance.recording.libraries.language_base import Language, forms_from_operators
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber, versions_of

ERROR_PATTERN = re.compile(r":\d+:\d+ error: (?P<message>[^\n]*)")
TYPE_MESSAGE_PATTERN = re.compile(
    r"cannot (?:assign|convert value of type) '(?P<type>[\w-]+)' to (?:type )?'Nothing'"
)
ASSIGNMENT_PATTERN = re.compile(r"a_(\w+) (?:[-+*/&|^]|<<|>>)?= ")

UNARY_FUNCTIONS = (
    *("abs", "sign", "sqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "round", "degrees"),
    *("radians", "any", "all"),
)
BINARY_FUNCTIONS = ("max", "min", "pow", "atan2")
"""Functions of one and of two values, called as here."""


class WGSL(Language):
    """Variables and literals. A literal is abstract: it stays weak among literals, and adopts a type."""

    name = "wgsl"
    how = "types that Tint, of Dawn's null backend, names for expressions, none is run"
    native_types: Mapping[str, str] = {
        "bool": "bool",
        "uint32": "u32",
        "int32": "i32",
        "float16": "f16",
        "float32": "f32",
    }
    skipped_operations = (
        "clip", "det", "dot", "cross", "lerp", "matrix_transpose", "norm", "vector_norm", "matmul",
    )  # fmt: skip
    forms: Mapping[str, tuple[str, ...]] = {
        **forms_from_operators(
            "add",
            "subtract",
            "multiply",
            "divide",
            "equal",
            "not_equal",
            "less",
            "greater_equal",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "bitwise_left_shift",
            "bitwise_right_shift",
            "negative",
            "bitwise_invert",
        ),
        "fmod": ("{} % {}",),
        "logical_and": ("{} && {}",),
        "logical_or": ("{} || {}",),
        "logical_not": ("!{}",),
        "where": ("select({}, {}, a_bool)",),
        "rsqrt": ("inverseSqrt({})",),
        **{name: (name + "({})",) for name in UNARY_FUNCTIONS},
        **{
            {"max": "maximum", "min": "minimum"}.get(name, name): (name + "({}, {})",)
            for name in BINARY_FUNCTIONS
        },
        **{f"{sign}=": (f"{{}} {sign}= {{}}",) for sign in ("+", "-", "*", "/", "&", "|", "^", "<<", ">>")},
        "setitem": ("{} = {}",),
    }

    def __init__(self) -> None:
        super().__init__()
        self.versions = versions_of("dawn-python")
        self.names |= {"abstract-int": "int32*", "abstract-float": "float32*"}
        # the Null backend exists on every machine
        utils.supported_backends["Null"] = webgpu.WGPUBackendType_Null
        os.environ["BACKEND_TYPE"] = "Null"
        adapter = utils.request_adapter_sync(webgpu.WGPUPowerPreference_LowPower)
        self.device = utils.request_device_sync(adapter, [webgpu.WGPUFeatureName_ShaderF16])
        variables = "\n".join(f"var<private> a_{name}: {own};" for name, own in self.native_types.items())
        self.head = f"enable f16;\nstruct Nothing {{ x: i32 }}\nvar<private> n: Nothing;\n{variables}\n"

    def constant(self, value: PythonNumber) -> str:
        if isinstance(value, complex) or math.isinf(value):
            raise NoSuchOperandError("WGSL has no such literal")
        return str(value).lower() if isinstance(value, bool) else f"({value!r})"

    def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
        """Return the types: no value here can be assigned to the struct; a weak one must fit its default
        type.
        """
        for i, each in enumerate(expressions):
            if target := ASSIGNMENT_PATTERN.match(each):
                error = self.find_error(each)
                yield i, TypeError(error) if error else target[1]
                continue
            error = self.find_error(f"n = {each}")
            named = TYPE_MESSAGE_PATTERN.match(error)
            found = self.names[named["type"]] if named else ""
            if found.endswith("*"):
                error = self.find_error(f"let x = {each}")
            yield i, TypeError(error) if error and not (named and error == named.string) else found

    def find_error(self, statement: str) -> str:
        """Return the first error that Tint reports for a statement, or nothing if it compiles."""
        try:
            utils.create_shader_module(self.device, f"{self.head}fn f() {{ {statement}; }}\n")
        except RuntimeError as error:
            found = ERROR_PATTERN.search(str(error))
            return found["message"] if found else str(error)
        return ""


LIBRARIES = {WGSL.name: WGSL}
