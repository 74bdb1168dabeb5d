"""An operation that is added as CONTRIBUTING.md says, by one row, is known everywhere."""
from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from guide import LEFT_OUT, ROOT, copied, files_in_the_guide, python

from typelattice.core.operations.operations import OPERATIONS

HEADING = "Adding an operation"
TABLE = "src/typelattice/core/operations/operations.txt"
EXPLAIN = ("-m", "typelattice", "explain")
BLEND = "blend  arithmetic  elementwise  3  mingle\n"  # made up, of three operands
HAS_IT = "import numpy; numpy.wobble = numpy.heaviside; "  # a NumPy that has the guide's made-up function


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its tools with the guide's operation, and with one of three operands."""
    root = copied(tmp_path_factory.mktemp("house"), HEADING)
    shutil.copytree(ROOT / "tools", root / "tools", ignore=LEFT_OUT)
    shutil.copytree(ROOT / "docs", root / "docs")
    with (root / TABLE).open("a", encoding="ascii") as table:
        table.write(BLEND)
    return root


def run(house: Path, *arguments: str) -> str:
    """What Python prints in a copy; of a bad command, the error."""
    done = python(house, *arguments)
    return done.stdout + done.stderr


def test_the_guide_adds_one_row() -> None:
    ((path, row),) = files_in_the_guide(HEADING).items()
    assert path == TABLE
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


def test_an_added_operation_is_listed(house: Path) -> None:
    assert {"wobble", "blend"} <= {*re.findall(r"\w+", run(house, *EXPLAIN, "--list-ops"))}


def test_an_added_operation_has_a_table(house: Path) -> None:
    options = ("--op", "wave", "--dtypes", "int8,float32", "--format", "csv")
    shown = run(house, "-m", "typelattice", "table", *options)
    assert shown.splitlines() == ["wobble,i8,f32", "i8,f16,f32", "f32,f32,f32"]


def test_an_added_operation_stands_in_expressions(house: Path) -> None:
    told = run(house, *EXPLAIN, "np.wobble(x, 1)*y", "x=int16", "y=float64", "--system", "numpy")
    assert "\nwobble(x, 1): float32?\n" in told.replace("np.", "")


def test_an_added_operation_is_on_the_page_of_operations(house: Path) -> None:
    assert run(house, "tools/operations.py", "--check") == "operations.md is stale; run make pages\n"
    run(house, "tools/operations.py")
    page = (house / "docs" / "operations.md").read_text(encoding="utf-8")
    assert "| `wobble` | real-maths | elementwise | 2 |  | `wave` |" in page
    assert ", `wobble` |" in page  # in the row of its class


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
        f"{HAS_IT} from typelattice.conformance.recording.questions import plan_calls; "
        "from typelattice.conformance.recording.load_library import load_library; "
        "numpy = load_library('numpy'); functions = numpy.operations(); "
        "operands = ('int8', 'float32', 'float'); "
        "planned = plan_calls(operands, tuple(functions), (), 0, 0); "
        "made = map(numpy.make, ('int8', 'float')); "
        "print(planned.binary['wobble'], numpy.read(functions['wobble'](*made)))"
    )
    assert run(house, "-c", use) == "(0, 1, 2) float64\n"


def test_a_recorder_asks_three_operands_at_once(house: Path) -> None:
    use = (
        "from typelattice.conformance.recording.questions import MULTI_OPERAND_OPERATIONS; "
        "from typelattice.conformance.recording.questions import plan_calls, random_questions; "
        "asked = ('int8', 'int16'), ('blend', 'clip'), ('blend', 'clip'), 8, 0; "
        "planned = plan_calls(*asked); "
        "print('blend' in MULTI_OPERAND_OPERATIONS, *planned.unary, *planned.binary); "
        "of = [*planned.nary, *random_questions(*asked)]; "
        "print({len(operands) for op, operands in of if op == 'blend'})"
    )
    assert run(house, "-c", use) == "True clip clip\n{3}\n"


def test_an_operation_of_three_operands_is_asked_like_any_other(house: Path) -> None:
    told = run(house, *EXPLAIN, "int8", "int16", "float16", "--op", "blend", "--system", "jax")
    assert told.startswith("blend of int8 and int16 and float16 under jax: float16\n")
    told = run(house, *EXPLAIN, "mingle(a, 2, b)", "a=int8", "b=float16", "--system", "numpy")
    assert "mingle(a, 2, b): float16?\n" in told
    few = run(house, *EXPLAIN, "int8", "int16", "--op", "blend")
    assert few == "typelattice: blend takes 3 operands, not 2; give 1 more\n"
    few = run(house, *EXPLAIN, "blend(a, a)", "a=int8")
    assert few == "typelattice: 'blend(a, a)': blend takes 3 operands, not 2; give 1 more\n"
    shown = run(house, "-m", "typelattice", "table", "--op", "blend")
    few = "blend takes 3 operands, and a table has two; ask explain, or an expression"
    assert shown == f"typelattice: {few}\n"
