"""The base of every error that typelattice raises on purpose."""


class TypelatticeError(Exception):
    """An input that cannot be right, or that a system refuses.

    Each error is also a ValueError, TypeError, LookupError or ImportError, as Python programmers expect.
    """

    __module__ = "typelattice"
