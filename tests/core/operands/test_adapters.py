"""Frameworks' objects as operands, as far as it shows without the frameworks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import typelattice as tl
from typelattice.core.operands.read_objects import clear_reader_cache
from typelattice.core.registry.libraries import file_of, libraries

ADAPTERS = Path(tl.__file__).parent / "core" / "operands" / "adapters"
# Languages have none in a Python program; Python's own are read as they are.
NO_OBJECTS = {"csharp", "cuda", "fortran", "gcc", "go", "java", "octave", "opencl", "python", "wgsl"}
NO_ADAPTER = {"clickhouse", "datafusion", "duckdb", "postgresql", "sqlite", "triton"}


def test_every_library_with_a_system_has_an_adapter_but_for_those_that_are_named() -> None:
    with_system = {tl.system(name).library.split()[0] for name in tl.systems() if tl.system(name).library}
    lacking = {name for name in with_system if not (ADAPTERS / f"{file_of(name)}.py").exists()}
    assert lacking == NO_OBJECTS | NO_ADAPTER


def test_no_framework_is_imported_for_its_dtypes() -> None:
    """Each is named as a string. Some take NumPy's dtypes, for which NumPy is imported."""
    known = [name for name in libraries() if (ADAPTERS / f"{file_of(name)}.py").exists()]
    modules = [module for name in known for module in libraries()[name].modules]
    code = f"""
import sys
sys.path.insert(0, {str(ADAPTERS.parents[2])!r})
import typelattice as tl
for module in {modules}:
    try:
        tl.native("int8", module)
    except TypeError as e:
        assert str(e).endswith("is not imported: import it, or give a module that is"), e
    assert module in ("numpy", "ml_dtypes") or module not in sys.modules, module
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a stand-in for a framework's module; its classes count as the framework's."""

    def make(name: str, **members: Any) -> ModuleType:
        made = ModuleType(name)
        for word, member in members.items():
            if isinstance(member, type):
                member.__module__ = name
            setattr(made, word, member)
        monkeypatch.setitem(sys.modules, name, made)
        clear_reader_cache()
        return made

    yield make
    clear_reader_cache()


def test_a_symbolic_tensor_of_keras_is_read_by_the_name_of_its_dtype(module: Any) -> None:
    class KerasTensor:
        def __init__(self, shape: tuple[int | None, ...], dtype: str) -> None:
            self.shape, self.dtype = shape, dtype

    module("keras", KerasTensor=KerasTensor, Variable=type("Variable", (KerasTensor,), {}))
    assert str(tl.operand(KerasTensor((None, 3), "bfloat16"))) == "bfloat16"
    assert str(tl.operand(KerasTensor((), "bool"))) == "bool:0d"
    with pytest.raises(tl.DTypeError, match=r"^Keras's dtype 'string' is in no promotion table"):
        tl.operand(KerasTensor((2,), "string"))


def test_an_array_of_cupy_is_read_by_its_dtype_and_dimensions_and_never_copied(module: Any) -> None:
    class ndarray:
        """Has no values that may be read."""

        def __init__(self, ndim: int, dtype: str) -> None:
            self.ndim, self.dtype = ndim, SimpleNamespace(name=dtype)

    module("cupy", ndarray=ndarray)
    assert str(tl.operand(ndarray(2, "float16"))) == "float16"
    assert str(tl.operand(ndarray(0, "int8"))) == "int8:0d"
    with pytest.raises(tl.DTypeError, match=r"^CuPy's dtype 'structured' is in no promotion table"):
        tl.operand(ndarray(1, "structured"))


def test_dtypes_of_array_api_strict_are_found_by_comparing(module: Any) -> None:
    class DType:
        """Prints as nothing that says which it is."""

    xp = module("array_api_strict", bool=DType(), int8=DType(), DType=DType, float64=DType())
    assert tl.operand(xp.int8).dtype is tl.dtype("int8")
    assert tl.native("float64", xp) is xp.float64
    with pytest.raises(tl.DTypeError, match=r"^array_api_strict has no dtype float16; cast to"):
        tl.native("float16", xp)


def test_what_arrow_calls_floats_is_read_by_its_name(module: Any) -> None:
    class DataType(SimpleNamespace):
        def __str__(self) -> str:
            return str(self.name)

    others = {name: type(name, (), {}) for name in ("Array", "ChunkedArray", "Scalar")}
    module("pyarrow", DataType=DataType, **others)
    assert [tl.operand(DataType(name=name)).dtype for name in ("halffloat", "float", "double", "int8")] == [
        tl.dtype(name) for name in ("float16", "float32", "float64", "int8")
    ]
    with pytest.raises(tl.DTypeError, match=r"^Arrow's dtype 'decimal128\(5, 2\)' is in no promotion table"):
        tl.operand(DataType(name="decimal128(5, 2)"))
