"""Objects whose class cannot be asked: `isinstance` would raise their own error."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.base.errors.errors import TypelatticeError


def refuse_strange(x: object, error: type[TypelatticeError], advice: str) -> None:
    """Raise an error of ours for an object that raises one if its `__class__` is asked for.

    >>> from typelattice.base.errors.errors import TypelatticeError
    >>> class Strange:
    ...     @property
    ...     def __class__(self):
    ...         raise LookupError("none")
    >>> refuse_strange(Strange(), TypelatticeError, "give a name")
    Traceback (most recent call last):
        ...
    typelattice.TypelatticeError: an object of Strange raises LookupError; give a name
    """
    try:
        _ = x.__class__
    except Exception as e:
        what = f"an object of {type(x).__name__} raises {type(e).__name__}"
        raise error(f"{what}; {advice}") from None
