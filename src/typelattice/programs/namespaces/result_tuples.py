"""Results of namespace functions that are not one array: named tuples of arrays, and limits of dtypes.

Each class is at the top of this module, so that results can be pickled. `A` is the class of arrays.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from typelattice.core.dtypes.dtypes import DType

A = TypeVar("A")


class EigenResult(NamedTuple, Generic[A]):
    """Eigenvalues, and a matrix with the eigenvectors as columns."""

    eigenvalues: A
    eigenvectors: A


class QRResult(NamedTuple, Generic[A]):
    """A matrix with orthonormal columns, and an upper triangular one."""

    Q: A
    R: A


class SlogdetResult(NamedTuple, Generic[A]):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: A
    logabsdet: A


class SVDResult(NamedTuple, Generic[A]):
    """Left singular vectors, singular values, and the adjoint of the right singular vectors."""

    U: A
    S: A
    Vh: A


class UniqueAllResult(NamedTuple, Generic[A]):
    """Distinct values, the first place of each, the index of each element's value, and the counts."""

    values: A
    indices: A
    inverse_indices: A
    counts: A


class UniqueCountsResult(NamedTuple, Generic[A]):
    """Distinct values, and how often each occurs."""

    values: A
    counts: A


class UniqueInverseResult(NamedTuple, Generic[A]):
    """Distinct values, and the index of each element's value."""

    values: A
    inverse_indices: A


RESULT_TUPLE_BY_FUNCTION: Mapping[str, Callable[..., tuple[Any, ...]]] = {
    "eig": EigenResult,
    "eigh": EigenResult,
    "qr": QRResult,
    "slogdet": SlogdetResult,
    "svd": SVDResult,
    "unique_all": UniqueAllResult,
    "unique_counts": UniqueCountsResult,
    "unique_inverse": UniqueInverseResult,
}  # operation → class of its result


@dataclass(frozen=True, slots=True)
class FInfo:
    """The limits of a float dtype, or of the parts of a complex dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class IInfo:
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType
