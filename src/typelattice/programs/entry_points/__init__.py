"""The public functions that make a program, and cast arrays."""
