"""Losses of casts: rounding, range, chains of casts. A fact about two dtypes, the same in every system."""
