"""Keras's symbolic tensors on each backend, which announce what its arrays compute."""

from __future__ import annotations

from typelattice.conformance.recording.libraries.keras import (
    KerasOnJAX,
    KerasOnNumPy,
    KerasOnTensorFlow,
    KerasOnTorch,
)

IMPLEMENTATIONS = {
    f"keras-{each.backend}-symbolic": each
    for each in (KerasOnJAX, KerasOnNumPy, KerasOnTensorFlow, KerasOnTorch)
}
