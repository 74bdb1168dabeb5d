"""Complete and repair orders: which covers to add so that every two dtypes have one join, and at what cost.

Exact: everything that the rules allow is searched, by an answer-set solver.
"""
from typelattice.designer.completion import Completion, Conflict, Design, design
from typelattice.designer.demands import WORDS, Demand
from typelattice.designer.plan import Plan, PlanError, plan
from typelattice.designer.problem import BeyondReach
from typelattice.designer.repair import Repair, Repairs, repairs
from typelattice.designer.solver import MissingSolver

ERRORS = (BeyondReach, Conflict, MissingSolver, PlanError, TimeoutError)

__all__ = [
    "ERRORS", "WORDS", "BeyondReach", "Completion", "Conflict", "Demand", "Design", "MissingSolver", "Plan", "PlanError",
    "Repair", "Repairs", "design", "plan", "repairs",
]  # fmt: skip
