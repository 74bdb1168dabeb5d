"""The base of every error that typelattice raises on purpose."""


class TypelatticeError(Exception):
    """Something that typelattice was given and cannot be right, or that a system refuses.

    Each error is also a ValueError, TypeError, LookupError or ImportError, as Python programmers expect.
    """
