"""Operands of a promotion, and readers that make them from strings and frameworks' objects.

The frameworks' adapters are registered here, so that every reader of operands knows them. Each is loaded when
the first object of its framework is read.
"""
from typelattice.core.operands.adapters import register_adapters

register_adapters()
