"""Writes docs/operations.md: each operation with its names, its form, its operands and its result."""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from generated import write_pages

from typelattice.core.dtypes.dtypes import KINDS_BY_WORD, Kind
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS, STANDARD_RULES_BY_CLASS, OperationRules
from typelattice.core.operations.operation_forms import MEANING_BY_CALL_FORM
from typelattice.core.operations.operations import OPERATIONS, OPERATORS, Operation

if TYPE_CHECKING:
    from typelattice.core.engine.operation_rules import ResultRule

PAGE = Path(__file__).parents[1] / "docs" / "operations.md"
GIVES: dict[ResultRule, str] = {
    None: "the dtype computed in", Kind.BOOL: "bool", Kind.SIGNED: "the default integer",
    "real": "the real dtype", "complex": "the complex dtype", "left": "the left operand's",
}  # fmt: skip
HEAD = """# Operations

Each operation has one name, and you may use any of its other names: `--op concatenate` is `--op concat`.

Python's operators are separate operations, because some libraries treat `x + y` and `add(x, y)`
differently. Write `--op +`, `--op=-x`, or `--op +=` for an operator that writes into its left operand. The
rule of `add` in a file holds for `+`, and the rule of `+` for `+=`, unless these have rules of their own.

`tools/operations.py` writes this page from two tables. `core/operations/operations.txt` lists the
operations, and `core/engine/standard.txt` has the rules of the array API standard for each class. A
system's file has the departures of its library from the standard ([operations of a system file](format-
operations.md)).
"""


def page() -> str:
    """The whole page."""
    lines = [HEAD, "## Forms of a call", "", "| form | operands |", "|---|---|"]
    lines += [f"| {form} | {meaning} |" for form, meaning in MEANING_BY_CALL_FORM.items()]
    lines += ["", "## Classes", "", "These rules of the standard hold if a system's file says nothing.", ""]
    lines += [
        "There are two groups of classes. `computing` operations make new values. `moving` operations copy",
        "or cast values, or only return a dtype (`result_type`).",
        "",
    ]
    lines += ["| class | group | kernels | gives | operations |", "|---|---|---|---|---|"]
    lines += [_class(name, standard) for name, standard in STANDARD_RULES_BY_CLASS.items()]
    lines += [
        "",
        "## All operations",
        "",
        "| operation | class | form | operands | operator | also called |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_row(op) for op in OPERATIONS.values()]
    return "\n".join(lines) + "\n"


def _class(name: str, standard: OperationRules) -> str:
    words = (word for word, kinds in KINDS_BY_WORD.items() if kinds == standard.kernels.listed)
    kernels = min(words, default=", ".join(map(str, standard.kernels.listed)), key=len)
    every = (*OPERATIONS.values(), *(op for op in OPERATORS.values() if op.is_in_place))
    members = ", ".join(f"`{op.name}`" for op in every if op.operation_class == name).replace("|", "\\|")
    return f"| `{name}` | {GROUP_BY_CLASS[name]} | {kernels} | {GIVES[standard.gives]} | {members} |"


def _row(op: Operation) -> str:
    bounds = (
        str(op.min_operands)
        if op.min_operands == op.max_operands
        else f"{op.min_operands} to {op.max_operands or 'any number'}"
    )
    if op.required_dimensions < max(op.min_dimensions):
        bounds += f", the first with {op.min_dimensions[0]} dimension or more"
    elif op.required_dimensions:
        bounds += f", with {op.required_dimensions} dimension{'s' * (op.required_dimensions > 1)} or more"
    names = ", ".join(f"`{name}`" for name in op.other_names).replace("|", "\\|")
    sign = f"`{op.operator}`".replace("|", "\\|") if op.operator else ""
    return f"| `{op.name}` | {op.operation_class} | {op.call_form} | {bounds} | {sign} | {names} |"


if __name__ == "__main__":
    write_pages({PAGE: page()})
