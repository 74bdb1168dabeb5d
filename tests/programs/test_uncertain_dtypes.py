"""Questions about a dtype that the values of arrays decide have both answers, as NumPy gives them."""

import numpy as np
import pytest

import typelattice as tl

CONDITIONS = (
    "a.dtype == np.float32",
    "a.dtype != np.int8",
    "a.dtype in (np.float32, np.int8)",
    "a.dtype not in (np.float64,)",
    "np.dtype('float64') == a.dtype and x[1] > 0",
    "not a.dtype == b.dtype",
    "any(a.dtype == d for d in (np.float32, np.float64))",
    "[d for d in [a.dtype] if d == np.float64]",
    "np.isdtype(a.dtype, 'real floating')",
    "np.isdtype(a.dtype, ('bool', 'signed integer'))",
    "np.issubdtype(a.dtype, np.floating)",
    "np.iscomplexobj(a)",
    "a.dtype.kind == 'f'",
    "'f' in a.dtype.kind",
    "a.dtype.kind in 'iu'",
    "1 < a.dtype.itemsize <= 4",
    "a.dtype.name == 'int8'",
    "str(a.dtype) == 'float32'",
    "str(a.dtype).startswith('int')",
    "{np.dtype('int8'): True}.get(a.dtype)",
    "a.dtype.kind == 'i' and np.iinfo(a.dtype).max > 3",
    "np.result_type(a, x) == np.float64",
    "('low' if x[0] > 0.5 else 'high') == 'low'",
)
SOURCE = """
import numpy as np

def f(x):
    a, b = x, x * 2.5
    if x[0] > 0.5:
        a = x * 2.5
    if {}:
        return a.astype("complex64")
    return a.astype("int16")
"""
FILLS = ((1, 1, 1), (0, 0, 0), (2, 0, -1), (-3, 2, 0.2))
UNREAD = {
    ("str(a.dtype).startswith('int')", "int8"),
    ("{np.dtype('int8'): True}.get(a.dtype)", "int8"),
}


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("dtype", ["int8", "float32", "float16"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_each_answer_of_a_question_is_followed(condition: str, dtype: str) -> None:
    source = SOURCE.format(condition)
    scope: dict[str, object] = {}
    exec(source, scope)
    seen = {str(scope["f"](np.array(fill).astype(dtype)).dtype) for fill in FILLS}  # type: ignore[operator]
    try:
        said = set(str(tl.program(source, x=f"{dtype}[3]").under("numpy").result).split(" or "))
    except tl.ProgramError:
        assert (condition, dtype) in UNREAD
        return
    assert (condition, dtype) not in UNREAD
    assert seen <= said <= {"complex64", "int16"}


def test_a_dtype_that_is_one_whatever_the_values_decides_a_branch() -> None:
    source = SOURCE.format("a.dtype == np.uint8")
    assert str(tl.program(source, x="int8[3]").under("numpy").result) == "int16"


def test_a_refused_branch_gives_no_answer() -> None:
    source = """
import torch
def f(x):
    a = x
    if x[0] > 0.5:
        a = torch.bitwise_and(x, x)
    return a * 2 if a.dtype == torch.float32 else a.bool()
"""
    found = tl.program(source, x="float32[3]").under("torch")
    assert str(found.result) == "not reached or float32"
