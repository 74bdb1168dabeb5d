"""ndonnx: arrays that are values of an ONNX graph. Its operators state their dtypes."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.operations.shapes import Shape
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary
from typelattice.programs.namespaces.namespace_error import NamespaceError

INTEGER_PRODUCT_FUNCTION = "matmul"  # ONNX's MatMulInteger: it takes the first dtypes and adds up in the last
INTEGER_OPERAND_DTYPES, INTEGER_ACCUMULATOR_DTYPE = ("int8", "uint8"), "int32"
OPSET_VERSION = 21


class NDONNX(ComputingLibrary):
    """ndonnx. Its products add up in the dtype of their operands, except products of 8-bit integers."""

    writes_custom_calls = True

    def accumulate(self, name: str, to: Any, *arrays: Any, **options: Any) -> Any:
        """Call MatMulInteger. Raises NamespaceError for any other product: ONNX states no accumulator."""
        own = [self.dtype_of(x).name for x in arrays]
        is_known = name == INTEGER_PRODUCT_FUNCTION and to == self.native_dtype(
            DTYPES[INTEGER_ACCUMULATOR_DTYPE]
        )
        if is_known and {*own} <= {*INTEGER_OPERAND_DTYPES}:
            from importlib import import_module

            product = import_module(f"spox.opset.ai.onnx.v{OPSET_VERSION}").matmul_integer
            return self.module.asarray(product(*(x.unwrap_spox() for x in arrays)))
        operands = " and ".join(dict.fromkeys(own))
        what = f"ONNX has no {name} of {operands} that accumulates in {to}"
        how = f"to_onnx(..., cast_products=True) casts the operands to {to}"
        raise NamespaceError(f"{what}; if the target may add up wider ones, {how}")

    def call_custom(
        self,
        domain: str,
        name: str,
        to: Any,
        shape: Shape,
        arrays: Sequence[Any],
        settings: Mapping[str, Any],
    ) -> Any:
        """Return a node of the operator `name` in the system's domain, with the settings as attributes."""
        return self.module.asarray(self.make_custom_node(domain, name, to, shape, arrays, settings))

    def make_custom_node(
        self,
        domain: str,
        name: str,
        to: Any,
        shape: Shape,
        arrays: Sequence[Any],
        settings: Mapping[str, Any],
    ) -> Any:
        """Make the node. `to` is a dtype of ndonnx or of NumPy."""
        import spox
        from onnx import helper

        values = [x.unwrap_spox() for x in arrays]
        inputs = [
            _describe_graph_value(f"x{i}", own.type.dtype, own.type.shape) for i, own in enumerate(values)
        ]
        node = helper.make_node(name, [x.name for x in inputs], ["y"], domain=domain, **settings)
        own = to.unwrap_numpy() if hasattr(to, "unwrap_numpy") else to
        graph = helper.make_graph([node], name, inputs, [_describe_graph_value("y", own, shape)])
        opsets = [helper.make_opsetid(domain, 1), helper.make_opsetid("", OPSET_VERSION)]
        inlined = spox.inline(helper.make_model(graph, opset_imports=opsets))
        return inlined(*values)["y"]


def _describe_graph_value(name: str, dtype: Any, shape: Sequence[int | str | None]) -> Any:
    """Return a value of an ONNX graph with its dtype, as NumPy's, and its shape."""
    from onnx import helper

    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)

LIBRARY = NDONNX
