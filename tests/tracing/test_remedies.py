"""The remedy in a report: what a patch tries first, replayed, and nothing after which a step fails."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from followed import followed_module

from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.remedies.remedy import Remedy, find_remedy, order_changes, parse_sources
from typelattice.tracing.remedies.step_node import StepNode
from typelattice.tracing.report.text_report import write_report
from typelattice.tracing.run_data.run import Run
from typelattice.tracing.source.source_file import SourceFile


def followed(code: str) -> Run:
    """The run of a module that has NumPy."""
    return followed_module(f"import numpy as np\n{code}\n")[1]


def the_cause(code: str) -> tuple[Findings, WideningCause, Remedy]:
    """What is found in a run of one cause, the cause, and its remedy."""
    found = collect_findings(followed(code))
    (cause,) = found.causes
    remedy = find_remedy(found.predicted_run, cause)
    assert remedy is not None
    return found, cause, remedy


def changed(remedy: Remedy) -> list[str]:
    """The lines as the remedy changes them."""
    return [text.strip() for _, _, text in remedy.list_changed_lines()]


def all_narrow(cause: WideningCause, remedy: Remedy) -> bool:
    return {*remedy.replay.narrow_steps} == {*cause.widening_steps, *cause.later_wide_steps}


def told(code: str) -> str:
    """The report of a run, as one line."""
    return " ".join(" ".join(write_report(followed(code), ())).split())


INTEGERS = """
x = np.linspace(0, 1, 6, dtype=np.float32)
i = np.arange(6)
y = x * i
"""


@pytest.mark.parametrize("make", ["np.array(rows)", "np.asarray(rows)", "np.stack(rows)", "np.hstack(rows)"])
def test_a_list_that_has_a_name_is_cast_as_a_list(make: str) -> None:
    """A list has no `astype`, and its own dtype is the wide one."""
    lines = f"def f(x):\n    rows = [x[0], x[1]]\n    rows = rows + [1.0]\n    return {make} * x[0]"
    code = f"{lines}\nf(np.ones(4, np.float32))"
    _, cause, remedy = the_cause(code)
    dtype = "np.result_type(np.asarray(x), 0.0)"
    assert changed(remedy) == [f"return {make[:-1]}, dtype={dtype}) * x[0]"]
    assert all_narrow(cause, remedy)


@pytest.mark.parametrize(
    "use",
    [
        "np.take(x, i)", "x[i]", "i << 1", "i | 1", "np.bincount(i)", "np.repeat(x, i)",
        "np.split(x, i[1:3])", "np.zeros(i[3])", "None",
    ],
)  # fmt: skip
def test_an_integer_is_cast_where_a_float_meets_it_and_not_where_it_is_made(use: str) -> None:
    """What else takes it may need an integer, and what takes it as a shape is not seen."""
    _, cause, remedy = the_cause(f"{INTEGERS}z = {use}")
    assert changed(remedy) == ["y = x * i.astype(x.dtype)"]
    assert remedy.replay.narrow_steps == cause.widening_steps
    said = told(f"{INTEGERS}z = {use}")
    assert "cast 48 bytes to float32, and it stays float32: code.py:5: y = x * i.astype(x.dtype)" in said


def test_an_integer_that_what_follows_meets_again_is_cast_there_as_well() -> None:
    _, _, remedy = the_cause(f"{INTEGERS}z = (y + i) * y")
    assert changed(remedy) == ["y = x * i.astype(x.dtype)", "z = (y + i.astype(y.dtype)) * y"]
    assert len(remedy.replay.narrow_steps) == 3


def test_a_cast_is_of_all_that_its_source_text_makes() -> None:
    """In a loop each pass makes another step of it."""
    code = """
x = np.ones(3, np.float32)
y = np.ones(3, np.float32)
for i in range(20):
    s = np.float64(i)
    y = y + x * s
"""
    _, cause, remedy = the_cause(code)
    assert changed(remedy) == ["s = float(i)"]
    assert all_narrow(cause, remedy)


IN_PLACE = """
k = np.linspace(0, 1, 4)
x = np.ones(4, np.float32)
y = x * k
"""


@pytest.mark.parametrize(
    "write", ["x *= k", "x[:] = y", "x[1:3] = k[1:3]", "x += k * y", "np.multiply(x, k, out=x)"]
)
def test_what_is_written_into_a_narrow_array_stays_narrow_without_a_cast(write: str) -> None:
    found, cause, remedy = the_cause(IN_PLACE + write)
    assert changed(remedy) == ["k = np.linspace(0, 1, 4, dtype=np.float32)"]
    assert all_narrow(cause, remedy)
    narrow = [
        found.predicted_run.steps[i].op
        for i in cause.later_wide_steps
        if str(found.predicted_run.result_of(i)) == "float32"
    ]
    assert not narrow


@pytest.mark.parametrize("points", ["np.linspace(0, 1, 5)", "np.linspace(0, 1, 5, dtype=np.float32)"])
def test_a_function_that_always_gives_a_wide_float_is_the_cause_itself(points: str) -> None:
    code = f"""
x = np.ones(3, np.float32)
y = np.interp(x, {points}, np.ones(5, np.float32))
z = y * x
"""
    found, cause, remedy = the_cause(code)
    text = f"np.interp(x, {points}, np.ones(5, np.float32))"
    assert [found.predicted_run.steps[i].text for i in cause.origin_steps] == [text]
    assert changed(remedy) == [f"y = {text}.astype(x.dtype)"]
    assert len(remedy.replay.narrow_steps) == 2
    assert "gives float64, as it does of narrower floats" in told(code)
    assert 'interp".computes = { "bool, real" = "f64", complex = "c128" }' in told(code)


def test_what_meets_the_same_wide_float_elsewhere_does_not_follow() -> None:
    code = """
k = np.linspace(0, 1, 8)
x = np.ones(8, np.float32)
a = x * k
b = x[:8] * k
c = a + 1
"""
    said = told(code)
    assert "also at code.py:6: x[:8] * k follows 1 later step, which ran 1 time costs" in said
    assert "and all of it stays float32: code.py:3: k = np.linspace(0, 1, 8, dtype=np.float32)" in said


def test_a_call_that_asks_for_a_wide_dtype_does_not_follow_from_itself() -> None:
    assert "follows no later step" in told("x = np.ones(3, np.float32)\ny = np.add(x, 1, dtype=np.float64)")


def test_later_steps_are_texts_of_the_source_and_not_passes_of_a_loop() -> None:
    code = """
x = np.ones(3, np.float32)
for i in range(20):
    s = np.float64(i)
    y = x * s
    z = y + 1
"""
    assert "follows 1 later step, which ran 20 times" in told(code)


def test_every_cast_is_named_with_its_file() -> None:
    names = [f"k{i} = np.linspace(0, {i}, 3)" for i in range(1, 6)]
    used = " * ".join(f"k{i}" for i in range(1, 6))
    said = told("\n".join([*names, "x = np.ones(3, np.float32)", f"y = x * {used}"]))
    for i in range(1, 6):
        assert re.search(rf"code.py:{i + 1}: k{i} = np.linspace\(0, {i}, 3, dtype=|k{i}.astype\(", said)


HALF = """
x = np.ones(1000, np.float32)
h = np.float16(0.5)
y = x * h
z = y * np.ones(2)[0]
"""


def test_a_float_that_becomes_of_a_dtype_that_the_program_asked_for_comes_last_and_is_to_be_cast() -> None:
    """Of NumPy nobody gets a float32 without asking; a float64 everybody does."""
    found = collect_findings(followed(HALF))
    wide, meant = found.causes
    assert (wide.wide_dtype.name, meant.wide_dtype.name) == ("float64", "float32")
    assert (wide.is_default_dtype, meant.is_default_dtype, meant.extra_bytes) == (True, False, 0)
    remedy = find_remedy(found.predicted_run, meant)
    assert remedy is not None
    assert (changed(remedy), remedy.replay.target.name) == (["y = x * h.astype(np.float32)"], "float32")
    assert "cast 2 bytes to float32, and nothing is widened: code.py:5: y = x * h.astype(" in told(HALF)


def test_a_real_number_that_a_complex_one_widens_becomes_a_narrow_complex_one() -> None:
    said = told("x = np.ones(4, np.float32)\ny = x * np.complex128(1)")
    assert "cast 16 bytes to complex64, and it becomes complex64: code.py:3: y = x * complex(1)" in said


def test_of_a_step_without_a_rule_no_replay_tells_what_a_cast_gives() -> None:
    code = "x = np.ones(3, np.float32)\ny = np.average(x, weights=np.linspace(0, 1, 3))"
    said = told(code)
    assert "remedy cast 24 bytes to float32: code.py:3: y = np.average(x, weights=np.linspace(" in said
    assert "a replay does not tell what these calls give" in said


def test_steps_are_named_as_the_source_has_them() -> None:
    said = told("x = np.ones(30, np.float32)\ny = x * np.array(0.0)\nz = x * ([1.0] * 30)")
    assert "code.py:3: np.array(0.0) makes float64:0d" in said
    assert said.count("1.0, 1.0, 1.0") and "1.0, " * 20 not in said


def test_of_places_that_are_not_shown_it_says_how_many_and_where_they_are() -> None:
    lines = [f"a{i} = np.ones({i}, np.float32) * np.ones({i})" for i in range(1, 13)]
    run = followed("\n".join(lines))
    said = " ".join(" ".join(write_report(run, ["torch"])).split())
    assert "and 2 places more; --all shows them, and so do the pages of --html" in said
    assert "and 2 places more: 2 narrower; --all shows them" in said


def test_an_argument_that_is_written_into_is_as_narrow_as_it_came() -> None:
    """What comes from outside is an input of the run."""
    recorder = Recorder()
    body = ["k = np.linspace(0, 1, 4)", "y = x * k", "x *= k"]
    code = "\n    ".join(["import numpy as np\ndef f(x):", *body])
    compiled = ModuleCompiler(recorder).compile_module("code", "code.py", code.encode())
    assert compiled is not None
    scope: dict[str, Any] = {"__name__": "code"}
    exec(compiled, scope)
    scope["f"](np.ones(4, np.float32))
    found = collect_findings(recorder.build_run())
    (cause,) = found.causes
    remedy = find_remedy(found.predicted_run, cause)
    assert remedy is not None
    assert changed(remedy) == ["k = np.linspace(0, 1, 4, dtype=np.result_type(x, 0.0))"]
    assert all_narrow(cause, remedy)


FUNCTIONS = {
    "a parameter that may be an integer": (
        """
def f(x):
    return x * np.linspace(0, 1, 4)
y = f(np.ones(4, np.float32))
""",
        "return x * np.linspace(0, 1, 4, dtype=np.result_type(x, 0.0))",
    ),
    "a local that no caller can make an integer": (
        """
def f(x):
    half = np.sqrt(x)
    return half * np.linspace(0, 1, 4)
y = f(np.ones(4, np.float32))
""",
        "return half * np.linspace(0, 1, 4, dtype=half.dtype)",
    ),
    "a local that is an integer if the parameter is": (
        """
def f(x):
    part = x[1:]
    return part * np.linspace(0, 1, 3)
y = f(np.ones(4, np.float32))
""",
        "return part * np.linspace(0, 1, 3, dtype=np.result_type(part, 0.0))",
    ),
    "an operand that the operation refuses as an integer": (
        """
def f(x):
    return np.ldexp(x, 1) * np.linspace(0, 1, 4)
y = f(np.ones(4, np.float32))
""",
        "return np.ldexp(x, 1) * np.linspace(0, 1, 4, dtype=np.result_type(np.asarray(x), 0.0))",
    ),
    "a list that a loop fills": (
        """
def f(x):
    out = []
    for i in range(4):
        out.append(x[i])
    return np.array(out) * np.linspace(0, 1, 4)
y = f(np.ones(4, np.float32))
""",
        "return np.array(out) * np.linspace(0, 1, 4, dtype=np.result_type(np.asarray(out), 0.0))",
    ),
    "a number of one caller, which is an array of another": (
        """
def f(x, smooth):
    w = np.linspace(0, 1, 4)
    return smooth * w + x * w
y = f(np.ones(4, np.float32), np.ones(4, np.float32)), f(np.ones(4, np.float32), 0.5)
""",
        "w = np.linspace(0, 1, 4, dtype=np.result_type(x, 0.0))",
    ),
    "a constant of the module, which other functions read": (
        """
WEIGHTS = np.linspace(0, 1, 4)
def f(x):
    return x * WEIGHTS
y = f(np.ones(4, np.float32))
""",
        "return x * WEIGHTS.astype(np.result_type(x, 0.0))",
    ),
    "positions, which a narrow float does not hold": (
        """
t = np.arange(0, 4, 1.0)
y = np.ones(4, np.float32) * t
""",
        "y = np.ones(4, np.float32) * t.astype(np.float32)",
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_remedy_is_right_for_other_callers_as_far_as_the_rules_tell(name: str) -> None:
    code, line = FUNCTIONS[name]
    _, _, remedy = the_cause(code)
    assert changed(remedy) == [line]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_remedy_is_the_change_that_a_patch_tries_first(name: str) -> None:
    found, cause, remedy = the_cause(FUNCTIONS[name][0])
    sources = parse_sources(found.predicted_run.run)
    assert next(order_changes(found.predicted_run, cause, sources)) == remedy.changes[0]


def test_the_moments_of_an_optimizer_stay_wide() -> None:
    code = """
class Adam:
    def __init__(self, n):
        self.m, self.v = np.zeros(n), np.zeros(n)
    def step(self, p, g):
        self.m = 0.9 * self.m + 0.1 * g
        self.v = 0.99 * self.v + 0.01 * g * g
        return p - self.m / (np.sqrt(self.v) + 1e-8)
p = Adam(4).step(np.ones(4, np.float32), np.ones(4, np.float32))
"""
    found = collect_findings(followed(code))
    assert found.causes
    for cause in found.causes:
        remedy = find_remedy(found.predicted_run, cause)
        for line in changed(remedy) if remedy else ():
            assert not line.startswith("self.") or line.count("self.m") + line.count("self.v") == 2
            assert "np.zeros(n, dtype" not in line and ".m.astype" not in line.partition("=")[2], line


def test_a_cast_to_the_dtype_of_another_array_follows_that_array() -> None:
    """Replayed with a narrow `s`, `x.astype(s.dtype)` is narrow, too."""
    code = """
def f(x, mask):
    s = np.sqrt(x) + mask
    z = np.zeros(4, dtype=s.dtype)
    return x.astype(s.dtype) * s + np.asarray(z, s.dtype)
y = f(np.ones(4, np.float32), np.ones(4))
"""
    found, cause, remedy = the_cause(code)
    (mask,) = {c.producer for c in remedy.replay.casts}
    assert found.predicted_run.steps[mask].text == "np.ones(4)"
    assert all_narrow(cause, remedy) and not remedy.replay.is_refused


def test_a_cast_to_the_dtype_of_another_array_reads_it_once_and_in_its_place() -> None:
    code = """
read = []
class Holder:
    def __init__(self, name):
        self.name = name
    @property
    def dtype(self):
        read.append(self.name)
        return np.dtype("float32")
def note(name):
    read.append(name)
    return 3
a, b = Holder("a"), Holder("b")
x = np.zeros(note("first"), dtype=a.dtype)
y = np.full(note("second"), note("third"), b.dtype)
z = x.astype(dtype=a.dtype, copy=bool(note("last")))
"""
    module, run = followed_module(f"import numpy as np\n{code}")
    assert module["read"] == ["first", "a", "second", "third", "b", "a", "last"]
    assert {str(module[name].dtype) for name in "xyz"} == {"float32"}
    assert run.operations == 3 and not run.opaque


@pytest.mark.parametrize(
    ("narrow", "owner"),
    [
        ("np.where(m, x, 0)", "x"),
        ("np.choose(i, [x, x, x, x])", "x"),
        ("np.compress(m, x)", "x"),
        ("(m * x)", "x"),
        ("np.add.reduceat(x, i)", "x"),
        ("np.convolve(x, W.astype(x.dtype), 'same')", "x"),
        ("np.multiply(k, x)", "x"),
    ],
)
def test_a_mask_an_index_or_a_number_gives_no_dtype(narrow: str, owner: str) -> None:
    code = f"""
x = np.ones(4, np.float32)
W = np.linspace(0.1, 0.9, 4)
k = 2.0
i = np.arange(4)
m = i >= 0
np.where(m, x, 0), x[i], m * x, k * x
y = {narrow} * W
"""
    _, _, remedy = the_cause(code)
    texts = [edit.text for change in remedy.changes for edit in change.edits]
    allowed = {f"W.astype({owner}.dtype)", ", dtype=np.float32", f", dtype={owner}.dtype"}
    assert {*texts} <= allowed, texts


def test_a_constant_that_stays_wide_gives_no_dtype_to_what_meets_it() -> None:
    code = """
KERNEL = np.hanning(5)
def smooth(x, gain=np.float64(2)):
    return np.convolve(
        x,
        KERNEL,
        mode="same",
    ) * gain
y = smooth(np.ones(8, np.float32))
"""
    _, _, remedy = the_cause(code)
    assert changed(remedy) == [
        "KERNEL.astype(np.result_type(x, 0.0)),",
        ") * gain.astype(np.result_type(x, 0.0))",
    ]


def test_an_option_in_its_place_hides_no_operand() -> None:
    code = """
K = np.hanning(5)
def smooth(x):
    return np.convolve(x, K, "same")
y = smooth(np.ones(8, np.float32))
"""
    _, _, remedy = the_cause(code)
    assert changed(remedy) == ['return np.convolve(x, K.astype(np.result_type(x, 0.0)), "same")']


def test_a_parameter_that_is_iterated_over_gives_no_dtype() -> None:
    code = """
def stream(xs):
    bias = np.full(3, 0.1)
    return [x + bias for x in xs]
y, z = stream([np.ones(3, np.float32), np.ones(3, np.float32)])
"""
    _, _, remedy = the_cause(code)
    assert "xs" not in remedy.changes[0].edits[0].text


@pytest.mark.parametrize("imported", ["import numpy as np", "from numpy import sqrt", "import math"])
def test_a_file_of_operators_alone_is_right_for_integers(imported: str) -> None:
    """A bare `x.dtype` would make the mean of integers an integer, and a literal that of a float64 array."""
    code = f"{imported}\ndef centred(x, mean):\n    return x - mean\n"
    arrays = "of = __import__('numpy').array\ny = centred(of([1, 1, 1], 'float32'), of([0.5] * 3))\n"
    found = collect_findings(followed_module(code + arrays)[1])
    remedy = find_remedy(found.predicted_run, found.causes[0])
    assert remedy is not None
    (change,) = remedy.changes
    names: dict[str, Any] = {}
    exec(remedy.sources[change.file].edited(change.edits).content.partition(b"of = ")[0], names)
    centred = names["centred"]
    assert centred(np.arange(3), np.full(3, 0.5)).tolist() == [-0.5, 0.5, 1.5]
    assert centred(np.ones(3, np.float32), np.full(3, 0.5)).dtype == np.float32
    assert centred(np.ones(3), np.full(3, 0.1)).tolist() == [0.9] * 3


@pytest.mark.parametrize(
    "code",
    [
        "g = [(lambda v, w=np.ones(3): v * w)(x)]",
        "def f(v, w=np.ones(3)):\n    return v * w\ng = f(x)",
        "s = [r.sum() for r in [x, x]]\nk = np.linspace(0, 1, 3)\ng = [r * k for r in [x, x]]",
        "def f(y):\n    r = y\n    return r\nk = np.linspace(0, 1, 3)\nfor r in [x]:\n    g = r * k",
        "def f(y):\n    def h():\n        q = y\n        return q\n    k = np.linspace(0, 1, 3)\n"
        "    for q in [y]:\n        z = q * k\n    return z\ng = f(x)",
    ],
)
def test_a_remedy_names_only_what_is_bound_there(code: str) -> None:
    text = f"import numpy as np\nx = np.ones(3, np.float32)\n{code}\n"
    found = collect_findings(followed_module(text)[1])
    remedy = find_remedy(found.predicted_run, found.causes[0])
    assert remedy is not None
    names: dict[str, Any] = {}
    exec(remedy.sources["code.py"].edited([e for c in remedy.changes for e in c.edits]).content, names)
    results = names["g"] if isinstance(names["g"], list) else [names["g"]]
    assert {result.dtype for result in results} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("header", "alias"),
    [
        ("import torch.nn as nn\nimport torch", "torch"),
        ("import torch\nfrom torch import nn, optim", "torch"),
        ("from jax import random\nimport jax.numpy as jnp", "jnp"),
        ("import jax\nfrom jax import random", "jax.numpy"),
        ("import jax.numpy as jnp\nimport jax\nfrom jax import random", "jnp"),
        ("from numpy import random\nimport numpy", "numpy"),
        ("import keras", ""),
    ],
)
def test_the_name_of_a_library_is_that_of_its_dtypes(header: str, alias: str) -> None:
    """`nn.bfloat16` and `random.result_type` do not exist."""
    library = header.replace("import ", "").replace("from ", "").split()[0].partition(".")[0]
    source = SourceFile(f"{header}\nnn.Linear, random.normal, optim.SGD, jnp.ones\ny = x * w\n".encode())
    (node,) = source.find_nodes(source.content.count(b"\n"), "x * w")
    step = replace(followed("y = np.ones(1) * np.ones(1)").program.steps[-1], owner=library)
    predicted_run = SimpleNamespace(steps=[step])
    assert StepNode(cast(Any, predicted_run), source, "code.py", node, 0).find_library_alias() == alias


def test_a_function_without_rules_is_of_the_library_it_is_called_in() -> None:
    code = """
def smooth(x):
    k = np.hanning(4)
    return x * k
y = smooth(np.ones(4, np.float32))
"""
    _, _, remedy = the_cause(code)
    assert changed(remedy) == ["k = np.hanning(4).astype(np.result_type(x, 0.0))"]


@pytest.mark.parametrize("first", ["", "    s = 1\n", "    @np.vectorize\n    def h(v):\n        return v\n"])
def test_a_test_at_the_entry_stands_before_the_first_statement(first: str) -> None:
    """A decorator belongs to the statement below it."""
    code = f'S = np.full(3, 0.1)\ndef f(x):\n    "Doc."\n{first}    x = np.sqrt(x)\n    return x * S\n'
    found = collect_findings(followed(f"{code}y = f(np.ones(3, np.float32))"))
    sources = parse_sources(found.predicted_run.run)
    changes = [*order_changes(found.predicted_run, found.causes[0], sources)]
    tested = [c for c in changes if any(edit.text.startswith("is_narrow = ") for edit in c.edits)]
    assert tested
    for change in tested:
        source = sources[change.file].edited(change.edits)
        assert isinstance(source.functions[0].body[1], ast.Assign)
        assert source.text(source.functions[0].body[1]).startswith("is_narrow = ")
