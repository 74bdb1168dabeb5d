"""ndonnx: arrays that are values of an ONNX graph, whose operators state their dtypes."""
from __future__ import annotations

from typing import Any

from typelattice.facts.dtypes import DTYPES
from typelattice.namespaces.errors import NamespaceError
from typelattice.namespaces.libraries.computing import ComputingLibrary

INTEGER_PRODUCT = "matmul"  # ONNX's MatMulInteger: it takes the first dtypes and adds up in the last
INTEGER_OPERANDS, INTEGER_ACCUMULATOR = ("int8", "uint8"), "int32"
OPSET = "spox.opset.ai.onnx.v21"


class NDONNX(ComputingLibrary):
    """ndonnx. Its products add up in the dtype of their operands, except those of 8-bit integers."""

    def accumulate(self, name: str, to: Any, *arrays: Any, **options: Any) -> Any:
        """Call MatMulInteger. Raises NamespaceError for any other product: ONNX states no accumulator."""
        own = [self.dtype(x).name for x in arrays]
        is_known = name == INTEGER_PRODUCT and to == self.native(DTYPES[INTEGER_ACCUMULATOR])
        if is_known and {*own} <= {*INTEGER_OPERANDS}:
            from importlib import import_module

            product = import_module(OPSET).matmul_integer
            return self.module.asarray(product(*(x.unwrap_spox() for x in arrays)))
        what = f"ONNX has no {name} of {' and '.join(dict.fromkeys(own))} that accumulates in {INTEGER_ACCUMULATOR}"
        raise NamespaceError(f"{what}; cast the operands in the program, if the target may add up wider ones")


LIBRARY = NDONNX
