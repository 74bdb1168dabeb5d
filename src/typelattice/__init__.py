"""Data type promotion as data that computes: what dtype does `x + y` have, and why?

>>> import typelattice as tl
>>> tl.system("jax").result_type("int8", "uint8")
int16
"""
from importlib import import_module

from typelattice.support.display_hooks import DISPLAY_HOOKS
from typelattice.support.library_asker import LIBRARY_ASKER

TYPE_CHECKING = (
    False  # type checkers treat this name as true; importing `typing` costs more than this file
)
if TYPE_CHECKING:
    from typelattice.calls.steps import ProgramError
    from typelattice.designer import ConflictError, MissingSolverError, PlanError, design
    from typelattice.drawings.draw import draw
    from typelattice.drawings.heat_maps import heatmap
    from typelattice.engine.promotion import Promotion, PromotionError
    from typelattice.engine.system import System
    from typelattice.explanations.grouped_answers import Answers, explain
    from typelattice.facts.cast_chains import CastChain, cast_chain
    from typelattice.facts.dtypes import DType, DTypeError, Kind, dtype
    from typelattice.facts.loss import Loss, loss
    from typelattice.facts.operations import OpError
    from typelattice.facts.order import Order, OrderError
    from typelattice.files.reader import system
    from typelattice.files.system_text import FormatError, UnknownSystemError, systems
    from typelattice.fixing.patch import Patch
    from typelattice.fixing.patch_search import fix
    from typelattice.fixing.source import FixError
    from typelattice.namespaces import Array, Namespace, NamespaceError, namespace
    from typelattice.operands.adapters import native
    from typelattice.operands.operand import Operand, OperandError
    from typelattice.operands.read_objects import operand
    from typelattice.programs.implicit_cast import implicit_cast, implicit_cast_type
    from typelattice.programs.make_program import program
    from typelattice.programs.program import Program, Replay
    from typelattice.programs.symbols.symbol_namespace import Symbols
    from typelattice.recorded.recorded_answer import RecordedAnswer as Observed
    from typelattice.recorded.recorded_answer import find_recorded_answer as observed
    from typelattice.rendering import render
    from typelattice.rendering.diagram import DrawingError
    from typelattice.rendering.drawing import Drawing
    from typelattice.study.consensus import Consensus, consensus
    from typelattice.study.diffs import Diff, diff
    from typelattice.study.foldable_casts import CastChains, cast_chains
    from typelattice.study.jep9407_criteria import Criteria, criteria
    from typelattice.study.laws import Laws, laws
    from typelattice.study.study_scope import BeyondReachError
    from typelattice.study.tables import Table, table
    from typelattice.support.errors import TypelatticeError
    from typelattice.tracing.entry_points.followed_functions import Traced, TraceError
    from typelattice.tracing.entry_points.model_checks import (
        DTypePolicyError,
        dtype_policy,
        state_dtypes_kept,
    )
    from typelattice.tracing.entry_points.trace_function import trace, why
    from typelattice.tracing.models.policy import PolicyError
    from typelattice.tracing.report.explain_result import ResultError, Why
    from typelattice.tuning.tune_options import TuneError
    from typelattice.tuning.tune_program import tune
    from typelattice.tuning.tuning_result import Tuning

# Every public name is loaded when it is first asked for, so that `import typelattice` costs next to nothing.
_MODULE_BY_LAZY_NAME = {
    name: module
    for module, names in {
        "designer": ("ConflictError", "MissingSolverError", "PlanError", "design"),
        "drawings.heat_maps": ("heatmap",),
        "drawings.draw": ("draw",),
        "engine.promotion": ("Promotion", "PromotionError"),
        "engine.system": ("System",),
        "explanations.grouped_answers": ("Answers", "explain"),
        "facts.cast_chains": ("CastChain", "cast_chain"),
        "facts.dtypes": ("DType", "DTypeError", "Kind", "dtype"),
        "support.errors": ("TypelatticeError",),
        "facts.loss": ("Loss", "loss"),
        "facts.operations": ("OpError",),
        "facts.order": ("Order", "OrderError"),
        "files.reader": ("system",),
        "files.system_text": ("FormatError", "UnknownSystemError", "systems"),
        "fixing.patch": ("Patch",),
        "fixing.patch_search": ("fix",),
        "fixing.source": ("FixError",),
        "namespaces": ("Array", "Namespace", "NamespaceError", "namespace"),
        "operands.adapters": ("native",),
        "operands.operand": ("Operand", "OperandError"),
        "operands.read_objects": ("operand",),
        "programs.implicit_cast": ("implicit_cast", "implicit_cast_type"),
        "programs.make_program": ("program",),
        "programs.program": ("Program", "Replay"),
        "calls.steps": ("ProgramError",),
        "programs.symbols.symbol_namespace": ("Symbols",),
        "recorded.recorded_answer": ("Observed", "observed"),
        "rendering": ("render",),
        "rendering.diagram": ("DrawingError",),
        "rendering.drawing": ("Drawing",),
        "study.study_scope": ("BeyondReachError",),
        "study.consensus": ("Consensus", "consensus"),
        "study.jep9407_criteria": ("Criteria", "criteria"),
        "study.diffs": ("Diff", "diff"),
        "study.foldable_casts": ("CastChains", "cast_chains"),
        "study.laws": ("Laws", "laws"),
        "study.tables": ("Table", "table"),
        "tracing.report.explain_result": ("ResultError", "Why"),
        "tracing.entry_points.followed_functions": ("TraceError", "Traced"),
        "tracing.entry_points.trace_function": ("trace", "why"),
        "tracing.entry_points.model_checks": ("DTypePolicyError", "dtype_policy", "state_dtypes_kept"),
        "tracing.models.policy": ("PolicyError",),
        "tuning.tune_options": ("TuneError",),
        "tuning.tune_program": ("tune",),
        "tuning.tuning_result": ("Tuning",),
    }.items()
    for name in names
}

# the name in its module, if that differs
_NAME_IN_MODULE = {"Observed": "RecordedAnswer", "observed": "find_recorded_answer"}

# The engine makes a Promotion. What shows it is loaded when it is first shown.
DISPLAY_HOOKS["text"] = lambda: import_module("typelattice.explanations.explanation_text").write_explanation
DISPLAY_HOOKS["html"] = lambda: import_module("typelattice.drawings.notebook_views").html
DISPLAY_HOOKS["run"] = lambda: import_module("typelattice.tracing.report.html_report").report_html
DISPLAY_HOOKS["svg"] = lambda: import_module("typelattice.drawings.notebook_views").svg

# A call that no table describes is asked of the library itself, in a process that begins with the first one.
LIBRARY_ASKER["asker"] = lambda: import_module(
    "typelattice.conformance.live_libraries"
).open_live_libraries()


def __getattr__(name: str) -> object:
    """Load a name of `_MODULE_BY_LAZY_NAME`, and keep it."""
    if name not in _MODULE_BY_LAZY_NAME:
        raise AttributeError(f"module 'typelattice' has no attribute {name!r}")
    import_module("typelattice.operands")  # registers the adapters, by which a DType is NumPy's dtype too
    found: object = getattr(
        import_module(f"typelattice.{_MODULE_BY_LAZY_NAME[name]}"), _NAME_IN_MODULE.get(name, name)
    )
    globals()[name] = found
    return found


def load_ipython_extension(shell: object) -> None:
    """Define the magic `%%dtypes` in a notebook: `%load_ext typelattice`."""
    import_module("typelattice.tracing.entry_points.notebook").load_ipython_extension(shell)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__all__ = [
    "Answers", "Array", "BeyondReachError", "CastChain", "CastChains", "ConflictError", "Consensus",
    "Criteria", "DType", "DTypeError", "DTypePolicyError", "Diff", "Drawing", "DrawingError", "FixError",
    "FormatError", "Kind", "Laws", "Loss", "MissingSolverError", "Namespace", "NamespaceError",
    "Observed", "OpError", "Operand", "OperandError", "Order", "OrderError", "Patch", "PlanError",
    "PolicyError", "Program", "ProgramError", "Promotion", "PromotionError", "Replay", "ResultError",
    "Symbols", "System", "Table", "TraceError", "Traced", "TuneError", "Tuning", "TypelatticeError", "UnknownSystemError", "Why",
    "cast_chain", "cast_chains", "consensus", "criteria", "design", "diff", "draw", "dtype",
    "dtype_policy", "explain", "fix", "heatmap", "implicit_cast", "implicit_cast_type", "laws", "loss",
    "namespace", "native", "observed", "operand", "program", "render", "state_dtypes_kept", "system",
    "systems", "table", "trace", "tune", "why",
]  # fmt: skip
__version__ = "0.1.0"
