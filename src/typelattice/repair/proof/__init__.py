"""Proof of a patch: values compared, functions called as other callers would, the tests of the project."""
