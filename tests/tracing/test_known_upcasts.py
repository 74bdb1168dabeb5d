"""Upcasts that people hunted in public projects: the report names the line that their fix changed.

Each case is the part of a project that widened a float, written anew, before and after its fix.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest
from known_upcasts import CASES, Case

from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.record.trace_imports import Tracing
from typelattice.tracing.report.text_report import write_report

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
        yield collect_findings(tracing.run())
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)


def check(case: Case, folder: Path) -> None:
    lines = dedent(case.code).splitlines()
    (changed,) = (number for number, line in enumerate(lines, 1) if case.before in line)
    with traced(folder, f"{case.name}_before", case.code) as found:
        named = [found.predicted_run.steps[cause.step] for cause in found.causes]
        told = "\n".join(write_report(found.predicted_run.run, ()))
    places = [step.location and step.location.line for step in named]
    assert {*places} == {changed}, told
    fixed = case.code.replace(case.before, case.after)
    with traced(folder, f"{case.name}_after", fixed) as found:
        later = [found.predicted_run.steps[cause.step].text for cause in found.causes]
    assert not later


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_line_that_the_fix_changed_is_named_and_nothing_after_it(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.live
@pytest.mark.parametrize("case", LIVE, ids=lambda case: case.name)
def test_the_line_that_a_fix_for_jax_changed_is_named(case: Case, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    check(case, tmp_path)
