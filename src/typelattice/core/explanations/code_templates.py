"""Templates for operands and operations in the code of each library, from `code_templates/`.

Nothing here imports a library.
"""
from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.operands.operand import Operand
from typelattice.core.registry.libraries import file_of, libraries
from typelattice.core.registry.releases import VERSION_SIGN

TEMPLATE_FOLDER = Path(__file__).with_name("code_templates")
LITERAL_BY_KIND = {"int": "1", "float": "1.0", "complex": "1j"}


@frozen()
class CodeTemplates:
    """The templates of a library, keys of its file. In each, `{}` means a dtype's name or an operand.

    `setup` is run first. `array`, `zero_d` and `dtype` write an array, an array without dimensions, and a
    bare dtype. `add` adds two operands. `many` looks up the common dtype of three or more operands, since a
    chain of additions may give another one. `join` looks up the common dtype of two dtypes, without values.
    `bool_name` is the name of the dtype bool. `small`: the library computes with dtypes of less than a byte.
    An empty template means that the library has no such form.
    """

    setup: str = ""
    array: str = "{}"
    zero_d: str = "{}:0d"
    add: str = "{} + {}"
    many: str = ""
    dtype: str = ""
    join: str = ""
    bool_name: str = "bool"
    small: bool = False


PLAIN_FORM = CodeTemplates(many="result_type({})")


def find_form(system: str, library: str) -> CodeTemplates:
    """Return the form of a system: its library's, changed by the table with the system's name.

    A library that has no file here is written plainly, as operand strings and `+`.

    >>> find_form("jax", "jax 0.10").array, find_form("mlx", "mlx 0.32").bool_name
    ("jnp.ones(1, '{}')", 'bool_')
    """
    known, system = library.split()[0] if library.strip() else system, system.partition(VERSION_SIGN)[0]
    return (
        _read_forms(known).get(system, _read_forms(known).get("", PLAIN_FORM))
        if known in libraries()
        else PLAIN_FORM
    )


def operand_text(form: CodeTemplates, operand: Operand, as_dtype: bool) -> str:
    """Return an operand in the library's code, or its operand string if the system has no library."""
    if operand.tier == "scalar":
        return str(operand) if form is PLAIN_FORM else LITERAL_BY_KIND.get(str(operand), str(operand))
    if form is PLAIN_FORM or operand.weak:
        return str(operand)
    template = form.dtype if as_dtype else form.zero_d if operand.tier == "0d" else form.array
    return template.format(form.bool_name if operand.kind is Kind.BOOL else operand.dtype)


@cache
def _read_forms(library: str) -> Mapping[str, CodeTemplates]:
    """Read the forms of a library's file: one for each table, and under no name the one above them."""
    import tomllib

    path = TEMPLATE_FOLDER / f"{file_of(library)}.toml"
    if not path.is_file():
        return {}
    stated = tomllib.loads(path.read_text(encoding="utf-8"))
    whole = {key: template for key, template in stated.items() if not isinstance(template, dict)}
    tables = {key: table for key, table in stated.items() if isinstance(table, dict)}
    return {"": CodeTemplates(**whole)} | {
        system: CodeTemplates(**whole | table) for system, table in tables.items()
    }
