"""Wide floats are followed through objects, tuples and dictionaries, and into buffers that objects keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from typelattice.tracing.array_holders import find_row, rows_of_package
from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.remedies.remedy import find_remedy
from typelattice.tracing.report.report_entries import make_report
from typelattice.tracing.report.text_report import write_report
from typelattice.tracing.run_data.run import Run

PACKAGE = """import numpy as np
class Image:
    def __init__(self, pixels):
        self.pixels = pixels
    @property
    def explosive(self):
        raise SystemExit("a property of the program ran")
    def __mul__(self, other):
        return Image(self.pixels * other)
    def scaled(self, factor):
        return Image(self.pixels * factor)
    def fit(self, x):
        self.coefficients = np.ones(3)
        return self
class Metre(np.ndarray):
    def __mul__(self, other):
        return np.ndarray.__mul__(self, other)
    @property
    def value(self):
        return self.view(np.ndarray)[()]
class Loop:
    def __init__(self, data):
        self.self, self.data, self.many = self, data, [[i] for i in range(100_000)]
def flat(image):
    return Image(image.pixels / np.float64(image.pixels.mean()))
class Base:
    def __call__(self, x):
        return x * np.float64(2)
class Kernel(Base):
    pass
def spectrum(x):
    return np.fft.rfftfreq(len(x)), x.astype(np.complex64)
def both(x):
    return x.astype(np.float64), x.astype(np.float64)
"""


def traced(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (folder / "other_package.py").write_text(PACKAGE)
    (folder / "s.py").write_text(f"import numpy as np\nimport other_package as lib\n{code}\n")
    monkeypatch.chdir(folder)
    ended = run_script("s.py", [], [])
    assert ended.status == 0
    return ended.run


def first_places(findings: Findings) -> list[str]:
    """Return the text of the step that names each cause, and of the one that its wide float comes from."""
    steps = findings.predicted_run.steps
    return [f"{steps[c.step].text} <- {steps[c.origin_steps[0]].text}" for c in findings.causes]


NARROW = "x = np.ones(4, np.float32)\n"
CAUSES = {
    # an object of the class of an operand is computed from the arrays of both
    "image = lib.Image(x)\ny = lib.flat(image)": "lib.flat(image) <- lib.flat(image)",
    "y = lib.Image(x) * np.linspace(0, 1, 4)": (
        "lib.Image(x) * np.linspace(0, 1, 4) <- np.linspace(0, 1, 4)"
    ),
    "w = np.float64(3)\ny = lib.Image(x).scaled(w)": "lib.Image(x).scaled(w) <- np.float64(3)",
    # an array in any other object comes from the call that gave it
    "y = lib.Loop(np.linspace(0, 1, 4)).data * x": (
        "lib.Loop(np.linspace(0, 1, 4)).data * x <- np.linspace(0, 1, 4)"
    ),
    # scalars of followed lines keep their step
    "def f(v):\n    return np.mean(v), np.float64(2)\nm, s = f(x)\ny = x * s": "x * s <- np.float64(2)",
    "def f(v):\n    return {'s': [np.float64(2)]}\ny = x * f(x)['s'][0]": (
        "x * f(x)['s'][0] <- np.float64(2)"
    ),
    # the numbers of a class with arithmetic of its own
    "q = np.array(2.0).view(lib.Metre)\ny = x * q.value": "x * q.value <- np.array(2.0)",
    # a buffer decides, wherever it is
    "class A: pass\na = A()\na.b = np.zeros(4)\na.b[:] = x": "a.b[:] = x <- np.zeros(4)",
    "d = {'k': [np.zeros(4)]}\nd['k'][0][1:] = x[1:]": "d['k'][0][1:] = x[1:] <- np.zeros(4)",
    "m = np.zeros((2, 4))\nm[0], m[1] = x, x": "m[0], m[1] = x, x <- np.zeros((2, 4))",
    "def f(v):\n    out = np.zeros(4)\n    out[:] = np.interp(v, v, v)\n    return out\ny = f(x)": (
        "out[:] = np.interp(v, v, v) <- np.zeros(4)"
    ),
}


@pytest.mark.parametrize("code", CAUSES)
def test_a_wide_float_is_followed_to_where_it_was_made(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first_places(collect_findings(traced(NARROW + code, tmp_path, monkeypatch))) == [CAUSES[code]]


@pytest.mark.parametrize(
    "code",
    ["f, s = lib.spectrum(x)\nprint(abs(s).dtype)", "y = lib.Image(x).fit(x)", "mask = np.ones(4)"],
)
def test_a_wide_float_that_meets_no_narrow_one_is_no_cause(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not collect_findings(traced(NARROW + code, tmp_path, monkeypatch)).causes


def test_both_wide_parts_of_a_result_are_a_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    findings = collect_findings(traced(f"{NARROW}a, b = lib.both(x)", tmp_path, monkeypatch))
    assert first_places(findings) == ["lib.both(x) <- lib.both(x)"]


def test_a_wide_part_beside_a_narrow_one_is_the_origin_where_it_meets_a_narrow_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"{NARROW}f, s = lib.spectrum(x)\ny = f[:3] * x[:3]"
    assert first_places(collect_findings(traced(code, tmp_path, monkeypatch))) == [
        "f[:3] * x[:3] <- lib.spectrum(x)"
    ]


def test_wide_results_that_widened_nothing_are_listed_with_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traced(f"{NARROW}foot = np.ones((50, 50))", tmp_path, monkeypatch)
    says = "wide result: foot is float64 (20.0 kB) from s.py:4: np.ones((50, 50)), and widened nothing"
    assert says in list(write_report(run, (), width=1_000))


def test_a_report_says_how_to_follow_the_package_of_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for call, what in (
        ("lib.flat(lib.Image(x))", "makes float64 in .pixels of float32"),
        ("lib.Kernel()(x)", "makes float64 of float32; no rule of it is known"),  # by its base class
    ):
        run = traced(f"{NARROW}y = {call}", tmp_path, monkeypatch)
        report = " ".join(write_report(run, (), width=1_000))
        assert what in report
        assert "follow it with --package other_package" in report


def test_a_wide_result_is_named_by_the_line_that_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"{NARROW}foot = np.ones((50, 50))\nfoot = foot.astype(np.float64, copy=False)"
    report = " ".join(write_report(traced(code, tmp_path, monkeypatch), (), width=1_000))
    assert "from s.py:4: np.ones((50, 50)), and widened nothing" in report


def test_no_remedy_casts_an_object_or_a_tuple(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for call in ("lib.flat(lib.Image(x))", "lib.both(x)"):
        findings = collect_findings(traced(f"{NARROW}y = {call}", tmp_path, monkeypatch))
        (cause,) = findings.causes
        remedy = find_remedy(findings.predicted_run, cause)
        lines = [text for _, _, text in remedy.list_changed_lines()] if remedy is not None else []
        assert not any(f"{call}.astype" in line for line in lines)


def test_the_users_lines_come_before_those_of_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    (installed / "far").mkdir(parents=True)
    lines = "\n".join(f"    y{i} = x * np.linspace(0, {i}, len(x))" for i in range(1, 4))
    (installed / "far" / "__init__.py").write_text(f"import numpy as np\ndef f(x):\n{lines}\n    return y3\n")
    (tmp_path / "s.py").write_text(
        "import numpy as np\nimport far\nx = np.ones(9, np.float32)\nfar.f(x)\ny = x[:1] * np.float64(2)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(installed))
    run = run_script("s.py", [], ["far"]).run
    (chapter,) = (each for each in make_report(collect_findings(run)).chapters if each.name == "causes")
    assert [entry.package for entry in chapter.entries] == ["", "far", "far", "far"]
    text = list(write_report(run, (), width=1_000))
    (folded,) = (line for line in text if line.startswith("in far "))
    assert folded.startswith("in far 3 places, which took ")
    assert folded.endswith(" more; the first is far/__init__.py:3; --all shows all")
    assert "far/__init__.py:4" not in " ".join(text)
    assert "far/__init__.py:4" in " ".join(write_report(run, (), width=1_000, everything=True))


def test_a_class_may_have_a_row_as_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rowed-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: rowed\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[typelattice.array_holders]\nother_package.Image = pixels:explosive\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    from typelattice.tracing import array_holders

    for cache in (array_holders.rows_of_package, array_holders._read_entry_points):
        cache.cache_clear()
    try:
        row = find_row("other_package", "Image")
        assert row is not None and (row.arrays, row.dtype) == (("pixels",), "explosive")
    finally:
        for cache in (array_holders.rows_of_package, array_holders._read_entry_points):
            cache.cache_clear()


def test_each_file_of_rows_can_be_read() -> None:
    from typelattice.tracing import array_holders

    files = sorted(Path(array_holders.__file__).parent.glob("*.txt"))
    assert files
    for file in files:
        for name, row in rows_of_package(file.stem).items():
            assert name.isidentifier() and all(row.arrays), file
            assert row.cast == "" or row.cast.format(object="x", dtype="y") != row.cast, file
