"""MLIR: the enumeration and type constraints in TableGen, in addition to the header of C++17."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, real_part_dtype
from typelattice.study.codegen.names import camel_case, snake_case
from typelattice.study.codegen.tables import REFUSED_INDEX, GeneratedTables, list_indices


def mlir_constraints(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return the enumeration and, for each function of arrays, the types that it takes and gives."""
    p, guard = camel_case(tables.system), f"{snake_case(tables.system).upper()}_DTYPES_TD"
    types = {str(o): text for o in tables.indices if not o.weak and o.dtype and (text := _type_text(o.dtype))}
    lacking = ", ".join(str(o) for o in tables.indices if not o.weak and str(o) not in types)
    cases = ",\n".join(
        f'  I32EnumAttrCase<"{names[str(d)]}", {i}, "{str(d).replace(":", "_")}">'
        for d, i in tables.indices.items()
    )
    lines = [
        f"// {head}",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        'include "mlir/IR/OpBase.td"',
        'include "mlir/IR/EnumAttr.td"',
        "",
        f'def {p}_DTypeCode : I32EnumAttr<"DTypeCode", "dtypes of {snake_case(tables.system)}", [',
        cases,
        "]> {",
        f'  let cppNamespace = "::{snake_case(tables.system)}_dtypes";',
        "}",
        "",
        *(f"def {p}_{names[d]} : {text};" for d, text in types.items()),
        *([f"// MLIR has no type for {lacking}."] if lacking else []),
        "",
        "// The types that a function of the C++ header takes as a and as b, and those that it gives.",
    ]
    for name, dtypes in _yield_constraints(tables):
        members = ", ".join(f"{p}_{names[d]}" for d in dtypes if d in types)
        lines += [f"def {p}_{name} : AnyTypeOf<[{members}]>;"] if members else []
    return "\n".join([*lines, "", f"#endif  // {guard}", ""])


def mlir_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a dialect with operations that use every constraint, for mlir-tblgen to read."""
    p, s = camel_case(tables.system), snake_case(tables.system)
    types = {str(o) for o in tables.indices if not o.weak and o.dtype and _type_text(o.dtype)}
    lines = [f"// {head}", f'include "{s}_dtypes.td"', ""]
    lines += [f"def {p}_Dialect : Dialect {{", f'  let name = "{s}";']
    lines += [f'  let cppNamespace = "::{s}";', "}", ""]
    for number, (name, dtypes) in enumerate(_yield_constraints(tables)):
        if types & {*dtypes}:
            lines += [f'def {p}_Test{number}Op : Op<{p}_Dialect, "test{number}"> {{']
            lines += [f"  let arguments = (ins {p}_{name}:$x, {p}_DTypeCode:$code);", "}"]
    return "\n".join([*lines, ""])


def _type_text(dtype: DType) -> str | None:
    """Return the type constraint of a dtype in TableGen, or None if MLIR has no such type."""
    if str(dtype) not in DTYPES or dtype.bits is None:
        return None
    if dtype.kind is Kind.COMPLEX:
        part = _type_text(real_part_dtype(dtype))
        return part and f'TypeAlias<Complex<{real_part_dtype(dtype).code.upper()}>, "{dtype}">'
    if dtype.kind is not Kind.FLOAT:
        word = "UI" if dtype.kind is Kind.UNSIGNED else "I"
        return f'TypeAlias<{word}<{dtype.bits}>, "{dtype}">'
    if "_" not in dtype.code and dtype.bits == dtype.storage_bits:  # TableGen defines names such as F32
        return f'TypeAlias<{dtype.code.upper()}, "{dtype}">'
    if dtype.code.count("_") > 1:  # an element holds several values
        return None
    name = dtype.code.removeprefix("f").replace("_", "").upper()
    return f'Type<CPred<"::llvm::isa<::mlir::Float{name}Type>($_self)">, "{dtype}">'


def _yield_constraints(tables: GeneratedTables) -> Iterator[tuple[str, list[str]]]:
    """Yield a name for each set of dtypes that a function of arrays takes in one place, or gives."""
    names = {str(o.dtype): {i} for o, i in tables.indices.items() if not o.weak}
    for o, i in tables.indices.items():
        names[str(o.dtype)].add(i)  # MLIR has one type for the strong and the weak array

    def chosen(indices: set[int]) -> list[str]:
        return [name for name, those in names.items() if those & indices]

    for f in tables.lookups:
        if {*f.tiers} != {"array"}:
            continue
        table = tables.tables[f.table]
        lefts = list_indices(tables, "array") if len(f.tiers) > 1 else [0]
        calls = [((i, j)[-len(f.tiers) :], table[i][j]) for i in lefts for j in list_indices(tables, "array")]
        # these functions take the operands of the result
        is_part = f.function.endswith(("_compute", "_accumulate"))
        for place, name in enumerate(() if is_part else f.parameters):
            taken = {given[place] for given, found in calls if found != REFUSED_INDEX}
            yield f"{camel_case(f.function)}_{name}", chosen(taken)
        yield camel_case(f.function), chosen({found for _, found in calls if found != REFUSED_INDEX})
