"""Counterexamples are true, the smallest there are, and code that the real libraries run."""
from __future__ import annotations

import subprocess
import sys
from itertools import product

import pytest
from kept import kept
from samples import one_in

import typelattice as tl
from typelattice.core.evidence.recording_files import recording_names
from typelattice.core.explanations.code_templates import find_form
from typelattice.core.explanations.expression_terms import list_leaves, result_of_term, term_text, write_code
from typelattice.core.registry.libraries import libraries
from typelattice.study.laws.laws import Counterexample

np = pytest.importorskip("numpy")
RECORDED = [n for n in tl.systems() if n in recording_names() and n != "numpy1"]
CODED = [n for n in RECORDED if find_form(n, tl.system(n).library).setup]
# Those whose library is in the environment of the live tests.
RUNNABLE = [n for n in CODED if "live" in libraries()[tl.system(n).library.partition(" ")[0]].packages]


def counterexample(system: str, law: str, tier: str = "array") -> Counterexample:
    found = tl.laws(system, tier)[law].counterexample
    assert found
    return found


def test_numpy_is_not_associative_as_jep_9407_shows() -> None:
    """int8, uint8, float16: float32 or float16. The smallest counterexample is of the same three."""
    shown = counterexample("numpy", "associative")
    assert {str(o) for o in shown.operands} == {"int8", "uint8", "float16"}
    assert str(shown) == "(uint8 + int8) + float16 is float32, uint8 + (int8 + float16) is float16"
    a, b, c = np.int8(1), np.uint8(1), np.float16(1)
    numpy = tl.system("numpy")
    x, y, z = map(tl.operand, (a, b, c))
    found = [
        o and str(o.dtype) for o in (result_of_term(numpy, ((x, y), z)), result_of_term(numpy, (x, (y, z))))
    ]
    assert found == [str(((a + b) + c).dtype), str((a + (b + c)).dtype)] == ["float32", "float16"]


def test_counterexample_is_code_of_the_library() -> None:
    found = counterexample("numpy", "associative")
    assert found.setup == "import numpy as np"
    scope: dict[str, object] = {}
    exec(found.setup, scope)
    assert [str(eval(code, scope).dtype) for code in found.expressions] == [str(d) for d, _ in found.answers]


@pytest.mark.parametrize("name", one_in(3, tl.systems()))
def test_a_counterexample_is_what_the_system_answers(name: str) -> None:
    system = tl.system(name)
    for law, v in tl.laws(name).items():
        assert (v.holds is not False) == (v.failing_count == 0) == (v.counterexample is None), law
        if v.counterexample and law not in ("unique bounds", "distributive"):
            if v.counterexample.note.startswith("as recorded"):
                recording = kept(name)
                told = [
                    recording.require_answer("result_type", *map(str, term))
                    for term in v.counterexample.terms
                ]
                said = [str(d) if d else "refused" for d, _ in v.counterexample.answers]
                assert said == ["refused" if answer.startswith("!") else answer for answer in told]
                continue
            found = [result_of_term(system, t) for t in v.counterexample.terms]
            assert [(o.dtype, o.weak) if o else (None, False) for o in found] == [
                *v.counterexample.answers
            ], law
            assert v.counterexample.answers[0] != v.counterexample.answers[1], law


@pytest.mark.parametrize("name", ["numpy", "tinygrad", "mlx", "keras-jax"])
def test_no_counterexample_of_associativity_is_smaller(name: str) -> None:
    system, found = tl.system(name), tl.laws(name)
    size = {o: (o.dtype.bits or 64, i) for i, o in enumerate(found.operands) if o.dtype}

    def fails(*x: tl.Operand) -> bool:
        return result_of_term(system, ((x[0], x[1]), x[2])) != result_of_term(system, (x[0], (x[1], x[2])))

    shown = found["associative"].counterexample
    assert shown
    three = [*list_leaves(shown.terms[0])]
    bits = sum(size[o][0] for o in three)
    smaller = (x for x in product(found.operands, repeat=3) if sum(size[o][0] for o in x) < bits)
    assert fails(*three)
    assert not any(fails(*x) for x in smaller)


def test_refusal_equals_refusal_but_no_answer() -> None:
    """Nothing mixes in Option 0, on both sides alike; torch refuses one side only."""
    assert tl.laws("jep9407-0")["associative"]
    left, right = counterexample("torch", "associative").answers
    assert left[0] is None
    assert right[0] is not None


def test_weak_scalars_make_numpy_depend_on_brackets() -> None:
    """bool + 1 becomes int64, and stays; 1 + uint8 is uint8."""
    shown = counterexample("numpy", "associative", "all")
    assert str(shown) == "(bool + int) + uint8 is int64, bool + (int + uint8) is uint8"
    assert [str(eval(code, {"np": np}).dtype) for code in shown.expressions] == ["int64", "uint8"]


def test_python_adds_its_own_scalars_beside_arrays() -> None:
    a, i, f = (tl.operand(x) for x in ("int8", "int", "float"))
    numpy = tl.system("numpy")
    assert str(result_of_term(numpy, (a, (i, i)), python_adds_scalars=True)) == "int8"
    assert write_code(numpy, ((a, (i, f)),), python_adds_scalars=True)[1] == (
        "np.ones(1, 'int8') + (1 + 1.0)",
    )
    assert term_text((a, (i, f))) == "int8 + (int + float)"


def test_what_is_no_librarys_is_written_in_names() -> None:
    option = tl.system("jep9407-0")
    assert write_code(option, ((tl.operand("int8"), tl.operand("uint8")),)) == ("", ("int8 + uint8",))


RUN = """
import os, sys, warnings
warnings.filterwarnings("ignore"); os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import typelattice as tl
def answer(x):
    own = x if hasattr(x, "name") else getattr(x, "type", x)
    d = x.types[0] if hasattr(x, "types") else getattr(x, "dtype", own)
    name = getattr(d, "name", None) or str(d)
    ours = {"double": "float64", "float": "float32", "halffloat": "float16", "bool_": "bool"}
    return ours.get(name, name.split(".")[-1])
found = [each for tier in ("array", "all") for each in tl.laws(sys.argv[1], tier).items()]
for law, v in found:
    if v.counterexample and v.counterexample.setup:
        c, scope = v.counterexample, {}
        exec(c.setup, scope)
        for code, term, (dtype, weak) in zip(c.expressions, c.terms, c.answers):
            if isinstance(term, tuple) and any(o.tier != "scalar" for o in term if not isinstance(o, tuple)):
                try:
                    said = answer(eval(code, scope))
                except Exception:
                    said = "refused"
                assert said == str(dtype or "refused"), (law, code, said, dtype)
"""


@pytest.mark.live
@pytest.mark.parametrize("name", one_in(5, RUNNABLE))
def test_code_runs_in_the_library(name: str) -> None:
    backends = [b for b in ("tensorflow", "torch", "numpy") if name.startswith(f"keras-{b}")]
    env = {"PYTHONPATH": "src", "KERAS_BACKEND": [*backends, "jax"][0]}
    run = subprocess.run([sys.executable, "-c", RUN, name], env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-600:]
