"""What the designer says of JEP 9407: which order its criteria single out, and what others would cost."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from small_orders import DESIGNS, KEPT, split

import typelattice as tl
from typelattice.study.designer import Completion, Design, design
from typelattice.study.designer.pareto_front import place_on_front, walk_front


def the_one(found: object) -> str:
    assert isinstance(found, Design)
    assert found.is_proven
    assert found.is_complete
    assert len(found) == 1
    first: Completion = found[0]
    return first.arrows


def test_jax_is_singled_out_by_deference() -> None:
    assert the_one(design("jep9407-0")) == "u64 -> f*; i64 -> f*"
    assert the_one(design(DESIGNS / "jep9407-bf16.toml")) == "u64 -> f*; i64 -> f*"
    rival = design("jep9407-0", costs=["kind", "width64", "width", "precision", "relations"])
    assert the_one(rival) == "u64 -> f64; i64 -> f*"
    jax = design("jep9407-0")[0].counts
    assert all(rival[0].counts[word] == jax[word] for word in ("kind", "width64", "width", "precision"))
    assert rival[0].counts["magnitude"] < jax["magnitude"]


def test_the_trial_with_free_scalars() -> None:
    free = tl.system("jep9407-0").replace(defaults={})
    assert the_one(design(free, costs=["kind", "width", "relations"])) == "u64 -> f64; i32 -> f16; i64 -> f32"


def test_options_are_optima_of_their_criteria() -> None:
    costed = tl.system("jep9407-0")
    free = costed.replace(defaults={})
    precise, unnarrow = [*KEPT, "kind", "precision"], [*KEPT, "kind", "narrow"]
    costs = ["lattice", "width", "relations"]
    steps = "i8 -> f16; i16 -> f32; i32 -> f64"
    assert [c.arrows for c in design(free, precise, costs)] == [steps, steps.replace("i8", "u8")]
    assert the_one(design(free, unnarrow, costs)) == "i16 -> f16; i32 -> f32; i64 -> f64"
    for system in (costed, free):
        assert (
            the_one(design(system, [*KEPT, "kind"], ["lattice", "width", "precision", "relations"]))
            == "i64 -> f*"
        )
    assert all("i8 -> f16" not in c.arrows for c in design(costed, precise, costs))
    assert the_one(design(costed, unnarrow, costs)) == "i16 -> f*; i64 -> f64"


def test_bfloat16_splits_no_option() -> None:
    for n in "0123":
        assert not split(tl.system(f"jep9407-{n}").replace(order="...\nf* -> bf16 -> f32").order)


def test_front_has_no_point_better_than_another() -> None:
    points = [(c.counts["precision"], c.counts["width"]) for c in walk_front("jep9407-0")]
    assert len(points) > 1
    assert points == sorted(points, reverse=True)
    assert [w for _, w in points] == sorted({w for _, w in points})
    assert place_on_front("jax", "jep9407-0").is_on_front
    assert (better := place_on_front("keras", "jep9407-0").dominating_completion)
    assert better.counts["precision"] < place_on_front("keras", "jep9407-0").counts["precision"]
    numpy = place_on_front("numpy", "jep9407-0")
    assert not numpy.is_on_front
    assert numpy.dominating_completion is None


@pytest.mark.whole
def test_the_page_is_what_the_solver_says() -> None:
    tool = Path(__file__).parents[3] / "tools" / "design_page.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
