"""Decimals of any length, asked of DuckDB and DataFusion in SQL that this file writes itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import typelattice as tl

pytestmark = pytest.mark.live

NUMBERS = {
    "duckdb": {"int8": "TINYINT", "uint16": "USMALLINT", "int32": "INTEGER", "int64": "BIGINT",
               "uint64": "UBIGINT", "int128": "HUGEINT", "float32": "FLOAT", "float64": "DOUBLE"},
    "datafusion": {"int8": "Int8", "uint16": "UInt16", "int32": "Int32", "int64": "Int64",
                   "uint64": "UInt64", "float32": "Float32", "float64": "Float64"},
}  # fmt: skip
OPERATIONS = {
    "coalesce({}, {})": None, "{} + {}": "add", "{} - {}": "subtract", "{} * {}": "multiply",
    "{} < {}": "less", "greatest({}, {})": "maximum", "sum({})": "sum", "avg({})": "mean",
    "sqrt({})": "sqrt", "round({})": "round",
}  # fmt: skip
DIVIDED = {"datafusion": {"{} / {}": "divide", "{} % {}": "remainder"}, "duckdb": {"{} / {}": "divide"}}
WORDS = {"DOUBLE": "float64", "FLOAT": "float32", "double": "float64", "float": "float32", "boolean": "bool"}


def duckdb() -> Callable[[str, list[str]], str]:
    import duckdb as library

    connection = library.connect()

    def ask(form: str, operands: list[str]) -> str:
        columns = [f"(NULL::{NUMBERS['duckdb'].get(d, d.upper())})" for d in operands]
        found: Any = connection.execute(f"SELECT typeof({form.format(*columns)})").fetchone()
        return str(found[0]).lower()

    return ask


def datafusion() -> Callable[[str, list[str]], str]:
    import datafusion as library

    context = library.SessionContext()

    def ask(form: str, operands: list[str]) -> str:
        own = [
            NUMBERS["datafusion"].get(d, d.replace("decimal", "Decimal128").replace(",", ", "))
            for d in operands
        ]
        columns = ", ".join(f"arrow_cast(NULL, '{d}') AS c{i}" for i, d in enumerate(own))
        asked = form.format(*(f"c{i}" for i in range(len(own))))
        found = str(context.sql(f"SELECT {asked} AS x FROM (SELECT {columns})").schema().field(0).type)
        return found.replace("decimal128", "decimal").replace(" ", "")

    return ask


@pytest.mark.parametrize("library", [duckdb, datafusion])
def test_decimals_of_any_length(library: Callable[[], Callable[[str, list[str]], str]]) -> None:
    name, ask, draw = library.__name__, library(), random.Random(9)
    system = tl.system(name)

    def decimal() -> str:
        p = draw.randint(1, 38)
        return f"decimal({p},{draw.randint(0, p)})"

    wrong, asked = [], 0
    for form, op in {**OPERATIONS, **DIVIDED[name]}.items():
        for _ in range(60):
            operands = [decimal()]
            if form.count("{}") == 2:
                operands.append(draw.choice([decimal(), draw.choice([*NUMBERS[name]])]))
                draw.shuffle(operands)
            try:
                found = ask(form, operands)
            except Exception:  # each library has errors of its own
                found = "refused"
            p, asked = system.explain(*operands, op=op), asked + 1
            if str(p.dtype or "refused") != WORDS.get(found, found):
                wrong.append((form, operands, found, str(p.dtype or p.reason)))
    assert asked >= 600 and not wrong, f"{len(wrong)}: {wrong[:8]}"
