"""The rules under which a typed graph is run or exported: a step has one dtype and states its result's."""

from __future__ import annotations

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS, Domain
from typelattice.core.engine.system import System


def graph_rules(system: System) -> System:
    """Return a system of all dtypes in which every operation computes in the dtype of its operands.

    A typed graph has written what the system's rules do. So they count once, and the plain steps of a rule
    may use dtypes that the system lacks. The order stays, for an exponent that keeps its own dtype. Indices
    have the default integer, and then the dtype that the graph states.
    """
    own = {str(node) for node in system.order.nodes}
    order = {node: system.order.covers(node) for node in system.order.nodes}
    order |= {d: () for d in DTYPES.values() if str(d) not in own}
    every_kind = {"kernels": Domain((*Kind,))}
    return replace(
        system,
        order=Order(order),
        refusals={},
        overrides={},
        before={},
        after={},
        requested={},
        limits={},
        casts={},
        defaults={Kind.SIGNED: DTYPES["int64"], **system.defaults},
        missing_operations=frozenset(),
        ops=dict.fromkeys(GROUP_BY_CLASS.values(), every_kind),
    )
