"""Findings of a run: causes of wide floats, casts that stop them, divergences between systems."""
