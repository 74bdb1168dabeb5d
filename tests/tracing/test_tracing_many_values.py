"""Calls, lists and texts of so many values that Python's compiler lays them out otherwise run as they did."""

from __future__ import annotations

import dis
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.rewrite import bytecode
from typelattice.tracing.rewrite import unsafe_rewrites as cautions

HEAD = """
class Held:
    def __init__(self): self.real = self.T = 7
    def told(self, *a, **k): return told(*a, **k)
    def __getitem__(self, key): return key if isinstance(key, int) else told(key)
    def __setitem__(self, key, value): self.real = value
def told(*a, **k): return sum(map(of, a)) + sum(len(key) * of(x) for key, x in k.items())
def of(x): return x if isinstance(x, int) else len(x) + sum(map(of, x)) if isinstance(x, (list, tuple)) else 1
a, b, held, some, named = 2, 3, Held(), [4, 5, 6], {"left": 7}
"""
COUNTS = (0, 1, 2, 3, 13, 14, 15, 16, 26, 27, 28, 29, 30, 31, 32, 45, 59, 60, 61, 70)


def drawn(rng: random.Random, deep: int = 0) -> str:
    """An expression, in which some lists, calls and the like have about as many values as such a limit is."""
    if deep > 2 or rng.random() < 0.1 * deep:
        return rng.choice(("a", "b", "1", "-2", "some", "held.real", "(a := a + 1)"))
    few = 3 if deep else max(COUNTS)
    many = rng.choice([n for n in COUNTS if n <= few])
    names = rng.choice(("ab", "ab1"))  # a constant is no value to copy
    parts = [drawn(rng, deep + 1) if rng.random() < 0.15 else rng.choice(names) for _ in range(many)]
    kind = rng.randrange(12)
    if kind < 5:
        cut = rng.choice((0, len(parts) // 2, len(parts), len(parts)))
        starred = rng.choice(([], [], [], ["*some"]))
        spread = rng.choice(([], [], [], ["**named"]))
        keywords = [f"k{i}={x}" for i, x in enumerate(parts[cut:])]
        arguments = [*parts[:cut], *starred, *keywords, *spread]
        return f"{rng.choice(('told', 'held.told'))}({', '.join(arguments)})"
    both = drawn(rng, deep + 1), drawn(rng, deep + 1)
    return (
        f"told([{', '.join(parts)}])", f"told(({''.join(f'{x}, ' for x in parts)}), a)",
        f"of([*some, {', '.join(parts)}])", "len(f'" + "".join(f"{{{x}}}" for x in "ab" * (many // 2)) + "')",
        f"({' < '.join(['a', *'ab' * (many // 2)])}) + of({both[0]})", f"(of({both[0]}) - of({both[1]}))",
        f"held[{', '.join(parts) or '0'}]",
    )[kind - 5]  # fmt: skip


def program(seed: int) -> str:
    """A script that prints what many such expressions come to, in the module and in functions."""
    rng = random.Random(seed)
    lines = [HEAD]
    for i in range(150):
        lines += [
            f"print({i}, {drawn(rng)})",
            f"def f(a, b, of=of):\n    x = {drawn(rng)}\n    held[a, b] = x; b += of(x)\n    return x, b",
            "print(f(a, b))",
        ]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(2))
def test_a_program_of_many_values_prints_what_it_did(tmp_path: Path, seed: int) -> None:
    script = tmp_path / "drawn.py"
    script.write_text(program(seed), encoding="utf-8")
    plain, followed = (
        subprocess.run([sys.executable, *words, script], capture_output=True, text=True, check=False)
        for words in ((), ("-m", "typelattice", "trace"))
    )
    assert plain.returncode == 0 and plain.stdout.count("\n") == 300, plain.stderr
    assert followed.returncode == 0 and followed.stdout == plain.stdout, followed.stderr[-500:]
    assert "not followed" not in followed.stderr


def many(count: int) -> tuple[Recorder, bool]:
    """What is known of a call of so many arrays, and whether its module was rewritten."""
    source = f"def first(*arrays): return arrays[0]\ny = first({', '.join('x' * count)})\nz = y * y\n"
    recorder = Recorder()
    code = ModuleCompiler(recorder).compile_module("many", "many.py", source.encode())
    if code is not None:
        exec(code, {"x": np.ones(2)})
    return recorder, code is not None


@pytest.mark.parametrize("count", [28, 29])
def test_what_comes_after_a_call_of_many_arguments_is_followed(count: int) -> None:
    recorder, rewritten = many(count)
    assert rewritten and [step.op for step in recorder.build_run().program.steps][-1] == "multiply"


def test_no_copy_is_taken_from_where_a_value_does_not_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cautions, "MAX_ARGUMENTS", 29)
    recorder, rewritten = many(29)
    assert not rewritten and "trace it with another Python" in recorder.not_followed["many"]


def test_code_of_a_python_that_was_never_tested_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytecode, "TESTED_RELEASES", ((3, 9), (3, 10)))
    recorder, rewritten = many(2)
    assert not rewritten
    assert recorder.not_followed["many"].endswith("; trace it with CPython 3.9 to 3.10")


def test_an_operator_in_place_goes_with_all_its_caches_or_the_module_runs_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorder = Recorder()
    code = ModuleCompiler(recorder).compile_module("m", "m.py", b"x += w")
    assert code is not None
    names = [each.opname for each in dis.get_instructions(code, show_caches=True)]
    after = names[names.index("SWAP") : names.index("STORE_NAME")]
    assert after[:2] == ["SWAP", "POP_TOP"] and {*after[2:]} <= {"NOP"}
    monkeypatch.setattr(bytecode, "CACHE", 255)
    assert ModuleCompiler(recorder).compile_module("m", "m.py", b"x += w") is None
    assert recorder.not_followed["m"] == "an instruction has no caches; trace it with another Python"
