"""Data type promotion as data that computes: what dtype does `x + y` have, and why?

>>> import typelattice as tl
>>> tl.system("jax").result_type("int8", "uint8")
int16
"""
from importlib import import_module

from typelattice.facts.words import VIEWS, WORDS

TYPE_CHECKING = (
    False  # type checkers know the name, and take it for true; to import it costs more than all else here
)
if TYPE_CHECKING:
    from typelattice.designer import ConflictError, MissingSolverError, PlanError, design
    from typelattice.drawings.heat import heatmap
    from typelattice.drawings.making import draw
    from typelattice.engine.answer import Promotion, PromotionError
    from typelattice.engine.system import System
    from typelattice.facts.dtypes import DType, DTypeError, Kind, dtype
    from typelattice.facts.errors import TypelatticeError
    from typelattice.facts.loss import Loss, loss
    from typelattice.facts.operations import OpError
    from typelattice.facts.order import Order, OrderError
    from typelattice.files.reader import system
    from typelattice.files.text import FormatError, UnknownSystemError, systems
    from typelattice.namespaces import Array, Namespace, NamespaceError, namespace
    from typelattice.operands.adapters import native
    from typelattice.operands.objects import operand
    from typelattice.operands.operand import Operand, OperandError
    from typelattice.programs.implicit import implicit_cast, implicit_cast_type
    from typelattice.programs.making import program
    from typelattice.programs.program import Program, Replay
    from typelattice.programs.step import ProgramError
    from typelattice.programs.symbols import Symbols
    from typelattice.recorded.observed import Observed, observed
    from typelattice.rendering import render
    from typelattice.rendering.diagram import DrawingError
    from typelattice.rendering.drawing import Drawing
    from typelattice.study.consensus import Consensus, consensus
    from typelattice.study.criteria import Criteria, criteria
    from typelattice.study.diffs import Diff, diff
    from typelattice.study.laws import Laws, laws
    from typelattice.study.scope import BeyondReachError
    from typelattice.study.tables import Table, table
    from typelattice.tracing.function import Traced, TraceError, trace

# Every public name is loaded when it is first asked for, so that `import typelattice` costs next to nothing.
_LATER = {
    name: module
    for module, names in {
        "designer": ("ConflictError", "MissingSolverError", "PlanError", "design"),
        "drawings.heat": ("heatmap",),
        "drawings.making": ("draw",),
        "engine.answer": ("Promotion", "PromotionError"),
        "engine.system": ("System",),
        "facts.dtypes": ("DType", "DTypeError", "Kind", "dtype"),
        "facts.errors": ("TypelatticeError",),
        "facts.loss": ("Loss", "loss"),
        "facts.operations": ("OpError",),
        "facts.order": ("Order", "OrderError"),
        "files.reader": ("system",),
        "files.text": ("FormatError", "UnknownSystemError", "systems"),
        "namespaces": ("Array", "Namespace", "NamespaceError", "namespace"),
        "operands.adapters": ("native",),
        "operands.operand": ("Operand", "OperandError"),
        "operands.objects": ("operand",),
        "programs.implicit": ("implicit_cast", "implicit_cast_type"),
        "programs.making": ("program",),
        "programs.program": ("Program", "Replay"),
        "programs.step": ("ProgramError",),
        "programs.symbols": ("Symbols",),
        "recorded.observed": ("Observed", "observed"),
        "rendering": ("render",),
        "rendering.diagram": ("DrawingError",),
        "rendering.drawing": ("Drawing",),
        "study.scope": ("BeyondReachError",),
        "study.consensus": ("Consensus", "consensus"),
        "study.criteria": ("Criteria", "criteria"),
        "study.diffs": ("Diff", "diff"),
        "study.laws": ("Laws", "laws"),
        "study.tables": ("Table", "table"),
        "tracing.function": ("TraceError", "Traced", "trace"),
    }.items()
    for name in names
}

# What is made in one room is explained and drawn in others, which cannot be seen from there.
WORDS["Promotion"] = lambda: import_module("typelattice.explain.explanation").explanation
VIEWS["html"] = lambda: import_module("typelattice.drawings.views").html
VIEWS["svg"] = lambda: import_module("typelattice.drawings.views").svg


def __getattr__(name: str) -> object:
    """Loads a name of `_LATER`, and keeps it."""
    if name not in _LATER:
        raise AttributeError(f"module 'typelattice' has no attribute {name!r}")
    import_module("typelattice.operands")  # registers the adapters, by which a DType is NumPy's dtype too
    found: object = getattr(import_module(f"typelattice.{_LATER[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__all__ = [
    "Array", "BeyondReachError", "ConflictError", "Consensus", "Criteria", "DType", "DTypeError",
    "Diff", "Drawing", "DrawingError", "FormatError", "Kind", "Laws", "Loss", "MissingSolverError",
    "Namespace", "NamespaceError", "Observed", "OpError", "Operand", "OperandError", "Order",
    "OrderError", "PlanError", "Program", "ProgramError", "Promotion", "PromotionError", "Replay",
    "Symbols", "System", "Table", "TraceError", "Traced", "TypelatticeError", "UnknownSystemError",
    "consensus", "criteria", "design", "diff", "draw", "dtype", "heatmap", "implicit_cast",
    "implicit_cast_type", "laws", "loss", "namespace", "native", "observed", "operand", "program",
    "render", "system", "systems", "table", "trace",
]  # fmt: skip
__version__ = "0.1.0"
