"""The search for the narrowest dtypes: its points, its inputs, its refusals, and what it leaves unchanged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from forked import fork_searches

import typelattice as tl
from typelattice.base.disk.journal import JournalError
from typelattice.repair.tune.front_drawing import draw_front
from typelattice.repair.tune.tune_options import TuneError, TuneOptions
from typelattice.repair.tune.tune_program import make_script_tuner
from typelattice.repair.tune.tuning_result import Tuning
from typelattice.show.cli.main import main

Tune = Callable[..., Tuning]

MEAN = """
import sys
import numpy as np
rng = np.random.default_rng(0)
scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
x = rng.random(400) * scale
weights = np.linspace(0.0, 1.0, 400)
mean = (x * weights).sum() / weights.sum()
"""
FUNCTION = """
import numpy as np

def scaled(x, gain):
    \"\"\"Return the array times a gain.\"\"\"
    offset = np.ones(3)
    return x * gain + offset

def first(result):
    return float(result[0])
"""


@pytest.fixture(scope="module")
def tuned_mean(tmp_path_factory: pytest.TempPathFactory) -> Callable[[float], Tuning]:
    """Return a function that tunes the script of a mean, once for each tolerance, in `script.py`."""

    @cache
    def tune(tolerance: float) -> Tuning:
        folder = tmp_path_factory.mktemp("mean")
        (folder / "script.py").write_text(MEAN, encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            fork_searches(patch)
            patch.chdir(folder)
            return make_script_tuner("script.py", (), TuneOptions(tolerance), "").run()

    return tune


def test_a_point_within_the_tolerance_is_narrower(tuned_mean: Callable[[float], Tuning]) -> None:
    """Both arrays become float16 at 1e-2, and float32 at 1e-6."""
    for tolerance, dtype in ((1e-2, "float16"), (1e-6, "float32")):
        tuning = tuned_mean(tolerance)
        assert tuning.narrowed is not None and tuning.saves
        assert {each for _, each in tuning.narrowed.choices()} == {dtype}
        own = next(p for p in tuning.points if "as it stands" in p.labels)
        assert tuning.narrowed.error <= tolerance
        assert tuning.narrowed.float_bytes < own.float_bytes  # type: ignore[operator]


def test_nothing_changes_unless_a_point_is_written(tune_script: Tune) -> None:
    """The script stays as it is until a point is written, and then has its content."""
    tuning = tune_script(MEAN, 1e-2)
    script = Path("script.py")
    assert script.read_text(encoding="utf-8") == MEAN
    assert {each.name for each in Path().iterdir()} == {"script.py"}
    assert tuning.narrowed is not None
    tuning.write(tuning.narrowed.number)
    assert "float16" in script.read_text(encoding="utf-8")
    with pytest.raises(TuneError, match="has changed since it was run"):
        tuning.write(tuning.narrowed.number)


def test_a_point_that_misses_the_tolerance_is_not_written(tuned_mean: Callable[[float], Tuning]) -> None:
    """Only what was measured within the tolerance may be written."""
    tuning = tuned_mean(1e-6)
    for point in tuning.points:
        if point.error > 1e-6:
            with pytest.raises(TuneError, match="misses the tolerance"):
                tuning.write(point.number)
            break
    else:
        pytest.fail("no point misses the tolerance")
    with pytest.raises(TuneError, match="there is no point 99"):
        tuning.write(99)


def test_each_input_counts(tune_script: Tune, tuned_mean: Callable[[float], Tuning]) -> None:
    """A scale that overflows float16 forbids it, although the script's own input bears it."""
    inputs = "\ndef inputs():\n    yield [1.0]\n    yield [1e6]\n"
    alone = tuned_mean(1e-2)
    both = tune_script(MEAN + inputs, 1e-2, inputs="inputs")
    assert alone.input_count == 1 and both.input_count == 2
    assert alone.narrowed is not None and both.narrowed is not None
    assert {each for _, each in alone.narrowed.choices()} == {"float16"}
    assert "float32" in {each for _, each in both.narrowed.choices()}


def test_seeds_are_moved(tune_script: Tune) -> None:
    """Other seeds give other results, and a script without seeds is told so."""
    assert not tune_script(MEAN, 1e-2, seeds=2).notes
    (note,) = tune_script("import numpy as np\nx = np.ones(3)\ny = x + x\n", 1e-2, seeds=2).notes
    assert "the same results" in note


def test_a_metric_stands_for_the_results(tune_script: Tune) -> None:
    """The parameters of a metric are names of the script."""
    text = MEAN + "\ndef close(mean):\n    return abs(mean)\n"
    tuning = tune_script(text, 1e-2, metric="close")
    assert tuning.results == "the metric close" and tuning.saves
    with pytest.raises(TuneError, match="takes other, to which the program binds nothing"):
        tune_script(MEAN + "\ndef close(other):\n    return other\n", 1e-2, metric="close")


def test_a_failed_assertion_rejects_a_configuration(tune_script: Tune) -> None:
    """What the script asserts on is a result, too."""
    tuning = tune_script(MEAN + "\nassert x.dtype == np.float64\n", 1e-2)
    assert tuning.narrowed is not None
    assert "rng.random" not in "".join(p.text for p, _ in tuning.narrowed.choices())


# Each sum of a narrow array and its own copy saves little beside `big`, which must stay wide.
SMALL_SAVING = """
import numpy as np
big = 1e4 + np.random.default_rng(0).normal(size=40000)
small = np.linspace(0.0, 1.0, 50)
spread = (big * big).mean() - big.mean() ** 2
total = small.sum()
"""


def test_small_savings_are_made(tune_script: Tune) -> None:
    """An array of 400 bytes becomes narrow, although that is a thousandth of all bytes."""
    tuning = tune_script(SMALL_SAVING, 1e-3)
    assert tuning.narrowed is not None
    assert {place.line for place, _ in tuning.narrowed.choices()} == {4}


def test_no_scalar_alone_is_changed(tune_script: Tune) -> None:
    """The array is as large with its cast, and its scalars are not worth a change."""
    text = "import numpy as np\nx = np.random.default_rng(0).random(4000)\ny = np.exp(x).sum()\n"
    tuning = tune_script(text, 1e-6, dtypes=("float32",))
    assert tuning.narrowed is not None and "as it stands" in tuning.narrowed.labels


def test_parameters_of_a_function_read_no_result(tune_script: Tune) -> None:
    """A name that only the parameter of a function repeats is a result."""
    text = MEAN + "\ndef quality(mean):\n    return abs(mean)\n"
    assert tune_script(text, 1e-2).results == "the values of mean"


def test_a_tuple_of_arrays_is_no_place(tune_script: Tune) -> None:
    """Nothing can be written that casts a tuple, so the arrays that went in are the places."""
    text = "import numpy as np\nx = np.linspace(0, 1, 400)\na, b = np.split(x * x, 2)\ny = a + b\n"
    tuning = tune_script(text, 1e-2)
    assert tuning.narrowed is not None and tuning.saves
    assert "np.split" not in {place.text for place, _ in tuning.narrowed.choices()}


@pytest.mark.parametrize("measure", ["element", "ulp"])
def test_other_measures(tune_script: Tune, measure: str) -> None:
    """The error may be that of the worst element, or in units in the last place."""
    tolerance = 1e-2 if measure == "element" else 1e14
    tuning = tune_script(MEAN, tolerance, measure=measure)
    assert tuning.saves and tuning.measure == measure
    assert not tune_script(MEAN, 1e-14 if measure == "element" else 1.0, measure=measure).saves


def test_noise_above_the_tolerance_is_refused(tune_script: Tune) -> None:
    """A program that differs from run to run is refused with the figure."""
    with pytest.raises(
        TuneError, match=r"two runs in float64 miss the tolerance 0.01 themselves: they differ by"
    ):
        tune_script("import numpy as np\nx = np.random.default_rng().random(99)\ny = x + x\n", 1e-2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1.0\n", "no float array of NumPy"),
        ("import numpy as np\nx = np.ones(3)\nraise ValueError('no')\n", "without any change: ValueError"),
        ("import numpy as np\nnp.ones(3)\n", "prints, saves and binds no float number"),
    ],
)  # fmt: skip
def test_programs_that_cannot_be_tuned(tune_script: Tune, text: str, message: str) -> None:
    """The reason is said, and what to do."""
    with pytest.raises(TuneError, match=message):
        tune_script(text, 1e-2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtypes": ("float31",)}, "no array is tuned to 'float31'"),
        ({"dtypes": ()}, "no dtype is given"),
        ({"measure": "nrom"}, "there is no measure 'nrom'.*norm"),
        ({"metric": "a b"}, "no name of a function"),
        ({"metric": "a", "results": ("x",)}, "leave out --results"),
        ({"seeds": 0}, "not between 1 and 100"),
        ({"jobs": 2, "scheduler": "tcp://127.0.0.1:1"}, "leave out --jobs"),
        ({"results": ("nothing",)}, "binds no number to nothing"),
    ],
)
def test_bad_options(tune_script: Tune, options: dict[str, object], message: str) -> None:
    """Each bad option is refused with what to do."""
    with pytest.raises(TuneError, match=message):
        tune_script(MEAN, 1e-2, **options)


def test_a_tolerance_must_be_above_zero(tune_script: Tune) -> None:
    """Nothing runs for a tolerance of zero, NaN or infinity."""
    for tolerance in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(TuneError, match="not a number above 0"):
            tune_script("raise SystemExit('it ran')", tolerance)


def test_a_journal_is_resumed(tune_script: Tune) -> None:
    """What a journal has is not run again; the journal of another tolerance is refused."""
    first = tune_script(MEAN, 1e-2, journal="trials.jsonl")
    second = tune_script(MEAN, 1e-2, journal="trials.jsonl")
    assert second.run_count < first.run_count
    assert second.narrowed is not None and first.narrowed is not None
    assert second.diff(second.narrowed.number) == first.diff(first.narrowed.number)
    assert "were not run again" in second.notes[0]
    with pytest.raises(JournalError, match=r"its tolerance was 0\.01"):
        tune_script(MEAN, 1e-3, journal="trials.jsonl")


def test_jobs_find_the_same(tune_script: Tune, tuned_mean: Callable[[float], Tuning]) -> None:
    """Two processes accept what one accepts."""
    one, two = tuned_mean(1e-4), tune_script(MEAN, 1e-4, jobs=2)
    assert one.narrowed is not None and two.narrowed is not None
    patches = [tuning.diff(tuning.narrowed.number).splitlines() for tuning in (one, two)]
    assert patches[0][2:] == patches[1][2:] != []  # the first lines name the file, seen from this folder


def test_the_data_and_the_picture_have_every_point(tuned_mean: Callable[[float], Tuning]) -> None:
    """JSON and SVG name each point by its number."""
    tuning = tuned_mean(1e-4)
    data = json.loads(json.dumps(tuning.data()))
    assert [each["number"] for each in data["points"]] == [*range(1, len(tuning.points) + 1)]
    picture = draw_front(tuning)
    assert picture.count("<circle") == len([p for p in tuning.points if p.float_bytes])


def test_a_function_is_tuned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parameters of a function are places, and further inputs are tuples of arguments."""
    (tmp_path / "scaling_of_tune.py").write_text(FUNCTION, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import scaling_of_tune  # type: ignore[import-not-found]

    x = np.array([0.1, 0.2, 0.3])
    tuning = tl.tune(scaling_of_tune.scaled, x, 2.0, tolerance=1e-2, inputs=[(x * 3, 1.0)])
    assert tuning.input_count == 2 and tuning.narrowed is not None
    patch = tuning.diff(tuning.narrowed.number)
    assert "x = x.astype(np.float16)" in patch and "np.ones(3, dtype=np.float16)" in patch
    assert (
        tl.tune(scaling_of_tune.scaled, x, 2.0, tolerance=1e-2, metric="first").results == "the metric first"
    )
    with pytest.raises(TuneError, match="defined by name in a file"):
        tl.tune(lambda x: x, x, tolerance=1e-2)


FIGURE = """import numpy as np
class Figure:
    __slots__ = ("draw",)
def drawn(x):
    y = np.ones(3) * x
    figure = Figure()
    figure.draw = lambda: y
    return figure
def filled(x):
    x *= np.full(3, 0.1)
    return 0
"""


def test_an_object_without_arrays_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The arguments of the function have numbers, so it would seem to have no error in any dtype."""
    (tmp_path / "figure_of_tune.py").write_text(FIGURE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import figure_of_tune  # type: ignore[import-not-found]

    x = np.array([0.1, 0.2, 0.3])
    with pytest.raises(TuneError, match="returns Figure, of which no number can be read; return its arrays"):
        tl.tune(figure_of_tune.drawn, x, tolerance=1e-2)
    assert tl.tune(figure_of_tune.filled, x, tolerance=1e-2).points


def run_command(*words: str, folder: Path) -> subprocess.Popen[str]:
    """Start the command line."""
    source = str(Path(tl.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-m", "typelattice", "tune", *words], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": source},
    )  # fmt: skip


def test_the_command_writes_a_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status is 0, the front is printed, and the patch of a point is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(MEAN, encoding="utf-8")
    assert main(["tune", "--tolerance", "1e-2", "--format", "json", "script.py"]) == 0
    number = json.loads(capsys.readouterr().out)["narrowed"]
    words = ("--tolerance", "1e-2", "--svg", "front.svg", "--write", str(number), "script.py")
    assert main(["tune", *words]) == 0
    assert "wrote " in capsys.readouterr().out
    assert "float16" in (tmp_path / "script.py").read_text(encoding="utf-8")
    assert (tmp_path / "front.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    "words",
    [
        ("script.py",), ("--tolerance", "x", "script.py"), ("--tolerance", "1e-2"),
        ("--tolerance", "1e-2", "--inputs", "a b", "script.py"), ("--tolerance", "1e-2", "nothing.py"),
        ("--tolerance", "1e-2", "--dtypes", "int8", "script.py"),
    ],
)  # fmt: skip
def test_bad_commands_run_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The status is 2, and the script has not run."""
    (tmp_path / "script.py").write_text("open('ran', 'w')\n", encoding="utf-8")
    with run_command(*words, folder=tmp_path) as process:
        _, errors = process.communicate()
    assert process.returncode == 2 and "Traceback" not in errors
    assert not (tmp_path / "ran").exists()


def test_an_interrupt_shows_the_best_so_far(tmp_path: Path) -> None:
    """Ctrl-C ends the search, prints what was found, and leaves no folder behind."""
    slow = MEAN + "\nimport time\ntime.sleep(0.5)\n"
    (tmp_path / "script.py").write_text(slow, encoding="utf-8")
    with run_command("--tolerance", "1e-6", "script.py", "--resume", "j", folder=tmp_path) as process:
        process.communicate()
    assert process.returncode == 2  # our options stand before the script
    with run_command("--tolerance", "1e-6", "--resume", "journal", "script.py", folder=tmp_path) as process:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            journal = tmp_path / "journal"
            if journal.exists() and journal.read_bytes().count(b"\n") >= 3:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate()
    assert "interrupted: this is the best so far" in printed, errors
    assert "not measured" in printed
    assert process.returncode in (130, -signal.SIGINT)
    assert (tmp_path / "script.py").read_text(encoding="utf-8") == slow
