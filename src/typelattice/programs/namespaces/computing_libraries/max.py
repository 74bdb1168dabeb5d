"""Modular MAX: the values of a graph that is being built. A cast becomes a node of the graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from max.graph import BufferValue, DeviceRef, TensorValue, ops

from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary
from typelattice.programs.namespaces.namespace_error import NamespaceError


class MAXGraph(ComputingLibrary):
    """The open graph, `with Graph(...)`: it has casts and constants, and no functions of the standard."""

    builds_graphs = True

    def cast(self, data: Any, to: Any) -> Any:
        """Cast a value of the graph. An array of NumPy or a Buffer of MAX becomes a constant first.

        Raises NamespaceError for a BufferValue or a type, and if no graph is open.
        """
        if isinstance(data, TensorValue):
            return data if data.dtype == to else _add_node(lambda: data.cast(to))
        if isinstance(data, BufferValue):
            what = "a BufferValue is memory that a graph cannot cast"
            raise NamespaceError(f"{what}; load its value with max.graph.ops.buffer_load(x)")
        array = np.asarray(data) if isinstance(data, np.generic) else data
        return _add_node(lambda: ops.cast(ops.constant(array, device=DeviceRef.CPU()), to))

    def number_to_array(self, value: PythonNumber, to: Any, like: Any) -> Any:
        """Make a constant of a Python number, on the device of another value."""
        device = getattr(like, "device", None)
        on = device if isinstance(device, DeviceRef) else DeviceRef.CPU()
        return _add_node(lambda: ops.constant(value, to, device=on))


def _add_node(add: Callable[[], Any]) -> Any:
    """Add a node to the open graph. Raises NamespaceError if no graph is open, or MAX refuses the node."""
    try:
        return add()
    except LookupError:
        raise NamespaceError("no graph of MAX is open; cast inside of `with Graph(...):`") from None
    except (TypeError, AttributeError, BufferError) as e:
        what = f"MAX takes this for no value of a graph ({' '.join(str(e).split())[:160]})"
        raise NamespaceError(f"{what}; give a TensorValue, an array of NumPy or a number") from None


LIBRARY = MAXGraph
