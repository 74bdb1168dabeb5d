"""Expressions and functions as lists of operations, and the outcome of each step under a system."""
