"""What dtype will NumPy give, what would JAX give, and why? Predicted, then computed with NumPy."""
from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import typelattice as tl
from typelattice.core.engine.promotion import OperandCast

ARRAYS: dict[object, np.ndarray[Any, Any]] = {
    "b": np.ones(3, np.bool_), "u8": np.ones(3, np.uint8), "u64": np.ones(3, np.uint64),
    "i8": np.ones(3, np.int8), "i16": np.ones(3, np.int16),
    "i32": np.ones(3, np.int32), "i64": np.ones(3, np.int64),
    "f16": np.ones(3, np.float16), "bf16": np.ones(3, ml_dtypes.bfloat16), "f32": np.ones(3, np.float32),
}  # fmt: skip
OPERATIONS: dict[str, tuple[str, Callable[..., object]]] = {
    "add": ("{} + {}", operator.add), "subtract": ("{} - {}", operator.sub),
    "multiply": ("{} * {}", operator.mul), "divide": ("{} / {}", operator.truediv),
    "equal": ("{} == {}", operator.eq),
    "sin": ("sin({})", np.sin), "sum": ("sum({})", np.sum),
}  # fmt: skip
EXPRESSIONS: tuple[tuple[Any, ...], ...] = (
    ("add", "i8", "u8"), ("add", "i32", "f32"), ("multiply", "i64", "f16"), ("add", "u64", "i64"),
    ("multiply", "f32", 2.5), ("multiply", "i32", 2.5), ("add", "u8", 300), ("equal", "u8", 300),
    ("divide", "i32", "i32"), ("subtract", "b", "b"), ("sin", "i8"), ("sum", "u8"),
)  # fmt: skip
NARROW: tuple[tuple[Any, ...], ...] = (
    ("bf16", "bf16"), ("f32", "bf16"), ("i8", "bf16"), ("i16", "bf16"), ("f16", "bf16"),
    ("bf16", 2), ("bf16", 1.0),
)  # fmt: skip


def main() -> int:
    numpy, jax, narrow = (tl.system(name) for name in ("numpy", "jax", "numpy-ml-dtypes"))
    verdicts: list[bool] = []

    print(f"1. One expression, two libraries. NumPy {np.__version__} computes; JAX is only consulted.\n")
    print(f"   {'expression':<11}  {'NumPy gave':<13}  {'predicted':<13}  JAX would give")
    differ = []
    for op, *names in EXPRESSIONS:
        text, compute = OPERATIONS[op]
        operands = [ARRAYS.get(name, name) for name in names]
        ours, theirs = numpy.explain(*operands, op=op), jax.explain(*operands, op=op)
        got = outcome(compute, *operands)
        verdicts.append(agrees(got, ours))
        print(
            f"   {text.format(*names):<11}  {got:<13}  {said(ours):<9} {mark(verdicts[-1])}  {said(theirs)}"
        )
        if ours.dtype is not theirs.dtype:
            differ.append((text.format(*names), ours, theirs))

    print("\n   * weak: beside another array, only its kind will count.")
    print("\n2. Why they part, and what it can cost. The lines are those of the system files.\n")
    for text, ours, theirs in differ:
        print(f"   {text:<11}  NumPy: {said(ours)}, JAX: {said(theirs)}")
        for p in (ours, theirs):
            for line in because(p):
                print(f"{'':16}{line}")
        for line in dict.fromkeys(costs(theirs)):
            print(f"{'':16}under JAX {line}")
        print()

    print(f"3. The same NumPy with ml_dtypes {ml_dtypes.__version__}, where it has two opinions.\n")
    heads = f"{'operands':<10}  {'result_type':<11}  {'predicted':<11}  {'x + y gave':<10}  {'predicted':<11}"
    print(f"   {heads}  JAX")
    parted = 0
    for pair in NARROW:
        operands = [ARRAYS.get(name, name) for name in pair]
        met, added = narrow.explain(*operands), narrow.explain(*operands, op="add")
        theirs = jax.explain(*operands, op="add")
        typed = outcome(lambda *x: np.zeros(0, np.result_type(*x)), *operands)
        sum_ = outcome(operator.add, *operands)
        held = agrees(typed, met), agrees(sum_, added)
        verdicts += held
        parted += short(typed) != short(sum_)
        first = f"{', '.join(map(str, pair)):<10}  {short(typed):<11}  {said(met):<8} {mark(held[0])}"
        print(f"   {first}  {short(sum_):<10}  {said(added):<8} {mark(held[1])}  {said(theirs)}")
    print(
        f"\n   In {parted} of {len(NARROW)} rows np.result_type and + disagree: the first looks for a common"
    )
    print("   dtype, the second for the first loop that takes both. So the system answers")
    print('   each in its own right: explain(x, y), and explain(x, y, op="add").')

    print(f"\n{sum(verdicts)} of {len(verdicts)} predictions of what NumPy does held.")
    return 0 if all(verdicts) else 1


def outcome(compute: Callable[..., object], *operands: object) -> str:
    """The dtype that NumPy gives, or the class of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(np.asarray(compute(*operands)).dtype)
        except (TypeError, OverflowError) as e:
            return f"{type(e).__name__}".lstrip("_").replace("UFuncNoLoopError", "TypeError")


def agrees(got: str, p: tl.Promotion) -> bool:
    return said(p) == short(got)


def said(p: tl.Promotion) -> str:
    return "refuses" if p.dtype is None else f"{p.dtype}{'*' * p.weak}"


def short(got: str) -> str:
    return "refuses" if got.endswith("Error") else got


def mark(held: bool) -> str:
    return "ok" if held else "NO"


def because(p: tl.Promotion) -> Iterator[str]:
    """The lines of the system's file that decided, word by word."""
    rule = p.rule
    text = (Path(tl.__file__).parent / "systems" / rule.file).read_text(encoding="utf-8").splitlines()
    for n in rule.lines:
        line = f"{rule.file}:{n}  {' '.join(text[n - 1].split())}"
        yield line if len(line) <= 63 else f"{line[:60]}..."
    if p.reason:
        yield f"so: {p.reason}"


def costs(p: tl.Promotion) -> Iterator[str]:
    """What the casts did to a value that they cannot keep; each is made with NumPy here."""
    for cast in p.casts:
        if cast.loss and cast.loss.first_inexact:
            yield became(cast, cast.loss.first_inexact)
        if cast.loss and cast.loss.magnitude and isinstance(cast.operand.dtype, tl.DType):
            yield became(cast, cast.operand.dtype.max)
    for fit in p.fits:
        if fit.becomes is not None:
            yield f"{fit.value} becomes {np.array(fit.value).astype(np.dtype(fit.target))} in {fit.target}"


def became(cast: OperandCast, value: object) -> str:
    with np.errstate(over="ignore"):
        after = np.array(value, np.dtype(cast.source)).astype(np.dtype(cast.target))
    return f"{value:,} becomes {float(after):,.0f} in {cast.target}"


if __name__ == "__main__":
    sys.exit(main())
