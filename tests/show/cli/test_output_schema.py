"""The published schema of the JSON documents: each command's document is one of its kinds."""
from __future__ import annotations

import json
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import MINE, sampled
from forked import fork_searches
from jsonschema import Draft202012Validator

from typelattice.show.cli.main import COMMAND_NAMES, Parser, main

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "output.schema.json").read_text(encoding="utf-8"))
RUN = {
    "typelattice": "run", "version": 1, "libraries": {"numpy": "numpy"}, "opaque": 0, "mismatches": [],
    "departures": [], "not_followed": {}, "child_processes": 0, "followed_processes": 0,
    "summarised": [], "findings": [],
    "steps": [
        {"file": None, "line": None, "code": "x", "operands": [], "observed": "float32", "bytes": 4},
        {"file": "s.py", "line": 1, "code": "x * y", "operands": [0], "observed": "float64", "bytes": 8},
    ],
}  # fmt: skip
FILES = {
    "mine.toml": MINE, "table.csv": ",uint8,int16\nuint8,int8,int16\nint16,int16,int16\n",
    "form.toml": 'kind = "grid"\nskip = "x"\n',
    "before.json": json.dumps({**RUN, "steps": RUN["steps"][:1]}),
    "after.json": json.dumps(RUN),
    "wide.py": "import numpy as np\nx = np.linspace(0.0, 1.0, 99)\ny = x + x\n",
    "header.py": "import numpy as np\nx = np.uint16(9) << 24\ny = 2 * np.int32(3)\n",
    "script.py": "import numpy as np\nx = np.ones(3, np.float32) * np.ones(3)\n",
}  # fmt: skip
LINES = {  # kind -> command lines
    "answers": ("explain int64 float16", "explain uint8 300 --op add --system numpy", "explain -- uint8 -1"),
    "replays": ("explain 'x * 2.5 + y' x=int8 y=float16 --system numpy --system array-api",),
    "grid": (
        "table --dtypes int8,uint8", "diff numpy jax --dtypes int8,float16",
        "consensus numpy jax --tier scalar", "diff numpy1 numpy --op add",
    ),
    "laws": ("laws numpy mine.toml", "laws python --dtypes int8"),
    "check": ("check mine.toml", "check numpy", "check arrow --closed"),
    "design": ("design jep9407-0 --limit 1",), "repairs": ("design numpy --repair",),
    "nodes": ("design numpy --nodes",),
    "conform": ("conform c", "conform c --system c-llp64"),
    "systems": ("systems --versions", "systems mine.toml"),
    "lint": ("lint table.csv --form form.toml --against numpy",),
    "run_difference": ("runs diff before.json after.json",),
    "drawing": ("draw numpy --highlight int8 uint8", "draw numpy jax", "draw mine.toml"),
    "report": ("trace --system torch script.py",), "patch": ("fix script.py",),
    "port": ("port header.py",),
    "tuning": ("tune --tolerance 1e-2 --dtypes float32 wide.py",),
}  # fmt: skip
ASK = {"comparison", "imitations", "news"}  # kinds for which a library has to be asked


@cache
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(SCHEMA)
    return Draft202012Validator(SCHEMA)


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind, lines in LINES.items() for line in lines])
def test_document_is_of_its_kind(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    if kind == "conform":
        sampled(monkeypatch)
    if kind == "patch":
        fork_searches(monkeypatch)
    command, *words = shlex.split(line)
    if kind == "report":
        main([command, "--format", "json", "--output", "report.json", *words])
        found = json.loads((tmp_path / "report.json").read_text())
    else:
        main([command, "--format=json", *words])
        found = json.loads(capsys.readouterr().out)
    assert (found["typelattice"], found["version"]) == (kind, 1)
    kinds = {"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}
    assert [e.message for e in Draft202012Validator(kinds).iter_errors(found)] == []
    assert validator().is_valid(found)
    assert not validator().is_valid({**found, "a key": 1}), "the schema would take any document"
    assert not [key for key in keys(found) if " " in key]


def test_every_kind_is_tested_and_every_command_with_json_has_a_kind() -> None:
    kinds = {each["$ref"].rpartition("/")[2] for each in SCHEMA["oneOf"]}
    assert kinds == {*LINES, *ASK}
    tested = {line.split()[0] for lines in LINES.values() for line in lines} | {"watch", "compare"}
    assert {name for name in COMMAND_NAMES if _has_json(name)} == tested


def _has_json(name: str) -> bool:
    formats = [action.choices or () for action in Parser(name)._actions if action.dest == "format"]
    return any("json" in choices for choices in formats)


def keys(x: Any) -> set[str]:
    """All keys of a document."""
    inner = x.values() if isinstance(x, dict) else x if isinstance(x, list) else ()
    return {*(x if isinstance(x, dict) else ())}.union(*map(keys, inner))


def test_no_key_of_the_schema_has_a_space() -> None:
    assert not [key for key in keys(SCHEMA) if " " in key]
