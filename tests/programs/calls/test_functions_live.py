"""Each function that a system file describes is asked of its library: all dtypes, and pairs of them."""

from __future__ import annotations

import ast
import importlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl
from typelattice.conformance.recording.load_library import load_library
from typelattice.core.books.read_book import book_names
from typelattice.core.registry.releases import installed_release
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION
from typelattice.programs.calls.compositions import read_compositions

ROWS = [
    row.split()
    for row in (Path(__file__).parent / "functions.txt").read_text(encoding="utf-8").splitlines()
    if not row.startswith("#")
]
SYSTEMS = {
    "numpy": ("numpy",), "jax": ("jax",), "torch": ("torch", "torch-autocast"), "polars": ("polars",),
    "mlx": ("mlx",), "dask": ("dask",), "tinygrad": ("tinygrad",),
}  # fmt: skip
SHAPES = ((2, 2), (2,), (2, 2, 2), (2, 2, 2, 2), (2, 2, 2, 2, 2))
FILLED = (1, (1,), 0.5)
PAIRED = (
    "bool", "uint8", "int8", "int64", "uint16", "float16", "bfloat16", "float32", "float64", "complex64",
)  # fmt: skip
WORDS = (  # functions of expressions in books that are no operations
    "bool", "int", "float", "literal", "zero_d", "flat", "astype", "rand", "randn", "zeros", "bitcast",
    "zeros_like", "weak", "leaves", "t",
)  # fmt: skip
# PyTorch 2.13 flips uint16, but not along the last axis. The rule of a class of functions knows no axes.
SHAPE_DECIDES = {"torch.fliplr"}
Call = Callable[[Sequence[str]], str]


def find_function(path: str) -> Callable[..., Any]:
    """The function of a path, or a function that calls the method of its first argument."""
    if path.startswith("."):
        return lambda x, *args: getattr(x, path[1:])(*args)
    module, _, name = path.rpartition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def call(library: Any, path: str, words: Sequence[str]) -> Call | None:
    """A function of dtypes that calls a library's function, or None if no arguments suit it."""
    function = find_function(path)

    def called(dtypes: Sequence[str], filled: Sequence[Any], shape: tuple[int, ...]) -> str:
        arrays, numbers = iter(dtypes), iter(filled)
        try:
            args = [
                next(numbers) if word == "_" else make(library, next(arrays), shape) for word in words
            ]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return str(library.read(apply(library, function, args)))
        except BaseException:
            return "!"

    count = sum(word != "_" for word in words)
    for filled in product(FILLED, repeat=len(words) - count):
        for shape in SHAPES:
            for dtype in ("float32", "int32", "complex64", "bool"):
                if not called([dtype] * count, filled, shape).startswith(("!", "(")):
                    return lambda dtypes: called(dtypes, filled, shape)
    return None


def apply(library: Any, function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Call a function, without computing anything where the library can."""
    if library.name != "jax":
        return function(*args)
    jax = importlib.import_module("jax")
    places = [i for i, x in enumerate(args) if hasattr(x, "dtype")]

    def of_arrays(*arrays: Any) -> Any:
        every = [*args]
        for i, x in zip(places, arrays, strict=True):
            every[i] = x
        return function(*every)

    return jax.eval_shape(of_arrays, *(args[i] for i in places))


def make(library: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """An array of ones, or of matrices that have an inverse."""
    if library.name == "jax":
        return importlib.import_module("jax").ShapeDtypeStruct(shape, library.native_dtypes[dtype])
    values: Any = 1
    if len(shape) > 1 and dtype.startswith(("float", "bfloat", "complex")) and "float8" not in dtype:
        values = [[2, 1], [1, 2]]
        for length in shape[2:]:
            values = [values] * length
    try:
        return library.make_of_shape(shape, library.native_dtypes[dtype], values)
    except tl.TypelatticeError:
        return library.make(dtype)


def asked(dtypes: Sequence[str], count: int) -> Iterator[tuple[str, ...]]:
    yield from ((dtype,) * count for dtype in dtypes)
    if count == 2:
        yield from product([d for d in dtypes if d in PAIRED], repeat=2)


def answer(system: tl.System, dtypes: Sequence[str], op: str) -> str:
    found = system.explain(*dtypes, op=op)
    return "!" if found.dtype is None else f"{found.dtype}{'*' * found.weak}"


def differences(name: str) -> Mapping[str, list[tuple[tuple[str, ...], str, str]]]:
    library: Any = load_library(name)
    system = tl.system(installed_release(name, library.versions))
    found: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
    for owner, path, *words in ROWS:
        if owner != name.partition("-")[0]:
            continue
        op = path.rpartition(".")[2]
        made = call(library, path, words)
        if made is None:
            found[path] = [((), "no call", "")]
            continue
        for dtypes in asked(library.dtypes(), sum(word != "_" for word in words)):
            theirs, ours = made(dtypes), answer(system, dtypes, op)
            if theirs != ours:
                found.setdefault(path, []).append((dtypes, theirs, ours))
    return found


@pytest.mark.live
@pytest.mark.parametrize("name", [name for names in SYSTEMS.values() for name in names])
def test_each_function_is_what_the_library_computes(name: str) -> None:
    pytest.importorskip({"dask": "dask.array", "mlx": "mlx.core"}.get(name, name.partition("-")[0]))
    if name == "torch-autocast":
        import torch

        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert differences(name).keys() <= SHAPE_DECIDES
    else:
        assert differences(name).keys() <= (SHAPE_DECIDES if name == "torch" else set())


def test_every_row_is_of_a_function_that_a_system_describes() -> None:
    described = {name: tl.system(name).custom_operations for name in {row[0] for row in ROWS}}
    for owner, path, *words in ROWS:
        operation = described[owner][path.rpartition(".")[2]]
        assert len(operation.operand_names) == sum(word != "_" for word in words), path


@pytest.mark.parametrize("book", book_names())
def test_rows_name_a_class_of_the_librarys_file_or_a_function(book: str) -> None:
    """A word that is neither would be an unknown function in the middle of a program."""
    compositions = read_compositions()
    defined = tl.system(book).custom_operations if book in tl.systems() else {}
    for (of, name), rows in compositions.items():
        for node in (node for row in rows for result in row.results for node in ast.walk(result)):
            if of != book or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            word = node.func.id
            known = word in OPERATION_BY_FUNCTION or word in WORDS or (book, word) in compositions
            assert known or word in defined, (book, name, word)
            if word in defined and word in tl.system(book).ops:
                assert len(node.args) == len(defined[word].operand_names), (book, name, word)


@pytest.mark.parametrize("book", [name for name in book_names() if name in tl.systems()])
def test_every_class_of_a_file_has_a_row(book: str) -> None:
    own = tl.system(book)
    classes = {name for name in own.ops if name in own.custom_operations}
    used = {
        node.func.id
        for (of, _), rows in read_compositions().items()
        for row in rows
        for result in row.results
        for node in ast.walk(result)
        if of in (book, "numpy" if book == "dask" else book)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert classes - used == set()
