"""The proof of a patched function: every caller that it had before gets what it got before."""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.repair.copies.call_outcomes import (
    AllowedNarrowing,
    CallOutcome,
    ObjectData,
    find_difference,
    read_value,
)
from typelattice.repair.copies.kept_values import KeptValue
from typelattice.repair.copies.source import FixError
from typelattice.repair.patch.patch import Patch
from typelattice.repair.patch.patch_search import _undo_change, fix_script
from typelattice.repair.proof.value_comparison import compare_with_noise
from typelattice.repair.proof.wide_input import WideForm
from typelattice.tracing.remedies.change import Change
from typelattice.tracing.source.source_file import Edit, SourceFile

NARROW = np.linspace(1, 2, 6, dtype=np.float32).reshape(2, 3)
OTHERS = [
    NARROW.astype(np.float64) / 3,
    (NARROW * 90).astype(np.uint8),
    (NARROW * -90).astype(np.int64),
    NARROW > 1.5,
    (NARROW / 3).tolist(),
    7,
    2.5,
    True,
    np.float64(2.5),
    np.int16(7),
    np.zeros((0, 3)),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(tl.__file__).parents[1]))
    return tmp_path


def fixed(folder: Path, code: str) -> tuple[Patch, str]:
    path = folder / "s.py"
    path.write_text(dedent(code), encoding="utf-8")
    patch = fix_script("s.py")
    _, after = patch.contents.get(path, (b"", path.read_bytes()))
    return patch, after.decode()


def outcome(function: Callable[..., Any], *args: Any) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = np.asarray(function(*args))
        except Exception as e:
            return type(e)
    return result.dtype, result.tolist()


FUNCTIONS = {
    "constants of the module": "return (x - MEAN) / SCALE",
    "an allocation that is filled": """
        out = np.zeros(np.shape(x))
        out[...] = np.asarray(x) * 0.5
        return out
    """,
    "a number of the library": "return np.asarray(x) * np.float64(3)",
    "a window": "return x * np.hanning(3)",
    "a grid": "return x * np.linspace(0, 1, 3)",
    "a list": "return np.asarray(x) - np.array([0.5, 0.25, 0.125])",
    "positions": "return np.asarray(x) / np.arange(1, 4)",
    "a requested dtype": "return np.asarray(x, dtype=np.float64) + 1",
}


@pytest.mark.parametrize("name", one_in(2, [*FUNCTIONS]))
def test_every_other_caller_of_a_patched_function_gets_what_it_got_before(name: str, folder: Path) -> None:
    body = dedent(FUNCTIONS[name]).strip().replace("\n", "\n    ")
    code = (
        "import numpy as np\nMEAN = np.array([0.48, 0.46, 0.41])\nSCALE = np.array([0.2, 0.3, 0.4])\n"
        f"def f(x):\n    {body}\n"
        "x = np.linspace(1, 2, 6, dtype=np.float32).reshape(2, 3)\nresult = f(x)\n"
    )
    patch, after = fixed(folder, code)
    assert not patch.unfixed_causes, str(patch)
    (folder / "after.py").write_text(after)
    before, patched = (runpy.run_path(str(folder / file)) for file in ("s.py", "after.py"))
    assert before["result"].dtype == np.float64 and patched["result"].dtype == np.float32
    for other in OTHERS:
        assert outcome(patched["f"], other) == outcome(before["f"], other), (patch.diff, other)
    assert (before["MEAN"].dtype, before["SCALE"].dtype) == (patched["MEAN"].dtype, patched["SCALE"].dtype)
    assert "f: as before in " in str(patch) and " calls with other kinds of arguments" in str(patch)


def test_a_constant_of_a_module_stays_wide_for_functions_that_did_not_run(folder: Path) -> None:
    code = """
        import numpy as np
        MEAN = np.array([0.48, 0.46, 0.41])
        def f(x):
            return list(map(x.__sub__, [MEAN]))[0]
        def g(x):
            return x - MEAN
        result = f(np.ones(3, np.float32))
    """
    _, after = fixed(folder, code)
    assert "MEAN = np.array([0.48, 0.46, 0.41])\n" in after and "return x - MEAN\n" in after


UNPROVED = {
    "it has side effects outside its arguments": """
        def f(x):
            with open("log", "w") as file:
                file.write("f")
            return x * np.ones(3)
    """,
    "it gives other values at each call": """
        import time
        def g(x):
            return x * np.ones(3), time.perf_counter_ns()
        def f(x):
            return g(x)[0]
    """,
    "it is a generator or a coroutine": """
        def each(x):
            yield x * np.ones(3)
        def f(x):
            return [*each(x)][0]
    """,
    "its arguments cannot be copied (TypeError)": """
        import threading
        def g(x, lock):
            with lock:
                return x * np.ones(3)
        def f(x):
            return g(x, threading.Lock())
    """,
}


@pytest.mark.parametrize("why", one_in(2, [*UNPROVED]))
def test_a_function_that_cannot_be_called_again_is_proved_through_the_program_alone(
    why: str, folder: Path
) -> None:
    code = f"import numpy as np\n{dedent(UNPROVED[why])}result = f(np.ones(3, np.float32))\n"
    patch, _ = fixed(folder, code)
    assert patch.kept_changes and f"proved through this program alone, as {why}" in str(patch)


def test_a_method_is_called_with_a_copy_of_its_object(folder: Path) -> None:
    code = """
        import numpy as np
        class Filter:
            def __init__(self):
                self.weights, self.calls = np.hanning(3), 0
            def __call__(self, x):
                self.calls += 1
                return x * self.weights
        filter = Filter()
        result = filter(np.ones(3, np.float32))
        calls = float(filter.calls)
    """
    patch, after = fixed(folder, code)
    assert "return x * self.weights.astype(np.result_type(np.asarray(x), 0.0))" in after
    assert "Filter.__call__: as before in " in str(patch)


def test_a_function_that_calls_the_patched_one_is_proved_too(folder: Path) -> None:
    code = """
        import numpy as np
        def weighted(a):
            return a * np.linspace(0, 1, 3)
        def f(x):
            return weighted(np.sqrt(x))  # float32 for int16, too
        result = f(np.ones(3, np.float32))
    """
    patch, after = fixed(folder, code)
    assert "np.linspace(0, 1, 3))" not in after or not patch.kept_changes
    (folder / "after.py").write_text(after)
    before, patched = (runpy.run_path(str(folder / file))["f"] for file in ("s.py", "after.py"))
    assert outcome(patched, np.ones(3, np.int16)) == outcome(before, np.ones(3, np.int16))


def test_a_function_that_its_callers_ask_for_a_dtype_gives_it(folder: Path) -> None:
    code = """
        import numpy as np
        def converted(a, dtype=np.float64):
            return np.asarray(a, dtype)
        result = converted(np.ones(3, np.float32)) * np.ones(3, np.float32)
    """
    _, after = fixed(folder, code)
    assert "return np.asarray(a, dtype)\n" in after


def test_what_a_function_writes_into_its_arguments_is_compared(folder: Path) -> None:
    code = """
        import numpy as np
        def f(x, out):
            y = x * np.ones(3)
            out.append(y)
            return 0.0
        found = []
        f(np.ones(3, np.float32), found)
        result = found[0]
    """
    patch, after = fixed(folder, code)
    assert "np.ones(3, dtype=np.result_type(" in after, str(patch)
    old = CallOutcome((), read_value(1.0), ObjectData("list", "", (("0", read_value(np.ones(2))),)))
    new = CallOutcome((), read_value(1.0), ObjectData("list", "", (("0", read_value(np.zeros(2))),)))
    assert find_difference(old, new, AllowedNarrowing()) == "an argument has 0, not 1"


def test_only_narrow_floats_of_a_call_allow_a_narrow_result() -> None:
    def call(x: object) -> CallOutcome:
        return CallOutcome((), read_value(x), ObjectData("list"))

    wide, narrow = call(np.ones(2)), call(np.ones(2, np.float32))
    assert find_difference(wide, narrow, AllowedNarrowing()) == "the result is float32, not float64"
    assert find_difference(wide, narrow, AllowedNarrowing(32, 32)) == ""
    half = call(np.ones(2, np.float16))
    assert find_difference(wide, half, AllowedNarrowing(32, 32)) == "the result is float16, not float64"
    integers = call(np.ones(2, np.int64))
    assert find_difference(wide, integers, AllowedNarrowing(32, 32)) == "the result is int64, not float64"
    infinite = call(np.full(2, np.inf, np.float32))
    assert find_difference(wide, infinite, AllowedNarrowing(32, 32)) == "the result has inf, not 1"
    assert find_difference(call(1.5), call(np.float64(1.5)), AllowedNarrowing()) == ""  # it is a float
    assert "is builtins.float" in find_difference(call(np.float64(1.5)), call(1.5), AllowedNarrowing())
    assert find_difference(wide, call(np.ones(2) + 1e-9), AllowedNarrowing()) != ""
    assert (
        find_difference(call([1]), call((1,)), AllowedNarrowing()) == "the result is another builtins.tuple"
    )


def test_wide_input_does_not_widen_what_a_patch_wrote() -> None:
    code = b"x = ones(3, float32)\ny = x - w\n"
    at = code.index(b"w\n")
    form = WideForm(32)
    marked = form.mark_edits(code, [Edit(at, at + 1, "w.astype(float32)", "w")])
    assert form.widen_text(marked) == b"x = ones(3, float64)\ny = x - w.astype(float32)\n"


def test_the_wide_input_of_a_narrow_goal_widens_narrow_floats_alone() -> None:
    code = b"m = Model().bfloat16()\nx = ones(3, dtype=bfloat16)\np = arange(3, dtype=float32)\ny = x + p\n"
    form, at = WideForm(16), code.index(b"p\n")
    wide = b"m = Model().double()\nx = ones(3, dtype=float64)\np = arange(3, dtype=float32)\ny = x + "
    assert form.can_widen(code) and not form.can_widen(b"x = ones(3, float32)")
    right, wrong = (
        form.widen_text(form.mark_edits(code, [Edit(at, at + 1, text, "p")]))
        for text in ("p.to(x.dtype)", "p.bfloat16()")
    )
    assert right == wide + b"p.to(x.dtype)\n"
    assert wrong == wide + b"p.bfloat16()\n"


def test_a_float64_call_in_the_same_program_stays_float64(folder: Path) -> None:
    code = """
        import numpy as np
        def f(x, y):
            return x - y
        a = f(np.ones(3, np.float32), np.ones(3))
        b = f(np.ones(3), np.ones(3) / 3)
    """
    _, after = fixed(folder, code)
    assert "return x - y\n" in after
    (folder / "after.py").write_text(after)
    assert runpy.run_path(str(folder / "after.py"))["b"].dtype == np.float64


def test_an_error_within_the_noise_of_the_narrow_input_is_no_reason_to_refuse(folder: Path) -> None:
    """An element is nearly zero, so each rounding moves it by many ulp, with or without a patch."""
    code = """
        import numpy as np
        def smooth(x):
            return np.convolve(x - x.mean(), np.hanning(8), mode="same")
        x = np.linspace(1, 2, 8, dtype=np.float32)
        y = smooth(x)
    """
    patch, _ = fixed(folder, code)
    assert patch.difference.ulp_error > 100 and patch.noise is not None, str(patch)
    assert patch.noise.noise_ulps > 100 and not patch.refusal
    assert "its own noise in float32: " in str(patch)


def test_noise_of_one_array_is_no_excuse_for_another() -> None:
    old = {"noisy": KeptValue("float32", (1e-9, 1.0)), "exact": KeptValue("float32", (1.0, 2.0))}
    noisy = {"noisy": KeptValue("float32", (1e-7, 1.0)), "exact": old["exact"]}
    new = {"noisy": KeptValue("float32", (5e-8, 1.0)), "exact": KeptValue("float32", (1.0, 2.001))}
    found = compare_with_noise(old, {**new, "exact": old["exact"]}, noisy, DTYPES["float32"])
    assert not found.excess.ulp_error and found.noise_ulps > 1000
    assert compare_with_noise(old, new, noisy, DTYPES["float32"]).excess.name == "exact"


REBOUND = """
    import numpy as np
    def work(x, k=2):
        "It has a docstring."
        x = np.sqrt(np.abs(x)) + 0.5
        y = x * np.linspace(0, 1, 8)
        return y - np.ones(8)
    class Mix:
        def __init__(self):
            self.kept = np.ones(8)
        def __call__(self, x):
            x = np.tanh(x)
            return self.kept * x
    x = np.linspace(1, 2, 8, dtype=np.float32)
    a = work(x)
    b = Mix()(x)
"""


def test_a_function_that_rebinds_its_argument_tests_the_dtype_first(folder: Path) -> None:
    """np.sqrt of int16 is float32, and np.tanh of int8 is float16: they must be as wide as before."""
    patch, after = fixed(folder, REBOUND)
    assert not patch.unfixed_causes, str(patch)
    assert after.count('    is_narrow = getattr(x, "dtype", None) == np.float32\n') == 2
    assert {each.line for each in patch.kept_changes} == {6, 7, 13}  # lines of the user's file
    old, new = (runpy.run_path(str(write(folder, text))) for text in (dedent(REBOUND), after))
    for dtype in ("float16", "float32", "float64", "int8", "uint16", "int64", "bool", "complex128"):
        x = np.arange(8).astype(dtype)
        pairs = [(each["work"](x), each["Mix"]()(x)) for each in (old, new)]
        for before, now in zip(*pairs, strict=True):
            assert now.dtype == (np.float32 if dtype == "float32" else before.dtype), dtype
            assert np.allclose(before, now, rtol=1e-6 if dtype == "float32" else 0, atol=1e-6)


def write(folder: Path, text: str) -> Path:
    path = folder / "written.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_array_that_wide_results_are_written_into_is_made_narrow(folder: Path) -> None:
    code = """
        import numpy as np
        def resampled(x, n):
            out = np.zeros((len(x), n))
            for i in range(len(x)):
                out[i] = np.interp(np.linspace(0, 1, n), np.linspace(0, 1, x.shape[1]), x[i])
            return out
        y = resampled(np.ones((3, 10), np.float32), 5)
    """
    patch, after = fixed(folder, code)
    assert "np.zeros((len(x), n), dtype=np." in after and "linspace(0, 1, n)," in after
    assert [each.line for each in patch.kept_changes] == [4]


SEVERAL = """
    import numpy as np
    def a(x):
        return x * np.linspace(0, 1, 8)
    def b(x):
        w = np.ones(8)
        return x + w
    def c(x):
        return x * np.float64(2)
    x = np.ones(8, np.float32)
    r = a(x), b(x), c(x)
"""


def test_the_changes_of_several_places_share_one_run(folder: Path) -> None:
    patch, _ = fixed(folder, SEVERAL)
    assert not patch.unfixed_causes and len(patch.kept_changes) == 3
    # traced, plain, the recorded calls, the batch, needless changes of two, and a plain run at the end
    assert patch.run_count <= 7


def test_a_place_that_fails_in_the_shared_run_leaves_the_others(folder: Path) -> None:
    code = SEVERAL + "    print('wide' if r[2].dtype == np.float64 else 'narrow')\n"
    patch, _ = fixed(folder, code)
    assert {each.line for each in patch.kept_changes} == {4, 6}, str(patch)
    assert "it prints other words" in patch.unfixed_causes[0].reason


def test_a_change_of_several_edits_is_undone_where_it_stands() -> None:
    source = SourceFile(b"y = aa * bb + cc\n")
    first = Change("s.py", 1, (Edit(4, 6, "aa.astype(t)", "aa"), Edit(9, 11, "bb.astype(t)", "bb")))
    once = source.edited(first.edits)
    at = once.content.index(b"cc")
    later = Change("s.py", 1, (Edit(at, at + 2, "cc.astype(t)", "cc"), Edit(0, 0, "t = 1\n")))
    undone = once.edited(later.edits).edited(_undo_change(first, [later]) or [])
    assert undone.content == b"t = 1\ny = aa * bb + cc.astype(t)\n"


def test_a_patch_of_a_large_error_is_shown_and_written_only_with_a_tolerance(folder: Path) -> None:
    code = """
        import numpy as np
        x = np.full(3, 1e8, np.float32)
        y = (x + np.full(3, 1.5)) - x
        total = y.sum()
    """
    patch, _ = fixed(folder, code)
    assert patch.kept_changes and "not to be written: its largest error is" in str(patch)
    with pytest.raises(FixError, match=r"above 100 and above its own noise; .*: --tolerance X"):
        patch.write()
    assert not fix_script("s.py", tolerance=2.0).inexactness


def test_the_tests_of_a_project_run_without_and_with_the_changes(folder: Path) -> None:
    (folder / "lib.py").write_text("import numpy as np\ndef f(x):\n    return x * np.ones(3)\n")
    (folder / "s.py").write_text("import numpy as np\nimport lib\nresult = lib.f(np.ones(3, np.float32))\n")
    tests = """
        import numpy as np
        import lib
        def test_that_bears_it():
            assert lib.f(2) is not None
        def test_that_wants_it_wide():
            assert lib.f(np.ones(3, np.float32)).dtype == np.float64
        def test_that_fails_anyway():
            assert False
    """
    (folder / "test_lib.py").write_text(dedent(tests))
    right = fix_script("s.py", packages=["lib"], tests="pytest -q test_lib.py -k bears")
    assert right.kept_changes and not right.refusal
    assert "\n1 test of the project ran without and with the changes\n" in str(right)
    wrong = fix_script("s.py", packages=["lib"], tests="python -m pytest test_lib.py")
    assert wrong.broken_test == "test_lib.py::test_that_wants_it_wide passed before, and now: failed"
    with pytest.raises(FixError, match="nothing is written: a test of the project fails with it"):
        wrong.write()
    with pytest.raises(FixError, match=r"the tests fail without any change: .*; mend --tests"):
        fix_script("s.py", packages=["lib"], tests="pytest test_lib.py -k anyway")
    with pytest.raises(FixError, match="'nothere tests' cannot be started"):
        fix_script("s.py", packages=["lib"], tests="nothere tests")


def test_a_number_of_one_caller_may_be_an_array_of_another(folder: Path) -> None:
    patch, after = fixed(
        folder,
        """
        import numpy as np

        def blend(x, smooth):
            w = np.linspace(0, 1, len(x))
            return x * w + smooth * w

        a = blend(np.ones(8, np.float32), np.full(8, 0.5, np.float32))
        b = blend(np.ones(8, np.float32), 0.5)
        """,
    )
    assert not patch.unfixed_causes
    assert after.count("dtype=") == 1


@pytest.mark.parametrize("content", [b"f(a=1, a=2)", b"def f(x, x): pass", b"return 1", b"(1 = 2"])
def test_what_python_does_not_compile_is_no_source(content: bytes) -> None:
    with pytest.raises(SyntaxError):
        SourceFile(content).check_syntax()


def test_a_sum_of_a_list_of_arrays_has_the_dtype_of_its_first(folder: Path) -> None:
    patch, after = fixed(
        folder,
        """
        import numpy as np

        def total(frames):
            acc = np.zeros(frames[0].shape)
            for frame in frames:
                acc += frame
            return acc

        a = total([np.linspace(1, 2, 8, dtype=np.float32) for _ in range(3)])
        """,
    )
    assert not patch.unfixed_causes
    assert "frames[0].shape, dtype=" in after
