"""Data type promotion as data that computes: what dtype does `x + y` have, and why?

>>> import typelattice as tl
>>> tl.system("jax").result_type("int8", "uint8")
int16
"""
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from typelattice.adapters import native, register
from typelattice.dtypes import DType, DTypeError, Kind, dtype
from typelattice.format import system
from typelattice.loss import Loss, loss
from typelattice.operand import Operand, OperandError, operand
from typelattice.ops import OpError
from typelattice.order import Order, OrderError
from typelattice.promotion import Promotion, PromotionError
from typelattice.source import FormatError, UnknownSystem, systems
from typelattice.system import System

if TYPE_CHECKING:
    from typelattice.consensus import Consensus, consensus
    from typelattice.criteria import Criteria, criteria
    from typelattice.designer import design
    from typelattice.formulas import Formula, FormulaError, formula
    from typelattice.laws import Laws, laws
    from typelattice.namespaces import Array, Namespace, NamespaceError, implicit_cast, namespace
    from typelattice.render import render
    from typelattice.table import Diff, Table, diff, table

register()

LATER = {
    name: module
    for module, names in {
        "consensus": "Consensus consensus",
        "criteria": "Criteria criteria",
        "designer": "design",
        "formulas": "Formula FormulaError formula",
        "laws": "Laws laws",
        "namespaces": "Array Namespace NamespaceError implicit_cast namespace",
        "render": "render",
        "table": "Diff Table diff table",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> object:
    """What is loaded when it is first asked for."""
    if name not in LATER:
        raise AttributeError(f"module 'typelattice' has no attribute {name!r}")
    return getattr(import_module(f"typelattice.{LATER[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *LATER]


class _Package(ModuleType):
    """Keeps `tl.laws` the function: to import a module makes it an attribute of its package, under the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in LATER or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

__all__ = [
    "Array", "Consensus", "Criteria", "DType", "DTypeError", "Diff", "FormatError", "Formula", "FormulaError", "Kind", "Laws",
    "Loss", "Namespace", "NamespaceError", "OpError", "Operand", "OperandError", "Order", "OrderError", "Promotion",
    "PromotionError", "System", "Table", "UnknownSystem", "consensus", "criteria", "design", "diff", "dtype", "formula",
    "implicit_cast", "laws", "loss", "namespace", "native", "operand", "render", "system", "systems", "table",
]  # fmt: skip
__version__ = "0.1.0"
