"""PostgreSQL: the types of SQL's operators and functions for columns of a table.

A server of its own runs in a temporary folder, reached by a socket there. It ends with this process, also if
that is killed, as the process of a recorder is.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp

from typelattice.conformance.recording.libraries.sql_base import SQL
from typelattice.conformance.recording.library import MissingLibraryError, NoSuchOperandError, PythonNumber

SQL_TYPE_BY_DTYPE = {
    "bool": "boolean",
    "int16": "smallint", "int32": "integer", "int64": "bigint",
    "decimal": "numeric", "float32": "real", "float64": "double precision",
}

SQL_OPERATOR_BY_OPERATION = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%", "pow": "^",
    "equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "#",
    "bitwise_left_shift": "<<", "bitwise_right_shift": ">>", "logical_and": "AND", "logical_or": "OR",
}
"""Operations of two operands, and the operator between them."""

SQL_FORM_BY_OPERATION = {
    "negative": "-({})", "positive": "+({})", "bitwise_invert": "~({})", "logical_not": "NOT ({})",
    **{name: name + "({})" for name in ("abs", "sign", "sqrt", "cbrt", "exp", "sin", "cos", "tan", "asin")},
    **{name: name + "({})" for name in ("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{name: name + "({})" for name in ("floor", "ceil", "trunc", "round", "log10", "degrees", "radians")},
    **{name: name + "({})" for name in ("sum", "max", "min")},
    **{name: name + "({}, {})" for name in ("atan2", "gcd", "lcm")},
    "log": "ln({})", "maximum": "greatest({}, {})", "minimum": "least({}, {})", "floor_divide": "div({}, {})",
    "mean": "avg({})", "var": "var_pop({})", "std": "stddev_pop({})", "any": "bool_or({})",
    "all": "bool_and({})", "quantile": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})",
    "cumulative_sum": "sum({}) OVER ()", "where": "CASE WHEN condition THEN {} ELSE {} END",
}
"""How SQL writes an operation of some columns."""

TYPE_NAME_PATTERN = re.compile("|".join(sorted(SQL_TYPE_BY_DTYPE.values(), key=len, reverse=True)))
END_MARK = "-- the answer ends here"


class PostgreSQL(SQL):
    """Only columns: a literal is an integer, a bigint or a numeric, as SQL reads it."""

    name = "postgresql"
    how = "coalesce as result_type; operators and functions of SQL, of columns"
    operators = SQL_OPERATOR_BY_OPERATION
    functions = SQL_FORM_BY_OPERATION

    def __init__(self) -> None:
        super().__init__()
        self.native_dtypes = SQL_TYPE_BY_DTYPE
        folder, self.stopper = _start_server(_find_programs())
        words = ["psql", "-XqAt", "-h", str(folder), "-U", "postgres", "postgres"]
        self.client = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.ask("\\set VERBOSITY terse")
        self.versions = {"postgresql": self.ask("SHOW server_version;")[0].split()[0]}
        columns = ", ".join(f'1::{own} AS "{own}"' for own in SQL_TYPE_BY_DTYPE.values() if own != "boolean")
        self.ask(f"CREATE TABLE t AS SELECT true AS condition, true AS \"boolean\", {columns};")

    def make_python_scalar(self, value: PythonNumber) -> object:
        raise NoSuchOperandError("a literal is typed by SQL, and not by Python")

    def ask(self, text: str) -> list[str]:
        """Send a statement to the client, and return the lines of its answer."""
        assert self.client.stdin is not None
        assert self.client.stdout is not None
        self.client.stdin.write(f"{text}\n\\echo {END_MARK}\n")
        self.client.stdin.flush()
        lines: list[str] = []
        for line in self.client.stdout:
            if line.rstrip("\n") == END_MARK:
                return lines
            lines.append(line.rstrip("\n"))
        raise MissingLibraryError(f"psql ended: {' '.join(lines)[:200]}")

    def type_of(self, query: str) -> str:
        """Return the type of the one column that a query gives. An error names no types."""
        answer = self.ask(f"SELECT pg_typeof(x) FROM ({query}) AS q LIMIT 1;")
        if not answer or answer[0].startswith("ERROR:"):
            text = " ".join(answer).removeprefix("ERROR:").partition(" at character")[0].strip()
            raise TypeError(TYPE_NAME_PATTERN.sub("TYPE", text))
        return answer[0]


def _find_programs() -> Path:
    """Return the folder with the server's programs. Raises MissingLibraryError."""
    known = [Path(found).parent for name in ("initdb",) if (found := shutil.which(name))]
    known += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    if not known or not shutil.which("psql"):
        raise MissingLibraryError("postgresql is not installed: apt-get install postgresql")
    return known[-1]


def _start_server(programs: Path) -> tuple[Path, subprocess.Popen[bytes]]:
    """Start a server in a new folder. Return the folder, with its socket, and the process that stops it.

    That process reads a pipe, which ends with this process. The server refuses to run as root, and then runs
    as the user that Debian's package has made. Raises MissingLibraryError.
    """
    folder = Path(mkdtemp(prefix="typelattice-postgresql-"))
    other_user = os.geteuid() == 0
    if other_user:
        try:
            shutil.chown(folder, "postgres")
        except LookupError:
            what = "postgresql refuses to run as root, and there is no user postgres"
            raise MissingLibraryError(f"{what}: apt-get install postgresql") from None
    before = ("runuser", "-u", "postgres", "--") if other_user else ()

    def run(*words: object) -> None:
        argv = [*before, *map(str, words)]
        try:
            subprocess.run(argv, check=True, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as e:
            raise MissingLibraryError(f"postgresql cannot be started: {e}") from None

    data = folder / "data"
    run(programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    run(programs / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start")

    stop = shlex.join([*before, str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop"])
    script = f"cat; {stop}; rm -rf {shlex.quote(str(folder))}"
    stopper = subprocess.Popen(
        ["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, cwd="/",
    )  # fmt: skip
    return folder, stopper


LIBRARIES = {PostgreSQL.name: PostgreSQL}
