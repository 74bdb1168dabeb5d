"""The values of PyTorch's operations: updates that change nothing, sums that stick, the first NaN, and casts.

Each check compares an operation with the same one in float64. A check reads tensors, and writes into none of
the program's. It runs below autograd, autocast and the modes of the dispatcher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.tracing.library_traits.array_values import is_real_float
from typelattice.tracing.library_traits.unchanged_numbers import MAX_FEW_DIGITS, MIN_UNCHANGED_SHARE
from typelattice.tracing.library_traits.value_losses import MAX_LOST_SHARE, UNFILLED_FUNCTIONS
from typelattice.tracing.run_data.operation_log import OperationLog, Tally
from typelattice.tracing.run_data.run import (
    LOST_DIGITS,
    NO_CHANGE,
    NOT_FINITE,
    ROUNDED_CONSTANT,
    SATURATED,
    UNDERFLOW,
    WRAPPED,
)

UPDATES = ("add_", "sub_", "mul_", "div_", "addcmul_", "addcdiv_", "lerp_")
FOREACH, FUSED = "_foreach_", "_fused_"
INTEGER_PRODUCT = "_int_mm"  # takes integers alone, and gives the same as another product
SUMS = ("sum", "mean", "cumsum", "prod", "cumprod", "nansum", "linalg_vector_norm", "var", "std")
PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "mv", "dot", INTEGER_PRODUCT)
INTEGER_OPERATIONS = (
    "add", "sub", "mul", "pow", "neg", "sum", "prod", "cumsum", "cumprod", *PRODUCTS, *UPDATES,
)  # fmt: skip
SCALING = ("mul", "div", "pow", "square", *PRODUCTS)
"""Operations whose results may be too small for float16."""
CASTS = ("_to_copy", "copy_", "_copy_from")
FILLS = ("full", "fill_", "scalar_tensor", "full_like", "new_full")
POSITIONS = ("arange",)
UNINITIALIZED = (*UNFILLED_FUNCTIONS, "resize", "set_")
MAX_SHADOW_NUMBERS, MAX_SHADOWS = 4_096, 4_096
MAX_NUMBERS = 1 << 26  # numbers of a larger tensor are not checked
MIN_UNDERFLOW_SHARE = 1 / 8  # share of the nonzero numbers that become 0
MIN_SATURATED_SHARE = 1 / 100
ALWAYS_CHECKED, CHECKED_STEP = 16, 16  # the first runs of an operation at a place, and each so many later
MAX_INT_BITS = 32  # products of longer integers, such as those of hashes, are meant to wrap
WIDEN = "keep it in float32"
UNREPEATABLE = (RuntimeError, TypeError, IndexError)  # errors of operations that have no kernel for float64


@dataclass(frozen=True, slots=True)
class _Call:
    """An operation that ran: its name without overloads, its call, arguments, results, and tensors it wrote.

    `before` has the numbers of the written tensors before it ran, or is empty. `repeat` runs it again, unless
    it draws numbers.
    """

    name: str
    repeat: Callable[..., Any] | None
    args: Sequence[Any]
    keywords: Mapping[str, Any]
    gives: Sequence[Any]
    written: Sequence[Any]
    before: Sequence[Any]


class TorchValues:
    """The checks of values of a run of PyTorch. It reports losses to the log."""

    def __init__(self, torch: Any, log: OperationLog, key_of: Callable[[Any], int | None]) -> None:
        self.torch, self.log, self.key_of = torch, log, key_of
        self.dtypes: dict[Any, DType | None] = {}
        self.shadows: dict[int, tuple[Any, Any]] = {}
        self.log.checks_values = True

    def guards(self) -> tuple[Any, ...]:
        """Return the guards in which a check runs."""
        c = self.torch._C
        return c._DisableTorchDispatch(), c._AutoDispatchBelowAutograd(), c.DisableTorchFunctionSubclass()

    def dtype_of(self, x: Any) -> DType | None:
        if x.dtype not in self.dtypes:
            self.dtypes[x.dtype] = DTYPES.get(str(x.dtype).removeprefix("torch."))
        return self.dtypes[x.dtype]

    def is_narrow(self, x: Any) -> bool:
        dtype = self.dtype_of(x)
        return dtype is not None and is_real_float(dtype) and (dtype.bits or 64) <= 16

    def is_float(self, x: Any) -> bool:
        dtype = self.dtype_of(x)
        return dtype is not None and is_real_float(dtype)

    def is_integer(self, x: Any) -> bool:
        dtype = self.dtype_of(x)
        return dtype is not None and dtype.kind in (Kind.SIGNED, Kind.UNSIGNED)

    def is_short_integer(self, x: Any) -> bool:
        dtype = self.dtype_of(x)
        return dtype is not None and self.is_integer(x) and (dtype.bits or 64) <= MAX_INT_BITS

    def is_readable(self, x: Any) -> bool:
        """Return True for a plain tensor with numbers, which are not too many."""
        if x.is_meta or x.is_quantized or x.is_nested or x.layout is not self.torch.strided:
            return False
        return bool(0 < x.numel() <= MAX_NUMBERS)

    # -- before an operation

    def copy_written(self, name: str, written: Sequence[Any]) -> list[Any]:
        """Copy the numbers that an update is about to overwrite, if it is checked."""
        if not name.startswith((*UPDATES, FOREACH, FUSED)):
            return []
        if not all(self.is_readable(x) for x in written):
            return []
        if not any(self.is_narrow(x) or self.is_short_integer(x) for x in written):
            return []
        return [x.detach().clone() for x in written]

    # -- after an operation

    def check(
        self, tally: Tally, name: str, repeat: Callable[..., Any] | None, args: Sequence[Any],
        keywords: Mapping[str, Any], takes: Sequence[Any], gives: Sequence[Any], written: Sequence[Any],
        before: Sequence[Any],
    ) -> None:  # fmt: skip
        """Check the values of an operation that has run."""
        results = [x for x in (*gives, *written) if self.is_readable(x)]
        if any(not x.is_meta and x.numel() and not self.is_readable(x) for x in (*gives, *written)):
            self.log.note_unchecked("results that are sparse, quantized or nested, or of too many numbers")
        if not results or not all(self.is_readable(x) for x in takes):
            return
        call = _Call(name, repeat, args, keywords, gives, written, before)
        self.log.checked_count += 1
        self.check_finite(tally, call, takes, results)
        if tally.count > ALWAYS_CHECKED and tally.count % CHECKED_STEP and not self.has_shadow(call):
            self.log.note_unchecked("results of loops, but for infinite numbers and NaN")
            return
        for loss in self.find_losses(call, takes):
            self.log.add_loss(tally, *loss)

    def find_losses(self, call: _Call, takes: Sequence[Any]) -> Iterator[tuple[str, int, int, str]]:
        """Yield the losses of an operation: the rule, how many numbers of how many, and a description."""
        result = (*call.written, *call.gives)[0]
        if call.before:
            yield from self.find_lost_updates(call)
        elif call.name in CASTS:
            source = next((x for x in reversed(takes) if x is not result), None)
            if source is not None and source.shape == result.shape:
                yield from self.find_lost_in_cast(source, result)
        elif call.name in FILLS and self.is_narrow(result):
            numbers = [x for x in call.args if type(x) in (int, float)]
            yield from self.find_rounded_constant(numbers[-1:], result)
        elif call.name in POSITIONS and self.is_narrow(result):
            exact = self.run_wide(call, {"dtype": self.torch.float64})
            yield from self.find_rounded_positions(exact, result)
        elif call.name in INTEGER_OPERATIONS and self.is_short_integer(result):
            yield from self.find_wrapped(call, result)
        elif call.name in SUMS and self.is_narrow(result):
            yield from self.find_lost_digits(call, result)
        elif call.name in SCALING and result.dtype == self.torch.float16:
            yield from self.find_underflow(self.run_wide(call), result)

    # -- infinite numbers and NaN

    def check_finite(self, tally: Tally, call: _Call, takes: Sequence[Any], results: Sequence[Any]) -> None:
        """Report a result that is the first to be infinite in its dtype, or NaN."""
        bad = [x for x in results if self.is_float(x) and not self.all_finite(x)]
        if not bad or not takes or self.is_meant_infinite(call):
            return
        written = {id(x) for x in call.written}
        operands = [x for x in takes if id(x) not in written and self.is_float(x)]
        operands += [x for x in call.before if self.is_float(x)]
        has_nan = self.has_nan(bad)
        if not all(self.all_finite(x) for x in operands):
            if has_nan and not self.has_nan(operands) and self.log.first_infinite is not None:
                what = "became NaN, of infinite operands"
                self.log.add_loss(
                    tally, NOT_FINITE, *self.count_bad(bad), what, self.log.first_infinite
                )
            return
        dtype = self.dtype_of(bad[0])
        wide = None if has_nan else self.run_wide(call)
        if has_nan or call.name in CASTS or (wide is not None and self.all_finite(wide)):
            became = "NaN" if has_nan else "infinite"
            what = f"became {became} in {dtype}, of finite operands"
            if not has_nan and self.is_narrow(bad[0]):
                what += f"; {WIDEN}, or scale it"
            self.log.add_loss(tally, NOT_FINITE, *self.count_bad(bad), what)
        if self.log.first_infinite is None:
            self.log.first_infinite = tally.place

    def is_meant_infinite(self, call: _Call) -> bool:
        """Return True if an operation fills in numbers, or if its numbers before are not known."""
        if call.name.startswith(UNINITIALIZED) or call.name in FILLS:
            return True
        if call.written and not call.before and call.name not in CASTS:
            return True
        numbers = [x for x in (*call.args, *call.keywords.values()) if type(x) is float]
        return not all(isfinite(x) for x in numbers)

    def has_nan(self, tensors: Sequence[Any]) -> bool:
        return any(bool(self.torch.isnan(self.plain(x)).any()) for x in tensors)

    def count_bad(self, bad: Sequence[Any]) -> tuple[int, int]:
        lost = sum(int((~self.torch.isfinite(self.plain(x))).sum()) for x in bad)
        return lost, sum(x.numel() for x in bad)

    def plain(self, x: Any) -> Any:
        """Return a tensor of float8 in a dtype that has all functions, and any other as it is."""
        return x.detach().float() if self.is_narrow(x) and x.element_size() == 1 else x.detach()

    def all_finite(self, x: Any) -> bool:
        """Return True if all numbers are finite. A sum tells this at once in most cases."""
        x = self.plain(x)
        total = x.sum(dtype=self.torch.float32) if x.element_size() < 4 else x.sum()
        return bool(self.torch.isfinite(total)) or bool(self.torch.isfinite(x).all())

    # -- updates

    def has_shadow(self, call: _Call) -> bool:
        return len(call.written) == 1 and self.key_of(call.written[0]) in self.shadows

    def find_lost_updates(self, call: _Call) -> Iterator[tuple[str, int, int, str]]:
        """Yield the losses of an update in place: what it did not change, and what it has lost so far.

        A Python number that is added may only keep a divisor from being zero. If it is added again and again,
        the shadow tells what was lost.
        """
        torch = self.torch
        target, old = call.written[0], call.before[0]
        if self.is_short_integer(target):
            yield from self.find_wrapped(call, target)
            return
        wide = self.repeat_update(call)
        if wide is None:
            return
        lost = expected = 0
        example = ""
        for new, before, after in zip(call.written, call.before, wide, strict=True):
            if not self.is_narrow(new):
                continue
            should = (after != before.double()) & torch.isfinite(after)
            same = should & (new == before)
            lost, expected = lost + int(same.sum()), expected + int(should.sum())
            if not example and bool(same.any()):
                at = int(same.flatten().int().argmax())
                number, update = float(before.flatten()[at]), float(after.flatten()[at])
                example = f"such as {number:.9g}, where {update:.9g} was meant, in {self.dtype_of(new)}"
        adds_number = "add" in call.name or "sub" in call.name
        adds_number = adds_number and any(type(x) in (int, float) for x in call.args[1:2])
        if not adds_number and expected and lost >= MIN_UNCHANGED_SHARE * expected:
            yield NO_CHANGE, lost, expected, f"that should change stayed the same, {example}; {WIDEN}"
        if len(call.written) == 1 and call.name in ("add_", "sub_") and target.numel() <= MAX_SHADOW_NUMBERS:
            yield from self.carry_shadow(call, target, old)

    def carry_shadow(self, call: _Call, target: Any, old: Any) -> Iterator[tuple[str, int, int, str]]:
        """Carry the float64 shadow of a running sum through an addition, and yield the digits it has lost."""
        key = self.key_of(target)
        if key is None:
            return
        known = self.shadows.pop(key, None)
        start = old.double()
        if known is not None and known[1].shape == old.shape and bool((known[1] == old).all()):
            start = known[0]
        made = self.repeat_update(call, [start.clone()])
        if made is None:
            return
        apart = (made[0] - target.double()).abs()
        bad = apart > MAX_LOST_SHARE * made[0].abs().max()
        if bool(bad.any()):
            at = int(bad.flatten().int().argmax())
            exact, now = float(made[0].flatten()[at]), float(target.flatten()[at])
            what = f"lost digits over several steps, such as {exact:.9g}, which is {now:.9g} in "
            yield LOST_DIGITS, int(bad.sum()), target.numel(), f"{what}{self.dtype_of(target)}; {WIDEN}"
            return
        if len(self.shadows) >= MAX_SHADOWS:
            self.shadows.clear()
        self.shadows[key] = made[0], target.detach().clone()

    def repeat_update(self, call: _Call, starts: Sequence[Any] = ()) -> list[Any] | None:
        """Repeat an update in float64, from the numbers before or from others. Return the numbers after."""
        before = [*starts] or [self.widen(x).clone() for x in call.before]
        by_id = {id(x): wide for x, wide in zip(call.written, before, strict=True)}
        if call.repeat is None:
            return None
        args = [self.widen_nested(x, by_id) for x in call.args]
        keywords = {key: self.widen_nested(x, by_id) for key, x in call.keywords.items()}
        try:
            call.repeat(*args, **keywords)
        except UNREPEATABLE:
            self.log.note_unchecked(f"results of {call.name}, which did not run in float64")
            return None
        return before

    # -- the same operation in float64

    def widen(self, x: Any) -> Any:
        return x.detach().double() if self.is_float(x) or self.is_short_integer(x) else x

    def widen_nested(self, x: Any, by_id: Mapping[int, Any]) -> Any:
        if isinstance(x, self.torch.Tensor):
            known = by_id.get(id(x))
            return self.widen(x) if known is None else known
        if type(x) in (list, tuple):
            return type(x)(self.widen_nested(each, by_id) for each in x)
        return x

    def run_wide(self, call: _Call, options: Mapping[str, Any] | None = None) -> Any:
        """Run an operation in float64, or return None if it cannot be."""
        keywords = {**call.keywords, **(options or {})}
        if "dtype" in keywords:
            keywords["dtype"] = self.torch.float64
        run = self.torch.mm if call.name == INTEGER_PRODUCT else call.repeat
        if run is None:
            self.log.note_unchecked(f"results of {call.name}, which draws numbers")
        if run is None or (call.written and not call.before):
            return None
        try:
            found = run(*(self.widen_nested(x, {}) for x in call.args),
                             **{k: self.widen_nested(x, {}) for k, x in keywords.items()})  # fmt: skip
        except UNREPEATABLE:
            self.log.note_unchecked(f"results of {call.name}, which did not run in float64")
            return None
        found = found[0] if isinstance(found, (tuple, list)) and found else found
        return found if isinstance(found, self.torch.Tensor) else None

    # -- casts, constants, integers and sums

    def find_lost_in_cast(self, source: Any, result: Any) -> Iterator[tuple[str, int, int, str]]:
        """Yield the losses of a cast to a narrower float: zeros, the largest number, constants, positions."""
        dtype = self.dtype_of(result)
        if dtype is None or not self.is_narrow(result) or source.dtype == result.dtype:
            return
        if self.is_integer(source):
            yield from self.find_rounded_positions(source.double(), result)
            return
        if not self.is_float(source) or source.element_size() < result.element_size():
            return
        if source.dim() == 0:
            yield from self.find_rounded_constant([float(source)], result)
            return
        before, after = source.detach().float(), self.plain(result).float()
        zero = (after == 0) & (before != 0)
        nonzero = int((before != 0).sum())
        if nonzero and int(zero.sum()) >= MIN_UNDERFLOW_SHARE * nonzero:
            yield from self.describe_underflow(zero, before, nonzero, dtype)
        largest = float(dtype.max or float("inf"))
        over = (before.abs() > largest) & (after.abs() == largest)
        if int(over.sum()) >= MIN_SATURATED_SHARE * before.numel():
            at = int(over.flatten().int().argmax())
            what = f"became the largest of {dtype}, such as {float(before.flatten()[at]):.9g}; scale them"
            yield SATURATED, int(over.sum()), before.numel(), what

    def describe_underflow(
        self, zero: Any, before: Any, nonzero: int, dtype: DType | None
    ) -> Iterator[tuple[str, int, int, str]]:
        at = int(zero.flatten().int().argmax())
        what = f"that were not 0 became 0 in {dtype}, such as {float(before.flatten()[at]):.9g}"
        yield UNDERFLOW, int(zero.sum()), nonzero, f"{what}; scale them, or keep them wider"

    def find_underflow(self, wide: Any, result: Any) -> Iterator[tuple[str, int, int, str]]:
        """Yield the loss of results that are 0 only in their dtype."""
        if wide is None or wide.shape != result.shape:
            return
        zero, nonzero = (result == 0) & (wide != 0), int((wide != 0).sum())
        if nonzero and int(zero.sum()) >= MIN_UNDERFLOW_SHARE * nonzero:
            yield from self.describe_underflow(zero, wide, nonzero, self.dtype_of(result))

    def find_rounded_constant(
        self, numbers: Sequence[float], result: Any
    ) -> Iterator[tuple[str, int, int, str]]:
        for x in numbers:
            if x != x or abs(x) == float("inf") or x in (0, 1, -1):
                continue
            became = float(self.torch.tensor(float(x), dtype=self.torch.float64).to(result.dtype))
            if became in (0, 1, -1) or abs(became) == float("inf"):
                what = f"in the code is another one in {self.dtype_of(result)}: {x:.9g} is {became:.9g}"
                yield ROUNDED_CONSTANT, 1, 1, f"{what}; {WIDEN}"

    def find_rounded_positions(self, exact: Any, result: Any) -> Iterator[tuple[str, int, int, str]]:
        """Yield the loss of integers that a float of few digits rounds."""
        dtype = self.dtype_of(result)
        if exact is None or dtype is None or (dtype.precision or 0) > MAX_FEW_DIGITS:
            return
        lost = exact != self.plain(result).double()
        if bool(lost.any()):
            at = int(lost.flatten().int().argmax())
            now = float(self.plain(result).flatten()[at])
            what = f"lost digits, such as {float(exact.flatten()[at]):.9g}, which is {now:.9g} in {dtype}"
            yield LOST_DIGITS, int(lost.sum()), result.numel(), f"{what}; {WIDEN}, or as integers"

    def find_wrapped(self, call: _Call, result: Any) -> Iterator[tuple[str, int, int, str]]:
        """Yield the loss of integers that did not fit."""
        if call.before:
            made = self.repeat_update(call)
            wide = made[0] if made else None
        else:
            wide = self.run_wide(call)
        if wide is None or wide.shape != result.shape:
            return
        lost = (wide - result.double()).abs() >= 1
        lost &= self.torch.isfinite(wide)
        dtype = self.dtype_of(result)
        if dtype is not None and dtype.max is not None and dtype.min is not None:
            lost &= (wide > dtype.max) | (wide < dtype.min)
        if bool(lost.any()):
            at = int(lost.flatten().int().argmax())
            now = int(result.flatten()[at])
            what = f"wrapped, such as {float(wide.flatten()[at]):.9g}, which is {now} in {dtype}"
            yield WRAPPED, int(lost.sum()), result.numel(), f"{what}; add up in a wider integer"

    def find_lost_digits(self, call: _Call, result: Any) -> Iterator[tuple[str, int, int, str]]:
        """Yield the digits that a sum has lost, compared with float64."""
        wide = self.run_wide(call)
        if wide is None or wide.shape != result.shape:
            return
        lost = (wide - result.double()).abs() > MAX_LOST_SHARE * wide.abs()
        lost &= self.torch.isfinite(result.double())
        if bool(lost.any()):
            at = int(lost.flatten().int().argmax())
            exact, now = float(wide.flatten()[at]), float(result.double().flatten()[at])
            what = f"lost digits, such as {exact:.9g}, which is {now:.9g} in {self.dtype_of(result)}"
            yield LOST_DIGITS, int(lost.sum()), result.numel(), f"{what}; add up in float32"

    def forget(self, key: int) -> None:
        """Forget memory that is free."""
        self.shadows.pop(key, None)
