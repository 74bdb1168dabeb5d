"""Completions and repairs of orders: the arrows to add so that every pair has one join, and their cost.

The search is exact: an answer-set solver tries everything that the rules allow.
"""
from typelattice.study.designer.clingo_solver import MissingSolverError
from typelattice.study.designer.completion import Completion, ConflictError, Design, design
from typelattice.study.designer.missing_nodes import MissingNode, MissingNodes, find_missing_nodes
from typelattice.study.designer.plan_file import Plan, PlanError, read_plan
from typelattice.study.designer.repair import Repair, Repairs, find_repairs
from typelattice.study.designer.standard_demands import DEMANDS, Demand
from typelattice.study.tables.study_scope import BeyondReachError

DESIGN_ERRORS = (BeyondReachError, ConflictError, MissingSolverError, PlanError, TimeoutError)

__all__ = [
    "DEMANDS", "DESIGN_ERRORS", "BeyondReachError", "Completion", "ConflictError", "Demand", "Design",
    "MissingNode", "MissingNodes", "MissingSolverError", "Plan", "PlanError", "Repair", "Repairs", "design",
    "find_missing_nodes", "find_repairs", "read_plan",
]  # fmt: skip
