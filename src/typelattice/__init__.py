"""Data type promotion as data that computes: what dtype does `x + y` have, and why?

>>> import typelattice as tl
>>> tl.system("jax").result_type("int8", "uint8")
int16
"""
import sys
from importlib import import_module

from typelattice.base.objects.display_hooks import DISPLAY_HOOKS
from typelattice.base.objects.library_asker import LIBRARY_ASKER

TYPE_CHECKING = (
    False  # type checkers treat this name as true; importing `typing` costs more than this file
)
if TYPE_CHECKING:
    from typelattice.base.errors.errors import TypelatticeError
    from typelattice.base.rendering import render
    from typelattice.base.rendering.diagram import DrawingError
    from typelattice.base.rendering.drawing import Drawing
    from typelattice.core.dtypes.dtypes import DType, DTypeError, Kind, dtype
    from typelattice.core.dtypes.order import Order, OrderError
    from typelattice.core.engine.promotion import Promotion, PromotionError
    from typelattice.core.engine.system import System
    from typelattice.core.evidence.recorded_answer import RecordedAnswer as Observed
    from typelattice.core.evidence.recorded_answer import find_recorded_answer as observed
    from typelattice.core.explanations.grouped_answers import Answers, explain
    from typelattice.core.losses.cast_chains import CastChain, cast_chain
    from typelattice.core.losses.loss import Loss, loss
    from typelattice.core.operands.adapters import native
    from typelattice.core.operands.operand import Operand, OperandError
    from typelattice.core.operands.read_objects import operand
    from typelattice.core.operations.operations import OpError
    from typelattice.core.system_files.reader import system
    from typelattice.core.system_files.system_text import FormatError, UnknownSystemError, systems
    from typelattice.programs.calls.steps import ProgramError
    from typelattice.programs.entry_points.implicit_cast import implicit_cast, implicit_cast_type
    from typelattice.programs.entry_points.make_program import program
    from typelattice.programs.namespaces import Array, Namespace, NamespaceError, namespace
    from typelattice.programs.program.program import Program, Replay
    from typelattice.programs.readers.symbols.symbol_namespace import Symbols
    from typelattice.repair.copies.source import FixError
    from typelattice.repair.patch.patch import Patch
    from typelattice.repair.patch.patch_search import fix
    from typelattice.repair.tune.tune_options import TuneError
    from typelattice.repair.tune.tune_program import tune
    from typelattice.repair.tune.tuning_result import Tuning
    from typelattice.show.drawings.draw import draw
    from typelattice.show.drawings.heat_maps import heatmap
    from typelattice.study.designer import ConflictError, MissingSolverError, PlanError, design
    from typelattice.study.laws.foldable_casts import CastChains, cast_chains
    from typelattice.study.laws.jep9407_criteria import Criteria, criteria
    from typelattice.study.laws.laws import Laws, laws
    from typelattice.study.tables.consensus import Consensus, consensus
    from typelattice.study.tables.diffs import Diff, diff
    from typelattice.study.tables.study_scope import BeyondReachError
    from typelattice.study.tables.tables import Table, table
    from typelattice.tracing.entry_points.followed_functions import Traced, TraceError
    from typelattice.tracing.entry_points.model_checks import (
        DTypePolicyError,
        dtype_policy,
        state_dtypes_kept,
    )
    from typelattice.tracing.entry_points.trace_function import trace, why
    from typelattice.tracing.report.explain_result import ResultError, Why
    from typelattice.tracing.run_data.policy import PolicyError

# Every public name is loaded when it is first asked for, so that `import typelattice` costs next to nothing.
_MODULE_BY_LAZY_NAME = {
    name: module
    for module, names in {
        "study.designer": ("ConflictError", "MissingSolverError", "PlanError", "design"),
        "show.drawings.heat_maps": ("heatmap",),
        "show.drawings.draw": ("draw",),
        "core.engine.promotion": ("Promotion", "PromotionError"),
        "core.engine.system": ("System",),
        "core.explanations.grouped_answers": ("Answers", "explain"),
        "core.losses.cast_chains": ("CastChain", "cast_chain"),
        "core.dtypes.dtypes": ("DType", "DTypeError", "Kind", "dtype"),
        "base.errors.errors": ("TypelatticeError",),
        "core.losses.loss": ("Loss", "loss"),
        "core.operations.operations": ("OpError",),
        "core.dtypes.order": ("Order", "OrderError"),
        "core.system_files.reader": ("system",),
        "core.system_files.system_text": ("FormatError", "UnknownSystemError", "systems"),
        "repair.patch.patch": ("Patch",),
        "repair.patch.patch_search": ("fix",),
        "repair.copies.source": ("FixError",),
        "programs.namespaces": ("Array", "Namespace", "NamespaceError", "namespace"),
        "core.operands.adapters": ("native",),
        "core.operands.operand": ("Operand", "OperandError"),
        "core.operands.read_objects": ("operand",),
        "programs.entry_points.implicit_cast": ("implicit_cast", "implicit_cast_type"),
        "programs.entry_points.make_program": ("program",),
        "programs.program.program": ("Program", "Replay"),
        "programs.calls.steps": ("ProgramError",),
        "programs.readers.symbols.symbol_namespace": ("Symbols",),
        "core.evidence.recorded_answer": ("Observed", "observed"),
        "base.rendering": ("render",),
        "base.rendering.diagram": ("DrawingError",),
        "base.rendering.drawing": ("Drawing",),
        "study.tables.study_scope": ("BeyondReachError",),
        "study.tables.consensus": ("Consensus", "consensus"),
        "study.laws.jep9407_criteria": ("Criteria", "criteria"),
        "study.tables.diffs": ("Diff", "diff"),
        "study.laws.foldable_casts": ("CastChains", "cast_chains"),
        "study.laws.laws": ("Laws", "laws"),
        "study.tables.tables": ("Table", "table"),
        "tracing.report.explain_result": ("ResultError", "Why"),
        "tracing.entry_points.followed_functions": ("TraceError", "Traced"),
        "tracing.entry_points.trace_function": ("trace", "why"),
        "tracing.entry_points.model_checks": ("DTypePolicyError", "dtype_policy", "state_dtypes_kept"),
        "tracing.run_data.policy": ("PolicyError",),
        "repair.tune.tune_options": ("TuneError",),
        "repair.tune.tune_program": ("tune",),
        "repair.tune.tuning_result": ("Tuning",),
    }.items()
    for name in names
}

# the name in its module, if that differs
_NAME_IN_MODULE = {"Observed": "RecordedAnswer", "observed": "find_recorded_answer"}

# The engine makes a Promotion. What shows it is loaded when it is first shown.
DISPLAY_HOOKS["text"] = lambda: import_module(
    "typelattice.core.explanations.explanation_text"
).write_explanation
DISPLAY_HOOKS["html"] = lambda: import_module("typelattice.show.drawings.notebook_views").html
DISPLAY_HOOKS["run"] = lambda: import_module("typelattice.tracing.report.html_report").report_html
DISPLAY_HOOKS["svg"] = lambda: import_module("typelattice.show.drawings.notebook_views").svg

# A call that no table describes is asked of the library itself, in a process that begins with the first one.
LIBRARY_ASKER["asker"] = lambda: import_module(
    "typelattice.conformance.recording.live_libraries"
).open_live_libraries()


def __getattr__(name: str) -> object:
    """Load a name of `_MODULE_BY_LAZY_NAME`, and keep it."""
    if name not in _MODULE_BY_LAZY_NAME:
        # With the name and the module, Python's traceback has the nearest name.
        what = f"module 'typelattice' has no attribute {name!r}"
        raise AttributeError(what, name=name, obj=sys.modules[__name__])
    # This registers the adapters, by which a DType is NumPy's dtype too.
    import_module("typelattice.core.operands")
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
    "Symbols", "System", "Table", "TraceError", "Traced", "TuneError", "Tuning", "TypelatticeError",
    "UnknownSystemError", "Why",
    "cast_chain", "cast_chains", "consensus", "criteria", "design", "diff", "draw", "dtype",
    "dtype_policy", "explain", "fix", "heatmap", "implicit_cast", "implicit_cast_type", "laws", "loss",
    "namespace", "native", "observed", "operand", "program", "render", "state_dtypes_kept", "system",
    "systems", "table", "trace", "tune", "why",
]  # fmt: skip
__version__ = "0.1.0"
