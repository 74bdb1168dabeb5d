"""Data type promotion as data that computes: what dtype does `x + y` have, and why?

>>> import typelattice as tl
>>> tl.system("jax").result_type("int8", "uint8")
int16
"""
from importlib import import_module
from typing import TYPE_CHECKING

from typelattice.adapters import native, register
from typelattice.consensus import Consensus, consensus
from typelattice.criteria import Criteria, criteria
from typelattice.dtypes import DType, DTypeError, Kind, dtype
from typelattice.format import system
from typelattice.laws import Laws, laws
from typelattice.loss import Loss, loss
from typelattice.operand import Operand, OperandError, operand
from typelattice.ops import OpError
from typelattice.order import Order, OrderError
from typelattice.promotion import Promotion, PromotionError
from typelattice.render import render
from typelattice.source import FormatError, UnknownSystem, systems
from typelattice.system import System
from typelattice.table import Diff, Table, diff, table

if TYPE_CHECKING:
    from typelattice.designer import design
    from typelattice.formulas import Formula, FormulaError, formula
    from typelattice.namespaces import Array, Namespace, NamespaceError, implicit_cast, namespace

register()


LATER = {
    "design": "designer",
    **dict.fromkeys(("Formula", "FormulaError", "formula"), "formulas"),
    **dict.fromkeys(("Array", "Namespace", "NamespaceError", "implicit_cast", "namespace"), "namespaces"),
}


def __getattr__(name: str) -> object:
    """What is loaded when it is first asked for."""
    if name not in LATER:
        raise AttributeError(f"module 'typelattice' has no attribute {name!r}")
    return getattr(import_module(f"typelattice.{LATER[name]}"), name)


__all__ = [
    "Array", "Consensus", "Criteria", "DType", "DTypeError", "Diff", "FormatError", "Formula", "FormulaError", "Kind", "Laws",
    "Loss", "Namespace", "NamespaceError", "OpError", "Operand", "OperandError", "Order", "OrderError", "Promotion",
    "PromotionError", "System", "Table", "UnknownSystem", "consensus", "criteria", "design", "diff", "dtype", "formula",
    "implicit_cast", "laws", "loss", "namespace", "native", "operand", "render", "system", "systems", "table",
]  # fmt: skip
__version__ = "0.1.0"
