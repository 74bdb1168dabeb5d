"""Programs of many steps: read from source, inferred, checked, written as JSON; time and memory, a step."""
from __future__ import annotations

import gc
import random
import sys
import time

from timing import Row, measured

import typelattice as tl

FEW, MANY = 25_000, 100_000  # steps
INPUTS = {"a": "int8[10]", "b": "float16[10]", "c": "float32:0d"}
SECONDS = 10.0
GROWTH = 1.5  # what a step of many may cost, against one of few


def programs() -> list[Row]:
    few, many = measure(FEW), measure(MANY)
    time_a_step = (many[0] / MANY) / (few[0] / FEW)
    blocks_a_step = (many[1] / MANY) / (few[1] / FEW)
    return [
        measured("read, infer, check, to JSON", f"{MANY:,} steps", many[0], SECONDS, "s"),
        measured("time a step", f"that of {FEW:,} steps", time_a_step, GROWTH, "times"),
        measured("memory a step", f"that of {FEW:,} steps", blocks_a_step, GROWTH, "times"),
    ]


def measure(count: int) -> tuple[float, int]:
    """Seconds of the processor, and the blocks of memory that are kept, for a program of so many lines."""
    text = source(count)
    gc.collect()
    blocks, start = sys.getallocatedblocks(), time.process_time()
    p = tl.program(text, **INPUTS)
    replayed = p.under("jax")
    typed = p.explicit("jax")
    typed.check()
    written = typed.to_json()
    seconds = time.process_time() - start
    gc.collect()
    kept = sys.getallocatedblocks() - blocks
    assert written and len(replayed) > 0.98 * count
    return seconds, kept


def source(count: int) -> str:
    """Lines of sums, products and differences, each of names that came not long before it."""
    dice = random.Random(9407)
    names = [*INPUTS]
    lines = []
    for i in range(count - len(INPUTS) - count // 6):  # a sixth of the steps are numbers
        left, right = dice.choice(names[-50:]), dice.choice([*INPUTS, "2.5", names[-1]])
        lines.append(f"t{i} = {left} {dice.choice('+*-')} {right}")
        names.append(f"t{i}")
    return "\n".join(lines)
