"""`tf.function`, which traces what eager TensorFlow computes, and XLA, which compiles it."""

from __future__ import annotations

from typelattice.conformance.recording.libraries.tensorflow import GraphFunctions


class TensorFlowGraphs(GraphFunctions):
    """Functions of tf in a graph, compared with the eager ones."""

    name = "tf-function"


class XLA(GraphFunctions):
    """The same graphs compiled."""

    name = "tf-xla"
    how = "functions of tf under tf.function(jit_compile=True), on the CPU, default mode; the usual dtypes"
    compiled = True


IMPLEMENTATIONS = {each.name: each for each in (TensorFlowGraphs, XLA)}
