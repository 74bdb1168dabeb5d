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

NARROW, WIDE = "float32", "float64"
PLAIN_ARRAY_FUNCTIONS = (
    type(None), str, bytes, bool, int, float, complex, slice, range, type(...), ModuleType, enum.Enum,
)  # fmt: skip
WIDE_DTYPE_OBJECTS = (float, complex, np.float64, np.complex128)
WIDE_DTYPE_NAMES = (WIDE, "complex128", "float", "complex", "double", "d", "f8")
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

    def convert(self, x: Any, depth: int = 0) -> Any:
        """Convert an argument without changing the original. Raises UnconvertibleError."""
        # check this class first: some scalars are of both
        if isinstance(x, np.generic) and not isinstance(x, np.void):
            return self._scalar(x)
        if isinstance(x, PLAIN_ARRAY_FUNCTIONS):
            return self._plain(x)
        if isinstance(x, (np.dtype, type)):
            if any(x is wide or (isinstance(x, np.dtype) and x == wide) for wide in WIDE_DTYPE_OBJECTS):
                raise UnconvertibleError
            return x
        if isinstance(x, np.ndarray) and x.dtype == object:
            return x.copy()
        if hasattr(x, "dtypes") and hasattr(x, "astype"):
            return self._frame(x)
        if hasattr(x, "dtype") and hasattr(x, "astype"):
            return self._array(x)
        if depth > MAX_DEPTH:
            raise UnconvertibleError
        if isinstance(x, (list, tuple)):
            return self._sequence(x, depth)
        if isinstance(x, dict):
            return type(x)((key, self.convert(each, depth + 1)) for key, each in x.items())
        if isinstance(x, FunctionType):
            return self.callbacks.setdefault(id(x), self._callback(x))
        if inspect.isroutine(x) or isinstance(x, (set, frozenset, functools.partial)):
            return x
        return self._object(x)

    def _plain(self, x: Any) -> Any:
        if isinstance(x, str) and x in WIDE_DTYPE_NAMES:
            raise UnconvertibleError
        if isinstance(x, (float, complex)):
            self.unconverted_count += not self.converts_scalars
            self.array_count += self.converts_scalars
            return self.target(np.array(x).dtype).type(x) if self.converts_scalars else x
        return x

    def target(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype that replaces a dtype."""
        if dtype.kind == "f" or (dtype.kind in "iu" and self.integer_treatment == "float"):
            return np.dtype(self.width)
        if dtype.kind == "c":
            return np.result_type(self.width, np.complex64)
        return dtype

    def _scalar(self, x: Any) -> Any:
        self.array_count += self.converts_scalars and x.dtype.kind in "fc"
        if isinstance(x, np.integer) and self.integer_treatment == "narrow":
            return int(x)  # Python's int adds no width
        return self.target(x.dtype).type(x) if x.dtype.kind in "fciu" else x

    def _array(self, x: Any) -> Any:
        dtype: np.dtype[Any] | None = None
        with suppress(TypeError):
            dtype = np.dtype(x.dtype)
        if dtype is None or dtype.kind not in "fciu":
            return x.copy() if hasattr(x, "copy") else x
        target_dtype = self.target(dtype)
        if target_dtype.kind in "iu" and self.integer_treatment == "narrow":
            target_dtype = self._narrow_integer(x, target_dtype)
        self.array_count += target_dtype.kind in "fc"
        self.wide_integer_count += target_dtype.kind in "iu" and target_dtype.itemsize > 2
        self.unconverted_count += target_dtype.kind in "iu"
        return x.astype(target_dtype)

    @staticmethod
    def _narrow_integer(x: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
        with suppress(Exception):  # arrays of other libraries
            values = np.asarray(x)
            if values.size and abs(int(values.min())) < 2**15 and abs(int(values.max())) < 2**15:
                return np.dtype(np.int16)
        return dtype

    def _frame(self, x: Any) -> Any:
        """Convert a table column by column."""
        dtypes = x.dtypes
        if not hasattr(dtypes, "items"):  # a single column
            return self._array(x)
        target_dtypes = {}
        for name, each in dtypes.items():
            with suppress(TypeError):
                dtype = np.dtype(each)
                if self.target(dtype) != dtype or dtype.kind in "fc":
                    target_dtypes[name] = self.target(dtype)
                elif dtype.kind in "iu":
                    self.wide_integer_count += dtype.itemsize > 2
        self.array_count += len(target_dtypes)
        try:
            return x.astype(target_dtypes) if target_dtypes else x.copy()
        except Exception:  # some classes of tables take no mapping
            if len({*target_dtypes.values()}) != 1 or len(target_dtypes) != len(dtypes):
                raise UnconvertibleError from None
            return x.astype(next(iter(target_dtypes.values())))

    def _sequence(self, x: Any, depth: int) -> Any:
        """Convert a list, or a tuple with its items; lists of numbers may become arrays."""
        nested = isinstance(x, list) or any(isinstance(each, (list, tuple)) for each in x)
        numbers: Any = None
        if nested and x:
            with suppress(Exception):
                numbers = np.array(x) if _holds_numbers(x) else None
        if numbers is not None and numbers.dtype.kind in "fciu":
            if self.converts_lists:
                return self._array(numbers)
            self.wide_integer_count += 1
            self.unconverted_count += 1
            return x
        items = [self.convert(each, depth + 1) for each in x]
        if isinstance(x, list):
            return items
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)

    def _callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a callback so that its floats also have the width."""

        @functools.wraps(function)
        def converted(*args: Any, **named: Any) -> Any:
            inner = Conversion(self.width, "keep", False)
            return inner.convert(function(*args, **named))

        return converted

    def _object(self, x: Any) -> Any:
        """Return an object that holds no arrays. Raises UnconvertibleError for any other."""
        if type(x).__module__.startswith("numpy.random") or type(x).__module__ == "builtins":
            return x
        inner = Conversion(self.width, "keep", False)
        for name in {*dir(x), *getattr(x, "__dict__", {})}:
            if not name.startswith("__"):
                with suppress(Exception):  # an attribute may be computed
                    each = getattr(x, name)
                    if hasattr(each, "dtype") or isinstance(each, (list, tuple, dict)):
                        inner.convert(each, MAX_DEPTH)
        if inner.array_count:
            raise UnconvertibleError
        return x


def _holds_numbers(x: Any) -> bool:
    """Return True if nested lists hold Python numbers, and nothing else."""
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and all(map(_holds_numbers, itertools.islice(x, MAX_ITEMS)))
    return isinstance(x, (int, float, complex)) and not isinstance(x, bool)


def read_floats(x: Any, name: str = "result", depth: int = 0) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, the dtype and the value of each float array or scalar in a result.

    Python's own floats have no dtype. The public attributes of an object are read.
    """
    is_scalar = isinstance(x, np.generic)
    if (
        (isinstance(x, PLAIN_ARRAY_FUNCTIONS) and not is_scalar)
        or inspect.isroutine(x)
        or isinstance(x, type)
    ):
        return
    if depth > MAX_DEPTH:
        return
    dtypes = None if is_scalar else getattr(x, "dtypes", None)
    if dtypes is not None and hasattr(dtypes, "items"):
        for key, each in itertools.islice(dtypes.items(), MAX_ITEMS):
            if getattr(each, "kind", "") in ("f", "c"):
                yield f"{name}[{key!r}]", str(each), None
        return
    if hasattr(x, "dtype"):
        yield from _floats_of_array(x, name, depth)
    elif isinstance(x, Mapping):
        for key, each in itertools.islice(x.items(), MAX_ITEMS):
            yield from read_floats(each, f"{name}[{key!r}]", depth + 1)
    elif isinstance(x, (list, tuple, Iterator)):
        for i, each in enumerate(itertools.islice(x, MAX_ITEMS)):
            yield from read_floats(each, f"{name}[{i}]", depth + 1)
    elif depth < 2:
        for key in [key for key in dir(x) if not key.startswith("_")][:MAX_ITEMS]:
            each = None
            with suppress(Exception):  # an attribute may be computed
                each = getattr(x, key)
            yield from read_floats(each, f"{name}.{key}", depth + 1)


def _floats_of_array(x: Any, name: str, depth: int) -> Iterator[tuple[str, str, Any]]:
    dtype: np.dtype[Any] | None = None
    with suppress(TypeError):
        dtype = np.dtype(x.dtype)
    if dtype is None:
        return
    if dtype.kind in "fc":
        yield name, dtype.name, x
    elif dtype.names:
        for key in dtype.names:
            if dtype[key].kind in "fc":
                yield f"{name}[{key!r}]", dtype[key].name, None
    elif dtype.kind == "O" and isinstance(x, np.ndarray):
        for i, each in enumerate(x.ravel()[:8]):
            yield from read_floats(each, f"{name}[{i}]", depth + 1)


def is_wide(dtype: str) -> bool:
    """Return True if a float dtype, or a part of a complex one, is wider than float32."""
    found = np.dtype(dtype)
    return found.itemsize // (1 + (found.kind == "c")) > np.dtype(NARROW).itemsize


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


def describe(x: Any) -> str:
    """Describe an argument in few words: an array by its dtype and shape."""
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        shape = ", ".join(map(str, x.shape))
        name = "" if isinstance(x, (np.ndarray, np.generic)) else f"{type(x).__name__} "
        return f"{name}{x.dtype}[{shape}]"
    if isinstance(x, (list, tuple)) and any(hasattr(each, "dtype") for each in x):
        return f"[{', '.join(map(describe, x[:4]))}]"
    if isinstance(x, (str, int, float, complex, type(None), tuple, list)):
        text = repr(x)
        return text if len(text) < 24 else f"{text[:20]}..."
    return getattr(x, "__name__", type(x).__name__)


def usual_fixtures() -> dict[str, Any]:
    """Return values for parameters of tests that many packages fill in the same way."""
    return {"xp": np, "rng": np.random.default_rng(0), "dtype": np.dtype(NARROW), "seed": 0}


def seed_random() -> None:
    """Set the state of NumPy's legacy generator, so that two calls draw the same numbers."""
    np.random.seed(0)
