"""Typed graphs for compilers, which have no implicit casts. Each target has a file."""
