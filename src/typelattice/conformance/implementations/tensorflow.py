"""`tf.function`, which traces what eager TensorFlow computes."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from typelattice.conformance.functions import as_is, operators
from typelattice.conformance.libraries.framework import Operations
from typelattice.conformance.libraries.tensorflow import TensorFlow


class Function(TensorFlow):
    """Functions of tf in a graph: tensors are its arguments, Python scalars its constants."""

    name = "tf-function"
    how = "functions of tf under tf.function"

    def operations(self) -> Operations:
        found = self.eager() | operators(as_is)  # a symbolic tensor cannot be copied, nor written into
        return {op: _traced(function) for op, function in found.items()}


def _traced(function: Callable[..., object]) -> Callable[..., object]:
    def call(*operands: object) -> object:
        tensors = [x for x in operands if isinstance(x, tf.Tensor)]

        def of(*symbols: object) -> object:
            rest = iter(symbols)
            return function(*(next(rest) if isinstance(x, tf.Tensor) else x for x in operands))

        return tf.function(of, autograph=False)(*tensors)

    return call


IMPLEMENTATIONS = {Function.name: Function}
