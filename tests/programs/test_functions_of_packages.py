"""Functions as public packages write them: what stands around the arrays is read, too."""

from __future__ import annotations

from pathlib import Path

import pytest

import typelattice as tl

NUMPY = "import numpy as np\n"
READ_WHOLLY = [
    pytest.param("import logging\nlog = logging.getLogger(__name__)", "log.info('%s', x)\n    return x + 1.0",
                 id="a logger"),
    pytest.param("log = __import__('loguru').logger", "return x + 1.0", id="a line that nobody uses"),
    pytest.param("Floats = List[np.floating]", "return x + 1.0", id="an alias of a type"),
    pytest.param("", "return x if type(x) is np.ndarray else 1", id="the class of an array"),
    pytest.param("", "return 1 if isinstance(x, Image) else x + 1.0", id="a class of another package"),
    pytest.param("", "return 1 if isinstance(None, type) else x + 1.0", id="the class of None"),
    pytest.param("", "return 1 if isinstance(x, np.generic) else x + 1.0", id="a class of scalars"),
    pytest.param("", "return np.nonzero(x), x + 1.0", id="several results in a result"),
    pytest.param("", "return ('small' if x.sum() > 0 else 'large'), x + 1.0", id="a text that values decide"),
    pytest.param("", "return x + 1.0, x.dtype, np.int8, slice(2), lambda y: y",
                 id="what has no dtype of its own"),
]  # fmt: skip


@pytest.mark.parametrize(("head", "body"), READ_WHOLLY)
def test_a_function_of_a_file_is_read_wholly(tmp_path: Path, head: str, body: str) -> None:
    file = tmp_path / "f.py"
    file.write_text(f"{NUMPY}{head}\ndef f(x):\n    {body}\n")
    program = tl.program(f"{file}:f", x="float32[3]")
    assert program.unread == ()
    assert str(program.under("numpy")[program.results[-1]]) == "float32"


def test_a_line_of_a_file_that_is_not_read_is_listed_where_it_is_used(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(
        f"{NUMPY}scale = open('scale').read()\ndef f(x):\n    y = x * scale\n    return x + 1.0\n"
    )
    (line,) = tl.program(f"{file}:f", x="float32[3]").unread
    assert line.location is not None
    assert (line.location.line, line.text) == (4, "y = x * scale")
    assert "f.py, line 2: " in line.reason


def test_the_limits_of_pythons_float_are_those_of_float64() -> None:
    lines = "import numpy as np\nx + np.finfo(float).eps"
    assert str(tl.program(lines, x="float32[3]").under("numpy").dtype) == "float64"  # a scalar of NumPy
    assert str(tl.program("x + float(np.finfo(float).eps)", x="float32[3]").under("numpy").dtype) == "float32"


def test_a_decorated_function_is_given_the_arguments_of_its_own_parameters(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    text = "def logged(g):\n    def wrapper(*args, **kwargs):\n        return g(*args, **kwargs)\n"
    text += "    return wrapper\n"
    file.write_text(f"{NUMPY}{text}@logged\ndef f(x, y=1):\n    return x * 2.5\n")
    assert str(tl.program(f"{file}:f", x="float32[3]").under("numpy").dtype) == "float32"


def test_the_place_of_a_result_is_its_function(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("def f(x):\n    return 'text'\n\n__all__ = ['f']\n")
    with pytest.raises(tl.ProgramError, match=r"f\.py, line 1: .*no array and no number is returned"):
        tl.program(f"{file}:f", x="float32[3]")


def test_a_class_of_python_is_no_dtype() -> None:
    with pytest.raises(tl.ProgramError, match="object is Python's own; give an array, a number or a dtype"):
        tl.program("import numpy as np\nnp.array(x, dtype=object)", x="float32[3]")


def test_a_loop_as_often_as_values_decide_is_read_until_its_dtypes_stay() -> None:
    lines = "import numpy as np\ny = x\nfor i in range(len(np.flatnonzero(x))):\n    y = y + np.float64(1)\ny"
    assert str(tl.program(lines, x="float32[3]").under("numpy").result) == "float32 or float64"


@pytest.mark.parametrize("convert", ["x.numpy()", "x.detach().cpu().numpy()", "np.asarray(x)"])
def test_an_array_that_is_made_numpys_follows_numpys_rules(convert: str) -> None:
    program = tl.program(f"import numpy as np\nimport torch\ny = {convert}\ny.mean(0)", x="int64[2,3]")
    assert str(program.under("torch").dtype) == "float64"  # PyTorch refuses the mean of integers
    assert program.steps[-1].shape == (3,)


def test_a_loop_without_an_end_is_refused_at_once() -> None:
    with pytest.raises(tl.ProgramError, match=r"line 2: .*a loop without an end; end it with break"):
        tl.program("y = x\nwhile True:\n    y = y + 1\ny", x="int8[3]")


def test_questions_about_dtypes_do_not_read_all_steps_again() -> None:
    loop = "for i in range(800):\n        if x.dtype == np.float32:\n            x = x * 2.0"
    program = tl.program(f"import numpy as np\ndef f(x):\n    {loop}\n    return x", x="float32[3]")
    assert str(program.under("numpy").dtype) == "float32"


def test_a_drawing_of_another_package_decides_no_dtype() -> None:
    lines = "import numpy as np\nimport matplotlib.pyplot as plt\nplt.plot(np.exp(x))\nx * 2.5"
    program = tl.program(lines, x="float32[3]")
    assert (str(program.under("numpy").dtype), program.unread) == ("float32", ())


def test_a_call_of_another_package_that_may_fill_a_list_is_unread() -> None:
    lines = "import numpy as np\nimport corpora\nfound = []\ncorpora.fill(found)\nx * 2.5"
    (line,) = tl.program(lines, x="float32[3]").unread
    assert "corpora.fill is of another package, whose code is not read; give its result" in line.reason


def test_the_items_of_a_generator_are_its_results(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("def f(x):\n    for i in range(3):\n        yield x * i\n")
    assert len(tl.program(f"{file}:f", x="float32[3]").results) == 3


@pytest.mark.parametrize(
    "lines",
    [
        "y = torch.zeros(torch.Size([2, 3]))",
        "y = x if torch.is_tensor(x) and not torch.is_tensor([x]) else 1",
        "class A:\n    def g(self):\n        return x * 2.5\nclass B(A):\n    def g(self):\n"
        "        return super(B, self).g()\ny = B().g()",
        "from contextvars import ContextVar\nv = ContextVar('v', default=2)\nbefore = v.set(3)\n"
        "y = x * v.get()\nv.reset(before)\ny = y * v.get()",
    ],
)
def test_more_of_python_and_pytorch_is_read(lines: str) -> None:
    program = tl.program(f"import torch\n{lines}\ny + x.sum()", x="float32[3]")
    assert (str(program.under("torch").dtype), program.unread) == ("float32", ())


@pytest.mark.parametrize("dtype", ["int8", "float32", "bool"])
@pytest.mark.parametrize(
    "text",
    [
        *("np.r_[x, 1]", "np.r_[x, 2.5]", "np.r_[1:4, x]", "np.r_[0:1:5j, x]", "np.c_[x, x]"),
        *("x[np.s_[1:]]", "np.r_[x, x[0], np.float32(2)]"),
    ],
)
def test_an_index_that_joins_arrays_has_the_dtype_of_numpy(text: str, dtype: str) -> None:
    np = pytest.importorskip("numpy")
    made = eval(text, {"np": np, "x": np.ones(3, dtype)})
    program = tl.program(f"import numpy as np\n{text}", x=f"{dtype}[3]")
    assert (str(program.under("numpy").dtype), program.steps[-1].shape) == (str(made.dtype), made.shape)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("d = {1: x, 2: x.astype('float64'), 'a': 1j}\ny = d[int(x.argmax())]", "float32 or float64"),
        ("d = {'a': x, 'b': x * 2, 'c': 1j}\ny = d['a' if x[0] > 0 else 'b']", "float32"),
    ],
)
def test_a_key_that_values_decide_gives_one_of_the_values(lines: str, said: str) -> None:
    program = tl.program(f"import numpy as np\n{lines}\ny", x="float32[3]")
    assert str(program.under("numpy").result) == said


def test_a_fact_of_an_array_that_no_dtype_decides_leaves_both_branches() -> None:
    program = tl.program("import torch\ny = x.double() if x.requires_grad else x\ny", x="int64[3]")
    assert str(program.under("torch").result) == "float64 or int64"


@pytest.mark.parametrize(("code", "dtype"), [("i", "int32"), ("d", "float64")])
def test_a_letter_of_numpy_is_a_dtype(code: str, dtype: str) -> None:
    lines = f"import numpy as np\nnp.zeros(3, dtype='{code}') + x.astype('{code}')"
    assert str(tl.program(lines, x="int8[3]").under("numpy").dtype) == dtype


CHOICES_OF_NONE = "def g(x):\n    return None if x.sum() > 3 else x\ndef f(x):\n    y = g(x)\n"
TRIED_OF_NONE = f"{CHOICES_OF_NONE}    try:\n        return "


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(x):\n    if x.sum() > 0:\n        return None\n    return x * 2", "float32"),
        ("def f(x):\n    if x.sum() > 0:\n        return []\n    return [x]", "float32"),
        ("def f(x):\n    if x.sum() > 0:\n        return {}\n    return {'a': x}", "float32"),
        (f"{CHOICES_OF_NONE}    return y * 2", "float32"),
        (f"{CHOICES_OF_NONE}    return y.astype('float64')", "float64"),
        (f"{CHOICES_OF_NONE}    return x if y is None else np.float64(1)", "float32 or float64"),
        (f"{CHOICES_OF_NONE}    z = g(x)\n    return y + z[0]", "float32"),
        (f"{TRIED_OF_NONE}y * 2\n    except TypeError:\n        return np.int8(1)", "int8 or float32"),
        (f"{TRIED_OF_NONE}y.T\n    except AttributeError:\n        return np.int8(1)", "int8 or float32"),
        (f"{TRIED_OF_NONE}y[0]\n    except AttributeError:\n        return np.int8(1)", "float32"),
    ],
)
def test_a_value_that_may_be_none_is_an_array_where_python_refuses_none(text: str, said: str) -> None:
    result = str(tl.program(NUMPY + text, x="float32[3]").under("numpy").result)
    assert {*result.split(" or ")} == {*said.split(" or ")}


@pytest.mark.parametrize(
    "text",
    [
        *("np.array(np.nonzero(x)).T", "np.concatenate(np.split(x, 2))", "np.array(np.meshgrid(x, x))"),
        *("np.stack(np.meshgrid(x, x)[:1])", "np.array(np.divmod(x, 2))"),
        *("x[np.nonzero(x)]", "x.reshape(2, 2)[np.where(x.reshape(2, 2) > 1)]", "np.vstack(np.frexp(x))"),
        *("np.concatenate(np.array_split(x, 3))", "round(x.mean()) * x"),
        *("np.zeros(int(x[0]))", "np.ones((int(x[0]), 3))", "np.full((np.int32(2), 2), x[0])"),
        *("np.arange(int(x[3]))", "np.arange(x[0], x[3])", "np.linspace(float(x[0]), 1.0, 4)"),
        *("np.add.outer(x, np.arange(int(x[3])))", "np.float16(2) * np.linspace(0, x[0], 5)"),
        *("round(x[0]) * np.int8(1)", "round(x[0], 1)", "round(float(x[0])) + np.int8(1)"),
        *("max(1, x[:1]) * x", "sorted(x)[0]", "max(x, default=0)", "max(x, key=lambda a: -a)"),
    ],
)
def test_an_expression_has_the_dtype_that_numpy_gives(text: str) -> None:
    np = pytest.importorskip("numpy")
    x = np.arange(1, 5, dtype="float32")
    made = eval(text, {"np": np, "x": x})
    program = tl.program(f"import numpy as np\n{text}", x="float32[4]")
    assert str(made.dtype) in str(program.under("numpy").result).split(" or ")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("n = [0] * 3\nn[int(x[0])] += 1.5\ny = n[int(x[1])]", "Python int or Python float"),
        (
            "u = []\nfor k in x.tolist():\n    if u and k > 1:\n        u[-1] += 1j\n    else:\n        "
            "u.append(k)\ny = u",
            "Python complex or Python float",
        ),
    ],
)
def test_an_item_that_values_choose_may_be_the_one_that_is_set(lines: str, said: str) -> None:
    body = lines.replace("\n", "\n    ")
    program = tl.program(f"{NUMPY}def f(x):\n    {body}\n    return y", x="float32[4]")
    result = str(program.under("numpy").result)
    assert {*result.split(" or ")} == {*said.split(" or ")}


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("x.to('cuda' if torch.cuda.is_available() else 'cpu') * 2", "int8"),
        ("x.half() if torch.distributed.is_initialized() else x", "int8"),
        ("torch.nn.utils.rnn.pad_sequence([x, x * 2.5])", "int8"),
        ("torch.cat(torch.chunk(x, 2))", "int8"),
        ("torch.stack(x.split(2))", "int8"),
    ],
)
def test_pytorch_answers_as_on_a_machine_without_a_gpu(text: str, dtype: str) -> None:
    assert str(tl.program(f"import torch\n{text}", x="int8[4]").under("torch").dtype) == dtype


@pytest.mark.parametrize("operand", ["operand=x", "x"])
def test_cond_takes_its_operand_by_name(operand: str) -> None:
    text = f"import jax\njax.lax.cond(x[0] > 0, lambda a: a * 1, lambda a: a * 2, {operand})"
    assert str(tl.program(text, x="int8[4]").under("jax").dtype) == "int8"


def test_an_input_in_quotes_is_a_text() -> None:
    text = "def f(x, mode):\n    return x if mode == 'narrow' else x * 1.0"
    for mode, dtype in (("'narrow'", "int8"), ('"wide"', "float64")):
        assert str(tl.program(text, x="int8[4]", mode=mode).under("numpy").dtype) == dtype


def test_a_dictionary_that_an_unread_line_changes_gives_no_arguments() -> None:
    lines = "k.setdefault('dtype', foo.bar())\n    return torch.tensor(x, **k)"
    text = f"import torch, foo\ndef f(x, **k):\n    {lines}"
    with pytest.raises(tl.ProgramError, match=r"foo\.bar is of another package"):
        tl.program(text, x="float64[3]")
    text = text.replace("foo.bar()", "torch.get_default_dtype()")
    assert str(tl.program(text, x="float64[3]").under("torch").dtype) == "float32"
