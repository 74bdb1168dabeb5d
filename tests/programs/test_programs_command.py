"""Programs on the command line: what `explain` tells of one, and what it refuses."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.show.cli.main import main


def test_command_marks_where_systems_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "a*2.0 + b", "a=int8:0d", "b=float16"]) == 0
    out = capsys.readouterr().out
    assert "a*2.0 <- the libraries diverge here" in out
    assert out.count("diverge") == 1
    assert max(map(len, out.splitlines())) <= 80
    first, _, second = out.partition("first refusals\n  a*2.0\n")[2].partition("\n  a*2.0 + b\n")
    for name in ("numpy", "python", "arrow", "jax-strict", "go"):
        refusals = tl.program("a*2.0 + b", a="int8:0d", b="float16").under(name).refusals
        listed = [name in re.findall(r"[\w-]+", part.partition("\n\n")[0]) for part in (first, second)]
        assert listed == [bool(refusals) and refusals[0][0].text == text for text in ("a*2.0", "a*2.0 + b")]
    assert main(["explain", "a*2.0 + b", "a=int8:0d", "b=float16", "--system", "jax"]) == 0
    out = capsys.readouterr().out
    assert "a*2.0 + b: float16" in out
    assert "jax.toml" in out
    assert main(["explain", "a+b", "a=int8:0d", "b=int16:0d=300", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["operands"] == {"a": "int8:0d", "b": "int16:0d=300"}
    assert len(told["answers"]) == len(tl.systems())


def test_command_tells_what_the_library_did_where_that_is_not_its_rule(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["explain", "vdot(x, y) * 2.0", "x=bool", "y=uint8"]
    assert main([*asked, "--system", "dask", "--system", "keras"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    of_dask, of_keras = told.split(" with x=bool, y=uint8 under keras")
    assert "gives int64; the rule says uint64; announces the dtype of NumPy's sum" in of_dask
    assert "vdot(x, y) * 2.0: float64 casts uint64 to float64" in of_dask
    assert "observed: never asked of keras" in of_keras
    assert main(asked) == 0
    out = capsys.readouterr().out
    step = " ".join(out.partition("\n\nvdot(x, y) * 2.0\n")[0].split())
    assert " dask (by rule uint64)" in step and "keras?" in step and "jax-2019?" not in step
    assert "? predicted by the rule; the library was never asked" in out
    assert "later steps follow the rule" in " ".join(out.split())


def test_an_expression_without_names_is_pythons(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "1 + 2.5", "--system", "numpy"]) == 0
    assert capsys.readouterr().out.startswith("1 + 2.5 under numpy: Python float\n")


@pytest.mark.parametrize(
    ("argv", "match"),
    [
        (["a", "b", "a=int8"], "several programs, or operands beside a program: 'a' and 'b'"),
        (["a=int8"], "no program"),
        (["a", "a=int8", "a=int16"], "a is bound twice"),
        (["a", "a=int8", "--op", "add"], "--op goes with operands"),
        (["a", "a=int88"], "did you mean int8"), (["a+b", "a=int8"], "b has no dtype"),
    ],
)  # fmt: skip
def test_command_refuses(argv: list[str], match: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *argv]) == 2
    told = capsys.readouterr().err
    assert match in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["x + y"], "typelattice: x has no dtype; add one, such as x=int8\n"),
        (
            ["sqrt(x)", "--system", "jax"],
            "typelattice: x has no dtype; add one, such as x=int8\n",
        ),
        (
            ["x + y", "int8"],
            "typelattice: several programs, or operands beside a program: 'x + y' and 'int8'; ",
        ),
        (
            ["x + y", "x=int8"],
            "typelattice: y has no dtype; add one, such as y=int8 (given: x)\n",
        ),
        (["x"], "typelattice: unknown dtype 'x'; dtypes have names such as int8, float16 and bfloat16\n"),
    ],
)
def test_an_expression_without_operands_is_told_to_have_names(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *argv]) == 2
    assert capsys.readouterr().err.startswith(said)


def test_each_branch_that_systems_take_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = "y = x / 2\nlog = open('a')\ny > 0 if y.dtype == np.float32 else y.astype('int8')"
    assert main(["explain", text, "x=int32"]) == 0
    out = capsys.readouterr().out
    assert "3: y > 0" in out and "3: y.astype('int8')" in out and "not read\n  line 2" in out
    assert main(["explain", text, "x=int32", "--system", "numpy", "--system", "torch"]) == 0
    out = capsys.readouterr().out
    assert "y.dtype == np.float32: float64" in out and "torch  bool" in out
    systems = ["--system", "numpy", "--system", "torch"]
    assert main(["explain", text, "x=int32", "--format", "json", *systems]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["unread"]) == 1 and "program_steps" in told["answers"][1]


def test_a_function_is_run_with_symbols_if_the_user_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("numpy")
    file = tmp_path / "lib.py"
    file.write_text("import numpy as np\ndef norm(x):\n    return x / np.sqrt(np.sum(x * x))\n")
    outputs = []
    for option in ([], ["--run"]):
        assert main(["explain", f"{file}:norm", "x=float16[3]", "--system", "numpy", *option]) == 0
        outputs.append(capsys.readouterr().out.splitlines()[0])
    assert outputs[0] == outputs[1]
    file.write_text("raise ValueError('no')\n")
    assert main(["explain", f"{file}:norm", "x=int8", "--run"]) == 2
    assert "lib.py cannot be imported: ValueError: no; mend it, or leave out --run" in capsys.readouterr().err
    for wrong in (["int8"], ["x + 1", "x=int8"]):
        assert main(["explain", *wrong, "--run"]) == 2
        assert "--run goes with a function of a file" in capsys.readouterr().err
