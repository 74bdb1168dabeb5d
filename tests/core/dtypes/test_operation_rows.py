"""A bad row of the table of operations is named by file, row and column."""
from __future__ import annotations

from pathlib import Path

import pytest

from typelattice.base.objects.lazy_tables import LazyTable
from typelattice.core.engine import operation_rules as engine
from typelattice.core.operations import operations

GOOD = "add arithmetic elementwise 2 + __add__\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("sub subtract\n", "row 2: has 2 columns; give name, class, form and operands"),
        ("add subtract elementwise 2\n", "row 2, column 1: 'add' has a row already; join the two"),
        ("sub subtract elementwis 2\n", "row 2, column 3: unknown form 'elementwis' (did you mean"),
        ("sub subtract elementwise two\n", "row 2, column 4: 'two' is no number of operands"),
        ("sub subtract elementwise 2 -x __add__\n", "row 2, column 6: '__add__' stands in row 1 already"),
        ("plus arithmetic elementwise 2 add\n", "row of plus: 'add' is another operation's one name"),
    ],
)
def test_a_bad_row_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rows: str, message: str
) -> None:
    table = tmp_path / "operations.txt"
    table.write_text(GOOD + rows)
    monkeypatch.setattr(operations, "OPERATIONS_TABLE_PATH", str(table))
    with pytest.raises(operations.OpError) as caught:
        [*LazyTable(operations._read_rows(), operations._read_operation_row).values()]
    assert str(caught.value).startswith(f"operations.txt, {message}")


def test_an_unknown_class_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    wobble = operations._read_operation_row("wobble", (9, ["wobble", "arithmetik", "elementwise", "2"]))
    monkeypatch.setattr(engine, "OPERATIONS", {"wobble": wobble})
    with pytest.raises(operations.OpError) as caught:
        engine.class_of(wobble)
    told = "operations.txt, row of wobble, column 2: unknown class 'arithmetik' (did you mean arithmetic?)"
    assert str(caught.value) == told
