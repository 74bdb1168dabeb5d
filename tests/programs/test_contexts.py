"""Contexts of a `with`: autocast has a system of its own, and others change no dtype."""

from __future__ import annotations

import re
from typing import Any

import pytest

import typelattice as tl

HEAD = "import contextlib\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
ON = "torch.autocast('cpu', dtype=torch.bfloat16)"

READ = [  # lines of f(x, w), and the dtypes of its result
    (f"with {ON}:\n    return x @ w", "bfloat16"),
    (f"with {ON}:\n    y = x @ w\nreturn y + x, y @ y", "float32, bfloat16"),
    (f"with {ON}, torch.no_grad():\n    return F.mse_loss(x @ w, x)", "float32"),
    (f"with {ON}:\n    with torch.autocast('cpu', enabled=False):\n        y = x @ w\n    return y, y @ w",
     "float32, bfloat16"),
    ("with torch.amp.autocast(device_type=x.device.type):\n    return F.linear(x, w)", "bfloat16"),
    ("with torch.cpu.amp.autocast():\n    return x @ w", "bfloat16"),
    ("with torch.cuda.amp.autocast(enabled=False):\n    return x @ w", "float32"),
    ("with torch.autocast('cuda', torch.float16, enabled=torch.cuda.is_available()):\n    return x @ w",
     "float32"),
    ("device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
     "with torch.autocast(device, torch.bfloat16):\n    return x @ w", "bfloat16"),
    (f"ctx = {ON} if x.dim() == 2 else contextlib.nullcontext()\nwith ctx:\n    return x @ w", "bfloat16"),
    ("ctx = torch.no_grad()\nwith ctx:\n    return x @ w", "float32"),
    (f"@{ON}\ndef g(a): return a @ w\nreturn g(x), x @ w", "bfloat16, float32"),
    (f"class M(nn.Module):\n    @{ON}\n    def forward(self, a): return a @ w\nreturn M()(x)", "bfloat16"),
    (f"def g(): return x @ w\nwith {ON}:\n    return g()", "bfloat16"),
    (f"try:\n    with {ON}: raise ValueError\nexcept ValueError:\n    pass\nreturn x @ w", "float32"),
    (f"for i in range(3):\n    with {ON}: y = x @ w\n    x = x + y\nreturn x, x @ w", "float32, float32"),
    (f"with {ON}:\n    return nn.LSTM(4, 4)(x)[0], nn.GRU(4, 4)(x)[0]", "bfloat16, float32"),
    (f"with {ON}:\n    return x.double() @ w.double(), x.half() @ w", "float64, bfloat16"),
    (f"with contextlib.ExitStack() as stack:\n    stack.enter_context({ON})\n    y = x @ w\nreturn y, x @ w",
     "bfloat16, float32"),
    (f"with {ON}:\n    x += x @ w\n    return x", "float32"),
]  # fmt: skip

REFUSED = [  # lines of f(x, w), and words of the error
    ("with torch.autocast('cuda'):\n    return x @ w", "device_type cpu and dtype bfloat16 alone"),
    ("with torch.autocast('cpu', dtype=torch.float16):\n    return x @ w", "device_type cpu and dtype"),
    ("with torch.cuda.amp.autocast():\n    return x @ w", "write its lines without it"),
    ("with torch.autocast('cpu', on=True):\n    return x @ w", "takes device_type, dtype, enabled"),
    (f"with {ON[:-1]}, enabled=x.sum() > 0):\n    return x @ w", "enabled is not known"),
    (f"return {ON} + x", "enter it by `with`"),
    ("torch.set_autocast_enabled('cpu', True)\nreturn x @ w", "set_autocast_enabled"),
    ("with torch.random.fork_rng():\n    return x @ w", "may change dtypes"),
]


def read(lines: str) -> tl.Program:
    body = "".join(f"    {line}\n" for line in lines.split("\n"))
    return tl.program(f"{HEAD}def f(x, w):\n{body}", x="float32[4,4]", w="float32[4,4]")


def dtypes_of(program: tl.Program, system: str) -> str:
    replay = program.under(system)
    return ", ".join(str(replay[i]) for i in program.results)


@pytest.mark.parametrize("lines, dtypes", READ)
def test_lines_within_autocast_follow_its_system(lines: str, dtypes: str) -> None:
    assert dtypes_of(read(lines), "torch") == dtypes


@pytest.mark.live
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("lines", [lines for lines, _ in READ])
def test_torch_gives_the_dtypes_that_are_read(lines: str) -> None:
    torch = pytest.importorskip("torch")
    body = "".join(f"    {line}\n" for line in lines.split("\n"))
    names: dict[str, Any] = {}
    exec(compile(f"{HEAD}def f(x, w):\n{body}", "f", "exec"), names)
    made = names["f"](torch.ones(4, 4), torch.ones(4, 4))
    made = made if isinstance(made, tuple) else (made,)
    assert ", ".join(str(x.dtype).removeprefix("torch.") for x in made) == dtypes_of(read(lines), "torch")


@pytest.mark.parametrize("lines, words", REFUSED)
def test_a_mode_that_was_not_asked_is_refused(lines: str, words: str) -> None:
    with pytest.raises(tl.ProgramError, match=re.escape(words)):
        read(lines)


def test_a_device_is_a_text_with_a_type_and_a_text_keeps_its_methods() -> None:
    asked = "d.type == 'cuda' and 'abc'.index('c') == 2"
    lines = f"d = torch.device('cuda:1')\nif {asked}: return x @ w\nreturn None"
    assert dtypes_of(read(lines), "torch") == "float32"
    lines = "if x.is_cuda or x.device.type != 'cpu': return x.half()\nreturn x @ w"
    assert dtypes_of(read(lines), "torch") == "float32"


def test_a_function_of_another_package_is_no_context() -> None:
    with pytest.raises(tl.ProgramError, match="another package"):
        tl.program("import pkg\npkg.profile(x) + 1", x="float32")


def test_other_systems_have_no_autocast_or_say_so() -> None:
    program = read(f"with {ON}:\n    return x @ w")
    assert dtypes_of(program, "numpy") == "float32"
    assert dtypes_of(program, "torch-autocast") == "bfloat16"
    assert program.under("torch@2.13").result.reason == "torch@2.13 has no rules for autocast"
    again = tl.Program.from_json(program.to_json())
    assert dtypes_of(again, "torch") == "bfloat16"
