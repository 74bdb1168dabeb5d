"""Runs of real code become programs, and the code behaves as it does untraced."""

from __future__ import annotations

import importlib
import json
import marshal
import os
import py_compile
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import traceback
import zipfile
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typelattice as tl
from typelattice.programs.step import Call, Input, Number, Opaque
from typelattice.tracing.importing import Compiler
from typelattice.tracing.links import Links, Part
from typelattice.tracing.recorder import MOST_AT_ONE, Recorder
from typelattice.tracing.run import Run
from typelattice.tracing.script import run_script
from typelattice.tracing.spot import Spot
from typelattice.tracing.tracing import Tracing


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which modules whose names begin with `traced_` are imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("traced_")]:
        del sys.modules[name]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def followed(folder: Path, text: str, call: str = "run()") -> tuple[Any, Run]:
    """What a module's function gives, and the run."""
    write(folder, "traced_one", text)
    sys.modules.pop("traced_one", None)
    with Tracing(("traced_one",)) as tracing:
        import traced_one  # type: ignore[import-not-found]

        result = eval(call, vars(traced_one))
    return result, tracing.run()


def texts(run: Run) -> dict[str, tuple[str | None, str, int]]:
    """The operations that were seen, by their text: name, observed dtype, count."""
    return {
        step.text: (step.op, str(seen.operand.dtype), seen.count)
        for step, seen in run
        if step.op and seen.count
    }


OPERATIONS = """
    import numpy as np

    def run():
        x = np.ones(3, np.float32)
        y = x * np.float64(2)
        y += 1
        s = y.sum()
        m = np.where(y > s, x, y)
        m[1:] = x[1:]
        np.multiply(x, 3.0, out=x)
        e = np.exp(x, dtype=np.float64)
        t = np.add.reduce(x)
        c = np.concatenate([x, y.T])
        q, r = np.linalg.qr(np.outer(x, x))
        return np.clip(-c, 0, None), q, t, e, m
"""


def test_operators_calls_methods_assignments_and_ufuncs_are_steps(package: Path) -> None:
    _, run = followed(package, OPERATIONS)
    seen = texts(run)
    assert seen["x * np.float64(2)"] == ("multiply", "float64", 1)
    assert seen["y += 1"] == ("iadd", "float64", 1)
    assert seen["y.sum()"] == ("sum", "float64", 1)
    assert seen["y > s"] == ("greater", "bool", 1)
    assert seen["np.where(y > s, x, y)"] == ("where", "float64", 1)
    assert seen["m[1:] = x[1:]"] == ("setitem", "float64", 1)
    assert seen["x[1:]"] == ("getitem", "float32", 1)
    assert seen["np.multiply(x, 3.0, out=x)"] == ("setitem", "float32", 1)
    assert seen["np.exp(x, dtype=np.float64)"] == ("exp", "float64", 1)
    assert seen["np.add.reduce(x)"] == ("sum", "float32", 1)
    assert seen["np.concatenate([x, y.T])"] == ("concat", "float64", 1)
    assert seen["-c"] == ("negative", "float64", 1)
    assert not run.mismatches


def test_a_step_names_the_steps_that_made_its_operands(package: Path) -> None:
    _, run = followed(package, OPERATIONS)
    steps = run.program.steps
    at = {step.text: i for i, step in enumerate(steps) if run.seen[i].count}
    assert at["x * np.float64(2)"] in steps[at["y += 1"]].parts
    assert at["y += 1"] in steps[at["y.sum()"]].parts
    assert steps[at["np.where(y > s, x, y)"]].parts[0] == at["y > s"]
    place = steps[at["y += 1"]].place
    assert place is not None and (Path(place.file).name, place.line) == ("traced_one.py", 7)


X = "run(np.ones((2, 3), np.float32))"  # the call of a function of one array


def test_arguments_that_are_constants_are_known_although_no_witness_is_told_of_them(package: Path) -> None:
    text = """
        import numpy as np

        def run(x):
            a = np.clip(x, 0.5, 2)
            b = np.full(2, 3, dtype="float32")
            c = np.minimum(-1, x)
            return np.where(True, 1.5, x), np.sum(x, axis=-1, dtype="float64"), a, b, c
    """
    _, run = followed(package, text, X)
    seen = texts(run)
    assert seen["np.clip(x, 0.5, 2)"] == ("clip", "float32", 1)
    assert seen['np.full(2, 3, dtype="float32")'] == ("full", "float32", 1)
    assert seen["np.minimum(-1, x)"] == ("minimum", "float32", 1)
    assert seen["np.where(True, 1.5, x)"] == ("where", "float32", 1)
    assert seen['np.sum(x, axis=-1, dtype="float64")'] == ("sum", "float64", 1)
    assert [step.text for step in run.program.steps if isinstance(step, Input)] == ["x"]
    numbers = [step.value for step in run.program.steps if isinstance(step, Number)]
    assert {0.5, 2, 3, -1, 1.5} <= {*numbers}
    assert not run.mismatches


def test_a_call_whose_arguments_could_not_be_seen_is_taken_as_it_was(package: Path) -> None:
    text = """
        import numpy as np

        def run(x):
            shape = (3,)
            one = np.ones(*(shape,), *(), dtype=np.dtype("float32"))
            return x.sum(*(), *(), dtype=np.dtype("float64")), one
    """
    _, run = followed(package, text, X)
    assert not run.mismatches
    opaque = [step.name for step in run.program.steps if isinstance(step, Opaque)]
    assert opaque == ["sum"]


def test_an_input_that_a_function_hands_through_among_others_is_no_new_array(package: Path) -> None:
    text = """
        import numpy as np

        def delayed(x, n):
            return len, (x, n), {}

        def run(x):
            _, (same, n), _ = delayed(x, 3)
            return same + n
    """
    _, run = followed(package, text, X)
    assert [(type(step), step.text) for step in run.program.steps if step.op or step.parts] == [
        (Call, "same + n")
    ]
    assert run.opaque == 0


def test_what_is_raised_is_no_step_and_what_it_is_made_of_is(package: Path) -> None:
    text = """
        import numpy as np

        def run(x):
            try:
                raise ValueError(x * 2) from KeyError(x + 1)
            except ValueError as e:
                return type(e.__cause__).__name__, *e.args
    """
    (cause, array), run = followed(package, text, X)
    assert cause == "KeyError" and array.dtype == "float32"
    assert {*texts(run)} == {"x * 2", "x + 1"}


def test_a_run_is_replayed_under_any_system(package: Path) -> None:
    _, run = followed(package, OPERATIONS)
    steps = [step.text for step in run.program.steps]
    i = steps.index("x * np.float64(2)")
    assert run.seen[i].operand.dtype is tl.dtype("float64")
    assert run.under("torch")[i].operand.dtype is tl.dtype("float32")
    assert run.under({"numpy": "jax"})[i].operand.dtype is tl.dtype("float64")


def looped(folder: Path, *lines: str) -> Run:
    """The run of a loop of a thousand passes over an array `x` of float32."""
    text = """
        import numpy as np

        def run():
            x = np.ones(4, np.float32)
            for _ in range(1000):
    """
    return followed(folder, text.rstrip() + "".join(f"\n{16 * ' '}{line}" for line in lines))[1]


def test_what_is_repeated_is_counted(package: Path) -> None:
    run = looped(package, "y = x + 1", "z = y * y")
    assert texts(run)["y * y"] == ("multiply", "float32", 1000)
    assert len(run.program.steps) < 10
    assert not run.summaries


def test_a_chain_without_end_is_summarised_and_the_run_says_so(package: Path) -> None:
    run = looped(package, "x = x + 1")
    added = [seen.count for step, seen in run if step.op == "add"]
    assert sum(added) == 1000 and len(added) <= MOST_AT_ONE + 1
    assert run.summaries and "are counted with an earlier run of the same line" in run.summaries[0]


def test_numpys_scalars_are_linked_though_they_take_no_weak_reference(package: Path) -> None:
    text = """
        import numpy as np

        def run():
            s = np.ones(3, np.float32).sum()
            return s * s
    """
    _, run = followed(package, text)
    *_, step = run.program.steps
    assert [run.program.steps[i].text for i in step.parts] == ["np.ones(3, np.float32).sum()"] * len(
        step.parts
    )


def test_a_scalar_that_a_function_hands_through_is_the_step_that_made_it(package: Path) -> None:
    text = """
        import numpy as np

        def total(x):
            return np.sum(x)

        class Half:
            def of(self, s):
                return s

        def run():
            return Half().of(total(np.ones(3, np.float32))) / 2
    """
    _, run = followed(package, text)
    assert [step.op for step in run.program.steps if step.op] == ["ones", "sum", "divide"]
    assert run.opaque == 0


def test_a_result_that_no_operation_describes_is_opaque_and_names_its_operands(package: Path) -> None:
    text = """
        import numpy as np

        def run():
            x = np.ones(3, np.float32)
            return np.piecewise(x, [x > 0], [1.0]) + x
    """
    _, run = followed(package, text)
    (opaque,) = [step for step in run.program.steps if isinstance(step, Opaque)]
    assert opaque.name == "piecewise" and opaque.made_of
    assert (run.opaque, run.opaque_share) == (1, 1 / 3)  # of np.ones, x > 0 and itself


def test_arrays_of_no_dtype_of_ours_are_named_once(package: Path) -> None:
    text = """
        import numpy as np

        def run(x):
            wide = x * np.longdouble(1)
            return wide + x, wide * 2, np.array([1, "a"], dtype=object) * 2
    """
    _, run = followed(package, text, X)
    assert run.summaries == (
        "what is done with arrays of longdouble and of object_ is no step: that is no dtype of ours",
    )


MADE_BY_OTHERS = """
    import numpy as np
    from functools import reduce

    random = np.random.default_rng(0)

    def taken(x, k=np.frombuffer(np.arange(3.0).tobytes()).copy(), *, n=np.float64(2)):
        return k * x * n

    def run(x):
        a = random.normal(x, 1.0)
        b = random.normal(size=3)
        c = np.random.rand(3)
        d = sum([x, b])
        e = reduce(np.add, [x, b])
        s = max([np.float64(2), np.float64(1)])
        return taken(x), a * x, b * x, c * x, d * x, e * x, s * x
"""


def test_an_array_that_python_or_a_librarys_object_makes_has_the_line_that_made_it(package: Path) -> None:
    _, run = followed(package, MADE_BY_OTHERS, "run(np.ones(3, np.float32))")
    steps = {(type(s).__name__, s.text, s.place.line) for s in run.program.steps if s.place}
    assert ("Opaque", "random.normal(x, 1.0)", 11) in steps
    assert ("Input", "random.normal(size=3)", 12) in steps
    assert ("Input", "np.random.rand(3)", 13) in steps
    assert ("Opaque", "sum([x, b])", 14) in steps
    assert ("Opaque", "reduce(np.add, [x, b])", 15) in steps
    assert ("Cast", "np.float64(2)", 16) in steps
    assert ("Cast", "np.float64(2)", 7) in steps
    inputs = {text for sort, text, _ in steps if sort == "Input"}
    assert inputs == {
        "x", "random.normal(size=3)", "np.random.rand(3)", "np.frombuffer(np.arange(3.0).tobytes())",
    }  # fmt: skip
    assert not run.mismatches


def test_a_system_that_is_wrong_is_reported_as_a_mismatch(package: Path) -> None:
    _, run = followed(package, OPERATIONS)
    wrong = Run(run.program, run.seen, {"numpy": "torch"})
    first = wrong.mismatches[0]
    assert (first.step.text, str(first.outcome)) == ("x * np.float64(2)", "float32")
    follows = {m.step.text for m in wrong.mismatches}
    assert "y.sum()" not in follows  # it follows from the first, and is none of its own


# -- the program behaves as it does untraced

BEHAVIOUR = """
    import sys, warnings, inspect, weakref, pickle
    import numpy as np

    class Base:
        def name(self, *a, **k):
            return "base", a, sorted(k)

    class Derived(Base):
        T = 3
        def __init__(self):
            self.total = 0
            self.items = [1, 2, 3]
        def name(self, *a, **k):
            return super().name(*a, **k) + (sorted(locals()),)
        def __getattr__(self, name):
            if name == "shape":
                raise RuntimeError("asked for its shape")
            raise AttributeError(name)
        def __add__(self, other):
            return NotImplemented if other is None else ("added", other)

    def calls():
        d = Derived()
        d.total += 2
        d.items[0] += 5
        d.items[1:] += [7]
        return d.name(1, *[2], x=3, **{"y": 4}), d.total, d.items, d.T, d + 1

    def names():
        before = set(globals())
        x = [i + j for i in range(3) for j in (1, 2) if i < j]
        y = {k: v * 2 for k, v in zip("ab", x)}
        return x, y, sorted(locals()), set(globals()) - before

    def generator(n):
        got = 0
        while got < n:
            got += (yield got * 2) or 1

    def generators():
        g = generator(5)
        return [next(g), g.send(2), *g]

    async def awaited(x):
        return x + 1

    def coroutine():
        async def main():
            return (await awaited(1)) + (await awaited(2))
        c = main()
        try:
            c.send(None)
        except StopIteration as e:
            return e.value

    def warned():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            np.float32(1) / np.zeros(1, np.float32)
            warnings.warn("mine", stacklevel=1)
        return [(w.lineno, w.filename, str(w.message)) for w in caught]

    def resized():
        x = np.ones(4)
        x.resize(8)
        return x

    def errors():
        def fails(x):
            return np.ones(3) + np.ones(
                4
            )
        return fails([1])

    def unbound():
        x += 1
        return x

    def wrong_call():
        return calls(1, 2)

    def chained(a=3):
        return 1 < a < 5, not a, a if a else 0, f"{a + 1:>{a + 2}}", f"{a+1=}", (lambda q: q[::-1])("abc")

    def debug():
        assert chained(), "never"
        return __debug__, __doc__, calls.__doc__, calls.__qualname__, inspect.getsource(debug)[:9]

    def matched(x=(1, 2)):
        match x:
            case (a, b) if a < b:
                return a + b

    def frame():
        return sys._getframe().f_code.co_name, sys._getframe().f_lineno

    def wrong_method():
        return (np.ones(4)
            .reshape(2,
                2)
            .sum(
                axis=7,
            ))

    def run():
        return calls(), names(), generators(), coroutine(), warned(), chained(), debug(), matched(), frame()
"""


def both(folder: Path, text: str) -> tuple[ModuleType, ModuleType]:
    """A module as it is, and rewritten."""
    path = write(folder, "traced_two", text)
    found = []
    for compiler in (None, Compiler(Recorder())):
        module = ModuleType("traced_two")
        module.__file__ = str(path)
        data = path.read_bytes()
        code = compiler.code("traced_two", str(path), data) if compiler else compile(data, str(path), "exec")
        assert code is not None
        sys.modules["traced_two"] = module
        exec(code, vars(module))
        found.append(module)
    return found[0], found[1]


def ended(function: Any, *args: Any) -> str:
    """What a function gives, or its traceback."""
    try:
        return repr(function(*args))
    except Exception as e:
        assert e.__traceback__
        return "".join(traceback.format_exception(type(e), e, e.__traceback__.tb_next))


@pytest.mark.parametrize(
    "name",
    [
        *("run", "calls", "names", "warned", "errors", "unbound", "wrong_call", "wrong_method"),
        *("resized", "debug", "coroutine"),
    ],
)
def test_a_rewritten_module_behaves_as_it_did(package: Path, name: str) -> None:
    plain, rewritten = both(package, BEHAVIOUR)
    assert ended(getattr(plain, name)) == ended(getattr(rewritten, name))
    assert dir(plain) == dir(rewritten)


CONDITIONS = """
    import numpy as np

    def if_(x):
        if (0 <
                x):
            return 1

    def unless(x):
        if x is not None and not (x
                == 0):
            return 1

    def while_(x):
        while 0 < x and (
                x != 7):
            x = x - 1
        return x

    def assert_(x):
        assert (x
            < 0), "a message"

    def chosen(x): return [1 if (0
        < x) else 2, not 0 < x]

    def comprehended(x):
        return {c: 1 for c in (1,
            2) if not c > x if x
                > 0}

    def matched(x):
        match 1:
            case 1 if (x
                    > 0):
                return 1
"""


@pytest.mark.parametrize(
    "name", ["if_", "unless", "while_", "assert_", "chosen", "comprehended", "matched"]
)
def test_comparisons_are_followed_of_which_the_truth_alone_is_asked(package: Path, name: str) -> None:
    """A traceback names the comparison itself, or the line that it named, where the truth is refused."""
    plain, rewritten = both(package, CONDITIONS)
    for x in (np.ones(1), np.zeros(1), np.ones(2)):
        assert ended(getattr(plain, name), x) == ended(getattr(rewritten, name), x)
    assert "ambiguous" in ended(getattr(rewritten, name), np.ones(2))
    _, run = followed(package, CONDITIONS, f"{name}(np.full(1, {-1 if name == 'assert_' else 1}))")
    assert {"less", "equal", "greater"} & {op for op, *_ in texts(run).values()}


NUMBERS = st.sampled_from(
    ["a", "b", "c", "1", "2.5", "True", "x[0]", "x[b]", "x[-1]", "d['k']", "f(a, *x, k=b)", "o.v"]
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """The body of a function: assignments of random expressions, in place and not."""

    def expression(depth: int) -> str:
        if depth == 0:
            return draw(NUMBERS)
        left, right = expression(depth - 1), expression(draw(st.integers(0, depth - 1)))
        forms = [
            "({} + {})", "({} * {})", "({} - {})", "({} / {})", "({} // {})", "({} % {})", "({} < {})",
            "({} == {})", "f({}, {})", "f({}, k={})", "(-{} if {} else 1)", "[{} for q in x if q < {}][0]",
            "(lambda q: q + {})({})", "f(*[{}], **{{'k': {}}})", "g({}).T + {}", "({} and {})",
            "(w := {}) + {}",
            "str({}) + str({})", "np.add({}, {})", "sum([{}, {}])", "max(({}, {}), key=str)",
        ]  # fmt: skip
        return draw(st.sampled_from(forms)).format(left, right)

    targets = [
        "a = ",
        "b += ",
        "x[0] = ",
        "x[0] += ",
        "o.v -= ",
        "d['k'] *= ",
        "c, e = 1, ",
        "x[:1] = x[1:2]; a = ",
    ]
    made = [
        draw(st.sampled_from(targets)) + expression(draw(st.integers(0, 3)))
        for _ in range(draw(st.integers(1, 6)))
    ]
    return "\n".join(f"    {line}" for line in made)


TEMPLATE = """
import numpy as np
class O:
    v = 3
    T = 2
def f(*a, k=0):
    return a[0] + len(a) + k
def g(x):
    return O()
def run(a, b):
    c, x, d, o = np.float32(2), [1, 2.0, a], {{"k": a}}, O()
{}
    return a, b, c, x, d, o.v, sorted(locals())
"""


@settings(max_examples=150)
@given(lines(), st.sampled_from([1, 0, -2.5, np.float64(2), np.ones(3, np.float32), np.arange(3)]))
def test_random_functions_behave_as_they_did(body: str, a: Any) -> None:
    text = TEMPLATE.format(body)
    outcomes = []
    recorder = Recorder()
    for rewritten in (False, True):
        scope: dict[str, Any] = {"__name__": "random_function"}
        compiled = (
            Compiler(recorder).code("random_function", "random.py", text.encode()) if rewritten else None
        )
        exec(compiled or compile(text, "random.py", "exec"), scope)
        with np.errstate(all="ignore"):
            outcomes.append(ended(scope["run"], copy(a), 1))
    assert outcomes[0] == outcomes[1]
    if "Error" not in outcomes[0]:
        assert not recorder.run().mismatches


def test_an_object_of_the_program_is_judged_by_its_class_alone(package: Path) -> None:
    text = """
        import numpy as np
        asked = []

        class Half:
            def __getattribute__(self, name):
                asked.append(name)
                return object.__getattribute__(self, name)
            def __radd__(self, other):
                return np.ones(2)
            __array_ufunc__ = None

        def run():
            np.ones(2) + Half()
            return asked
    """
    asked, _ = followed(package, text)
    assert asked == []


REBOUND = """
    import numpy as np
    total = np.zeros(3, np.float32)
    buffer = np.zeros(3, np.float32)

    def add(x):
        global total, buffer
        total += x
        buffer[1:] = x[1:]
        buffer = buffer * 2

    def within(x):
        kept = np.zeros(3, np.float32)
        def more(y):
            nonlocal kept
            kept += y
        more(x)
        more(x + 1)
        return kept

    def waiting(total):
        total *= (yield total)
        yield total

    def unbound():
        global missing
        missing += add(1)

    def not_assigned():
        global missing
        missing[add(1)] = add(np.ones(3))

    def run():
        add(np.ones(3))
        waiter = waiting(np.ones(3, np.float32))
        next(waiter)
        return total, buffer, within(np.ones(3)), waiter.send(np.float32(2))
"""


def test_names_that_functions_declare_global_or_nonlocal_are_followed_when_written_in_place(
    package: Path,
) -> None:
    _, run = followed(package, REBOUND)
    seen = [(step.text, step.op) for step, seen in run for _ in range(seen.count)]
    assert seen.count(("total += x", "iadd")) == 1
    assert seen.count(("kept += y", "iadd")) == 2
    assert seen.count(("buffer[1:] = x[1:]", "setitem")) == 1
    assert seen.count(("total *= (yield total)", "imul")) == 1
    assert not run.mismatches and not run.opaque


@pytest.mark.parametrize("name", ["run", "unbound", "not_assigned"])
def test_names_that_are_declared_behave_as_they_did(package: Path, name: str) -> None:
    plain, rewritten = both(package, REBOUND)
    assert ended(getattr(plain, name)) == ended(getattr(rewritten, name))


# -- modules of every sort


def test_a_reloaded_module_is_rewritten_anew(package: Path) -> None:
    path = write(package, "traced_reload", "import numpy as np\ndef run(): return np.ones(2) + 1\n")
    with Tracing(("traced_reload",)) as tracing:
        import importlib

        import traced_reload  # type: ignore[import-not-found]

        traced_reload.run()
        path.write_text(
            "import numpy as np\ndef run(): return np.ones(2) * 3.5\n# longer\n", encoding="utf-8"
        )
        importlib.invalidate_caches()
        importlib.reload(traced_reload).run()
    assert {"add", "multiply"} <= {step.op for step in tracing.run().program.steps}


def test_namespace_packages_and_archives_are_followed(package: Path) -> None:
    write(package / "traced_space", "inner", "import numpy as np\ndef run(): return np.ones(2) + 1\n")
    with zipfile.ZipFile(package / "traced.zip", "w") as archive:
        archive.writestr("traced_zip/__init__.py", "import numpy as np\ndef run(): return np.ones(2) * 2\n")
    sys.path.insert(0, str(package / "traced.zip"))
    try:
        with Tracing(("traced_space", "traced_zip")) as tracing:
            import traced_space.inner  # type: ignore[import-not-found]
            import traced_zip  # type: ignore[import-not-found]

            traced_space.inner.run()
            traced_zip.run()
    finally:
        sys.path.remove(str(package / "traced.zip"))
    places = {step.op: step.place.file for step in tracing.run().program.steps if step.place and step.op}
    assert places["add"].endswith("inner.py") and "traced.zip" in places["multiply"]


def test_a_module_in_an_archive_may_be_of_another_encoding_and_compiled(package: Path) -> None:
    text = "# coding: latin-1\nimport numpy as np\nname = '\xe9'\ndef run(): return np.ones(2) + 1\n"
    source = write(package, "compiled", "def run(): return 3\n")
    with zipfile.ZipFile(package / "encoded.zip", "w") as archive:
        archive.writestr("traced_encoded/__init__.py", text.encode("latin-1"))
        archive.write(py_compile.compile(str(source), str(source) + "c"), "traced_encoded/compiled.pyc")
    sys.path.insert(0, str(package / "encoded.zip"))
    try:
        with Tracing(("traced_encoded",)) as tracing:
            module = importlib.import_module("traced_encoded")
            assert module.name == "\xe9" and module.run().tolist() == [2, 2]
            assert importlib.import_module("traced_encoded.compiled").run() == 3
    finally:
        sys.path.remove(str(package / "encoded.zip"))
    assert "np.ones(2) + 1" in texts(tracing.run())


def test_a_module_that_cannot_be_rewritten_runs_as_it_is_and_is_named(package: Path) -> None:
    deep = "x = 1.0\nx = " + "+".join(["1.0 * x"] * 700) + "\n"
    write(package, "traced_deep", deep)
    with Tracing(("traced_deep",)) as tracing:
        import traced_deep  # type: ignore[import-not-found]
    assert traced_deep.x == 700
    (left,) = tracing.run().left_alone
    assert (left.name, left.reason) == ("traced_deep", "its expressions are nested too deeply to rewrite")


def test_functions_that_numba_compiles_are_left_alone_and_named() -> None:
    recorder = Recorder()
    text = b"from numba import njit as fast\n@fast\ndef f(x): return x + 1\ndef g(x): return x + 1\n"
    Compiler(recorder).compiled("f.py", text)
    _, _, rows, alone = Compiler(recorder).compiled("f.py", text)
    spots = [Spot(*marshal.loads(row)) for row in rows]
    assert alone == [("f", "numba compiles it")] and [spot.line for spot in spots] == [4]


def test_what_was_imported_before_is_named(package: Path) -> None:
    write(package, "traced_before", "x = 1\n")
    import traced_before  # type: ignore[import-not-found]  # noqa: F401

    with Tracing(("traced_before",)) as tracing:
        pass
    assert "it was imported before tracing began" in {left.reason for left in tracing.run().left_alone}


def test_compiled_code_is_kept_only_where_it_was_asked_for_and_follows_the_source(package: Path) -> None:
    cache = package / "kept"
    data = b"import numpy as np\nx = np.ones(2) + 1\n"
    for text in (data, data, data.replace(b"+", b"*")):
        recorder = Recorder()
        code = Compiler(recorder, cache).code("m", "m.py", text)
        assert code is not None
        exec(code, {})
        wanted = "add" if b"+" in text else "multiply"
        assert wanted in {step.op for step in recorder.run().program.steps}
    assert len(list(cache.iterdir())) == 2
    for kept in cache.iterdir():
        kept.write_bytes(kept.read_bytes()[:-3])
    assert Compiler(Recorder(), cache).code("m", "m.py", data) is not None
    write(package, "traced_plain", "import numpy as np\nx = np.ones(2) + 1\n")
    with Tracing(("traced_plain",)):
        import traced_plain  # type: ignore[import-not-found]  # noqa: F401
    assert not (package / "__pycache__").exists()


def test_threads_are_followed(package: Path) -> None:
    text = """
        import threading
        import numpy as np

        def work(x):
            for _ in range(200):
                x * 2.0

        def run():
            threads = [threading.Thread(target=work, args=(np.ones(2, np.float32),)) for _ in range(4)]
            for t in threads: t.start()
            for t in threads: t.join()
    """
    _, run = followed(package, text)
    assert texts(run)["x * 2.0"] == ("multiply", "float32", 800)


def test_a_dtype_that_is_given_by_position_is_known(package: Path) -> None:
    text = """
        import numpy as np

        def run():
            x = np.ones(4, np.int16)
            np.full_like(x, 2.5)
            return np.empty_like(x, np.float64), np.full_like(x, 2.5, "f4"), np.zeros(3, "i1"), x.astype("f2")
    """
    _, run = followed(package, text)
    seen = texts(run)
    assert seen["np.empty_like(x, np.float64)"] == ("empty_like", "float64", 1)
    assert seen['np.full_like(x, 2.5, "f4")'] == ("full_like", "float32", 1)
    assert seen["np.full_like(x, 2.5)"] == ("full_like", "int16", 1)
    assert not run.mismatches


def test_bits_that_are_taken_for_another_dtype_are_opaque_and_a_view_of_another_shape_is_not(
    package: Path,
) -> None:
    text = """
        import numpy as np

        def run():
            x = np.ones(4, np.uint16)
            return x.view(np.int16) + 1, x.view(dtype="float16") + 1, x.view() + 1
    """
    _, run = followed(package, text)
    made = [(step.text, type(step).__name__) for step in run.program.steps if step.text.startswith("x.view")]
    assert made[0] == ("x.view(np.int16)", "Opaque")
    assert ('x.view(dtype="float16")', "Opaque") in made and ("x.view()", "Call") in made
    assert not run.mismatches


def test_a_run_is_told_although_the_program_took_numpy_out_of_the_modules(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(package, "traced_out", "import numpy as np\ndef run(): return np.ones(2) + 1\n")
    with Tracing(("traced_out",)) as tracing:
        import traced_out  # type: ignore[import-not-found]

        traced_out.run()
        monkeypatch.delitem(sys.modules, "numpy")
    assert tracing.run().systems["numpy"].startswith("numpy")


def test_steps_and_what_was_seen_of_them_stay_together_where_a_call_is_no_operation(package: Path) -> None:
    text = """
        import numpy as np

        def run(x, y, z, many):
            both = [np.float32(1), [x, y]]
            np.piecewise(*(z, [z > 0], [1.0, lambda q: q]))
            np.lexsort(*[(x, y)])
            np.einsum("i,i", *[x, y], order="K")
            np.clip(3.0, *[x, z])
            np.block([x + 0 for _ in range(20)] + many)
            return np.block([[2.0, x], [1, y]]), np.select([z > 0, x > 0], (x, 2.5), default=y), both
    """
    arrays = "np.ones(3, np.int8), np.ones(3, np.float32), np.ones(3)"
    many = "[np.ones(3, np.int16) for _ in range(20)]"
    _, run = followed(package, text, f"run({arrays}, {many})")
    assert len(run.seen) == len(run.program.steps)
    for step, seen in run:
        if isinstance(step, Input) and seen.count:
            assert step.given == seen.operand
    assert not run.mismatches


def test_links_are_let_go_where_too_many_arrays_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typelattice.tracing.links.MOST_LINKS", 10)
    links = Links()
    arrays = [np.ones(1) for _ in range(12)]
    for x in arrays:
        links.add(x, Part(0), True)
    links.tidy()
    assert len(links.live) == 7 and links.let_go == 5
    assert id(arrays[-1]) in links.live


# -- one function


def scaled(x: Any) -> Any:
    return halved(x) * np.float64(3)


def halved(x: Any) -> Any:
    return x / 2


def test_one_function_is_followed_with_those_that_it_calls_and_is_then_as_before() -> None:
    before = scaled.__code__
    traced = tl.trace(scaled, np.ones(2, np.float32), systems=["torch"])
    assert traced.result.dtype == np.float64
    assert [step.op for step in traced.run.program.steps if step.op] == ["divide", "astype", "multiply"]
    assert scaled.__code__ is before
    assert "multiply of float32 and float64:0d gives float32; the run gave" in str(traced)
    data = json.loads(traced.to_json())
    assert data["steps"][-1]["systems"] == {"torch": "float32"} and data["mismatches"] == []


def each_halved(x: Any) -> Iterator[Any]:
    yield from x / 2


async def halved_later(x: Any) -> Any:
    return x / 2


def test_one_system_may_be_named_alone() -> None:
    assert tl.trace(halved, np.ones(2), systems="torch").systems == ("torch",)


@pytest.mark.parametrize(
    ("what", "why"),
    [
        (each_halved, "each_halved is a generator, which runs after it was called; "
         "give a function that makes a list of it"),
        (halved_later, "halved_later is a coroutine, which runs after it was called; "
         "give a function that runs it with asyncio.run"),
        (np.add, "a ufunc is no Python function; give one that calls it, such as lambda x: f(x)"),
        (eval("lambda: 1"), "the source of <lambda> is not there; define it in a file"),
    ],
)
def test_what_cannot_be_followed_is_refused(what: Any, why: str) -> None:
    with pytest.raises(tl.TraceError) as e:
        tl.trace(what)
    assert str(e.value) == why


# -- the command

SCRIPT = """
import sys, os, threading
import numpy as np
def f(x):
    return x * np.float64(2)
f(np.ones(3, np.float32))
print("printed", sys.argv[1:], __name__)
how = sys.argv[1] if sys.argv[1:] else ""
if how == "raise": raise ValueError("no")
if how == "exit": sys.exit(3)
if how == "text": sys.exit("said")
if how == "interrupt": raise KeyboardInterrupt
if how == "fork":
    child = os.fork()
    if child == 0: sys.exit(5)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
if how == "leave":
    child = os.fork()
    if child == 0: os._exit(5)
    os.waitpid(child, 0)
    sys.stdout.flush()
    os._exit(4)
if how == "thread": threading.Timer(0.05, lambda: f(np.ones(2, np.float32))).start()
"""


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    source = str(Path(tl.__file__).parents[1])
    variables = {**os.environ, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"}
    words = (sys.executable, "-m", "typelattice", "trace", *words)
    return subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("", 0),
        ("raise", 1),
        ("exit", 3),
        ("text", 1),
        ("interrupt", 130),
        ("fork", 0),
        ("leave", 4),
        ("--help", 0),
    ],
)
def test_a_script_gives_its_report_and_its_own_status_however_it_ends(
    tmp_path: Path, how: str, status: int
) -> None:
    write(tmp_path, "s", SCRIPT)
    words = [how] if how else []
    done = command(tmp_path, "--json", "run.json", "--system", "torch", "s.py", *words)
    plain = subprocess.run(
        [sys.executable, "s.py", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == plain.stdout
    assert done.returncode == status
    assert plain.returncode in (status, -2)
    assert done.stderr.startswith(plain.stderr)
    assert len(re.findall("operations? ran", done.stderr)) == 1
    steps = json.loads((tmp_path / "run.json").read_text())["steps"]
    (step,) = [s for s in steps if s["op"] == "multiply"]
    assert (step["code"], step["observed"], step["systems"]) == (
        "x * np.float64(2)",
        "float64",
        {"torch": "float32"},
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.json", "s.py"]


def test_what_threads_do_after_the_script_is_seen(tmp_path: Path) -> None:
    write(tmp_path, "s", SCRIPT)
    done = command(tmp_path, "--json", "run.json", "s.py", "thread")
    steps = json.loads((tmp_path / "run.json").read_text())["steps"]
    assert done.returncode == 0 and sum(s["count"] for s in steps if s["op"] == "multiply") == 2


def test_a_module_is_run_as_python_runs_it(tmp_path: Path) -> None:
    write(tmp_path / "pkg", "__init__", "")
    write(
        tmp_path / "pkg",
        "__main__",
        "import numpy as np\nfrom . import part\nprint(part.run(), __package__)\n",
    )
    write(tmp_path / "pkg", "part", "import numpy as np\ndef run(): return np.ones(1, np.float32) + 1\n")
    done = command(tmp_path, "--json", "run.json", "-m", "pkg", "-x")
    assert (done.stdout, done.returncode) == ("[2.] pkg\n", 0), done.stderr
    assert "add" in {s["op"] for s in json.loads((tmp_path / "run.json").read_text())["steps"]}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "typelattice: trace: give a script, or -m and a module (see typelattice trace --help)\n"),
        (("--system", "nump", "s.py"), "unknown system 'nump'"),
        (("-m", "no_such_module"), "typelattice: there is no module no_such_module that can be run"),
        (("broken.py",), "broken.py, line 1: invalid syntax"),
        (("missing.py",), "missing.py"),
        (("--json", "no/where.json", "s.py"), "no/where.json"),
        (("",), "cannot read '': it is no path"),
        (("--json", "", "s.py"), "cannot write '': it is no path"),
        (("--json", "./out", "--html", "out", "s.py"), "give each a path of its own"),
        (("--html", "broken.py", "s.py"), "cannot write into 'broken.py': Not a directory"),
        (("--html", "", "s.py"), "cannot write into '': it is no path"),
        (("--cache", "broken.py/in", "s.py"), "cannot write into 'broken.py/in': Not a directory"),
        (("--package", "src/pkg", "s.py"), "'src/pkg' is no name of a package; write it as an import does"),
        (("--package", "numpy", "s.py"), "numpy is a library whose operations are what is followed"),
        (("-m", "numpy"), "typelattice: numpy is a package without a __main__; name a module of it"),
        (("-m", "broken"), "broken.py, line 1: invalid syntax; Python cannot run it either"),
        (("-m", "null"), "null.py: source code string cannot contain null bytes; Python cannot run it"),
        (("-m", "pkg.part"), "the package of pkg.part cannot be imported (RuntimeError: not today)"),
        (("folder",), "typelattice: there is no __main__.py in folder; name a script in it"),
        (("deep.py",), "deep.py: an expression is nested too deeply; Python cannot run it either"),
        (("minus.py",), "minus.py: an expression is nested too deeply; Python cannot run it either"),
    ],
)
def test_bad_input_is_one_clear_error_and_the_script_is_not_run(
    tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    write(tmp_path, "s", SCRIPT)
    write(tmp_path, "broken", "x = = 1\n")
    write(tmp_path, "null", "x = 1\0")
    write(tmp_path / "pkg", "__init__", "raise RuntimeError('not today')")
    write(tmp_path / "pkg", "part", "")
    write(tmp_path, "deep", f"x = y{'.a' * 90_000}\n")
    write(tmp_path, "minus", f"x = {'-' * 90_000}1\n")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())
    done = command(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr and "Traceback" not in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "deed",
    [
        "sys.stdout.close()",
        "sys.stdout.detach()",
        "sys.stdout = sys.stderr = object()",
        "sys.excepthook = None; raise ValueError('no')",
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')",
        "os.mkdir('away'); os.chdir('away')",
    ],
)
def test_whatever_a_script_does_to_its_process_the_report_comes_and_the_run_is_where_it_was_wanted(
    tmp_path: Path, deed: str
) -> None:
    write(tmp_path, "s", f"import os, sys\nimport numpy as np\nx = np.ones(3, np.float32) * 2\n{deed}\n")
    done = command(tmp_path, "--json", "run.json", "--html", "pages", "--cache", "cache", "s.py")
    for folder in ("away", "gone"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)
    plain = subprocess.run([sys.executable, "s.py"], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == plain.returncode  # 120 of Python that cannot flush a stream
    assert "2 operations ran in 1 file" in done.stderr
    assert done.stderr.count("Traceback") == ("raise" in deed)
    assert {"run.json", "pages", "cache"} <= {p.name for p in tmp_path.iterdir()}


def test_a_package_of_which_nothing_was_imported_is_named(tmp_path: Path) -> None:
    write(tmp_path, "s", SCRIPT)
    done = command(tmp_path, "--package", "mypackage", "s.py")
    assert "not followed: mypackage: no module of it was imported\n" in done.stderr
    assert done.returncode == 0


def test_an_input_is_shown_by_its_text(package: Path) -> None:
    _, run = followed(package, "def run(x, y): return x + y * 2\n", "run(__import__('numpy').ones(2), 3.0)")
    assert [step.text for step in run.program.steps if isinstance(step, Input)] == ["x"]
    assert [step.text for step in run.program.steps if isinstance(step, Call)] == ["x + y * 2"]


@pytest.mark.parametrize(
    ("call", "inputs"),
    [
        ("np.concatenate([y, x])", ["y", "x"]),
        ("np.concatenate([-x, y * 2, y], axis=0)", ["x", "y"]),
        ("np.where([True, False], x, y)", ["x", "y"]),
        ("np.select([[True, False], y > 0], (x, y), 0)", ["y", "x"]),
        ("np.concatenate([\n    *[x], y])", ["[ *[x], y]"]),
    ],
)
def test_an_array_in_a_list_that_a_call_is_given_is_shown_by_its_own_text(
    package: Path, call: str, inputs: list[str]
) -> None:
    text = f"import numpy as np\ndef run(x, y): return {call}\n"
    result, run = followed(package, text, "run(*np.ones((2, 2), np.float32))")
    assert [step.text for step in run.program.steps if isinstance(step, Input)] == inputs
    assert not run.mismatches and str(run.seen[-1].operand.dtype) == str(result.dtype)


def test_a_thread_that_was_not_joined_does_no_harm(package: Path) -> None:
    done = threading.Event()
    text = "import numpy as np\ndef run(e):\n    e.wait(5)\n    return np.ones(2) + 1\n"
    write(package, "traced_late", text)
    tracing = Tracing(("traced_late",))
    tracing.start()
    import traced_late  # type: ignore[import-not-found]

    late = threading.Thread(target=traced_late.run, args=(done,))
    late.start()
    run = tracing.stop()
    done.set()
    late.join()
    assert not run.program.steps and not tracing.run().program.steps


def test_after_a_script_the_main_module_is_who_called_it(tmp_path: Path) -> None:
    before = sys.modules["__main__"], sys.argv, [*sys.path]
    text = """
        import sys
        assert sys.argv[1:] == ["a"] and vars(sys.modules["__main__"]) is globals()
        sys.exit(3)
    """
    assert run_script(str(write(tmp_path, "script", text)), ["a"], ()).status == 3
    assert (sys.modules["__main__"], sys.argv, [*sys.path]) == before
