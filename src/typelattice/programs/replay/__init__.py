"""The outcome of each step of a program under a system, its casts, and its values."""
