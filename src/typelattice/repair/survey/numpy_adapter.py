"""NumPy's side of a survey: arguments at another width, arrays for recipes, and the floats of a result."""

from __future__ import annotations

import enum
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

NARROW_FLOAT, WIDE_FLOAT = "float32", "float64"
PLAIN_CLASSES = (
    type(None), str, bytes, bool, int, float, complex, slice, range, type(...), ModuleType, enum.Enum,
)  # fmt: skip
WIDE_DTYPE_OBJECTS = (float, complex, np.float64, np.complex128)
WIDE_DTYPE_NAMES = (WIDE_FLOAT, "complex128", "float", "complex", "double", "d", "f8")
MAX_DEPTH = 4
MAX_ITEMS = 50
"""Levels and items of containers that are read."""


class UnconvertibleError(Exception):
    """An argument that holds wide floats, or requests them, and cannot be converted."""


@dataclass(slots=True)
class Conversion:
    """A conversion of arguments to floats of one width. `array_count` counts the arrays made such floats.

    `integer_treatment`: "narrow" makes them int16 where they fit, so that they do not widen; "float" makes
    them floats; "keep" leaves them. `converts_lists`: lists of numbers become arrays. `converts_scalars`:
    Python's floats become NumPy's. `wide_integer_count` counts the integers that stayed so wide that they
    widen floats by themselves, `unconverted_count` all numbers that stayed no floats of the width.
    """

    width: str
    integer_treatment: str
    converts_lists: bool
    converts_scalars: bool = False
    array_count: int = 0
    wide_integer_count: int = 0
    unconverted_count: int = 0
    callbacks: dict[int, Callable[..., Any]] = field(default_factory=dict)

    def convert(self, argument: Any, depth: int = 0) -> Any:
        """Convert an argument without changing the original. Raises UnconvertibleError."""
        # NumPy's scalars first: np.float64 is also one of Python's floats
        if isinstance(argument, np.generic) and not isinstance(argument, np.void):
            return self._convert_scalar(argument)
        if isinstance(argument, PLAIN_CLASSES):
            return self._convert_plain(argument)
        if isinstance(argument, (np.dtype, type)):
            if any(
                argument is wide or (isinstance(argument, np.dtype) and argument == wide)
                for wide in WIDE_DTYPE_OBJECTS
            ):
                raise UnconvertibleError
            return argument
        if isinstance(argument, np.ndarray) and argument.dtype == object:
            return argument.copy()
        if hasattr(argument, "dtypes") and hasattr(argument, "astype"):
            return self._convert_frame(argument)
        if hasattr(argument, "dtype") and hasattr(argument, "astype"):
            return self._convert_array(argument)
        if depth > MAX_DEPTH:
            raise UnconvertibleError
        if isinstance(argument, (list, tuple)):
            return self._convert_sequence(argument, depth)
        if isinstance(argument, dict):
            return type(argument)((key, self.convert(each, depth + 1)) for key, each in argument.items())
        if isinstance(argument, FunctionType):
            return self.callbacks.setdefault(id(argument), self._wrap_callback(argument))
        if inspect.isroutine(argument) or isinstance(argument, (set, frozenset, functools.partial)):
            return argument
        return self._convert_object(argument)

    def _convert_plain(self, value: Any) -> Any:
        if isinstance(value, str) and value in WIDE_DTYPE_NAMES:
            raise UnconvertibleError
        if isinstance(value, (float, complex)):
            self.unconverted_count += not self.converts_scalars
            self.array_count += self.converts_scalars
            return (
                self.replacement_dtype(np.array(value).dtype).type(value) if self.converts_scalars else value
            )
        return value

    def replacement_dtype(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype that replaces a dtype."""
        if dtype.kind == "f" or (dtype.kind in "iu" and self.integer_treatment == "float"):
            return np.dtype(self.width)
        if dtype.kind == "c":
            return np.result_type(self.width, np.complex64)
        return dtype

    def _convert_scalar(self, scalar: Any) -> Any:
        self.array_count += self.converts_scalars and scalar.dtype.kind in "fc"
        if isinstance(scalar, np.integer) and self.integer_treatment == "narrow":
            return int(scalar)  # Python's int adds no width
        return self.replacement_dtype(scalar.dtype).type(scalar) if scalar.dtype.kind in "fciu" else scalar

    def _convert_array(self, array: Any) -> Any:
        dtype: np.dtype[Any] | None = None
        with suppress(TypeError):
            dtype = np.dtype(array.dtype)
        if dtype is None or dtype.kind not in "fciu":
            return array.copy() if hasattr(array, "copy") else array
        target_dtype = self.replacement_dtype(dtype)
        if target_dtype.kind in "iu" and self.integer_treatment == "narrow":
            target_dtype = self._narrow_integer_dtype(array, target_dtype)
        self.array_count += target_dtype.kind in "fc"
        self.wide_integer_count += target_dtype.kind in "iu" and target_dtype.itemsize > 2
        self.unconverted_count += target_dtype.kind in "iu"
        return array.astype(target_dtype)

    @staticmethod
    def _narrow_integer_dtype(array: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
        with suppress(Exception):  # arrays of other libraries
            values = np.asarray(array)
            if values.size and abs(int(values.min())) < 2**15 and abs(int(values.max())) < 2**15:
                return np.dtype(np.int16)
        return dtype

    def _convert_frame(self, frame: Any) -> Any:
        """Convert a table column by column."""
        dtypes = frame.dtypes
        if not hasattr(dtypes, "items"):  # a single column
            return self._convert_array(frame)
        target_dtypes = {}
        for name, each in dtypes.items():
            with suppress(TypeError):
                dtype = np.dtype(each)
                if self.replacement_dtype(dtype) != dtype or dtype.kind in "fc":
                    target_dtypes[name] = self.replacement_dtype(dtype)
                elif dtype.kind in "iu":
                    self.wide_integer_count += dtype.itemsize > 2
        self.array_count += len(target_dtypes)
        try:
            return frame.astype(target_dtypes) if target_dtypes else frame.copy()
        except Exception:  # some classes of tables take no mapping
            if len({*target_dtypes.values()}) != 1 or len(target_dtypes) != len(dtypes):
                raise UnconvertibleError from None
            return frame.astype(next(iter(target_dtypes.values())))

    def _convert_sequence(self, sequence: Any, depth: int) -> Any:
        """Convert a list, or a tuple with its items; lists of numbers may become arrays."""
        nested = isinstance(sequence, list) or any(isinstance(each, (list, tuple)) for each in sequence)
        numbers: Any = None
        if nested and sequence:
            with suppress(Exception):
                numbers = np.array(sequence) if _holds_numbers(sequence) else None
        if numbers is not None and numbers.dtype.kind in "fciu":
            if self.converts_lists:
                return self._convert_array(numbers)
            self.wide_integer_count += 1
            self.unconverted_count += 1
            return sequence
        items = [self.convert(each, depth + 1) for each in sequence]
        if isinstance(sequence, list):
            return items
        return type(sequence)(*items) if hasattr(sequence, "_fields") else tuple(items)

    def _wrap_callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a callback so that its floats also have the width."""

        @functools.wraps(function)
        def converted(*args: Any, **named: Any) -> Any:
            inner = Conversion(self.width, "keep", False)
            return inner.convert(function(*args, **named))

        return converted

    def _convert_object(self, obj: Any) -> Any:
        """Return an object that holds no arrays. Raises UnconvertibleError for any other."""
        if type(obj).__module__.startswith("numpy.random") or type(obj).__module__ == "builtins":
            return obj
        inner = Conversion(self.width, "keep", False)
        for name in {*dir(obj), *getattr(obj, "__dict__", {})}:
            if not name.startswith("__"):
                with suppress(Exception):  # an attribute may be computed
                    each = getattr(obj, name)
                    if hasattr(each, "dtype") or isinstance(each, (list, tuple, dict)):
                        inner.convert(each, MAX_DEPTH)
        if inner.array_count:
            raise UnconvertibleError
        return obj


def _holds_numbers(nested: Any) -> bool:
    """Return True if nested lists hold Python numbers, and nothing else."""
    if isinstance(nested, (list, tuple)):
        return len(nested) > 0 and all(map(_holds_numbers, itertools.islice(nested, MAX_ITEMS)))
    return isinstance(nested, (int, float, complex)) and not isinstance(nested, bool)


def read_floats(result: Any, name: str = "result", depth: int = 0) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, the dtype and the value of each float array or scalar in a result.

    Python's own floats have no dtype. The public attributes of an object are read.
    """
    is_scalar = isinstance(result, np.generic)
    if (
        (isinstance(result, PLAIN_CLASSES) and not is_scalar)
        or inspect.isroutine(result)
        or isinstance(result, type)
    ):
        return
    if depth > MAX_DEPTH:
        return
    dtypes = None if is_scalar else getattr(result, "dtypes", None)
    if dtypes is not None and hasattr(dtypes, "items"):
        for key, each in itertools.islice(dtypes.items(), MAX_ITEMS):
            if getattr(each, "kind", "") in ("f", "c"):
                yield f"{name}[{key!r}]", str(each), None
        return
    if hasattr(result, "dtype"):
        yield from _read_floats_of_array(result, name, depth)
    elif isinstance(result, Mapping):
        for key, each in itertools.islice(result.items(), MAX_ITEMS):
            yield from read_floats(each, f"{name}[{key!r}]", depth + 1)
    elif isinstance(result, (list, tuple, Iterator)):
        for i, each in enumerate(itertools.islice(result, MAX_ITEMS)):
            yield from read_floats(each, f"{name}[{i}]", depth + 1)
    elif depth < 2:
        for key in [key for key in dir(result) if not key.startswith("_")][:MAX_ITEMS]:
            each = None
            with suppress(Exception):  # an attribute may be computed
                each = getattr(result, key)
            yield from read_floats(each, f"{name}.{key}", depth + 1)


def _read_floats_of_array(array: Any, name: str, depth: int) -> Iterator[tuple[str, str, Any]]:
    dtype: np.dtype[Any] | None = None
    with suppress(TypeError):
        dtype = np.dtype(array.dtype)
    if dtype is None:
        return
    if dtype.kind in "fc":
        yield name, dtype.name, array
    elif dtype.names:
        for key in dtype.names:
            if dtype[key].kind in "fc":
                yield f"{name}[{key!r}]", dtype[key].name, None
    elif dtype.kind == "O" and isinstance(array, np.ndarray):
        for i, each in enumerate(array.ravel()[:8]):
            yield from read_floats(each, f"{name}[{i}]", depth + 1)


def is_wide(dtype: str) -> bool:
    """Return True if a float dtype, or a part of a complex one, is wider than float32."""
    found = np.dtype(dtype)
    return found.itemsize // (1 + (found.kind == "c")) > np.dtype(NARROW_FLOAT).itemsize


def has_numbers(value: Any) -> bool:
    """Return True if an array has any finite number, or cannot be read."""
    try:
        values = np.asarray(value)
        return values.dtype.kind not in "fc" or bool(np.isfinite(values).any())
    except Exception:  # an unknown library may raise anything
        return True


def make_array(kind: str) -> Any:
    """Make an array of a kind that recipes name, with the same numbers each time."""
    rng = np.random.default_rng(7)
    if kind == "square":  # make the matrix positive definite
        values = rng.random((4, 4))
        return values @ values.T / 4 + np.eye(4)
    shapes: dict[str, Any] = {
        "vector": 8, "signal": 512, "matrix": (4, 4), "points": (12, 3), "planar": (12, 2), "image": (16, 16),
        "rgb": (8, 8, 3), "cube": (8, 8, 8), "long": 4096,
    }  # fmt: skip
    if kind == "rising":
        return np.linspace(0.1, 0.9, 8)
    if kind == "weights":
        return np.full(8, 1 / 8)
    if kind == "wave":
        t = np.arange(4096)
        return np.sin(t / 9) / 2 + rng.normal(size=4096) / 50
    if kind == "labels":
        return np.array([0, 1, 0, 1, 1, 0, 1, 0])
    if kind == "mask":
        return rng.random((16, 16)) > 0.5
    if kind == "distances":
        points = rng.random((8, 3))
        return np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    return rng.random(shapes[kind]) * 0.9 + 0.05


def describe_argument(argument: Any) -> str:
    """Describe an argument in few words: an array by its dtype and shape."""
    if hasattr(argument, "dtype") and hasattr(argument, "shape"):
        shape = ", ".join(map(str, argument.shape))
        name = "" if isinstance(argument, (np.ndarray, np.generic)) else f"{type(argument).__name__} "
        return f"{name}{argument.dtype}[{shape}]"
    if isinstance(argument, (list, tuple)) and any(hasattr(each, "dtype") for each in argument):
        return f"[{', '.join(map(describe_argument, argument[:4]))}]"
    if isinstance(argument, (str, int, float, complex, type(None), tuple, list)):
        text = repr(argument)
        return text if len(text) < 24 else f"{text[:20]}..."
    return getattr(argument, "__name__", type(argument).__name__)


def usual_fixtures() -> dict[str, Any]:
    """Return values for parameters of tests that many packages fill in the same way."""
    return {"xp": np, "rng": np.random.default_rng(0), "dtype": np.dtype(NARROW_FLOAT), "seed": 0}


def seed_random() -> None:
    """Set the state of NumPy's legacy generator, so that two calls draw the same numbers."""
    np.random.seed(0)
