"""`tf.function`, which traces what eager TensorFlow computes."""

from __future__ import annotations

from typelattice.conformance.libraries.tensorflow import Function


class InGraphs(Function):
    """Functions of tf in a graph, compared with the eager ones."""

    name = "tf-function"


IMPLEMENTATIONS = {InGraphs.name: InGraphs}
