"""Numerical programs of textbooks: the lines that must stay wide are those that the textbooks name.

What is expected was written down before the programs were tuned, as a comment at each program. Where the
search found another place, the comment says so.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from typelattice.repair.tune.operation_sites import ABSORPTION, CANCELLATION, OVERFLOW
from typelattice.repair.tune.tuning_result import Tuning

Tune = Callable[..., Tuning]

# The mean of squares and the square of the mean agree in 8 digits, so float32 has none left. The data must
# stay float64, because of the subtraction in the line `spread`.
NAIVE_VARIANCE = """
import numpy as np
x = 1e4 + np.random.default_rng(0).normal(size=500)
spread = (x * x).mean() - x.mean() ** 2
"""
# Welford's update subtracts the mean from each number first: the same data may be float32.
WELFORD = """
import numpy as np
x = 1e4 + np.random.default_rng(0).normal(size=500)
mean = 0.0
squares = 0.0
count = 0
for value in x:
    count = count + 1
    delta = value - mean
    mean = mean + delta / count
    squares = squares + delta * (value - mean)
print(squares / count)
"""
# In float16 a sum of ones stops at 2,048, because 2,049 has no float16. The sum must begin with a float32.
RUNNING_SUM = """
import numpy as np
x = np.ones(4096, np.float16)
total = np.float16(0)
for value in x:
    total = total + value
print(total)
"""
# exp(30) is above 65,504, the largest float16. Logits must stay wider because of the line `powers`.
NAIVE_SOFTMAX = """
import numpy as np
logits = np.linspace(0.0, 30.0, 64)
powers = np.exp(logits)
shares = powers / powers.sum()
"""
# With the largest logit subtracted no power is above 1.
SHIFTED_SOFTMAX = """
import numpy as np
logits = np.linspace(0.0, 30.0, 64)
powers = np.exp(logits - logits.max())
shares = powers / powers.sum()
"""
# The columns of a Läuchli matrix differ by 1e-5. Classical Gram-Schmidt loses that the second direction has a
# first component of 1e-5, as it subtracts nearly equal vectors. So the third vector is wrong in float32.
# Expected: the matrix stays float64. Found: its numbers bear float32, and the norm of the first vector does
# not, because of the same subtraction.
GRAM_SCHMIDT = """
import numpy as np
e = 1e-5
a = np.array([[1.0, 1.0, 1.0], [e, 0.0, 0.0], [0.0, e, 0.0], [0.0, 0.0, e]])
first = a[:, 0] / np.sqrt((a[:, 0] * a[:, 0]).sum())
rest = a[:, 1] - first * (first * a[:, 1]).sum()
second = rest / np.sqrt((rest * rest).sum())
last = a[:, 2] - first * (first * a[:, 2]).sum() - second * (second * a[:, 2]).sum()
third = last / np.sqrt((last * last).sum())
"""
# A good measurement shrinks the variance by 1e8: P - K P subtracts nearly equal numbers, so P stays float64.
KALMAN = """
import numpy as np
P = np.full((1, 1), 1.0)
noise = np.full((1, 1), 1e-9)
gain = P / (P + noise)
P = P - gain * P
print(P[0, 0])
"""
# Updates of 1e-4 are below half a unit in the last place of a float16 near 1: the position must stay wider.
ORBIT = """
import numpy as np
position = np.array([1.0, 0.0])
speed = np.array([0.0, 1.0])
step = 1e-4
for _ in range(2000):
    radius = np.sqrt((position * position).sum())
    speed = speed - step * position / radius**3
    position = position + step * speed
print(position[0], position[1])
"""
# Three equal masses on the orbit of an eight. Updates of 1e-4 are below half a unit in the last place of a
# float16 near 1, so the positions must stay wider because of the line that moves them. With 1e-6 in place of
# 1e-2 the search found another reason first: its power is 0 in float16, and the forces are no numbers.
THREE_BODIES = """
import numpy as np
positions = np.array([[0.970, -0.243], [-0.970, 0.243], [0.0, 0.0]])
speeds = np.array([[0.466, 0.432], [0.466, 0.432], [-0.932, -0.864]])
step = 2e-4
for _ in range(300):
    apart = positions[:, None] - positions[None]
    cubes = ((apart * apart).sum(axis=2) + 1e-2) ** 1.5
    speeds = speeds - step * (apart / cubes[:, :, None]).sum(axis=1)
    positions = positions + step * speeds
np.save("positions.npy", positions)
"""
# The Hilbert matrix of 6 rows has a condition of 1e7, so float32 leaves no digit. Expected: the matrix is
# made in float64. Found: the right side is computed from the matrix, so a rounded matrix has the same
# solution, and the residual must stay wide.
CONJUGATE_GRADIENTS = """
import numpy as np
i = np.arange(6.0)
A = 1 / (i[:, None] + i + 1)
b = A @ np.ones(6)
x = np.zeros(6)
r = b - A @ x
p = r.copy()
old = r @ r
for _ in range(12):
    q = A @ p
    alpha = old / (p @ q)
    x = x + alpha * p
    r = r - alpha * q
    new = r @ r
    if new < 1e-28:
        break
    p = r + (new / old) * p
    old = new
np.save("x.npy", x)
"""


def wide_lines(tuning: Tuning) -> dict[int, tuple[str, int]]:
    """Map the lines that stay wide to the sort of loss and its line."""
    return {each.line: (each.sort, each.reason_line) for each in tuning.wide_lines}


def test_naive_variance_cancels_in_float32(tune_script: Tune) -> None:
    """The data must stay float64, and the subtraction says why."""
    assert wide_lines(tune_script(NAIVE_VARIANCE, 1e-3, dtypes=("float32",))) == {3: (CANCELLATION, 4)}


def test_welford_bears_float32(tune_script: Tune) -> None:
    """The same data may be float32 for Welford's variance."""
    tuning = tune_script(WELFORD, 1e-3, dtypes=("float32",))
    assert wide_lines(tuning) == {}
    assert tuning.saves and "float32" in tuning.diff(tuning.narrowed.number)  # type: ignore[union-attr]


def test_a_running_sum_in_float16_sticks(tune_script: Tune) -> None:
    """The smallest widening of the program is that of its sum; its data stay float16."""
    tuning = tune_script(RUNNING_SUM, 1e-3)
    assert tuning.widening is not None and tuning.widening.misses
    assert [(place.line, place.text) for place in tuning.widening.places] == [(4, "np.float16(0)")]
    assert tuning.widening.before == pytest.approx(0.5)
    assert tuning.widening.after == 0
    (wide,) = tuning.wide_lines
    assert (wide.sort, wide.reason_line, wide.dtype) == (ABSORPTION, 6, "float32")
    assert "sticks at 2,048" in wide.reason


def test_softmax_of_large_logits_overflows_in_float16(tune_script: Tune) -> None:
    """The logits stay float32 because of the exponential, and may be float16 if it is shifted."""
    assert wide_lines(tune_script(NAIVE_SOFTMAX, 2e-2)) == {3: (OVERFLOW, 4)}
    assert wide_lines(tune_script(SHIFTED_SOFTMAX, 2e-2)) == {}


@pytest.mark.parametrize(
    ("text", "tolerance", "line", "reason_line"),
    [(GRAM_SCHMIDT, 1e-3, 5, 6), (KALMAN, 1e-3, 3, 6)],
    ids=["Gram-Schmidt", "Kalman"],
)
def test_differences_of_nearly_equal_arrays_cancel(
    tune_script: Tune, text: str, tolerance: float, line: int, reason_line: int
) -> None:
    """What is subtracted stays float64."""
    found = wide_lines(tune_script(text, tolerance, dtypes=("float32",)))
    assert found[line] == (CANCELLATION, reason_line)


def test_an_orbit_absorbs_its_steps_in_float16(tune_script: Tune) -> None:
    """The position must stay wider than float16, because its updates are absorbed."""
    found = wide_lines(tune_script(ORBIT, 1e-3, dtypes=("float32", "float16")))
    assert found in ({3: (ABSORPTION, 9)}, {4: (ABSORPTION, 9)})  # each of both makes the other one wide


def test_three_bodies_absorb_their_steps_in_float16(tune_script: Tune) -> None:
    """The positions must stay wider than float16, because their updates are absorbed."""
    tuning = tune_script(THREE_BODIES, 1e-3, dtypes=("float32", "float16"))
    assert wide_lines(tuning)[3] == (ABSORPTION, 10)
    assert tuning.narrowed is not None
    assert {dtype for place, dtype in tuning.narrowed.choices() if place.line == 3} == {"float32"}


def test_conjugate_gradients_keep_the_residual_wide(tune_script: Tune) -> None:
    """What the residual is made of stays float64: its update cancels."""
    tuning = tune_script(CONJUGATE_GRADIENTS, 1e-6, dtypes=("float32",))
    assert (CANCELLATION, 14) in wide_lines(tuning).values()
