"""Upcasts that people hunted in public projects: the report names the line that their fix changed.

Each case is the part of a project that widened a float, written anew, before and after its fix.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

from typelattice.tracing.findings import Findings, findings
from typelattice.tracing.report import report
from typelattice.tracing.tracing import Tracing


@dataclass(frozen=True)
class Case:
    """An upcast: where it was hunted, the code, and what the fix wrote instead of what."""

    name: str
    url: str
    code: str
    before: str
    after: str


CASES = [
    Case(
        "image_normalization",
        "https://github.com/mistralai/mistral-common/pull/321",
        """
        import numpy as np

        MEAN = (0.48, 0.46, 0.41)
        SPREAD = (0.27, 0.26, 0.28)

        def normalized(image, mean, spread):
            scaled = image / 255.0
            standard = (scaled - mean) / spread
            return standard.transpose(2, 0, 1)

        def main():
            return normalized(np.ones((32, 32, 3), np.float32), MEAN, SPREAD)
        """,
        "(scaled - mean) / spread",
        "(scaled - np.asarray(mean, scaled.dtype)) / np.asarray(spread, scaled.dtype)",
    ),
    Case(
        "ensemble_of_fields",
        "https://github.com/equinor/ert/issues/13141",
        """
        import numpy as np

        def stacked(groups):
            return np.vstack(list(groups.values()))

        def main():
            scalars = np.random.default_rng(0).normal(size=(2, 20))
            field = np.ones((400, 20), np.float32)
            everything = stacked({"scalars": scalars, "field": field})
            return everything - everything.mean(axis=0)
        """,
        "np.vstack(list(groups.values()))",
        "np.vstack([group.astype(np.float32) for group in groups.values()])",
    ),
    Case(
        "saved_movie",
        "https://github.com/miniscope/minian/pull/344",
        """
        import numpy as np

        def cleaned(movie):
            movie = movie - movie.min(axis=0)
            checked = movie.astype(float)
            return checked / (checked.max() + 1)

        def main():
            return cleaned(np.ones((10, 32, 32), np.float32))
        """,
        "movie.astype(float)",
        "movie.astype(np.float32)",
    ),
    Case(
        "residual_mix",
        "https://github.com/trevin-creator/autoresearch-mlx/pull/29",
        """
        import numpy as np

        class Network:
            def __init__(self, layers):
                self.kept = np.ones((layers,), dtype=np.float32)
                self.mixed = np.full((layers,), 0.5, dtype=np.float32)

            def __call__(self, x):
                x = first = np.tanh(x)
                for i in range(len(self.kept)):
                    x = self.kept[i] * x + self.mixed[i] * first
                    x = np.tanh(x)
                return x

        def main():
            return Network(2)(np.ones((16, 16), np.float16))
        """,
        "self.kept[i] * x + self.mixed[i] * first",
        "self.kept[i].astype(x.dtype) * x + self.mixed[i].astype(x.dtype) * first",
    ),
]

LIVE = [
    Case(
        "velocity",
        "https://github.com/GalacticDynamics/coordinax/pull/755",
        """
        import jax
        import jax.numpy as jnp

        def boosted(x, beta):
            speed = jnp.asarray(beta, dtype=float)
            return x * speed

        def main():
            with jax.enable_x64(True):
                return boosted(jnp.ones(100, jnp.float32), jnp.ones(3, jnp.float32)[0])
        """,
        "jnp.asarray(beta, dtype=float)",
        "jnp.asarray(beta, dtype=jnp.result_type(beta, float))",
    ),
]


@contextmanager
def traced(folder: Path, name: str, code: str) -> Iterator[Findings]:
    """What is found in a run of `main` of a module."""
    (folder / f"{name}.py").write_text(dedent(code), encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        with Tracing((name,)) as tracing:
            import_module(name).main()
        yield findings(tracing.run())
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)


def check(case: Case, folder: Path) -> None:
    lines = dedent(case.code).splitlines()
    (changed,) = (number for number, line in enumerate(lines, 1) if case.before in line)
    with traced(folder, f"{case.name}_before", case.code) as found:
        named = [found.ran.steps[cause.at] for cause in found.causes]
        told = "\n".join(report(found.ran.run, ()))
    places = [step.place and step.place.line for step in named]
    assert {*places} == {changed}, told
    fixed = case.code.replace(case.before, case.after)
    with traced(folder, f"{case.name}_after", fixed) as found:
        later = [found.ran.steps[cause.at].text for cause in found.causes]
    assert not later


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_line_that_the_fix_changed_is_named_and_nothing_after_it(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.live
@pytest.mark.parametrize("case", LIVE, ids=lambda case: case.name)
def test_the_line_that_a_fix_for_jax_changed_is_named(case: Case, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    check(case, tmp_path)
