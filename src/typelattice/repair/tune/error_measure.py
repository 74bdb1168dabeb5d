"""The error of a configuration: its results against the truth, by norm, by element, or in ulp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import dist, frexp, hypot, inf, isfinite, isnan

from typelattice.core.dtypes.dtypes import DTYPES, real_part_dtype
from typelattice.repair.copies.kept_values import NUMBER_PATTERN, KeptValue, read_numbers
from typelattice.repair.proof.value_comparison import without_dtypes

MEASURES = {
    "norm": "relative by norm: the 2-norm of the difference over that of the truth, of each result",
    "element": "relative by element: the largest of |difference| / |truth|",
    "ulp": "in units in the last place of the program's own dtype, by element",
}
PRINTED_LINE_NAME = "line {} of what is printed"


@dataclass(frozen=True, slots=True)
class MeasuredError:
    """The largest error of some results, the name of that result, and why they cannot be compared, if so."""

    error: float = 0.0
    name: str = ""
    reason: str = ""


def printed_values(text: str) -> Iterator[tuple[str, KeptValue]]:
    """Yield the numbers of each printed line that has any, under a name for the line."""
    for i, line in enumerate(text.splitlines(), 1):
        found = read_numbers(line)
        if found.numbers:
            yield PRINTED_LINE_NAME.format(i), found


def printed_words(text: str) -> str:
    """Return what is printed without its numbers and dtypes."""
    return without_dtypes(" ".join(NUMBER_PATTERN.sub("0", text).split()))


def measure_error(
    truth: Mapping[str, KeptValue],
    found: Mapping[str, KeptValue],
    measure: str,
    own_dtypes: Mapping[str, str],
) -> MeasuredError:
    """Measure the largest error of the results among some values. A result that is missing is a reason."""
    largest = MeasuredError()
    for name, true in truth.items():
        value = found.get(name)
        if value is None:
            return MeasuredError(inf, name, f"{name} is missing")
        if len(value.numbers) != len(true.numbers):
            return MeasuredError(inf, name, f"{name} has another shape")
        precision = precision_of(own_dtypes.get(name, ""))
        error = error_of(true, value, measure, precision)
        if error == inf and not all(map(isfinite, value.numbers)):
            return MeasuredError(inf, name, f"{name} is no longer finite")
        if error > largest.error:
            largest = MeasuredError(error, name)
    return largest


def error_of(true: KeptValue, found: KeptValue, measure: str, precision: int) -> float:
    """Return the error of one result."""
    if measure == "norm" and isfinite(difference := dist(true.numbers, found.numbers)):  # parts count alike
        size = hypot(*true.numbers)
        return difference / size if size else (inf if difference else 0.0)
    pairs = [*zip(join_parts(true), join_parts(found), strict=True)]
    if measure == "norm":
        difference = hypot(*(apart(a, b) for a, b in pairs))
        size = hypot(*(abs(a) for a, _ in pairs if isfinite(abs(a))))
        return difference / size if size else (inf if difference else 0.0)
    errors = (error_of_element(a, b, measure, precision) for a, b in pairs)
    return max(errors, default=0.0)


def error_of_element(a: complex, b: complex, measure: str, precision: int) -> float:
    """Return the error of one number."""
    difference = apart(a, b)
    if not difference:
        return 0.0
    if measure == "ulp":
        return difference / 2.0 ** (frexp(abs(a))[1] - precision)
    return difference / abs(a) if a else inf


def apart(a: complex, b: complex) -> float:
    """Return how far two numbers are apart. Infinite ones and NaN are only equal to themselves."""
    if a == b or (isnan(abs(a)) and isnan(abs(b))):
        return 0.0
    found = abs(a - b)
    return inf if isnan(found) else found


def join_parts(value: KeptValue) -> list[complex] | tuple[float, ...]:
    """Return the numbers of a value, whose real and imaginary parts are kept in turn."""
    if not value.dtype.startswith("complex"):
        return value.numbers
    return [complex(*pair) for pair in zip(value.numbers[::2], value.numbers[1::2], strict=True)]


def precision_of(dtype: str) -> int:
    """Return the bits of the significand of a float dtype, those of float64 for anything else."""
    known = DTYPES.get(dtype)
    return (real_part_dtype(known).precision if known is not None and "float" in dtype else None) or 53
