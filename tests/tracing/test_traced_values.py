"""What operations do to values: each loss is reported at its line, and nothing else is."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random

import numpy as np
import pytest

from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.report.report_entries import make_report

LOSSES = {
    "a = np.uint8([200, 10]) * 2": "1 of 2 numbers wrapped, such as 400, which is 144 in uint8",
    "a = np.uint8([200]); a += np.uint8(100)": "1 of 1 number wrapped, such as 300, which is 44 in uint8",
    "a = np.int8([100, 100]).sum(dtype=np.int8)": "1 of 1 number wrapped, such as 200, which is -56 in int8",
    "a = np.int16([300]).astype(np.uint8)": "1 of 1 number wrapped, such as 300, which is 44 in uint8",
    "a = np.arange(3_000, dtype=np.int32) * 2**20": "952 of 3,000 numbers wrapped, such as 2.14748365e+09",
    "a = np.arange(3_000, dtype=np.int16); a += 32_000": "2,232 of 3,000 numbers wrapped, such as 32768",
    "a = np.full(3_000, 0.5); a[7] = 0; a = a.astype(int)": "2,999 of 3,000 numbers lost a fraction",
    "a = np.float32([1e30]); a *= 1e30": "1 of 1 number became infinite in float32, of finite operands",
    "a = np.log(np.zeros(2))": "2 of 2 numbers became infinite in float64, of finite operands",
    "a = np.zeros(2) / np.zeros(2)": "2 of 2 numbers became NaN in float64, of finite operands",
    "a = np.array([1.5, 2.0]).astype(int)": "1 of 2 numbers lost a fraction, such as 1.5, which is 1",
    "a = np.zeros(2, int); a[0] = 2.5": "1 of 1 number lost a fraction, such as 2.5, which is 2 in int64",
    "a = np.cumsum(np.float32([2**24] + [1] * 1000))[-1:]": "numbers lost digits, such as",
    "a = np.uint16([1]) << 24": "1 of 1 number wrapped, such as 16777216, which is 0 in uint16",
    "a = np.left_shift(np.int8([1]), 7)": "1 of 1 number wrapped, such as 128, which is -128 in int8",
    "a = np.int16([300]) @ np.int16([300])": "1 of 1 number wrapped, such as 90000, which is 24464 in int16",
    "a = np.einsum('i,i->', np.int16([300]), np.int16([300]))": "wrapped, such as 90000",
    "a = np.outer(np.uint8([20]), np.uint8([20]))": "wrapped, such as 400, which is 144 in uint8",
    "a = np.diff(np.uint8([3, 1]))": "1 of 1 number wrapped, such as -2, which is 254 in uint8",
    "a = np.prod((10**9,) * 4)": "1 of 1 number wrapped, such as 1e+36",
    "a = np.cumprod(np.int64([10**10] * 2))": "1 of 2 numbers wrapped, such as 1e+20",
    "a = np.multiply.accumulate(np.int64([2**40] * 2))": "1 of 2 numbers wrapped",
    "a = np.int8([-128]) // np.int8(-1)": "1 of 1 number wrapped, such as 128, which is -128 in int8",
    "a = np.float32([1e4] * 2); a -= np.float32([1e-4] * 2)": "2 of 2 numbers stayed the same, such as 10000",
    "a = np.float16([1, 3]) * 0.99999": "in the code is another one in float16: 0.99999 is 1",
    "a = np.float16([1]) + 1e-8": "in the code is another one in float16: 1e-08 is 0",
    "a = np.full(3, 2049, np.float16)": "in the code is another one in float16: 2049 is 2048",
    "a = np.full(2, 3.7, np.int16)": "1 of 1 number lost a fraction, such as 3.7, which is 3 in int16",
    "a = np.full(2, fill_value=3.7, dtype=int)": "1 of 1 number lost a fraction, such as 3.7",
    "a = np.zeros(2, int); a.fill(3.7)": "1 of 1 number lost a fraction, such as 3.7, which is 3 in int64",
    "a = np.arange(4096).astype(np.float16)": "1,024 of 4,096 numbers lost digits, such as 2049",
    "a = np.arange(2050, dtype=np.float16)": "1 of 2,050 numbers lost digits, such as 2049, which is 2048",
    "a = np.zeros(2, np.float16); a[0] = 1e6": "1 of 1 number became infinite in float16",
}
HARMLESS = [
    "for _ in range(9): a = np.full(4, np.nan, np.float16); del a; a = np.empty(4, np.float16)",
    "a = np.full(3, np.nan, np.float16)",
    "a = np.uint8([200]) * np.uint16(2)",
    "a = np.floor(np.array([1.5])).astype(int)",
    "a = np.array([np.inf]) + 1",
    "a = np.float32([0.1]) * 3",
    "a = np.float32([0.1, 0.2]).sum()",
    "a = np.int64([2**62]) - 1",
    "a = -np.int8([5])",
    "a = np.array([np.inf, 1]); a += 1",
    "a = np.zeros(2); a[0] = np.nan; a *= 2",
    "a = np.float32([1, 2]); b = np.zeros(2, np.float32); np.add(np.add(a, a), a, b)",
    "a = np.uint32([1]) << 24",
    "a = np.arange(2049).astype(np.float16)",
    "a = np.arange(2**20, 2**20 + 9).astype(np.float32)",
    "a = np.full(2, 3.0, np.int16)",
    "a = np.int8([7]) // np.int8([1])",
    "a = np.float32([1]) + 1e-8",  # keeps a divisor from being zero
    "a = np.float16([0.001]) * 0.1 * np.float16([1])",
    "a = np.uint8([1, 2, 3]); a[1:] += a[:-1]",
    "a = np.float32([2.0]) * 2**70",
]


BUILDING_UP = """import numpy as np
kept = np.float32([2**17, 2**17])
for i in range(600):
    kept += 0.01
    if i == 300:
        kept[:] = 2**17
total = np.float32(2**17)
for _ in range(500):
    total = total + 0.01
line = np.float32([2**17])
for _ in range(500):
    line += np.float32(0.01)
small = total * 2 + 1
many = np.full((100, 90), 2**17, np.float32)
for _ in range(450):
    many = many + np.float32(0.01)
    many += np.float32(0.01)
"""


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """The message of each line of one script that has all examples."""
    path = tmp_path_factory.mktemp("values") / "s.py"
    path.write_text("import numpy as np\n" + "\n".join([*LOSSES, *HARMLESS]) + "\n")
    return traced_values(path)


def traced_values(path: Path) -> dict[int, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = run_script(str(path), [], [], values=True).run
    (chapter,) = [c for c in make_report(collect_findings(run)).chapters if c.name == "values"]
    return {entry.location.line: entry.message for entry in chapter.entries if entry.location}


@pytest.mark.parametrize("code", LOSSES)
def test_a_loss_is_reported_at_its_line(code: str, lines: dict[int, str]) -> None:
    assert LOSSES[code] in lines[[*LOSSES].index(code) + 2]


def test_what_loses_nothing_is_not_reported(lines: dict[int, str]) -> None:
    assert {*lines} == {*range(2, len(LOSSES) + 2)}


@pytest.mark.filterwarnings("ignore")
def test_an_integer_is_reported_exactly_if_pythons_own_integers_do_not_fit(tmp_path: Path) -> None:
    random = Random(20)
    names = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    lines, wraps = ["import numpy as np"], set()
    for _ in range(300):
        limits = np.iinfo(name := random.choice(names))
        a, b = (random.randint(int(limits.min), int(limits.max)) >> random.randrange(48) for _ in range(2))
        a, b = (x if limits.min <= x <= limits.max else 1 for x in (a, b))
        symbol, exact = random.choice([("+", a + b), ("-", a - b), ("*", a * b)])
        lines.append(f"a = np.array([{a}], np.{name}) {symbol} np.array([{b}], np.{name})")
        if not limits.min <= exact <= limits.max:
            wraps.add(len(lines))
    path = tmp_path / "s.py"
    path.write_text("\n".join(lines) + "\n")
    assert wraps and {*traced_values(path)} == wraps


def test_digits_that_a_sum_loses_over_several_steps_are_reported_where_they_pass_the_limit(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.py"
    path.write_text(BUILDING_UP)
    found = traced_values(path)
    assert [*found][:2] == [9, 12]  # `kept` was written into before it had lost as much
    assert [*found][2:] in ([16], [17])
    lost = "number lost digits over several steps, such as"
    assert all(lost in each.replace("9,000 of 9,000 numbers", "1 of 1 number") for each in found.values())


def test_calls_of_every_form_of_arguments_are_checked_without_a_failure(tmp_path: Path) -> None:
    """With `*pair` before a keyword, the witness gets no arguments."""
    calls = ("*pair", "*pair, dtype=get()", "*pair, **more", "**more, stop=end()", "1, *(end(),)")
    head = "import numpy as np\npair, more = (1, 5), {'dtype': 'f4'}\nget, end = lambda: 'f4', lambda: 3\n"
    path = tmp_path / "s.py"
    path.write_text(head + "\n".join(f"np.arange({arguments})" for arguments in calls) + "\n")
    assert run_script(str(path), [], [], values=True).run.unfollowed_code == ()


@pytest.mark.parametrize("state", ["warn", "raise", "call"])
def test_a_check_that_overflows_does_not_reach_the_program(state: str, tmp_path: Path) -> None:
    """float64's largest number overflows in the float32 of the assigned values."""
    path = tmp_path / "s.py"
    path.write_text(
        "import numpy as np\ncalls = []\n"
        f"np.seterr(all='{state}'); np.seterrcall(lambda *given: calls.append(given))\n"
        "out = np.zeros(3)\nout[:] = np.float32([1, 2, 3])\nassert not calls\n"
    )
    with warnings.catch_warnings(), np.errstate():
        warnings.simplefilter("error")
        ended = run_script(str(path), [], [], values=True)
    assert ended.status == 0
    assert ended.run.unfollowed_code == ()


def test_nothing_is_checked_unless_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "s.py"
    path.write_text("import numpy as np\na = np.uint8([200]) + np.uint8(100)\n")
    run = run_script(str(path), [], []).run
    assert run.value_losses is None and "values" not in {
        c.name for c in make_report(collect_findings(run)).chapters
    }


def test_a_checked_array_can_be_resized(tmp_path: Path) -> None:
    path = tmp_path / "s.py"
    path.write_text(
        "import numpy as np\na = np.ones(2, np.float32) * 2\na = a + 1\na.resize(5)\n"
        "change = a.resize\nchange(7)\n"
        "b = np.ones(3, np.float32)\nb += 1\nb += 1\nnp.ndarray.resize(b, 4)\n"
    )
    assert run_script(str(path), [], [], values=True).status == 0


@pytest.mark.live
@pytest.mark.parametrize("cast", ["x.to(torch.int32)", "x.type(torch.int32)", "x.int()"])
def test_each_cast_of_pytorch_is_checked(cast: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "s.py"
    path.write_text(f"import torch\nx = torch.tensor([1.5, 3.0])\ny = {cast}\n")
    assert "1 of 2 numbers lost a fraction, such as 1.5, which is 1 in int32" in traced_values(path)[3]


@pytest.mark.live
@pytest.mark.parametrize(
    ("library", "code", "says"),
    [
        ("torch", "torch.mul(torch.tensor([100], dtype=torch.uint8), 10)", "such as 1000, which is 232"),
        ("torch", "torch.tensor([100], dtype=torch.uint8).add_(250)", "such as 350, which is 94 in uint8"),
        ("torch", "torch.ones(4, dtype=torch.bfloat16) * 0.999", "stayed the same, such as 1 * 0.999"),
        (
            "torch",
            "torch.full((4,), 99.0, dtype=torch.bfloat16).sub_(torch.full((4,), 0.1))",
            "stayed the same",
        ),
        ("torch", "torch.tensor(0.999, dtype=torch.bfloat16)", "another one in bfloat16: 0.999 is 1"),
        ("torch", "torch.tensor([1e5]).half()", "became infinite in float16"),
        ("jax", "jax.numpy.uint8(200) * jax.numpy.uint8(2)", "such as 400, which is 144 in uint8"),
        ("jax", "jax.numpy.ones(4, jax.numpy.bfloat16) * 0.999", "stayed the same, such as 1 * 0.999"),
        ("jax", "jax.numpy.asarray(0.999, jax.numpy.bfloat16)", "another one in bfloat16: 0.999 is 1"),
        ("jax", "jax.numpy.float32([1.5, 300]).astype(jax.numpy.uint8)", "wrapped, such as 300"),
    ],
)
def test_arrays_of_other_libraries_are_checked(library: str, code: str, says: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    path = tmp_path / "s.py"
    path.write_text(f"import {library}\nx = {code}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run_script(str(path), [], [], values=True).run.value_losses
    assert found and any(says in each.loss.description for each in found)


@pytest.mark.live
@pytest.mark.parametrize("start", ["torch.zeros((), dtype=torch.bfloat16)", "jax.numpy.bfloat16(0)"])
@pytest.mark.parametrize("update", ["total = total + 1", "total += 1"])
def test_a_running_sum_that_sticks_is_reported(start: str, update: str, tmp_path: Path) -> None:
    library = start.partition(".")[0]
    pytest.importorskip(library)
    path = tmp_path / "s.py"
    path.write_text(f"import {library}\ntotal = {start}\nfor _ in range(300):\n    {update}\n")
    assert "lost digits over several steps, such as 274, which is 256 in bfloat16" in traced_values(path)[4]
