"""The data of generated tests: the right answer of every function to all operands, for every language.

A line has a function, its left operand, and an answer for each right operand: `promote int8 refused int8 …`.
A function of one operand has `-` for the left operand. `cast_folds` has two left operands, and 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from typelattice.study.codegen.names import snake_case
from typelattice.study.codegen.tables import GeneratedTables, LookupFunction, list_indices

CAST_FOLDS = "cast_folds"


def data_file_name(tables: GeneratedTables) -> str:
    """Return the name of the file of data, which tests read in the working directory."""
    return f"{snake_case(tables.system)}_dtypes.answers.txt"


def write_data(tables: GeneratedTables, head: str) -> str:
    """Write the data. Its operands are in the order of their indices, and the refusal is the first."""
    return "\n".join([f"# {head}", *_data_lines(tables), ""])


def _data_lines(tables: GeneratedTables) -> Iterator[str]:
    names = tables.by_index
    for f in tables.lookups:
        table = tables.tables[f.table]
        if len(f.tiers) == 1:
            lefts = [("-", 0)]
        elif f.tiers[0] == "scalar":
            lefts = [(word, i) for i, word in enumerate(tables.scalar_kinds)]
        else:
            lefts = [(name, i) for i, name in names.items()]
        for left, row in lefts:
            answers = (names[table[row][i]] for i in list_indices(tables, f.tiers[-1]))
            yield " ".join((f.function, left, *answers))
    if tables.foldable_casts:
        for (i, a), (j, b) in ((x, y) for x in names.items() for y in names.items()):
            folds = tables.foldable_casts[i * tables.size + j]
            yield " ".join((CAST_FOLDS, a, b, *(str(folds[k]) for k in names)))


def count_answers(tables: GeneratedTables) -> int:
    """Count the answers of the data. A test that read fewer has lost some."""
    casts = len(tables.by_index) ** 3 if tables.foldable_casts else 0
    return casts + sum(
        (len(list_indices(tables, f.tiers[0])) if len(f.tiers) > 1 else 1)
        * len(list_indices(tables, f.tiers[-1]))
        for f in tables.lookups
    )


def can_fold(tables: GeneratedTables) -> bool:
    """Return True if the code has a function that promotes several operands."""
    return tables.has_fold and not tables.no_fold_reason


def operand_letters(f: LookupFunction) -> str:
    """Return a letter for each operand of a function: `d` for an array, `s` for a Python scalar."""
    return "".join("s" if tier == "scalar" else "d" for tier in f.tiers)
