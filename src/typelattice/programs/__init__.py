"""Expressions and functions as lists of operations, and what each step comes to under a system."""
