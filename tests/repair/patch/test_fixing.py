"""Patches: each cause that was planted is fixed where it is decided, and nothing else of a source changes."""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from known_upcasts import CASES
from samples import one_in

import typelattice as tl
from typelattice.base.disk.read import FileError
from typelattice.repair.copies.source import FixError, open_source
from typelattice.repair.patch.patch import Patch
from typelattice.repair.patch.patch_search import fix_script, fix_tests
from typelattice.show.cli.main import run as command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(tl.__file__).parents[1]))
    return tmp_path


def fixed(folder: Path, code: str, **options: object) -> tuple[Patch, str]:
    """The patch of a script, and the script with it."""
    path = folder / "s.py"
    path.write_text(dedent(code), encoding="utf-8")
    patch = fix_script("s.py", **options)  # type: ignore[arg-type]
    before, after = patch.contents.get(path, (path.read_bytes(), path.read_bytes()))
    assert path.read_bytes() == before == dedent(code).encode()
    return patch, after.decode()


@pytest.mark.parametrize("to", one_in(2, ["float16", "float32"]))
def test_known_upcasts_are_fixed_at_the_lines_that_their_projects_changed(to: str, folder: Path) -> None:
    """One program calls all cases of a goal, each a module, so that one search patches them all."""
    cases = [case for case in CASES if ("float16" in case.code) == (to == "float16")]
    for case in cases:
        (folder / f"{case.name}.py").write_text(dedent(case.code), encoding="utf-8")
    names = [case.name for case in cases]
    calls = "".join(f"import {name}\n{name}_result = {name}.main()\n" for name in names)
    patch, _ = fixed(folder, calls, to=to, packages=names)
    assert {(each.file.stem, each.line) for each in patch.kept_changes} == {
        (case.name, number)
        for case in cases
        for number, text in enumerate(dedent(case.code).splitlines(), 1)
        if case.before in text
    }
    assert not patch.unfixed_causes


GUARD = 'np.float32 if getattr(x, "dtype", None) == np.float32 else'
PLANTED = {  # a widening, and the first form that keeps it narrow, and is right for integers and numbers
    "w = np.linspace(0, 1, 8)\ny = x * w": "w = np.linspace(0, 1, 8, dtype=np.result_type(x, 0.0))\n"
    "y = x * w",
    "y = x * np.float64(2)": "y = x * np.float64(2).astype(np.result_type(x, 0.0))",
    "y = x * np.float64(k)": "y = x * np.float64(k).astype(np.result_type(x, 0.0))",
    "buf = np.zeros(8)\nbuf[:] = x\ny = buf + 1": f"buf = np.zeros(8, dtype={GUARD} None)\n"
    "buf[:] = x\ny = buf + 1",
    "y = x.astype(float) + 1": "y = x.astype(np.result_type(x, 0.0)) + 1",
    "y = x * WEIGHTS": "y = x * WEIGHTS.astype(np.result_type(x, 0.0))",
    "y = x - [0.5] * 8": "y = x - (np.asarray([0.5] * 8, dtype=np.float32) "
    'if getattr(x, "dtype", None) == np.float32 else [0.5] * 8)',
    "y = x / np.arange(1, 9)": "y = x / np.arange(1, 9).astype(np.result_type(x, 0.0))",
    "y = as_array(x)": f"y = as_array(x, dtype={GUARD} np.float64)",
    "y = np.cov(x)": "y = np.cov(x, dtype=np.result_type(x, 0.0))",
}
BEFORE = """# -*- coding: utf-8 -*-
import numpy as np

WEIGHTS = np.hanning(8)  # ünïcode


def as_array(a, dtype=np.float64):
    return np.asarray(a, dtype)
{}

ONES = np.linspace(1, 2, 8, dtype=np.float32)
"""
WORK = """

def {}(x, k=3):
    z = (x   +  1)  # spaces stay
{}
    return y + z, {{ 'as' : "it was" }}
"""


def works(codes: Iterable[str]) -> str:
    return "".join(WORK.format(f"work_{i}", indented(code)) for i, code in enumerate(codes))


def indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.splitlines())


def test_planted_widenings_are_fixed_where_they_are_decided(folder: Path) -> None:
    calls = "".join(f"r{i} = work_{i}(ONES)\n" for i in range(len(PLANTED)))
    patch, after = fixed(folder, BEFORE.format(works(PLANTED)) + calls)
    assert not patch.unfixed_causes, str(patch)
    assert after.splitlines() == (BEFORE.format(works(PLANTED.values())) + calls).splitlines()


@pytest.mark.whole  # `make widenings` tries 200 others
def test_a_random_program_with_planted_widenings_stays_narrow_and_keeps_wide_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(0)
    steps = ["x = np.sqrt(np.abs(x)) + 0.5", "x = x[::-1] - x.mean()", "x = np.where(x > 0, x, 0.1)"]
    planted = rng.sample([code.replace("y =", "x =") for code in PLANTED if "\n" not in code], 2)
    body = "\n".join([*rng.sample(steps, 2), planted[0], rng.choice(steps), planted[1]])
    work_text = WORK.replace("return y + z", "return x + z").format("work", indented(body))
    name = "random_program"
    (folder / f"{name}.py").write_text(BEFORE.format(work_text), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    work = import_module(name).work
    x = np.linspace(1, 2, 8, dtype=np.float32)
    patch = tl.fix(work, x)
    assert not patch.unfixed_causes and patch.kept_changes, str(patch)
    patch.write()
    del sys.modules[name]
    work = import_module(name).work
    assert [work(x)[0].dtype, work(x.astype(np.float64))[0].dtype] == [np.float32, np.float64]
    assert not tl.fix(work, x).kept_changes


def test_a_program_is_made_to_give_the_same_dtypes_under_another_system(folder: Path) -> None:
    code = """
        import numpy as np
        counts = np.array([200, 100], np.uint8)
        grid = np.linspace(0, 1, 2)
        total = counts.sum() + grid * np.ones(2, np.float32)
    """
    patch, after = fixed(folder, code, like="torch")
    assert not patch.unfixed_causes and patch.is_equal
    assert "np.linspace(0, 1, 2, dtype=np.float64)" in after and "counts.sum(dtype=np.uint64)" in after
    assert patch.progress.endswith("would differ under torch before, 0 after")


def test_steps_that_another_system_decides_otherwise_are_counted_once_each(folder: Path) -> None:
    code = """
    import numpy as np
    x = np.ones(2, np.float32)
    for i in range(5):
        y = x * np.float64(1.5)
        z = y + 1
    """
    patch, _ = fixed(folder, code, like="numpy1")
    assert patch.progress == "2 steps would differ under numpy1 before, 0 after"


MADE_ELSEWHERE = {  # a wide array, and what is patched: the line that meets it, or that makes it
    """
    class Layer:
        def __init__(self):
            self.w = np.ones(3)

        def __call__(self, x):
            return x * self.w

    result = Layer()(ONES)
    """: "return x * self.w",
    """
    WEIGHTS = np.ones(3)

    def scale(x):
        return x * WEIGHTS

    result = scale(ONES)
    """: "return x * WEIGHTS",
    """
    def scale(x):
        w = np.ones(3)
        return x * w

    result = scale(ONES)
    """: "w = np.ones(3)",
    """
    def weights(like):
        return np.ones(like.shape)

    def scale(x):
        return x * weights(x)

    result = scale(ONES)
    """: "return np.ones(like.shape)",
}


@pytest.mark.parametrize("code", one_in(4, [*MADE_ELSEWHERE]))
def test_the_remedy_of_a_trace_names_the_line_that_fix_patches(folder: Path, code: str) -> None:
    whole = "import numpy as np\nONES = np.ones(3, np.float32)\n" + dedent(code)
    patch, _ = fixed(folder, whole)
    (change,) = patch.kept_changes
    assert change.before == MADE_ELSEWHERE[code]
    ran = subprocess.run(
        [sys.executable, "-m", "typelattice", "trace", "s.py"], capture_output=True, text=True, check=True
    )
    remedy = ran.stderr.partition("remedy")[2].partition("what")[0]
    assert f"s.py:{change.line}: " in remedy


def test_a_dtype_is_named_by_a_module_and_not_by_what_is_imported_from_it(folder: Path) -> None:
    code = "from numpy import float32, ones, pi\ny = ones(2, float32) * (pi * ones(2))\n"
    _, after = fixed(folder, code)
    assert "pi.float32" not in after and 'dtype="float32"' in after


def test_a_change_that_breaks_the_program_is_taken_back_with_its_reason(folder: Path) -> None:
    code = """
        import numpy as np
        def compiled(a):
            if a.dtype != np.float64:
                raise TypeError("expected float64")
            return a.sum()
        x = np.ones(3, np.float32)
        total = compiled(x * np.linspace(0, 1, 3))
    """
    patch, after = fixed(folder, code)
    assert not patch.kept_changes and after == dedent(code)
    (left,) = patch.unfixed_causes
    assert left.line == 8 and "TypeError: expected float64" in left.reason


def test_the_dtype_of_a_parameter_is_tried_and_taken_only_if_it_is_a_narrow_float(folder: Path) -> None:
    code = """
        import numpy as np
        def ones(a):
            return np.ones(len(a))
        def ramp(n):
            return np.linspace(0, 1, n)
        def filled(n, m, k, a):
            out = np.zeros((n, m), dtype=np.float64)
            for i in range(k):
                out[i] = a
            return out
        x = np.ones(3, "f4")
        y = x * ones(x)
        z = x - ramp(np.int8(3))
        w = filled(2, 3, 2, x)
    """
    patch, after = fixed(folder, code)
    assert not patch.unfixed_causes, str(patch)
    guard = 'np.float32 if getattr(a, "dtype", None) == np.float32 else'
    changed = {"np.ones(len(a))": f"np.ones(len(a), dtype={guard} None)"}
    changed |= {"dtype=np.float64": f"dtype={guard} np.float64"}  # and not that of a count
    changed |= {"ramp(np.int8(3))": "ramp(np.int8(3)).astype(x.dtype)"}
    expected = dedent(code)
    for before, now in changed.items():
        expected = expected.replace(before, now)
    assert after == expected


def test_a_change_beyond_the_tolerance_is_taken_back(folder: Path) -> None:
    code = "import numpy as np\nx = np.ones(3, np.float32)\ny = x * (np.ones(3) / 3)\n"
    patch, _ = fixed(folder, code, tolerance=1e-12)
    assert not patch.kept_changes and "beyond the tolerance of 1e-12" in patch.unfixed_causes[0].reason


def test_one_line_is_fixed_and_the_steps_whose_values_differ_are_named(folder: Path) -> None:
    code = """
        import numpy as np
        x = np.ones(3, "f4")
        y = x * (np.ones(3) / 3)
        z = y.sum()
        w = x + np.ones(3)
    """
    patch, after = fixed(folder, code, only="4", steps=True)
    assert [each.line for each in patch.kept_changes] == [4] and "w = x + np.ones(3)" in after
    assert {(each.line, each.operation) for each in patch.step_differences or ()} == {
        (4, "divide"),
        (4, "multiply"),
    }
    with pytest.raises(FixError, match=r"nothing is to be fixed at line 5; but at s.py:4, s.py:6"):
        fixed(folder, code, only="5")


def test_what_is_meant_and_what_is_not_the_users_stays(folder: Path) -> None:
    meant = "import numpy as np\nx = np.ones(3, np.float32)\ny = x * np.ones(3)  # typelattice: meant\n"
    lines = str(fixed(folder, meant)[0]).splitlines()
    assert lines[0] == "nothing to do: no float is widened"
    assert lines[1].startswith("looked at 3 operations of numpy in ")


def test_a_wide_array_that_meets_no_narrow_one_is_named(folder: Path) -> None:
    read = "import numpy as np\nframe = np.empty((1, 4))\nframe[0] = 1.0, 2.0, 3.0, 4.0\n"
    lines = str(fixed(folder, read)[0]).splitlines()
    assert lines[0] == "nothing to do: no float is widened"
    assert lines[-1].endswith("s.py:2: np.empty((1, 4)), and widened nothing")
    assert "wide result" not in str(fixed(folder, read.replace("4))", "4), np.float32)"))[0])


def test_a_program_that_gives_other_values_at_each_run_is_not_patched(folder: Path) -> None:
    code = "import numpy as np\nx = np.random.default_rng().normal(size=3)\ny = x * np.ones(3, np.float32)\n"
    with pytest.raises(FixError, match=r"other values at each run \([xy]\): seed it"):
        fixed(folder, code)
    with pytest.raises(FixError, match="the program fails without any change: ValueError: no"):
        fixed(folder, "raise ValueError('no')\n")


@pytest.mark.parametrize(("path", "why"), [("gone.py", "No such file or directory"), (".", "it is a folder")])
def test_a_script_that_cannot_be_read_is_named_with_the_next_step(folder: Path, path: str, why: str) -> None:
    with pytest.raises(FileError, match=f"'{path}': {why}; give the path of a script, or -m and a module$"):
        fix_script(path)


SHARED = """import numpy as np


def damped(a):
    n = a.shape[0]
    return a * np.linspace(0, 1, n)


def scaled(a):
    return a * np.float64(2)
"""


@pytest.fixture
def package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that is installed in a folder of its own."""
    path = folder / "site-packages" / "shared" / "__init__.py"
    path.parent.mkdir(parents=True)
    path.write_text(SHARED)
    monkeypatch.setenv("PYTHONPATH", f"{path.parents[1]}{os.pathsep}{os.environ['PYTHONPATH']}")
    work = folder / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return path


def test_a_named_package_is_patched_though_it_is_installed_and_never_written(package: Path) -> None:
    script = "import numpy as np\nimport shared\ny = shared.damped(np.ones(3, np.float32))\n"
    Path("s.py").write_text(script + "assert y.dtype == np.float32\n")
    patch = fix_script("s.py", packages=["shared"])
    assert (
        "--- a/shared/__init__.py" in patch.diff
        and "linspace(0, 1, n, dtype=np.result_type(a, 0.0))" in patch.diff
    )
    assert not patch.unfixed_causes and patch.assertions_outcome == "they hold" and patch.costs is not None
    with pytest.raises(FixError, match="is installed; apply the diff to the sources of its package"):
        patch.write()
    assert package.read_text() == SHARED


def test_packages_of_a_virtual_environment_beside_the_program_are_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not copied with the folder."""
    site = folder / ".venv" / "site-packages"
    site.mkdir(parents=True)
    (site.parent / "pyvenv.cfg").touch()
    (site / "dependency.py").write_text("GAIN = 2\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{site}{os.pathsep}{os.environ['PYTHONPATH']}")
    patch, after = fixed(
        folder,
        """
        import dependency
        import numpy as np
        y = np.ones(3, np.float32) * np.linspace(0, 1, 3) * dependency.GAIN
        """,
    )
    assert [each.line for each in patch.kept_changes] == [4]
    assert "np.linspace(0, 1, 3, dtype=np.float32)" in after


def test_a_change_that_narrows_wide_input_is_taken_back_though_no_result_shows_it(package: Path) -> None:
    package.write_text("import numpy as np\nW = np.ones(3)\ndef f(a):\n    return np.add(*[a, W])\n")
    script = "import numpy as np\nimport shared\ny = shared.f(np.ones(3, np.float32))\ny = 0.0\n"
    Path("s.py").write_text(script)
    patch = fix_script("s.py", packages=["shared"])
    assert not [each for each in patch.kept_changes if "float32" in each.after], str(patch)


def test_a_test_suite_comes_out_as_before(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take longer than the tests
    tests = """
        import numpy as np
        import shared
        X = np.ones(3, np.float32)
        def test_damped():
            assert shared.damped(X).sum() == 1.5
        def test_that_wants_it_wide():
            assert shared.scaled(X).dtype == np.float64
        def test_that_fails_anyway():
            assert False
    """
    Path("test_shared.py").write_text(dedent(tests))
    patch = fix_tests(["test_shared.py"], ["shared"])
    (kept,) = patch.kept_changes
    assert kept.after == "return a * np.linspace(0, 1, n, dtype=np.result_type(a, 0.0))"
    assert patch.costs is not None and "\ntested: 3 tests come out as before\n" in str(patch)
    assert "test_that_wants_it_wide failed: " in patch.unfixed_causes[0].reason
    with pytest.raises(FixError, match="no test passes without any change"):
        fix_tests(["-k", "anyway", "test_shared.py"], ["shared"])
    with pytest.raises(FixError, match="name the package that may change: --package NAME"):
        fix_tests(["test_shared.py"], [])


WIDENS = "import numpy as np\nx = np.ones(3, np.float32)\ny = x * np.ones(3)\n"


def test_nothing_is_written_where_a_source_changed_or_cannot_be_written(folder: Path) -> None:
    path = folder / "s.py"
    patch, after = fixed(folder, WIDENS)
    path.write_text(WIDENS + "# since\n")
    with pytest.raises(FixError, match=r"s\.py has changed since it was run"):
        patch.write()
    assert path.read_text() == WIDENS + "# since\n"
    path.write_text(WIDENS)
    path.chmod(0o444)  # root is refused, too
    with pytest.raises(FixError, match="is read-only"):
        patch.write()
    path.chmod(0o644)
    patch.write()
    assert path.read_text() == after != WIDENS


def test_a_source_of_another_encoding_is_refused_by_its_name() -> None:
    with pytest.raises(FixError, match=r"old\.py is not UTF-8 \(iso-8859-1\): save it as UTF-8"):
        open_source(Path("old.py"), b"# coding: latin-1\nx = '\xfc'\n")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_the_mark_of_utf_8_stay(ends: str, mark: bytes) -> None:
    source = open_source(Path("s.py"), mark + WIDENS.replace("\n", ends).encode())
    (call,) = source.find_nodes(3, "np.ones(3)")
    assert isinstance(call, ast.Call)
    after = source.apply_edits([source.make_keyword_edit(call, "dtype=x.dtype")])
    expected = WIDENS.replace("np.ones(3)\n", "np.ones(3, dtype=x.dtype)\n")
    assert after == mark + expected.replace("\n", ends).encode()


def test_the_command_prints_a_diff_and_writes_where_it_is_asked_to(folder: Path, new_processes: None) -> None:
    (folder / "s.py").write_text(WIDENS)
    with pytest.raises(SystemExit, match="1"):
        [*command(["fix", "--check", "s.py"])]
    assert (folder / "s.py").read_text() == WIDENS
    said = "\n".join(command(["fix", "--write", "s.py"]))
    assert "+y = x * np.ones(3, dtype=x.dtype)" in said
    assert (
        "equal in this run: all values are equal\n1 change: 48 bytes of wide floats before, 0 bytes after"
        in said
    )
    assert "wrote " in said and "dtype=x.dtype" in (folder / "s.py").read_text()
    looked_at = "looked at 3 operations of numpy in s.py"
    assert [*command(["fix", "--check", "s.py"])] == ["nothing to do: no float is widened", looked_at]


def test_fix_takes_a_function_with_a_name_and_a_file() -> None:
    with pytest.raises(FixError, match="defined by name in a file"):
        tl.fix(lambda x: x, 1)
    with pytest.raises(FixError, match="int8 is no float"):
        tl.fix(indented, "x", to="int8")


def test_a_result_that_is_unpacked_is_not_cast_as_a_whole(folder: Path) -> None:
    (folder / "elsewhere.py").write_text("def solve(v):\n    return v.astype('float64') * 2, 1\n")
    code = """\
        import numpy as np
        import elsewhere
        v = np.ones(3, np.float32)
        x, n = elsewhere.solve(v)
        y = x + v
        """
    patch, after = fixed(folder, code, packages=["s"])
    assert "elsewhere.solve(v)\n" in after
    assert "solve(v).astype" not in str(patch.unfixed_causes)


@pytest.mark.parametrize("only_script", [False, True])
def test_a_module_beside_the_script_is_patched_where_it_widens(only_script: bool, folder: Path) -> None:
    library = folder / "own_library.py"
    library.write_text("import numpy as np\nW = np.linspace(0, 1, 4)\ndef f(x):\n    return x * W\n")
    uses = "import numpy as np\nfrom own_library import f\nresult = f(np.ones(4, np.float32))\n"
    patch, script = fixed(folder, uses, only_script=only_script)
    if only_script:
        assert library not in patch.contents
        return
    _, after = patch.contents[library]
    assert script == uses and b"W = np.linspace(0, 1, 4)\n" in after and b"W.astype(np.result_type(" in after


def test_fix_names_the_package_that_makes_an_object_wide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wide float that no followed line makes is never called fine."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "pictures.py").write_text(
        "import numpy as np\nclass Image:\n    def __init__(self, pixels):\n        self.pixels = pixels\n"
        "class Other(Image):\n    pass\ndef flat(image):\n    return Image(image.pixels * np.float64(2))\n"
        "def load(x):\n    return Image(x * np.float64(2))\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    head = "import numpy as np\nimport pictures\nx = np.ones(3, np.float32)\n"
    for call, wanted in {
        "pictures.flat(pictures.Image(x))": "no change of its source is known; follow it with --package",
        "pictures.load(x)": "holds float64 in .pixels; follow it with --package pictures",
    }.items():
        (tmp_path / "s.py").write_text(f"{head}y = {call}\n")
        text = str(fix_script("s.py"))
        assert wanted in text and "nothing to do" not in text


FILLED = {  # programs whose wide arrays widen nothing, and the line that --to changes
    "x = np.ones((4, 5), np.float32)\nmask = np.ones(x.shape)\nmask[x > 2] = 0": (
        "mask = np.ones(x.shape, dtype=np.float32)"
    ),
    "state = np.zeros(100)\nfor _ in range(3):\n    state += 0.5": "state = np.zeros(100, dtype=np.float32)",
}


@pytest.mark.parametrize("code", FILLED)
def test_a_dtype_that_is_asked_for_is_also_that_of_filled_results(
    code: str, folder: Path
) -> None:
    (folder / "s.py").write_text(f"import numpy as np\n{code}\n", encoding="utf-8")
    assert next(iter(command(["fix", "s.py"]))) == "nothing to do: no float is widened"
    assert f"+{FILLED[code]}" in [*command(["fix", "--to", "float32", "s.py"])]


def test_what_a_call_without_a_rule_returns_is_cast_once(folder: Path) -> None:
    patch, text = fixed(folder, "import numpy as np\nc = np.ones(3, np.float32)\nr = np.polyval(c, 5.0)\n")
    assert text.endswith("r = np.polyval(c, 5.0).astype(c.dtype)\n") and not patch.unfixed_causes
    assert "8 bytes of wide results before, 0 bytes after" in str(patch)


def test_a_scalar_that_a_module_keeps_becomes_a_python_number(folder: Path) -> None:
    code = """
    import numpy as np
    NORM = np.sqrt(2 * np.pi)
    def pdf(x, s):
        return np.exp(-0.5 * (x / s) ** 2) / (NORM * s)
    y = pdf(np.ones(5, np.float32), 1.5)
    """
    patch, text = fixed(folder, code)
    assert "/ (float(NORM) * s)" in text and "pdf: as before in" in str(patch)
