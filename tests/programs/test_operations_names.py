"""Functions of several names, and methods, give the same dtypes in the libraries themselves."""
from __future__ import annotations

from itertools import chain, product
from typing import Any

import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.operations.operations import OPERATIONS, Operation


def test_numpys_other_names_give_what_its_own_give() -> None:
    """The same dtype and values by every other name that NumPy has beside the one name."""
    np = pytest.importorskip("numpy", minversion="2.1")
    own = [op for op in OPERATIONS.values() if hasattr(np, op.name)]
    pairs = [(op, name) for op in own for name in op.function_names[1:] if hasattr(np, name)]
    assert len(pairs) > 20

    def result(name: str, op: Operation, dtype: object) -> Any:
        operand = np.ones(1, dtype)
        operands = [[operand]] if op.call_form == "list" else [operand] * op.min_operands
        try:
            with np.errstate(all="ignore"):
                found = getattr(np, name)(*operands)
        except TypeError:
            return "refused"
        return found.dtype, found.tolist()

    for (op, name), d in product(pairs, tl.system("numpy").order.nodes):
        assert result(name, op, str(d)) == result(op.name, op, str(d)), (name, d)


LIBRARIES = {  # a module, and which of its attributes have functions too
    "jax.numpy": ["linalg"],
    "torch": ["linalg"],
    "tensorflow": ["math", "linalg", "bitwise"],
    "mlx.core": [],
    "dask.array": [],
}
WITH_METHODS = sorted({*LIBRARIES} - {"tensorflow"})  # whose tensors have none of these
OTHERWISE = {("torch", "eq")}  # the head of operations.txt says why
DTYPES = ("bool", "uint8", "int8", "int32", "int64", "float32", "float64", "complex64")


def ones(library: Any, dtype: str) -> object:
    return library.ones((1,), dtype=getattr(library, dtype, getattr(library, f"{dtype}_", dtype)))


def dtype_of(function: Any, op: Operation, operand: object) -> str:
    """The dtype that a function gives for operands of one sort; some want an axis beside them."""
    operands = [operand] * (3 if op.name == "clip" else op.min_operands)
    for axis in ((), (0,)):
        try:
            found = function(*([operands] if op.call_form == "list" else operands), *axis)
        except Exception:
            continue
        return str(getattr(found[0] if isinstance(found, (tuple, list)) else found, "dtype", type(found)))
    return "refused"


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", one_in(2, [*LIBRARIES]))
def test_a_library_gives_the_same_dtypes_by_all_names(library: str) -> None:
    """Of each operation for which a library has functions of several names."""
    main = pytest.importorskip(library)
    spaces = [main, *(getattr(main, name) for name in LIBRARIES[library])]
    compared, different = 0, []
    for op in OPERATIONS.values():
        names = [name for name in op.function_names if (library, name) not in OTHERWISE]
        named = {name: f for name in names for space in spaces if callable(f := getattr(space, name, None))}
        for d in DTYPES if len(named) > 1 else ():
            answers = {name: dtype_of(f, op, ones(main, d)) for name, f in named.items()}
            compared += 1
            different += [(d, answers)] if len({*answers.values()}) > 1 else []
    assert compared >= 16
    assert different == []


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", one_in(2, WITH_METHODS))
def test_a_method_gives_the_dtype_that_the_function_gives(library: str) -> None:
    """`x.sum()` and `sum(x)`: of each operation along axes that a library has as both."""
    main = pytest.importorskip(library)
    compared, different = set(), {}
    along = [op for op in OPERATIONS.values() if op.call_form in ("reduction", "along")]
    for op, name in chain.from_iterable(product([op], op.function_names) for op in along):
        function, method = getattr(main, name, None), getattr(type(ones(main, "int32")), name, None)
        for d in DTYPES if callable(function) and callable(method) else ():
            answers = [dtype_of(each, op, ones(main, d)) for each in (function, method)]
            compared.add(name)
            if len({*answers}) > 1:
                different[library, name, d] = answers
    assert compared >= {"sum", "mean", "max", "cumsum"}
    assert different == {}
