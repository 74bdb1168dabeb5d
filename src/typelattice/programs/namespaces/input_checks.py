"""Checks that refuse inputs of arrays: arrays that hide elements, and integers out of range."""
from __future__ import annotations

from contextlib import suppress
from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.losses.range_and_overflow import PythonNumber, is_in_range
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.namespaces.recipe import INTEGER_KINDS, RecipeMaker, number_text, python_number


def refuse_masked(obj: Any) -> None:
    """Raise NamespaceError for an array with masked elements, also within sequences."""
    if isinstance(obj, (list, tuple)):
        for item in obj:
            refuse_masked(item)
    elif _has_mask(obj) or (
        has_attributes(obj, "_meta") and _has_mask(obj._meta)
    ):  # lazy arrays have only the second
        kind = f"{type(obj).__module__}.{type(obj).__qualname__}"
        what = f"a {kind} hides elements, which an array of a namespace cannot"
        raise NamespaceError(f"{what}; fill them first, as with x.filled(0)")


def _has_mask(x: object) -> bool:
    return has_attributes(x, "mask", "filled")


def has_attributes(obj: object, *names: str) -> bool:
    """Return True if an object has all these attributes, and False if a look-up raises an error."""
    with suppress(Exception):
        return all(hasattr(obj, name) for name in names)
    return False


def refuse_out_of_range(recipes: RecipeMaker, obj: Any, dtype: DType) -> None:
    """Raise NamespaceError for numbers that an integer dtype does not hold.

    Libraries differ here: most refuse, and PyTorch wraps some, which is right only under its own rules.
    """
    value = (
        None if recipes.is_own_system or dtype.kind not in INTEGER_KINDS else find_out_of_range(obj, dtype)
    )
    if value is not None:
        raise range_error(value, dtype)


def range_error(value: PythonNumber, dtype: DType) -> NamespaceError:
    """Build the error for a number that is out of an array's range."""
    what = f"{number_text(value)} is out of range for {dtype}"
    return NamespaceError(f"{what}; use a value within it, or make a wider array and cast it with astype")


def find_out_of_range(numbers: Any, dtype: DType) -> PythonNumber | None:
    """Find a Python number in nested sequences that an integer dtype cannot hold, or return None."""
    if isinstance(numbers, (list, tuple)):
        return next(
            (found for item in numbers if (found := find_out_of_range(item, dtype)) is not None), None
        )
    value = python_number(numbers)
    return None if value is None or is_in_range(value, dtype) else value
