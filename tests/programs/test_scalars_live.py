"""Numbers beside arrays in functions of the installed NumPy, some of which make arrays of them."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from followed import followed

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
np = pytest.importorskip("numpy")

SYSTEM = "numpy1" if np.__version__.startswith("1.") else "numpy@2.4" if np.__version__ < "2.5" else "numpy"
DTYPES = ("bool", "int8", "uint8", "int64", "float32", "float64", "complex64")
NUMBERS = (1, -1, 300, 1.5, 1e39, 2j, True)
SCALARS = (  # without dimensions, of small values and of large ones
    *(np.int8(1), np.int64(3), np.int64(300), np.float32(0.5), np.float64(0.5)),
    *(np.array(3), np.array(-1), np.array(1e39)),
)
JOINS = (
    "append(x, z)", "append(z, x)", "hstack([x, z])", "hstack([z, x])", "stack([z, z])",
    "vstack([x[:1], z])", "dstack([z, x[:1]])", "column_stack([x[:1], z])",
    "where(c, x, z)", "where(c, z, x)", "select([c], [x], z)", "select([c], [z], x)",
)  # fmt: skip
PRODUCTS = (
    "dot(x, z)", "dot(z, x)", "inner(x, z)", "inner(z, x)", "outer(x, z)", "outer(z, x)",
    "kron(x, z)", "kron(z, x)", "convolve(x, z)", "convolve(z, x)", "vdot(x[:1], z)",
    "tensordot(x, z, 0)", "tensordot(z, x, 0)", "einsum('i,->i', x, z)", "einsum(',i->i', z, x)",
)  # fmt: skip
SEARCHES = ("searchsorted(x, z)", "isin(x, z)", "gcd(x, z)", "lcm(z, x)")


def really(form: str, **given: Any) -> str:
    """The dtype that NumPy gives, or that it refuses."""
    try:
        return str(eval(form, vars(np), given).dtype)
    except Exception:  # a refusal is an answer, by whatever exception it comes
        return "refused"


@pytest.mark.parametrize("form", [*JOINS, *PRODUCTS, *SEARCHES])
def test_a_number_in_a_function_counts_as_in_numpy(form: str) -> None:
    wrong = []
    for dtype, z in product(DTYPES, (*NUMBERS, *SCALARS)):
        given = {"x": np.ones(2, dtype), "z": z}
        real = really(form, c=np.ones(2, "bool"), **given)
        operands = [given[name] for name in re.findall(r"\b[xz]\b", form)]
        said = tl.system(SYSTEM).explain(*operands, op=form.partition("(")[0]).dtype
        if real != str(said or "refused"):
            wrong.append(f"{form} of {dtype} and {z!r}: said {said}, NumPy {np.__version__} gives {real}")
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("number", ["1", "300", "0.5", "np.float64(.5)", "np.int8(1)", "np.array(3)"])
@pytest.mark.parametrize("form", ["append(x, z)", "dot(x, z)", "outer(z, x)", "hstack([x, z])", "kron(z, x)"])
def test_a_number_in_a_run_counts_as_in_numpy(form: str, number: str) -> None:
    for dtype in DTYPES[1:]:
        before = f"import numpy as np\nx = np.ones(2, '{dtype}')\n"
        y, run = followed(f"np.{form.replace('z', number)}", before)
        assert not run.opaque and not run.mismatches
        assert str(run.under(SYSTEM)[-1]) == str(y.dtype), dtype
