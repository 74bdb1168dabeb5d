"""Databases: a server of our own is asked, and ends; the recorded answers are those of today."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl

pytestmark = pytest.mark.live
ROOT = Path(__file__).parents[2]
PROGRAM = """
from typelattice.conformance.recording.libraries.postgresql import PostgreSQL
asked = PostgreSQL()
print(asked.versions["postgresql"], *asked.ask("SHOW unix_socket_directories;"))
print(asked.type_of("SELECT 1::real + 1::integer AS x"))
try:
    asked.type_of("SELECT true + 1 AS x")
except TypeError as e:
    print(e)
"""


INSTALLED = [*Path("/usr/lib/postgresql").glob("*/bin/initdb")]


@pytest.mark.skipif(not INSTALLED, reason="apt-get install postgresql")
def test_a_server_of_postgresql_runs_in_a_temporary_folder_and_ends() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    argv = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(argv, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    first, type_, error = done.stdout.splitlines()
    version, folder = first.split()
    assert float(version) >= 15
    assert (type_, error) == ("double precision", "operator does not exist: TYPE + TYPE")
    while Path(folder).exists():  # another process removes it
        time.sleep(0.1)


@pytest.mark.parametrize("name", ["postgresql", "sqlite", "clickhouse"])
def test_a_database_answers_as_recorded(name: str) -> None:
    if name == "postgresql" and not shutil.which("psql"):
        pytest.skip("apt-get install postgresql")
    if name == "clickhouse":
        pytest.importorskip("chdb")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    argv = [sys.executable, "-m", "typelattice", "conform", name, "--live", "300", "--seed", "9407"]
    done = subprocess.run(argv, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 mismatches" in done.stdout


@pytest.fixture(scope="module")
def clickhouse() -> Any:
    pytest.importorskip("chdb")
    from typelattice.conformance.recording.libraries.clickhouse import ClickHouse

    return ClickHouse()


@pytest.mark.parametrize(
    "expression, error",
    [
        ('["UInt64", "Int8"][1]', "no type holds the values of all"),
        ('bitShiftLeft("UInt8", "Int128")', "is not implemented for big integers"),  # its type is UInt8
        ('"Int128" + "Float32"', "Illegal types TYPE and TYPE"),
    ],
)
def test_clickhouse_refuses_what_it_cannot_compute(clickhouse: Any, expression: str, error: str) -> None:
    with pytest.raises(TypeError, match=error):
        clickhouse.type_of_expression(expression)


@pytest.mark.parametrize(
    "value, source, target",
    [
        (300, "int64", "uint8"),
        (-1, "int64", "uint64"),
        (129, "uint8", "int8"),
        (-3.7, "float64", "int8"),
        (1.01171875, "float32", "bfloat16"),
        (3.402e38, "float32", "bfloat16"),
        (1e300, "float64", "float32"),
    ],
)
def test_clickhouse_casts_as_its_file_says(clickhouse: Any, value: float, source: str, target: str) -> None:
    np, _ = pytest.importorskip("numpy"), pytest.importorskip("ml_dtypes")
    xp = tl.namespace("clickhouse", np)
    types = clickhouse.native_dtypes
    column = f"CAST(materialize('{value}'), '{types[source]}')"
    answer = clickhouse.ask(f"SELECT toFloat64(CAST({column}, '{types[target]}'))")
    with np.errstate(over="ignore"):
        cast = xp.astype(xp.asarray([value], dtype=source), getattr(xp, target))
    assert float(answer) == float(cast.bare[0])
