"""Operations: one row each, asked by any of their names, of as many operands as they take."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl
from typelattice.engine.operations import STANDARD
from typelattice.facts.forms import FORMS
from typelattice.facts.operations import NAMES, OPERATIONS, OPERATORS, Operation, operation

ROOT = Path(__file__).parents[1]
NUMPY = tl.system("numpy")
EXPLAIN = ("-m", "typelattice", "explain")
BLEND = "blend  arithmetic  elementwise  3  mingle\n"  # made up, of three operands


def test_every_name_stands_for_one_operation() -> None:
    every = (*OPERATIONS.values(), *OPERATORS.values())
    names = Counter(name for op in every for name in (op.name, *op.names))
    assert [name for name, n in names.items() if n > 1] == []
    assert {*names} == {*NAMES}


@pytest.mark.parametrize("op", OPERATIONS.values(), ids=lambda op: op.name)
def test_a_row_has_a_class_of_the_standard_a_form_and_operands(op: Operation) -> None:
    assert op.of_class in STANDARD
    assert op.form in FORMS
    assert 1 <= op.least <= (op.most or op.least)


def test_every_class_has_an_operation() -> None:
    every = (*OPERATIONS.values(), *OPERATORS.values())
    assert {op.of_class for op in every} == {*STANDARD}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OPERATIONS])
def test_an_operation_is_asked_by_any_of_its_names(name: str) -> None:
    op = NAMES[name]
    operands = ["complex64"] * op.least
    assert NUMPY.explain(*operands, op=name) == NUMPY.explain(*operands, op=op.name)
    assert NUMPY.explain(*operands, op=name).op == op.name


def test_what_python_and_libraries_call_it() -> None:
    add = operation("add")
    assert (add.operator, add.method, add.functions) == ("+", "__add__", ("add",))
    assert operation("sub").functions == ("subtract", "sub")
    assert (operation("sqrt").operator, operation("sqrt").method) == (None, None)
    assert (operation("abs").operator, operation("__abs__").name) == (None, "abs")


def test_an_operator_is_an_operation_of_its_own_which_knows_its_function() -> None:
    assert [operation(name).function for name in ("+", "__add__", "-x", "+=", "isub")] == [
        "add", "add", "negative", "add", "subtract",
    ]  # fmt: skip
    assert operation("__iadd__").name == "+="
    assert not any(op.name in OPERATIONS for op in OPERATORS.values())
    assert not {"===", "<=="} & {*OPERATORS}, "comparisons write into nothing"
    assert [op.name for op in OPERATORS.values() if op.most == 1] == ["+x", "-x", "~"]


@pytest.mark.parametrize("op", OPERATORS)
def test_an_operator_does_what_its_function_does_where_a_file_says_nothing(op: str) -> None:
    known, system = OPERATORS[op], tl.system("array-api")
    for dtype in ("bool", "int8", "float32", "complex64"):
        operands = [dtype] * known.least
        own, of_function = (system.explain(*operands, op=name).dtype for name in (op, known.function))
        assert own is of_function, dtype


def test_a_file_speaks_of_an_operator_and_of_what_writes_in_place() -> None:
    system = tl.system("array-api").replace(
        ops={"+": {"takes": "int"}, "in-place": {"into": "kind"}, "-=": {"into": "rebind"}}
    )
    asked = ("add", "+", "+=", "-", "-=", "*=")
    said = {op: system.explain("float32", "float64", op=op).dtype for op in asked}
    f32, f64 = tl.dtype("float32"), tl.dtype("float64")
    assert said == {"add": f64, "+": None, "+=": None, "-": f64, "-=": f64, "*=": f32}


def test_what_an_operator_gives_is_written_where_it_says_so_itself() -> None:
    """The bool of `a & b` takes the place of a, and cannot be written into an integer."""
    ops = {"&": {"takes": "all", "gives": "b"}, "&=": {"into": "rebind"}, "|": {"takes": "all", "gives": "b"}}
    system = tl.system("array-api").replace(ops=ops)
    assert system.explain("int8", "int8", op="&=").dtype is tl.dtype("bool")
    p = system.explain("int8", "int8", op="|=")
    assert (p.dtype, p.reason) == (None, "bool cannot be written into int8")


@pytest.mark.parametrize(
    ("operands", "op", "message"),
    [
        (3, "add", "add takes 2 operands, not 3; ask it of 2 at a time"),
        (1, "+", "+ takes 2 operands, not 1; give 1 more"),
        (2, "sqrt", "sqrt takes 1 operand, not 2; ask it of each"),
        (4, "where", "where takes 2 or 3 operands, not 4; ask it of 3 at a time"),
        (1, "where", "where takes 2 or 3 operands, not 1; give 1 more"),
        (4, "clamp", "clip takes 1 to 3 operands, not 4; ask it of 3 at a time"),
        (3, "take", "take takes 1 or 2 operands, not 3; ask it of 2 at a time"),
        (3, "promote_types", "promote_types takes 2 operands, not 3; ask it of 2 at a time"),
    ],
)
def test_another_number_of_operands_is_refused(operands: int, op: str, message: str) -> None:
    with pytest.raises(tl.OpError) as e:
        NUMPY.explain(*["int8"] * operands, op=op)
    assert str(e.value) == message


def test_as_many_as_there_are_where_there_is_no_limit() -> None:
    operands = ("int8", "uint8", "float16", "int16")
    assert NUMPY.explain(*operands, op="cat").dtype is NUMPY.result_type(*operands)
    for least, told in ((2, "at least 2 operands"), (1, "at least 1 operand")):
        assert Operation("f", "join", "several", least, None, (0,), (), None, None, "f").how_many == told


def test_an_unknown_operation_names_the_nearest() -> None:
    with pytest.raises(tl.OpError, match=r"unknown operation 'cumsun'; did you mean cumsum"):
        NUMPY.explain("int8", op="cumsun")
    listed = "`typelattice explain --help` lists those known"
    with pytest.raises(tl.OpError, match=f"^unknown operation 'zzz'; {listed}$"):
        NUMPY.explain("int8", op="zzz")


def test_where_chooses_by_a_condition_that_does_not_promote() -> None:
    for system, condition in product(map(tl.system, tl.systems()), ("bool", "True")):
        whole = system.explain(condition, "int8", "int16", op="where")
        alone = system.explain("int8", "int16", op="where")
        assert (whole.dtype, whole.weak, whole.reason) == (alone.dtype, alone.weak, alone.reason)
        assert whole.promoting == alone.operands
    p = NUMPY.explain("bool", "int8", "float16", op="where")
    assert (len(p.operands), [str(c.operand) for c in p.casts], p.dtype) == (3, ["int8"], tl.dtype("float16"))


def test_indices_do_not_promote_and_are_integers() -> None:
    p = NUMPY.explain("int8", "int64", op="take")
    assert (p.dtype, p.casts) == (tl.dtype("int8"), ())
    with pytest.raises(tl.OpError, match=r"take takes integers for indices, not float32; cast them first"):
        NUMPY.explain("int8", "float32", op="take")


def test_clip_promotes_with_both_bounds() -> None:
    assert NUMPY.explain("int8", "int16", "float32", op="clip").dtype is tl.dtype("float32")
    assert NUMPY.explain("int8", op="clip").dtype is tl.dtype("int8")


def test_numpys_other_names_give_what_its_own_give() -> None:
    """The same dtype and values by every other name that NumPy has beside the one name."""
    np = pytest.importorskip("numpy", minversion="2.1")
    own = [op for op in OPERATIONS.values() if hasattr(np, op.name)]
    pairs = [(op, name) for op in own for name in op.functions[1:] if hasattr(np, name)]
    assert len(pairs) > 20

    def result(name: str, op: Operation, dtype: object) -> Any:
        operand = np.ones(1, dtype)
        operands = [[operand]] if op.form == "several" else [operand] * op.least
        try:
            with np.errstate(all="ignore"):
                found = getattr(np, name)(*operands)
        except TypeError:
            return "refused"
        return found.dtype, found.tolist()

    for (op, name), d in product(pairs, NUMPY.order.nodes):
        assert result(name, op, str(d)) == result(op.name, op, str(d)), (name, d)


LIBRARIES = {  # a module, and which of its attributes have functions too
    "jax.numpy": ["linalg"],
    "torch": ["linalg"],
    "tensorflow": ["math", "linalg", "bitwise"],
    "mlx.core": [],
    "dask.array": [],
}
OTHERWISE = {("torch", "eq")}  # the head of operations.txt says why
DTYPES = ("bool", "uint8", "int8", "int32", "int64", "float32", "float64", "complex64")


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_gives_the_same_dtypes_by_all_names(library: str) -> None:
    """Of each operation for which a library has functions of several names."""
    main = pytest.importorskip(library)
    spaces = [main, *(getattr(main, name) for name in LIBRARIES[library])]
    compared, different = 0, []
    for op in OPERATIONS.values():
        names = [name for name in op.functions if (library, name) not in OTHERWISE]
        named = {name: f for name in names for space in spaces if callable(f := getattr(space, name, None))}
        for d in DTYPES if len(named) > 1 else ():
            answers = {name: dtype_of(f, op, ones(main, d)) for name, f in named.items()}
            compared += 1
            different += [(d, answers)] if len({*answers.values()}) > 1 else []
    assert compared >= 16
    assert different == []


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", sorted({*LIBRARIES} - {"tensorflow"}))  # whose tensors have none of these
def test_a_method_gives_the_dtype_that_the_function_gives(library: str) -> None:
    """`x.sum()` and `sum(x)`: of each operation along axes that a library has as both."""
    main = pytest.importorskip(library)
    compared, different = set(), {}
    along = [op for op in OPERATIONS.values() if op.form in ("reduction", "along")]
    for op, name in chain.from_iterable(product([op], op.functions) for op in along):
        function, method = getattr(main, name, None), getattr(type(ones(main, "int32")), name, None)
        for d in DTYPES if callable(function) and callable(method) else ():
            answers = [dtype_of(each, op, ones(main, d)) for each in (function, method)]
            compared.add(name)
            if len({*answers}) > 1:
                different[library, name, d] = answers
    assert compared >= {"sum", "mean", "max", "cumsum"}
    assert different == {}


def ones(library: Any, dtype: str) -> object:
    return library.ones((1,), dtype=getattr(library, dtype, getattr(library, f"{dtype}_", dtype)))


def dtype_of(function: Any, op: Operation, operand: object) -> str:
    """The dtype that a function gives for operands of one sort; some want an axis beside them."""
    operands = [operand] * (3 if op.name == "clip" else op.least)
    for axis in ((), (0,)):
        try:
            found = function(*([operands] if op.form == "several" else operands), *axis)
        except Exception:
            continue
        return str(getattr(found[0] if isinstance(found, (tuple, list)) else found, "dtype", type(found)))
    return "refused"


def test_the_page_of_operations_is_what_the_tables_say() -> None:
    assert run(ROOT, "tools/operations.py", "--check") == ""


# -- an operation that is added as CONTRIBUTING.md says


def row_in_the_guide() -> tuple[str, str]:
    """The file that CONTRIBUTING.md names for a new operation, and what it says to write there."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    guide = text.partition("## Adding an operation")[2].partition("\n## ")[0]
    (found,) = re.findall(r"In\s+`(src/[^`]+)`:\n\n```text\n(.*?)```", guide, re.DOTALL)
    return found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the package and its tools with the guide's operation, and with one of three operands."""
    root = tmp_path_factory.mktemp("house")
    leave = shutil.ignore_patterns("recordings", "__pycache__")
    shutil.copytree(ROOT / "src" / "typelattice", root / "src" / "typelattice", ignore=leave)
    shutil.copytree(ROOT / "tools", root / "tools", ignore=leave)
    shutil.copytree(ROOT / "docs", root / "docs")
    path, row = row_in_the_guide()
    with (root / path).open("a", encoding="ascii") as table:
        table.write(row + BLEND)
    yield root


def run(house: Path, *arguments: str) -> str:
    """What Python prints in a copy; of a bad command, the error."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=house,
        env=os.environ | {"PYTHONPATH": str(house / "src"), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout + done.stderr


def test_the_guide_adds_one_row() -> None:
    path, row = row_in_the_guide()
    assert path == "src/typelattice/facts/operations.txt"
    assert row.count("\n") == 1
    assert row.split()[0] not in OPERATIONS


def test_an_added_operation_is_explained_by_each_of_its_names(house: Path) -> None:
    told = run(house, *EXPLAIN, "int16", "float16", "--op", "wobble", "--system", "numpy")
    assert told.startswith("wobble of int16 and float16 under numpy: float32\n")
    asked = (
        "import typelattice as tl; p = tl.system('numpy').explain('int16', 2.5, op='wave'); "
        "print(p.op, p.dtype)"
    )
    assert run(house, "-c", asked) == "wobble float64\n"


def test_an_added_operation_is_in_the_help(house: Path) -> None:
    assert "wobble, blend" in run(house, *EXPLAIN, "--help")


def test_an_added_operation_has_a_table(house: Path) -> None:
    options = ("--op", "wave", "--dtypes", "int8,float32", "--format", "csv")
    shown = run(house, "-m", "typelattice", "table", *options)
    assert shown.splitlines() == ["wobble,i8,f32", "i8,f16,f32", "f32,f32,f32"]


def test_an_added_operation_stands_in_expressions(house: Path) -> None:
    told = run(house, *EXPLAIN, "np.wobble(x, 1)*y", "x=int16", "y=float64", "--system", "numpy")
    assert "\nwobble(x, 1): float32\n" in told.replace("np.", "")


def test_an_added_operation_is_on_the_page_of_operations(house: Path) -> None:
    stale = "operations.md is stale; run python tools/operations.py\n"
    assert run(house, "tools/operations.py", "--check") == stale
    page = run(house, "-c", "import runpy; print(runpy.run_path('tools/operations.py')['page']())")
    assert "| `wobble` | real-maths | elementwise | 2 |  | `wave` |" in page
    assert ", `wobble` |" in page  # in the row of its class


HAS_IT = "import numpy; numpy.wobble = numpy.heaviside; "  # a NumPy that has the guide's made-up function


def test_an_added_operation_is_in_namespaces_of_libraries_that_have_it(house: Path) -> None:
    pytest.importorskip("array_api_compat")
    use = (
        f"{HAS_IT} import array_api_compat.numpy as compat; compat.wobble = numpy.wobble; "
        "import typelattice as tl; xp = tl.namespace('jax', numpy); "
        "x = xp.wobble(xp.asarray([-1, 2], dtype='int32'), xp.asarray([0.5, 0.5], dtype='float16')); "
        "print(x.dtype, x.bare.tolist(), hasattr(xp, 'blend'))"
    )
    assert run(house, "-c", use) == "float16 [0.0, 1.0] False\n"


def test_a_recorder_asks_an_added_operation(house: Path) -> None:
    pytest.importorskip("numpy", minversion="2.1")
    use = (
        f"{HAS_IT} from typelattice.conformance.questions import planned_calls; "
        "from typelattice.conformance.registry import library; "
        "numpy = library('numpy'); functions = numpy.operations(); "
        "operands = ('int8', 'float32', 'float'); "
        "planned = planned_calls(operands, tuple(functions), (), 0, 0); "
        "made = map(numpy.make, ('int8', 'float')); "
        "print(planned.binary['wobble'], numpy.read(functions['wobble'](*made)))"
    )
    assert run(house, "-c", use) == "(0, 1, 2) float64\n"


def test_a_recorder_asks_three_operands_at_once(house: Path) -> None:
    use = (
        "from typelattice.conformance.questions import TAKE_SEVERAL, planned_calls, random_questions; "
        "asked = ('int8', 'int16'), ('blend', 'clip'), ('blend', 'clip'), 8, 0; "
        "planned = planned_calls(*asked); "
        "print('blend' in TAKE_SEVERAL, *planned.unary, *planned.binary); "
        "of = [*planned.nary, *random_questions(*asked)]; "
        "print({len(operands) for op, operands in of if op == 'blend'})"
    )
    assert run(house, "-c", use) == "True clip clip\n{3}\n"


def test_an_operation_of_three_operands_is_asked_like_any_other(house: Path) -> None:
    told = run(house, *EXPLAIN, "int8", "int16", "float16", "--op", "blend", "--system", "jax")
    assert told.startswith("blend of int8 and int16 and float16 under jax: float16\n")
    told = run(house, *EXPLAIN, "mingle(a, 2, b)", "a=int8", "b=float16", "--system", "numpy")
    assert "mingle(a, 2, b): float16\n" in told
    few = run(house, *EXPLAIN, "int8", "int16", "--op", "blend")
    assert few == "typelattice: blend takes 3 operands, not 2; give 1 more\n"
    few = run(house, *EXPLAIN, "blend(a, a)", "a=int8")
    assert few == "typelattice: 'blend(a, a)': blend takes 3 operands, not 2; give 1 more\n"
    shown = run(house, "-m", "typelattice", "table", "--op", "blend")
    few = "blend takes 3 operands, and a table has two; ask explain, or an expression"
    assert shown == f"typelattice: {few}\n"
