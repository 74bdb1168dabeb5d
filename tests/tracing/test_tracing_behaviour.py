"""A program that is followed behaves as it does untraced."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from traced_modules import ended, followed, texts, write

from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder

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
    for compiler in (None, ModuleCompiler(Recorder())):
        module = ModuleType("traced_two")
        module.__file__ = str(path)
        data = path.read_bytes()
        code = (
            compiler.compile_module("traced_two", str(path), data)
            if compiler
            else compile(data, str(path), "exec")
        )
        assert code is not None
        sys.modules["traced_two"] = module
        exec(code, vars(module))
        found.append(module)
    return found[0], found[1]


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


@pytest.mark.parametrize("name", ["if_", "unless", "while_", "assert_", "chosen", "comprehended", "matched"])
def test_comparisons_are_followed_of_which_the_truth_alone_is_asked(package: Path, name: str) -> None:
    """A traceback names the comparison itself, or the line that it named, where the truth is refused."""
    plain, rewritten = both(package, CONDITIONS)
    for x in (np.ones(1), np.zeros(1), np.ones(2)):
        assert ended(getattr(plain, name), x) == ended(getattr(rewritten, name), x)
    assert "ambiguous" in ended(getattr(rewritten, name), np.ones(2))
    _, run = followed(package, CONDITIONS, f"{name}(np.full(1, {-1 if name == 'assert_' else 1}))")
    assert {"less", "equal", "greater"} & {op for op, *_ in texts(run).values()}


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
