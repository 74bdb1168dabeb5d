"""What takes part in a promotion, and how strings and frameworks' objects are read as that.

The frameworks' adapters are registered here, so that every reader of operands knows them. Each is loaded when
the first object of its framework comes by.
"""
from typelattice.operands.adapters import register

register()
