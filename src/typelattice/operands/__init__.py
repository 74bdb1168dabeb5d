"""What takes part in a promotion, and how strings and frameworks' objects are read as that.

Whoever reads operands finds the frameworks' adapters known: they are registered here, and loaded when an object comes by.
"""
from typelattice.operands.adapters import register

register()
