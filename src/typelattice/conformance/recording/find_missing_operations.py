"""Find the operations that a library lacks: it exports none of their names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.programs.calls.call_tables import (
    OPERATION_BY_FUNCTION,
    SAME_ARGUMENTS_PREFIX,
    NameSort,
    graph_names,
    name_meanings,
    read_equivalents,
)
from typelattice.programs.calls.compositions import inner_functions_by_name

# No library has a function of these operations' names: they are syntax, or rules.
CLASSES_WITHOUT_FUNCTION = ("promotion", "assignment")
CREATION_FUNCTIONS = (
    "asarray",
    "full",
    "arange",
    "linspace",
)  # every library makes arrays, each in its own way
# Operations of the standard that other libraries have by a different name, with more arguments or results.
COUNTERPART_BY_STANDARD_NAME = {
    "unique_all": "unique_values",
    "unique_counts": "unique_values",
    "unique_inverse": "unique_values",
    "cumulative_sum": "cumsum",
    "cumulative_prod": "cumprod",
    "matrix_norm": "norm",
    "vector_norm": "norm",
    "matrix_transpose": "permute_dims",
    "moveaxis": "permute_dims",
    "swapaxes": "permute_dims",
    "broadcast_arrays": "broadcast_to",
}


def absent_operations(
    library: str, namespaces: Iterable[object], operations: Iterable[str]
) -> tuple[str, ...]:
    """List the operations without a name in the namespaces of a library, in the order of the table.

    `namespaces` are modules and classes. An operation that recorders call is not listed. Nor is one that
    describes another function of the library: a row of equivalents.txt or of a book, or a node of its graphs.
    """
    names_in_namespaces = {name.lower() for space in namespaces for name in dir(space)}
    present_operations = {*operations, *_find_described(library, names_in_namespaces)}
    present_operations |= {
        op.name for op in OPERATIONS.values() if not names_in_namespaces.isdisjoint(_possible_names(op))
    }
    return list_absent_operations(present_operations)


def list_absent_operations(there: Collection[str]) -> tuple[str, ...]:
    """List the operations that a library with the given operations lacks, in the order of the table."""
    return tuple(
        op.name
        for op in OPERATIONS.values()
        if not op.is_operator
        and op.operation_class not in CLASSES_WITHOUT_FUNCTION
        and op.name not in (*CREATION_FUNCTIONS, *there)
        and COUNTERPART_BY_STANDARD_NAME.get(op.name) not in there
    )


def _possible_names(operation: Operation) -> Iterator[str]:
    """Yield the possible names of an operation in a library, with the methods of Python's data model."""
    for name in (
        *operation.function_names,
        *operation.other_names,
        operation.special_method or operation.name,
    ):
        yield from (name, name.strip("_"), name.replace("_", ""))


def _find_described(library: str, names: set[str]) -> Iterator[str]:
    """Yield the operations that our tables give for the functions or graph nodes in `names`."""
    for (of, name), operations in read_equivalents().items():
        if of in (library, "*") and name in names:
            yield from (_canonical_name(each.removeprefix(SAME_ARGUMENTS_PREFIX)) for each in operations)
    for (of, name), meaning in name_meanings(NameSort.CREATION_FUNCTION).items():
        if of in (library, "*") and name in names:
            yield _canonical_name(meaning)
    for name, made_up_of in inner_functions_by_name(library).items():
        if name in names:
            yield from map(_canonical_name, (*made_up_of, name.replace("_", "")))
    yield from (_canonical_name(ours) for (of, _), (ours, _) in graph_names().items() if of == library)


def _canonical_name(name: str) -> str:
    return OPERATION_BY_FUNCTION[name].name if name in OPERATION_BY_FUNCTION else name
