"""Typed graphs for compilers, which know no implicit casts: a file a target."""
